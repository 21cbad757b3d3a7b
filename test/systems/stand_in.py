"""Runs a command of the package as if on Windows or macOS, without the features that these lack.

python -m test.systems.stand_in win32|darwin COMMAND…

Dependencies are imported before, since they support these systems themselves.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import io
import os
import shutil
import sys
import tempfile

PACKAGES = {
    "form": ("pydantic", "numpy"),
    "check": (
        "pydantic",
        "numpy",
        "PIL.PngImagePlugin",
        "PIL.BmpImagePlugin",
        "PIL.TiffImagePlugin",
        "SimpleITK",
    ),
    "summary": ("rich.console", "rich.table"),
    "rank": ("pydantic", "numpy", "pandas", "rich.console", "rich.table", "scipy.stats", "sklearn.metrics"),
}
COMMON = ("multiprocessing.context", "subprocess", "tempfile", "platform")
# No command may need these; features that do little on a system are taken away too.
MODULES = ("resource", "fcntl", "pwd", "grp", "termios", "tty", "pty", "multiprocessing.forkserver")
MODULES += (
    "multiprocessing.popen_fork",
    "multiprocessing.popen_forkserver",
    "multiprocessing.popen_spawn_posix",
)
ON_LINUX = ("memfd_create", "MFD_CLOEXEC", "sched_getaffinity", "sched_setaffinity", "prlimit", "pidfd_open")
ON_POSIX = (
    *("O_NOFOLLOW", "O_NONBLOCK", "O_DIRECTORY", "O_CLOEXEC", "O_SYNC", "O_DSYNC", "O_NOCTTY"),
    *("readv", "writev", "preadv", "pwritev", "pread", "pwrite", "sendfile", "fchmod", "chown", "fchown"),
    *("geteuid", "getuid", "getegid", "getgid", "getgroups", "setuid", "setsid", "getpgid", "killpg"),
    *("fork", "forkpty", "posix_spawn", "posix_spawnp", "register_at_fork", "wait", "wait3", "wait4"),
    *("WNOHANG", "sysconf", "statvfs", "fstatvfs", "mkfifo", "mknod", "uname", "pathconf", "fchdir"),
)
SIGNALS = ("SIGKILL", "SIGHUP", "SIGALRM", "SIGCHLD", "SIGXCPU", "SIGXFSZ", "SIGUSR1", "SIGUSR2", "SIGPIPE")
SIGNAL_FUNCTIONS = (
    "setitimer",
    "alarm",
    "pause",
    "pthread_sigmask",
    "sigwait",
    "siginterrupt",
    "pthread_kill",
)
# Of the C library of Windows; here a flag without effect.
O_BINARY = 1 << 15


def become(system: str, command: str) -> None:
    """Make this process one of another system, as far as Python shows it."""
    for name in (*COMMON, *PACKAGES[command]):
        importlib.import_module(name)
    import multiprocessing
    import signal
    import socket
    import sysconfig

    sysconfig.get_config_vars()  # read from a file of the true system's name
    for name in MODULES:
        sys.modules[name] = None  # type: ignore[assignment]
    _take(os, ON_LINUX)
    multiprocessing.context._concrete_contexts = {"spawn": multiprocessing.get_context("spawn")}
    _take(multiprocessing.context, ("ForkServerContext", "ForkServerProcess", "ForkContext", "ForkProcess"))
    if system == "win32":
        _take(os, ON_POSIX)
        _take(signal, (*SIGNALS, *SIGNAL_FUNCTIONS))
        _take(socket, ("AF_UNIX", "send_fds", "recv_fds"))
        _open_as_windows_does()
    sys.platform = system


def _take(module: object, names: tuple[str, ...]) -> None:
    for name in names:
        if hasattr(module, name):
            delattr(module, name)


def _open_as_windows_does() -> None:
    """Know no descriptors of folders, translate line ends, and tell text from binary in `os.open`."""
    os.O_BINARY = O_BINARY  # type: ignore[attr-defined]
    # decided when they were imported
    tempfile._bin_openflags |= O_BINARY
    shutil._use_fd_functions = False  # type: ignore[attr-defined]
    os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks = set(), set(), {os.stat}
    opened, stat, listed, scanned, text = os.open, os.stat, os.listdir, os.scandir, io.open

    def open_descriptor(path, flags, mode=0o777, *, dir_fd=None):
        if dir_fd is not None:
            raise NotImplementedError("dir_fd unavailable on this platform")
        if os.path.isdir(path):  # noqa: PTH112
            raise PermissionError(13, "Permission denied", path)
        if not flags & O_BINARY and path != os.devnull:
            raise AssertionError(f"{path} is opened as text")
        return opened(path, flags & ~O_BINARY, mode)

    def stat_of_path(path, *, dir_fd=None, follow_symlinks=True):
        if dir_fd is not None:
            raise NotImplementedError("dir_fd unavailable on this platform")
        return stat(path, follow_symlinks=follow_symlinks)

    def of_a_path(function):
        def call(path="."):
            if isinstance(path, int):
                raise TypeError("path should be string, bytes, os.PathLike or None, not int")
            return function(path)

        return call

    def open_file(file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, *more, **named):
        if "b" not in mode and newline is None and set(mode) & set("wax+"):
            newline = "\r\n"
        return text(file, mode, buffering, encoding, errors, newline, *more, **named)

    os.open, os.stat, os.listdir, os.scandir = (
        open_descriptor,
        stat_of_path,
        of_a_path(listed),
        of_a_path(scanned),
    )
    io.open = builtins.open = open_file


if __name__ == "__main__":
    become(sys.argv[1], sys.argv[2])
    sys.argv[:] = ["evaluation", *sys.argv[2:]]
    from evaluation.__main__ import run

    sys.exit(run())
