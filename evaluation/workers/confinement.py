"""Removes the rights of a process that reading a submission does not need, as far as the kernel can.

Landlock (Linux 5.13, see its man page) lets an unprivileged process give up the file system, the network and
signals for good, for itself and its children. The three system calls have the same numbers on every
architecture. What it does not govern is left to `system_call_filter`, and new processes to a limit of their
number as well. A kernel or container engine without them only changes `missing_confinement`.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import stat
import struct
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import evaluation
from evaluation.io.system_calls import call, library
from evaluation.platform.machine import resource
from evaluation.workers.system_call_filter import filter_system_calls, missing_filter

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG = 1
_RULE_PATH_BENEATH = 1
_PR_SET_NO_NEW_PRIVS = 38
_O_PATH = getattr(os, "O_PATH", 0)

_WRITE_FILE, _READ_FILE, _READ_FOLDER = 1 << 1, 1 << 2, 1 << 3
# Rights over files by the version of the interface that brought them: 13, then refer, truncate, device ioctl.
_FILE_RIGHTS = {1: (1 << 13) - 1, 2: 1 << 13, 3: 1 << 14, 5: 1 << 15}
_TCP_VERSION, _TCP_RIGHTS = 4, 0b11
_SCOPE_VERSION, _SCOPES = 6, 0b11
_FULL_VERSION = _SCOPE_VERSION

# Files that the dynamic loader and libraries look up when a module is imported.
_SYSTEM = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache", "/etc/localtime")
# Modules that a reader may import late.
_LIBRARIES = ("numpy", "SimpleITK", "PIL", "zlib_ng")
_DEVICES = ("/dev/null", "/dev/urandom", "/dev/random", "/dev/zero")


@cache
def landlock_version() -> int:
    """Return the version of Landlock that the kernel offers, 0 for none."""
    if sys.platform != "linux":
        return 0
    try:
        return call(_CREATE_RULESET, None, 0, _VERSION_FLAG)
    except OSError:
        return 0


def missing_confinement() -> str | None:
    """Return the rights that readers should not have but keep, in one line; None if there are none."""
    version = landlock_version()
    kept = []
    if version == 0:
        kept.append("files of others, as this kernel or container engine offers no Landlock")
    elif version < _FULL_VERSION:
        rights = "signals" if version >= _TCP_VERSION else "the network and signals"
        kept.append(f"{rights}, as Landlock is of version {version} here")
    if (reason := missing_filter()) is not None:
        kept.append(f"sizes and times of files, other processes and sockets, as {reason}")
    return f"Readers keep {'; '.join(kept)}." if kept else None


def confine(folder: str) -> None:
    """Restrict this process for good to reading the files below a folder and Python's own.

    No file can be written or executed, no process or connection made, no privilege gained, nothing learned
    of a file by its path, and no other process signalled, traced or limited, as far as the kernel goes.
    Native modules must have been imported before. Raises `OSError`.
    """
    if library().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        return  # a kernel of before 2012, without any of what follows
    if landlock_version():
        _restrict_files(folder)
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
    filter_system_calls()


def _restrict_files(folder: str) -> None:
    version = landlock_version()
    rights = 0
    for since, added in _FILE_RIGHTS.items():
        rights |= added if version >= since else 0
    network = _TCP_RIGHTS if version >= _TCP_VERSION else 0
    scopes = _SCOPES if version >= _SCOPE_VERSION else 0
    ruleset_attributes = struct.pack("=QQQ", rights, network, scopes)
    length = 8 if version < _TCP_VERSION else 16 if version < _SCOPE_VERSION else 24
    ruleset = call(_CREATE_RULESET, ruleset_attributes[:length], length, 0)
    try:
        for path in (folder, *_python_folders()):
            _allow(ruleset, path, _READ_FILE | _READ_FOLDER)
        for path in _DEVICES:
            _allow(ruleset, path, _READ_FILE | _WRITE_FILE)
        call(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _python_folders() -> Iterable[str]:
    """Return where the interpreter, its libraries, this package and its challenges lie."""
    challenges = importlib.import_module("evaluation.challenges")
    roots = (Path(sys.prefix), Path(sys.base_prefix))
    folders = [entry for entry in sys.path if any(Path(entry).is_relative_to(root) for root in roots)]
    libraries = (importlib.util.find_spec(name) for name in _LIBRARIES)
    # A library may lie elsewhere, for example where a .pth file or PYTHONPATH leads.
    elsewhere = [str(Path(spec.origin).parent.parent) for spec in libraries if spec and spec.origin]
    return dict.fromkeys([*folders, *elsewhere, *evaluation.__path__, *challenges.__path__, *_SYSTEM])


def _allow(ruleset: int, path: str, rights: int) -> None:
    """Grant rights below a path, where there is such a path."""
    try:
        descriptor = os.open(path, _O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= ~_READ_FOLDER
        call(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, struct.pack("=Qi", rights, descriptor), 0)
    finally:
        os.close(descriptor)
