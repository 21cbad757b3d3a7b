"""Programs of child processes that end with this process."""

import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


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
