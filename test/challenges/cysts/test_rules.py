import itertools
import math

import numpy as np
import pytest

from evaluation.challenges.cysts.rules import CHALLENGE, CystsOptions
from evaluation.core.challenge import fields_of, references_of
from evaluation.core.fault import PhaseError
from evaluation.evaluate import Rejection, evaluate
from evaluation.io.kinds.volume import Volume
from evaluation.io.volume_header import UPRIGHT, Geometry, geometry_columns
from evaluation.organiser.submission_writer import (
    ArchiveWriter,
    SampleCase,
    write_phase,
)
from evaluation.organiser.validate import validate_phase
from evaluation.phase.manifest import scan, seal
from evaluation.phase.phase import load_phase
from evaluation.phase.validation import read_table
from test.faults import faulted
from test.started import run

SHAPE = (3, 4, 5)
SPACING = (0.25, 0.5, 0.05)  # x, y, z: planes are nearer than 0.06 mm
GEOMETRY = Geometry(SHAPE, SPACING, (0.0, 0.0, 0.0), UPRIGHT)
DIAGONAL_MM = math.hypot(3 * 0.05, 4 * 0.5, 5 * 0.25)
VALUE = (0.0, 0.3, 0.4, 0.5, 0.6, 0.8)


def levels(*cysts):
    """A volume of levels; a cyst is (level, z, y, x) with slices or numbers."""
    array = np.zeros(SHAPE, dtype=np.uint8)
    for level, *place in cysts:
        array[tuple(place)] = level
    return array


def confidence(of):
    return np.array(VALUE, dtype=np.float32)[of]


def phase_of(
    folder,
    references,
    *,
    options="",
    geometry=GEOMETRY,
    keys="",
    annotators=None,
):
    """Write, seal and load a phase; references are volumes of levels by case name."""
    names = tuple(dict.fromkeys(name for of_case in (annotators or {}).values() for name in of_case))
    fields = references_of(CHALLENGE.tasks(CystsOptions(readers=names)))

    def values(case):
        of_readers = (annotators or {}).get(case, {}).items()
        level = references[case]
        found = {
            "level": level,
            "cysts": confidence(level),
            **{f"reader_{name}": of for name, of in of_readers},
        }
        return {name: Volume(of, geometry) for name, of in found.items()}

    listed = f"readers = {list(names)}\n" if names else ""
    write_phase(
        folder,
        f'challenge = "cysts"\nname = "tiny"\ntitle = "Tiny"\nsubmission = "archive"\n'
        f"resamples = 0\n{keys}\n[options]\n{listed}{options}\n",
        fields,
        [SampleCase(name, geometry_columns(geometry), values(name)) for name in references],
    )
    seal(folder, scan(folder))
    return load_phase(folder)


def submission_of(folder, volumes, extension=".mha", geometry=GEOMETRY):
    writer = ArchiveWriter(folder, fields_of(CHALLENGE.tasks(CystsOptions())), {"cysts": extension})
    folder.mkdir(parents=True)
    for name, values in volumes.items():
        writer.add(name, {"cysts": Volume(values, geometry)})
    return folder


def row_of(tmp_path, reference, prediction, **arguments):
    phase = phase_of(tmp_path / "phase", {"V1": reference}, **arguments)
    volumes = {} if prediction is None else {"V1": prediction}
    geometry = arguments.get("geometry", GEOMETRY)
    result = evaluate(phase, submission_of(tmp_path / "submission", volumes, geometry=geometry), workers=0)
    assert not isinstance(result, Rejection), result
    return dict(result.outcomes[0].rows["cysts"])


# Two cysts: one of 2 voxels of level 4 and 2 of level 2 beside it, over two planes; one voxel of level 1.
REFERENCE = levels((4, 0, 1, [1, 2]), (2, 1, 2, [1, 2]), (1, 2, 3, 4))


def test_every_figure_by_hand(tmp_path):
    # Marked: one voxel of level 4, one of level 2, and three elsewhere, of which two touch each other.
    prediction = np.zeros(SHAPE, dtype=np.float32)
    prediction[0, 1, 1], prediction[1, 2, 2] = 0.5, 1.0
    prediction[2, 0, 0], prediction[2, 0, 1], prediction[0, 3, 4] = 0.25, 0.25, 0.25
    row = row_of(tmp_path, REFERENCE, prediction)
    product, predicted, true = 0.5 * 0.6 + 1 * 0.4, 0.25 + 1 + 3 * 0.0625, 2 * 0.36 + 2 * 0.16 + 0.09
    expected = {
        "weighted_dice": 2 * product / (predicted + true),
        "product": product,
        "prediction_squared": predicted,
        "reference_squared": true,
        # Masks by falling confidence: 2·1.2/(2 + 1.13), 2·2/(4 + 1.13), 2·2.3/(5 + 1.13): the second.
        "highest_binary_weighted_dice": 4 / 5.13,
        "dice": 4 / 10,
        "precision": 2 / 5,
        "recall": 2 / 5,
        "recall_level_1": 0.0,
        "recall_level_2": 0.5,
        "recall_level_3": math.nan,
        "recall_level_4": 0.5,
        "recall_level_5": math.nan,
        "detection_ratio": 0.5,
        "detection_ratio_level_1": 0.0,
        "detection_ratio_level_2": math.nan,  # its voxels belong to the cyst of level 4
        "detection_ratio_level_3": math.nan,
        "detection_ratio_level_4": 1.0,
        "detection_ratio_level_5": math.nan,
        "false_components": 2.0,
        "volume_error_mm3": 0.0,
    }
    distances = {"hausdorff_95_mm", "mean_surface_distance_mm"}
    arrays = {name: row.pop(name).tolist() for name in ("reference_confidences", "reference_voxels")}
    by_confidence = dict(zip(*arrays.values(), strict=True))
    assert by_confidence == {
        float(np.float32(value)): voxels for value, voxels in ((0.3, 1), (0.4, 2), (0.6, 2))
    }
    assert set(row) == {*expected, *distances}
    for name, value in expected.items():
        assert row[name] == pytest.approx(value, rel=1e-6, nan_ok=True), name


