"""Boards and schemes: ties, missing metrics, schemes of files and of the platform, composites."""

import json
import math
from decimal import Decimal

import numpy as np
import pytest

from evaluation.challenges.adam import RANKING as ADAM
from evaluation.challenges.edd2020.rules import Edd2020Options
from evaluation.challenges.edd2020.rules import ranking as edd2020_ranking
from evaluation.challenges.refuge import RefugeOptions, ranking
from evaluation.core.challenge import Composite
from evaluation.core.fault import PhaseError
from evaluation.core.scheme import Board, Method, Scheme, Term
from evaluation.organiser.ranking.resampling import as_ranked
from evaluation.organiser.ranking.scheme_file import describe_scheme, read_scheme
from evaluation.phase.config import PhaseConfig
from evaluation.phase.leaderboard import PlatformBoard
from evaluation.phase.places import Better, place_teams, platform_scheme
from evaluation.phase.registry import challenge_named
from test.faults import faulted

NAN = math.nan
TIED = Scheme((Board("overall", (Term(rank="t.a"),), ties=(Term(rank="t.b"), Term(rank="t.c"))),), "overall")


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
    lower = ("detection.sigma_score_d", "generalisation.dev_g")
    better: dict[str, Better] = {name: "lower" if name in lower else "higher" for name in values}
    options = Edd2020Options(generalisation_ranks="map_g_and_dev_g")
    boards = place_teams(edd2020_ranking(options), values, better).boards
    assert boards["detection"].places.tolist() == [[2, 1, 3]]
    # Ranks 1 and 2, 2 and 1, 3 and 3: both means are 1.5, the higher mAP comes first.
    assert [boards["generalisation"].score(team) for team in range(3)] == [1.5, 1.5, 3]
    assert boards["generalisation"].places.tolist() == [[1, 2, 3]]
    assert boards["segmentation"].places.tolist() == [[0, 0, 0]]
    assert dict(ADAM.phase_ties) == {"onsite": "classification"}


@pytest.mark.parametrize(
    ("method", "scores"),
    [("absolute", [1, None, 2, 3]), ("mean", [1.5, None, 2.5, 2]), ("median", [1.5, None, 2.5, 2])],
)
def test_the_platform_ranks_no_submission_that_lacks_a_metric(method, scores):
    # Without the second team the ranks are 1, 2, 3 and 2, 3, 1; it must not take a rank from the others.
    values = {"t.a": [[4, 3, 2, 1]], "t.b": [[2, NAN, 1, 3]]}
    better: dict[str, Better] = dict.fromkeys(values, "higher")
    board = place_teams(platform_scheme(method, ("t.a", "t.b")), values, better).boards["overall"]
    assert [board.score(team) for team in range(4)] == scores


def test_weights_with_too_many_digits_are_refused():
    terms = (Term(rank="t.a", weight=Decimal("1e-40")), Term(rank="t.b"))
    values = {"t.a": [[1.0, 2.0]], "t.b": [[1.0, 2.0]]}
    with faulted(PhaseError, "1E-40"):
        place_teams(Scheme((Board("overall", terms),)), values, dict.fromkeys(values, "lower"))


@pytest.mark.parametrize(
    ("boards", "named"),
    [
        ((Board("a", ()),), "a"),
        ((Board("a", (Term(place="b"),)), Board("b", (Term(rank="t.a"),))), "b"),
        ((Board("a", (Term(rank="t.a"),), ties=(Term(score="c"),)),), "c"),
        ((Board("a", (Term(rank="t.a"),)), Board("a", (Term(rank="t.b"),))), "a"),
        ((Board("a", (Term(rank="t.a", weight=Decimal(-1)),)),), "-1"),
        ((Board("a", (Term(rank="t.a", weight=Decimal(2)),), combination="median"),), "a"),
    ],
)
def test_schemes_that_cannot_be_carried_out(boards, named):
    with pytest.raises(ValueError, match=rf"(?<!\w){named}\b"):
        Scheme(boards)


def test_scaled_values_of_equal_infinite_and_missing_ones():
    scheme = Scheme((Board("all", (Term(rank="t.a"), Term(rank="t.b"))),), "all", method=Method("min-max"))
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


