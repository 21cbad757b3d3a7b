"""A phase: a folder with its configuration, its case table, its reference and its seal."""
