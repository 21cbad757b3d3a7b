import shutil

import numpy as np
import pytest
from PIL import Image

from evaluation.core.challenge import fields_of
from evaluation.core.fault import PhaseError
from evaluation.io.kinds.label_map import LabelMap
from evaluation.io.kinds.volume import Volume
from evaluation.organiser.validate import _faults_of_counts, validate_phase
from evaluation.phase.manifest import scan
from evaluation.phase.phase import load_phase
from test.challenges.declared.phases import SCREENING, declared_phase
from test.faults import faulted
from test.phases import refuge_phase, replace_in, tiny_cases
from test.repository import REPOSITORY
from test.started import run


def validated(folder):
    return validate_phase(folder, scan(folder), workers=0)


def problems_of(folder):
    with pytest.raises(PhaseError) as caught:
        validated(folder)
    return list(caught.value.problems)


def written(tmp_path, cases=4, keys=None, **arguments):
    """Return a phase whose few labels are told by any submission, which it accepts."""
    keys = {"learnable_labels": ["*"], **(keys or {})}
    return refuge_phase(tmp_path / "phase", cases, sealed=False, keys=keys, **arguments)


def test_a_challenge_beside_a_phase_of_bundled_rules_is_not_run_and_said_to_be(tmp_path):
    folder = written(tmp_path)
    (folder / "challenge.py").write_text("raise SystemExit", encoding="utf-8")
    assert validated(folder).notices == (
        f"{folder / 'challenge.py'}: is not run, since phase.toml names the bundled challenge 'refuge'; "
        "to score by it, name it there as `challenge`",
    )
    declared = declared_phase(
        tmp_path / "declared",
        SCREENING,
        {"name": ["a", "b"], "class": ["RG", "NRG"]},
        keys='learnable_labels = ["*"]',
    )
    shutil.copy(folder / "challenge.py", declared)
    assert "is not run, since phase.toml declares its fields; " in validated(declared).notices[-1]


def test_every_fault_of_the_reference_at_once(tmp_path):
    folder = written(tmp_path)
    masks = folder / "masks"
    (masks / "V0001.png").write_bytes(b"no image")
    pixels = np.full((12, 16), 255, np.uint8)
    pixels[3, 4] = 77
    kind = LabelMap({0: "cup", 128: "disc"}, 255, dimensions=2)
    (masks / "V0002.png").write_bytes(kind.write_file(Volume.of_image(pixels), ".png"))
    (masks / "V0003.png").write_bytes(kind.write_file(Volume.of_image(pixels[:, :10]), ".png"))
    replace_in(folder / "cases.csv", "V0001,16,12,1,3.0", "V0001,16,12,yes,-3")
    replace_in(folder / "cases.csv", "V0004,16,12,0,6.0,5.5", "V0004,16,12,,,5.5")
    assert problems_of(folder) == [
        'cases.csv, line 2, glaucoma: expected 0 or 1, found "yes"',
        "masks/V0001.png: expected a PNG image, found other content",
        "cases.csv, line 2, fovea_x, fovea_y: expected x from 0 to 16, found x = -3",
        "masks/V0002.png: expected values 0, 128 or 255 only, found 77",
        "masks/V0003.png: expected 16 × 12 pixels, found 10 × 12 pixels",
        "cases.csv, line 5, glaucoma: expected 0 or 1, found nothing",
        "cases.csv, line 5, fovea_x: expected a finite number, found nothing",
    ]
    (masks / "V0004.png").rename(masks / "V0009.png")
    assert problems_of(folder)[:3] == [
        "masks/V0004.png: is missing, expected the reference of case V0004",
        "masks/V0009.png: matches no case of cases.csv",
        'cases.csv, line 2, glaucoma: expected 0 or 1, found "yes"',
    ]


def test_a_reference_that_is_empty_in_all_cases_is_noted(tmp_path):
    folder = written(tmp_path)
    kind = LabelMap({0: "cup", 128: "disc"}, 255, dimensions=2)
    for mask in (folder / "masks").iterdir():
        mask.write_bytes(kind.write_file(Volume.of_image(np.full((12, 16), 255, np.uint8)), ".png"))
    assert validated(folder).notices == (
        "segmentation: the reference of all 4 cases is empty, without any structure",
    )


