"""Removes the rights of a process that reading a submission does not need, as far as the kernel can.

Landlock (Linux 5.13, see its man page) lets an unprivileged process give up the file system, the network and
signals for good, for itself and its children. The three system calls have the same numbers on every
architecture. New processes are left to a limit of their number as well. A kernel or container engine without
them only changes `missing_confinement`.

Landlock rules which files may be opened, and nothing else of them: their sizes, times and owners, other
processes and their limits, and most kinds of sockets are beyond it. A seccomp filter (x86-64 and arm64) is a
small program in the kernel that sees number and arguments of each system call, and no path behind a pointer.
So every call that tells of a file by its path is refused, and a reader asks about files that it has opened.

- What reading takes is allowed, some of it with certain arguments only.
- What nothing but an attack would do ends the process (`_DEADLY`).
- All else is refused, and libraries go on without it.

Sources: the kernel's seccomp_filter.rst, linux/{seccomp,filter,audit}.h, and its tables of system calls.
"""

import contextlib
import ctypes
import errno
import importlib.abc
import importlib.machinery
import importlib.util
import os
import stat
import struct
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from types import ModuleType

import evaluation
from evaluation.core.trouble import LACKS
from evaluation.io.pixels import MEMORY_FILE_BYTES
from evaluation.io.system_calls import architecture, call, library
from evaluation.platform.machine import limit_for_good, resource

_PR_SET_SECCOMP, _MODE_FILTER = 22, 2
_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32 = 0x40000000

# Offsets in `struct seccomp_data`; of arguments, the lower half.
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000

_Statement = tuple[int, int, int, int]
"""A statement of the filter: code, jumps if true and if false, operand."""


def _numbers(text: str) -> dict[str, tuple[int, int]]:
    """Return the numbers by name, on x86-64 and on arm64; −1: there is none."""
    cells = text.split()
    return {
        name: (int(first), int(second))
        for name, first, second in zip(cells[::3], cells[1::3], cells[2::3], strict=True)
    }


# Those of every file come first.
_ALLOWED = _numbers("""
    read 0 63  readv 19 65  close 3 57  fstat 5 80  lseek 8 62  munmap 11 215
    recvfrom 45 207  sendmsg 46 211  recvmsg 47 212  sendto 44 206  write 1 64  writev 20 66
    pread64 17 67  access 21 -1  faccessat 269 48  brk 12 214  mremap 25 216  madvise 28 233  futex 202 98
    getdents64 217 61  dup 32 23  dup2 33 -1  dup3 292 24  memfd_create 319 279  poll 7 -1  ppoll 271 73
    select 23 -1  pselect6 270 72  nanosleep 35 101  gettimeofday 96 169  times 100 153
    getrandom 318 278  getpid 39 172  gettid 186 178  getrlimit 97 163  getrusage 98 165
    sched_yield 24 124  rt_sigaction 13 134  rt_sigprocmask 14 135  rt_sigreturn 15 139
    sigaltstack 131 132  restart_syscall 219 128  getcwd 79 17  uname 63 160  exit 60 93
    exit_group 231 94""")
