"""Kinds of values: how each is read, checked, written and described."""
