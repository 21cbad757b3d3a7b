"""The report of a leaderboard: a page for the organiser and for the paper of a challenge."""
