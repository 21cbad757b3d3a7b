"""ADAM: age-related macular degeneration from fundus photographs."""

from evaluation.challenges.adam.rules import CHALLENGE as CHALLENGE
