"""Reports: what a person or a pipeline reads."""
