import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata

from evaluation.challenges.edd2020.rules import Edd2020Options
from evaluation.challenges.edd2020.rules import ranking as edd2020_ranking
from evaluation.core.scheme import Board, Method, Place, Rank, Scheme, Score
from evaluation.phase.places import Better, competition_ranks, place_teams, platform_scheme

NAN = math.nan
TIED = Scheme((Board("overall", (Rank("t.a"),), ties=(Rank("t.b"), Rank("t.c"))),), "overall")


@settings(max_examples=30)
@given(st.lists(st.lists(st.integers(-3, 3), min_size=5, max_size=5), min_size=1, max_size=4))
def test_competition_ranks_against_scipy(rows):
    values = np.array(rows, dtype=float)
    np.testing.assert_array_equal(competition_ranks(values, "lower"), rankdata(values, "min", axis=1))
    np.testing.assert_array_equal(competition_ranks(values, "higher"), rankdata(-values, "min", axis=1))


def test_ties_are_broken_in_turn_in_every_resample():
    a = [[1, 1, 2], [1, 1, 1], [1, 1, 2], [1, 1, 2], [NAN, 1, 2]]
    b = [[2, 1, 1], [1, 1, 2], [1, 1, 1], [NAN, 1, 1], [1, 1, 1]]
    c = [[1, 1, 1], [3, 2, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1]]
    better: dict[str, Better] = dict.fromkeys(("t.a", "t.b", "t.c"), "lower")
    leaderboards = place_teams(TIED, {"t.a": a, "t.b": b, "t.c": c}, better)
    assert leaderboards.boards["overall"].places.tolist() == [
        [2, 1, 3],  # the first tie-break decides
        [2, 1, 3],  # the second decides what the first leaves
        [1, 1, 3],  # nothing decides: a shared place
        [2, 1, 3],  # without the tie-break: after those that have it
        [0, 1, 2],  # without the metric: no place
    ]


def test_edd2020_breaks_ties_by_the_smaller_deviation_and_by_the_higher_map():
    values = {
        "detection.score_d": [[0.5, 0.5, 0.4]],
        "detection.sigma_score_d": [[0.2, 0.1, 0.0]],
        "generalisation.map_g": [[0.5, 0.4, 0.3]],
        "generalisation.dev_g": [[0.2, 0.1, 0.3]],
    }
    better: dict[str, Better] = {
        "detection.score_d": "higher",
        "detection.sigma_score_d": "lower",
        "generalisation.map_g": "higher",
        "generalisation.dev_g": "lower",
    }
    options = Edd2020Options(generalisation_ranks="map_g_and_dev_g")
    boards = place_teams(edd2020_ranking(options), values, better).boards
    assert boards["detection"].places.tolist() == [[2, 1, 3]]
    # Ranks 1 and 2, 2 and 1, 3 and 3: both means are 1.5, the higher mAP comes first.
    assert [boards["generalisation"].score(team) for team in range(3)] == [
        Fraction("1.5"),
        Fraction("1.5"),
        3,
    ]
    assert boards["generalisation"].places.tolist() == [[1, 2, 3]]
    assert boards["segmentation"].places.tolist() == [[0, 0, 0]]


@pytest.mark.parametrize(
    ("method", "scores"),
    [("absolute", [1, None, 2, 3]), ("mean", ["1.5", None, "2.5", 2]), ("median", ["1.5", None, "2.5", 2])],
)
def test_the_platform_ranks_no_submission_that_lacks_a_metric(method, scores):
    # Without the second team the ranks are 1, 2, 3 and 2, 3, 1; it must not take a rank from the others.
    board = place_teams(
        platform_scheme(method, ("t.a", "t.b")),
        {"t.a": [[4, 3, 2, 1]], "t.b": [[2, NAN, 1, 3]]},
        {"t.a": "higher", "t.b": "higher"},
    ).boards["overall"]
    assert [board.score(team) for team in range(4)] == [
        None if score is None else Fraction(score) for score in scores
    ]


def test_weights_with_too_many_digits_are_refused():
    terms = (Rank("t.a", Fraction(1, 3**40)), Rank("t.b", Fraction(1, 2**40)))
    with pytest.raises(ValueError, match="too many digits"):
        place_teams(
            Scheme((Board("overall", terms),)),
            {"t.a": [[1.0, 2.0]], "t.b": [[1.0, 2.0]]},
            {"t.a": "lower", "t.b": "lower"},
        )


@pytest.mark.parametrize(
    ("boards", "named"),
    [
        ((Board("a", ()),), "a"),
        ((Board("a", (Place("b"),)), Board("b", (Rank("t.a"),))), "b"),
        ((Board("a", (Rank("t.a"),), ties=(Score("c"),)),), "c"),
        ((Board("a", (Rank("t.a"),)), Board("a", (Rank("t.b"),))), "a"),
        ((Board("a", (Rank("t.a", Fraction(-1)),)),), "-1"),
        ((Board("a", (Rank("t.a", Fraction(2)),), combination="median"),), "a"),
    ],
)
def test_schemes_that_cannot_be_carried_out(boards, named):
    with pytest.raises(ValueError, match=rf"(?<!\w){named}\b"):
        Scheme(boards)


def test_scaled_values_of_equal_infinite_and_missing_ones():
    scheme = Scheme((Board("all", (Rank("t.a"), Rank("t.b"))),), "all", method=Method("min-max"))
    values = {
        "t.a": [[0.5, 0.5, 0.5, NAN], [3, 1, 2, 0]],
        "t.b": [[1, 4, -math.inf, 2], [0.1, 0.2, 0.3, 0.4]],
    }
    board = place_teams(scheme, values, {"t.a": "higher", "t.b": "higher"}).boards["all"]
    # All equal: ½ each; beside an infinitely bad value all others are best.
    assert [board.score(team) for team in range(4)] == [0.5, 0.5, 1.5, None]
    assert board.places.tolist() == [[1, 1, 3, 0], [2, 4, 1, 2]]
    scores = [board.score(team, 1) for team in range(4)]
    assert [float(score) for score in scores] == pytest.approx([1, 4 / 3, 2 / 3, 1])
