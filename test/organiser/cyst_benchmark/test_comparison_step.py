"""Eq. 4 and plain averaging on the evaluation set, recomputed plainly from the files."""

import math

import numpy as np
import pytest
import SimpleITK
from scipy import ndimage

from evaluation.core.fault import PhaseError
from evaluation.organiser.cyst_benchmark.combination import CystCounts, count_cysts, groups_of_annotators
from evaluation.organiser.cyst_benchmark.steps import STEPS, Benchmark, run_step
from test.faults import faulted
from test.organiser.cyst_benchmark.annotators import cyst_annotators
from test.organiser.cyst_benchmark.test_steps import CONFIDENCES, RUNS, number, plain_dice, rows


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    return cyst_annotators(tmp_path_factory.mktemp("cysts"), volumes=4, annotated=False)


@pytest.fixture(scope="module")
def work(given, tmp_path_factory):
    folder = tmp_path_factory.mktemp("work")
    for step in STEPS[: STEPS.index("comparison") + 1]:
        run_step(step, Benchmark(given.folder, folder, None))
    return folder


@pytest.fixture(scope="module")
def planes(given):
    """Confidences by annotator and run: all B-scans of a volume one after the other."""
    chosen = {}
    for row in rows(given.folder / "evaluation.csv"):
        chosen.setdefault(row["volume"], []).append(int(row["b_scan"]) - 1)

    def read(path, volume):
        return SimpleITK.GetArrayFromImage(SimpleITK.ReadImage(str(path / f"{volume}.mha")))[chosen[volume]]

    return {
        (name, run): {v: read(given.folder / "evaluation" / name / run, v) for v in sorted(chosen)}
        for name in (*given.annotators, "supervisor")
        for run in RUNS
    }


def weights_of(work):
    table = {}
    for row in rows(work / "accuracy.csv"):
        if row["measure"] == "accuracy":
            overall = float(row["overall"])
            own = [number(row[f"confidence_{c}"]) for c in CONFIDENCES]
            table[row["reader"]] = np.array([overall, *(overall if math.isnan(w) else w for w in own)])
    return table


def test_eq_4_and_the_average_are_scored_by_eq_3(given, work, planes):
    values = np.array([0.0, *(float(row["value"]) for row in rows(work / "levels.csv"))])
    weights = weights_of(work)
    vendors = {case.name: case.vendor for case in given.cases}
    volumes = sorted(vendors)
    checked = set()
    for row in rows(work / "combinations.csv"):
        members = row["readers"].split("+")
        if row["column"] == "quality":
            continue
        chosen = {
            "all": volumes,
            "vendor": [v for v in volumes if vendors[v] == row["value"]],
            "volume": [row["value"]],
        }[row["column"]]
        assert int(row["b_scans"]) == 5 * len(chosen)

        def pooled(name, run, chosen=chosen):
            return np.concatenate([planes[name, run][v].ravel() for v in chosen])

        levels = {(name, run): pooled(name, run) for name in (*members, "supervisor") for run in RUNS}
        found = 0
        for run in RUNS:
            weight = {m: weights[m][levels[m, run]] for m in members}
            if row["method"] != "weighted":
                weight = dict.fromkeys(members, 1.0)
            combined = sum(weight[m] * values[levels[m, run]] for m in members) / sum(weight.values())
            found = found + combined / 2
        truth = sum(values[levels["supervisor", run]] for run in RUNS) / 2
        assert float(row["overall"]) == pytest.approx(plain_dice(found, truth), abs=1e-9)
        for c in CONFIDENCES:
            voxels = np.logical_or.reduce([of_run == c for of_run in levels.values()])
            value = number(row[f"confidence_{c}"])
            expected = plain_dice(found[voxels], truth[voxels]) if voxels.any() else math.nan
            assert value == pytest.approx(expected, abs=1e-9, nan_ok=True)
        checked.add((row["readers"], row["method"], row["column"]))
    assert {key[:2] for key in checked} == {
        *(((name, "alone")) for name in ("high", "low", "rough")),
        *(
            (readers, method)
            for readers in ("high+low", "high+rough", "low+rough", "high+low+rough")
            for method in ("weighted", "average")
        ),
    }
    assert {key[2] for key in checked} == {"all", "vendor", "volume"}


def test_an_annotator_alone_is_as_accurate_as_the_step_before_says(given, work, tmp_path):
    """With the interval of cysts; that of levels is recomputed above."""
    for name in ("distinctions.csv", "transforms.csv", "levels.csv"):
        (tmp_path / name).write_bytes((work / name).read_bytes())
    for step in ("accuracy", "comparison"):
        run_step(step, Benchmark(given.folder, tmp_path, None, "cyst"))
    of_groups = {
        (row["reader"], row["column"], row["value"]): row
        for row in rows(tmp_path / "accuracy_by_group.csv")
        if row["measure"] == "accuracy"
    }
    for row in rows(tmp_path / "accuracy.csv"):
        if row["measure"] == "accuracy":
            of_groups[row["reader"], "all", ""] = row
    alone = [
        row
        for row in rows(tmp_path / "combinations.csv")
        if row["method"] == "alone" and row["column"] != "volume"
    ]
    assert len(alone) == len(of_groups)
    for row in alone:
        expected = of_groups[row["readers"], row["column"], row["value"]]
        for name in ("overall", *(f"confidence_{c}" for c in CONFIDENCES)):
            assert number(row[name]) == pytest.approx(number(expected[name]), nan_ok=True)


def test_cysts_of_the_supervisor_are_counted_by_b_scan(given, work, planes):
    count = 0
    for volume in planes["supervisor", "run1"]:
        either = (planes["supervisor", "run1"][volume] > 0) | (planes["supervisor", "run2"][volume] > 0)
        count += sum(ndimage.label(plane, structure=np.ones((3, 3)))[1] for plane in either)
    (row,) = {row["cysts"] for row in rows(work / "combinations.csv") if row["column"] == "all"}
    assert int(row) == count


def test_counts_by_hand():
    true = np.array([[1, 1, 0, 0, 1, 0, 1], [0, 0, 0, 0, 0, 1, 0]], dtype=bool)
    marked = np.array([[0, 1, 0, 1, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0]], dtype=bool)
    # The supervisor's cysts: the two pixels on the left, and three that touch at corners. One is touched; the
    # marked pixel beside the other lies in none.
    assert count_cysts(marked, true) == CystCounts(cysts=2, found=1, false=1)
    assert count_cysts(marked, true) + CystCounts(1, 1, 1) == CystCounts(3, 2, 2)


def test_combinations_of_annotators():
    assert groups_of_annotators(["a", "b"]) == [("a",), ("b",), ("a", "b")]
    four = groups_of_annotators(["a", "b", "c", "d"])
    assert len(four) == 4 + 6 + 1
    assert four[-1] == ("a", "b", "c", "d")


def test_an_annotator_without_accuracy_is_named(given, work, tmp_path):
    for name in ("distinctions.csv", "transforms.csv", "levels.csv"):
        (tmp_path / name).write_bytes((work / name).read_bytes())
    lines = (work / "accuracy.csv").read_text().splitlines()
    (tmp_path / "accuracy.csv").write_text("\n".join(line for line in lines if "low,acc" not in line) + "\n")
    with faulted(PhaseError, "none"):
        run_step("comparison", Benchmark(given.folder, tmp_path, None))
