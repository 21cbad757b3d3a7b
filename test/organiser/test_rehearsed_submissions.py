"""Derived submissions on the way of every submission, and mistakes that must be rejected as what they are."""

from pathlib import Path

import numpy as np
import pytest

from evaluation.core.fault import FaultKind
from evaluation.io.grey_images import write_grey
from evaluation.organiser.rehearsal import mistakes, rehearse
from evaluation.phase.phase import load_phase
from test.started import run

KIND = '''\
"""An array a case."""
import io
import numpy as np
import numpy.ma
from evaluation.define import Challenge, Field, Files, Kind, Options, Reference, Socket, Task, mean_metric


class Arrays(Kind):
    def read(self, source, case, files):
        value = np.load(io.BytesIO(bytes(files.read(source.path, 1 << 20))), allow_pickle=False)
        {then}
        return value
    {writer}

    def describe(self):
        return "an array"


PLACE = Files("v", (".npy",))
FIELD = Field("v", "Values", Arrays(), PLACE, Socket("v", "v.json"), Reference(Arrays(), PLACE))


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


def programmed(folder: Path, dtype: str, axes: int, then: str = "", writer: str = WRITER) -> Path:
    for place in ("phase", "submission"):
        (folder / place / "v").mkdir(parents=True)
        for number, name in enumerate("abc"):
            np.save(folder / place / "v" / f"{name}.npy", np.full((2,) * axes, number + 1, dtype))
    phase = folder / "phase"
    (phase / "cases.csv").write_text("name\na\nb\nc\n")
    keys = 'challenge = "arrays"\nname = "arrays-test"\ntitle = "Arrays"\nsubmission = "archive"\n'
    (phase / "phase.toml").write_text(keys)
    (phase / "challenge.py").write_text(KIND.format(then=then, writer=writer))
    return phase


def scored(folder: Path) -> int:
    arguments = ("--input", folder / "submission", "--ground-truth", folder / "phase")
    return run("evaluate", *arguments, "--output", folder / "output").returncode


@pytest.mark.parametrize(
    ("dtype", "axes"),
    [("int16", 2), ("uint32", 3), ("float16", 1), ("complex64", 4), (">f4", 8)],
)
def test_every_number_of_numpy_rehearses_and_is_scored(tmp_path, dtype, axes):
    phase = programmed(tmp_path, dtype, axes)
    for command in ("seal", "rehearse"):
        done = run(command, phase)
        assert (done.returncode, done.stderr) == (0, "")
    assert scored(tmp_path) == 0


@pytest.mark.parametrize(
    ("axes", "then", "named"),
    [
        (9, "", "9 axes"),
        (1, 'value = value.astype("M8[s]")', "datetime64"),
        (1, "value = value.astype(object)", "object"),
        (1, "value = value.astype(str)", "<U"),
        (1, "value = {1, 2}", "set"),
        (1, "value = np.ma.masked_array(value)", "MaskedArray"),
        (1, "value = [b'bytes']", "bytes"),
        (1, "value = source", "FileSource"),
    ],
)
def test_a_value_that_cannot_be_handed_over_is_the_organisers_fault_by_its_type(tmp_path, axes, then, named):
    writer = WRITER.replace("np.save(stream, value)", f"np.save(stream, np.zeros({(1,) * axes}))")
    phase = programmed(tmp_path, "int64", axes, then, writer)
    assert run("seal", phase).returncode == 0
    done = run("rehearse", phase)
    assert done.returncode == 1
    assert named in done.stderr
    assert "v: Arrays" in done.stderr
    assert scored(tmp_path) == 1  # and never a fault of the submission:
    done = run("evaluate", "--input", tmp_path / "submission", "--ground-truth", phase)
    assert "not of your submission" in done.stderr


PACKED = """
    item_bytes = 8

    def pack_all(self, values):
        raise ZeroDivisionError("by design")

    def unpack_all(self, packed, count):
        return packed
"""


def test_a_kind_that_fails_to_pack_many_values_is_the_organisers_fault(tmp_path):
    phase = programmed(tmp_path, "int32", 2, writer=WRITER + PACKED)
    text = (phase / "challenge.py").read_text().replace("class Arrays(Kind)", "class Arrays(ColumnKind)")
    text = text.replace(
        "from evaluation.define", "from evaluation.core.field import ColumnKind\nfrom evaluation.define"
    )
    (phase / "challenge.py").write_text(text)
    assert run("seal", phase).returncode == 0
    done = run("rehearse", phase)
    assert done.returncode == 1
    assert "ZeroDivisionError: by design" in done.stderr
    assert "challenge.py" in done.stderr


def test_a_kind_that_writes_no_files_is_rehearsed_with_those_of_the_reference(tmp_path):
    phase = programmed(tmp_path, "int32", 2, writer="")
    assert run("seal", phase).returncode == 0
    done = run("rehearse", phase)
    assert done.returncode == 0, done.stderr
    assert "v: Arrays writes no files" in done.stdout
    result = rehearse(load_phase(phase))
    assert result.figures["t.same"] == {
        "perfect": 1.0,
        "shuffled": 0.0,
        "missing": 0.0,
        "perfect, half missing": pytest.approx(2 / 3),
    }


def test_a_kind_that_reads_what_no_confined_reader_may_fails_its_rehearsal(tmp_path):
    phase = programmed(tmp_path, "int32", 2, "open(__file__).close()")
    assert run("seal", phase).returncode == 0
    done = run("rehearse", phase)
    assert done.returncode == 1
    assert scored(tmp_path) == 1


def test_a_writer_whose_files_read_back_as_another_value_fails_the_rehearsal(tmp_path):
    writer = WRITER.replace("np.save(stream, value)", "np.save(stream, value + 1)")
    phase = programmed(tmp_path, "int32", 2, writer=writer)
    assert run("seal", phase).returncode == 0
    done = run("rehearse", phase)
    assert done.returncode == 1
    assert "t.same: the perfect submission gets 0, not the best value 1" in done.stderr


def test_a_mistake_that_a_reader_lets_through_is_found(monkeypatch, tmp_path):
    """A mistake whose faults are never those: the control of the control."""
    phase = load_phase(declared_masks(tmp_path))
    assert rehearse(phase).problems == ()
    never = tuple(
        mistakes.Mistake(one.name, frozenset({FaultKind.FORBIDDEN}), one.kind, one.of_images)
        for one in mistakes.MISTAKES
    )
    monkeypatch.setattr(mistakes, "MISTAKES", never)
    found = rehearse(phase).problems
    assert [problem.partition(" for case")[0] for problem in found] == [
        f"{field}: {one.name}"
        for one in never
        for field in ("disc", "age")
        if field == "disc" or not one.of_images
    ]


def declared_masks(folder: Path) -> Path:
    phase = folder / "phase"
    (phase / "disc").mkdir(parents=True)
    for number, name in enumerate("abc"):
        mask = np.zeros((8, 9), np.uint8)
        mask[2:6, 1 : 3 + number] = 1
        (phase / "disc" / f"{name}.png").write_bytes(write_grey(mask, ".png"))
    (phase / "cases.csv").write_text("name,width,height,age\na,9,8,50\nb,9,8,60\nc,9,8,70\n")
    (phase / "phase.toml").write_text("""\
name = "masks"
title = "Masks and ages"
submission = "archive"
[fields.disc]
kind = "label_map"
dimensions = 2
labels = { 1 = "disc" }
[fields.age]
kind = "number"
minimum = 0
maximum = 120
[tasks.disc.metrics.dice]
field = "disc"
[tasks.age.metrics.mean_absolute_error]
field = "age"
""")
    assert run("seal", phase).returncode == 0
    return phase
