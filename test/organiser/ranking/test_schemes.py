import pytest

from evaluation.core.scheme import Rank
from evaluation.phase.config import PhaseConfig
from evaluation.phase.leaderboard import platform_metrics
from evaluation.phase.places import platform_scheme
from evaluation.phase.registry import challenge_named

SENSITIVITY, HAMMING = "referral.sensitivity_at_95_specificity", "justification.hamming_distance"
COMPOSITE = "referral_and_justification_error"


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
