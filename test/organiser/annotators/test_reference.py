"""A phase from seven graders: the result by hand, agreement, scores, dropped graders, faults."""

import json
from pathlib import Path

import numpy as np
import pytest

from evaluation.core.fault import PhaseError
from evaluation.io.grey_images import read_grey
from evaluation.io.tables import write_csv
from evaluation.metrics.segmentation import count_overlap, dice_of_counts
from evaluation.organiser.annotators.annotations import open_annotators
from evaluation.organiser.annotators.combine import CombinationRules
from evaluation.organiser.annotators.reference import fuse_annotators, write_reference_report
from evaluation.phase.cases import read_cases
from evaluation.phase.manifest import scan, seal
from evaluation.phase.phase import load_phase
from test.faults import faulted
from test.organiser.annotators.people import SEVEN, seven_graders


def fuse(folder: Path, output: Path, **rules: str):
    return fuse_annotators(open_annotators(folder), output, CombinationRules(**rules), workers=0)


def mask_in(folder: Path, name: str):
    return read_grey(memoryview((folder / "masks" / f"{name}.png").read_bytes()), "a.png", None)


def test_masks_points_and_labels_are_those_of_the_majority(tmp_path):
    given = seven_graders(tmp_path / "in")
    fused = fuse(given.folder, tmp_path / "phase")
    seal(tmp_path / "phase", scan(tmp_path / "phase"))
    assert len(load_phase(tmp_path / "phase").rows) == len(given.cases)
    cells = {row.cells["name"]: row.cells for row in read_cases(tmp_path / "phase", ()).rows}
    for name, of_graders in given.said.items():
        said = list(of_graders.values())
        votes = sum(values["glaucoma_risk"] for values in said)
        assert cells[name]["glaucoma"] == str(int(votes >= 4))
        fovea = (float(cells[name]["fovea_x"]), float(cells[name]["fovea_y"]))
        expected = np.mean([(values["fovea"].x, values["fovea"].y) for values in said], axis=0)
        assert fovea == pytest.approx(tuple(expected))
        masks = np.stack([values["segmentation"] for values in said])
        disc, cup = (masks != 255).sum(axis=0) >= 4, (masks == 0).sum(axis=0) >= 4
        np.testing.assert_array_equal(
            mask_in(tmp_path / "phase", name), np.where(cup, 0, np.where(disc, 128, 255))
        )
    assert fused.annotators_of_cases["segmentation"] == {7: len(given.cases)}


def test_graders_are_scored_and_agree_as_their_own_values_say(tmp_path):
    given = seven_graders(tmp_path / "in")
    fused = fuse(given.folder, tmp_path / "phase")
    scores = {(s.annotator, f"{s.task}.{s.metric}"): s for s in fused.scores}
    discs = {}
    for annotator in SEVEN:
        overlaps = [
            count_overlap(
                of_graders[annotator]["segmentation"] != 255, mask_in(tmp_path / "phase", name) != 255
            )
            for name, of_graders in given.said.items()
        ]
        score = scores[annotator, "segmentation.dice_disc"]
        expected = np.mean([dice_of_counts(counts, both_empty=1.0) for counts in overlaps])
        assert (score.value, score.cases) == (pytest.approx(expected), len(given.cases))
        discs[annotator] = score.value
    assert min(discs, key=lambda annotator: discs[annotator]) == SEVEN[-1]  # the careless one
    found = {(a.field, a.measure): a for a in fused.agreement if (a.first, a.second) == SEVEN[:2]}
    pairs = [tuple(of_graders[name] for name in SEVEN[:2]) for of_graders in given.said.values()]
    distances = [np.hypot(a["fovea"].x - b["fovea"].x, a["fovea"].y - b["fovea"].y) for a, b in pairs]
    assert found["fovea", "mean distance in pixels"].value == pytest.approx(np.mean(distances))
    overlaps = [count_overlap(a["segmentation"] == 0, b["segmentation"] == 0) for a, b in pairs]
    expected = np.mean([dice_of_counts(counts, both_empty=1.0) for counts in overlaps])
    assert found["segmentation", "mean optic cup Dice"].value == pytest.approx(expected)
    assert found["glaucoma_risk", "Cohen's kappa"].cases == len(pairs)


