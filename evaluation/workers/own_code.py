"""A challenge at home in a reader: what it needs is imported before, what it may not do is told.

Its kinds run in processes that are confined (`evaluation.workers.confinement`). A right that they have not is
no fault of a file. It is the organiser's, with the line of `challenge.py`, where the rehearsal finds it.
"""

import importlib
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain
from types import FrameType
from typing import Any

from evaluation.core.fault import PhaseError
from evaluation.core.trouble import trouble_of
from evaluation.phase import registry

# --- Before a reader is confined ---

# Native parts of Python's codecs and of its reader of XML, and of packages that look for a decoder when they
# first meet its files.
_OF_CODECS = (
    *("unicodedata", "zlib", "bz2", "pyexpat", "_multibytecodec"),
    *(f"_codecs_{name}" for name in ("cn", "hk", "iso2022", "jp", "kr", "tw")),
)
_OF_PACKAGES = {"PIL.Image": ("PIL._webp", "PIL._avif")}


def import_ahead() -> None:
    """Import native parts that Python's library and the packages of a challenge at home import late.

    All else that is native, or lies beside the challenge, it imports itself, at the top of its file. Modules
    that cannot be imported are left to the function that wants them.
    """
    of_packages = (natives for package, natives in _OF_PACKAGES.items() if package in sys.modules)
    for name in chain(_OF_CODECS, *of_packages):
        with suppress(Exception, SystemExit):
            importlib.import_module(name)


# --- In a confined reader ---

# What a confined reader has not, by the name that Python gives to the attempt. The kernel ends a reader for
# some of it, before anything could be told; of other attempts Python's library makes a quiet "there is none".
_REFUSED = frozenset(
    f"{module}.{name}"
    for module, names in {
        "os": "chmod chown exec fork forkpty kill killpg link listdir mkdir posix_spawn remove removexattr "
        "rename rmdir scandir setxattr spawn startfile symlink system truncate utime",
        "socket": "__new__ bind connect getaddrinfo gethostbyname",
        "subprocess": "Popen",
        "signal": "pthread_kill",
        "glob": "glob",
        "_thread": "start_new_thread start_joinable_thread",
    }.items()
    for name in names.split()
)
_ASKS_BY_PATH = ("stat", "lstat")
_OF_PYTHON = frozenset({"os", "genericpath", "posixpath", "pathlib", "glob", "shutil"})
_NO_THREAD = ("can't start new thread",)
MAY_NOT = (
    "a process that reads submissions opens no other file, asks nothing by path, imports nothing native in a "
    "function, and has no threads, processes and connections: see docs/add-a-challenge.md"
)


class RefusedError(Exception):
    """Raised where a challenge at home wants what a reader has not; libraries pass over an `OSError`."""


def tell_of_refusals() -> None:
    """Let attempts of a challenge at home, in this confined process, end in errors with a traceback.

    The attempts fail without this too: it takes no right and gives none.
    """
    sys.addaudithook(_on_event)
    for name in _ASKS_BY_PATH:
        setattr(os, name, _asking(name, getattr(os, name)))


def _on_event(event: str, arguments: tuple[Any, ...]) -> None:
    if event in _REFUSED and _is_from_home():
        raise RefusedError(event)


def _asking(name: str, ask: Callable[..., os.stat_result]) -> Callable[..., os.stat_result]:
    def ask_by_path(path: Any, *arguments: Any, **options: Any) -> os.stat_result:
        if not isinstance(path, int) and _is_from_home(only=_OF_PYTHON):
            raise RefusedError(f"os.{name}")
        return ask(path, *arguments, **options)

    return ask_by_path


def _is_from_home(only: frozenset[str] | None = None) -> bool:
    """Return whether a challenge at home has called, through modules named ``only`` if any are given."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        if registry.is_at_home(frame.f_code.co_filename):
            return True
        module = str(frame.f_globals.get("__name__")).partition(".")[0]
        if module == "importlib" or (only is not None and module not in only):
            return False
        frame = frame.f_back
    return False


def raise_refusal(error: BaseException) -> None:
    """Raise the organiser's fault for an error of a challenge at home that wants what a reader has not.

    Other errors pass: those of a file that cannot be read as its kind expects, and those of the machine.
    """
    for cause in _chain(error):
        if _is_refusal(cause) and (place := registry.place_at_home(cause)) is not None:
            raise PhaseError(f"{place}: {type(cause).__name__}: {cause} ({MAY_NOT})") from None


def _is_refusal(error: BaseException) -> bool:
    if isinstance(error, OSError):  # without a number it is a library's word for a damaged file
        return error.errno is not None and trouble_of(error, "read") is None
    return isinstance(error, RefusedError | ImportError) or error.args == _NO_THREAD


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and those that led to it."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def problem_of(case: str, error: Exception) -> str:
    """Return the problem with an error of a case: the line of a challenge at home, or else a traceback."""
    if (place := registry.place_at_home(error)) is not None:
        return f"case {case}: {place}: {registry.words_of(error)}"
    return f"case {case}: {''.join(traceback.format_exception(error, limit=-8))}"


@contextmanager
def telling_of_home() -> Iterator[None]:
    """Raise the organiser's fault for every error of a challenge at home, such as that of `Field.cases`."""
    try:
        yield
    except Exception as error:
        raise_refusal(error)
        if (place := registry.place_at_home(error)) is not None:
            raise PhaseError(f"{place}: {type(error).__name__}: {error}") from None
        raise
