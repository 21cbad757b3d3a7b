"""Options of a field that say where its values lie, and which values it may have, through whole phases."""

import json

import numpy as np
import pytest

import evaluation
from evaluation.library import SubmissionRejected
from test.challenges.declared.images import volume_phase, write_images
from test.challenges.declared.phases import declared_phase, write_table

NAMES = ["a", "b"]
CASES = {"name": NAMES, "width": [90] * 2, "height": [90] * 2}


def figures(phase, submission):
    """Return the values of the only task."""
    (task,) = evaluation.evaluate(phase, submission, workers=0).to_dict()["aggregates"].values()
    return {name: figure["value"] for name, figure in task.items()}


def scored(folder, tables, cases, submitted, *, references=None, table="predictions.csv"):
    """Return the figures of a table of predictions; ``references`` are tables of the phase by name."""
    phase = declared_phase(folder / "phase", tables, cases)
    for name, columns in (references or {}).items():
        write_table(phase / name, columns)
    evaluation.seal(phase)
    write_table(folder / "in" / table, submitted)
    return figures(phase, folder / "in")


@pytest.mark.parametrize(("keys", "most"), [("", 10_000), ("at_most = 300\n", 300)])
def test_how_many_objects_a_case_may_have(tmp_path, keys, most):
    tables = (
        f'[fields.nodules]\nkind = "points"\nunit = "pixels"\ndimensions = 2\n{keys}'
        "[tasks.detection.metrics.point_recall]\nradius = 2\n"
    )
    names = [f"c{number:02d}" for number in range(40)]
    cases = {"name": names, "width": [90] * 40, "height": [90] * 40}
    true = {"nodules.csv": {"case": ["c00"], "x": [5], "y": [5]}}
    submitted = {"case": ["c00"] * most, "x": [5] * most, "y": [5] * most}
    assert scored(tmp_path / "most", tables, cases, submitted, references=true) == {"point_recall": 1}
    more = {name: [*column, column[0]] for name, column in submitted.items()}
    with pytest.raises(SubmissionRejected) as refused:
        scored(tmp_path / "more", tables, cases, more, references=true)
    assert str(most) in refused.value.faults[0].found


def test_the_columns_of_one_object_and_of_its_reference(tmp_path):
    tables = (
        '[fields.organ]\nkind = "box"\ntable = "organs.csv"\nkey_column = "scan"\n'
        'columns = ["left", "top", "right", "bottom"]\nreference_columns = ["l", "t", "r", "b"]\n'
        "[tasks.organs.metrics.box_iou]\n"
    )
    cases = {**CASES, "t": [0, 0], "b": [10, 10], "l": [20, 20], "r": [40, 60]}
    submitted = {"scan": NAMES, "top": [0] * 2, "left": [20] * 2, "bottom": [10] * 2, "right": [40] * 2}
    assert scored(tmp_path, tables, cases, submitted, table="organs.csv") == {"box_iou": 0.75}


MAP = np.zeros((4, 6, 8), np.uint8)
MAP[1:3, 1:4, 1:5] = 1


@pytest.mark.parametrize(
    ("keys", "submitted", "reference"),
    [
        ("", "", ""),
        ('suffix = "_pred"\n', "_pred", "_pred"),
        ('reference_suffix = "_seg"\n', "", "_seg"),
        ('suffix = "_pred"\nreference_suffix = "_seg"\n', "_pred", "_seg"),
        ('suffix = "_pred"\nreference_suffix = ""\n', "_pred", ""),
    ],
)
def test_files_have_their_suffixes(tmp_path, keys, submitted, reference):
    tables = f'[fields.map]\nkind = "label_map"\nlabels = {{ 1 = "x" }}\n{keys}[tasks.scans.metrics.dice]\n'
    phase = volume_phase(tmp_path, tables, {"a": MAP}, suffix=reference)
    write_images(tmp_path / "in" / "map", {f"a{submitted}": MAP})
    assert figures(phase, tmp_path / "in") == {"dice": 1}
    if submitted:
        (tmp_path / "in" / "map" / f"a{submitted}.mha").rename(tmp_path / "in" / "map" / "a.mha")
        with pytest.raises(SubmissionRejected):
            evaluation.evaluate(phase, tmp_path / "in", workers=0)


