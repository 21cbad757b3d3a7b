"""Teams against the average reader: Obuchowski and Rockette's analysis.

`van_dyke.csv` holds the ratings (1 to 5) of Van Dyke et al. 1993 ("Cine MRI in the diagnosis of thoracic
aortic dissection", 79th RSNA meeting): two modalities, five readers, 69 cases without and 45 with a
dissection, one digit each. They are distributed with OR-DBM MRMC, MRMCaov and RJafroc. The expected results
are those of OR-DBM MRMC 2.51 (Schartz, Hillis, Pesce, Berbaum), trapezoidal areas with covariances by the
jackknife.
"""

import csv
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from evaluation.core.case_table import CaseTable
from evaluation.core.class_estimators import RocArea
from evaluation.core.metric import Metric
from evaluation.core.resampling import Resampling
from evaluation.organiser.ranking.readers import against_readers, mean_of_readers
from evaluation.organiser.ranking.resampling import TeamCases

POSITIVE = np.repeat([False, True], [69, 45])
METRICS = {"task.auc": Metric("auc", "AUC", RocArea("score", "label"), "higher", (0, 1))}
FIGURE = "sensitivity at the readers' specificity"


@pytest.fixture(scope="module")
def ratings():
    """Return the ratings, shape (modalities, readers, cases)."""
    with (Path(__file__).parent / "van_dyke.csv").open(encoding="ascii") as file:
        rows = list(csv.DictReader(file))
    columns = [[list(map(int, row[f"modality_{m}"])) for row in rows] for m in (1, 2)]
    return np.array([[without + of for without, of in zip(c[::2], c[1::2], strict=True)] for c in columns])


def jackknife(ratings):
    """Return areas, shape (modalities, readers), and the areas without each case."""
    areas = [[roc_auc_score(POSITIVE, one) for one in modality] for modality in ratings]
    cases = np.arange(POSITIVE.size)
    without = [
        [[area(one[cases != case], POSITIVE[cases != case]) for case in cases] for one in modality]
        for modality in ratings
    ]
    return np.array(areas), np.array(without)


def area(score, positive):
    above, below = score[positive][:, np.newaxis], score[~positive]
    return np.mean((above > below) + (above == below) / 2)


def covariance_of(without):
    cases = without.shape[-1]
    return np.cov(without) * (cases - 1) ** 2 / cases


def test_two_modalities_of_van_dyke(ratings):
    areas, without = jackknife(ratings)
    assert (
        pytest.approx(
            np.array(
                [
                    [0.91964573, 0.94782609],
                    [0.85877617, 0.90531401],
                    [0.90386473, 0.92173913],
                    [0.97310789, 0.99935588],
                    [0.82979066, 0.92995169],
                ]
            ),
            abs=5e-9,
        )
        == areas.T
    )
    found = mean_of_readers(areas[0] - areas[1], covariance_of(without[0] - without[1]))
    # MS(T*R) = 0.00055103 and Cov2 − Cov3 = 0.00034407 − 0.00023903 are half of the differences' figures.
    assert found.between / 2 == pytest.approx(0.00055103, abs=5e-9)
    assert found.covariance / 2 == pytest.approx(0.00034407 - 0.00023903, abs=2e-8)
    assert found.value == pytest.approx(-0.04380032, abs=5e-9)
    assert (found.standard_error, found.degrees_of_freedom) == pytest.approx((0.02075, 15.26), abs=5e-3)
    assert (found.value / found.standard_error) ** 2 == pytest.approx(4.46, abs=5e-3)
    assert found.p_value == pytest.approx(0.0517, abs=5e-5)
    assert (found.lower, found.upper) == pytest.approx((-0.08796, 0.00036), abs=5e-6)


def test_negative_covariances_and_cases_that_not_all_read(ratings):
    found = mean_of_readers([0.7, 0.9], [[1, -0.1], [-0.1, 1]])
    # MS = 0.02; SE = √(0.02 / 2) = 0.1 with one degree of freedom, whose 97.5 % quantile is 12.706.
    assert (found.standard_error, found.degrees_of_freedom) == pytest.approx((0.1, 1))
    assert found.upper == pytest.approx(0.8 + 12.7062 * 0.1, abs=1e-5)
    perfect = mean_of_readers([0.0, 0.0], np.zeros((2, 2)))
    assert (perfect.lower, perfect.upper, perfect.p_value) == (None, None, 1.0)
    assert mean_of_readers([0.1, 0.1], np.zeros((2, 2))).p_value is None
    readers = ratings[0].astype(float)
    readers[0, :9], readers[1, 110:] = np.nan, np.nan
    assert against(readers, {"a": ratings[1][0]})["AUC", "a"].cases == 114 - 9 - 4


