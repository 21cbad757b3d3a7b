"""All tests of this folder seal and evaluate in their own process."""

from test.in_process import library_in_process

__all__ = ["library_in_process"]
