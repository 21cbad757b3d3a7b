"""A repository of an organiser's own: written with a synthetic sample, built and exported as an image."""
