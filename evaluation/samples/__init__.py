"""Synthetic phases and submissions of known quality, to rehearse a challenge with."""
