"""Annotators beside teams: their figures in papers, teams at their specificity, and the average reader.

REFUGE's two experts (section 4.1), ADAM's Tables 7 and 14, and Obuchowski and Rockette's analysis:
`van_dyke.csv` holds the ratings (1 to 5) of Van Dyke et al. 1993 ("Cine MRI in the diagnosis of thoracic
aortic dissection",
79th RSNA meeting): two modalities, five readers, 69 cases without and 45 with a dissection, one digit each.
They are distributed with OR-DBM MRMC, MRMCaov and RJafroc. The expected results are those of OR-DBM MRMC 2.51
(Schartz, Hillis, Pesce, Berbaum), trapezoidal areas with covariances by the jackknife.
"""

import csv
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score, roc_curve

from evaluation.core.case_table import CaseTable
from evaluation.core.class_estimators import RocArea, SensitivityAtSpecificity
from evaluation.core.estimator import Mean
from evaluation.core.fault import PhaseError
from evaluation.core.metric import Metric
from evaluation.core.resampling import Resampling
from evaluation.organiser.ranking.annotators import (
    beside_teams,
    describe_annotators,
    operating_point,
    read_annotator_scores,
    read_annotators,
    readings_of,
)
from evaluation.organiser.ranking.readers import (
    AnnotatorPoint,
    _Read,
    against_readers,
    annotator_points,
    mean_of_readers,
)
from evaluation.organiser.ranking.resampling import TeamCases
from test.faults import faulted

# 40 positives, then 360 negatives. Both experts find the same 34 positives. They call 328 and 329 negatives
# negative: 321 both, 7 the first alone, 8 the second alone, 24 neither.
LABEL = np.repeat([1.0, 0.0], [40, 360])
FIRST = np.repeat([1.0, 0.0, 0.0, 0.0, 1.0, 1.0], [34, 6, 321, 7, 8, 24])
SECOND = np.repeat([1.0, 0.0, 0.0, 1.0, 0.0, 1.0], [34, 6, 321, 7, 8, 24])
CURVES = {
    f"classification.{name}": Metric(name, name, estimator, best=1, worst=0)
    for name, estimator in (
        ("auc", RocArea("likelihood", "glaucoma")),
        ("sensitivity", SensitivityAtSpecificity("likelihood", "glaucoma", Fraction(85, 100))),
    )
}
NAMES = [f"C{position}" for position in range(400)]
TABLES = {
    "classification": CaseTable(NAMES, [{"likelihood": 0.0, "glaucoma": label} for label in LABEL.tolist()])
}


def described(**columns: np.ndarray):
    return describe_annotators(readings_of(lambda names: columns, CURVES, TeamCases(("team",), (TABLES,))))


def test_the_published_figures_of_the_two_experts():
    """85 %, 91.11 % and 91.39 %, 90.50 % and 90.75 %; they agree on 96.25 %, 92.21 % of it rightly."""
    found = described(first=FIRST, second=SECOND)
    for name, negatives in (("first", 328), ("second", 329)):
        one = found.points[name]
        assert (one.true_positives, one.positives) == (34, 40)
        assert (one.true_negatives, one.negatives) == (negatives, 360)
        shares = (34 / 40, negatives / 360, (34 + negatives) / 400)
        assert (one.sensitivity, one.specificity, one.accuracy) == shares
    (pair,) = found.agreement
    assert (pair.agreed, pair.cases, pair.consensus.accuracy) == (385, 400, 355 / 385)
    assert (pair.consensus.true_negatives, pair.consensus.negatives) == (321, 345)


def test_scores_and_annotators_who_read_some_cases():
    # The score of half of the positives is above that of all negatives, the rest is tied: AUC 0.75.
    score = np.where(np.arange(400) < 20, 0.9, 0.4)
    found = described(ratio=score)
    assert found.points == {}
    assert found.classifiers == {
        "ratio": {"classification.auc": pytest.approx(0.75), "classification.sensitivity": 0.5}
    }
    partial = FIRST.copy()
    partial[:30] = np.nan
    point = described(partial=partial).points["partial"]
    assert (point.true_positives, point.positives) == (4, 10)
    nothing = operating_point(np.full(400, np.nan), LABEL)
    assert (nothing.sensitivity, nothing.specificity, nothing.accuracy) == (None, None, None)
    metrics = {"t.dice": Metric("dice", "Dice", Mean("dice"), best=1, worst=0)}
    with faulted(PhaseError, "annotators"):
        readings_of(lambda names: {"a": FIRST}, metrics, TeamCases(("team",), (TABLES,)))
    with faulted(PhaseError, "annotators need results per case"):
        readings_of(lambda names: {"a": FIRST}, CURVES, TeamCases(("team",), (None,)))


