"""PI-CAI's figures through a phase, against scikit-learn, SciPy and components that SimpleITK finds."""

import numpy as np
import pytest
import SimpleITK
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import jaccard_score, precision_recall_curve, roc_auc_score, roc_curve

from evaluation.library import SubmissionRejected
from test.challenges.declared.images import figures_of, volume_phase
from test.challenges.declared.scalars import rehearsed
from test.oracles import checked

TABLES = """\
[fields.map]
kind = "detection_map"
foreground = [2, 3]
background = [1]

[tasks.scans.metrics]
lesion_average_precision = {}
case_auc = {}
lesion_froc = { false_positives_per_case = [0.2] }
linear = { metric = "lesion_froc", false_positives_per_case = [0.2], reading = "linear" }
"""
SHAPE = (4, 8, 9)


def components(mask):
    image = SimpleITK.ConnectedComponent(SimpleITK.GetImageFromArray(mask.astype(np.uint8)), True)
    return SimpleITK.GetArrayFromImage(image)


def blocks(random, values):
    """Return a few blocks of voxels that may touch each other."""
    image = np.zeros(SHAPE, np.uint8)
    for _ in range(random.integers(0, 4)):
        z, y, x = (random.integers(0, side - 1) for side in SHAPE)
        image[z : z + 2, y : y + 3, x : x + 2] = random.choice(values)
    return image


def scans(seed, count=12):
    """Return references, and findings that are near to about half of the lesions."""
    random = np.random.default_rng(seed)
    references, predictions = {}, {}
    for number in range(count):
        reference = blocks(random, [1, 2, 3])
        found = components((np.roll(reference, random.integers(0, 2), 1) >= 2) | (blocks(random, [1]) > 0))
        confidences = np.array([0, *random.integers(1, 20, found.max()) / 20], np.float32)
        references[f"scan{number}"], predictions[f"scan{number}"] = reference, confidences[found]
    return references, predictions


def results_of(reference, prediction):
    """Return truth and confidence of all lesions and findings that count."""
    lesions, findings = components(reference >= 2), components(prediction > 0)
    overlap = np.zeros((lesions.max(), findings.max()))
    for one, other in np.ndindex(overlap.shape):
        overlap[one, other] = jaccard_score(lesions.ravel() == one + 1, findings.ravel() == other + 1)
    confidence = [prediction[findings == number][0] for number in range(1, findings.max() + 1)]
    value = np.where(overlap >= 0.1, 1 + overlap, 0)
    pairs = [pair for pair in zip(*linear_sum_assignment(-value), strict=True) if value[pair]]
    hits = [(1, confidence[other]) for _, other in pairs]
    missed = [(1, 0.0)] * (lesions.max() - len(pairs))
    false = [(0, confidence[other]) for other in range(findings.max()) if not value[:, other].any()]
    return [*hits, *missed, *false]


def expected_of(scans, rates):
    """Return the average precision, the area, and sensitivities at rates of false findings per scan."""
    results = [results_of(*scan) for scan in scans]
    truth, confidence = np.array([row for rows in results for row in rows]).T
    precision, recall, thresholds = precision_recall_curve(truth, confidence)
    precision[:-1][thresholds == 0] = 0  # a lesion without a finding is never found
    area = roc_auc_score(
        [(reference >= 2).any() for reference, _ in scans], [prediction.max() for _, prediction in scans]
    )
    found = [sensitivities_at(rate, truth, confidence, len(scans)) for rate in rates]
    return -np.sum(np.diff(recall) * precision[:-1]), area, found


@checked(
    lesion_average_precision=(
        "sklearn.metrics.precision_recall_curve",
        "scipy.optimize.linear_sum_assignment",
    ),
    case_auc="sklearn.metrics.roc_auc_score",
    lesion_froc="sklearn.metrics.roc_curve",
)
def test_figures_of_a_submission(tmp_path):
    references, predictions = scans(7)
    phase = volume_phase(tmp_path, TABLES, references)
    assert rehearsed(phase).problems == ()
    found = figures_of(phase, tmp_path, predictions)
    average, area, ((step, linear),) = expected_of(
        [(references[name], predictions[name]) for name in references], [0.2]
    )
    assert 0.1 < average < 0.9
    assert found["lesion_average_precision"] == pytest.approx(average, abs=5e-5)
    assert found["case_auc"] == pytest.approx(area, abs=5e-5)
    assert step < linear
    assert found["lesion_froc_at_0_2"] == found["lesion_froc"] == pytest.approx(step, abs=5e-5)
    assert found["linear_at_0_2"] == pytest.approx(linear, abs=5e-5)


