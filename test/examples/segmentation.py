"""Published formulas of examples of label maps, computed from arrays."""

import re
import tomllib

import numpy as np
from scipy import ndimage
from scipy.spatial.distance import cdist
from skimage.morphology import skeletonize
from sklearn.metrics import f1_score, precision_score, recall_score
from surface_distance import metrics as oracle

from test.challenges.declared.test_lesions import components
from test.examples.samples import EXAMPLES
from test.metrics.test_lesion_wise import expected_figures


def dice(true, found, spacing_mm=None):
    return f1_score(true.ravel(), found.ravel(), zero_division=1.0)


def distances(true, found, spacing_mm):
    return oracle.compute_surface_distances(true, found, spacing_mm)


def means(rows):
    """Return the mean of each figure over scans, and of a region's figures also over all regions.

    rows: for each scan the figures of each region by (metric, region).
    """
    figures = {key: np.mean([row[key] for row in rows]) for key in rows[0]}
    whole = {of: np.mean([figures[key] for key in figures if key[0] == of]) for of, _ in figures}
    return {f"{of}_{region}": value for (of, region), value in figures.items()} | whole


def brats2023(scans):
    def row(reference, prediction, spacing_mm):
        figures = {}
        for region, labels in (("wt", [1, 2, 3]), ("tc", [1, 3]), ("et", [3])):
            true, found = np.isin(reference, labels), np.isin(prediction, labels)
            lesions = expected_figures(found, true, 3, 50, spacing_mm)
            if true.any() and found.any():
                farthest = oracle.compute_robust_hausdorff(distances(true, found, spacing_mm), 95)
            else:
                farthest = 374 * (true.any() != found.any())
            flat = true.ravel(), found.ravel()
            empty = float(not true.any() and not found.any())
            figures |= {
                ("lesion_wise_dice", region): lesions[0],
                ("lesion_wise_hausdorff_95", region): lesions[1],
                ("dice", region): dice(true, found),
                ("hausdorff_95", region): farthest,
                ("voxel_sensitivity", region): recall_score(*flat, zero_division=empty),
                ("voxel_precision", region): precision_score(*flat, zero_division=empty),
            }
        return figures

    return means([row(*scan) for scan in scans])


def near_surfaces(regions):
    """Return what computes Dice and surface Dice of regions, by their labels and tolerance in mm."""

    def row(reference, prediction, spacing_mm):
        figures = {}
        for region, (labels, tolerance_mm) in regions.items():
            true, found = np.isin(reference, labels), np.isin(prediction, labels)
            near = float(true.any() == found.any())
            if true.any() and found.any():
                surfaces = distances(true, found, spacing_mm)
                near = oracle.compute_surface_dice_at_tolerance(surfaces, tolerance_mm)
            figures |= {("dice", region): dice(true, found), ("surface_dice", region): near}
        return figures

    return lambda scans: means([row(*scan) for scan in scans])


MASSES = {
    "kidney_and_masses": ([1, 2, 3], 1.0330772532390826),
    "masses": ([2, 3], 1.1328796488598762),
    "tumour": ([2], 1.1498198361434828),
}
ORGANS = {"liver": ([1], 3), "spleen": ([2], 2), "kidneys": ([3], 2), "pancreas": ([4], 3), "aorta": ([5], 2)}
# The voxels that differ from the middle in at most two coordinates.
EDGES = np.abs(np.indices((3, 3, 3)) - 1).sum(axis=0) <= 2


def autopet(scans):
    dices, false_positive, false_negative = [], [], []
    for reference, prediction, spacing_mm in scans:
        true, found = reference == 1, prediction == 1
        if true.any() or found.any():
            dices.append(dice(true, found))
        for mask, other, volumes in ((found, true, false_positive), (true, found, false_negative)):
            numbered, count = ndimage.label(mask, EDGES)
            alone = [numbered == lesion for lesion in range(1, count + 1)]
            voxels = sum(lesion.sum() for lesion in alone if not (lesion & other).any())
            volumes.append(voxels * np.prod(spacing_mm) / 1000)
    return {
        "dice": np.mean(dices),
        "false_positive_volume": np.mean(false_positive),
        "false_negative_volume": np.mean(false_negative),
    }


def isles2022(scans):
    rows = []
    for reference, prediction, spacing_mm in scans:
        true, found = reference == 1, prediction == 1
        lesions, predicted = components(true, True), components(found, True)
        hit = sum((lesion & found).any() for lesion in lesions)
        false = sum(not (lesion & true).any() for lesion in predicted)
        missed = len(lesions) - hit
        rows.append(
            {
                "dice": dice(true, found),
                "volume_difference": abs(int(found.sum()) - int(true.sum())) * np.prod(spacing_mm) / 1000,
                "lesion_count_difference": abs(len(predicted) - len(lesions)),
                "lesion_f1": hit / (hit + (false + missed) / 2) if lesions or predicted else 1,
            }
        )
    return {key: np.mean([row[key] for row in rows]) for key in rows[0]}


