"""Pictures of values show the figures that were scored, and none of their own."""

import numpy as np
import pytest
from PIL import Image

import evaluation
from evaluation.organiser.report.case_images import Request, read_cases
from evaluation.organiser.report.results import results_of
from evaluation.organiser.report.value_figures import size_charts
from evaluation.phase.phase import load_phase
from test.challenges.declared.phases import declared_phase

TABLES = """\
[fields.organs]
kind = "label_map"
dimensions = 2
labels = { 1 = "kidney", 2 = "tumour", 3 = "cyst" }
regions = { masses = [2, 3], all = [1, 2, 3], kidney = [1] }
annotators = ["one", "two"]

[tasks.organs.metrics]
dice = { over_annotators = "consensus" }
"""
CASES = ("a", "b", "c")


def written(folder, images):
    folder.mkdir(parents=True)
    for name, image in zip(CASES, images, strict=True):
        Image.fromarray(np.array(image, np.uint8)).save(folder / f"{name}.png")


def test_overlap_against_size_is_the_overlap_of_the_table(tmp_path):
    """Voxels on which the annotators disagree do not count, and regions have the size of their labels."""
    phase = declared_phase(
        tmp_path / "phase", TABLES, {"name": CASES, "width": ["8"] * 3, "height": ["1"] * 3}
    )
    ones = [[[1, 1, 1, 2, 2, 3, 0, 0]], [[1, 1, 0, 0, 0, 0, 0, 0]], [[1, 2, 3, 0, 0, 0, 0, 0]]]
    twos = [[[0, 1, 1, 2, 2, 3, 0, 0]], [[1, 1, 1, 0, 0, 0, 0, 0]], [[1, 2, 3, 0, 0, 0, 0, 0]]]
    for name, images in (("one", ones), ("two", twos)):
        written(phase / "organs" / name, images)
    predicted = [[[0, 1, 0, 2, 0, 3, 3, 0]], [[1, 0, 0, 0, 0, 0, 0, 0]], [[1, 2, 2, 2, 0, 0, 0, 0]]]
    written(tmp_path / "submission" / "organs", predicted)
    evaluation.seal(phase)
    scored = evaluation.evaluate(phase, tmp_path / "submission", workers=0)
    results = results_of(load_phase(phase), scored.to_dict(), scored.records)
    request = Request(phase, tmp_path / "submission", {}, None, 0)
    values = read_cases(request, lambda done: None)
    (chart,) = [one for one in size_charts(results, values) if one.name == "overlap-by-size-pixels"]
    (task,) = results.tasks
    columns = {metric.title: metric.name for metric in task.metrics}
    table = results.tables[task.name]
    found = {}
    for point in chart.data["points"]:
        name = columns[point["group"]]
        case = table.names.index(point["case"])
        assert point["y"] == table[name][case]
        found[name, point["case"]] = point["x"], point["y"]
    # Of annotator one: sizes; without the voxel on which the annotators differ: Dice.
    kidney = {"a": (3, 2 * 1 / 3), "b": (2, 2 * 1 / 3), "c": (1, 1.0)}
    masses = {"a": (3, 2 * 2 / 6), "c": (2, 2 * 2 / 5)}
    whole = {"a": (6, 2 * 3 / 9), "b": (2, 2 * 1 / 3), "c": (3, 2 * 3 / 7)}
    expected = {
        (f"dice_{of}", case): pytest.approx(pair)
        for of, pairs in (("kidney", kidney), ("masses", masses), ("all", whole))
        for case, pair in pairs.items()
    }
    assert found == expected
