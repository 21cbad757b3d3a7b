"""The description of phases: their columns, groups and rows."""

import csv

import numpy as np
import pytest
from scipy import stats

from evaluation.core.fault import PhaseError
from evaluation.organiser.describe import describe
from evaluation.phase.named import named_phase
from test.faults import faulted
from test.phases import loaded_phase, refuge_phase, tiny_cases
from test.repository import REPOSITORY

AGES = [30, 41, 42, 43, 44, 45, 46, 47, 48, 49, 70, 81]
BINS = '[[subgroups]]\ncolumn = "age"\nbins = [40, 60]\n'


@pytest.fixture
def phase(tmp_path):
    columns = {"age": AGES, "camera": ["A"] * 6 + ["B"] * 6, "code": [f"{number:02}" for number in range(12)]}
    return loaded_phase(tmp_path / "phase", tiny_cases(12, positives=3), columns=columns, tables=BINS)


def rows(description, quantity, grouping=""):
    return {
        row.group: row
        for row in description.numbers
        if (row.quantity.name, row.grouping) == (quantity, grouping)
    }


def classes(description, column, grouping=""):
    return {
        (row.group, row.value): (row.cases, row.of)
        for row in description.classes
        if (row.quantity.name, row.grouping) == (column, grouping)
    }


def test_distribution_of_a_column(phase):
    """The ages by hand: sum 586; quartiles between the third and fourth and the ninth and tenth of twelve."""
    row = rows(describe([phase]), "age")[""]
    assert (row.cases, row.of, row.values, row.total, row.minimum, row.maximum) == (12, 12, 12, 586, 30, 81)
    assert row.mean == pytest.approx(586 / 12)
    assert (row.lower_quartile, row.median, row.upper_quartile) == (42.75, 45.5, 48.25)
    squares = sum((age - 586 / 12) ** 2 for age in AGES)
    assert row.standard_deviation == pytest.approx((squares / 11) ** 0.5)


def test_vectors_are_described_by_axis(tmp_path):
    """Twelve spacings that differ, in x alone; few vectors, and texts beside numbers, stay classes."""
    spacings = [f"0.{number} 0.5 3" for number in range(10, 22)]
    columns = {"spacing_mm": spacings, "origin_mm": ["0 0 0"] * 12, "note": ["a 1"] * 12}
    description = describe([loaded_phase(tmp_path / "phase", tiny_cases(12), columns=columns)])
    row = rows(description, "spacing_mm, x")[""]
    assert (row.cases, row.minimum, row.median, row.maximum) == (12, 0.1, pytest.approx(0.155), 0.21)
    assert classes(description, "spacing_mm, z") == {("", "3"): (12, 12)}
    assert classes(description, "origin_mm") == {("", "0 0 0"): (12, 12)}
    assert not classes(description, "spacing_mm")


def test_groups_are_the_subgroups_and_the_classes_of_the_reference(phase):
    description = describe([phase])
    assert [(one.name, one.groups) for one in description.groupings] == [
        ("age", ("below 40", "40 to 60", "60 and above")),
        ("glaucoma", ("0", "1")),
    ]
    assert [(row.group, row.cases, row.share) for row in description.groups if row.grouping == "age"] == [
        ("below 40", 1, pytest.approx(1 / 12)),
        ("40 to 60", 9, 0.75),
        ("60 and above", 2, pytest.approx(1 / 6)),
    ]
    assert classes(description, "glaucoma") == {("", "0"): (9, 12), ("", "1"): (3, 12)}
    # The first three are glaucomatous, the first six taken with camera A.
    assert classes(description, "camera", "glaucoma") == {
        ("0", "A"): (3, 9),
        ("0", "B"): (6, 9),
        ("1", "A"): (3, 3),
        ("1", "B"): (0, 3),
    }
    assert rows(description, "age", "glaucoma")["1"].median == 41
    assert classes(description, "glaucoma", "glaucoma") == {}
    # Digits that start with a zero are a code.
    assert rows(description, "code") == {}
    assert len(classes(description, "code")) == 12


