"""Further analyses of challenges, of submitted values and references together. For organisers only.

They cost `evaluate` nothing, and nothing of them enters `metrics.json`. A module has the name of its
challenge and holds ``ANALYSES``.
"""
