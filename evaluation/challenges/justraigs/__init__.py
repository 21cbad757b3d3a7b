"""JustRAIGS: justified referral for glaucoma, and its graders who disagree."""

from evaluation.challenges.justraigs.rules import CHALLENGE

__all__ = ["CHALLENGE"]
