"""Golden figures: the results of every phase of the repository, kept as text and compared in every commit.

A folder a phase holds its input (`input.tar.xz`), `metrics.json` and `cases.json` of a team of ordinary
quality and of one with missing, empty and failing cases, and the leaderboard of three teams. They say what
the code computes, not whether it is right: that is for the oracles of the other tests. `scripts/golden.sh`
compares and writes them.
"""
