"""Challenges with fields, outputs and rules of their own kind, each against an independent computation."""

import csv
import json

import numpy as np
import pytest
import SimpleITK
from scipy import ndimage
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching
from scipy.spatial.distance import cdist
from skimage.metrics import peak_signal_noise_ratio
from sklearn import metrics

import evaluation
from test.challenges.declared.test_images import synthrad
from test.examples.samples import scored_sample, scores_of, write_sample

pytestmark = pytest.mark.filterwarnings("ignore:Please import:DeprecationWarning")
NUCLEI = "melanoma-10-class-nuclei-segmentation"
SMALL = {
    "hecktor2025": {},
    "ocelot2023": {},
    "puma": {"images": 3},
    "synthrad2025": {"scans": 1},
    "toothfairy2": {"scans": 1},
}


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    """Return the folder and the figures of each example."""
    return {name: scored_sample(tmp_path_factory.mktemp(name), name, **of) for name, of in SMALL.items()}


def rows_of(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def volumes(folder, place):
    files = sorted((folder / place).iterdir())
    return [SimpleITK.GetArrayFromImage(SimpleITK.ReadImage(str(path))) for path in files]


def pooled_percentile(true, found):
    """Return the 95th percentile of the distances of both surfaces together, in voxels."""
    edges = [np.argwhere(mask & ~ndimage.binary_erosion(mask)) for mask in (true, found)]
    apart = cdist(*edges)
    return np.percentile(np.hstack([apart.min(axis=0), apart.min(axis=1)]), 95)


def toothfairy2(scans):
    labels = [*range(1, 11), *(ten + tooth for ten in (10, 20, 30, 40) for tooth in range(1, 9))]
    dice, distance = [], []
    for true, found, *_ in scans:
        for label in labels:
            pair = true == label, found == label
            sizes = [mask.sum() for mask in pair]
            dice.append(2 * (pair[0] & pair[1]).sum() / sum(sizes) if sum(sizes) else 1)
            norm = np.linalg.norm(true.shape) if any(sizes) else 0
            distance.append(pooled_percentile(*pair) if all(sizes) else norm)
    of_tooth = dice[labels.index(48) :: len(labels)]
    return {
        "dice": np.mean(dice),
        "hd95": np.mean(distance),
        "dice_Lower_Right_Third_Molar_Wisdom_Tooth": np.mean(of_tooth),
    }


def test_toothfairy_in_voxels_with_the_norm_of_the_shape(scored):
    folder, figures, _ = scored["toothfairy2"]
    sides = (volumes(folder, f"{side}/structures") for side in ("phase", "submission"))
    for name, value in toothfairy2(zip(*sides, strict=True)).items():
        assert figures[f"segmentation.{name}"] == pytest.approx(value, abs=5e-5)


def components(labels):
    return ndimage.label(labels == 2, np.ones((3, 3, 3)))[0]


def test_hecktor_pools_volumes_and_nodes_of_all_patients(scored):
    folder, figures, _ = scored["hecktor2025"]
    true, found = (np.stack(volumes(folder, f"{side}/tumours")) for side in ("phase", "submission"))
    for label, name in ((1, "GTVp"), (2, "GTVn")):
        expected = metrics.f1_score((true == label).ravel(), (found == label).ravel())
        assert figures[f"segmentation.dice_{name}"] == pytest.approx(expected, abs=5e-5)
    each = [
        metrics.f1_score(of.ravel() == 1, other.ravel() == 1, zero_division=1)
        for of, other in zip(true, found, strict=True)
    ]
    assert figures["segmentation.mean_dice"] == pytest.approx(np.mean(each), abs=5e-5)
    hits, nodes = 0, 0
    for maps in zip(true, found, strict=True):
        one, other = ([of == number for number in range(1, of.max() + 1)] for of in map(components, maps))
        ious = np.array([[(a & b).sum() / (a | b).sum() for b in other] for a in one]).reshape(
            len(one), len(other)
        )
        hits += (maximum_bipartite_matching(csr_array(ious > 0.3)) >= 0).sum() if ious.size else 0
        nodes += len(one) + len(other)
    assert 0 < 2 * hits < nodes
    assert figures["segmentation.nodes"] == pytest.approx(2 * hits / nodes, abs=5e-5)
    cases, answers = (
        rows_of(folder / "phase" / "cases.csv"),
        rows_of(folder / "submission" / "predictions.csv"),
    )
    days, relapsed, hpv = ([float(row[key]) for row in cases] for key in ("relapse_days", "relapsed", "hpv"))
    risks, guesses = ([float(row[key]) for row in answers] for key in ("risk", "hpv"))
    pairs = [
        (risks[one] > risks[other]) + 0.5 * (risks[one] == risks[other])
        for one in range(len(days))
        for other in range(len(days))
        if relapsed[one] and (days[one], -relapsed[one]) < (days[other], -relapsed[other])
    ]
    index = np.mean(pairs)
    assert figures["prognosis.concordance_index"] == pytest.approx(index, abs=5e-5)
    balanced = metrics.balanced_accuracy_score(hpv, guesses)
    assert figures["status.balanced_accuracy"] == pytest.approx(balanced, abs=5e-5)


def test_synthrad_inside_the_body(scored):
    folder, figures, _ = scored["synthrad2025"]
    sides = (volumes(folder, place) for place in ("submission/sct", "phase/sct", "phase/mask"))
    rows = []
    for made, true, mask in zip(*sides, strict=True):
        inside = mask > 0
        assert made[inside].max() > 3071
        one, other = (of.clip(-1024, 3071).astype(float) for of in (made, true))
        ratio = peak_signal_noise_ratio(other[inside], one[inside], data_range=4095)
        whole = [np.where(inside, of + 1024, 0) for of in (one, other)]
        rows.append((np.abs(made - true)[inside].mean(dtype=float), ratio, *whole, mask))
    assert figures["images.mae"] == pytest.approx(np.mean([row[0] for row in rows]), abs=5e-5)
    assert figures["images.psnr"] == pytest.approx(np.mean([row[1] for row in rows]), abs=5e-5)
    similarity = np.mean([synthrad(*row[2:]) for row in rows])
    assert 0.1 < similarity < 0.995
    assert figures["images.ms_ssim"] == pytest.approx(similarity, abs=5e-5)


def greedy(found, true, radius):
    """Return hits: each prediction takes the nearest object that is free, in their order."""
    free, hits = list(range(len(true))), 0
    for point in found:
        apart = [np.linalg.norm(np.subtract(point, true[index])) for index in free]
        if apart and min(apart) <= radius:
            free.pop(int(np.argmin(apart)))
            hits += 1
    return hits


def test_ocelot_from_one_list_of_all_patches(scored):
    folder, figures, result = scored["ocelot2023"]
    cells = rows_of(folder / "phase" / "cells.csv")
    (output,) = (folder / "submission").glob("*/output/cell-classification.json")
    points = sorted(json.loads(output.read_text())["points"], key=lambda point: -point["probability"])
    scores = []
    for number, name in ((1, "background cell"), (2, "tumour cell")):
        hits = objects = predictions = 0
        for patch in range(6):
            of_image = [point["point"] for point in points if point["name"] == f"image_{patch}"]
            found = [place[:2] for place in of_image if place[2] == number]
            here = [row for row in cells if row["case"] == f"patch{patch:02d}" and row["class"] == name]
            true = [[float(row["x"]), float(row["y"])] for row in here]
            hits, objects, predictions = (
                hits + greedy(found, true, 15),
                objects + len(true),
                predictions + len(found),
            )
        assert 20 < hits < objects
        scores.append(2 * hits / (objects + predictions))
        assert figures[f"detection.point_f1_{name.replace(' ', '_')}"] == pytest.approx(scores[-1], abs=5e-5)
    assert result["ranking"]["composites"]["mean_f1"]["value"] == pytest.approx(np.mean(scores), abs=5e-5)


def puma(images):
    """Return F1 of each class that occurs; images: nuclei of reference and prediction, (class, x, y)."""
    scores = {}
    for true, found in images:
        for name in {of for of, *_ in (*true, *found)}:
            free = [place for of, *place in found if of == name]
            places = [place for of, *place in true if of == name]
            hits, total = 0, len(places) + len(free)
            for place in places:
                apart = np.array([np.hypot(*np.subtract(place, other)) for other in free])
                if apart.size and apart.min() < 15:
                    free.pop(int(apart.argmin()))
                    hits += 1
            scores.setdefault(name, []).append(2 * hits / total)
    return {name: sum(of) / len(images) for name, of in scores.items()}


def nuclei_of(folder, name):
    """Return the nuclei of an image as the platform's files have them, which know no score."""
    rows = [row for row in rows_of(folder / "phase" / "nuclei.csv") if row["case"] == name]
    true = [(row["class"], float(row["x"]), float(row["y"])) for row in rows]
    output = folder / "submission" / f"job-{name}" / "output" / f"{NUCLEI}.json"
    polygons = json.loads(output.read_text())["polygons"]
    return true, [(of["name"], *np.mean(of["path_points"], axis=0)[:2]) for of in polygons]


def test_puma_from_polygons_of_each_image(scored):
    folder, figures, result = scored["puma"]
    names = [case["name"] for case in rows_of(folder / "phase" / "cases.csv")]
    by_class = puma([nuclei_of(folder, name) for name in names])
    assert {name: figures[f"detection.f1_{name}"] for name in by_class} == pytest.approx(by_class, abs=5e-5)
    macro = result["ranking"]["composites"]["macro_f1"]["value"]
    assert macro == pytest.approx(np.mean(list(by_class.values())), abs=1e-4)
    true, made = [], []
    for name in names:
        (tissue,) = (folder / "submission" / f"job-{name}" / "output").rglob("*.tif")
        for path, side in ((tissue, made), (folder / "phase" / "tissue" / f"{name}.tif", true)):
            side.append(SimpleITK.GetArrayFromImage(SimpleITK.ReadImage(str(path))))
    sides = np.stack(true).ravel(), np.stack(made).ravel()
    assert figures["segmentation.dice"] == pytest.approx(
        metrics.f1_score(*sides, labels=range(1, 6), average="macro"), abs=5e-5
    )


def test_puma_leaves_out_a_class_that_no_image_has(tmp_path):
    """Perfect nuclei of two classes score 1, and a certain one farther away takes nothing from a near one."""
    write_sample(tmp_path, "puma", images=2)
    table = tmp_path / "phase" / "nuclei.csv"
    rows = [("case", "x", "y", "class")]
    for number, name in enumerate(("image_000", "image_001")):
        path = tmp_path / "submission" / f"job-{name}" / "output" / f"{NUCLEI}.json"
        content = json.loads(path.read_text())
        kept = content["polygons"][: 1 + number]
        for polygon, place in zip(kept, (100, 200), strict=False):
            corners = ((0, 0), (4, 0), (4, 4), (0, 4))
            polygon["path_points"] = [[place + x, place + y, 0.5] for x, y in corners]
            polygon |= {"seed_point": polygon["path_points"][0], "name": "nuclei_tumor", "probability": 0.1}
            rows.append((name, place + 2, place + 2, "nuclei_tumor"))
        path.write_text(json.dumps(content | {"polygons": kept}))
    table.write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    evaluation.seal(tmp_path / "phase")
    result = scores_of(tmp_path / "phase", tmp_path / "submission")
    assert result["ranking"]["composites"]["macro_f1"]["value"] == 1
