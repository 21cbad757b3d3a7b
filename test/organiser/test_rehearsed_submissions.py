"""Derived submissions on the way of every submission."""

from pathlib import Path
from subprocess import CompletedProcess

import numpy as np
import pytest

from evaluation.core.fault import PhaseError
from evaluation.organiser.rehearsal import rehearse
from evaluation.phase.manifest import scan, seal
from evaluation.phase.phase import load_phase
from test.faults import faulted
from test.in_process import forget_challenges
from test.started import run

KIND = '''\
"""An array a case."""
import io
import numpy as np
import numpy.ma
from evaluation.define import Challenge, Field, Files, Kind, Options, Reference, Socket, Task, mean_metric


class Arrays(Kind):
    def read(self, source, case, files):
        value = np.load(io.BytesIO(bytes(files.read(source.file, 1 << 20))), allow_pickle=False)
        {then}
        return value
    {writer}

    def describe(self):
        return "an array"


PLACE = Files("v", (".npy",))
FIELD = Field("v", "Values", Arrays(), PLACE, Reference(Arrays(), PLACE))


def score(submitted, reference):
    return {{"same": float(np.array_equal(submitted["v"], reference["v"]))}}


TASK = Task("t", "T", (FIELD,), score, (mean_metric("same", "Same", 1, 0),))
CHALLENGE = Challenge("arrays", "Arrays", Options, lambda options: (TASK,), components=("t.same",))
'''
WRITER = """
    def write_file(self, value, extension):
        stream = io.BytesIO()
        np.save(stream, value)
        return stream.getvalue()
"""


def programmed(folder: Path, *given: tuple[str, int], then: str = "", writer: str = WRITER) -> Path:
    """Write a sealed phase with a case for each type and number of axes, and a perfect submission to it."""
    for place in ("phase", "submission"):
        (folder / place / "v").mkdir(parents=True)
        for number, (dtype, axes) in enumerate(given):
            array = np.full((2,) * axes, number + 1, dtype)
            np.save(folder / place / "v" / f"{'abcde'[number]}.npy", array)
    phase = folder / "phase"
    (phase / "cases.csv").write_text("\n".join(["name", *"abcde"[: len(given)], ""]))
    keys = 'challenge = "arrays"\nname = "arrays-test"\ntitle = "Arrays"\nsubmission = "archive"\n'
    (phase / "phase.toml").write_text(keys)
    (phase / "challenge.py").write_text(KIND.format(then=then, writer=writer))
    seal(phase, scan(phase))
    return phase


@pytest.fixture(autouse=True)
def _as_in_another_process(monkeypatch):
    """Let each test load its own challenge of the same name."""
    forget_challenges(monkeypatch)


def scored(folder: Path) -> CompletedProcess[str]:
    places = ("--input", folder / "submission", "--ground-truth", folder / "phase")
    return run("evaluate", *places, "--output", folder / "output", "--workers", 1)


THREE = (("int32", 2),) * 3


def test_every_number_of_numpy_rehearses_and_is_scored(tmp_path):
    given = (("int16", 2), ("uint32", 3), ("float16", 1), ("complex64", 4), (">f4", 8))
    done = run("rehearse", programmed(tmp_path, *given))
    assert (done.returncode, done.stderr) == (0, "")
    assert scored(tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("axes", "then", "named"),
    [
        (9, "", "9 axes"),
        (1, 'value = value.astype("M8[s]")', "datetime64"),
        (1, "value = value.astype(object)", "object"),
        (1, "value = {1, 2}", "set"),
        (1, "value = np.ma.masked_array(value)", "MaskedArray"),
        (1, "value = [b'bytes']", "bytes"),
        (1, "value = source", "FileSource"),
    ],
)
def test_a_value_that_cannot_be_handed_over_is_the_organisers_fault_by_its_type(tmp_path, axes, then, named):
    writer = WRITER.replace("np.save(stream, value)", f"np.save(stream, np.zeros({(1,) * axes}))")
    phase = programmed(tmp_path, *[("int64", axes)] * 3, then=then, writer=writer)
    with faulted(PhaseError, "v: Arrays") as caught:
        rehearse(load_phase(phase), workers=1)
    assert named in str(caught.value)
    if named == "set":  # and never a fault of the submission
        done = scored(tmp_path)
        assert done.returncode == 1
        assert "not of your submission" in done.stderr


def test_a_kind_that_writes_no_files_is_left_out_and_named(tmp_path):
    result = rehearse(load_phase(programmed(tmp_path, *THREE, writer="")), workers=0)
    assert result.notes == ("v: left out, since Arrays writes no values",)
    assert result.figures["t.same"].keys() <= {"missing"}


def test_a_kind_that_reads_what_no_confined_reader_may_fails_its_rehearsal(tmp_path):
    phase = programmed(tmp_path, *THREE, then="open(__file__).close()")
    assert run("rehearse", phase).returncode == 1
    assert scored(tmp_path).returncode == 1


def test_a_writer_whose_files_read_back_as_another_value_fails_the_rehearsal(tmp_path):
    writer = WRITER.replace("np.save(stream, value)", "np.save(stream, value + 1)")
    problems = rehearse(load_phase(programmed(tmp_path, *THREE, writer=writer)), workers=0).problems
    assert "t.same: the perfect submission gets 0, not the best value 1" in problems
