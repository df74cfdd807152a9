"""Evidence certificates."""
