"""A challenge with one fault, which its option chooses; without a fault its rehearsal holds."""

import math

from evaluation.core.challenge import Challenge, Options, Task
from evaluation.core.estimator import Mean
from evaluation.core.field import CaseColumns, Field, Reference, TableColumns
from evaluation.core.metric import Metric
from evaluation.io.kinds.classes import LABEL


class FaultyOptions(Options):
    fault: str = "none"


def _tasks(options):
    fault = options.fault

    def score(prediction, reference):
        correct = float(prediction["decision"] == reference["decision"])
        if fault == "exception":
            raise ZeroDivisionError("by design")
        if fault == "prediction in the denominator" and not prediction["decision"]:
            correct = math.nan
        return {"accuracy": correct, "error": 1.0 - correct}

    def worst(case, reference):
        accuracy = math.nan if fault == "missing leaves the mean" else 0.0
        return {"accuracy": accuracy, "error": 0.0 if fault == "worst row" else 1.0}

    best, least = (0, 1) if fault == "direction" else (1, 0)
    return (
        Task(
            "decisions",
            "Decisions",
            (DECISION,),
            score,
            (
                Metric("accuracy", "Accuracy", Mean("accuracy"), best=best, worst=least),
                Metric("error", "Error", Mean("error"), best=0, worst=1),
            ),
            worst,
        ),
    )


DECISION = Field(
    "decision",
    "Decision",
    LABEL,
    TableColumns(("decisions.csv",), "Name", ("Decision",)),
    Reference(LABEL, CaseColumns(("decision",))),
)

CHALLENGE = Challenge(
    "faulty", "A faulty challenge", FaultyOptions, _tasks, components=("decisions.accuracy",)
)
