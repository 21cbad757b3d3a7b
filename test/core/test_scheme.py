"""What a scheme of a ranking may say; how teams are ranked by it is tested with the rankings."""

from fractions import Fraction

import pytest

from evaluation.core.scheme import Board, Method, Place, Rank, Scheme, Score

BOARDS = (Board("first", (Rank("task.metric"),)), Board("second", (Rank("task.other"),)))


@pytest.mark.parametrize("name", ["quantile", "alpha"])
@pytest.mark.parametrize("value", [0, 0.5, 1])
def test_shares_of_a_method_are_from_0_to_1(name, value):
    assert getattr(Method(**{name: value}), name) == value


@pytest.mark.parametrize("name", ["quantile", "alpha"])
@pytest.mark.parametrize("value", [-0.01, 1.01, 2, float("nan")])
def test_other_shares_are_refused_by_their_name(name, value):
    with pytest.raises(ValueError, match=f"^{name}: "):
        Method(**{name: value})


FIRST = Rank("task.metric")


@pytest.mark.parametrize(
    ("boards", "words"),
    [
        ((Board("a", (FIRST,)), Board("a", (FIRST,))), "'a' is defined twice"),
        ((Board("a", ()),), "'a' has no terms"),
        ((Board("b", (Place("a"),)), Board("a", (FIRST,))), "'b' uses 'a'"),
        ((Board("b", (FIRST,), ties=(Score("b"),)),), "'b' uses 'b'"),
        ((Board("a", (Rank("task.metric", Fraction(-1)),)),), "'a'"),
        ((Board("a", (FIRST, Rank("task.other", Fraction(2))), combination="mean"),), "'a'"),
    ],
)
def test_a_scheme_that_cannot_be_followed_is_refused(boards, words):
    with pytest.raises(ValueError, match=words):
        Scheme(boards)


def test_terms_may_be_earlier_leaderboards_and_weigh_nothing():
    first, second = Rank("task.metric", Fraction(0)), Rank("task.other", Fraction(1, 2))
    boards = (Board("a", (first, second)), Board("b", (Place("a"),), ties=(Score("a"),), combination="mean"))
    assert Scheme(boards).boards == boards


def test_phases_need_an_overall_leaderboard_and_weights_that_are_not_negative():
    assert Scheme(BOARDS, "first", phases={"a": Fraction(0), "b": Fraction(1)}).phases["a"] == 0
    for overall, weight in ((None, 1), ("first", -1)):
        with pytest.raises(ValueError, match=r"^phases: "):
            Scheme(BOARDS, overall, phases={"a": Fraction(weight)})


@pytest.mark.parametrize(
    ("ties", "is_valid"),
    [({"a": "second"}, True), ({"b": "second"}, False), ({"a": "third"}, False), ({"b": "third"}, False)],
)
def test_ties_are_broken_by_a_leaderboard_of_a_phase_of_the_scheme(ties, is_valid):
    phases = {"a": Fraction(1)}
    if is_valid:
        assert Scheme(BOARDS, "first", phases, ties).phase_ties == ties
        return
    with pytest.raises(ValueError, match=r"^phase_ties: "):
        Scheme(BOARDS, "first", phases, ties)
