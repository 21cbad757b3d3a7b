"""References built from what several people said."""
