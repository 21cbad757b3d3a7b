"""The description of phases: their columns, groups and rows."""

import csv
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

from evaluation.core.fault import PhaseError
from evaluation.organiser.describe import describe, feature_distances, read_features
from evaluation.phase.named import named_phase
from test.faults import faulted
from test.phases import loaded_phase, refuge_phase, tiny_cases
from test.repository import REPOSITORY

AGES = [30, 41, 42, 43, 44, 45, 46, 47, 48, 49, 70, 81]
BINS = '[[subgroups]]\ncolumn = "age"\nbins = [40, 60]\n'


@pytest.fixture
def phase(tmp_path):
    columns = {"age": AGES, "camera": ["A"] * 6 + ["B"] * 6, "code": [f"0{number}" for number in range(12)]}
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


# --- Distances to a training set in given features ---


def features_file(folder: Path, text: str) -> Path:
    path = folder / "features.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_distances_of_a_test_set_to_the_training_set_by_hand(tmp_path):
    """One feature: training cases at 0, 1, 3, a copy of the last and a case at 10 beside them.

    In units of the training cases: their distances to each other are 1, 1, 2, whose 95 % quantile is 1.9;
    those of the test cases are 0 and 7. D is 1/2, at 0.
    """
    path = features_file(tmp_path, "name,set,size\na,train,0\nb,train,1\nc,train,3\nd,test,3\ne,test,10\n")
    found = read_features(path)
    unit = np.std([0, 1, 3])
    assert [one.distance * unit for one in found.cases] == pytest.approx([1, 1, 2, 0, 7])
    assert [one.nearest for one in found.cases] == ["b", "a", "b", "c", "c"]
    own, test = found.sets
    assert (own.beyond, own.overlap, own.copies) == (1 / 3, 1, 0)
    assert (test.set, test.cases, test.median * unit) == ("test", 2, pytest.approx(3.5))
    assert (test.beyond, test.overlap, test.copies, test.shared) == (0.5, 0.5, 1, None)
    assert (found.explained, [one.y for one in found.cases]) == ((1, 0), [0] * 5)


def test_training_cases_of_one_cluster_are_not_compared_and_shared_clusters_are_counted(tmp_path):
    """The eyes a and b of a person are at 0 and 1, that of another one at 3; d is of the first person."""
    rows = "a,train,1,0\nb,train,1,1\nc,train,,3\nd,test,1,0.4\ne,test,,9\n"
    found = read_features(features_file(tmp_path, f"name,set,cluster,size\n{rows}"))
    assert [one.nearest for one in found.cases] == ["c", "c", "b", "a", "c"]
    assert [one.shared for one in found.sets] == [3, 1]


@pytest.mark.parametrize("at_once", [1, 1 << 23])
def test_distances_and_map_against_scikit_learn(at_once):
    rng = np.random.default_rng(5)
    features = np.column_stack([rng.normal(size=(60, 4)) * [1, 20, 3, 0.1], np.full(60, 7.0)])
    sets, names = ["train"] * 35 + ["test"] * 25, [str(number) for number in range(60)]
    found = feature_distances(features, sets, names, [""] * 60, at_once)
    scaler = StandardScaler().fit(features[:35])
    scaled = scaler.transform(features)
    neighbours = NearestNeighbors(n_neighbors=2).fit(scaled[:35])
    distances, nearest = neighbours.kneighbors(scaled)
    # The first neighbour of a training case is itself.
    expected = np.concatenate([distances[:35, 1], distances[35:, 0]])
    assert [one.distance for one in found.cases] == pytest.approx(expected.tolist())
    assert [int(one.nearest) for one in found.cases] == [*nearest[:35, 1], *nearest[35:, 0]]
    components = PCA(n_components=2).fit(scaled[:35])
    assert found.explained == pytest.approx(tuple(components.explained_variance_ratio_))
    places = np.array([(one.x, one.y) for one in found.cases])
    assert np.abs(places) == pytest.approx(np.abs(components.transform(scaled)))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("name,set\na,x\nb,x\n", ("features.csv",)),
        ("name,set,f\na,x,1\nb,x,\n", ("features.csv, line 3, f", "an empty cell")),
        ("name,set,f\na,x,one\nb,x,2\n", ("features.csv, line 2, f", '"one"')),
        ("name,set,f\na,x,1\nb,y,2\n", ("features.csv",)),
        ("name,set,f\n", ("features.csv", "none")),
    ],
)
def test_faults_of_a_table_of_features(tmp_path, text, fault):
    with faulted(PhaseError, *fault):
        read_features(features_file(tmp_path, text))