ORGANS = """\
[fields.organs]
kind = "label_map"
dimensions = 2
labels = { 1 = "liver", 2 = "spleen", 7 = "pancreas" }
[tasks.t.metrics]
dice = {}
strict = { metric = "dice", absent = "exclude" }
liver = { metric = "jaccard", labels = ["liver"] }
"""


def test_a_label_that_no_reference_has_and_patients_of_several_cases_are_noted(tmp_path):
    columns = {"name": ["a", "b", "c"], "width": [6] * 3, "height": [5] * 3, "Patient_ID": ["p", "q", "p"]}
    folder = declared_phase(tmp_path / "phase", ORGANS, columns, keys='learnable_labels = ["*"]')
    (folder / "organs").mkdir()
    for name, label in zip("abc", (1, 2, 1), strict=True):
        image = np.full((5, 6), label, np.uint8)
        image[0] = 0
        Image.fromarray(image).save(folder / "organs" / f"{name}.png")
    done = run("seal", folder)
    assert done.returncode == 0
    assert (
        "organs: no reference has pancreas: in dice a case that does not predict it counts as perfect, which "
        'raises the mean; absent = "exclude" leaves it out'
    ) in done.stdout
    assert "Patient_ID: 2 values for 3 cases; intervals and tests allow" in done.stdout
    (folder / "cases.csv").write_text((folder / "cases.csv").read_text().replace("Patient_ID", "cluster"))
    assert "allow for cases" not in run("seal", folder).stdout
    replace_in(folder / "phase.toml", "{ 1 =", "{ 0 = 'gall', 1 =")
    assert "labels: 0 is the number of the background; background = N, a number" in run("seal", folder).stderr


@pytest.mark.parametrize("positives", [0, 4])
def test_a_score_that_cannot_exist_is_a_fault_and_another_metric_a_notice(tmp_path, positives):
    folder = written(tmp_path, tiny_cases(4, positives))
    assert problems_of(folder) == ["phase.toml: classification.auc is always undefined: no case enters it"]
    other = refuge_phase(
        tmp_path / "other",
        tiny_cases(4, positives),
        sealed=False,
        keys={"learnable_labels": ["*"], "score": "fovea.distance", "columns": []},
    )
    assert validated(other).notices[0] == "classification.auc is undefined in this phase: no case enters it"


def test_subgroups_are_checked_with_the_metrics_and_the_reference(tmp_path):
    folder = written(
        tmp_path,
        columns={"age": ["40", "fifty", "nan", ""], "site": ["A+", "A-", "b", "b"]},
        tables="[[subgroups]]\ncolumn = 'age'\nbins = [45]\n[[subgroups]]\ncolumn = 'site'",
    )
    (folder / "masks" / "V0004.png").write_bytes(b"")
    assert problems_of(folder) == [
        "masks/V0004.png: expected a PNG image, found an empty file",
        "cases.csv, line 3, age: expected a number for the bins, found 'fifty'",
        "cases.csv, line 4, age: expected a number for the bins, found 'nan'",
        "cases.csv: site: 'A+', 'A-' have the same key 'a'",
    ]


def test_published_cases_need_keys_of_their_own(tmp_path):
    folder = written(tmp_path, keys={"publish_cases": True})
    for old, new in (("V0001", "V.1"), ("V0002", "V_1")):
        replace_in(folder / "cases.csv", f"{old},", f"{new},")
        (folder / "masks" / f"{old}.png").rename(folder / "masks" / f"{new}.png")
    assert problems_of(folder) == [
        "cases.csv: cases V.1, V_1 cannot be published: they have the same key V_1"
    ]
    replace_in(folder / "phase.toml", "publish_cases = true", "publish_cases = false")
    assert validated(folder).notices == ()


def test_a_file_that_changed_after_the_scan_is_found_out(tmp_path):
    folder = written(tmp_path)
    scanned = scan(folder)
    shutil.copy(folder / "masks" / "V0001.png", folder / "masks" / "V0002.png")
    with faulted(PhaseError, "masks/V0002.png"):
        validate_phase(folder, scanned, workers=0)


