"""Examples of label maps on awkward cases: their published formulas, computed from the arrays."""

import shutil

import numpy as np
import pytest
import SimpleITK
from scipy import ndimage
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from test.examples import segmentation
from test.examples.awkward import (
    Scored,
    awkward_maps,
    row_of,
    scored_in_full,
    spacing_of,
    write_maps,
    write_table,
)
from test.examples.instances import cellseg, conic, ious, isles2024, sts
from test.examples.samples import EXAMPLES
from test.oracles import checked

pytestmark = pytest.mark.filterwarnings("ignore:Please import:DeprecationWarning")

FORMULAS = {
    "autopet": (segmentation.autopet, [1, 0, 0]),
    "brats2023": (segmentation.brats2023, [3, 1, 2]),
    "isles2022": (segmentation.isles2022, [1, 0, 0]),
    "isles2024": (isles2024, [1, 0, 0]),
    "kits2023": (segmentation.near_surfaces(segmentation.MASSES), [1, 2, 3]),
    "multi-organ-ct": (segmentation.near_surfaces(segmentation.ORGANS), [1, 3, 5]),
    "toothfairy2": (segmentation.toothfairy2, [1, 11, 48]),
    "topcow2024": (segmentation.topcow2024, [2, 8, 15]),
}


def field_of(name):
    text = (EXAMPLES / name / "phase.toml").read_text(encoding="utf-8")
    return text.partition("[fields.")[2].partition("]")[0]


@pytest.mark.parametrize("name", sorted(FORMULAS.keys() - {"brats2023"}))
def test_figures_of_awkward_cases(name, tmp_path):
    compare(name, tmp_path)


@checked(
    lesion_wise_dice=("SimpleITK.ConnectedComponent", "scipy.ndimage.binary_dilation"),
    lesion_wise_hausdorff_distance="surface_distance.metrics.compute_robust_hausdorff",
)
def test_lesions_of_brats_one_at_a_time(tmp_path):
    compare("brats2023", tmp_path)


def compare(name, tmp_path):
    formula, labels = FORMULAS[name]
    maps = {name: pair for name, pair in awkward_maps(labels).items() if pair[0].any() or pair[1].any()}
    write_maps(tmp_path, field_of(name), maps, extension=".mha" if name == "toothfairy2" else ".nii.gz")
    found = scored_in_full(tmp_path, name).figures
    scans = [(*pair, spacing_of(number)) for number, pair in enumerate(maps.values())]
    assert found == pytest.approx(formula(scans), abs=1e-9)


def planes():
    """Return images of objects with numbers, moved away from the border so that most of them count."""
    maps = awkward_maps([1, 2, 3], axes=2)
    return {name: tuple(np.pad(of, 3 * (name != "border")) for of in pair) for name, pair in maps.items()}


def test_cells_of_awkward_images(tmp_path):
    maps = planes()
    write_maps(tmp_path, "cells", maps, extension=".tif")
    found = scored_in_full(tmp_path, "cellseg").figures
    expected = cellseg([(*pair, None) for pair in maps.values()])
    assert found == pytest.approx(expected, abs=1e-9)
    assert 0.1 < expected["f1_mean"] < expected["f1"] < 1


def test_nuclei_of_awkward_images_with_types(tmp_path):
    """No image has two of the types; the one connective cell is false, with a pixel of another type."""
    maps = planes()
    maps["nothing"] = (np.zeros_like(maps["noise"][0]),) * 2
    here, there = {}, {}
    for number, (name, pair) in enumerate(maps.items()):
        numbers = [70000 * of.astype(np.int32) for of in pair]
        types = [np.where(of > 0, of + (number % 5 == 2 - side), 0) for side, of in enumerate(pair)]
        if name == "false":
            types[1][pair[1] == 1] = 6
        here[name] = [np.stack(planes) for planes in zip(numbers, types, strict=True)]
        if name == "false":
            types[1][tuple(np.argwhere(pair[1] == 1)[0])] = 1
        there[name] = [np.stack(planes) for planes in zip(numbers, types, strict=True)]
        for side, image in zip(("phase", "submission"), there[name], strict=True):
            (tmp_path / side / "nuclei").mkdir(parents=True, exist_ok=True)
            written = SimpleITK.GetImageFromArray(image.astype(np.int32))
            SimpleITK.WriteImage(written, str(tmp_path / side / "nuclei" / f"{name}.mha"))
    rows = [{"name": name, "width": of.shape[1], "height": of.shape[0]} for name, (of, _) in maps.items()]
    write_table(tmp_path / "phase" / "cases.csv", rows)
    found = scored_in_full(tmp_path, "conic").figures
    expected, program = conic(here.values()), conic(there.values(), added=1e-6, of_nothing=0.0)
    for figures in (expected, program):
        numbers = [of for name, of in figures.items() if name.startswith("count_determination")]
        figures["count_determination"] = np.mean(numbers)
    assert found == pytest.approx(expected, abs=1e-9)
    words = {"panoptic_quality": "mPQ+", "panoptic_quality_of_images": "PQ", "count_determination": "R²"}
    for name, word in words.items():
        assert f"{word} {program[name]:.4f} for {found[name]:.4f}" in row_of("conic")


