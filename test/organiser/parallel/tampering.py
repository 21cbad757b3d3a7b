"""A `challenge.py` of cases that leave marks in the process that reads or scores them, and count them."""

import os

import numpy as np

from evaluation.define import (
    CaseColumns,
    Challenge,
    Field,
    Kind,
    Options,
    Reference,
    TableColumns,
    Task,
    mean_metric,
)

SEEN = []


def tamper():
    """Change what a file could change after taking over its decoder."""
    SEEN.append("tampered")
    os.environ["TAMPERED"] = "1"
    np.mean = np.sum


def marks() -> int:
    """Return how many of the changes are seen in this process."""
    return bool(SEEN) + ("TAMPERED" in os.environ) + (np.mean is np.sum)


class Behaviour(Kind):
    def read(self, source, case, files):
        if source.cells[0] == "tamper":
            tamper()
        return f"{source.cells[0]} {marks()}"

    def describe(self):
        return "what to do"


def score(prediction, reference):
    what, read_in = prediction["behaviour"].split()
    if what == "tamper":
        tamper()
    return {"reader": float(read_in), "scorer": float(marks())}


FIELD = Field(
    "behaviour",
    "Behaviour",
    Behaviour(),
    TableColumns(("behaviour.csv",), "Name", ("Behaviour",)),
    Reference(Behaviour(), CaseColumns(("behaviour",))),
)
METRICS = tuple(mean_metric(name, name, best=0, worst=9) for name in ("reader", "scorer"))
TASK = Task("task", "Task", (FIELD,), score, METRICS)
CHALLENGE = Challenge("tampering", "Tampering", Options, lambda options: (TASK,), components=("task.reader",))
