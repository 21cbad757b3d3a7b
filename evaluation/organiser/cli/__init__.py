"""The commands of organisers, one module each."""
