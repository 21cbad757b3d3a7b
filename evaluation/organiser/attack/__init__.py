"""Attacks on the hidden labels of a phase by its published numbers alone."""
