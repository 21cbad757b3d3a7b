"""REFUGE: glaucoma assessment from fundus photographs."""

from evaluation.challenges.refuge.rules import CHALLENGE as CHALLENGE
