"""Several references of a case through a phase: figures over annotators, their spread, and faults."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm
from sklearn.metrics import f1_score, jaccard_score

from evaluation.challenges.declared.declarable import METRICS
from evaluation.challenges.declared.maps import LabelMapField
from evaluation.metrics.probabilities import normal_crps
from test.challenges.declared.images import figures_of, volume_phase, write_images
from test.challenges.declared.scalars import rehearsed
from test.oracles import checked

FIELD = """\
[fields.map]
kind = "label_map"
labels = { 1 = "organ", 2 = "tumour" }
annotators = ["A-1", "B"]
"""


def drawn(seed):
    """Return labels 0, 1 and 2 in blocks; scan c lacks the tumour."""
    values = np.random.default_rng(seed).integers(0, 3, (3, 4, 3)).astype(np.uint8)
    return np.kron(values, np.ones((1, 2, 3), np.uint8))


REFERENCES = {
    annotator: {scan: drawn(10 * number + place) for number, scan in enumerate("abc")}
    for place, annotator in enumerate(("A-1", "B"))
}
REFERENCES["A-1"]["c"][REFERENCES["A-1"]["c"] == 2] = 0
PREDICTIONS = {scan: np.where(drawn(50) == 1, drawn(99), REFERENCES["A-1"][scan]) for scan in "abc"}


@pytest.fixture
def sealed(tmp_path):
    def seal(metrics, fields=FIELD):
        write_images(tmp_path / "phase/map/B", REFERENCES["B"])
        tables = f"{fields}\n[tasks.scans.metrics]\n{metrics}"
        return volume_phase(tmp_path, tables, REFERENCES["A-1"], name="map/A-1", keys='missing = "worst"')

    return seal


def over(score, scan, label, combine):
    found = PREDICTIONS[scan] == label
    return combine([score((true[scan] == label).ravel(), found.ravel()) for true in REFERENCES.values()])


def apart(true, found):
    return 1 - jaccard_score(true.ravel(), found.ravel(), zero_division=1.0)


@checked(dice="sklearn.metrics.f1_score")
def test_figures_over_annotators(sealed, tmp_path):
    phase = sealed(
        'dice = {}\nbest = { metric = "dice", over_annotators = "best" }\n'
        'ours = { metric = "dice", absent = "exclude" }\n'
        'near = { metric = "hausdorff_distance", over_annotators = "best", worst = 9 }\n'
    )
    found = figures_of(phase, tmp_path, {scan: PREDICTIONS[scan] for scan in "bc"})
    # Scan a has no result, and takes the worst value of each figure.
    for name, worst, of_scan in (
        ("dice", 0, lambda scan, label: over(f1_score, scan, label, np.mean)),
        ("best", 0, lambda scan, label: over(f1_score, scan, label, max)),
    ):
        for label, of in ((1, "organ"), (2, "tumour")):
            expected = np.mean([worst, *(of_scan(scan, label) for scan in "bc")])
            assert found[f"{name}_{of}"] == pytest.approx(expected, abs=5e-5)
    # In scan c the first annotator has no tumour, and so does not enter.
    of_c = f1_score((REFERENCES["B"]["c"] == 2).ravel(), (PREDICTIONS["c"] == 2).ravel())
    assert found["ours_tumour"] == pytest.approx(
        np.mean([0, over(f1_score, "b", 2, np.mean), of_c]), abs=5e-5
    )
    assert rehearsed(phase).problems == ()


TWO = ["A", "B"]
OF_ORGAN = {"probabilities": {"organ": "organ"}}


@pytest.mark.parametrize(
    ("metric", "options", "annotators", "reached"),
    [
        ("dice", {}, [], True),
        ("dice", {}, TWO, False),
        ("dice", {"over_annotators": "best"}, TWO, True),
        ("voxel_calibration_error", OF_ORGAN, [], True),
        ("voxel_calibration_error", OF_ORGAN, TWO, False),
    ],
)
def test_where_annotators_differ_nobody_can_agree_with_all(metric, options, annotators, reached):
    field = LabelMapField(kind="label_map", labels={"1": "organ"}, annotators=annotators)
    table = METRICS.named(metric).model_validate({"metric": metric, **options})
    assert {one.reached for one in table.measure("figure", "map", field).metrics} == {reached}


@pytest.mark.parametrize("deviations", [1.5, 3.0, math.inf])
@pytest.mark.parametrize("value", [-9.0, 4.0, 5.5, 30.0])
def test_the_score_is_the_integral(value, deviations):
    reach = min(deviations, 40) * 2
    # Beyond the value the distribution is compared with 1, before it with 0.
    step = min(max(value, 5 - reach), 5 + reach)
    below = quad(lambda at: norm.cdf(at, 5, 2) ** 2, 5 - reach, step)[0]
    above = quad(lambda at: norm.sf(at, 5, 2) ** 2, step, 5 + reach)[0]
    assert normal_crps(value, 5, 2, deviations) == pytest.approx(below + above, abs=1e-7)
    assert normal_crps(value, 5, 0, deviations) == abs(value - 5)
