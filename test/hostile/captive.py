"""A `challenge.py` whose kind tries to leave its reader, as a file would that has taken over its decoder.

Just before a reader is confined, it forks a copy of itself for each action. The copy is confined in the same
way, and tries. The kind then reports as faults what became of each.
"""

# ruff: noqa: PTH101, PTH102, PTH104, PTH106, PTH107, PTH115, PTH116, PTH208, PTH211, SIM115

import ctypes
import errno
import fcntl
import mmap
import os
import resource
import signal
import socket
import stat
import struct
import sys
import threading
import time
from pathlib import Path

import evaluation.workers.reader
from evaluation.define import (
    CaseColumns,
    Challenge,
    Fault,
    FaultKind,
    Field,
    FormFault,
    Number,
    Options,
    Reference,
    TableColumns,
    Task,
    mean_metric,
)
from evaluation.io.system_calls import file_status, folder_entries

PHASE = str(Path(__file__).parent)
SECRET = f"{PHASE}/cases.csv"
DONE, REFUSED, ENDED = "done", "refused", "ended"

libc = ctypes.CDLL(None, use_errno=True)
_ON_ARM = os.uname().machine == "aarch64"
_WORD = ctypes.c_long


def call(x86_64: int, arm64: int, *arguments: object) -> int:
    words = [_WORD(argument) if isinstance(argument, int) else argument for argument in arguments]
    return checked(libc.syscall(_WORD(arm64 if _ON_ARM else x86_64), *words))


def checked(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return result


def refuse() -> None:
    raise OSError(errno.EPERM, "not done")


def clock_of(process: int) -> int:
    """Return the identifier of the processor clock of a process, see clock_getcpuclockid."""
    return ~process << 3 | 2


def channel() -> int:
    """Return the socket to the main process."""
    return next(each for each in range(3, 100) if stat.S_ISSOCK(status_of(each)))


def status_of(descriptor: int) -> int:
    try:
        return file_status(descriptor).mode
    except OSError:
        return 0


def mapped(length: int, flags: int) -> None:
    try:
        mmap.mmap(-1, length, flags=flags | mmap.MAP_ANONYMOUS)
    except ValueError:
        refuse()


def start_thread() -> None:
    try:
        threading.Thread(target=int).start()
    except RuntimeError:
        raise OSError(errno.EAGAIN, "no thread") from None


def executable_memory() -> None:
    mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC)


def made_executable() -> None:
    page = mmap.mmap(-1, 4096)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    checked(libc.mprotect(ctypes.c_void_p(address), 4096, 5))


def of_another_kind() -> int:
    """Make a call of the x32 interface, which shares its architecture with that of 64 bits."""
    return call(0x40000000 + 39, 172 + 10_000)


def inside(folder: str) -> str:
    return f"{folder}/tries.csv"


def PARENT() -> int:
    """Return the parent of a copy, which it can no longer ask for."""
    return _parent[0]


