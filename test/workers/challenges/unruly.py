"""Cases that do what their value says: "read:exit" ends the worker while it reads, for example."""

import ctypes
import math
import os
import signal
import sys
import time
from dataclasses import dataclass
from threading import Lock

from evaluation.core.challenge import Challenge, Options, Task
from evaluation.core.estimator import Mean
from evaluation.core.field import CaseColumns, Field, Kind, Reference, Socket, TableColumns
from evaluation.core.metric import Metric
from evaluation.core.sources import FileSource


class UnpicklableError(Exception):
    def __init__(self) -> None:
        self.lock = Lock()
        super().__init__("cannot be pickled")


class OneWay:
    """An object that can be pickled but not unpickled."""

    def __reduce__(self):
        return _refuse, ()


def _refuse() -> None:
    raise RuntimeError("not to be had back")


def _raise() -> None:
    raise UnpicklableError


def _fill_memory() -> None:
    """Take memory in small steps and use it, as a real leak does, up to whatever limit comes first."""
    taken = []
    while True:
        taken.append(b"x" * (16 << 20))


def _stop_oneself() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def _spin() -> None:
    while True:
        pass


def _make_noise() -> None:
    for descriptor in (1, 2):
        os.write(descriptor, b"noise \xff\xfe\n" * 1000)


BEHAVIOURS = {
    "exit": lambda: os._exit(3),
    "exit_without_error": lambda: os._exit(0),
    "segmentation_fault": lambda: os.kill(os.getpid(), signal.SIGSEGV),
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "terminate": lambda: os.kill(os.getpid(), signal.SIGTERM),
    "sys_exit": lambda: sys.exit(0),
    "memory": lambda: bytearray(1 << 40),
    "memory_in_steps": _fill_memory,
    "slow": lambda: time.sleep(0.5),
    "stop": _stop_oneself,
    "noise": _make_noise,
    "spin": _spin,
    "hang": lambda: time.sleep(1000),
    # PyDLL keeps the interpreter lock: nothing else in the process runs any more.
    "hang_with_lock": lambda: ctypes.PyDLL(None).sleep(1000),
    "exception": _raise,
}

RESULTS = {"result": Lock, "one_way_result": OneWay}


@dataclass(frozen=True)
class Behaviour(Kind):
    def read(self, source, case, files):
        if isinstance(source, FileSource):
            return bytes(files.read(source.file, 1000)).decode()
        when, _, what = source.cells[0].partition(":")
        if when == "read":
            BEHAVIOURS[what]()
        return source.cells[0]

    def describe(self):
        return "what to do"

    def pixels(self, case):
        return 1 << 21  # as many as pay for a worker, so that each case is a batch

    def write_cells(self, value):
        return (value,)


def _score(prediction, reference):
    when, _, what = prediction["behaviour"].partition(":")
    if when == "score" and what in RESULTS:
        return {"value": 1.0, "further": RESULTS[what]()}
    if (when, what) == ("score", "undefined"):
        return {"value": math.nan}
    if when == "score":
        BEHAVIOURS[what]()
    return {"value": 1.0}


FIELD = Field(
    "behaviour",
    "Behaviour",
    Behaviour(),
    TableColumns(("behaviour.csv",), "Name", ("Behaviour",)),
    Reference(Behaviour(), CaseColumns(("behaviour",))),
    socket=Socket("behaviour", "behaviour.json"),
)

CHALLENGE = Challenge(
    name="unruly",
    title="Unruly cases",
    options=Options,
    tasks=lambda options: (
        Task(
            "task",
            "Task",
            (FIELD,),
            _score,
            (Metric("value", "Value", Mean("value"), best=1, worst=0),),
        ),
    ),
    components=("task.value",),
)