_DEADLY = _numbers("""
    fork 57 -1  vfork 58 -1  execve 59 221  execveat 322 281  kill 62 129  tkill 200 130
    rt_sigqueueinfo 129 138  rt_tgsigqueueinfo 297 240  pidfd_open 434 434  pidfd_send_signal 424 424
    pidfd_getfd 438 438  ptrace 101 117  process_vm_readv 310 270  process_vm_writev 311 271
    process_madvise 440 440  kcmp 312 272  setpriority 141 140  ioprio_set 251 30
    sched_setaffinity 203 122  sched_setscheduler 144 119  sched_setparam 142 118  sched_setattr 314 274
    socket 41 198  socketpair 53 199  connect 42 203  bind 49 200  listen 50 201  accept 43 202
    accept4 288 242  chmod 90 -1  fchmod 91 52  fchmodat 268 53  fchmodat2 452 452  chown 92 -1
    fchown 93 55  lchown 94 -1  fchownat 260 54  utime 132 -1  utimes 235 -1  futimesat 261 -1
    utimensat 280 88  setxattr 188 5  lsetxattr 189 6  fsetxattr 190 7  removexattr 197 14
    lremovexattr 198 15  fremovexattr 199 16  setxattrat 463 463  removexattrat 466 466  truncate 76 45
    rename 82 -1  renameat 264 38  renameat2 316 276  link 86 -1  linkat 265 37  symlink 88 -1
    symlinkat 266 36  unlink 87 -1  unlinkat 263 35  rmdir 84 -1  mkdir 83 -1  mkdirat 258 34
    mknod 133 -1  mknodat 259 33  creat 85 -1  chroot 161 51  pivot_root 155 41  mount 165 40
    umount2 166 39  unshare 272 97  setns 308 268  bpf 321 280  perf_event_open 298 241
    io_uring_setup 425 425  userfaultfd 323 282  add_key 248 217  request_key 249 218  keyctl 250 219
    init_module 175 105  finit_module 313 273  kexec_load 246 104  reboot 169 142
    open_by_handle_at 304 265""")
_WITH_ARGUMENTS = _numbers("""
    openat 257 56  open 2 -1  mmap 9 222  mprotect 10 226  fcntl 72 25  ioctl 16 29  prlimit64 302 261
    clone 56 220  clone3 435 435  tgkill 234 131  clock_gettime 228 113  clock_nanosleep 230 115
    clock_getres 229 114  sched_getaffinity 204 123""")

# Opening to write, to make a file, or only its place (O_PATH), which no right of Landlock covers.
_NOT_TO_READ = os.O_RDWR | os.O_CREAT | os.O_TRUNC | 0o10000000 | 0o20000000
_EXECUTABLE = 4
_CLONE_THREAD = 0x10000
# The clock of another process, or of a device, has a negative number.
_CLOCK_OF_OTHERS = 1 << 31
_OPEN_FILES = 100
_FCNTL = (0, 1, 2, 3, 4, 1030)
_IOCTL = (0x5401, 0x5421, 0x5450, 0x5451)


def missing_filter() -> str | None:
    """Return why system calls cannot be filtered here, None if they can. Raises `OSError`, see `LACKS`."""
    if architecture() is None:
        return "only x86-64 and arm64 are known here"
    # The kernel that filters would read the program, which is nowhere (EFAULT); another one refuses the mode.
    if library().prctl(_PR_SET_SECCOMP, _MODE_FILTER, None, 0, 0) == 0 or ctypes.get_errno() == errno.EFAULT:
        return None
    if (code := ctypes.get_errno()) in LACKS:
        raise OSError(code, os.strerror(code))
    return "this kernel or container engine offers no seccomp filter"


def filter_system_calls() -> None:
    """Leave this process the system calls of reading, for good, where the kernel filters them.

    "No new privileges" (PR_SET_NO_NEW_PRIVS) must be set. No native module can be loaded afterwards. Raises
    `OSError`.
    """
    machine = architecture()
    if machine is None or missing_filter() is not None:
        return
    code = b"".join(struct.pack("=HBBI", *statement) for statement in _program(machine, os.getpid()))
    statements = ctypes.create_string_buffer(code)
    program = struct.pack("=H6xQ", len(code) // 8, ctypes.addressof(statements))
    if library().prctl(_PR_SET_SECCOMP, _MODE_FILTER, program, 0, 0):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _program(machine: str, process: int) -> list[_Statement]:
    """Return the statements of the filter for a process; other processors and 32-bit calls end it."""
    column = 0 if machine == "x86_64" else 1
    rules = {number[column]: [_return(_ALLOW)] for number in _ALLOWED.values()}
    rules |= {number[column]: _rule_of(name, process) for name, number in _WITH_ARGUMENTS.items()}
    rules |= {number[column]: [_return(_KILL)] for number in _DEADLY.values()}
    rules.pop(-1, None)
    program = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, _AUDIT[machine]),
        _return(_KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _X32),
        _return(_KILL),
    ]
    for number, rule in rules.items():
        program += [(_EQUAL, 0, len(rule), number), *rule]
    return [*program, _return(_ERROR | errno.EACCES)]