def test_reading_the_table(tmp_path):
    path = tmp_path / "annotators.csv"
    path.write_text("name,a,b\nc2.png,1,0.5\nC1,,1\n", encoding="utf-8")
    columns = read_annotators(path, ("C1", "C2", "C3"))
    np.testing.assert_array_equal(columns["a"], [np.nan, 1, np.nan])
    np.testing.assert_array_equal(columns["b"], [1, 0.5, np.nan])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("case,a\nC1,1\n", ("'name'",)),
        ("name\nC1\n", ("'name'",)),
        ("name,a,a\nC1,1,1\n", ("'a'",)),
        ("name,a\nC9,1\n", ("line 2, name", "'C9'")),
        ("name,a\nC1,1\nC1,0\n", ("line 3, name", "'C1'")),
        ("name,a\nC1,yes\n", ("line 2, a", '"yes"')),
        ("annotator,dice\nuser1,0.5\n", ("annotators.csv",)),
        ("annotator,disc.volume\nuser1,0.5\n", ("line 2, metric", "'disc.volume'")),
        ("annotator,disc.dice\nuser1,0.5\nuser1,0.6\n", ("disc.dice of 'user1'",)),
        ("annotator,disc.dice\n,0.5\n", ("line 2, annotator", "nothing")),
        ("annotator,disc.dice\nuser1,much\n", ("line 2, disc.dice",)),
        ("annotator,disc.dice\n", ("annotators.csv", "none")),
    ],
)
def test_faults_of_both_tables(tmp_path, text, told):
    path = tmp_path / "annotators.csv"
    path.write_text(text, encoding="utf-8")
    with faulted(PhaseError, *told):
        if text.startswith("annotator"):
            read_annotator_scores(path, BETTER)
        else:
            read_annotators(path, ("C1", "C2"))


BETTER = {"disc.dice": "higher", "disc.f1": "higher", "fovea.distance": "lower"}


@pytest.mark.parametrize(("metric", "sign"), [("disc.dice", 1), ("fovea.distance", -1)])
def test_ties_teams_that_are_not_ranked_and_metrics_of_annotators(metric, sign):
    teams = {name: {metric: sign * value} for name, value in (("a", 0.9), ("b", 0.8), ("x", 0.9))}
    rows = beside_teams(teams, {"a", "b"}, {"user": {metric: sign * 0.8}}, BETTER)
    assert [
        (row.name, row.kind, row.rank, row.teams_better, row.teams_equal, row.teams_worse) for row in rows
    ] == [
        ("a", "team", 1, 0, 0, 1),
        ("x", "unranked team", 1, 0, 1, 1),
        ("b", "team", 2, 1, 0, 0),
        ("user", "annotator", 2, 1, 1, 0),
    ]
    rows = beside_teams({"a": {metric: 1, "disc.f1": 1}}, {"a"}, {"user": {"disc.f1": 0.5}}, BETTER)
    assert {row.metric for row in rows} == {"disc.f1"}
    assert beside_teams(teams, {"a"}, {}, BETTER) == ()


def test_the_table_that_fuse_writes(tmp_path):
    path = tmp_path / "annotators.csv"
    path.write_text("annotator,task,metric,cases,value\nuser1,disc,dice,3,0.5\nuser1,fovea,distance,2,\n")
    assert read_annotator_scores(path, BETTER) == {"user1": {"disc.dice": 0.5}}


ROC = {"task.auc": Metric("auc", "AUC", RocArea("score", "label"), best=1, worst=0)}
# 40 positives, then 360 negatives; the first expert detects 34 and calls 328 negatives negative.
EXPERT = np.repeat([1.0, 0.0, 0.0, 1.0], [34, 6, 328, 32])


def team_cases(scores, label) -> TeamCases:
    """Return teams whose only task has a score and a label in each case."""
    names = [f"C{case:03}" for case in range(len(label))]
    tables = tuple(
        {"task": CaseTable(names, [{"score": x, "label": y} for x, y in zip(of_team, label, strict=True)])}
        for of_team in scores.values()
    )
    return TeamCases(tuple(scores), tables)


def points(
    scores: dict[str, np.ndarray],
    decisions: dict[str, np.ndarray],
    label: np.ndarray = LABEL,
    clusters: dict[str, str] | None = None,
    ranked: tuple[str, ...] | None = None,
) -> dict[tuple[str, str], AnnotatorPoint]:
    found = annotator_points(
        readings_of(lambda names: decisions, ROC, team_cases(scores, label)),
        tuple(scores) if ranked is None else ranked,
        Resampling(seed=1, resamples=200, interval_minimum=10, clusters=clusters),
    )
    return {(one.annotator, one.team): one for one in found}


