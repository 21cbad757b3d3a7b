"""A phase from several graders: the result by hand, agreement, scores, dropped graders, faults."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from evaluation.core.fault import PhaseError
from evaluation.io.tables import write_csv
from evaluation.io.volumes import read_numbers
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
    return read_numbers(memoryview((folder / "masks" / f"{name}.png").read_bytes()), "a.png", None)


def cells_in(folder: Path) -> dict[str, dict[str, str]]:
    return {row.cells["name"]: row.cells for row in read_cases(folder, ()).rows}


def test_masks_points_and_labels_are_those_of_the_majority(tmp_path):
    given = seven_graders(tmp_path / "in")
    fused = fuse(given.folder, tmp_path / "phase")
    seal(tmp_path / "phase", scan(tmp_path / "phase"))
    assert len(load_phase(tmp_path / "phase").rows) == len(given.cases)
    cells = cells_in(tmp_path / "phase")
    for name, of_graders in given.said.items():
        said = list(of_graders.values())
        votes = sum(values["glaucoma_risk"] for values in said)
        assert cells[name]["glaucoma"] == str(int(votes >= 4))
        fovea = [float(cells[name][axis]) for axis in ("fovea_x", "fovea_y")]
        assert fovea == pytest.approx(np.mean([one["fovea"].positions[0] for one in said], axis=0))
        masks = np.stack([values["segmentation"] for values in said])
        disc, cup = (masks != 255).sum(axis=0) >= 4, (masks == 0).sum(axis=0) >= 4
        found = mask_in(tmp_path / "phase", name)
        np.testing.assert_array_equal(found, np.where(cup, 0, np.where(disc, 128, 255)))
    assert fused.annotators_of_cases["segmentation"] == {7: len(given.cases)}


def test_graders_are_scored_and_agree_as_their_own_values_say(tmp_path):
    given = seven_graders(tmp_path / "in")
    fused = fuse(given.folder, tmp_path / "phase")
    reference = {name: mask_in(tmp_path / "phase", name) != 255 for name in given.said}
    discs = {s.annotator: s for s in fused.scores if s.metric == "dice_disc"}
    assert set(discs) == set(SEVEN)
    for annotator, score in discs.items():
        overlaps = [
            dice_of(of_graders[annotator]["segmentation"] != 255, reference[name])
            for name, of_graders in given.said.items()
        ]
        assert (score.value, score.cases) == (pytest.approx(np.mean(overlaps)), len(given.cases))
    found = {(a.field, a.measure): a for a in fused.agreement if (a.first, a.second) == SEVEN[:2]}
    pairs = [tuple(of_graders[name] for name in SEVEN[:2]) for of_graders in given.said.values()]
    distances = [np.hypot(*(a["fovea"].positions - b["fovea"].positions)[0]) for a, b in pairs]
    assert found["fovea", "mean distance in pixels"].value == pytest.approx(np.mean(distances))
    cups = np.mean([dice_of(a["segmentation"] == 0, b["segmentation"] == 0) for a, b in pairs])
    assert found["segmentation", "mean optic cup Dice"].value == pytest.approx(cups)
    assert found["glaucoma_risk", "Cohen's kappa"].cases == len(pairs)


def dice_of(one, other):
    return 2 * (one & other).sum() / (one.sum() + other.sum())


def test_what_is_dropped_does_not_count_for_that_image(tmp_path):
    given = seven_graders(tmp_path / "in", graders=("a", "b", "c"))
    write_csv(
        given.folder / "dropped.csv",
        ["reader", "name", "field", "reason"],
        [
            ["c", "V0001", "", "blurred"],
            ["b", "V0001", "fovea", ""],
            ["b", "V0002", "segmentation", ""],
        ],
    )
    (given.folder / "readers/c/segmentation/V0003.png").unlink()  # not every annotator has seen every case
    fused, cases = fuse(given.folder, tmp_path / "phase"), len(given.cases)
    cells, alone = cells_in(tmp_path / "phase")["V0001"], given.said["V0001"]["a"]["fovea"]
    assert (float(cells["fovea_x"]), float(cells["fovea_y"])) == tuple(alone.positions[0])
    # Two graders are left for the mask: both must agree, a tie being background.
    first, second = (given.said["V0001"][annotator]["segmentation"] != 255 for annotator in "ab")
    np.testing.assert_array_equal(mask_in(tmp_path / "phase", "V0001") != 255, first & second)
    assert fused.annotators_of_cases["fovea"] == {1: 1, 3: cases - 1}
    assert fused.annotators_of_cases["segmentation"] == {2: 3, 3: cases - 3}
    values = {"glaucoma_risk": cases, "segmentation": cases - 1, "fovea": cases - 1}
    assert fused.values_of_annotators["b"] == values
    assert fused.dropped == 3 + 1 + 1
    # What was dropped is not scored either.
    scored = {s.annotator: s.cases for s in fused.scores if s.metric == "dice_disc"}
    assert scored == {"a": cases, "b": cases - 1, "c": cases - 2}
    agreement = {a.measure: a.cases for a in fused.agreement if (a.first, a.second) == ("a", "c")}
    assert agreement["mean optic disc Dice"] == agreement["mean optic cup Dice"] == cases - 2


def test_labels_of_the_case_table_are_kept(tmp_path):
    given = seven_graders(tmp_path / "in")
    header, *rows = (given.folder / "cases.csv").read_text().splitlines()
    lines = [f"{header},glaucoma", *(f"{row},1" for row in rows)]
    (given.folder / "cases.csv").write_text("\n".join(lines) + "\n")
    fused = fuse(given.folder, tmp_path / "phase")
    assert {cells["glaucoma"] for cells in cells_in(tmp_path / "phase").values()} == {"1"}
    assert fused.kept == ("glaucoma_risk",)
    assert open_annotators(given.folder).ignored == {"glaucoma": list(SEVEN)}
    assert "glaucoma_risk" not in {agreement.field for agreement in fused.agreement}


FOVEAS = "".join(f"{one},V0001,fovea\n" for one in SEVEN)


@pytest.mark.parametrize(
    ("file", "content", "told"),
    [
        ("readers/g2/segmentation/V0003.png", "x", ("g2: segmentation/V0003.png",)),
        ("dropped.csv", "reader,name,field\nnobody,V9,mask\n", ("dropped.csv, line 2, reader", "'nobody'")),
        ("dropped.csv", f"reader,name,field\n{FOVEAS}", ("V0001, fovea", "none")),
        (
            "dropped.csv",
            "reader,name,field,region\ng1,V0001,segmentation,optic cup\n",
            ("dropped.csv", "'optic cup'"),
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
    reports = []
    for name in ("one", "other"):
        folder = tmp_path / f"{name}-report"
        write_reference_report(folder, fuse(given.folder, tmp_path / name), CombinationRules())
        reports.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert reports[0] == reports[1]
    assert sorted(reports[0]) == ["adjudication.csv", "agreement.csv", "annotators.csv", "report.json"]
    content = json.loads(reports[0]["report.json"])
    assert set(content["annotators"]) == set(SEVEN)
    rules = {"tie": "background", "boxes": "wbf", "box_iou": 0.55}
    assert content["rules"] == rules
    rows = list(csv.DictReader(io.StringIO(reports[0]["adjudication.csv"].decode())))
    labels = {name: {one["glaucoma_risk"] for one in said.values()} for name, said in given.said.items()}
    disputed = {row["case"] for row in rows if row["field"] == "glaucoma_risk"}
    assert disputed == {name for name, of_case in labels.items() if len(of_case) == 2}
    discs = [float(row["mean"]) for row in rows if row["measure"] == "1 − optic disc Dice"]
    assert len(discs) == len(given.cases)
    assert discs == sorted(discs, reverse=True)
