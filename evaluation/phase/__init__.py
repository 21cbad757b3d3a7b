"""A phase: a folder with configuration, case table, reference and seal."""
