"""Evaluation container for medical imaging challenges hosted on grand-challenge.org."""

__version__ = "0.1.0"
