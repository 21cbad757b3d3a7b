import pytest

from evaluation.core.challenge import metrics_of
from evaluation.core.scheme import Rank
from evaluation.phase.config import PhaseConfig
from evaluation.phase.leaderboard import platform_metrics
from evaluation.phase.places import platform_scheme, scheme_of
from evaluation.phase.registry import challenge_named, known_challenges

SENSITIVITY, HAMMING = "referral.sensitivity_at_95_specificity", "justification.hamming_distance"
COMPOSITE = "referral_and_justification_error"


PROGRAMMED = [name for name in known_challenges() if challenge_named(name).declare is None]


@pytest.mark.parametrize("name", PROGRAMMED)
def test_every_challenge_ranks_metrics_that_it_has(name):
    challenge = challenge_named(name)
    options = challenge.options()
    scheme = scheme_of(challenge, options)
    metrics = metrics_of(challenge.tasks(options))
    assert set(scheme.metrics) <= set(metrics)
    # The components are what the scheme ranks: nothing else is told to participants as such. The mAP in
    # sample is a figure of another task, and counts for generalisation by default, not by every choice.
    by_choice = {"detection.map_d"} if name == "edd2020" else set()
    assert set(scheme.metrics) == {*challenge.components, *by_choice}


@pytest.mark.parametrize("name", PROGRAMMED)
def test_a_metric_has_a_direction(name):
    challenge = challenge_named(name)
    for metric in metrics_of(challenge.tasks(challenge.options())).values():
        assert metric.best != metric.worst


@pytest.mark.parametrize(
    ("keys", "ranked"),
    [
        ({}, [SENSITIVITY, HAMMING]),
        ({"score": COMPOSITE}, [COMPOSITE, SENSITIVITY, HAMMING]),
        ({"score": SENSITIVITY, "unranked_columns": (COMPOSITE,)}, [SENSITIVITY, HAMMING]),
        ({"unranked_columns": (HAMMING,)}, [SENSITIVITY]),
    ],
)
def test_the_platforms_schemes_leave_out_columns_that_are_excluded_from_the_ranking(keys, ranked):
    challenge = challenge_named("justraigs")
    config = PhaseConfig(challenge="justraigs", name="p", title="P", submission="algorithm", **keys)
    metrics = platform_metrics(config, challenge, challenge.tasks(challenge.options()))
    (board,) = platform_scheme("mean", metrics).boards
    assert [term.metric for term in board.terms if isinstance(term, Rank)] == ranked
