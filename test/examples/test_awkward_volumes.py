"""Examples of more than two maps a case, on awkward ones: fields that warp, and several annotators."""

import shutil

import nibabel
import numpy as np
import pytest

from test.challenges.declared.test_displacement import learn2reg
from test.examples.awkward import awkward_maps, row_of, scored_in_full, spacing_of, write_maps, write_table

pytestmark = [
    pytest.mark.filterwarnings("ignore:Please import:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Mean of empty slice:RuntimeWarning"),
    pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning"),
]


def fields(shape):
    """Return displacement fields (x, y, z, 3) in voxels, one after the other."""
    random = np.random.default_rng(6)
    grid = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), axis=-1)
    while True:
        yield np.zeros((*shape, 3))
        yield np.full((*shape, 3), (1, 0.5, -0.5))  # half a voxel leads to the next one
        yield random.normal(0, 0.7, (*shape, 3))
        yield -1.5 * grid  # it folds everywhere
        yield 0.2 * grid - random.normal(0, 1, 3)
        yield np.full((*shape, 3), (200.0, 0, 0))  # out of the image


def test_learn2reg(tmp_path):
    """Each case has landmarks between voxels, on the border and outside, and another field."""
    maps = awkward_maps([1, 2, 3])
    for number, side in enumerate(("fixed", "moving")):
        write_maps(tmp_path, f"disp_{side}", {name: (pair[number],) * 2 for name, pair in maps.items()})
    shutil.rmtree(tmp_path / "submission")
    (tmp_path / "submission" / "disp").mkdir(parents=True)
    random = np.random.default_rng(7)
    each, rows = [], {"fixed": [], "moving": []}
    for number, ((name, pair), field) in enumerate(zip(maps.items(), fields((16, 14, 9)), strict=False)):
        path = tmp_path / "submission" / "disp" / name
        field = field.astype(np.float32)
        if number % 2:
            nibabel.save(nibabel.Nifti1Image(field, np.eye(4)), f"{path}.nii.gz")
        else:
            np.savez_compressed(f"{path}.npz", field)
        points = np.vstack(
            [random.uniform(0, 8, (4, 3)).round(2), [[0, 0, 0], [15, 13, 8], [15.5, 13.5, 20]]]
        )
        ends = (points + random.normal(0, 2, points.shape).round(2)).clip(0, (16, 14, 30))
        for side, places in (("fixed", points), ("moving", ends)):
            rows[side] += [
                dict(zip(("case", *"xyz"), (name, *place), strict=True)) for place in places.tolist()
            ]
        each.append(
            learn2reg(field.astype(float), *(of.T for of in pair), points, ends, spacing_of(number)[::-1])
        )
    for side, of in rows.items():
        write_table(tmp_path / "phase" / f"{side}.csv", of)
    scored = scored_in_full(tmp_path, "learn2reg")
    program = {name: np.array([of[name] for of in each]) for name in each[0]}
    figures = {
        "tre": np.minimum(program["target_registration_error"], 100),
        "dice": program["dice"],
        "hd95": np.minimum(program["hd95"], np.linalg.norm((16, 14, 9))),
        "sdlogj": program["log_jacobian_deviation"],
        "folded_share": program["folded_share"],
    }
    for number, case in enumerate(maps):
        here = {name: of[number] for name, of in figures.items() if not np.isnan(of[number])}
        assert {name: scored.cases[case].get(name) for name in here} == pytest.approx(here, abs=1e-9), case
    expected = {name: np.nanmean(of) for name, of in figures.items()}
    expected |= {"tre_robust": np.quantile(figures["tre"], 0.7)}
    expected |= {"dice_robust": np.nanquantile(figures["dice"], 0.3)}
    found = {name: scored.figures[name] for name in expected}
    assert found == pytest.approx(expected, abs=1e-9)
    tre = program["target_registration_error"].mean()
    assert f"{tre:.4f} mm for {found['tre']:.4f}" in row_of("learn2reg")
    assert np.isinf(program["hd95"]).any()
    assert np.isnan(program["dice"]).any()
    for name, there in (("hd95", "infinite"), ("dice", "NaN"), ("folded_share", "0")):
        assert f"{there} for {found[name]:.4f}" in row_of("learn2reg")


ORGANS = {1: "pancreas", 2: "kidney", 3: "liver"}
