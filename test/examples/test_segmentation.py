"""Examples of label maps and detection maps from their folders alone, against independent computations."""

import numpy as np
import pytest
import SimpleITK
from scipy import ndimage
from skimage.morphology import skeletonize
from sklearn.metrics import f1_score, precision_score, recall_score
from surface_distance import metrics as oracle

from test.challenges.declared.test_detection_map import expected_of
from test.challenges.declared.test_lesions import components
from test.examples.samples import scored_sample
from test.metrics.test_lesion_wise import expected_figures
from test.oracles import checked

pytestmark = pytest.mark.filterwarnings("ignore:Please import:DeprecationWarning")


def pairs(folder):
    """Return reference and prediction of every scan, arrays (z, y, x), and their spacing (z, y, x)."""
    (field,) = (path for path in (folder / "submission").iterdir() if path.is_dir())
    found = []
    for path in sorted(field.iterdir()):
        reference = SimpleITK.ReadImage(str(folder / "phase" / field.name / path.name))
        images = reference, SimpleITK.ReadImage(str(path))
        found.append((*map(SimpleITK.GetArrayFromImage, images), reference.GetSpacing()[::-1]))
    return found


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


def picai(scans):
    # The reference of PI-CAI's test of the kind counts labels from 2 on.
    rates = (0.1, 0.5, 1, 2)
    average, area, found = expected_of([(reference * 2, found) for reference, found, _ in scans], rates)
    steps = [step for step, _ in found]
    figures = {"case_auc": area, "lesion_average_precision": average, "lesion_froc": np.mean(steps)}
    names = (f"lesion_froc_at_{rate:g}".replace(".", "_") for rate in rates)
    return figures | dict(zip(names, steps, strict=True))


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


EXPECTED = {
    "kits2023": near_surfaces(MASSES),
    "multi-organ-ct": near_surfaces(ORGANS),
    "autopet": autopet,
    "isles2022": isles2022,
    "picai": picai,
    "topcow2024": topcow2024,
}


def compare(folder, name, expected_of, **options):
    """Compare the figures of an example of one task with those of a function of its scans."""
    folder, figures, _ = scored_sample(folder, name, **options)
    expected = expected_of(pairs(folder))
    found = {key.partition(".")[2]: value for key, value in figures.items()}
    assert found == pytest.approx(expected, abs=5e-5)
    assert 0.1 < next(iter(expected.values())) < 0.99
    # The tubes of a single vessel may all be in one piece.
    assert all(value > 0 for key, value in expected.items() if not key.startswith("betti_error_"))


FEWER = {"kits2023": {"scans": 2}, "multi-organ-ct": {"scans": 3}, "topcow2024": {"scans": 2}}


@pytest.mark.parametrize("name", EXPECTED)
def test_the_figures_are_those_of_an_independent_computation(name, tmp_path):
    compare(tmp_path, name, EXPECTED[name], **FEWER.get(name, {}))


@checked(
    lesion_wise_dice=("SimpleITK.ConnectedComponent", "scipy.ndimage.binary_dilation"),
    lesion_wise_hausdorff_distance="surface_distance.metrics.compute_robust_hausdorff",
)
def test_lesions_of_brats_one_at_a_time(tmp_path):
    compare(tmp_path, "brats2023", brats2023, scans=3)
