"""Readers with limits for files that nobody has checked yet."""
