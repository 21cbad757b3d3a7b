import math
import statistics
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata

from evaluation.challenges.adam import RANKING as ADAM
from evaluation.challenges.cysts.rules import RANKING as CYSTS
from evaluation.challenges.edd2020.rules import Edd2020Options
from evaluation.challenges.edd2020.rules import ranking as edd2020_ranking
from evaluation.challenges.justraigs.rules import RANKING as JUSTRAIGS
from evaluation.challenges.refuge import RefugeOptions, ranking
from evaluation.core.scheme import Board, Method, Place, Rank, Scheme, Score
from evaluation.phase.places import Better, Leaderboards, competition_ranks, place_teams, platform_scheme

NAN = math.nan
TIED = Scheme((Board("overall", (Rank("t.a"),), ties=(Rank("t.b"), Rank("t.c"))),), "overall")
SCHEMES = {
    "refuge": ranking(RefugeOptions()),
    "adam": ADAM,
    "justraigs": JUSTRAIGS,
    "edd2020": edd2020_ranking(Edd2020Options()),
    "cysts": CYSTS,
    "median": platform_scheme("median", ("t.a", "t.b", "t.c")),
    "absolute": platform_scheme("absolute", ("t.a", "t.b")),
    "ties": TIED,
}


@pytest.mark.parametrize(
    ("values", "better", "expected"),
    [
        ([0.9, 0.8, 0.9, 0.7], "higher", [1, 3, 1, 4]),
        ([0.9, 0.8, 0.9, 0.7], "lower", [3, 2, 3, 1]),
        ([NAN, 0.8, 0.9], "higher", [0, 2, 1]),
        ([NAN, NAN], "lower", [0, 0]),
        ([math.inf, 1.0], "lower", [2, 1]),
        ([5.0], "lower", [1]),
    ],
)
def test_competition_ranks(values, better, expected):
    assert competition_ranks([values], better).tolist() == [expected]


@settings(max_examples=60)
@given(st.lists(st.lists(st.integers(-3, 3), min_size=5, max_size=5), min_size=1, max_size=4))
def test_competition_ranks_against_scipy(rows):
    values = np.array(rows, dtype=float)
    np.testing.assert_array_equal(competition_ranks(values, "lower"), rankdata(values, "min", axis=1))
    np.testing.assert_array_equal(competition_ranks(values, "higher"), rankdata(-values, "min", axis=1))


@pytest.mark.parametrize(
    ("a", "b", "c", "places"),
    [
        ([1, 1, 2], [2, 1, 1], [1, 1, 1], [2, 1, 3]),  # the first tie-break decides
        ([1, 1, 1], [1, 1, 2], [3, 2, 1], [2, 1, 3]),  # the second decides what the first leaves
        ([1, 1, 2], [1, 1, 1], [1, 1, 1], [1, 1, 3]),  # nothing decides: a shared place
        ([1, 1, 2], [NAN, 1, 1], [1, 1, 1], [2, 1, 3]),  # without the tie-break: after those that have it
        ([NAN, 1, 2], [1, 1, 1], [1, 1, 1], [0, 1, 2]),  # without the metric: no place
    ],
)
def test_ties_are_broken_in_turn(a, b, c, places):
    better: dict[str, Better] = dict.fromkeys(("t.a", "t.b", "t.c"), "lower")
    leaderboards = place_teams(TIED, {"t.a": [a], "t.b": [b], "t.c": [c]}, better)
    assert leaderboards.boards["overall"].places.tolist() == [places]


def test_a_team_in_one_task_takes_its_place_there_and_has_none_overall():
    values = {
        "classification.auc": [[0.9, 0.8, 0.7]],
        "segmentation.dice_cup": [[NAN, 0.8, 0.7]],
        "segmentation.dice_disc": [[NAN, 0.8, 0.7]],
        "segmentation.vertical_cup_to_disc_ratio_error": [[NAN, 0.1, 0.2]],
    }
    leaderboards = place_teams(
        SCHEMES["refuge"], values, directions("refuge", lower={"segmentation.vertical"})
    )
    assert leaderboards.boards["classification"].places.tolist() == [[1, 2, 3]]

    assert leaderboards.boards["segmentation"].places.tolist() == [[0, 1, 2]]
    overall = leaderboards.boards["overall"]
    assert overall.place(0) is None
    assert overall.score(0) is None
    # The second of the classification stays second although the first has no overall place: 0.4·2 + 0.6·1.
    assert overall.score(1) == Fraction("1.4")


def test_justraigs_ranks_the_sum_of_two_ranks_again():
    values = {
        "referral.sensitivity_at_95_specificity": [[0.9, 0.8, 0.7]],
        "justification.hamming_distance": [[0.3, 0.1, 0.2]],
    }
    better: dict[str, Better] = {
        "referral.sensitivity_at_95_specificity": "higher",
        "justification.hamming_distance": "lower",
    }
    overall = place_teams(JUSTRAIGS, values, better).boards["overall"]
    assert [overall.score(team) for team in range(3)] == [4, 3, 5]
    assert overall.places.tolist() == [[2, 1, 3]]


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


def test_edd2020_breaks_ties_of_segmentation_by_the_smaller_deviation():
    values = {"segmentation.score_s": [[0.5, 0.4, 0.5]], "segmentation.sigma_score_s": [[0.2, 0.0, 0.1]]}
    better: dict[str, Better] = {"segmentation.score_s": "higher", "segmentation.sigma_score_s": "lower"}
    boards = place_teams(edd2020_ranking(Edd2020Options()), values, better).boards
    assert boards["segmentation"].places.tolist() == [[2, 3, 1]]


