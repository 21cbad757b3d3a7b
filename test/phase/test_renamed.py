"""Words of earlier versions are answered with those of today, and a command rewrites files that have them."""

import tomllib

from evaluation.phase.config import read_config
from test.challenges.declared.phases import write_table
from test.started import run

OLD = """\
name = "old"  # the name stays
title = "Old"
submission = "archive"
score = "marks.point_f1"
columns = [
  "marks.point_f1",  # ranked
  "eyes.auc",
]
seed = 3

[fields.cells]
kind = "points"
axes = 2
unit = "pixels"
probability = true
reference = "true.csv"
ignored = "others.csv"

[fields.likelihood]
kind = "number"
minimum = 0
maximum = 1
reference = "class"
positive = ["1"]
negative = ["0"]

[fields.signs]
kind = "flags"
names = ["a", "b"]
references = ["x", "y"]

[fields.map]
kind = "label_map"
dimensions = 2
labels = { 1 = "a", 2 = "b" }

[fields]
skull = { kind = "keypoints", names = ["axes", "b"], axes = 2, unit = "pixels" }

[tasks.marks.metrics]
point_f1 = { radius = 3 }
mean_radial_error = { worst = 9 }
[tasks.eyes]
metrics = ["auc"]
[tasks.more.metrics]
hamming_distance = {}
dice = { absent = "leave_out" }
"""
NEW = {
    "cells": {"dimensions": 2, "reference_table": "true.csv", "excluded_table": "others.csv"},
    "likelihood": {"reference_column": "class"},
    "skull": {"classes": ["axes", "b"], "dimensions": 2},
    "signs": {"classes": ["a", "b"], "reference_columns": ["x", "y"]},
}


def test_old_words_are_answered_and_rewritten(tmp_path):
    phase = tmp_path / "phase"
    phase.mkdir()
    (phase / "phase.toml").write_text(OLD)
    write_table(phase / "cases.csv", {"name": ["a"], "width": [9], "height": [8]})
    told = run("seal", phase).stderr
    assert "phase.toml: score: is platform.score now; `evaluation schema phase --rewrite FILE`" in told
    done = run("schema", "phase", "--rewrite", phase / "phase.toml")
    assert (done.returncode, done.stdout) == (0, f"{phase}/phase.toml: rewritten\n")
    text = (phase / "phase.toml").read_text()
    assert "# the name stays" in text
    assert "# ranked" in text
    content = tomllib.loads(text)
    assert content["platform"] == {"score": "marks.point_f1", "columns": ["marks.point_f1", "eyes.auc"]}
    assert content["tasks"]["more"]["metrics"]["dice"] == {"absent": "exclude"}
    for name, keys in NEW.items():
        assert keys.items() <= content["fields"][name].items()
        assert not {"axes", "names", "references", "reference", "ignored"} & content["fields"][name].keys()
    assert read_config(phase).platform.score == "marks.point_f1"
    told = run("seal", phase).stderr
    assert "now;" not in told
    assert "true.csv" in told  # all keys are known, the files are not there
    again = run("schema", "phase", "--rewrite", phase / "phase.toml", tmp_path / "none")
    assert again.returncode == 1
    assert "phase.toml: has no earlier words" in again.stdout
    assert f"{tmp_path}/none: cannot be read" in again.stderr
