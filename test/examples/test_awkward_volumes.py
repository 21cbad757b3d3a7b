"""Examples of more than two maps a case, on awkward ones: fields that warp, and several annotators."""

import shutil

import nibabel
import numpy as np
import pytest
from scipy import ndimage
from scipy.integrate import quad, trapezoid
from scipy.special import softmax
from scipy.stats import norm
from sklearn import metrics as voxels
from surface_distance import metrics as surfaces

from test.examples.awkward import awkward_maps, row_of, scored_in_full, spacing_of, write_maps, write_table
from test.oracles import BY_HAND, checked

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


def learn2reg(field, fixed, moving, start, end, spacing_mm):
    """Return the figures of a case, axes in the order x, y, z."""
    grid = np.stack(np.meshgrid(*map(np.arange, fixed.shape), indexing="ij"))
    warped = ndimage.map_coordinates(moving, grid + field.transpose(3, 0, 1, 2), order=0)
    shift = np.stack([ndimage.map_coordinates(field[..., axis], start.T) for axis in range(3)], axis=1)
    errors = np.linalg.norm((start + shift - end) * spacing_mm, axis=1)
    labels = [label for label in (1, 2, 3) if (fixed == label).any() and (moving == label).any()]
    dice = [voxels.f1_score((fixed == label).ravel(), (warped == label).ravel()) for label in labels]
    far = [
        surfaces.compute_robust_hausdorff(
            surfaces.compute_surface_distances(fixed == label, warped == label, np.ones(3)), 95
        )
        if (warped == label).any()
        else np.inf
        for label in labels
    ]
    gradients = np.stack([np.stack(np.gradient(field[..., axis]), -1) for axis in range(3)], -2) + np.eye(3)
    determinants = np.linalg.det(gradients)[2:-2, 2:-2, 2:-2]
    return {
        "target_registration_error": errors.mean(),
        "dice": np.mean(dice),
        "hd95": np.mean(far),
        "log_jacobian_deviation": np.log((determinants + 3).clip(1e-9, 1e9)).std(),
        "folded_share": (determinants <= 0).mean(),
    }


@checked(
    target_registration_error="scipy.ndimage.map_coordinates",
    log_jacobian_deviation=("numpy.gradient", "numpy.linalg.det"),
    folded_share=("numpy.gradient", "numpy.linalg.det"),
)
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


def calibration_error(shares, true):
    """Return the error in 50 bins, of which the last holds probabilities of 1 as in torchmetrics."""
    confidence, right = shares.max(axis=0).ravel(), (shares.argmax(axis=0) == true).ravel()
    edges = [*np.linspace(0, 1, 51), 2]
    sums = [np.histogram(confidence, edges, weights=of)[0] for of in (confidence, right * 1.0)]
    return np.abs(sums[0] - sums[1]).sum() / right.size


def crps(volume, volumes, points=0):
    """Return the score within three standard deviations; points: of the program's interpolation."""
    mean, deviation = np.mean(volumes), np.std(volumes)
    low, high = mean - 3 * deviation, mean + 3 * deviation
    step = np.clip(volume, low, high)
    if points:
        known = np.linspace(*norm.ppf([0.01, 0.99], mean, deviation), points)
        grid = np.linspace(low, high, 200_001)
        share = np.interp(grid, known, norm.cdf(known, mean, deviation), left=0, right=1)
        return trapezoid((share - (grid >= volume)) ** 2, grid)
    below = quad(lambda at: norm.cdf(at, mean, deviation) ** 2, low, step, epsabs=1e-12)[0]
    return below + quad(lambda at: norm.sf(at, mean, deviation) ** 2, step, high, epsabs=1e-12)[0]


def dice_of_rows(true, found):
    """Return what the program has: the mean over rows with the organ, without the first one, then slices."""
    both, total = 2 * (true & found).sum(axis=2), true.sum(axis=2) + found.sum(axis=2)
    rows = np.where(true.any(axis=2), both / np.maximum(total, 1), np.nan)[:, 1:]
    slices = [np.nanmean(row) for row in rows if not np.isnan(row).all()]
    return np.mean(slices) if slices else 0.0


