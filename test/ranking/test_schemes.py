import pytest

from evaluation.core.challenge import metrics_of
from evaluation.phase.registry import challenge_named, known_challenges
from evaluation.ranking.schemes import scheme_of


@pytest.mark.parametrize("name", known_challenges())
def test_every_challenge_ranks_metrics_that_it_has(name):
    challenge = challenge_named(name)
    options = challenge.options()
    scheme = scheme_of(challenge, options)
    metrics = metrics_of(challenge.tasks(options))
    assert set(scheme.metrics) <= set(metrics)
    # The components are what the scheme ranks: nothing else is told to participants as such.
    assert set(scheme.metrics) == set(challenge.components)


@pytest.mark.parametrize("name", known_challenges())
def test_a_metric_has_a_direction(name):
    challenge = challenge_named(name)
    for metric in metrics_of(challenge.tasks(challenge.options())).values():
        assert metric.best != metric.worst
