"""The cyst benchmark from files to files: every equation recomputed plainly, steps alone and together."""

import csv
import json
import math
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import SimpleITK
from scipy import ndimage

from evaluation.core.fault import PhaseError
from evaluation.organiser.cyst_benchmark.fuse_cysts import STEPS, Benchmark, run_step
from test.faults import faulted
from test.organiser.cyst_benchmark.annotators import CystAnnotators, cyst_annotators

CONFIDENCES = (1, 2, 3, 4, 5)
RUNS = ("run1", "run2")


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    return cyst_annotators(tmp_path_factory.mktemp("cysts"), volumes=4)


@pytest.fixture(scope="module")
def built(given, tmp_path_factory):
    folder = tmp_path_factory.mktemp("built")
    return run_all(Benchmark(given.folder, folder / "work", folder / "phase"))


def run_all(benchmark: Benchmark, steps=STEPS) -> Benchmark:
    for step in steps:
        run_step(step, benchmark)
    return benchmark


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def volume(path: Path):
    return SimpleITK.GetArrayFromImage(SimpleITK.ReadImage(str(path)))


def number(text: str) -> float:
    return float(text) if text else math.nan


def b_scans(given: CystAnnotators):
    return [(row["volume"], int(row["b_scan"]) - 1) for row in rows(given.folder / "evaluation.csv")]


def levels_of(given: CystAnnotators, annotator: str, run: str, name: str, z: int):
    return volume(given.folder / "evaluation" / annotator / run / f"{name}.mha")[z]


def plain_dice(first, second) -> float:
    return 2 * (first * second).sum() / ((first**2).sum() + (second**2).sum())


