"""Trouble of the machine: an operation that lacked something, told apart from every fault of a file."""

import errno

from evaluation.core.fault import printable

MEMORY = "memory"
PROCESSES = "processes"
TIME = "processor time"
DECODER = "memory, open files or a decoder that works"  # libraries do not say which
TEMPORARY = "room for temporary files"

LACKS = {
    errno.EMFILE: "open files for one process",
    errno.ENFILE: "open files",
    errno.ENOMEM: MEMORY,
    errno.EAGAIN: PROCESSES,
    errno.ENOSPC: "space on the disk",
    errno.EDQUOT: "disk quota",
    errno.EFBIG: "permitted size of files",
    errno.EIO: "storage that works (input/output error)",
    errno.ESTALE: "storage that works (stale file handle)",
    # Python repeats the calls that a signal interrupts; a file system over a network interrupts others.
    errno.EINTR: "storage that works (interrupted system call)",
}
"""The thing that the machine is short of, by the error of a system call."""

WORDS_FOR_LACKS = {*LACKS.values(), MEMORY, PROCESSES, TIME, DECODER, TEMPORARY}
"""All things that a machine can be short of."""


class MachineTrouble(Exception):  # noqa: N818 - it is nobody's error
    """Raised where the machine is short of something: no file and no submission is at fault.

    ``operation`` is a verb such as "read", ``file`` its object, "" where it is not known yet, and ``lack``
    the thing that the machine is short of.
    """

    def __init__(self, operation: str, file: str, lack: str) -> None:
        self.operation, self.file, self.lack = operation, file, lack
        super().__init__(operation, file, lack)

    def __str__(self) -> str:
        """Return for example ``cannot read disc/V0012.png: the machine is short of memory``."""
        parts = map(printable, (self.operation, self.file or "a file", self.lack))
        return "cannot {} {}: the machine is short of {}".format(*parts)


def trouble_of(error: BaseException, operation: str, file: object = "") -> MachineTrouble | None:
    """Return the machine's trouble that an error shows; None for an error that tells of something else.

    ``operation`` and ``file`` are used where the error does not name them itself.
    """
    if isinstance(error, MachineTrouble):
        return error if error.file else MachineTrouble(error.operation, str(file), error.lack)
    if isinstance(error, MemoryError):
        return MachineTrouble(operation, str(file), MEMORY)
    if isinstance(error, OSError) and error.errno in LACKS:
        return MachineTrouble(operation, str(file or error.filename or ""), LACKS[error.errno])
    return None


def raise_trouble_of(error: BaseException, operation: str, file: object = "") -> None:
    """Raise the machine's trouble that an error shows, if it shows any; see `trouble_of`."""
    if trouble := trouble_of(error, operation, file):
        raise trouble from None
