"""Fakes that stand in for what we do not own: servers that answer as real ones do, or worse."""
