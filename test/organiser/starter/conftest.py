"""Starters seal and evaluate in the process of the tests."""

from test.in_process import library_in_process

__all__ = ["library_in_process"]
