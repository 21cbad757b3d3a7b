import errno
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.core.fault import Fault, FaultKind, FormFault, apart, in_digits, printable
from evaluation.core.trouble import LACKS, MachineTrouble, raise_trouble_of, trouble_of


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (
            Fault(FaultKind.WRONG_VALUE, "disc/V0012.png", "value 0 or 255", "7"),
            "disc/V0012.png: expected value 0 or 255, found 7",
        ),
        (Fault(FaultKind.MALFORMED, "a.csv", "a number", "x", line=3),
         "a.csv, line 3: expected a number, found x"),
        (
            Fault(FaultKind.MALFORMED, "a.csv", "a number", "x", 3, "Risk"),
            "a.csv, line 3, Risk: expected a number, found x",
        ),
        (Fault(FaultKind.MALFORMED, "a.json", "a number", "x", field="[2]"),
         "a.json, [2]: expected a number, found x"),
        (Fault(FaultKind.UNKNOWN, "a\nb\x1b[31m.png", "e", "\ud800"),
         r"a\nb\x1b[31m.png: expected e, found \ud800"),
    ],
)  # fmt: skip
def test_words_of_a_fault(fault, text):
    assert str(fault) == text


@settings(max_examples=100)
@given(st.text(st.characters(), max_size=300), st.integers(3, 200))
def test_printable_text_is_one_line_that_can_be_encoded(text, limit):
    shown = printable(text, limit)
    assert len(shown) <= limit
    assert shown.isprintable()
    shown.encode("utf-8")
    assert shown.splitlines() in ([shown], [])
    if text.isprintable() and len(text) <= limit:
        assert shown == text


def test_a_long_path_keeps_both_ends():
    shown = printable("segmentation/" + "x" * 500 + "/V0001.png")
    assert len(shown) == 120
    assert shown.startswith("segmentation/xxx")
    assert shown.endswith("xxx/V0001.png")


def test_a_form_fault_carries_one_or_many():
    one, two = (Fault(FaultKind.MISSING, name, "a file", "none") for name in ("a", "b"))
    assert FormFault(one).faults == (one,)
    assert FormFault(iter([one, two])).faults == (one, two)
    assert str(FormFault([one, two])) == "a: expected a file, found none; b: expected a file, found none"


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
def test_different_numbers_look_different(one, other):
    first, second = apart([one], [other])
    assert (first == second) == (one == other)
    assert first != "-0"


NUMBERS = st.floats(-1e6, 1e6)


@given(st.lists(st.tuples(NUMBERS, NUMBERS | st.none()), min_size=1, max_size=3))
def test_different_places_look_different(pairs):
    expected = [one for one, _ in pairs]
    found = [float(np.float32(one)) if other is None else other for one, other in pairs]
    first, second = apart(expected, found)
    assert (first == second) == (expected == found)


def test_the_rounding_of_a_file_is_not_told_beside_another_difference():
    rounded = float(np.float32(0.9))
    assert apart([0.7, 0.9, 2.5], [0.7, rounded, 3]) == ("0.7, 0.9, 2.5", "0.7, 0.9, 3")
    assert apart([0.7, 0.9], [0.7, rounded]) == ("0.7, 0.9", "0.7, 0.89999998")


@pytest.mark.parametrize(
    ("number", "others", "text"),
    [(float(np.float32(0.99999994)), (0, 1), "0.9999999"), (2.5, (2,), "2.5"), (1 / 3, (), "0.333333")],
)
def test_a_number_has_digits_until_it_differs(number, others, text):
    assert in_digits(number, *others) == text


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
