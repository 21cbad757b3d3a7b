"""Commands as real processes, in surroundings that differ from those of the other tests."""
