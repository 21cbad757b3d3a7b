"""Runs commands of the package as if on Windows, without what it lacks, of which macOS lacks some too.

Each line of its input is a request: a folder and a command, which a fork of it runs with its streams in files
of the folder. It answers with the exit status. Dependencies are imported before, since they support Windows
themselves; modules of the package are imported as on Windows.
"""

from __future__ import annotations

import builtins
import gc
import importlib
import importlib.util
import io
import json
import os
import shutil
import sys
import tempfile
import traceback
from contextlib import suppress

PACKAGES = (
    *("pydantic", "numpy", "PIL.PngImagePlugin", "PIL.BmpImagePlugin", "PIL.TiffImagePlugin", "SimpleITK"),
    *("rich.console", "rich.table", "pandas", "scipy.stats", "sklearn.metrics"),
)
COMMON = ("multiprocessing.context", "subprocess", "tempfile", "platform")
# No command may need these; features that do little on a system are taken away too.
MODULES = (
    *("resource", "fcntl", "pwd", "grp", "termios", "tty", "pty", "multiprocessing.forkserver"),
    *(f"multiprocessing.popen_{name}" for name in ("fork", "forkserver", "spawn_posix")),
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
    *("setitimer", "alarm", "pause", "pthread_sigmask", "sigwait", "siginterrupt", "pthread_kill"),
)
# Of the C library of Windows; here a flag without effect.
O_BINARY = 1 << 15


def become_windows() -> None:
    """Make this process one of Windows, as far as Python shows it."""
    for name in (*COMMON, *PACKAGES):
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
    _take(os, ON_POSIX)
    _take(signal, (*SIGNALS, *SIGNAL_FUNCTIONS))
    _take(socket, ("AF_UNIX", "send_fds", "recv_fds"))
    _open_as_windows_does()
    sys.platform = "win32"


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

    os.open, os.stat = open_descriptor, stat_of_path
    os.listdir, os.scandir = of_a_path(listed), of_a_path(scanned)
    io.open = builtins.open = open_file


def serve() -> None:
    """Become Windows, and run each command in a fork."""
    fork, opened = os.fork, os.open
    become_windows()
    for request in sys.stdin:
        gc.freeze()  # else each fork copies the pages of what it collects
        answers, answer = os.pipe()
        if (child := fork()) == 0:
            status, before = 99, set(sys.modules)
            folder, arguments = json.loads(request)
            for name, descriptor in ((os.devnull, 0), ("stdout", 1), ("stderr", 2)):
                os.dup2(opened(os.path.join(folder, name), os.O_RDWR | os.O_CREAT), descriptor)  # noqa: PTH118
            sys.argv[:] = ["evaluation", *arguments]
            try:
                from evaluation.__main__ import run

                status = run()
            except SystemExit as ended:
                status = ended.code if isinstance(ended.code, int) else 98
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os.write(answer, "\n".join(name for name in sys.modules if name not in before).encode())
                os._exit(status)
        os.close(answer)
        names = _everything(answers).decode().splitlines()
        _, status = os.waitpid(child, 0)
        # Those after it find these modules, which are imported as on the other system too.
        for name in names:
            with suppress(ImportError):  # a module that is made while another one is imported
                importlib.import_module(name)
        os.write(1, f"{os.waitstatus_to_exitcode(status)}\n".encode())


def _everything(descriptor: int) -> bytes:
    """Read until the end, and close."""
    data = b""
    while part := os.read(descriptor, 1 << 16):
        data += part
    os.close(descriptor)
    return data


if __name__ == "__main__":
    serve()