def test_a_column_of_the_case_table_on_request(phase):
    description = describe([phase], by=["camera"], against="B", alpha=0.01)
    (camera,) = (one for one in description.groupings if one.name == "camera")
    assert camera.of_case == ("A",) * 6 + ("B",) * 6
    (test,) = (row for row in description.tests if (row.quantity.name, row.grouping) == ("age", "camera"))
    # All of B are older than all of A: 2 of the C(12, 6) = 924 orders; 0.0022 < 0.01.
    assert (test.test.first, test.test.second, test.significant) == ("B", "A", True)
    assert test.test.p_value == pytest.approx(2 / 924)


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"by": ["scanner"]}, "--by scanner: is not a column of cases.csv"),
        ({"by": ["fovea_x"]}, "--by fovea_x: expected at most 10 different values, found 12; bins"),
        ({"by": ["code"]}, "--by code: expected at most 10 different values, found 12"),
        ({"against": "C"}, "--against C: is no group; the groups are below 40, 40 to 60"),
    ],
)
def test_groups_that_cannot_be(tmp_path, arguments, found):
    columns = {"code": [f"0{number}" for number in range(12)], "fovea_x": range(1, 13), "age": AGES}
    phase = loaded_phase(tmp_path / "phase", 12, columns=columns, tables=BINS)
    with pytest.raises(PhaseError) as error:
        describe([phase], **arguments)
    assert str(error.value).startswith(found)


def test_a_position_that_means_absent_is_no_number():
    """(0, 0) is an invisible fovea of ADAM: in no mean and in no test by camera, and counted by itself."""
    with (REPOSITORY / "ground-truth" / "adam-onsite" / "cases.csv").open() as file:
        seen = [one for one in csv.DictReader(file) if float(one["fovea_x"]) or float(one["fovea_y"])]
    assert len(seen) == 44
    found = describe([named_phase("adam-onsite")])
    for column in ("fovea_x", "fovea_y"):
        row = rows(found, column)[""]
        assert (row.cases, row.mean) == (
            len(seen),
            pytest.approx(np.mean([float(one[column]) for one in seen])),
        )
        cameras = sorted({one["camera"] for one in seen})
        of_cameras = ([float(one[column]) for one in seen if one["camera"] == name] for name in cameras)
        (test,) = [one for one in found.tests if (one.quantity.name, one.grouping) == (column, "camera")]
        assert test.test.p_value == pytest.approx(stats.mannwhitneyu(*of_cameras).pvalue)
    assert classes(found, "fovea") == {("", "present"): (len(seen), 45), ("", "absent"): (1, 45)}


def test_several_phases_are_compared(tmp_path):
    first = loaded_phase(tmp_path / "a", 4, keys={"name": "train"}, columns={"fovea_x": [1, 2, 3, 4]})
    second = loaded_phase(tmp_path / "b", 6, keys={"name": "test"}, columns={"fovea_x": range(5, 11)})
    description = describe([first, second])
    assert description.phases == ("train", "test")
    assert [(row.group, row.cases) for row in description.groups] == [
        ("", 10),
        ("train", 4),
        ("test", 6),
        ("0", 5),
        ("1", 5),
    ]
    assert classes(description, "fovea_x", "phase")["train", "3"] == (1, 4)
    with faulted(PhaseError, "train"):
        describe([first, first])
    with faulted(PhaseError, "adam, refuge"):
        describe([first, named_phase("adam-onsite")])


def test_faults_of_several_phases_name_their_phase(tmp_path):
    """The faults of one phase are tested with `validate`, which reads it alike."""
    for name in ("train", "test"):
        folder = refuge_phase(tmp_path / name, 4, sealed=False, keys={"name": name})
        (folder / "masks" / "V0003.png").write_bytes(b"no image")
    with pytest.raises(PhaseError) as caught:
        describe([named_phase(tmp_path / name) for name in ("train", "test")])
    assert list(caught.value.problems) == [
        f"{name}: masks/V0003.png: expected a PNG image, found other content" for name in ("train", "test")
    ]


def test_clusters_are_counted_and_names_are_not_listed(tmp_path):
    columns = {"cluster": ["p1", "p1", "p2", *[""] * 28], "scan": [f"s{number}" for number in range(31)]}
    description = describe([loaded_phase(tmp_path / "phase", 31, columns=columns)])
    assert (description.groups[0].cases, description.groups[0].clusters) == (31, 30)
    assert description.notices == (
        "scan: 31 different texts, which are not listed",
        "the tests treat the 31 cases as independent, though they come from 30 clusters",
    )
    assert not any(row.quantity.name in ("cluster", "scan") for row in description.classes)


def test_fields_of_different_cases_share_their_quantities():
    """EDD2020 keeps the boxes of its two sets in two fields: the sets are compared."""
    phase = named_phase("edd2020")
    description = describe([phase])
    found = rows(description, "number of boxes of any class", "set")
    sets = dict(zip(description.cases, description.groupings[0].of_case, strict=True))
    for group, folder in (("in-sample", "detection_bbox"), ("out-of-sample", "generalization_bbox")):
        files = {path.stem: path for path in (phase.folder / folder).iterdir()}
        assert {name for name in files if sets[name] == group} == set(files)
        counts = [len(path.read_text().splitlines()) for path in files.values()]
        assert (found[group].total, found[group].of) == (sum(counts), len(files))
        assert found[group].cases == np.count_nonzero(counts)