VESSELS = [
    *("BA", "R-PCA", "L-PCA", "R-ICA", "R-MCA", "L-ICA", "L-MCA", "R-Pcom", "L-Pcom"),
    *("Acom", "R-ACA", "L-ACA"),
]


def topcow2024(scans):
    names = dict(zip([*range(1, 13), 15], [*VESSELS, "3rd-A2"], strict=True))
    figures = {}
    for metric, compare in (("dice", dice), ("hausdorff_95", hausdorff_95), ("betti_error", betti_error)):
        of_label = {name: [] for name in names.values()}
        of_scan = []
        for reference, prediction, spacing_mm in scans:
            values = []
            for label, name in names.items():
                true, found = reference == label, prediction == label
                if true.any() or found.any():
                    value = compare(true, found, spacing_mm)
                    of_label[name].append(value)
                    values.append(value)
            of_scan.append(np.mean(values))
        figures[metric] = np.mean(of_scan)
        figures |= {
            f"{metric}_{name.replace('-', '_')}": np.mean(values)
            for name, values in of_label.items()
            if values
        }
    figures["centreline_dice"] = np.mean([centreline_dice(true > 0, found > 0) for true, found, _ in scans])
    return figures


def betti_error(true, found, spacing_mm):
    return abs(ndimage.label(true, np.ones((3, 3, 3)))[1] - ndimage.label(found, np.ones((3, 3, 3)))[1])


def centreline_dice(true, found):
    true, found = true.T, found.T  # thinned along x first
    centres = [skeletonize(mask) > 0 for mask in (true, found)]
    if not centres[0].any():  # 0 in the program
        centres = [true, centres[1] if centres[1].any() else found]
    if not (found[centres[0]].any() and true[centres[1]].any()):
        return 0
    return 2 / (centres[0].sum() / found[centres[0]].sum() + centres[1].sum() / true[centres[1]].sum())


def hausdorff_95(true, found, spacing_mm):
    if not true.any() or not found.any():
        return 90
    outlines = [mask & ~ndimage.binary_erosion(mask, np.ones((3, 3, 3))) for mask in (true, found)]
    apart = [ndimage.distance_transform_edt(~outline, spacing_mm) for outline in outlines]
    return max(np.percentile(apart[0][outlines[1]], 95), np.percentile(apart[1][outlines[0]], 95))


def pooled_percentile(true, found):
    """Return the 95th percentile of the distances of both surfaces together, in voxels."""
    edges = [np.argwhere(mask & ~ndimage.binary_erosion(mask)) for mask in (true, found)]
    apart = cdist(*edges)
    return np.percentile(np.hstack([apart.min(axis=0), apart.min(axis=1)]), 95)


def toothfairy2(scans):
    text = (EXAMPLES / "toothfairy2" / "phase.toml").read_text(encoding="utf-8")
    labels = tomllib.loads(text)["fields"]["structures"]["labels"]

    def row(true, found, *_):
        figures = {}
        for label, name in labels.items():
            pair = true == int(label), found == int(label)
            sizes = [mask.sum() for mask in pair]
            norm = np.linalg.norm(true.shape) if any(sizes) else 0
            region = re.sub(r"\W+", "_", name).strip("_")
            figures["dice", region] = 2 * (pair[0] & pair[1]).sum() / sum(sizes) if any(sizes) else 1
            figures["hd95", region] = pooled_percentile(*pair) if all(sizes) else norm
        return figures

    return means([row(*scan) for scan in scans])


def panther(scans):
    errors = [(found.sum(dtype=int) - true.sum(dtype=int)) * np.prod(of) for true, found, of in scans]
    near = near_surfaces({"tumour": ([1], 5)})(scans)
    return {key: near[key] for key in ("dice", "surface_dice")} | {
        "tumour_burden": np.sqrt(np.mean(np.square(errors))) / 1000
    }


def pinkcc(scans):
    diamond = ndimage.iterate_structure(ndimage.generate_binary_structure(3, 1), 2)
    figures = {}
    for metric in ("dice", "dilated_dice"):
        table = np.full((len(scans), 2), np.nan)
        for number, label in np.ndindex(table.shape):
            pair = [of == label + 1 for of in scans[number][:2]]
            if metric == "dilated_dice":
                if not pair[0].any():
                    continue
                pair = [ndimage.convolve(of * 1.0, diamond, mode="constant") > 0 for of in pair]
            table[number, label] = dice(*pair)
        figures[metric] = np.nanmean(table, axis=1).mean()
        primary, metastasis = np.nanmean(table, axis=0)
        figures |= {f"{metric}_primary": primary, f"{metric}_metastasis": metastasis}
    return figures
