"""A challenge that the tables of `phase.toml` declare: fields, tasks with metrics, ranking, composites."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evaluation.challenges.declared.rules import CHALLENGE, prepare

__all__ = ["CHALLENGE", "prepare"]


def __getattr__(name: str) -> Any:
    """Import the rules when they are needed: the names of kinds and metrics are found without them."""
    if name not in __all__:
        raise AttributeError(name)
    from evaluation.challenges.declared import rules

    return getattr(rules, name)