def written(tmp_path, text):
    path = tmp_path / "scheme.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "scheme",
    [
        ADAM,
        edd2020_ranking(Edd2020Options()),
        platform_scheme("median", ("t.a", "t.b")),
        ranking(RefugeOptions()),
    ],
)
def test_a_described_scheme_is_the_file(tmp_path, scheme):
    def toml(value) -> str:
        if isinstance(value, dict):
            pairs = (f"{key} = {toml(item)}" for key, item in value.items() if item is not None)
            return "{" + ", ".join(pairs) + "}"
        if isinstance(value, list):
            return "[" + ", ".join(map(toml, value)) + "]"
        return json.dumps(value)

    lines = [f"{key} = {toml(of)}" for key, of in describe_scheme(scheme).items() if of is not None]
    assert read_scheme(written(tmp_path, "\n".join(lines))) == scheme


ONE = 'boards = [{ name = "a", terms = [{ rank = "t.a" }] }]'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("boards = [", ()),
        ('boards = [{ name = "a", terms = [{ rang = "t.a" }] }]', ("boards.0.terms.0.rang",)),
        ('boards = [{ name = "a", terms = [{}] }]', ()),
        ('boards = [{ name = "a", terms = [{ rank = "t.a", place = "b" }] }]', ()),
        ('boards = [{ name = "a", terms = [{ rank = "t.a", weight = -1 }] }]', ("weight",)),
        ('boards = [{ name = "a", terms = [{ rank = "t.a", weight = nan }] }]', ("weight",)),
        ('boards = [{ name = "a", terms = [{ place = "b" }] }]', ("'b'",)),
        ('boards = [{ name = "a", terms = [] }]', ("'a'",)),
        (f'overall = "b"\n{ONE}', ("'b'",)),
        ("", ("boards",)),
        (f'overall = "a"\nphases = {{ one = 1 }}\nphase_ties = {{ two = "a" }}\n{ONE}', ("'a'",)),
        (f'overall = "a"\nphases = {{ one = 1 }}\nphase_ties = {{ one = "b" }}\n{ONE}', ("'b'",)),
    ],
)
def test_faults(tmp_path, text, told):
    with faulted(PhaseError, "scheme.toml", *told):
        read_scheme(written(tmp_path, text))


SENSITIVITY, HAMMING = "referral.sensitivity_at_95_specificity", "justification.hamming_distance"
COMPOSITE = "referral_and_justification_error"


@pytest.mark.parametrize(
    ("keys", "ranked"),
    [
        ({}, [SENSITIVITY, HAMMING]),
        ({"platform": {"score": COMPOSITE}}, [COMPOSITE, SENSITIVITY, HAMMING]),
        ({"platform": {"score": SENSITIVITY, "unranked_columns": (COMPOSITE,)}}, [SENSITIVITY, HAMMING]),
        ({"platform": {"unranked_columns": (HAMMING,)}}, [SENSITIVITY]),
    ],
)
def test_the_platforms_schemes_leave_out_columns_that_are_excluded_from_the_ranking(keys, ranked):
    challenge = challenge_named("justraigs")
    config = PhaseConfig(challenge="justraigs", name="p", title="P", submission="algorithm", **keys)
    metrics = PlatformBoard(config, challenge, challenge.tasks(challenge.options())).ranked
    (board,) = platform_scheme("mean", metrics).boards
    assert [term.rank for term in board.terms] == ranked


SUM = Composite("sum", "Sum", ("t.a", "t.b"), lambda a, b: a + b, best=0, worst=2)


def test_composites_are_made_of_exact_values_and_rounded_once():
    # Two teams with the sum 0.3. As floats 0.1 + 0.2 is larger than 0.3, and the tie would be lost.
    found = as_ranked({"t.a": np.array([[0.1, 0.3]]), "t.b": np.array([[0.2, 0.0]])}, [SUM])
    assert found["sum"].tolist() == [[0.3, 0.3]]
    # Rounded to twelve digits first, what the parts have beyond 1 and 0.2 would be lost: 1.2.
    part = 4.6e-12
    found = as_ranked({"t.a": np.array([[1 + part]]), "t.b": np.array([[0.2 + 4.9e-13 + part]])}, [SUM])
    assert found["sum"].tolist() == [[1.20000000001]]
    assert found["t.a"].tolist() == [[1.0]]