def jobs_of(folder, slug, contents):
    """Write the jobs of an algorithm that answers each case with a JSON value."""
    jobs = []
    for number, (name, content) in enumerate(zip(NAMES, contents, strict=True)):
        output = folder / f"job{number}" / "output" / f"{slug}.json"
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(json.dumps(content))
        image = {"socket": {"slug": "scan", "relative_path": "images/scan"}, "image": {"name": f"{name}.mha"}}
        answer = {"socket": {"slug": slug, "relative_path": f"{slug}.json"}, "value": None}
        jobs.append({"pk": f"job{number}", "inputs": [image], "outputs": [answer]})
    (folder / "predictions.json").write_text(json.dumps(jobs))
    return folder


@pytest.mark.parametrize(
    ("keys", "right", "wrong", "references"),
    [
        (
            'kind = "class"\nclasses = ["no", "yes"]\nboolean = true',
            [True, False],
            ["yes", "no"],
            {"f": ["yes", "no"]},
        ),
        ('kind = "class"\nclasses = ["no", "yes"]', ["yes", "no"], [True, False], {"f": ["yes", "no"]}),
        (
            'kind = "flags"\nclasses = ["u", "v"]\nlisted = true',
            [["u"], ["v", "u"]],
            [{"u": True, "v": False}] * 2,
            {"u": [1, 1], "v": [0, 1]},
        ),
        (
            'kind = "flags"\nclasses = ["u", "v"]',
            [{"u": True, "v": False}, {"u": True, "v": True}],
            [["u"], ["v", "u"]],
            {"u": [1, 1], "v": [0, 1]},
        ),
    ],
    ids=["boolean", "class", "listed", "flags"],
)
def test_how_a_choice_is_written_in_json(tmp_path, keys, right, wrong, references):
    metric, perfect = ("hamming_distance", 0) if "flags" in keys else ("accuracy", 1)
    tables = f"[fields.f]\n{keys}\n[tasks.t.metrics.{metric}]\n"
    phase = declared_phase(tmp_path / "phase", tables, {**CASES, **references}, submission="algorithm")
    evaluation.seal(phase)
    assert figures(phase, jobs_of(tmp_path / "right", "f", right)) == {metric: perfect}
    with pytest.raises(SubmissionRejected) as refused:
        evaluation.evaluate(phase, jobs_of(tmp_path / "wrong", "f", wrong), workers=0)
    assert len(refused.value.faults) == len(NAMES)


@pytest.mark.parametrize(
    ("keys", "taken"),
    [("", {1}), ("tolerance = 0.2\n", {1, 1.1})],
)
def test_sums_of_probabilities(tmp_path, keys, taken):
    tables = (
        f'[fields.f]\nkind = "class_probabilities"\nclasses = ["u", "v"]\n{keys}[tasks.t.metrics.accuracy]\n'
    )
    for total, (high, low) in {1: (0.9, 0.1), 1.1: (0.9, 0.2), 1.5: (0.9, 0.6)}.items():
        folder, submitted = tmp_path / str(total), {"case": NAMES, "u": [high, low], "v": [low, high]}
        cases = {**CASES, "f": ["u", "v"]}
        if total in taken:
            assert scored(folder, tables, cases, submitted) == {"accuracy": 1}
        else:
            with pytest.raises(SubmissionRejected):
                scored(folder, tables, cases, submitted)


@pytest.mark.parametrize(
    ("keys", "valid"), [("", {-1, 0.5, 2}), ("minimum = 0\n", {0.5, 2}), ("maximum = 1\n", {-1, 0.5})]
)
def test_ends_of_a_predicted_survival(tmp_path, keys, valid):
    tables = f'[fields.s]\nkind = "survival"\nrisk = true\n{keys}[tasks.t.metrics.concordance_index]\n'
    cases = {**CASES, "time": [3, 5], "event": [1, 1]}
    for number in (-1, 0.5, 2):
        submitted = {"case": NAMES, "s": [number, 0.7]}
        if number in valid:
            assert scored(tmp_path / str(number), tables, cases, submitted) == {
                "concordance_index": number > 0.7
            }
        else:
            with pytest.raises(SubmissionRejected):
                scored(tmp_path / str(number), tables, cases, submitted)
