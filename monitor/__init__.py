"""Davylamp: semantic monitoring of language-model serving."""

__version__ = "0.1.0"
