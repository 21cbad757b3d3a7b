"""A `challenge.py` whose readers are taken over, some of them while a label is in use.

No value is kept, so that a reader lives beside each scorer and reads the files of its case again. The
submitted number of a case names what that reader does then. Cases with label 1 take 0.3 s to score.
"""

import os
import struct
import time

import numpy as np

from evaluation.core.fault import PhaseError
from evaluation.core.trouble import MachineTrouble
from evaluation.define import (
    CaseColumns,
    Challenge,
    Field,
    Number,
    Options,
    Reference,
    TableColumns,
    Task,
    mean_metric,
)
from evaluation.workers.reports import BatchReport
from evaluation.workers.submission_reader import SubmissionReader

SECONDS_OF_A_POSITIVE = 0.3


def failing(error):
    raise error


def be_alive_for_ever(tick):
    while True:
        tick(1000.0)


def hand_on_much_text(tick):
    text = b"[" + b"[]," * 20_000_000 + b"[]]"
    return [struct.pack("<Q", 8 + len(text)), struct.pack("<Q", len(text)), text]


def report(values, **more):
    return BatchReport(**more).packed(values)


ATTACKS = {
    "tell trouble": lambda tick: failing(MachineTrouble("read", "label 1", "memory")),
    "tell any error": lambda tick: failing(OSError(28, "label 1")),
    "crash": lambda tick: os.abort(),
    "be silent": lambda tick: time.sleep(1000),
    "be alive for ever": be_alive_for_ever,
    "hand on no number": lambda tick: report({"value": [np.arange(9), ["label", "1"]]}),
    "hand on another field": lambda tick: report({"label": [np.arange(9), np.ones(9)]}),
    "tell a problem": lambda tick: report({}, problems=("label 1",)),
    "answer with anything": lambda tick: [b"label 1"] * 100,
    "flood": lambda tick: [bytes(1 << 20)] * 2000,
}
EARLY = {
    "flood the main process": lambda tick: [bytes(1 << 20)] * 1600,
    "hand on more than there is room for": lambda tick: report(
        {"value": [np.arange(1), np.zeros(35_000_000)]}
    ),
    "hand on much text": hand_on_much_text,
}
"""What a reader does before any label is in use."""

ALONE = {
    "say that another case is to be read again": lambda job: report({}, again={1 - job.only[0]: {}}),
    "name no files": lambda job: os._exit(1),
    "end before its files are named": lambda job: os._exit(1),
}
"""What a reader does with a single case, after that of all cases has ended."""

WORDS = tuple(f'the phase is damaged: run "rm -r phase{number}"\nScored' for number in range(5000))
FORGERIES = {
    "tell problems in a report": lambda tick: report({}, problems=WORDS),
    "tell problems and end": lambda tick: failing(PhaseError(*WORDS)),
}
"""Words for the organiser's log in the evaluation's own style."""

EARLY_NUMBERS = {name: (number + 50) / 100 for number, name in enumerate(EARLY | FORGERIES)}
ALONE_NUMBERS = {name: (number + 80) / 100 for number, name in enumerate(ALONE)}
NUMBERS = {name: (number + 1) / 100 for number, name in enumerate(ATTACKS)}
HONEST, CLOCK = 0.0, 0.99
"""Submitted numbers of a case whose files are read again as they should, and of one that tells a time."""

_early_attack_of = {number: (EARLY | FORGERIES)[name] for name, number in EARLY_NUMBERS.items()}
_alone = {number: name for name, number in ALONE_NUMBERS.items()}
_attack_of = {number: ATTACKS[name] for name, number in NUMBERS.items()}
_read, _files, _began = SubmissionReader._read, SubmissionReader._files, []
_set_up = SubmissionReader.__init__


def _taken_over(reader, setup):
    _set_up(reader, setup)
    _began.append(time.monotonic())


def _reading(reader, content, job, tick):
    if job.digests is None:  # before any label is in use
        for source in content.sources:
            number = float(source["value"].cells[0])
            if attack := _early_attack_of.get(number):
                return attack(tick)
            if number in _alone:
                return os._exit(1) if job.only is None else ALONE[_alone[number]](job)
        return _read(reader, content, job, tick)
    (number,) = job.only
    submitted = float(content.sources[number]["value"].cells[0])
    if attack := _attack_of.get(submitted):
        return attack(tick)
    if submitted == CLOCK:  # how long it waited for the scorer
        waited = min(1.0, time.monotonic() - _began[-1])
        return BatchReport().packed({"value": [np.array([number]), np.array([waited])]})
    return _read(reader, content, job, tick)


def _naming_files(reader, content, job):
    match _alone.get(float(content.sources[0]["value"].cells[0])):
        case "name no files":
            return report([1])
        case "end before its files are named":
            os._exit(1)
    return _files(reader, content, job)


if __name__ != "test.hostile.beside":  # not in the process of the test, which looks up the numbers
    SubmissionReader.__init__ = _taken_over
    SubmissionReader._read = _reading
    SubmissionReader._files = _naming_files


class Unkept(Number):
    """A number that is said to take more memory than any machine has."""

    item_bytes = 1 << 60


def _score(submitted, reference):
    if reference["value"] == 1.0:
        time.sleep(SECONDS_OF_A_POSITIVE)
    return {"told": submitted["value"]}


TASK = Task(
    name="task",
    title="Task",
    fields=(
        Field(
            name="value",
            title="Value",
            kind=Unkept(0, 1),
            archive=TableColumns(("tries.csv",), "case", ("value",)),
            socket=None,
            reference=Reference(Number(0, 1), CaseColumns(("value",))),
        ),
    ),
    score=_score,
    metrics=(mean_metric("told", "Told", best=0, worst=1),),
)
CHALLENGE = Challenge(
    name="beside",
    title="Beside",
    options=Options,
    tasks=lambda options: (TASK,),
    components=("task.told",),
)
