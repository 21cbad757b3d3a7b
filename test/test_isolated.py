"""Functions in a separate process: their results, and that nothing stays behind."""

import os
import sys
import time

import pytest

from evaluation.core.fault import PhaseError
from evaluation.core.trouble import LACKS, MEMORY, MachineTrouble
from evaluation.isolated import run_isolated


def described(text, progress):
    """Return something of the new process."""
    sys.stdout.write("noise")
    os.write(1, b"more noise")
    for done in (1, 2):
        progress(done)
    return {"text": text, "process": os.getpid(), "path": sys.path, "threads": os.environ["OMP_NUM_THREADS"]}


def fails(error, progress):
    raise error


def ends(progress):
    os.write(2, "the last words: ×".encode())
    os._exit(3)


def hangs(progress):
    progress(os.getpid())
    time.sleep(600)


def test_the_result_and_the_progress_come_back():
    seen = []
    found = run_isolated("test.test_isolated:described", {"text": "é"}, seen.append)
    assert seen == [1, 2]
    assert found["text"] == "é"
    assert found["process"] != os.getpid()
    assert found["path"] == sys.path
    assert found["threads"] == os.environ.get("OMP_NUM_THREADS", "1")


@pytest.mark.parametrize(
    "error",
    [
        PhaseError("a; b", "c"),
        FileNotFoundError(2, "No such file or directory", "x.csv"),
    ],
    ids=repr,
)
def test_an_expected_error_is_raised_here(error):
    with pytest.raises(type(error)) as caught:
        run_isolated("test.test_isolated:fails", {"error": error})
    assert vars(caught.value) == vars(error)
    assert str(caught.value) == str(error)


@pytest.mark.parametrize(
    ("error", "lack"), [(OSError(28, "No space", "x.csv"), LACKS[28]), (MemoryError(), MEMORY)], ids=repr
)
def test_the_machines_trouble_is_told_as_such(error, lack):
    with pytest.raises(MachineTrouble) as raised:
        run_isolated("test.test_isolated:fails", {"error": error})
    assert raised.value.lack == lack


@pytest.mark.parametrize(
    ("function", "arguments", "told"),
    [
        ("fails", {"error": ZeroDivisionError("twice")}, r"(?s)in fails.*ZeroDivisionError: twice"),
        ("ends", {}, r"ended with 3: the last words: ×$"),
    ],
)
def test_a_defect_tells_where_it_is_and_a_process_that_dies_its_last_words(function, arguments, told):
    with pytest.raises(RuntimeError, match=told):
        run_isolated(f"test.test_isolated:{function}", arguments)


def test_an_interrupt_ends_the_process():
    processes = []

    def interrupt(process):
        processes.append(process)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_isolated("test.test_isolated:hangs", {}, interrupt)
    with pytest.raises(ProcessLookupError):
        os.kill(processes[0], 0)
