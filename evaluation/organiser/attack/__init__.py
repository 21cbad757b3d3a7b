"""Attacks on the hidden labels of a phase, by what it publishes alone."""
