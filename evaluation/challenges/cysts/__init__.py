"""SD-OCT cysts: segmentation against a confidence-based benchmark, and how that is built."""

from evaluation.challenges.cysts.rules import CHALLENGE

__all__ = ["CHALLENGE"]