def _rule_of(name: str, process: int) -> list[_Statement]:
    """Return the statements that decide on the arguments of a call."""
    refused = _return(_ERROR | errno.EACCES)
    if name in ("openat", "open"):
        return [
            _argument(2 if name == "openat" else 1),
            *_if(_ANY_BIT, _NOT_TO_READ, refused),
            _return(_ALLOW),
        ]
    if name in ("mmap", "mprotect"):
        return [_argument(2), *_if(_ANY_BIT, _EXECUTABLE, refused), _return(_ALLOW)]
    if name in ("fcntl", "ioctl"):
        operations = _FCNTL if name == "fcntl" else _IOCTL
        allowed = chain.from_iterable(_if(_EQUAL, one, _return(_ALLOW)) for one in operations)
        return [_argument(1), *allowed, refused]
    if name == "clone":  # a thread is refused, a process is an attack
        thread = _return(_ERROR | errno.EAGAIN)
        return [_argument(0), *_if(_ANY_BIT, _CLONE_THREAD, thread), _return(_KILL)]
    if name == "clone3":  # its arguments cannot be seen; the C library then uses clone
        return [_return(_ERROR | errno.ENOSYS)]
    if name.startswith("clock_"):
        return [_argument(0), *_if(_ANY_BIT, _CLOCK_OF_OTHERS, refused), _return(_ALLOW)]
    if name == "sched_getaffinity":
        return [_argument(0), *_if(_EQUAL, 0, _return(_ALLOW)), refused]
    own = {"prlimit64": 0, "tgkill": process}[name]
    return [_argument(0), *_if(_EQUAL, own, _return(_ALLOW)), _return(_KILL)]


def _argument(position: int) -> _Statement:
    return (_LOAD, 0, 0, _ARGUMENTS + 8 * position)


def _return(action: int) -> _Statement:
    return (_RETURN, 0, 0, action)


def _if(test: int, operand: int, then: _Statement) -> list[_Statement]:
    return [(test, 0, 1, operand), then]


_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG = 1
_RULE_PATH_BENEATH = 1
_PR_SET_NO_NEW_PRIVS = 38
_O_PATH = getattr(os, "O_PATH", 0)

# Numbers of capget and capset; CAP_SYS_RESOURCE, see linux/capability.h.
_CAPABILITIES = {"x86_64": (125, 126), "aarch64": (90, 91)}
_CAPABILITY_VERSION, _SYS_RESOURCE = 0x20080522, 24

_WRITE_FILE, _READ_FILE, _READ_FOLDER = 1 << 1, 1 << 2, 1 << 3
# Rights over files by the version of the interface that brought them: 13, then refer, truncate, device ioctl.
_FILE_RIGHTS = {1: (1 << 13) - 1, 2: 1 << 13, 3: 1 << 14, 5: 1 << 15}
_TCP_VERSION, _TCP_RIGHTS = 4, 0b11
_SCOPE_VERSION, _SCOPES = 6, 0b11
_FULL_VERSION = _SCOPE_VERSION

# Files that the dynamic loader and libraries look up when a module is imported.
_SYSTEM = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache", "/etc/localtime")
# Packages whose parts a reader may import late.
_LIBRARIES = ("numpy", "SimpleITK", "PIL", "zlib_ng")
_DEVICES = ("/dev/null", "/dev/urandom", "/dev/random", "/dev/zero")


# --- Landlock, and limits ---