def test_a_team_that_finds_four_more_at_the_experts_specificity():
    # 38 positives score 2. Of the negatives, 32 score 2 too and 328 less: the specificity is just reached.
    score = np.repeat([2.0, 0.0, 1.0, 2.0], [38, 2, 328, 32])
    found = points({"team": score}, {"expert": EXPERT})["expert", "team"]
    assert (found.positives, found.negatives) == (40, 360)
    assert (found.specificity, found.annotator_sensitivity) == (328 / 360, 34 / 40)
    assert found.team_sensitivity == 38 / 40
    assert found.difference.value == pytest.approx(
        0.1
    )  # "increments in sensitivity up to a 10 %" (section 5.3)
    assert (found.only_team, found.only_annotator) == (4, 0)
    assert (found.difference.lower > 0) == (found.difference.p_value < 0.05)
    assert found.difference.lower <= 0.1 <= found.difference.upper
    # One negative more among the high scores: the threshold must rise above all scores.
    score[40 + 327] = 2.0
    assert points({"team": score}, {"expert": EXPERT})["expert", "team"].team_sensitivity == 0.0


@pytest.mark.parametrize("seed", range(8))
def test_the_sensitivity_is_the_highest_on_scikit_learns_curve_at_that_specificity(seed):
    rng = np.random.default_rng(seed)
    label = np.array([*rng.integers(0, 2, 20), 0, 1], dtype=float)
    score, decision = rng.integers(0, 6, 22).astype(float), rng.integers(0, 2, 22).astype(float)
    found = points({"t": score}, {"e": decision}, label)["e", "t"]
    false_positive_rate, sensitivity, _ = roc_curve(label, score, drop_intermediate=False)
    reached = false_positive_rate <= np.mean(decision[label == 0]) + 1e-9
    assert found.team_sensitivity == pytest.approx(sensitivity[reached].max())


def test_which_cases_enter_and_a_missing_positive_is_never_detected():
    label, decision = LABEL.copy(), EXPERT.copy()
    label[:5] = np.nan
    decision[395:] = np.nan
    score = np.linspace(1, 0, 400)
    found = points({"team": score}, {"expert": decision}, label)["expert", "team"]
    assert (found.positives, found.negatives) == (35, 355)
    assert found.specificity == 328 / 355
    everything = np.ones(400)
    score = np.where(LABEL > 0, -math.inf, 0.0)
    found = points({"team": score}, {"expert": everything})["expert", "team"]
    # The expert calls all positive: every threshold has the specificity 0.
    assert (found.specificity, found.annotator_sensitivity, found.team_sensitivity) == (0.0, 1.0, 0.0)


def test_holm_clusters_and_what_is_no_operating_point():
    better = np.repeat([2.0, 0.0, 1.0, 2.0], [40, 0, 328, 32])
    scores = {"a": better, "b": EXPERT, "ensemble": better}
    found = points(scores, {"expert": EXPERT}, ranked=("a", "b"))
    of_a = found["expert", "a"].difference
    assert (of_a.lower > 0 or of_a.upper < 0) == (of_a.p_value < 0.05)
    assert found["expert", "a"].p_holm == pytest.approx(min(1, 2 * of_a.p_value))
    assert found["expert", "ensemble"].p_holm == found["expert", "ensemble"].difference.p_value
    # All differences are in one person, who may be drawn or not.
    score = np.repeat([2.0, 0.0, 1.0, 2.0], [38, 2, 328, 32])
    persons = {f"C{position:03}": "" for position in range(400)} | {f"C{i:03}": "one" for i in range(34, 38)}
    found = points({"team": score}, {"expert": EXPERT}, clusters=persons)["expert", "team"]
    assert found.difference.value == pytest.approx(0.1)
    assert found.difference.method == "bootstrap t"
    assert found.difference.p_value > 0.05
    nothing = np.full(400, np.nan)
    positives_only = np.where(LABEL > 0, 1.0, np.nan)
    decisions = {"score": np.linspace(0, 1, 400), "none": nothing, "half": positives_only}
    assert points({"team": np.linspace(1, 0, 400)}, decisions) == {}


