"""Tests of the engines, most of them before a real socket."""
