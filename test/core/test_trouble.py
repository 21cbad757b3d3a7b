"""Which errors show that the machine is short of something, and in which words."""

import errno
import pickle

import pytest

from evaluation.core.trouble import LACKS, MachineTrouble, raise_trouble_of, trouble_of

OF_THE_MACHINE = ["EMFILE", "ENFILE", "ENOMEM", "ENOSPC", "EIO", "EFBIG", "EDQUOT", "ESTALE", "EAGAIN"]
OF_FILES = ["ENOENT", "EACCES", "ENOTDIR", "EISDIR", "ELOOP", "ENAMETOOLONG", "EEXIST", "EPERM", "EROFS"]


@pytest.mark.parametrize("name", OF_THE_MACHINE)
def test_an_error_of_the_machine_names_operation_file_and_lack(name):
    trouble = trouble_of(OSError(getattr(errno, name), "text", "b.png"), "read", "a.png")
    assert str(trouble).startswith("cannot read a.png: the machine is short of ")
    assert trouble.lack == LACKS[getattr(errno, name)]


@pytest.mark.parametrize("name", OF_FILES)
def test_an_error_of_a_file_is_none(name):
    assert trouble_of(OSError(getattr(errno, name), "text"), "read", "a.png") is None


def test_memory_is_the_machines_and_other_errors_are_not():
    assert trouble_of(MemoryError(), "read", "a.png").args == ("read", "a.png", "memory")
    assert trouble_of(ValueError("memory"), "read") is None
    assert trouble_of(OSError("out of memory when reading image file"), "read") is None  # Pillow's, of a file


def test_the_file_is_the_callers_or_the_errors_or_not_known():
    error = OSError(errno.ENOSPC, "text", "b.png")
    assert trouble_of(error, "write").file == "b.png"
    assert str(trouble_of(MemoryError(), "sort")) == "cannot sort a file: the machine is short of memory"
    unnamed = MachineTrouble("decode", "", "memory")
    assert trouble_of(unnamed, "read", "a.png").args == ("decode", "a.png", "memory")
    assert trouble_of(MachineTrouble("read", "c.png", "memory"), "score", "a.png").file == "c.png"


def test_trouble_crosses_between_processes_and_shows_no_control_characters():
    trouble = MachineTrouble("read", "a\n\x1b[31m.png", "memory")
    assert pickle.loads(pickle.dumps(trouble)).args == trouble.args
    assert "\n" not in str(trouble)
    assert "\x1b" not in str(trouble)


def test_it_is_raised_only_where_there_is_any():
    raise_trouble_of(KeyError("x"), "read")
    with pytest.raises(MachineTrouble) as raised:
        raise_trouble_of(OSError(errno.ENFILE, "text"), "read", "x")
    assert raised.value.args == ("read", "x", LACKS[errno.ENFILE])
