"""The command line: one module per command, and helpers that commands share."""
