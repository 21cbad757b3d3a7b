"""A challenge.py that is written with the names of `evaluation.define` alone, from its seal to its score."""

import json

import numpy as np
import pytest
import SimpleITK

from test.started import run

CHALLENGE = '''\
import numpy as np

from evaluation.define import (
    NO_REFERENCE, Attributes, CaseForm, Challenge, Field, Figure, Files, InstanceMap, Kind, Metric, NumberMap,
    Options, Points, Reference, Socket, Space, TableRows, Task, Variant, case_geometry, case_values, fault_at,
    mean_metric, write_image,
)

DEPTH = NumberMap(2, lowest=0, highest=50)
MARKS = Points(Space(2, "pixels"), Attributes(("tip", "base"), with_probability=True))
TRUE_MARKS = Points(Space(2, "pixels"), Attributes(("tip", "base")))
CELLS = InstanceMap({1: "cell"}, 0, 2)


class Sign(Kind):
    """An image of -1, 0 and 1."""

    def read(self, source, case, files):
        values = case_values(source, case, files, 2)[0]
        if np.abs(values).max() > 1:
            raise fault_at(source, "values from -1 to 1", str(values.max()))
        return values.astype(np.int8)

    def rehearse(self, reference, case, variant):
        return np.full((case.height, case.width), 0 if variant is Variant.PERFECT else 1, np.int8)

    def write_file(self, value, extension):
        geometry = case_geometry(CaseForm("", value.shape[1], value.shape[0]), 2)
        return write_image(value[np.newaxis].astype(np.int16), geometry, extension, 2)

    def describe(self):
        return "the sign of each pixel"


def files(name):
    return Files(name, (".mha",))


def image(name, kind, reference):
    return Field(name, name, kind, files(name), Socket(name, f"images/{name}"), reference)


FIELDS = (
    image("depth", DEPTH, Reference(DEPTH, files("depth"))),
    image("cells", CELLS, Reference(CELLS, files("cells"))),
    image("sign", Sign(), NO_REFERENCE),
    Field(
        "marks", "Marks", MARKS, TableRows(("marks.csv",), "case", MARKS.columns),
        Socket("marks", "marks.json"),
        Reference(TRUE_MARKS, TableRows(("true_marks.csv",), "case", TRUE_MARKS.columns)),
    ),
)


def score(submitted, true):
    apart = np.abs(submitted["depth"].whole.astype(float) - true["depth"].whole)
    found, wanted = submitted["marks"].positions, true["marks"].positions
    return {
        "depth_error": float(apart.mean()),
        "zeros": float((submitted["sign"] == 0).mean()),
        "objects": float(abs(len(submitted["cells"].numbers) - len(true["cells"].numbers))),
        "distances": np.linalg.norm(found - wanted, axis=1) if len(found) == 2 else np.full(2, 99.0),
    }


def worst(case, true):
    return {"distances": np.full(2, 99.0)}


def longest(cases):
    of_cases = [of.max() for of in cases.table.objects("distances")]
    return np.array([max(of for of, weight in zip(of_cases, row) if weight) for row in cases.weights])


TASK = Task("all", "All", FIELDS, score, (
    mean_metric("depth_error", "Error", best=0, worst=50),
    mean_metric("zeros", "Zeros", best=1, worst=0),
    mean_metric("objects", "Objects", best=0, worst=9),
    Metric("longest", "Longest", Figure(longest), best=0, worst=99, no_interval="a maximum has none"),
), worst=worst)
CHALLENGE = Challenge("made_up", "Made up", Options, lambda options: (TASK,), ("all.depth_error",))
'''


def write(path, values):
    path.parent.mkdir(parents=True, exist_ok=True)
    SimpleITK.WriteImage(SimpleITK.GetImageFromArray(values), str(path))


@pytest.fixture
def folders(tmp_path):
    random = np.random.default_rng(0)
    phase, submission = tmp_path / "phase", tmp_path / "submission"
    depths = random.uniform(0, 50, (2, 3, 8, 10)).astype(np.float32)
    cells = np.zeros((2, 8, 10), np.uint16)
    cells[0, 1:3, 1:3], cells[0, 5:7, 4:8], cells[1, 1:7, 1:3] = 70, 300, 9
    sign = np.tile(np.array([0, 1, -1, 0, 0], np.int16), (8, 2))
    for number in range(3):
        for root, side in ((phase, 0), (submission, 1)):
            write(root / "depth" / f"c{number}.mha", depths[side, number])
            write(root / "cells" / f"c{number}.mha", cells[side])
        write(submission / "sign" / f"c{number}.mha", sign)
    (phase / "phase.toml").write_text(
        'challenge = "made_up"\nname = "try"\ntitle = "Try"\nsubmission = "archive"\nresamples = 50\n',
        encoding="utf-8",
    )
    (phase / "challenge.py").write_text(CHALLENGE, encoding="utf-8")
    names = [f"c{number}" for number in range(3)]
    (phase / "cases.csv").write_text(
        "name,width,height\n" + "".join(f"{name},10,8\n" for name in names), encoding="utf-8"
    )
    true = "".join(f"{name},2,2,tip\n{name},6,5,base\n" for name in names)
    made = "".join(f"{name},2,3,tip,0.5\n{name},9,1,base,1\n" for name in names)
    (phase / "true_marks.csv").write_text(f"case,x,y,class\n{true}", encoding="utf-8")
    (submission / "marks.csv").write_text(f"case,x,y,class,probability\n{made}", encoding="utf-8")
    return phase, submission, np.abs(depths[0] - depths[1].astype(float)).mean()


def test_it_is_sealed_rehearsed_and_scored(tmp_path, folders):
    phase, submission, error = folders
    for command in ("seal", "rehearse"):
        done = run(command, phase)
        assert (done.returncode, done.stderr) == (0, ""), done
    arguments = ("evaluate", "--ground-truth", phase, "--input", submission, "--output", tmp_path / "out")
    arguments = (*arguments, "--workers", 0)
    assert run(*arguments).returncode == 0
    content = json.loads((tmp_path / "out" / "metrics.json").read_text(encoding="ascii"))
    values = {name: entry["value"] for name, entry in content["aggregates"]["all"].items()}
    assert values == pytest.approx(
        {"depth_error": error, "zeros": 0.6, "objects": 1.0, "longest": 5.0}, abs=5e-5
    )
    write(submission / "sign" / "c1.mha", np.full((8, 10), 4, np.int16))
    refused = run(*arguments)
    assert refused.returncode == 1
    assert "sign/c1.mha: expected values from -1 to 1, found 4" in refused.stdout + refused.stderr
