"""Evaluation of medical imaging challenges hosted on grand-challenge.org.

As a library::

    import evaluation

    evaluation.seal("refuge-onsite")
    result = evaluation.evaluate("refuge-onsite", "test/input/refuge-onsite")
    result.to_dict()["aggregates"]["classification"]["auc"]["value"]
    result.cases("segmentation")["dice_cup"].describe()

`evaluate` and `check` are in `evaluation.library`, `seal` and `rank` in `evaluation.organiser.library`,
`interval` and `compare` (figures of arrays and frames) in `evaluation.organiser.inference`,
`report_submission` and `report_leaderboard` in `evaluation.organiser.report_library`, the metrics on plain
arrays in `evaluation.metrics`.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evaluation.core.fault import PhaseError
    from evaluation.core.trouble import MachineTrouble
    from evaluation.library import CheckResult, Evaluation, SubmissionRejected, check, evaluate
    from evaluation.organiser.inference import compare, interval
    from evaluation.organiser.library import Ranking, Seal, rank, seal
    from evaluation.organiser.report_library import Report, report_leaderboard, report_submission
    from evaluation.stats.figure import Difference, Figure

__version__ = "0.1.0"
__all__ = [
    "CheckResult",
    "Difference",
    "Evaluation",
    "Figure",
    "MachineTrouble",
    "PhaseError",
    "Ranking",
    "Report",
    "Seal",
    "SubmissionRejected",
    "__version__",
    "check",
    "compare",
    "evaluate",
    "interval",
    "rank",
    "report_leaderboard",
    "report_submission",
    "seal",
]

_MODULES = dict.fromkeys(("check", "evaluate"), "evaluation.library")
_MODULES |= dict.fromkeys(("CheckResult", "Evaluation", "SubmissionRejected"), "evaluation.library")
_MODULES |= dict.fromkeys(("Ranking", "Seal", "rank", "seal"), "evaluation.organiser.library")
_MODULES |= dict.fromkeys(("compare", "interval"), "evaluation.organiser.inference")
_MODULES |= dict.fromkeys(("Difference", "Figure"), "evaluation.stats.figure")
_MODULES |= dict.fromkeys(
    ("Report", "report_leaderboard", "report_submission"), "evaluation.organiser.report_library"
)
_MODULES |= {"PhaseError": "evaluation.core.fault", "MachineTrouble": "evaluation.core.trouble"}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that no command imports what it does not need."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)


class _Package(ModuleType):
    """This package, in which `evaluate` is the function also after the module of that name was imported.

    Python would put the module in its place; `from evaluation.evaluate import …` finds it without that.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (name == "evaluate" and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