@pytest.mark.parametrize(
    ("reference", "prediction", "expected"),
    [
        (
            levels(),
            levels(),
            {"weighted_dice": 1, "dice": 1, "precision": 1, "recall": 1, "false_components": 0},
        ),
        (levels(), levels((1, 0, 0, 0)), {"weighted_dice": 0, "dice": 0, "precision": 0, "recall": 0}),
        (levels((3, 0, 0, 0)), levels(), {"weighted_dice": 0, "dice": 0, "precision": 0, "recall": 0}),
        (levels((3, 0, 0, 0)), levels(), {"detection_ratio": 0, "hausdorff_95_mm": DIAGONAL_MM}),
        (levels(), levels((1, 0, 0, 0)), {"detection_ratio": math.nan, "hausdorff_95_mm": math.nan}),
        (levels(), levels(), {"highest_binary_weighted_dice": 1, "mean_surface_distance_mm": math.nan}),
    ],
)
def test_empty_volumes(tmp_path, reference, prediction, expected):
    row = row_of(tmp_path, reference, prediction)
    assert {name: row[name] for name in expected} == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(("apart", "components"), [(0.05, 2 * 2 * 3), (0.06, 3 * 2 * 3)])
def test_the_worst_values_are_those_of_the_most_that_fits(tmp_path, apart, components):
    """As many voxels as touch each other in no direction: in planes that are near, in every second one."""
    geometry = Geometry(SHAPE, (0.25, 0.5, apart), (0, 0, 0), UPRIGHT)
    isolated = levels(
        (1, slice(None, None, 2 if apart < 0.06 else 1), slice(None, None, 2), slice(None, None, 2))
    )
    row = row_of(tmp_path / "found", levels(), isolated, geometry=geometry)
    assert row["false_components"] == components
    row = row_of(tmp_path / "missing", REFERENCE, None, geometry=geometry, keys='missing = "worst"')
    assert row["false_components"] == components
    assert row["volume_error_mm3"] == pytest.approx(60 * 0.25 * 0.5 * apart)
    assert row["hausdorff_95_mm"] == row["mean_surface_distance_mm"] == math.hypot(3 * apart, 2, 1.25)
    assert (row["weighted_dice"], row["detection_ratio"], row["prediction_squared"]) == (0, 0, 60)
    assert math.isnan(row["recall_level_3"])
    row = row_of(tmp_path / "empty", levels(), None, geometry=geometry, keys='missing = "worst"')
    assert math.isnan(row["hausdorff_95_mm"])
    assert (row["dice"], row["highest_binary_weighted_dice"]) == (0, 1)


def test_annotators_and_their_intersection(tmp_path):
    first, second = levels((3, 0, 0, [0, 1, 2])), levels((1, 0, 0, [1, 2]), (5, 1, 1, 1))
    prediction = levels((1, 0, 0, [1, 3]))
    annotators = {"V1": {"first": first, "second": second}}
    row = row_of(tmp_path, levels((2, 0, 0, [0, 1, 2])), prediction, annotators=annotators)
    # In common with the marked two: 1 of 3, 1 of 3, and 1 of the 2 that both marked.
    assert [row[f"dice_{name}"] for name in ("first", "second", "intersection")] == [2 / 5, 2 / 5, 2 / 4]
    assert [row[f"recall_{name}"] for name in ("first", "second", "intersection")] == pytest.approx(
        [1 / 3, 1 / 3, 1 / 2]
    )
    assert row["precision_intersection"] == 0.5


