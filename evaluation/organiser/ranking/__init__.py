"""Leaderboards: schemes, places, their uncertainty and tests between teams."""
