"""Whole reports: for the command and for programs."""