@cache
def landlock_version() -> int:
    """Return the version of Landlock that the kernel offers, 0 for none. Raises `OSError`, see `LACKS`."""
    if sys.platform != "linux":
        return 0
    try:
        return call(_CREATE_RULESET, None, 0, _VERSION_FLAG)
    except OSError as error:
        if error.errno in LACKS:
            raise
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
    of a file by its path, and no other process signalled, traced, timed or limited, as far as the kernel
    goes. Native modules must have been imported before, others are found by opening them (`OpeningFinder`).
    Raises `OSError`.
    """
    if library().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        if ctypes.get_errno() == errno.EINVAL:
            return  # a kernel of before 2012, without any of what follows
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    if landlock_version():
        _restrict_files(folder)
    _keep_limits()
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
    filter_system_calls()
    sys.meta_path.append(OpeningFinder())


def _keep_limits() -> None:
    """Take from an administrator the right to raise a hard limit; others have none."""
    numbers = _CAPABILITIES.get(architecture() or "")
    if numbers is None:
        return
    header = ctypes.create_string_buffer(struct.pack("=Ii", _CAPABILITY_VERSION, 0), 8)
    # Effective, permitted, inheritable; of the lower 32, of the others.
    sets = ctypes.create_string_buffer(24)
    get, put = numbers
    call(get, header, sets)
    lower, others = struct.unpack("=III", sets.raw[:12]), sets.raw[12:]
    kept = tuple(each & ~(1 << _SYS_RESOURCE) for each in lower)
    if kept != lower:
        call(put, header, struct.pack("=III", *kept) + others)


def limit_memory(memory_bytes: int | None) -> None:
    """Limit for good what the limit of data leaves open: shared memory, growing stacks, files in memory.

    The address space can grow by ``memory_bytes``, None: without a limit. Files in memory count to no limit
    but that of their size, times that of open files: 800 MiB in all.
    """
    limits = {resource.RLIMIT_FSIZE: MEMORY_FILE_BYTES, resource.RLIMIT_NOFILE: _OPEN_FILES}
    if memory_bytes is not None:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        limits[resource.RLIMIT_AS] = pages * resource.getpagesize() + memory_bytes
    for limit, most in limits.items():
        limit_for_good(limit, most)


def _restrict_files(folder: str) -> None:
    version = landlock_version()
    rights = sum(added for since, added in _FILE_RIGHTS.items() if version >= since)
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
    """Return where the interpreter, its libraries, this package and its challenges lie.

    Nothing is looked up, as Python takes a system call that fails for a library that is not there.
    """
    roots = (Path(sys.prefix), Path(sys.base_prefix))
    folders = [entry for entry in sys.path if any(Path(entry).is_relative_to(root) for root in roots)]
    # A library may lie elsewhere, for example where a .pth file or PYTHONPATH leads.
    imported = [path for name in _LIBRARIES if name in sys.modules for path in sys.modules[name].__path__]
    elsewhere = [str(Path(path).parent) for path in imported]
    challenges = getattr(sys.modules.get("evaluation.challenges"), "__path__", ())
    return dict.fromkeys([*folders, *elsewhere, *evaluation.__path__, *challenges, *_SYSTEM])


def _allow(ruleset: int, path: str, rights: int) -> None:
    """Grant rights below a path, where there is such a path. Raises `OSError`, a trouble of the machine."""
    try:
        descriptor = os.open(path, _O_PATH | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in LACKS:
            raise
        return
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= ~_READ_FOLDER
        call(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, struct.pack("=Qi", rights, descriptor), 0)
    finally:
        os.close(descriptor)


# --- Imports of a confined reader, which asks nothing by path ---


class OpeningFinder(importlib.abc.MetaPathFinder):
    """Finds modules in Python by opening files; Python's own finder asks for every file by its path.

    All that the package needs is imported before (`SubmissionReader`), and a test holds that. This finder is
    for libraries that import a module when one of their functions is first called, and for challenges that
    are programmed at home. Modules are compiled anew, since the times of their files cannot be asked for; a
    native module cannot be loaded, as no memory may become executable.
    """

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return where a module lies, None if nowhere."""
        for folder in sys.path if path is None else path:
            stem = f"{folder}/{name.rpartition('.')[2]}"
            for file, places in ((f"{stem}/__init__.py", [stem]), (f"{stem}.py", None)):
                with contextlib.suppress(OSError):
                    os.close(os.open(file, os.O_RDONLY | os.O_CLOEXEC))
                    return importlib.util.spec_from_file_location(
                        name, file, submodule_search_locations=places
                    )
        return None
