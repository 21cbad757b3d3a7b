"""Tests, corrections and correlations behind a leaderboard: pure functions on arrays."""
