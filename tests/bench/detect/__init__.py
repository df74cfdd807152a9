"""``make bench-detect``: what detectors promise, what they do, and what else could be done."""
