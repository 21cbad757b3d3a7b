"""Makes a challenge of ill-behaved cases known, in this process and in the workers that it starts."""

import os
from pathlib import Path

import evaluation.challenges

FOLDER = str(Path(__file__).parent / "challenges")
os.environ["EVALUATION_CHALLENGES"] = FOLDER
if FOLDER not in evaluation.challenges.__path__:
    evaluation.challenges.__path__.append(FOLDER)
