"""Hostile label maps, probability maps and detection maps: a clear message or a correct score."""

from pathlib import Path

import numpy as np
import pytest

from evaluation.phase.manifest import scan, seal
from test.challenges.declared.images import volume_phase, write_images

from .maps import ROWS, SHAPE
from .submissions import AS_BEFORE
from .test_submissions import assert_message_or_score, forks

__all__ = ["forks"]

TABLES = """\
resamples = 0

[fields.organs]
kind = "label_map"
labels = { 1 = "liver", 2 = "spleen" }

[fields.lesions]
kind = "probability_map"

[fields.findings]
kind = "detection_map"

[fields.disc]
kind = "label_map"
labels = { 1 = "cup", 2 = "rim" }
dimensions = 2

[tasks.scans.metrics]
dice = { field = "organs" }
lesion_f1 = { field = "organs" }
voxel_brier_score = { field = "lesions" }
voxel_average_precision = { field = "lesions" }
lesion_average_precision = { field = "findings" }
jaccard = { field = "disc" }
"""


def references(seed: int) -> dict[str, dict[str, np.ndarray]]:
    """Return the reference of each field, of two scans with a few blocks of voxels each."""
    random = np.random.default_rng(seed)
    found: dict[str, dict[str, np.ndarray]] = {}
    for field, labels in {"organs": 2, "lesions": 1, "findings": 1, "disc": 2}.items():
        found[field] = {}
        for name in ("scan1", "scan2"):
            values = np.zeros(SHAPE if field != "disc" else (1, *SHAPE[1:]), np.uint8)
            for label in range(1, labels + 1):
                y, x = random.integers(0, 10, 2)
                values[:2, y : y + 6, x : x + 8] = label
            found[field][name] = values
    return found


def write_reference(phase: Path, seed: int) -> None:
    for field, values in references(seed).items():
        write_images(phase / field, values, *((".png", 2) if field == "disc" else (".mha", 3)))


@pytest.fixture(scope="module")
def pair(tmp_path_factory, forks) -> tuple[tuple[Path, Path], Path, dict[object, bytes]]:
    """A sealed phase, the same with another reference, a good submission, and its scores."""
    folder = tmp_path_factory.mktemp("maps")
    phases = []
    for kind, seed in (("real", 1), ("other", 2)):
        write_reference(folder / kind / "phase", seed)
        phases.append(volume_phase(folder / kind, TABLES, references(seed)["organs"], name="organs"))
        seal(phases[-1], scan(phases[-1]))
    good = folder / "good"
    made = references(3)
    write_images(good / "organs", made["organs"], ".nii.gz")
    write_images(good / "disc", made["disc"], ".png", 2)
    for field in ("lesions", "findings"):
        write_images(good / field, {name: (values / 2).astype("f4") for name, values in made[field].items()})
    done, other = forks((phases[0], phases[1]), good, tmp_path_factory.mktemp("scores"))
    assert done.metrics is not None, done
    assert done.metrics != other.metrics
    return (phases[0], phases[1]), good, {AS_BEFORE: done.metrics}


@pytest.mark.few(12)
@pytest.mark.parametrize("name", ROWS)
def test_message_or_score(name, forks, pair, tmp_path):
    phases, good, scores = pair
    assert_message_or_score(ROWS[name], name, forks, phases, scores, good, tmp_path)