def sensitivities_at(rate, truth, confidence, scans):
    """Return the highest sensitivity at up to so many false findings per scan, and the interpolated one."""
    false, found, levels = roc_curve(truth, confidence, drop_intermediate=False)
    false, found = false[levels > 0] * (truth == 0).sum() / scans, found[levels > 0]
    rates = np.unique(false)
    highest = [found[false == each].max() for each in rates]
    return found[false <= rate].max(), np.interp(rate, rates, highest)


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(
    ("voxels", "least", "precision"),
    [
        # A lesion of nine voxels in a row: one finding has three of them, another one five, and hits it. In
        # another scan a false finding lies between the confidences of both.
        ({(0, 3): 0.9, (4, 9): 0.4}, 0.1, 1 / 2),
        ({(0, 3): 0.4, (4, 9): 0.9}, 0.1, 1),
        # From five of nine on: the finding with three is false as well.
        ({(0, 3): 0.9, (4, 9): 0.4}, 5 / 9, 1 / 3),
        ({(0, 3): 0.9, (4, 9): 0.4}, 0.56, 0),
    ],
)
def test_the_finding_with_the_larger_overlap_is_the_hit(tmp_path, order, voxels, least, precision):
    reference, prediction = np.zeros((2, 1, 3, 9), np.float32)
    reference[0, 1] = 2
    for (start, end), confidence in voxels.items():
        prediction[0, 1, ::order][start:end] = confidence
    false = np.zeros_like(reference)
    false[0, 1, 4] = 0.5
    tables = TABLES.partition("lesion_average_precision")[0]
    tables += f"lesion_average_precision = {{ least_overlap = {least} }}\n"
    references = {"a": reference.astype(np.uint8), "b": np.zeros((1, 3, 9), np.uint8)}
    found = figures_of(volume_phase(tmp_path, tables, references), tmp_path, {"a": prediction, "b": false})
    assert found == {"lesion_average_precision": pytest.approx(precision, abs=1e-4)}


def test_any_positive_confidence(tmp_path):
    """Figures depend on the order of the confidences alone; a missing scan is below the most confident."""
    references, predictions = scans(7)
    figures = {}
    for factor, keys in ((1, ""), (1000, "any_confidence = true")):
        tables = TABLES.replace("background", f"{keys}\nbackground")
        folder = tmp_path / str(factor)
        phase = volume_phase(folder, tables, references, keys='missing = "worst"')
        given = {name: values * np.float32(factor) for name, values in list(predictions.items())[1:]}
        figures[factor] = figures_of(phase, folder, given)
    assert figures[1000] == figures[1]


@pytest.mark.parametrize(("keys", "value"), [("", 1.5), ("any_confidence = true", np.inf)])
def test_confidences_that_are_too_high(tmp_path, keys, value):
    references, _ = scans(7, count=1)
    phase = volume_phase(tmp_path, TABLES.replace("background", f"{keys}\nbackground"), references)
    given = {name: np.full(SHAPE, value, np.float32) for name in references}
    with pytest.raises(SubmissionRejected) as rejected:
        figures_of(phase, tmp_path, given)
    assert rejected.value.faults[0].found == f"{value:g} in plane 1"


def test_scans_without_a_result(tmp_path):
    """All lesions are missed, and there are false findings with more confidence than any other."""
    lesion, nothing = np.zeros(SHAPE, np.uint8), np.zeros(SHAPE, np.uint8)
    lesion[1, 1:3, 1:3] = 2
    references = {"a": lesion, "b": lesion, "c": nothing, "d": nothing}
    phase = volume_phase(tmp_path, TABLES, references, keys='missing = "worst"')
    perfect = {name: (values / 2).astype(np.float32) for name, values in references.items()}

    def figures(*kept):
        found = figures_of(phase, tmp_path / "".join(kept), {name: perfect[name] for name in kept})
        return found["lesion_average_precision"], found["case_auc"]

    assert figures("a", "b", "c", "d") == (1, 1)
    # One of two lesions is found, after one false finding.
    assert figures("a", "c", "d") == (0.25, 0.5)
    # Both lesions are found, after one false finding in a scan without lesions.
    assert figures("a", "b", "c") == (pytest.approx(2 / 3, abs=5e-5), 0.5)
