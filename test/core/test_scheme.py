"""What a scheme of a ranking may say; how teams are ranked by it is tested with the rankings."""

from decimal import Decimal

import pytest

from evaluation.core.scheme import Board, Method, Scheme, Term

BOARDS = (Board("first", (Term(rank="task.metric"),)), Board("second", (Term(rank="task.other"),)))


@pytest.mark.parametrize("name", ["quantile", "alpha"])
@pytest.mark.parametrize("value", [0, 0.5, 1])
def test_shares_of_a_method_are_from_0_to_1(name, value):
    assert getattr(Method(**{name: value}), name) == value


@pytest.mark.parametrize("name", ["quantile", "alpha"])
@pytest.mark.parametrize("value", [-0.01, 1.01, 2, float("nan")])
def test_other_shares_are_refused_by_their_name(name, value):
    with pytest.raises(ValueError, match=f"^{name}: "):
        Method(**{name: value})


FIRST = Term(rank="task.metric")


@pytest.mark.parametrize(
    ("boards", "words"),
    [
        ((Board("a", (FIRST,)), Board("a", (FIRST,))), "'a' is defined twice"),
        ((Board("a", ()),), "'a' has no terms"),
        ((Board("b", (Term(place="a"),)), Board("a", (FIRST,))), "'b' uses 'a'"),
        ((Board("b", (FIRST,), ties=(Term(score="b"),)),), "'b' uses 'b'"),
        ((Board("a", (Term(rank="task.metric", weight=Decimal(-1)),)),), "'a'"),
        ((Board("a", (FIRST, Term(rank="task.other", weight=Decimal(2))), combination="mean"),), "'a'"),
    ],
)
def test_a_scheme_that_cannot_be_followed_is_refused(boards, words):
    with pytest.raises(ValueError, match=words):
        Scheme(boards)


def test_terms_may_be_earlier_leaderboards_and_weigh_nothing():
    first, second = (
        Term(rank="task.metric", weight=Decimal(0)),
        Term(rank="task.other", weight=Decimal("0.5")),
    )
    boards = (
        Board("a", (first, second)),
        Board("b", (Term(place="a"),), ties=(Term(score="a"),), combination="mean"),
    )
    assert Scheme(boards).boards == boards


def test_phases_need_an_overall_leaderboard_and_weights_that_are_not_negative():
    assert Scheme(BOARDS, "first", phases={"a": Decimal(0), "b": Decimal(1)}).phases["a"] == 0
    for overall, weight in ((None, 1), ("first", -1)):
        with pytest.raises(ValueError, match=r"^phases: "):
            Scheme(BOARDS, overall, phases={"a": Decimal(weight)})


@pytest.mark.parametrize(
    ("ties", "is_valid"),
    [({"a": "second"}, True), ({"b": "second"}, False), ({"a": "third"}, False), ({"b": "third"}, False)],
)
def test_ties_are_broken_by_a_leaderboard_of_a_phase_of_the_scheme(ties, is_valid):
    phases = {"a": Decimal(1)}
    if is_valid:
        assert Scheme(BOARDS, "first", phases, ties).phase_ties == ties
        return
    with pytest.raises(ValueError, match=r"^phase_ties: "):
        Scheme(BOARDS, "first", phases, ties)
