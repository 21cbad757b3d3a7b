"""Ellipses as annotations, against SciPy's rotation of an axis-parallel ellipse and by hand."""

import math
from pathlib import Path

import numpy as np
import pytest

from evaluation.core.fault import PhaseError
from evaluation.core.form import CaseForm
from evaluation.io.grey_images import read_grey
from evaluation.io.kinds.masks import LabelMask
from evaluation.io.tables import write_csv
from evaluation.organiser.annotators.annotations import (
    ellipses_as_masks,
    open_annotators,
    read_ellipses,
    value_of,
)
from evaluation.organiser.annotators.combine import CombinationRules
from evaluation.organiser.annotators.reference import fuse_annotators
from test.faults import faulted
from test.organiser.annotators.people import SevenGraders, seven_graders

HEADER = ("name", "region", "center_x", "center_y", "radius_x", "radius_y", "rotation")
KIND = LabelMask({0: "optic cup", 128: "optic disc"}, 255, nested="column_count")
REGIONS = KIND.regions.names
CASES = (CaseForm("V0001", 40, 30),)


def mask_of(ellipses, case):
    return KIND.writable(value_of(KIND.regions, ellipses, case), case)


def table(folder: Path, *rows: tuple[object, ...]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    write_csv(folder / "ellipses.csv", HEADER, [[str(cell) for cell in row] for row in rows])
    return folder / "ellipses.csv"


def inside(x: float, y: float, radius_x: float, radius_y: float, degrees: float) -> np.ndarray:
    """Whether the pixels of a 30 × 40 image lie in an ellipse, by its equation in complex numbers."""
    rows, columns = np.mgrid[:30, :40]
    turned = ((columns - x) + 1j * (rows - y)) * np.exp(-1j * math.radians(degrees))
    return (turned.real / radius_x) ** 2 + (turned.imag / radius_y) ** 2 <= 1


def test_disc_and_cup_are_tilted_ellipses(tmp_path):
    rows = [
        ("V0001.jpg", "optic disc", 20.3, 14.6, 12.1, 8.2, 30),
        ("v0001", "optic cup", 21.2, 13.3, 5, 3, ""),
    ]
    (ellipses,) = read_ellipses(table(tmp_path, *rows), REGIONS, CASES).values()
    mask = mask_of(ellipses, CASES[0])
    disc, cup = inside(20.3, 14.6, 12.1, 8.2, 30), inside(21.2, 13.3, 5, 3, 0)
    np.testing.assert_array_equal(mask, np.where(cup, 0, np.where(disc, 128, 255)))


def with_ellipses(tmp_path: Path, *graders: str) -> SevenGraders:
    """An organiser's folder in which one of three graders drew ellipses instead of masks."""
    given = seven_graders(tmp_path / "in", graders=("a", "b", "c"))
    for grader in graders:
        place = given.folder / "readers" / grader
        for mask in (place / "segmentation").iterdir():
            mask.unlink()
        (place / "segmentation").rmdir()
        rows = [
            (case.name, region, 36, 36, radius, radius + 2, 10)
            for case in given.cases
            for region, radius in (("optic disc", 14), ("optic cup", 6))
        ]
        table(place, *rows)
    return given


def test_they_vote_like_masks(tmp_path):
    given = with_ellipses(tmp_path, "a", "b", "c")
    with ellipses_as_masks(given.folder) as folder:
        fused = fuse_annotators(open_annotators(folder), tmp_path / "phase", CombinationRules(), workers=0)
    assert not folder.exists()
    (path, *_) = sorted((tmp_path / "phase" / "masks").iterdir())
    mask = read_grey(memoryview(path.read_bytes()), path.name, None)
    rows, columns = np.mgrid[:72, :72]
    turned = ((columns - 36) + 1j * (rows - 36)) * np.exp(-1j * math.radians(10))
    disc, cup = ((turned.real / r) ** 2 + (turned.imag / (r + 2)) ** 2 <= 1 for r in (14, 6))
    np.testing.assert_array_equal(mask, np.where(cup, 0, np.where(disc, 128, 255)))
    # All agree on the masks, so that only labels and points are listed.
    assert {one.field for one in fused.disagreement} == {"glaucoma_risk", "fovea"}


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (("V9", "optic disc", 1, 1, 1, 1, 0), ("name", "'V9'")),
        (("V0001", "macula", 1, 1, 1, 1, 0), ("region", "'macula'")),
        (("V0001", "optic disc", "", 1, 1, 1, 0), ("center_x", "nothing")),
        (("V0001", "optic disc", 1, 1, -2, 1, 0), ("radius_x", "'-2'")),
        (("V0001", "optic disc", 1, 1, 1, 1, "left"), ("rotation",)),
    ],
)
def test_faults_of_a_table(tmp_path, row, told):
    with faulted(PhaseError, "ellipses.csv, line 2", *told):
        read_ellipses(table(tmp_path, row), REGIONS, CASES)


def test_an_annotator_gives_masks_or_ellipses(tmp_path):
    given = seven_graders(tmp_path / "in", graders=("a", "b"))
    table(given.folder / "readers" / "a", ("V0001", "optic disc", 9, 9, 3, 3, 0))
    table(given.folder / "readers" / "b", ("V0001", "macula", 9, 9, 3, 3, 0))
    with pytest.raises(PhaseError) as error, ellipses_as_masks(given.folder):
        pass
    assert "a: expected ellipses.csv or segmentation/, found both" in error.value.problems
    assert any(problem.startswith("b: ellipses.csv, line 2, region") for problem in error.value.problems)
    row = ("V0001", "optic disc", 9, 9, 3, 3, 0)
    with faulted(PhaseError, "ellipses.csv, line 3, region", "V0001"):
        read_ellipses(table(tmp_path, row, row), REGIONS, CASES)
