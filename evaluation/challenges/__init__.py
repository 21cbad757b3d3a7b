"""One package for each challenge: its rules, its synthetic sample and its own metrics.

The environment variable EVALUATION_CHALLENGES may name one further folder of challenges. Each is a module or
a package that defines ``CHALLENGE``.
"""

import os

if folder := os.environ.get("EVALUATION_CHALLENGES"):
    __path__.append(folder)
