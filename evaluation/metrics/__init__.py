"""Metrics: pure functions on arrays, without files and without policy."""
