"""Tests of objectives and the rules made of them."""
