"""The frame around the commands: which errors end them with status 1, and in which words."""

import errno
import os
import signal
import sys

import pytest

from evaluation import __version__
from evaluation.__main__ import main as entry_point
from evaluation.cli.common import status_of
from evaluation.core.fault import Fault, FaultKind, FormFault, PhaseError
from evaluation.core.trouble import MachineTrouble

FAULT = Fault(FaultKind.MISSING, "a.png", "a mask", "nothing")


def raising(error: BaseException):
    def command() -> int:
        raise error

    return command


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (PhaseError("a", "b"), "a\nb\n"),
        (FormFault([FAULT, FAULT]), "a.png: expected a mask, found nothing\n" * 2),
        (
            FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), "x.csv"),
            "x.csv: No such file or directory\n",
        ),
        (OSError("odd"), "a file: odd\n"),
        (
            ModuleNotFoundError("No module named 'rich'", name="rich"),
            f"the Python package 'rich' is not installed in {sys.prefix}: install this package with "
            "'pip install .', or run ./run.sh, which installs everything into .venv\n",
        ),
        (
            ModuleNotFoundError("No module named 'evaluation.organiser'", name="evaluation.organiser"),
            "the part of the package for organisers is not in this image. "
            f"Use the installed package, challenge-evaluation {__version__}\n",
        ),
    ],
)
def test_an_expected_error_is_told_without_a_traceback(capsys, error, text):
    assert status_of(raising(error)) == 1
    assert tuple(capsys.readouterr()) == ("", text)


LACKING = "cannot {} {}: the machine is short of {}\n"


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (MachineTrouble("read", "a.png", "memory"), LACKING.format("read", "a.png", "memory")),
        (MemoryError(), LACKING.format("work on", "a file", "memory")),
        (OSError(errno.EMFILE, "", "b"), LACKING.format("work on", "b", "open files for one process")),
    ],
)
def test_the_machines_trouble_has_a_status_of_its_own(capsys, error, text):
    assert status_of(raising(error)) == 75
    assert tuple(capsys.readouterr()) == ("", text)


def test_ctrl_c_is_told_in_one_line(capsys):
    assert status_of(raising(KeyboardInterrupt()), "") == 130
    assert capsys.readouterr().err == "Stopped by Ctrl-C\n"
    assert status_of(raising(KeyboardInterrupt()), "nothing was written") == 130
    assert tuple(capsys.readouterr()) == ("", "Stopped by Ctrl-C; nothing was written\n")


def test_ctrl_c_before_a_command_runs_is_told_too(monkeypatch, capsys):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr("evaluation.__main__.run", interrupted)
    monkeypatch.setattr("threading.active_count", lambda: 2)
    before = signal.getsignal(signal.SIGINT)
    try:
        with pytest.raises(SystemExit) as raised:
            entry_point()
    finally:
        signal.signal(signal.SIGINT, before)
    assert raised.value.code == 130
    assert capsys.readouterr().err == "Stopped by Ctrl-C\n"


def test_the_consequence_comes_last(capsys):
    assert status_of(raising(PhaseError("a")), "nothing was written") == 1
    assert capsys.readouterr().err == "a\nnothing was written\n"


def test_a_fault_of_the_program_is_not_hidden_and_a_command_decides_its_own_status(capsys):
    with pytest.raises(ZeroDivisionError):
        status_of(raising(ZeroDivisionError()))
    assert [status_of(lambda status=status: status, "nothing") for status in (0, 1, 2)] == [0, 1, 2]
    assert capsys.readouterr().err == ""


def test_another_broken_pipe_is_an_error(monkeypatch, tmp_path, capsys):
    """A pipe to something else than the reader of stdout: stdout is a file here."""
    with (tmp_path / "stdout").open("w", encoding="utf-8") as stdout:
        monkeypatch.setattr(sys, "stdout", stdout)
        assert status_of(raising(BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE)))) == 1
    assert capsys.readouterr().err == "a file: Broken pipe\n"
