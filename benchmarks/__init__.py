"""Benchmarks: whole processes against a stated rival and against the floor of only reading, in one run."""
