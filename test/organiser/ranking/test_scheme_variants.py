"""The schemes beside one: ADAM's shape in small, by hand."""

from fractions import Fraction
from typing import get_args

from evaluation.core.scheme import Board, Method, MethodName, Place, Rank, Scheme
from evaluation.organiser.ranking.methods import METHODS
from evaluation.organiser.ranking.robustness import left_out_metrics, other_methods, other_weights

SCHEME = Scheme(
    (
        Board("disc", (Rank("disc.f1", Fraction("0.4")), Rank("disc.dice", Fraction("0.6")))),
        Board("fovea", (Rank("fovea.distance"),)),
        Board("overall", (Place("disc"), Place("fovea", Fraction(0))), ties=(Rank("fovea.distance"),)),
    ),
    overall="overall",
)


def test_every_other_method():
    names = [name for name, _ in other_methods(SCHEME)]
    assert names == [*METHODS, "min-max"]  # without the scheme's own, "mean-then-rank"
    assert {"mean-then-rank", *names} == set(get_args(MethodName))
    changed = dict(other_methods(SCHEME))["rank-then-mean"]
    assert (changed.method, changed.boards) == (Method("rank-then-mean"), SCHEME.boards)


def test_without_a_metric():
    found = dict(left_out_metrics(SCHEME))
    assert list(found) == ["disc.f1", "disc.dice", "fovea.distance"]
    assert found["disc.f1"].boards[0].terms == (Rank("disc.dice", Fraction("0.6")),)
    without_fovea = found["fovea.distance"]
    assert [board.name for board in without_fovea.boards] == ["disc", "overall"]
    assert (without_fovea.boards[1].terms, without_fovea.boards[1].ties) == ((Place("disc"),), ())


def test_without_the_only_metric_nothing_is_left():
    assert list(left_out_metrics(Scheme((Board("overall", (Rank("a.b"),)),)))) == []


def test_weights():
    found = {change: scheme for change, _, scheme in other_weights(SCHEME)}
    # Weights of zero, and those of boards with one term, change nothing.
    assert list(found) == [
        "disc: disc.f1 − 50 %",
        "disc: disc.f1 + 50 %",
        "disc: disc.dice − 50 %",
        "disc: disc.dice + 50 %",
        "overall: disc − 50 %",
        "overall: disc + 50 %",
    ]
    assert found["disc: disc.f1 + 50 %"].boards[0].terms[0].weight == Fraction("0.6")
    assert found["overall: disc − 50 %"].boards[2].terms[0].weight == Fraction(1, 2)


def test_weights_of_a_mean_and_none_of_a_median():
    mean = Scheme((Board("overall", (Rank("a.b"), Rank("a.c")), combination="mean"),))
    changed = next(scheme for _, _, scheme in other_weights(mean))
    assert changed.boards[0].combination == "sum"
    assert changed.boards[0].terms == (Rank("a.b", Fraction(1, 2)), Rank("a.c"))
    median = Scheme((Board("overall", (Rank("a.b"), Rank("a.c")), combination="median"),))
    assert list(other_weights(median)) == []
