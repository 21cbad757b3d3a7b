"""EDD2020: endoscopy disease detection, segmentation and generalisation."""

from evaluation.challenges.edd2020.rules import CHALLENGE

__all__ = ["CHALLENGE"]