def test_resampling_weights_count_cases():
    """The interval's figures are those of a table in which cases occur as often as they were drawn."""
    rng = np.random.default_rng(0)
    label = rng.random(40) < 0.4
    score, decision = rng.integers(0, 6, 40).astype(float), (rng.random(40) < 0.5) * 1.0
    weights = rng.integers(0, 4, (20, 40)).astype(float)
    given = {}, Resampling(0, 0, 10)
    (gains,) = _Read(decision[np.newaxis], label, None, *given).gains(score, weights)
    for row, gain in zip(weights, gains, strict=True):
        drawn = np.repeat(np.arange(40), row.astype(int))
        again = _Read(decision[np.newaxis, drawn], label[drawn], None, *given)
        assert gain == pytest.approx(again.gains(score[drawn], np.ones((1, drawn.size)))[0, 0])


POSITIVE = np.repeat([False, True], [69, 45])
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
    found = mean_of_readers(areas[0] - areas[1], covariance_of(without[0] - without[1]))
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
    given = {team: np.array(score, float) for team, score in scores.items()}
    columns = {f"reader {number}": np.array(one, float) for number, one in enumerate(readings)}
    found = against_readers(
        readings_of(lambda _: columns, ROC, team_cases(given, positive.astype(float))),
        tuple(scores),
        Resampling(seed=3, resamples=resamples, interval_minimum=10, clusters=clusters),
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
    given = [getattr(one.difference, name) for name in names]
    assert given == pytest.approx([getattr(expected, name) for name in names])
    assert one.p_holm == pytest.approx(max(found["AUC", "b"].p_holm, one.difference.p_value))
    alone = found["AUC", None].difference
    assert (alone.value, alone.p_value) == (found["AUC", None].readers_value, None)
    # DeLong's covariances are near those of the jackknife, which give 0.8252 to 0.9689.
    assert (alone.lower, alone.upper) == pytest.approx((0.8252, 0.9689), abs=2e-3)


def test_cases_of_a_cluster_count_once(ratings):
    readers, algorithm = ratings[0], ratings[1][0]
    once = against(readers, {"a": algorithm})
    twice = against(
        np.repeat(readers, 2, axis=1),
        {"a": np.repeat(algorithm, 2)},
        np.repeat(POSITIVE, 2),
        clusters={f"C{case:03}": f"{case // 2}" for case in range(228)},
    )
    for key in once:
        assert twice[key].difference.standard_error == pytest.approx(once[key].difference.standard_error)


def test_decisions_are_compared_at_each_readers_specificity(ratings):
    decided = (ratings[0] > 3).astype(float)
    perfect = POSITIVE + 0.001 * np.arange(114)
    found = against(decided, {"a": perfect}, resamples=400)
    hits, rejections = decided[:, POSITIVE], 1 - decided[:, ~POSITIVE]
    assert found["sensitivity", None].readers_value == pytest.approx(hits.mean())
    assert found["specificity", None].readers_value == pytest.approx(rejections.mean())
    # With two readers a and b, the covariance of their shares among n cases is cov(a, b) / n.
    expected = mean_of_readers(hits.mean(axis=1), np.cov(hits) / 45)
    assert found["sensitivity", None].difference.standard_error == pytest.approx(expected.standard_error)
    # A perfect algorithm detects all: the difference varies as the readers' sensitivity does.
    one = found[FIGURE, "a"]
    assert (one.team_value, one.difference.value) == pytest.approx((1, 1 - hits.mean()))
    assert one.difference.standard_error == pytest.approx(expected.standard_error, rel=0.05)


def test_intervals_are_cut_at_the_ends_of_the_range():
    positive = np.repeat([True, False], 10)
    readings = np.tile(positive.astype(float), (2, 1))
    readings[1, :2] = 0  # sensitivities 1 and 0.8: MS = 0.02, Cov₂ = 0, one degree of freedom
    found = against(readings, {"a": positive + 0.001 * np.arange(20)}, positive, resamples=50)
    alone, beside = found["sensitivity", None].difference, found[FIGURE, "a"].difference
    assert alone.standard_error == pytest.approx(0.1)  # and t = 12.7: without the cut from −0.37 to 2.17
    assert (alone.lower, alone.upper) == (0, 1)
    assert (beside.value, beside.lower, beside.upper) == (pytest.approx(0.1), -1, 1)


@pytest.mark.parametrize("resamples", [0, 50])
def test_one_reader_or_few_cases_give_nothing(ratings, resamples):
    assert against(ratings[0][:1], {"a": ratings[1][0]}, resamples=resamples) == {}
    few = np.r_[0:20, 69:78]  # nine positives
    scores = {"a": ratings[1][0][few]}
    assert against(ratings[0][:, few], scores, POSITIVE[few], resamples) == {}
