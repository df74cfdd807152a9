"""The store, on the real engine."""