def test_distinctions_are_eq_1(given, built):
    found = rows(built.work / "distinctions.csv")
    assert {row["reader"] for row in found} == {*given.annotators, "supervisor"}
    steps = np.arange(-15, 16)
    disc = steps[:, np.newaxis] ** 2 + steps**2 <= 225
    for row in found[:: max(1, len(found) // 40)]:
        name, z = row["volume"], int(row["b_scan"]) - 1
        levels = levels_of(given, row["reader"], row["run"], name, z)
        image = volume(given.folder / "images" / f"{name}.mha")
        components, count = ndimage.label(levels == int(row["confidence"]), structure=np.ones((3, 3)))
        before = sum(
            ndimage.label(levels == c, structure=np.ones((3, 3)))[1] for c in range(1, int(row["confidence"]))
        )
        assert before < int(row["cyst"]) <= before + count
        inside = components == int(row["cyst"]) - before
        assert inside.sum() == int(row["pixels"])
        ring = ndimage.binary_dilation(inside, structure=disc) & (levels == 0)
        bins = np.linspace(image.min(), image.max(), 26)
        inner, outer = (np.histogram(image[z][region], bins)[0] for region in (inside, ring))
        overlap = np.minimum(inner / inner.sum(), outer / outer.sum()).sum()
        assert float(row["distinction"]) == pytest.approx(1 - overlap, abs=1e-9)


def test_the_transformed_distinctions_have_the_supervisors_mean_and_variance(built):
    """The mean by construction: why a and b change nothing with --interval level."""
    levels = {row["confidence"]: row for row in rows(built.work / "levels.csv")}
    for row in rows(built.work / "transforms.csv"):
        assert row["used_by_interval"] == "cyst"
        if row["reader"] == "supervisor" or not int(row["cysts"]):
            continue
        a, supervisor = float(row["a"]), levels[row["confidence"]]
        assert a * float(row["mean"]) + float(row["b"]) == pytest.approx(float(supervisor["mean"]))
        if float(row["variance"]):
            assert a**2 * float(row["variance"]) == pytest.approx(float(supervisor["variance"]))


def test_workloads_are_counted_in_b_scans(given, built):
    depth = {case.name: case.geometry.shape[0] for case in given.cases}
    parts = {}
    for row in rows(built.work / "partition.csv"):
        assert int(row["b_scans"]) == depth[row["volume"]]
        parts.setdefault(row["part"], []).append(row["volume"])
    work = Counter()
    for row in rows(built.work / "assignment.csv"):
        b_scans = sum(depth[name] for name in parts[row["part"]])
        assert int(row["b_scans"]) == b_scans
        for name in ("reader_1", "reader_2"):
            work[row[name]] += b_scans
    for row in rows(built.work / "workload.csv"):
        assert int(row["b_scans"]) == work[row["reader"]]
        assert int(row["parts"]) == 2


def test_accuracy_and_reproducibility_are_eq_3(given, built, tmp_path):
    """With the interval of cysts; with that of levels, accuracies are those of annotators alone, below."""
    shutil.copytree(built.work, tmp_path / "work")
    run_step("accuracy", Benchmark(given.folder, tmp_path / "work", None, "cyst"))
    level_values = np.array([0.0, *(float(row["value"]) for row in rows(built.work / "levels.csv"))])
    maps = {
        (row["reader"], int(row["confidence"])): (float(row["a"]), float(row["b"]))
        for row in rows(built.work / "transforms.csv")
    }
    cysts = {}
    for row in rows(built.work / "distinctions.csv"):
        key = (row["reader"], row["run"], row["volume"], int(row["b_scan"]) - 1)
        cysts.setdefault(key, []).append((int(row["confidence"]), number(row["distinction"])))

    def values(annotator, run):
        planes, marks = [], []
        for name, z in b_scans(given):
            levels = levels_of(given, annotator, run, name, z)
            plane = level_values[levels]
            of_plane = iter(cysts.get((annotator, run, name, z), ()))
            for c in CONFIDENCES:
                components, count = ndimage.label(levels == c, structure=np.ones((3, 3)))
                for component in range(1, count + 1):
                    _, distinction = next(of_plane)
                    a, b = maps[annotator, c]
                    if not math.isnan(distinction):
                        plane[components == component] = np.clip(a * distinction + b, 0.01, 1)
            planes.append(plane.ravel())
            marks.append(levels.ravel())
        return np.concatenate(planes), np.concatenate(marks)

    of_annotators = {r: [values(r, run) for run in RUNS] for r in (*given.annotators, "supervisor")}
    means = {r: (first[0] + second[0]) / 2 for r, (first, second) in of_annotators.items()}
    found = {(row["reader"], row["measure"]): row for row in rows(tmp_path / "work" / "accuracy.csv")}
    for annotator, ((first, first_marks), (second, second_marks)) in of_annotators.items():
        expected = plain_dice(first, second)
        assert float(found[annotator, "reproducibility"]["overall"]) == pytest.approx(expected)
        if annotator == "supervisor":
            continue
        row = found[annotator, "accuracy"]
        assert float(row["overall"]) == pytest.approx(plain_dice(means[annotator], means["supervisor"]))
        marks = [first_marks, second_marks, *(marks for _, marks in of_annotators["supervisor"])]
        for c in CONFIDENCES:
            voxels = np.logical_or.reduce([of_run == c for of_run in marks])
            both = (means[name][voxels] for name in (annotator, "supervisor"))
            expected = plain_dice(*both) if voxels.any() else math.nan
            assert number(row[f"confidence_{c}"]) == pytest.approx(expected, nan_ok=True)
    run_step("comparison", Benchmark(given.folder, tmp_path / "work", None, "cyst"))
    for row in rows(tmp_path / "work" / "combinations.csv"):
        if row["method"] == "alone":
            for name in ("overall", *(f"confidence_{c}" for c in CONFIDENCES)):
                expected = number(found[row["readers"], "accuracy"][name])
                assert number(row[name]) == pytest.approx(expected, nan_ok=True)
    least = min(given.annotators, key=lambda annotator: float(found[annotator, "reproducibility"]["overall"]))
    assert least == "rough"


def weights_of(work):
    """Return the accuracies of the annotators: overall, and for each confidence."""
    table = {}
    for row in rows(work / "accuracy.csv"):
        if row["measure"] == "accuracy":
            overall = float(row["overall"])
            own = [number(row[f"confidence_{c}"]) for c in CONFIDENCES]
            table[row["reader"]] = np.array([overall, *(overall if math.isnan(w) else w for w in own)])
    return table


def test_the_voxels_of_every_level_are_counted(given, built):
    report = json.loads((built.work / "report.json").read_text())["combination"]["voxels_of_levels"]
    folders = {"combined": built.output / "level"}
    folders |= {name: given.folder / "annotations" / name for name in given.annotators}
    found = {"combined": report["combined"], **report["annotators"]}
    assert found == {
        name: {str(c): sum(int((volume(path) == c).sum()) for path in folder.iterdir()) for c in CONFIDENCES}
        for name, folder in folders.items()
    }


def test_combination_is_eq_4(given, built):
    values = np.array([0.0, *(float(row["value"]) for row in rows(built.work / "levels.csv"))])
    weights = weights_of(built.work)
    for case in given.cases:
        levels = {r: volume(given.folder / "annotations" / r / f"{case.name}.mha") for r in given.annotators}
        total = sum(weights[r][of_annotator] for r, of_annotator in levels.items())
        weighted = sum(weights[r][of_annotator] * values[of_annotator] for r, of_annotator in levels.items())
        confidence = volume(built.output / "confidence" / f"{case.name}.mha")
        np.testing.assert_allclose(confidence, weighted / total, atol=1e-6)
        marked = np.logical_or.reduce([of_annotator > 0 for of_annotator in levels.values()])
        level = volume(built.output / "level" / f"{case.name}.mha")
        np.testing.assert_array_equal(level > 0, marked)
        np.testing.assert_array_equal(confidence > 0, marked)
        nearest = np.abs(confidence[marked][:, np.newaxis] - values[1:]).min(axis=1)
        np.testing.assert_allclose(np.abs(values[level[marked]] - confidence[marked]), nearest, atol=1e-6)
        for annotator, of_annotator in levels.items():
            kept = volume(built.output / "readers" / annotator / f"{case.name}.mha")
            np.testing.assert_array_equal(kept, of_annotator)


def test_eq_4_and_the_average_are_scored_by_eq_3(given, built):
    values = np.array([0.0, *(float(row["value"]) for row in rows(built.work / "levels.csv"))])
    weights = weights_of(built.work)
    planes = {
        (name, run, at): levels_of(given, name, run, *at)
        for name in (*given.annotators, "supervisor")
        for run in RUNS
        for at in b_scans(given)
    }
    overall = {
        row["reader"]: float(row["overall"])
        for row in rows(built.work / "accuracy.csv")
        if row["measure"] == "accuracy"
    }
    checked = set()
    for row in rows(built.work / "combinations.csv"):
        members = row["readers"].split("+")
        levels = {
            (name, run): np.concatenate([planes[name, run, at].ravel() for at in b_scans(given)])
            for name in (*members, "supervisor")
            for run in RUNS
        }
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
            expected = plain_dice(found[voxels], truth[voxels]) if voxels.any() else math.nan
            assert number(row[f"confidence_{c}"]) == pytest.approx(expected, abs=1e-9, nan_ok=True)
        checked.add((row["readers"], row["method"]))
        if row["method"] == "alone":
            assert float(row["overall"]) == pytest.approx(overall[row["readers"]])
    pairs = ("high+low", "high+rough", "low+rough", "high+low+rough")
    assert checked == {
        *((name, "alone") for name in given.annotators),
        *((readers, method) for readers in pairs for method in ("weighted", "average")),
    }


def test_an_organiser_may_change_a_table_between_two_steps(given, built, tmp_path):
    shutil.copytree(built.work, tmp_path / "work")
    table = tmp_path / "work" / "assignment.csv"
    changed = table.read_text().replace("high", "low").replace("low,low", "low,rough")
    table.write_text(changed)
    shutil.copytree(given.folder, tmp_path / "in")
    shutil.rmtree(tmp_path / "in" / "annotations" / "high")
    run_step("combination", Benchmark(tmp_path / "in", tmp_path / "work", tmp_path / "phase"))
    report = json.loads((tmp_path / "work" / "report.json").read_text())
    assert set(map(tuple, report["combination"]["annotators_of_volumes"].values())) == {("low", "rough")}


# The file that is changed, the text in it (all of it, where none is given) and what stands there instead (no
# file, where nothing is given); the step, and the fault.
TEXTS = [
    ("evaluation.csv", "", None, "distinction", "evaluation.csv: not found"),
    ("evaluation.csv", "", "volume\nV01\n", "distinction", "'b_scan' is missing"),
    ("evaluation.csv", "", "volume,b_scan\nV01,0\n", "distinction", "expected a whole number from 1"),
    (
        "evaluation.csv",
        "",
        "volume,b_scan\nV01,2\nV01,2\n",
        "distinction",
        "2 is in an earlier row too",
    ),
    ("evaluation.csv", "V02,4", "V02,9999", "distinction", "expected B-scan 9999"),
    ("evaluation.csv", "V02,4\n", "", "distinction", "evaluation.csv, V02: expected 5 B-scans, found 4"),
    ("evaluation.csv", "V02,4\n", "V02,4\nV99,4\n", "accuracy", "the volumes of volumes.csv, found 'V99'"),
    ("volumes.csv", "V02,", "V99,", "accuracy", "evaluation.csv, V99: expected 5 B-scans, found 0"),
    ("volumes.csv", "", "volume,vendor,quality_a\nV01,c,fine\nV02,c,good\n", "partition", "line 3"),
    ("volumes.csv", "", "volume,vendor\n", "partition", "volumes.csv: expected at least one volume"),
    ("images/V01.mha", "", "none", "distinction", "V01.mha: expected"),
    ("images/V03.mha", "", None, "partition", "images/V03: is missing"),
    ("evaluation/supervisor", "", None, "distinction", "supervisor: is not a folder"),
    ("evaluation/low/run2/V01.mha", "", None, "distinction", "run2/V01: is missing"),
    ("annotations/low/V01.mha", "", None, "combination", "low/V01: is missing; low was assigned to it"),
]


@pytest.mark.parametrize(("place", "old", "new", "step", "expected"), TEXTS)
def test_faults_name_file_and_place(faulty, place, old, new, step, expected):
    path = faulty / "in" / place
    if new is not None:
        text = path.read_text() if old else ""
        assert not old or text.count(old) == 1
        path.write_text(text.replace(old, new) if old else new)
    elif path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    refused(faulty, step, expected)


@pytest.fixture
def faulty(given, built, tmp_path):
    """A copy of the annotations and of the tables made of them, in which "low" and "high" have all parts."""
    shutil.copytree(given.folder, tmp_path / "in")
    shutil.copytree(built.work, tmp_path / "work")
    assignment = tmp_path / "work" / "assignment.csv"
    assignment.write_text("part,reader_1,reader_2\n1,low,high\n2,low,high\n3,low,high\n")
    return tmp_path


def refused(folder: Path, step: str, expected: str) -> None:
    with pytest.raises(PhaseError) as error:
        run_step(step, Benchmark(folder / "in", folder / "work", folder / "phase"))
    assert expected in str(error.value)
    assert not (folder / "phase").exists()


def of_another_size(values, image, listed):
    return SimpleITK.GetImageFromArray(values[:, :9, :9])


def of_another_confidence(values, image, listed):
    return image * 0 + 6


def at_another_place(values, image, listed):
    image.SetSpacing([2 * length for length in image.GetSpacing()])
    image.SetDirection([-1, 0, 0, 0, 1, 0, 0, 0, 1])
    return image


def marked_elsewhere(values, image, listed):
    values[next(z for z in range(len(values)) if f"V02,{z + 1}\n" not in listed), 0, 0] = 1
    marked = SimpleITK.GetImageFromArray(values)
    marked.CopyInformation(image)
    return marked


@pytest.mark.parametrize(
    ("change", "step", "expected"),
    [
        (of_another_size, "distinction", "of 9 × 9"),
        (of_another_confidence, "distinction", "expected confidences 0 to 5, found 6"),
        (at_another_place, "distinction", "expected spacing"),
        (at_another_place, "comparison", "expected direction"),
        (marked_elsewhere, "distinction", "expected marks in the B-scans of evaluation.csv alone"),
    ],
)
def test_faults_of_a_volume(faulty, change, step, expected):
    path = faulty / "in" / "evaluation" / "low" / "run2" / "V02.mha"
    image, listed = SimpleITK.ReadImage(str(path)), (faulty / "in" / "evaluation.csv").read_text()
    SimpleITK.WriteImage(change(SimpleITK.GetArrayFromImage(image), image, listed), str(path))
    refused(faulty, step, expected)


def test_an_annotator_who_was_assigned_to_nothing_is_named(faulty):
    (faulty / "in" / "annotations" / "low").rename(faulty / "in" / "annotations" / "nobody")
    refused(faulty, "combination", "found 'nobody'")


def test_changed_annotations_ask_for_the_first_step_again(given, built, tmp_path):
    shutil.copytree(built.work, tmp_path / "work")
    path = tmp_path / "work" / "distinctions.csv"
    path.write_text("\n".join(path.read_text().splitlines()[:-1]) + "\n")
    with faulted(PhaseError, "distinctions.csv: supervisor, run2, V04, B-scan 6", "3"):
        run_step("accuracy", Benchmark(given.folder, tmp_path / "work", None))


def test_a_step_without_those_before_it_says_which_table_is_missing(given, tmp_path):
    with faulted(PhaseError, "distinctions.csv"):
        run_step("transform", Benchmark(given.folder, tmp_path / "work", None))


def test_an_annotator_without_accuracy_is_named(faulty):
    table = faulty / "work" / "accuracy.csv"
    lines = table.read_text().splitlines()
    table.write_text("\n".join(line for line in lines if "low,acc" not in line) + "\n")
    refused(faulty, "comparison", "the accuracy of low, found none")
