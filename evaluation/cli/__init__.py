"""The command line: one module per command, and what the commands share."""
