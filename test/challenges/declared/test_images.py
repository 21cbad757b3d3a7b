"""Images of numbers in a hidden mask, against scikit-image and scikit-learn, through a whole phase."""

import numpy as np
import pytest
from scipy.signal import fftconvolve
from skimage.metrics import peak_signal_noise_ratio, structural_similarity
from sklearn.metrics import mean_absolute_error

import evaluation
from evaluation.challenges.declared.declarable import METRICS
from evaluation.challenges.declared.images import ImageField, mask_of
from evaluation.challenges.declared.tables import FieldComparison
from evaluation.io.kinds.label_map import LabelMapValue
from evaluation.io.kinds.probability_map import ProbabilityMapValue
from evaluation.metrics import image_similarity
from evaluation.metrics.crops import Crop
from test.challenges.declared.images import figures_of, volume_phase, write_images
from test.challenges.declared.phases import declared_phase
from test.oracles import checked

SHAPE = (12, 20, 22)
TABLES = """\
[fields.map]
kind = "image"
minimum = -9000
maximum = 9000
mask_folder = "mask"
[tasks.scans.metrics]
image_mean_absolute_error = { clip = [-1024, 3071] }
peak_signal_to_noise_ratio = { clip = [-1024, 3071] }
structural_similarity = { clip = [-1024, 3071] }
multi_scale_structural_similarity = { clip = [-1024, 3071], formula = "synthrad" }
[ranking]
metrics = ["scans.structural_similarity"]
"""


def scan(seed):
    random = np.random.default_rng(seed)
    true = np.cumsum(random.normal(0, 200, SHAPE), axis=2)
    mask = (np.indices(SHAPE).sum(axis=0) > 12).astype(np.uint8)
    return (true + random.normal(0, 90, SHAPE)).astype(np.float32), true.astype(np.float32), mask


def covered(values, mask):
    """Return the values that SynthRAD compares: clipped, −1024 outside of the mask, then from 0 on."""
    return np.where(mask, np.clip(values.astype(float), -1024, 3071), -1024) + 1024


def inside(values, mask, pad):
    inner = (slice(pad, -pad),) * values.ndim
    return values[inner][mask[inner] > 0].mean()


