"""A challenge that the tables of `phase.toml` declare: fields, tasks with metrics, ranking, composites."""

from evaluation.challenges.declared.rules import CHALLENGE

__all__ = ["CHALLENGE"]