_parent = [0]
BUFFER = ctypes.create_string_buffer(512)
LENGTH = ctypes.create_string_buffer(struct.pack("i", 12))
# What reading takes, and what SECURITY.md says that a reader can do.
_DONE = {
    "read its files": lambda f: Path(inside(f)).open().read(),
    "list its folder": lambda f: next(folder_entries(os.open(f, os.O_RDONLY))),
    "make a file in memory": lambda f: os.memfd_create("x"),
    "be silent": lambda f: os.open(os.devnull, os.O_WRONLY),
    "limit itself": lambda f: resource.setrlimit(resource.RLIMIT_CPU, (50, resource.RLIM_INFINITY)),
    "ask whether a file exists": lambda f: os.access(SECRET, os.F_OK) or 1 / 0,
    "ask whether a process exists": lambda f: os.access(f"/proc/{PARENT()}", os.F_OK) or 1 / 0,
    "count the processors": lambda f: os.sched_getaffinity(0),
    "ignore signals": lambda f: signal.signal(signal.SIGTERM, signal.SIG_IGN),
    "read the time": lambda f: time.monotonic() and time.process_time() and time.sleep(0.001),
}
_REFUSED = {
    # Clocks, and what tells of the machine: how long a scorer took can depend on a label.
    "read the clock of its parent": lambda f: time.clock_gettime(clock_of(PARENT())),
    "read the clock of its parent's first thread": lambda f: time.clock_gettime(clock_of(PARENT()) | 4),
    "read the clock of a device": lambda f: time.clock_gettime(~1 << 3 | 3),
    "wait for the clock of its parent": lambda f: call(
        230, 115, clock_of(PARENT()), 0, struct.pack("qq", 0, 1), 0
    ),
    "ask for the steps of its parent's clock": lambda f: time.clock_getres(clock_of(PARENT())),
    "make a timer of its parent's clock": lambda f: call(222, 107, clock_of(PARENT()), 0, BUFFER),
    "ask for the processors of its parent": lambda f: os.sched_getaffinity(PARENT()),
    "ask for the load and the memory of the machine": lambda f: call(99, 179, BUFFER),
    "name the main process": lambda f: call(55, 209, channel(), 1, 17, BUFFER, LENGTH),
    "ask how long a socket waits": lambda f: call(55, 209, channel(), 1, 20, BUFFER, LENGTH),
    "ask for the other end": lambda f: call(52, 205, channel(), BUFFER, LENGTH),
    # Memory beyond what is granted, 1 GiB.
    "raise its limit of memory": lambda f: resource.setrlimit(resource.RLIMIT_DATA, (8 << 30, 8 << 30)),
    "raise its soft limit of memory": lambda f: resource.setrlimit(
        resource.RLIMIT_DATA, (8 << 30, resource.RLIM_INFINITY)
    ),
    "take memory": lambda f: mapped(3 << 30, mmap.MAP_PRIVATE),
    "take shared memory": lambda f: mapped(3 << 30, mmap.MAP_SHARED),
    "take memory as a stack": lambda f: mapped(3 << 30, mmap.MAP_PRIVATE | 0x100),
    "write much to a file in memory": lambda f: (
        os.write(os.memfd_create("x"), bytes(64 << 20)) > 1 << 25 or refuse()
    ),
    "open many files": lambda f: [os.memfd_create("x") for _ in range(200)],
    "open more files than it may": lambda f: resource.setrlimit(resource.RLIMIT_NOFILE, (1 << 16, 1 << 16)),
    # Its environment, which another test reads.
    "read a secret of the environment": lambda f: os.environ.get("A_SECRET") or refuse(),
    # Files of others.
    "read the labels": lambda f: Path(SECRET).read_bytes(),
    "leave its folder": lambda f: os.open(f"{f}/../phase/cases.csv", os.O_RDONLY),
    "list the reference": lambda f: os.listdir(PHASE),
    "open the reference's folder": lambda f: os.open(PHASE, os.O_RDONLY | os.O_DIRECTORY),
    "write into the reference": lambda f: os.open(SECRET, os.O_WRONLY),
    "write into its folder": lambda f: Path(f"{f}/new").write_text(""),
    "append to its file": lambda f: os.open(inside(f), os.O_WRONLY | os.O_APPEND),
    "open its file for both": lambda f: os.open(inside(f), os.O_RDWR),
    "make a nameless file": lambda f: os.open("/tmp", os.O_TMPFILE | os.O_WRONLY),
    "write where all may": lambda f: Path("/tmp/of-a-reader").write_text(""),
    "read the memory of its parent": lambda f: os.open(f"/proc/{PARENT()}/mem", os.O_RDONLY),
    "read its parent's environment": lambda f: os.open(f"/proc/{PARENT()}/environ", os.O_RDONLY),
    "get a handle": lambda f: call(303, 264, -100, SECRET.encode(), BUFFER, BUFFER, 0),
    "open in the new way": lambda f: call(437, 437, -100, inside(f).encode(), BUFFER, 24),
    # Sizes, times and other properties by path.
    "ask for the size of a label file": lambda f: os.stat(SECRET),
    "ask without following": lambda f: os.lstat(SECRET),
    "ask relative to its folder": lambda f: os.stat("../phase/cases.csv", dir_fd=os.open(f, os.O_RDONLY)),
    "ask in the newest way": lambda f: call(332, 291, -100, SECRET.encode(), 0, 0xFFF, BUFFER),
    "ask by a path that may be empty": lambda f: call(262, 79, -100, SECRET.encode(), BUFFER, 0x1000),
    "open the place of a file": lambda f: os.fstat(os.open(SECRET, os.O_PATH)),
    "read a link": lambda f: os.readlink("/proc/self/exe"),
    "ask for the room of a disk": lambda f: os.statvfs(PHASE),
    "list attributes": lambda f: os.listxattr(SECRET),
    "read an attribute": lambda f: os.getxattr(SECRET, "user.x"),
    "watch a file": lambda f: call(254, 27, 0, SECRET.encode(), 0xFFF),
    "go to another folder": lambda f: os.chdir(PHASE),
    "lease a file": lambda f: fcntl.fcntl(os.open(inside(f), os.O_RDONLY), fcntl.F_SETLEASE, 0),
    "lock a file": lambda f: fcntl.flock(os.open(inside(f), os.O_RDONLY), fcntl.LOCK_EX),
    # Other processes.
    "start a thread": lambda f: start_thread(),
    "clone with hidden arguments": lambda f: call(435, 435, BUFFER, 88),
    "get signals for its parent": lambda f: fcntl.fcntl(os.memfd_create("x"), fcntl.F_SETOWN, PARENT()),
    "leave its session": lambda f: os.setsid(),
    # The network.
    "ask for network interfaces": lambda f: fcntl.ioctl(0, 0x8912, BUFFER),
    # The kernel, and its own confinement.
    "type into a terminal": lambda f: fcntl.ioctl(0, 0x5412, b"x"),
    "run memory": lambda f: executable_memory(),
    "let memory run": lambda f: made_executable(),
    "set the clock": lambda f: call(227, 112, 0, struct.pack("qq", 0, -1)),
    "read the kernel's log": lambda f: call(103, 116, 10, 0, 0),
    "become another user": lambda f: os.setuid(os.getuid()),
    "take capabilities": lambda f: call(126, 91, BUFFER, BUFFER),
    "share memory": lambda f: call(29, 194, 0, 4096, 0o1600),
    "survive its parent": lambda f: checked(libc.prctl(1, 0, 0, 0, 0)),
    "filter anew": lambda f: call(317, 277, 1, 0, BUFFER),
}
# What ends the process.
_ENDED = {
    # What reading takes, and what SECURITY.md says that a reader can do.
    "abort": lambda f: os.abort(),
    # Files of others.
    "open by handle": lambda f: call(304, 265, -100, BUFFER, 0),
    # Sizes, times and other properties by path.
    "change the rights of a file": lambda f: os.chmod(SECRET, 0o600),
    "change the rights of an open file": lambda f: os.fchmod(os.open(inside(f), os.O_RDONLY), 0o600),
    "change the owner of a file": lambda f: os.chown(SECRET, os.getuid(), -1),
    "change the owner of a link": lambda f: os.lchown(SECRET, 1, -1),
    "change the times of a file": lambda f: os.utime(SECRET),
    "set an attribute": lambda f: os.setxattr(SECRET, "user.x", b""),
    "remove an attribute": lambda f: os.removexattr(SECRET, "user.x"),
    "cut a file": lambda f: os.truncate(inside(f), 0),
    "rename": lambda f: os.rename(inside(f), f"{f}/other.csv"),
    "remove": lambda f: os.remove(inside(f)),
    "remove a folder": lambda f: os.rmdir(f),
    "make a folder": lambda f: os.mkdir(f"{f}/new"),
    "make a pipe": lambda f: os.mkfifo(f"{f}/pipe"),
    "link": lambda f: os.link(SECRET, f"{f}/secret"),
    "link by name": lambda f: os.symlink(SECRET, f"{f}/secret"),
    "change the root": lambda f: os.chroot(f),
    # Other processes.
    "fork": lambda f: os.fork(),
    "fork in the old way": lambda f: call(57, 220, 17, 0, 0, 0, 0),
    "start a program": lambda f: os.posix_spawn(sys.executable, [sys.executable], {}),
    "become a program": lambda f: os.execv(sys.executable, [sys.executable]),
    "run a file in memory": lambda f: os.execve(os.memfd_create("x"), ["x"], {}),
    "signal its parent": lambda f: os.kill(PARENT(), 0),
    "stop its parent": lambda f: os.kill(PARENT(), signal.SIGCONT),
    "signal all processes": lambda f: os.kill(-1, 0),
    "signal its group": lambda f: os.killpg(0, 0),
    "signal a thread of its parent": lambda f: call(234, 131, PARENT(), PARENT(), 0),
    "queue a signal": lambda f: call(129, 138, PARENT(), 0, BUFFER),
    "limit its parent": lambda f: resource.prlimit(PARENT(), resource.RLIMIT_CORE, (0, 0)),
    "read the limits of its parent": lambda f: resource.prlimit(PARENT(), resource.RLIMIT_CPU),
    "slow its parent down": lambda f: os.setpriority(os.PRIO_PROCESS, PARENT(), 19),
    "move its parent": lambda f: os.sched_setaffinity(PARENT(), os.sched_getaffinity(0)),
    "schedule its parent": lambda f: os.sched_setscheduler(PARENT(), os.SCHED_BATCH, os.sched_param(0)),
    "trace its parent": lambda f: call(101, 117, 16, PARENT(), 0, 0),
    "read its parent's memory at once": lambda f: call(310, 270, PARENT(), BUFFER, 1, BUFFER, 1, 0),
    "hold its parent": lambda f: call(434, 434, PARENT(), 0),
    "compare with its parent": lambda f: call(312, 272, os.getpid(), PARENT(), 0, 1, 1),
    "leave its namespaces": lambda f: call(272, 97, 0x10000000),
    "enter other namespaces": lambda f: call(308, 268, 0, 0),
    # The network.
    "open a TCP socket": lambda f: socket.socket(),
    "open a UDP socket": lambda f: socket.socket(type=socket.SOCK_DGRAM),
    "open a Unix socket": lambda f: socket.socket(socket.AF_UNIX),
    "open a raw socket": lambda f: socket.socket(type=socket.SOCK_RAW, proto=1),
    "open a packet socket": lambda f: socket.socket(socket.AF_PACKET, socket.SOCK_RAW),
    "open a netlink socket": lambda f: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
    "open a pair of sockets": lambda f: socket.socketpair(),
    "connect": lambda f: call(42, 203, 0, BUFFER, 16),
    "listen": lambda f: call(50, 201, 0, 1),
    "take a connection": lambda f: call(43, 202, 0, 0, 0),
    # The kernel, and its own confinement.
    "load a module": lambda f: call(175, 105, 0, 0, b""),
    "load a program into the kernel": lambda f: call(321, 280, 0, BUFFER, 64),
    "measure the machine": lambda f: call(298, 241, BUFFER, 0, -1, -1, 0),
    "queue system calls": lambda f: call(425, 425, 1, BUFFER),
    "handle page faults": lambda f: call(323, 282, 0),
    "read keys": lambda f: call(250, 219, 0, -3, 0),
    "mount": lambda f: call(165, 40, b"x", f.encode(), b"tmpfs", 0, 0),
    "restart": lambda f: call(169, 142, 0, 0, 0, 0),
}
_OF_ANOTHER_KIND = {"make a call of another kind": lambda f: of_another_kind()}
ACTIONS = {
    name: (action, expected)
    for expected, actions in (
        (DONE, _DONE),
        (REFUSED, _REFUSED),
        (ENDED, _ENDED),
        (REFUSED if _ON_ARM else ENDED, _OF_ANOTHER_KIND),
    )
    for name, action in actions.items()
}
"""What is tried, and what becomes of it: it is done, refused with an error, or ends the process."""

