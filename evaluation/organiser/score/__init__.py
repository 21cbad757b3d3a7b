"""Figures of two folders or two tables: the phase that scores them, and its result."""
