"""Runs computations in two processes: this one and a copy of it, which is forked for the purpose.

Threads would not do: parts of NumPy, `numpy.bincount` among them, let one thread run at a time.
"""

import gc
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NoReturn, TypeVar

Result = TypeVar("Result")
_PR_SET_PDEATHSIG = 1


def side_by_side(tasks: Sequence[Callable[[], Result]], costs: Sequence[float]) -> list[Result]:
    """Return the results of tasks in their order, where possible from two processes at once.

    tasks: functions that only compute, and whose results can be pickled. costs: what each is expected to
    take, in any unit, by which the tasks are shared out. A task that fails in the copy, for whatever reason,
    is done here, so that results and exceptions are those of ``[task() for task in tasks]``.
    """
    theirs, ours = _shares(costs)
    if not (theirs and ours and _can_fork()):
        return [task() for task in tasks]
    parent, reading, writing = os.getpid(), *os.pipe()
    try:
        process = os.fork()
    except OSError:  # no more processes: all is done here
        os.close(reading)
        os.close(writing)
        return [task() for task in tasks]
    if process == 0:
        os.close(reading)
        _work([tasks[number] for number in theirs], writing, parent)
    os.close(writing)
    try:
        found = {number: tasks[number]() for number in ours}
        with open(reading, "rb", closefd=False) as stream:
            answer = stream.read()
    finally:
        os.close(reading)
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(process, 0)
    with suppress(Exception):
        found |= zip(theirs, pickle.loads(answer), strict=True)  # noqa: S301 - from our own copy
    return [found[number] if number in found else task() for number, task in enumerate(tasks)]


def program_of(call: str) -> str:
    """Return the program of a child of this process, for ``python -c``: it ends with its parent, then calls.

    ``call``: of the form "module:function(arguments)". Nothing is imported before, which takes seconds on a
    machine that is busy, and the same modules are found as here.
    """
    module, _, function = call.partition(":")
    path = [entry for entry in sys.path if isinstance(entry, str)]
    return (
        f"import sys; sys.path[:] = {path!r}\n"
        f"from {__name__} import end_with_parent; end_with_parent({os.getpid()})\n"
        f"from {module} import {function.partition('(')[0]}; {function}"
    )


def end_with_parent(parent: int | None = None) -> None:
    """Ask the system to kill this process when its parent ends, also while this one is stopped or hangs.

    parent: its number, where it may have ended already; this process then ends as well.
    """
    if sys.platform == "linux":
        import ctypes

        parent = os.getppid() if parent is None else parent
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it ended before we asked
            os._exit(1)


def _shares(costs: Sequence[float]) -> tuple[list[int], list[int]]:
    """Return the positions of the tasks in two shares of about equal cost, the dearest task in the second."""
    shares: tuple[list[int], list[int]] = ([], [])
    sums = [0.0, 0.0]
    for number in sorted(range(len(costs)), key=lambda number: (-costs[number], number)):
        share = 0 if sums[0] < sums[1] else 1
        shares[share].append(number)
        sums[share] += costs[number]
    return shares


def _can_fork() -> bool:
    """Return whether a copy of this process works and is of use: no threads, and more than one processor."""
    return sys.platform == "linux" and threading.active_count() == 1 and len(os.sched_getaffinity(0)) > 1


def _work(tasks: Sequence[Callable[[], Any]], writing: int, parent: int) -> NoReturn:
    """Write the pickled results of tasks, and end without anything that a normal end would do."""
    status = 1
    try:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        end_with_parent(parent)
        gc.disable()  # looking for garbage would copy every page
        data = pickle.dumps([task() for task in tasks])
        with open(writing, "wb") as stream:
            stream.write(data)
        status = 0
    finally:
        os._exit(status)
