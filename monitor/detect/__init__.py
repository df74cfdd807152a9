"""Statistics: pure functions over counts and scores."""
