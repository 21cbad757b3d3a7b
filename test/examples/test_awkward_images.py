"""SynthRAD 2025 on awkward volumes: its published formulas, and Wang's, computed from the arrays."""

import numpy as np
import pytest
from scipy import ndimage

from test.examples.awkward import Scored, write_maps
from test.examples.samples import EXAMPLES

LOW, HIGH = -1024.0, 3071.0
RANGE = HIGH - LOW
SHAPE = (9, 14, 16)


def volumes():
    """Return the true image, the one that is made of it, and the mask of each case, in single precision."""
    random = np.random.default_rng(5)
    inner, border, one_voxel = (np.zeros(SHAPE, np.uint8) for _ in range(3))
    inner[2:7, 3:11, 2:13] = border[:, :6, 4:] = 1
    one_voxel[4, 5, 6] = 1
    true = random.normal(200, 1100, SHAPE)  # some values lie beyond the range
    long = ndimage.gaussian_filter(random.normal(0, 900, (5, 6, 101)), 1)
    cases = {
        "noise": (true, true + random.normal(0, 300, SHAPE), inner),
        "border": (true, true * 0.7 + 350, border),
        "reversed": (true, -true, inner),
        "equal": (true, true, inner),
        "one_voxel": (true / 9, true / 9 + 80, one_voxel),
        "beyond": (true, np.full(SHAPE, 9000.0), border),
        "long": (long, np.roll(long, 1, 2) - 40, np.ones(long.shape, np.uint8)),
    }
    return {
        name: (one.astype(np.float32), other.astype(np.float32), mask)
        for name, (one, other, mask) in cases.items()
    }


def padded(values):
    sizes = [max(0, 97 - size) for size in values.shape]
    return np.pad(values, [(size // 2, size - size // 2) for size in sizes], mode="edge")


def means_of_eight(values):
    """Return every second of the means of a voxel and those before it, with 0 beyond the image."""
    before = np.pad(values, ((1, 0),) * 3)
    windows = np.lib.stride_tricks.sliding_window_view(before, (2, 2, 2))
    return windows[::2, ::2, ::2].mean(axis=(3, 4, 5))


def similarity(one, other, mask, formula):
    """Return the product over five scales; a scale without a voxel of the mask counts 1, there NaN."""
    one, other, mask = map(padded, (one, other, mask))
    inside, product = (slice(3, -3),) * 3, 1.0
    small, large = (0.01 * RANGE) ** 2, (0.03 * RANGE) ** 2
    for scale, weight in enumerate((0.0448, 0.2856, 0.3001, 0.2363, 0.1333)):
        if scale:
            one, other, mask = means_of_eight(one), means_of_eight(other), mask[::2, ::2, ::2]

        def mean(values):
            return ndimage.uniform_filter(values, 7)

        middles = mean(one), mean(other)
        sample = 343 / 342  # variances are of a sample
        spreads = [sample * (mean(of**2) - mean(of) ** 2).clip(0) for of in (one, other)]
        together = sample * (mean(one * other) - middles[0] * middles[1])
        deviations = np.sqrt(spreads[0] * spreads[1])
        parts = (
            (2 * middles[0] * middles[1] + small) / (middles[0] ** 2 + middles[1] ** 2 + small),
            (2 * deviations + large) / (spreads[0] + spreads[1] + large),
            (together + large / 2) / (deviations + large / 2),
        )
        parts = [of.clip(0)[inside][mask[inside] > 0] for of in parts]
        if not parts[0].size:
            continue
        if formula == "synthrad":
            product *= min(np.prod([of**weight for of in parts], axis=0).mean(), 1)
        else:  # luminance at the coarsest scale alone
            product *= np.prod(parts if scale == 4 else parts[1:], axis=0).mean() ** weight
    return product


def figures(true, made, mask, formula):
    """Return the error, at most 4095; the ratio, at most 100 dB; and the similarity."""
    one, other = true.astype(float), made.astype(float)
    error = np.abs(one - other)[mask > 0].mean()
    one, other = (np.where(mask > 0, of.clip(LOW, HIGH), LOW) - LOW for of in (one, other))
    squared = np.square(one - other)[mask > 0].mean()
    ratio = 10 * np.log10(RANGE**2 / squared) if squared else np.inf
    return min(error, 4095), min(ratio, 100), similarity(one, other, mask, formula)


@pytest.mark.parametrize("formula", ["synthrad", "wang"])
def test_images_inside_awkward_masks(formula, tmp_path):
    cases = volumes()
    masks = {name: (mask, mask) for name, (_, _, mask) in cases.items()}
    write_maps(tmp_path, "mask", masks, extension=".mha")
    write_maps(tmp_path, "sct", {name: pair for name, (*pair, _) in cases.items()}, extension=".mha")
    text = (EXAMPLES / "synthrad2025" / "phase.toml").read_text(encoding="utf-8")
    text = text.replace('formula = "synthrad"', f'formula = "{formula}"')
    (tmp_path / "in_full.toml").write_text(f"value_digits = 12\n{text}", encoding="utf-8")
    scored = Scored(tmp_path, tmp_path / "in_full.toml")
    expected = {name: figures(*case, formula) for name, case in cases.items()}
    for case, found in scored.by_case("mae", "psnr", "ms_ssim"):
        assert list(found.values()) == pytest.approx(expected[case], rel=1e-9), case
    means = np.mean(list(expected.values()), axis=0)
    assert list(scored.figures.values()) == pytest.approx(means, rel=1e-9)
