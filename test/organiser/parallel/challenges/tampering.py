"""Cases that change the state of the process that reads or scores them, and cases that look at it.

A "tamper" case changes everything that a file could change after taking over its decoder. The figures of a
case are fingerprints of the processes that read and scored it.
"""

import builtins
import gc
import os
import resource
import signal
import sys
import threading
import zlib
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from evaluation.core import fault
from evaluation.core.challenge import Challenge, Options, Task
from evaluation.core.estimator import Mean
from evaluation.core.field import CaseColumns, Field, Kind, Reference, Socket, TableColumns
from evaluation.core.metric import Metric

SEEN = []


def tamper():
    """Change everything that comes to mind."""
    SEEN.append("tampered")
    os.environ["TAMPERED"] = "1"
    with suppress(OSError):  # a confined reader may not
        os.umask(0o777)
    sys.path.insert(0, "/tampered")
    sys.modules["tampered"] = sys.modules["os"]
    sys.setrecursionlimit(77_000)
    builtins.tampered = len
    np.mean = np.sum
    np.seterr(all="ignore")
    gc.set_threshold(7)
    fault.Fault.__str__ = lambda self: "tampered"
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_NOFILE, (99, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    with suppress(RuntimeError):  # a confined reader may not
        threading.Thread(target=threading.Event().wait, daemon=True).start()


def fingerprint() -> float:
    """Return a number that is another for any other state."""
    umask = None
    with suppress(OSError):
        umask = os.umask(0)
        os.umask(umask)
    state = (
        SEEN,
        sorted((name, value) for name, value in os.environ.items() if name != "TMPDIR"),
        umask,
        sys.path,
        sorted(sys.modules),
        sys.getrecursionlimit(),
        sorted(vars(builtins)),
        np.mean.__name__,
        sorted(np.geterr().items()),
        gc.get_threshold(),
        fault.Fault.__str__.__qualname__,
        str(signal.getsignal(signal.SIGUSR1)),
        resource.getrlimit(resource.RLIMIT_NOFILE),
        threading.active_count(),
    )
    return float(zlib.crc32(repr(state).encode()))


@dataclass(frozen=True)
class Behaviour(Kind):
    def read(self, source, case, files):
        if source.cells[0] == "tamper":
            tamper()
        return f"{source.cells[0]} {fingerprint()}"

    def describe(self):
        return "what to do"

    def write_cells(self, value):
        return (value,)


def _score(prediction, reference):
    what, read_in = prediction["behaviour"].split()
    if what == "tamper":
        tamper()
    return {"value": 1.0, "reader": float(read_in), "scorer": fingerprint()}


FIELD = Field(
    "behaviour",
    "Behaviour",
    Behaviour(),
    TableColumns(("behaviour.csv",), "Name", ("Behaviour",)),
    Socket("behaviour", "behaviour.json"),
    Reference(Behaviour(), CaseColumns(("behaviour",))),
)

CHALLENGE = Challenge(
    name="tampering",
    title="Tampering cases",
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