def boxes_phase(folder, boxes, keys=""):
    """Write a phase of two cases with so many boxes each."""
    folder.mkdir()
    (folder / "cases.csv").write_text("name,width,height\na,90,90\nb,90,90\n")
    rows = [f"{case},{i % 80},{i // 80},{i % 80 + 5},{i // 80 + 5}\n" for case in "ab" for i in range(boxes)]
    (folder / "cells.csv").write_text("case,x1,y1,x2,y2\n" + "".join(rows))
    (folder / "phase.toml").write_text(
        'name = "b"\ntitle = "B"\nsubmission = "archive"\nlearnable_labels = ["*"]\n'
        f'[fields.cells]\nkind = "boxes"\nprobability = true\n{keys}\n'
        "[tasks.t.metrics]\nbox_average_precision = {}\n"
    )
    return folder


def test_a_reference_that_no_submission_may_match(tmp_path):
    (problem,) = problems_of(boxes_phase(tmp_path / "many", 6001))
    assert "12002" in problem
    assert "at_most" in problem
    validated(boxes_phase(tmp_path / "room", 6001, "at_most = 6100"))
    (problem,) = problems_of(boxes_phase(tmp_path / "case", 90, "at_most = 80"))
    assert problem == (
        "fields.cells: a submission may list 80 objects of a case, the reference lists 90: none could match "
        "it; expected at_most = 180 or another that leaves room"
    )


@pytest.mark.parametrize(("boxes", "notices"), [(100, 0), (101, 1)])
def test_a_reference_of_more_boxes_than_an_average_precision_keeps(tmp_path, boxes, notices):
    found = validated(boxes_phase(tmp_path / "phase", boxes)).notices
    assert sum("101" in notice for notice in found) == notices


@pytest.mark.parametrize(
    ("kind", "metric", "memory_mb", "needed_gb"),
    [
        ("label_map", "hausdorff_distance", 2000, 16),
        ("label_map", "hausdorff_distance", 20_000, None),
        ("label_map", 'dice]\nover_annotators = "consensus"\n[ranking', 2000, 16),
        ("label_map", "volume_difference", 2000, None),
        ("instance_map", "panoptic_quality", 2000, 80),
    ],
)
def test_metrics_that_need_volumes_as_a_whole_need_the_memory(tmp_path, kind, metric, memory_mb, needed_gb):
    annotators = 'annotators = ["A", "B"]' if "consensus" in metric else ""
    folder = tmp_path / "phase"
    (folder / "labels").mkdir(parents=True)
    (folder / "cases.csv").write_text(
        "name,width,height,depth,spacing_mm,origin_mm,direction\na,2000,2000,2000,1 1 1,,\n"
    )
    (folder / "phase.toml").write_text(
        f'name = "p"\ntitle = "P"\nsubmission = "archive"\n[limits]\nworker_memory_mb = {memory_mb}\n'
        f'[fields.organs]\nkind = "{kind}"\nlabels = {{ 1 = "liver" }}\n{annotators}\n'
        f"[tasks.t.metrics.{metric}]\n"
    )
    problems = problems_of(folder)
    expected = f"fields.organs: {metric.partition(']')[0]} needs both images of a case as a whole, "
    expected += f"for a with 8000000000 voxels at least {needed_gb}.0 GB in a worker; "
    told = [problem for problem in problems if "needs both images" in problem]
    assert all(of.startswith(expected) and " 2.1 GB. " in of for of in told)
    assert bool(told) == (needed_gb is not None)


def test_rules_that_have_no_key_for_it_are_told_of_their_kind():
    """A challenge of Python code cannot be told to write `at_most`."""
    folder = REPOSITORY / "ground-truth" / "edd2020"
    phase = load_phase(folder, scan(folder))
    name = next(field.name for field in fields_of(phase.tasks) if field.kind.objects is not None)
    assert _faults_of_counts(phase, {name: [1] * len(phase.cases.forms)}) == []
    cases = len(phase.cases.forms)
    for objects, limit in ((300 + 10_000 // cases, "average_items"), (100_000, "objects.most")):
        (problem,) = _faults_of_counts(phase, {name: [objects] * cases})
        assert problem.startswith(f"fields.{name}: a submission may list ")
        assert problem.endswith(f"expected fewer, or a kind of field with larger `{limit}`")