@settings(max_examples=60)
@given(st.lists(st.tuples(*[st.integers(0, 4)] * 3), min_size=1, max_size=7))
def test_platform_methods_against_the_standard_library(rows):
    metrics = ("t.a", "t.b", "t.c")
    columns = np.array(rows, dtype=float).T
    values = {metric: columns[position][np.newaxis] for position, metric in enumerate(metrics)}
    better: dict[str, Better] = dict.fromkeys(metrics, "higher")
    ranks = [[1 + sum(other > value for other in column) for value in column] for column in columns.tolist()]
    for method, function in {
        "absolute": lambda of_team: Fraction(of_team[0]),
        "mean": lambda of_team: Fraction(sum(of_team), len(of_team)),
        "median": lambda of_team: Fraction(statistics.median(map(Fraction, of_team))),
    }.items():
        board = place_teams(platform_scheme(method, metrics), values, better).boards["overall"]
        scores = [function(of_team) for of_team in zip(*ranks, strict=True)]
        assert [board.score(team) for team in range(len(rows))] == scores, method
        assert board.places[0].tolist() == [1 + sum(other < score for other in scores) for score in scores]


def test_median_of_two_ranks_is_their_mean():
    board = place_teams(
        platform_scheme("median", ("t.a", "t.b")),
        {"t.a": [[1, 2]], "t.b": [[2, 1]]},
        {"t.a": "lower", "t.b": "lower"},
    ).boards["overall"]
    assert board.score(0) == board.score(1) == Fraction("1.5")


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


def directions(scheme: str, lower: frozenset[str] | set[str] = frozenset()) -> dict[str, Better]:
    return {
        metric: "lower" if any(metric.startswith(prefix) for prefix in lower) else "higher"
        for metric in SCHEMES[scheme].metrics
    }


def random_standings(name: str, matrix: np.ndarray) -> Leaderboards:
    scheme = SCHEMES[name]
    values = {metric: matrix[np.newaxis, position] for position, metric in enumerate(scheme.metrics)}
    return place_teams(scheme, values, directions(name))


def matrices(name: str, teams: int = 6) -> st.SearchStrategy[np.ndarray]:
    value = st.one_of(st.integers(0, 3).map(float), st.just(NAN))
    rows = len(SCHEMES[name].metrics)
    return st.lists(st.lists(value, min_size=teams, max_size=teams), min_size=rows, max_size=rows).map(
        np.array
    )


@pytest.mark.parametrize("name", SCHEMES)
@settings(max_examples=25)
@given(data=st.data())
def test_permuting_teams_permutes_places(name, data):
    matrix = data.draw(matrices(name))
    order = np.array(data.draw(st.permutations(range(matrix.shape[1]))))
    original, permuted = random_standings(name, matrix), random_standings(name, matrix[:, order])
    for board, standing in original.boards.items():
        np.testing.assert_array_equal(standing.places[:, order], permuted.boards[board].places)


@pytest.mark.parametrize("name", SCHEMES)
@settings(max_examples=25)
@given(data=st.data())
def test_a_dominated_team_never_ranks_above_the_one_that_dominates_it(name, data):
    matrix = np.nan_to_num(data.draw(matrices(name)))
    matrix[:, 1] = matrix[:, 0] - data.draw(
        st.lists(st.integers(0, 2), min_size=len(matrix), max_size=len(matrix)).map(np.array)
    )
    for board in random_standings(name, matrix).boards.values():
        assert board.places[0, 0] <= board.places[0, 1]


@pytest.mark.parametrize("name", SCHEMES)
@settings(max_examples=15)
@given(data=st.data())
def test_many_resamples_at_once_equal_one_at_a_time(name, data):
    first, second = data.draw(matrices(name)), data.draw(matrices(name))
    scheme = SCHEMES[name]
    together = place_teams(
        scheme,
        {metric: np.stack([first[i], second[i]]) for i, metric in enumerate(scheme.metrics)},
        directions(name),
    )
    for row, matrix in enumerate((first, second)):
        for board, standing in random_standings(name, matrix).boards.items():
            np.testing.assert_array_equal(standing.places[0], together.boards[board].places[row])


def test_weights_with_too_many_digits_are_refused():
    terms = (Rank("t.a", Fraction(1, 3**40)), Rank("t.b", Fraction(1, 2**40)))
    with pytest.raises(ValueError, match="too many digits"):
        place_teams(
            Scheme((Board("overall", terms),)),
            {"t.a": [[1.0, 2.0]], "t.b": [[1.0, 2.0]]},
            {"t.a": "lower", "t.b": "lower"},
        )


@pytest.mark.parametrize(
    ("boards", "message"),
    [
        ((Board("a", ()),), "has no terms"),
        ((Board("a", (Place("b"),)), Board("b", (Rank("t.a"),))), "'b', which is none before it"),
        ((Board("a", (Rank("t.a"),), ties=(Score("c"),)),), "'c', which is none before it"),
        ((Board("a", (Rank("t.a"),)), Board("a", (Rank("t.b"),))), "defined twice"),
        ((Board("a", (Rank("t.a", Fraction(-1)),)),), "at least 0, found -1"),
        ((Board("a", (Rank("t.a", Fraction(2)),), combination="median"),), "only a sum has weights"),
    ],
)
def test_schemes_that_cannot_be_carried_out(boards, message):
    with pytest.raises(ValueError, match=message):
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
