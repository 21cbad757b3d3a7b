"""The rehearsal of a phase: every metric is tried on submissions whose order is known."""