def curvas(references, prediction, shares, voxel_ml):
    """Return the figures of a case by name and organ, NaN where there is none, and those of the program."""
    here, there = {}, {}
    for label, name in ORGANS.items():
        votes = sum((of == label).astype(int) for of in references)
        none, every, found, of_organ = votes == 0, votes == 3, prediction == label, shares[label - 1]
        total = every.sum() + found[none | every].sum()
        here["dice", name] = 2 * (every & found).sum() / total if total else 1.0
        there["dice", name] = dice_of_rows(every, found & (none | every))
        around = of_organ[none].mean() if none.any() else 0  # NaN there
        here["consensus_confidence", name] = (1 - around + of_organ[every].mean()) / 2
        volumes, volume = [(of == label).sum() * voxel_ml for of in references], of_organ.sum() * voxel_ml
        here["volume_crps", name] = abs(volume - volumes[0])
        if len(set(volumes)) > 1:
            here["volume_crps", name] = crps(volume, volumes)
            there["volume_crps", name] = crps(volume, volumes, points=100)
    whole = np.concatenate([1 - shares.sum(axis=0, keepdims=True), shares])
    for side, of in ((here, whole.clip(0)), (there, softmax(whole, axis=0) if whole.min() < 0 else whole)):
        side["voxel_calibration_error", ""] = np.mean([calibration_error(of, true) for true in references])
    return here, there


@checked(
    volume_crps="scipy.integrate.quad",
    voxel_calibration_error="numpy.histogram",
    consensus_confidence=BY_HAND,
)
def test_curvas(tmp_path):
    """Two cases have annotators that agree to the voxel, one a voxel whose probabilities exceed 1."""
    random = np.random.default_rng(8)
    cases = {}
    for number, (name, (one, other)) in enumerate(awkward_maps([1, 2, 3]).items()):
        readers = [one, other, np.roll(one, number % 3, axis=1)]
        if name in ("tie", "exchanged"):
            readers = [one] * 3
        shares = random.dirichlet([1, 0.3, 0.3, 0.3], one.shape).transpose(3, 0, 1, 2)[1:]
        for label in ORGANS:
            shares[:, other == label] /= 3
            shares[label - 1, other == label] += 0.6
        shares[:, :3] = 0
        shares[0, 1], shares[1, 2] = 1, 0.5
        if name == "corner":
            shares[:, 8, 0, 0] = 0.5, 0.5, 2**-20
        cases[name] = readers, np.roll(other, number % 2, axis=2), shares.astype(np.float32)
    for reader in range(3):
        references = {name: (of[0][reader],) * 2 for name, of in cases.items()}
        write_maps(tmp_path, f"organs/reader_{reader + 1}", references)
    shutil.rmtree(tmp_path / "submission")
    write_maps(tmp_path / "made", "organs", {name: (of[1],) * 2 for name, of in cases.items()})
    for label, organ in ORGANS.items():
        write_maps(tmp_path / "made", organ, {name: (of[2][label - 1],) * 2 for name, of in cases.items()})
    (tmp_path / "made" / "submission").rename(tmp_path / "submission")
    scored = scored_in_full(tmp_path, "curvas2024")
    each = [
        curvas(readers, made, shares.astype(float), np.prod(spacing_of(number)) / 1000)
        for number, (readers, made, shares) in enumerate(cases.values())
    ]
    figures = {}
    for case, (here, _) in zip(cases, each, strict=True):
        named = {"_".join(filter(None, key)): of for key, of in here.items() if not np.isnan(of)}
        assert {name: scored.cases[case].get(name) for name in named} == pytest.approx(named, abs=1e-9), case
        for of in {of for of, _ in here}:
            figures.setdefault(of, []).append(np.nanmean([here[key] for key in here if key[0] == of]))
    means = {of: np.nanmean(values) for of, values in figures.items()}
    assert {of: scored.figures[of] for of in means} == pytest.approx(means, abs=1e-9)
    for of, words in (("dice", "Dice"), ("volume_crps", "the score")):
        pairs = [(there[key], here[key]) for here, there in each for key in there if key[0] == of]
        assert "{} {:.6f} for {:.6f}".format(words, *np.mean(pairs, axis=0)) in row_of("curvas2024")
    here, there = (of["voxel_calibration_error", ""] for of in each[-1])
    assert f"error {there:.6f} for {here:.6f}" in row_of("curvas2024")