def against(readings, scores, positive=POSITIVE, resamples=0, clusters=None):
    names = [f"C{case:03}" for case in range(positive.size)]
    tables = [
        {
            "task": CaseTable(
                names,
                [{"score": float(s), "label": float(p)} for s, p in zip(score, positive, strict=True)],
            )
        }
        for score in scores.values()
    ]
    found = against_readers(
        lambda _: {f"reader {number}": np.array(one, float) for number, one in enumerate(readings)},
        METRICS,
        TeamCases(tuple(scores), tuple(tables), clusters and dict(zip(names, clusters, strict=True))),
        tuple(scores),
        Resampling(seed=3, resamples=resamples, interval_minimum=10),
    )
    return {(one.figure, one.team): one for one in found}


def delong(scores, positive):
    """Return DeLong's covariances of the areas of several scores, from their placement values."""
    wins = [
        (s[positive][:, None] > s[~positive]) + (s[positive][:, None] == s[~positive]) / 2 for s in scores
    ]
    of_class = [np.cov([one.mean(axis=axis) for one in wins]) for axis in (1, 0)]
    return of_class[0] / positive.sum() + of_class[1] / (~positive).sum()


def test_an_algorithm_against_five_readers(ratings):
    readers, algorithm = ratings[0], ratings[1].sum(axis=0)
    matrix = delong([algorithm, *readers], POSITIVE)
    apart = matrix[0, 0] - matrix[0, 1:] - matrix[1:, :1] + matrix[1:, 1:]
    gains = [roc_auc_score(POSITIVE, algorithm) - roc_auc_score(POSITIVE, one) for one in readers]
    expected = mean_of_readers(gains, apart)
    found = against(readers, {"a": algorithm, "b": -algorithm})
    one = found["AUC", "a"]
    assert (one.readers, one.cases) == (5, 114)
    assert (one.readers_value, one.team_value) == pytest.approx((0.897037037, 0.897037037 + np.mean(gains)))
    names = ("standard_error", "degrees_of_freedom", "lower", "upper", "p_value")
    assert [getattr(one, name) for name in names] == pytest.approx([getattr(expected, n) for n in names])
    assert one.p_holm == pytest.approx(max(found["AUC", "b"].p_holm, one.p_value))
    alone = found["AUC", None]
    assert (alone.difference, alone.p_value) == (None, None)
    # DeLong's covariances are near those of the jackknife, which give 0.8252 to 0.9689.
    assert (alone.lower, alone.upper) == pytest.approx((0.8252, 0.9689), abs=2e-3)


def test_cases_of_a_cluster_count_once(ratings):
    readers, algorithm = ratings[0], ratings[1][0]
    once = against(readers, {"a": algorithm})
    twice = against(
        np.repeat(readers, 2, axis=1),
        {"a": np.repeat(algorithm, 2)},
        np.repeat(POSITIVE, 2),
        clusters=[f"{case}" for case in np.repeat(range(114), 2)],
    )
    for key in once:
        assert twice[key].standard_error == pytest.approx(once[key].standard_error)


def test_decisions_are_compared_at_each_readers_specificity(ratings):
    decided = (ratings[0] > 3).astype(float)
    perfect = POSITIVE + 0.001 * np.arange(114)
    found = against(decided, {"a": perfect}, resamples=400)
    hits, rejections = decided[:, POSITIVE], 1 - decided[:, ~POSITIVE]
    assert found["sensitivity", None].readers_value == pytest.approx(hits.mean())
    assert found["specificity", None].readers_value == pytest.approx(rejections.mean())
    # With two readers a and b, the covariance of their shares among n cases is cov(a, b) / n.
    expected = mean_of_readers(hits.mean(axis=1), np.cov(hits) / 45)
    assert found["sensitivity", None].standard_error == pytest.approx(expected.standard_error)
    # A perfect algorithm detects all: the difference varies as the readers' sensitivity does.
    one = found[FIGURE, "a"]
    assert (one.team_value, one.difference) == pytest.approx((1, 1 - hits.mean()))
    assert one.standard_error == pytest.approx(expected.standard_error, rel=0.05)


def test_intervals_are_cut_at_the_ends_of_the_range():
    positive = np.repeat([True, False], 10)
    readings = np.tile(positive.astype(float), (2, 1))
    readings[1, :2] = 0  # sensitivities 1 and 0.8: MS = 0.02, Cov₂ = 0, one degree of freedom
    found = against(readings, {"a": positive + 0.001 * np.arange(20)}, positive, resamples=50)
    alone, beside = found["sensitivity", None], found[FIGURE, "a"]
    assert alone.standard_error == pytest.approx(0.1)  # and t = 12.7: without the cut from −0.37 to 2.17
    assert (alone.lower, alone.upper) == (0, 1)
    assert (beside.difference, beside.lower, beside.upper) == (pytest.approx(0.1), -1, 1)


@pytest.mark.parametrize("resamples", [0, 50])
def test_one_reader_or_few_cases_give_nothing(ratings, resamples):
    assert against(ratings[0][:1], {"a": ratings[1][0]}, resamples=resamples) == {}
    few = np.r_[0:20, 69:78]  # nine positives
    scores = {"a": ratings[1][0][few]}
    assert against(ratings[0][:, few], scores, POSITIVE[few], resamples) == {}
