"""Examples of points on awkward cases: their published formulas, computed from the rows."""

import math

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics import roc_curve

from test.examples.awkward import scored_in_full, write_table
from test.oracles import checked

RATES = [1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8]

NOTHING: dict[str, list] = {"nodules": [], "excluded": [], "found": []}
SCANS = {
    "healthy": NOTHING,
    "false": NOTHING | {"found": [(50, 50, 50, 0.55), (60, 50, 50, 0.35)]},
    "missed": NOTHING | {"nodules": [(0, 0, 0, 8), (30, 0, 0, 8)], "found": [(30, 1, 0, 0.4)]},
    "empty": NOTHING | {"nodules": [(0, 0, 0, 6)]},
    # Two candidates in one nodule, one of which is as probable as a false one.
    "split": NOTHING
    | {"nodules": [(0, 0, 0, 10)], "found": [(1, 0, 0, 0.5), (-1, 0, 0, 0.7), (90, 0, 0, 0.7)]},
    # One candidate in two nodules, with a third nodule of unknown diameter.
    "joined": NOTHING
    | {
        "nodules": [(0, 0, 0, 10), (6, 0, 0, 10), (-40, 0, 0, -1)],
        "found": [(3, 0, 0, 0.6), (-36, 0, 0, 0.3)],
    },
    # At exactly the radius it misses, just within it hits; both coordinates are exact in binary.
    "border": NOTHING
    | {"nodules": [(0, 0, 0, 8), (64, 0, 0, 8)], "found": [(4, 0, 0, 0.8), (67.96875, 0, 0, 0.8)]},
    "excluded": NOTHING
    | {
        "nodules": [(0, 0, 0, 8)],
        "excluded": [(3, 0, 0, 6), (80, 0, 0, -1)],
        "found": [(2, 0, 0, 0.5), (5, 0, 0, 0.95), (84, 0, 0, 0.99), (85, 0, 0, 0.2)],
    },
}


def position(row):
    return [float(row[f"coord{axis}"]) for axis in "XYZ"]


def radius(row):
    diameter = float(row["diameter_mm"])
    return (10.0 if diameter < 0 else diameter) / 2


def sensitivities(scans, nodules, excluded, candidates):
    """Return the sensitivity at every rate: each candidate's fate is decided by itself."""
    truth, scores, missed, false = [], [], 0, 0
    for scan in scans:
        found = [row for row in candidates if row["seriesuid"] == scan]
        of_scan = [row for row in nodules if row["seriesuid"] == scan]
        others = [row for row in excluded if row["seriesuid"] == scan]

        def hits(candidate, finding):
            return math.dist(position(candidate), position(finding)) < radius(finding)

        for nodule in of_scan:
            near = [float(row["probability"]) for row in found if hits(row, nodule)]
            missed += not near
            if near:
                truth.append(1)
                scores.append(max(near))
        for candidate in found:
            if not any(hits(candidate, finding) for finding in (*of_scan, *others)):
                truth.append(0)
                scores.append(float(candidate["probability"]))
                false += 1
    share_false, share_found, _ = roc_curve(truth, scores, drop_intermediate=False)
    detected = sum(truth)
    assert min(detected, missed, false) > 0
    return np.interp(RATES, share_false * false / len(scans), share_found * detected / (detected + missed))


@checked(froc="sklearn.metrics.roc_curve")
def test_nodules_of_luna_on_awkward_scans(tmp_path):
    position = ("coordX", "coordY", "coordZ")
    tables = {
        "nodules": ("phase/annotations.csv", "diameter_mm"),
        "excluded": ("phase/annotations_excluded.csv", "diameter_mm"),
        "found": ("submission/predictions.csv", "probability"),
    }
    rows = {
        name: [
            dict(zip(("seriesuid", *position, last), (scan, *one), strict=True))
            for scan, of in SCANS.items()
            for one in of[name]
        ]
        for name, (_, last) in tables.items()
    }
    write_table(tmp_path / "phase" / "cases.csv", [{"name": scan} for scan in SCANS])
    for name, (path, _) in tables.items():
        write_table(tmp_path / path, rows[name])
    expected = sensitivities(list(SCANS), rows["nodules"], rows["excluded"], rows["found"])
    assert len(set(expected)) > 2
    found = scored_in_full(tmp_path, "luna16").figures
    assert list(found.values()) == pytest.approx([expected.mean(), *expected], abs=1e-9)


def expected_of(true, found):
    """Return the share of identified vertebrae of a scan, and the mean distance of those of both sides."""
    both = [name for name in true if name in found]
    if not both:
        return 0, 1000
    apart = cdist([found[name] for name in both], [true[name] for name in both])
    own = np.diag(apart)
    identified = (own < 20) & (apart.argmin(axis=1) == np.arange(len(both)))
    return identified.sum() / len(true), own.mean()


@checked(identification_rate="scipy.spatial.distance.cdist", mean_radial_error="scipy.spatial.distance.cdist")
def test_vertebrae_on_awkward_scans(tmp_path):
    spine = {name: (0.0, 0.0, 30.0 * number) for number, name in enumerate(("L1", "L2", "L3", "L4"))}
    moved = {name: (x + 3, y - 4, z) for name, (x, y, z) in spine.items()}
    labels = list(spine)
    scans = {
        "near": (spine, moved),
        "missed": (spine, {name: moved[name] for name in labels[:2]}),
        "false": ({name: spine[name] for name in labels[:2]}, moved),
        "one": ({"L1": (5.0, 5.0, 5.0)}, {"L1": (5.0, 5.0, 5.0)}),
        # Each has the name of its neighbour: within no radius, and nearest to another.
        "exchanged": (
            spine,
            dict(zip(labels, [spine[name] for name in labels[1:] + labels[:1]], strict=True)),
        ),
        # Nearer to the own than to any other, and farther away than 20 mm.
        "far": (spine, {**moved, "L1": (0.0, 25.0, -10.0)}),
        # Within 20 mm of the own, and nearer to another.
        "none": (spine, {"L6": (0.0, 0.0, 0.0)}),
        "between": ({**spine, "L2": (0.0, 0.0, 12.0)}, {**moved, "L1": (0.0, 0.0, 8.0)}),
    }
    write_table(tmp_path / "phase" / "cases.csv", [{"name": scan} for scan in scans])
    for number, path in enumerate(("phase/vertebrae.csv", "submission/predictions.csv")):
        columns = ("case", "x", "y", "z", "name")
        rows = [
            dict(zip(columns, (scan, *place, name), strict=True))
            for scan, sides in scans.items()
            for name, place in sides[number].items()
        ]
        write_table(tmp_path / path, rows)
    rates, distances = zip(*(expected_of(*sides) for sides in scans.values()), strict=True)
    found = scored_in_full(tmp_path, "verse").figures
    assert found["identification_rate"] == pytest.approx(np.mean(rates), abs=1e-9)
    assert found["mean_radial_error"] == pytest.approx(np.mean(distances), abs=1e-9)
    # A figure of one vertebra is over the scans that show it.
    of_l4 = [
        np.linalg.norm(np.subtract(true["L4"], found["L4"])) if "L4" in found else 1000
        for true, found in scans.values()
        if "L4" in true
    ]
    assert found["mean_radial_error_L4"] == pytest.approx(np.mean(of_l4), abs=1e-9)