_results: dict[str, str] = {}
_confine = evaluation.workers.reader.confine


def _trying(folder: str) -> None:
    """Try every action in a copy of this process, and confine it."""
    _parent[0] = os.getpid()
    for name, (action, _) in ACTIONS.items():
        process = os.fork()
        if process == 0:
            status = 250
            try:
                _confine(folder)
                action(folder)
                status = 0
            except OSError as error:
                status = error.errno or 249
            except (MemoryError, ValueError):  # of a limit that is too small
                status = 248
            finally:
                os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        _results[name] = DONE if status == 0 else ENDED if status < 0 else REFUSED
        if status == 250:
            _results[name] = "failed"
    _confine(folder)


evaluation.workers.reader.confine = _trying


class Captive(Number):
    """A number that is never read."""

    def read(self, source, case, files):
        raise FormFault(
            Fault(FaultKind.WRONG_VALUE, "tries.csv", expected, _results[name], field=name)
            for name, (_, expected) in ACTIONS.items()
        )


FIELD = Field(
    name="value",
    title="Value",
    kind=Captive(0, 1),
    archive=TableColumns(("tries.csv",), "case", ("value",)),
    socket=None,
    reference=Reference(Number(0, 1), CaseColumns(("value",))),
)
TASK = Task(
    name="task",
    title="Task",
    fields=(FIELD,),
    score=lambda submitted, reference: {"error": 0.0},
    metrics=(mean_metric("error", "Error", best=0, worst=1),),
)
CHALLENGE = Challenge(
    name="captive",
    title="Captive",
    options=Options,
    tasks=lambda options: (TASK,),
    components=("task.error",),
)
