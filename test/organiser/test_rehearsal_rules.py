"""What must hold for a metric's figures in a rehearsal."""

import math

import pytest

from evaluation.organiser.rehearsal import MetricBounds, problems_of

DICE = MetricBounds(best=1, worst=0)
DISTANCE = MetricBounds(best=0, worst=math.inf)

GOOD = {
    "perfect": 1.0,
    "near-perfect": 0.9,
    "empty": 0.2,
    "inverted": 0.1,
    "shuffled": 0.3,
    "missing": 0.0,
    "perfect, half missing": 0.5,
    "near-perfect, half missing": 0.45,
    "empty, half missing": 0.1,
    "inverted, half missing": 0.05,
}


def problems(scale: MetricBounds, figures: dict[str, float]) -> list[str]:
    return list(problems_of("task.metric", scale, figures))


def test_figures_in_order():
    assert problems(DICE, GOOD) == []
    assert problems(DISTANCE, {name: 10 * (1 - value) for name, value in GOOD.items()}) == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"perfect": 0.95}, "the perfect submission gets 0.95, not the best value 1"),
        ({"inverted": 0.91}, "the inverted submission gets 0.91 and beats the near-perfect one with 0.9"),
        ({"near-perfect": 1.1}, "the near-perfect submission gets 1.1, outside 0 to 1"),
        ({"missing": 0.15}, "the missing submission gets 0.15 and beats the inverted one with 0.1"),
        ({"missing": 0.25}, "the missing submission gets 0.25 and beats the empty one with 0.2"),
        (
            {"empty, half missing": 0.21},
            "the empty, half missing submission gets 0.21 and beats the empty one with 0.2",
        ),
        ({"shuffled": math.nan}, "exists for the perfect submission and not for the shuffled one"),
    ],
)
def test_a_rule_that_is_broken(change, problem):
    found = problems(DICE, {**GOOD, **change})
    assert any(line.startswith(f"task.metric: {problem}") for line in found), found


def test_lower_is_better():
    (line,) = problems(DISTANCE, {"perfect": 0.0, "inverted": 7.0, "missing": 5.0})
    assert line == (
        "task.metric: the missing submission gets 5 and beats the inverted one with 7, though lower is better"
    )


def test_a_figure_that_never_changes():
    found = problems(DICE, dict.fromkeys(GOOD, 1.0))
    assert found == ["task.metric: the missing submission gets the same as the perfect one, 1"]


def test_a_metric_that_no_case_enters():
    assert problems(DICE, dict.fromkeys(GOOD, math.nan)) == []


def test_what_a_kind_cannot_derive_is_not_asked_for():
    assert problems(DICE, {"perfect": 1.0, "missing": 0.0, "perfect, half missing": 0.5}) == []


@pytest.mark.parametrize("beaten", ["empty", "shuffled"])
def test_empty_and_shuffled_may_beat_near_perfect(beaten):
    # Specificity: an empty prediction raises no false alarm, a nearly perfect one may.
    assert problems(DICE, {**GOOD, beaten: 0.95}) == []


def test_of_a_figure_that_orders_nothing_only_the_bounds_are_tested():
    spread = MetricBounds(best=0, worst=0.5, ordered=False)
    assert problems(spread, {"perfect": 0.1, "inverted": 0.0, "missing": 0.1}) == []
    (line,) = problems(spread, {"perfect": 0.1, "inverted": 0.6, "missing": 0.1})
    assert line == "task.metric: the inverted submission gets 0.6, outside 0 to 0.5"
