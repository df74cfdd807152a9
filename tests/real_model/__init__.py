"""Tests against a real engine: llama.cpp's server with SmolLM2-135M-Instruct."""
