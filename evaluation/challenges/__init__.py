"""A room for each challenge: its rules, its sample, and whatever else is its own alone.

The environment variable EVALUATION_CHALLENGES may name a further folder of challenges, each a module or a
package that defines ``CHALLENGE``.
"""

import os

if folder := os.environ.get("EVALUATION_CHALLENGES"):
    __path__.append(folder)
