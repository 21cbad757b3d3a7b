"""Examples of label maps on awkward cases: their published formulas, computed from the arrays."""

import shutil

import numpy as np
import pytest
import SimpleITK

from test.examples import test_further_fields, test_own_metrics, test_segmentation
from test.examples.awkward import (
    Scored,
    awkward_maps,
    row_of,
    scored_in_full,
    spacing_of,
    write_maps,
    write_table,
)
from test.examples.instances import cellseg, conic, isles2024
from test.examples.samples import EXAMPLES

pytestmark = pytest.mark.filterwarnings("ignore:Please import:DeprecationWarning")

FORMULAS = {
    "autopet": (test_segmentation.autopet, [1, 0, 0]),
    "brats2023": (test_segmentation.brats2023, [3, 1, 2]),
    "isles2022": (test_segmentation.isles2022, [1, 0, 0]),
    "isles2024": (isles2024, [1, 0, 0]),
    "kits2023": (test_segmentation.EXPECTED["kits2023"], [1, 2, 3]),
    "multi-organ-ct": (test_segmentation.EXPECTED["multi-organ-ct"], [1, 3, 5]),
    "toothfairy2": (test_further_fields.toothfairy2, [1, 11, 48]),
    "topcow2024": (test_segmentation.topcow2024, [2, 8, 15]),
}


def field_of(name):
    text = (EXAMPLES / name / "phase.toml").read_text(encoding="utf-8")
    return text.partition("[fields.")[2].partition("]")[0]


@pytest.mark.parametrize("name", FORMULAS)
def test_figures_of_awkward_cases(name, tmp_path):
    formula, labels = FORMULAS[name]
    maps = {name: pair for name, pair in awkward_maps(labels).items() if pair[0].any() or pair[1].any()}
    write_maps(tmp_path, field_of(name), maps, extension=".mha" if name == "toothfairy2" else ".nii.gz")
    found = Scored(tmp_path, EXAMPLES / name / "phase.toml").figures
    scans = [(*pair, spacing_of(number)) for number, pair in enumerate(maps.values())]
    expected = formula(scans)
    assert expected.keys() <= found.keys()
    assert {key: found[key] for key in expected} == pytest.approx(expected, abs=6e-5)


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


@pytest.mark.parametrize("name", ["panther", "pinkcc", "sts"])
def test_own_metrics_of_awkward_cases(name, tmp_path):
    maps = planes() if name == "sts" else awkward_maps([1, 2, 2] if name == "pinkcc" else [1, 0, 0])
    maps = {name: pair for name, pair in maps.items() if pair[0].any()}
    write_maps(tmp_path, field_of(name), maps, extension=".tif" if name == "sts" else ".nii.gz")
    shutil.copy(EXAMPLES / name / "metrics.py", tmp_path / "phase")
    found = Scored(tmp_path, EXAMPLES / name / "phase.toml").figures
    expected = test_own_metrics.EXPECTED[name](tmp_path)
    assert {key: found[key] for key in expected} == pytest.approx(expected, abs=6e-5)


def test_hecktor_pools_volumes(tmp_path):
    maps = awkward_maps([1, 2, 2])
    write_maps(
        tmp_path,
        "tumours",
        maps,
        columns={
            "relapse_days": range(10, 10 + len(maps)),
            "relapsed": [number % 2 for number in range(len(maps))],
            "hpv": [number % 3 // 2 for number in range(len(maps))],
        },
    )
    answers = [{"case": name, "risk": number, "hpv": number % 2} for number, name in enumerate(maps)]
    write_table(tmp_path / "submission" / "predictions.csv", answers)
    found = Scored(tmp_path, EXAMPLES / "hecktor2025" / "phase.toml").figures
    for label, name in ((1, "GTVp"), (2, "GTVn")):
        both = whole = 0.0
        for number, pair in enumerate(maps.values()):
            true, made = (of == label for of in pair)
            volume = np.prod(spacing_of(number))
            both += 2 * volume * (true & made).sum()
            whole += volume * (true.sum() + made.sum())
        assert found[f"dice_{name}"] == pytest.approx(both / whole, abs=6e-5)


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