OWN = {"panther": segmentation.panther, "pinkcc": segmentation.pinkcc, "sts": sts}


@pytest.mark.parametrize("name", OWN)
def test_own_metrics_of_awkward_cases(name, tmp_path):
    maps = planes() if name == "sts" else awkward_maps([1, 2, 2] if name == "pinkcc" else [1, 0, 0])
    maps = {name: pair for name, pair in maps.items() if pair[0].any()}
    write_maps(tmp_path, field_of(name), maps, extension=".tif" if name == "sts" else ".nii.gz")
    shutil.copy(EXAMPLES / name / "metrics.py", tmp_path / "phase")
    found = scored_in_full(tmp_path, name).figures
    scans = [(*pair, spacing_of(number)) for number, pair in enumerate(maps.values())]
    assert found == pytest.approx(OWN[name](scans), abs=1e-9)


def test_tumours_nodes_and_patients_of_hecktor(tmp_path):
    maps = awkward_maps([1, 2, 2])
    numbers = np.arange(len(maps))
    days, relapsed, hpv = 10 + numbers // 2, numbers % 3 > 0, numbers % 3 > 1
    risk, given = numbers * 7 % 5, numbers % 2
    columns = {"relapse_days": days, "relapsed": relapsed * 1, "hpv": hpv * 1}
    write_maps(tmp_path, "tumours", maps, columns=columns)
    answers = zip(maps, risk.tolist(), given.tolist(), strict=True)
    rows = [dict(zip(("case", "risk", "hpv"), row, strict=True)) for row in answers]
    write_table(tmp_path / "submission" / "predictions.csv", rows)
    sums, first, nodes = np.zeros((2, 2)), [], np.zeros(2)
    for number, pair in enumerate(maps.values()):
        for label in (1, 2):
            true, made = (of == label for of in pair)
            both = np.array([2 * (true & made).sum(), true.sum() + made.sum()])
            sums[label - 1] += both * np.prod(spacing_of(number))
            if label == 1:
                first.append(both[0] / both[1] if both[1] else 1)
        table = ious(*(ndimage.label(of == 2, np.ones((3, 3, 3)))[0] for of in pair))
        hits = (maximum_bipartite_matching(csr_array(table > 0.3)) >= 0).sum() if table.size else 0
        nodes += 2 * hits, sum(table.shape)
    pairs = [
        np.sign(risk[one] - risk[other]) / 2 + 0.5
        for one, other in np.ndindex(len(maps), len(maps))
        if relapsed[one] and (days[one], ~relapsed[one]) < (days[other], ~relapsed[other])
    ]
    dice, both = sums[:, 0] / sums[:, 1], sums.sum(axis=0)
    expected = {
        "dice": both[0] / both[1],
        "dice_GTVp": dice[0],
        "dice_GTVn": dice[1],
        "mean_dice": np.mean(first),
        "nodes": nodes[0] / nodes[1],
        "concordance_index": np.mean(pairs),
        "balanced_accuracy": (np.mean(given[hpv] == 1) + np.mean(given[~hpv] == 0)) / 2,
    }
    assert scored_in_full(tmp_path, "hecktor2025").figures == pytest.approx(expected, abs=1e-9)


def test_one_small_missed_tumour_costs_its_volume(tmp_path):
    """A perfect tumour of voxels of 3 mm beside a missed one of 1 mm, equal in voxels."""
    tumour, nothing = np.zeros((2, 6, 6, 6), np.uint16)
    tumour[1:4, 1:4, 1:4] = 1
    maps = {"large": (tumour, tumour), "small": (tumour, nothing)}
    write_maps(tmp_path, "tumours", maps, spacings_mm=[(3.0,) * 3, (1.0,) * 3])
    text = (EXAMPLES / "hecktor2025" / "phase.toml").read_text(encoding="utf-8")
    fields, _, rest = text.partition("[fields.risk]")
    metrics = rest.partition("[tasks.segmentation.metrics]")[2].partition("\nnodes")[0]
    configuration = tmp_path / "own.toml"
    configuration.write_text(f"{fields}[tasks.segmentation.metrics]{metrics}\n", encoding="utf-8")
    assert Scored(tmp_path, configuration).figures["dice_GTVp"] == pytest.approx(54 / 55, abs=6e-5)