def test_a_dropped_grader_does_not_count_for_that_image(tmp_path):
    given = seven_graders(tmp_path / "in", graders=("a", "b", "c"))
    write_csv(
        given.folder / "dropped.csv",
        ["reader", "name", "field", "reason"],
        [["c", "V0001", "", "blurred"], ["b", "V0001", "fovea", ""], ["b", "V0002", "segmentation", ""]],
    )
    (given.folder / "readers/c/segmentation/V0003.png").unlink()  # not every annotator has seen every case
    fused = fuse(given.folder, tmp_path / "phase")
    cells = {row.cells["name"]: row.cells for row in read_cases(tmp_path / "phase", ()).rows}
    alone = given.said["V0001"]["a"]["fovea"]
    assert (float(cells["V0001"]["fovea_x"]), float(cells["V0001"]["fovea_y"])) == (alone.x, alone.y)
    # Two graders are left for the mask: both must agree, a tie being background.
    both = [given.said["V0001"][annotator]["segmentation"] != 255 for annotator in "ab"]
    np.testing.assert_array_equal(mask_in(tmp_path / "phase", "V0001") != 255, both[0] & both[1])
    assert fused.annotators_of_cases["fovea"] == {1: 1, 3: len(given.cases) - 1}
    assert fused.annotators_of_cases["segmentation"] == {2: 3, 3: len(given.cases) - 3}
    assert fused.values_of_annotators["b"] == {
        "glaucoma_risk": len(given.cases),
        "segmentation": len(given.cases) - 1,
        "fovea": len(given.cases) - 1,
    }
    # What was dropped is not scored either.
    cases = {(s.annotator, s.metric): s.cases for s in fused.scores}
    assert cases["c", "dice_disc"] == len(given.cases) - 2
    assert cases["b", "dice_disc"] == len(given.cases) - 1
    assert cases["a", "dice_disc"] == len(given.cases)


def test_labels_of_the_case_table_are_kept(tmp_path):
    given = seven_graders(tmp_path / "in")
    header, *rows = (given.folder / "cases.csv").read_text().splitlines()
    lines = [f"{header},glaucoma", *(f"{row},1" for row in rows)]
    (given.folder / "cases.csv").write_text("\n".join(lines) + "\n")
    fused = fuse(given.folder, tmp_path / "phase")
    cells = [row.cells for row in read_cases(tmp_path / "phase", ()).rows]
    assert {row["glaucoma"] for row in cells} == {"1"}
    assert fused.kept == ("glaucoma_risk",)
    assert open_annotators(given.folder).ignored == {"glaucoma": list(SEVEN)}
    assert "glaucoma_risk" not in {agreement.field for agreement in fused.agreement}


@pytest.mark.parametrize(
    ("file", "content", "told"),
    [
        ("readers/g2/segmentation/V0003.png", "x", ("g2: segmentation/V0003.png",)),
        ("dropped.csv", "reader,name,field\nnobody,V9,mask\n", ("dropped.csv, line 2, reader", "'nobody'")),
        (
            "dropped.csv",
            "reader,name,field\n" + "".join(f"{grader},V0001,fovea\n" for grader in SEVEN),
            ("V0001, fovea",),
        ),
        ("phase.toml", "challenge = 'x'", ("phase.toml",)),
        (
            "readers/g1/classification_results.csv",
            "FileName,Glaucoma Risk\nV0001,0.5\n",
            ("g1: classification_results.csv, line 2", "0.5"),
        ),
    ],
)
def test_faults_name_the_annotator_and_leave_nothing(tmp_path, file, content, told):
    given = seven_graders(tmp_path / "in", cases=3)
    (given.folder / file).write_text(content)
    with faulted(PhaseError, *told):
        fuse(given.folder, tmp_path / "phase")
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_the_report_is_the_same_for_the_same_input(tmp_path):
    given = seven_graders(tmp_path / "in", cases=3)
    for name in ("one", "other"):
        write_reference_report(
            tmp_path / f"{name}-report", fuse(given.folder, tmp_path / name), CombinationRules()
        )
    files = sorted(path.name for path in (tmp_path / "one-report").iterdir())
    assert files == ["adjudication.csv", "agreement.csv", "annotators.csv", "report.json"]
    for name in files:
        one = (tmp_path / "one-report" / name).read_bytes()
        assert one == (tmp_path / "other-report" / name).read_bytes()
    content = json.loads((tmp_path / "one-report" / "report.json").read_text())
    assert set(content["annotators"]) == set(SEVEN)
    assert content["rules"] == {
        "tie": "background",
        "method": "majority",
        "boxes": "wbf",
        "box_iou": 0.55,
    }