def synthrad(made, true, mask):
    """Return the product over scales, contrast and structure apart."""
    pads = [((97 - size) // 2, 97 - size - (97 - size) // 2) for size in made.shape]
    one, other, within = (np.pad(of, pads, mode="edge") for of in (made, true, mask))
    box = np.ones((2, 2, 2)) / 8
    product = 1.0
    for weight in image_similarity.SCALE_WEIGHTS:
        _, whole = structural_similarity(one, other, data_range=4095, full=True)
        # scikit-image has the product alone, which is positive here; its parts are raised alike.
        assert whole.min() > -1
        product *= np.clip(inside(np.maximum(whole, 0) ** weight, within, 3), 0, 1)
        one, other = (fftconvolve(of, box, mode="same")[::2, ::2, ::2] for of in (one, other))
        within = within[::2, ::2, ::2]
    return product


@checked(
    image_mean_absolute_error="sklearn.metrics.mean_absolute_error",
    peak_signal_to_noise_ratio="skimage.metrics.peak_signal_noise_ratio",
    structural_similarity="skimage.metrics.structural_similarity",
    multi_scale_structural_similarity="skimage.metrics.structural_similarity",
)
def test_figures_inside_a_hidden_mask(tmp_path):
    scans = {f"scan{seed}": scan(seed) for seed in range(2)}
    write_images(tmp_path / "phase" / "mask", {name: of[2] for name, of in scans.items()})
    phase = volume_phase(tmp_path, TABLES, {name: of[1] for name, of in scans.items()})
    rows = [
        plain_figures(made, true, mask > 0, -1024, 3071)
        | {"multi_scale_structural_similarity": synthrad(*(covered(of, mask) for of in (made, true)), mask)}
        for made, true, mask in scans.values()
    ]
    expected = {key: np.mean([row[key] for row in rows]) for key in rows[0]}
    assert 0.2 < expected["structural_similarity"] < 0.99
    found = figures_of(phase, tmp_path, {name: of[0] for name, of in scans.items()})
    assert found == pytest.approx(expected, rel=1e-5, abs=5e-4)


def plain_figures(made, true, mask, low, high):
    """Return the figures of scikit-learn and scikit-image by metric and options."""
    one, other = (np.clip(values.astype(float), low, high) for values in (made, true))
    both = other[mask], one[mask]
    within = [np.where(mask, values - low, 0) for values in (one, other)]
    options = {"data_range": high - low, "full": True}
    _, plain = structural_similarity(*within, **options)
    return {
        "image_mean_absolute_error": mean_absolute_error(*both),
        "peak_signal_to_noise_ratio": peak_signal_noise_ratio(*both, data_range=high - low),
        "structural_similarity": inside(plain, mask, 3),
    }


@pytest.mark.parametrize("cut", [None, [-300.0, 900.0]])
@pytest.mark.parametrize(
    "metric", ["image_mean_absolute_error", "peak_signal_to_noise_ratio", "structural_similarity"]
)
def test_a_figure_of_one_image_in_its_mask(metric, cut):
    made, true, mask = scan(3)
    field = ImageField.model_validate(
        {"kind": "image", "minimum": -4000, "maximum": 5000, "mask_folder": "masks"}
    )
    table = METRICS.named(metric)
    of_field = table.model_validate({"metric": metric, "clip": cut})
    measure = of_field.measure("figure", "map", field)
    values = [ProbabilityMapValue(Crop(of, (0, 0, 0)), SHAPE, (1.0, 1.0, 1.0)) for of in (made, true)]
    inside_of = LabelMapValue(Crop(mask, (0, 0, 0)), SHAPE, (1.0, 1.0, 1.0))
    references = {"map": values[1], mask_of("map"): inside_of}
    found = measure.row(FieldComparison("map", values[0], references))["figure"]
    expected = plain_figures(made, true, mask > 0, *(cut or (-4000, 5000)))
    assert found == pytest.approx(expected[metric], rel=1e-6)


def test_images_of_two_dimensions_have_masks_too(tmp_path):
    made, true, mask = (of[5][np.newaxis] for of in scan(8))
    tables = TABLES.replace('kind = "image"\n', 'kind = "image"\ndimensions = 2\n')
    phase = declared_phase(tmp_path / "phase", tables, {"name": ["a"], "width": [22], "height": [20]})
    for folder, values in ((phase / "map", true), (phase / "mask", mask), (tmp_path / "in" / "map", made)):
        write_images(folder, {"a": values}, dimensions=2)
    evaluation.seal(phase)
    (found,) = evaluation.evaluate(phase, tmp_path / "in", workers=0).to_dict()["aggregates"].values()
    expected = plain_figures(made[0], true[0], mask[0] > 0, -1024, 3071)
    for name in ("image_mean_absolute_error", "peak_signal_to_noise_ratio", "structural_similarity"):
        assert found[name]["value"] == pytest.approx(expected[name], rel=1e-5, abs=5e-4)


@pytest.mark.parametrize("metric", ["structural_similarity", "multi_scale_structural_similarity"])
def test_a_case_in_whose_mask_no_window_fits_does_not_enter(tmp_path, metric):
    """It would count 0 whatever is submitted, also where there is no result; the other scan is as alone."""
    made, true, mask = scan(7)
    # So long that not even several scales extend it along its mask, which lies at its edge.
    edge = np.zeros((12, 97, 12), np.uint8)
    edge[:, :3] = 1
    tables = TABLES.replace('"scans.structural_similarity"', f'"scans.{metric}"')
    found = []
    for name, masks in (("alone", {"scan": mask}), ("both", {"scan": mask, "edge": edge})):
        folder = tmp_path / name
        write_images(folder / "phase" / "mask", masks)
        references = {case: true if case == "scan" else np.full(edge.shape, 7, true.dtype) for case in masks}
        phase = volume_phase(folder, tables, references, keys='missing = "worst"')
        found.append(figures_of(phase, folder, {"scan": made})[metric])
    assert found[0] == found[1] > 0
