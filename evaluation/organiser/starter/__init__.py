"""A new repository for an organiser, written with a synthetic sample."""