@pytest.mark.parametrize("prediction", [levels(), REFERENCE, 1 - (REFERENCE > 0), np.ones(SHAPE)])
def test_the_reference_alone_says_which_columns_are_undefined(tmp_path, prediction):
    """Of all sets of levels, with both annotators, one or none."""
    sets = [set(of) for size in range(6) for of in itertools.combinations(range(1, 6), size)]
    references = {
        "".join(map(str, sorted(of))) or "none": levels(
            *((level, level % 3, level % 4, level - 1) for level in of)
        )
        for of in sets
    }
    annotators = {
        name: dict.fromkeys(("first", "second")[: number % 3], reference)
        for number, (name, reference) in enumerate(references.items())
    }
    phase = phase_of(tmp_path / "phase", references, keys='missing = "worst"', annotators=annotators)
    undefined = []
    for part, volume in {"scored": (prediction > 0).astype(np.uint8), "missing": None}.items():
        volumes = {} if volume is None else dict.fromkeys(references, volume)
        result = evaluate(phase, submission_of(tmp_path / part, volumes), workers=0)
        rows = (outcome.rows["cysts"] for outcome in result.outcomes)
        undefined.append([{name for name in row if np.isnan(row[name]).any()} for row in rows])
    assert undefined[0] == undefined[1]
    assert {"recall_level_5", "hausdorff_95_mm", "dice_second"} <= set().union(*undefined[0])


def test_a_volume_need_not_have_all_annotators(tmp_path):
    names = {"V1": {"first": REFERENCE}, "V2": {"second": levels()}, "V3": {}}
    phase = phase_of(tmp_path / "phase", dict.fromkeys(names, REFERENCE), annotators=names)
    marked = dict.fromkeys(names, (REFERENCE > 0).astype(np.uint8))
    result = evaluate(phase, submission_of(tmp_path / "sub", marked), workers=0)
    one, two, three = (outcome.rows["cysts"] for outcome in result.outcomes)
    assert (one["dice_first"], one["dice_intersection"], two["dice_second"]) == (1, 1, 0)
    assert math.isnan(one["dice_second"])
    assert math.isnan(two["dice_first"])
    assert math.isnan(three["dice_intersection"])
    assert three["dice"] == 1


def test_a_voxel_is_marked_from_a_hundredth_on(tmp_path):
    prediction = np.zeros(SHAPE, dtype=np.float32)
    prediction[0, 1, 1], prediction[0, 1, 2] = 0.01, 0.009
    assert row_of(tmp_path, REFERENCE, prediction)["recall"] == 1 / 5


def test_another_threshold_is_an_option(tmp_path):
    prediction = np.full(SHAPE, 0.3, dtype=np.float32)
    row = row_of(tmp_path, REFERENCE, prediction, options="marked_from = 0.5\nsurface_distances = false")
    assert row["recall"] == 0
    assert "hausdorff_95_mm" not in row


def sealed_with(tmp_path, **changed):
    phase_of(tmp_path / "phase", {"V1": REFERENCE})
    field = {field.name: field for field in references_of(CHALLENGE.tasks(CystsOptions()))}
    for name, array in changed.items():
        reference = field[name].reference
        path = tmp_path / "phase" / reference.location.path("V1")
        path.write_bytes(reference.kind.write_file(Volume(array, GEOMETRY), ".mha"))
    return validate_phase(tmp_path / "phase", scan(tmp_path / "phase"), workers=0)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"level": REFERENCE + np.uint8(3)}, ("level/V1.mha", "7 in B-scan 1")),
        ({"cysts": confidence(REFERENCE) * 2}, ("confidence/V1.mha", "1.2 in B-scan 1")),
        ({"level": levels((4, 0, 1, [1, 2]))}, ("confidence/V1.mha, B-scan 2", "a confidence above 0")),
        ({"cysts": np.zeros((3, 4, 6), np.float32)}, ("confidence/V1.mha", "3 B-scans of 6 × 4 pixels")),
    ],
)
def test_faults_of_a_reference_are_found_when_it_is_sealed(tmp_path, changed, problem):
    with faulted(PhaseError, *problem):
        sealed_with(tmp_path, **changed)


@pytest.mark.parametrize(
    "options",
    [
        {"marked_from": 0},
        {"marked_from": 1.5},
        {"readers": ["A"]},
        {"readers": ["a", "a"]},
        {"other": 1},
        {"published_levels": [0.5, 0.6]},
        {"published_levels": [0.5, 0.6, 0.4, 0.7, 0.8]},
        {"published_levels": [0, 0.6, 0.6, 0.7, 0.8]},
    ],
)
def test_options_that_make_no_sense(options):
    with pytest.raises(ValueError, match="validation error"):
        read_table(CystsOptions, options)


@pytest.mark.parametrize(
    ("options", "told"), [("", False), ("published_levels = [0.52, 0.575, 0.575, 0.6, 0.76]", True)]
)
def test_participants_learn_the_values_of_the_levels_if_the_organiser_says_so(tmp_path, options, told):
    phase_of(tmp_path / "phase", {"V1": REFERENCE}, options=options)
    words = run("form", tmp_path / "phase", "--words").stdout
    assert "each voxel a confidence" in words
    assert ("1: 0.52, 2: 0.575, 3: 0.575, 4: 0.6, 5: 0.76" in words) == told
    assert run("form", tmp_path / "phase", "--output", tmp_path / "form.json").returncode == 0
    assert ("0.575" in (tmp_path / "form.json").read_text()) == told
