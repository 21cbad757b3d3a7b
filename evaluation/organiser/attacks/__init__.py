"""Attacks that learn labels from `metrics.json`, to test what a phase publishes."""
