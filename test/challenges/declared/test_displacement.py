"""Displacement fields through declared phases, against SciPy, NumPy and the arithmetic of Learn2Reg."""

import gzip
import io
import zipfile

import nibabel
import numpy as np
import pytest
from scipy import ndimage

import evaluation
from evaluation.challenges.declared.displacement import DisplacementFieldTable, FoldedShare
from evaluation.challenges.declared.tables import FieldComparison
from evaluation.io.kinds.displacement import Displacement
from evaluation.metrics.displacement import jacobian_determinants
from test.challenges.declared import images
from test.challenges.declared.phases import write_table
from test.challenges.declared.scalars import rehearsed

TABLES = """\
[fields.flow]
kind = "displacement_field"
labels = { 1 = "lung", 2 = "heart", 3 = "rib" }
fixed_landmarks = "fixed.csv"
moving_landmarks = "moving.csv"

[tasks.registration.metrics]
target_registration_error = { worst = 50 }
dice = { absent = "exclude" }
hd95 = { metric = "hausdorff_distance", percentile = 95, distances = "voxels", absent = "exclude" }
log_jacobian_deviation = {}
folded_share = {}
robust = { metric = "dice", absent = "exclude", over_cases = { quantile = 0.3 } }
"""
pytestmark = pytest.mark.filterwarnings("ignore:Please import:DeprecationWarning")
SHAPE = (9, 10, 12)
RANDOM = np.random.default_rng(4)
NAMES = ["a", "b", "c"]


def _field(scale):
    """Return a field (x, y, z, 3) as participants store it."""
    noise = ndimage.gaussian_filter(RANDOM.normal(0, 1, (*SHAPE[::-1], 3)), (1, 1, 1, 0))
    return (scale * noise / noise.std()).astype(np.float32)


FIELDS = [_field(scale) for scale in (1.0, 1.5, 3.0)]
MAPS = {
    side: {
        name: ndimage.zoom(RANDOM.integers(0, 3, (3, 5, 6)), (3, 2, 2), order=0).astype(np.uint8)
        for name in NAMES
    }
    for side in ("fixed", "moving")
}
MAPS["fixed"]["a"][0, 0, :3] = 3  # which the moving image lacks
POINTS = {side: RANDOM.uniform(0, 8, (3, 5, 3)).round(2) for side in ("fixed", "moving")}


@pytest.fixture(scope="module")
def phase(tmp_path_factory):
    folder = tmp_path_factory.mktemp("registration")
    images.write_images(folder / "phase" / "flow_moving", MAPS["moving"])
    for side, points in POINTS.items():
        rows = dict(zip("xyz", points.reshape(-1, 3).T, strict=True))
        write_table(folder / "phase" / f"{side}.csv", {"case": np.repeat(NAMES, 5), **rows})
    return images.volume_phase(folder, TABLES, MAPS["fixed"], keys="value_digits = 9\n", name="flow_fixed")


def _write(folder, name, field, extension=".nii.gz"):
    folder.mkdir(parents=True, exist_ok=True)
    if extension == ".npz":
        np.savez_compressed(folder / f"{name}.npz", field)
    else:
        nibabel.save(nibabel.Nifti1Image(field, np.eye(4)), folder / f"{name}{extension}")


def test_files_of_each_format_are_read_in_confined_readers(phase, tmp_path):
    for name, field, extension in zip(NAMES, FIELDS, (".nii.gz", ".npz", ".nii"), strict=True):
        _write(tmp_path / "flow", name, field, extension)
    result = evaluation.evaluate(phase, tmp_path, workers=1).to_dict()["aggregates"]["registration"]
    assert result["target_registration_error"]["value"] < 50
    rehearsal = rehearsed(phase)
    assert (rehearsal.problems, rehearsal.without_perfect) == ((), tuple(rehearsal.figures))


@pytest.mark.parametrize(("scale", "share"), [(0.5, 0), (-0.5, 0), (-1, 1), (-1.5, 1)])
def test_a_field_that_leads_all_to_a_plane_folds_everywhere(scale, share):
    """u = s·x has the Jacobian determinant 1 + s: 0 where nothing of the width is left."""
    vectors = np.zeros((3, *SHAPE), np.float32)
    vectors[0] = scale * np.arange(SHAPE[2])
    assert jacobian_determinants(vectors) == pytest.approx(1 + scale)
    field = DisplacementFieldTable(kind="displacement_field")
    measure = FoldedShare(metric="folded_share").measure("figure", "flow", field)
    assert measure.row(FieldComparison("flow", Displacement(vectors, (1.0, 1.0, 1.0)), {}))["figure"] == share
    assert not measure.metrics[0].reached  # the organiser has no field that is best


def _with_entry(change):
    field = FIELDS[0].copy()
    change(field)
    return field


BROKEN = {
    "another shape": lambda: FIELDS[0][:, :, :-1],
    "two components": lambda: FIELDS[0][..., :2],
    "no number": lambda: _with_entry(lambda field: field.__setitem__((0, 0, 0, 0), np.nan)),
    "infinite": lambda: _with_entry(lambda field: field.__setitem__((0, 0, 0, 0), np.inf)),
}


@pytest.mark.parametrize("extension", [".nii.gz", ".npz"])
@pytest.mark.parametrize("change", BROKEN)
def test_a_field_that_is_none_is_a_fault_of_its_file(phase, tmp_path, change, extension):
    for name in NAMES[1:]:
        _write(tmp_path / "flow", name, FIELDS[0])
    _write(tmp_path / "flow", "a", BROKEN[change](), extension)
    faults = evaluation.check(phase, tmp_path, workers=0).faults
    assert [fault.file for fault in faults] == [f"flow/a{extension}"]


def test_an_archive_is_never_unpacked_beyond_its_array(phase, tmp_path):
    for name in NAMES[1:]:
        _write(tmp_path / "flow", name, FIELDS[0])
    whole = io.BytesIO()
    np.save(whole, FIELDS[0])
    members = {
        "two arrays": [whole.getvalue()] * 2,
        "more numbers": [whole.getvalue() + bytes(1 << 24)],
        "objects": [whole.getvalue().replace(b"'<f4'", b"'|O' ")],
        "no array": [b"x" * 100],
    }
    for content in members.values():
        with zipfile.ZipFile(tmp_path / "flow" / "a.npz", "w", zipfile.ZIP_DEFLATED) as archive:
            for number, member in enumerate(content):
                archive.writestr(f"arr_{number}.npy", member)
        (fault,) = evaluation.check(phase, tmp_path, workers=1).faults
        assert fault.file == "flow/a.npz"
    (tmp_path / "flow" / "a.npz").write_bytes(gzip.compress(b"x" * 400))
    (fault,) = evaluation.check(phase, tmp_path, workers=1).faults
    assert fault.file == "flow/a.npz"
