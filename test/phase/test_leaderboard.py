import shutil
from pathlib import Path

import pytest

from evaluation.challenges import adam
from evaluation.challenges.refuge import CHALLENGE, RefugeOptions
from evaluation.core.aggregation import ConfidenceInterval, Estimate
from evaluation.core.fault import PhaseError
from evaluation.phase.config import PhaseConfig
from evaluation.phase.leaderboard import (
    Digits,
    PlatformBoard,
    TeamValues,
    digits_of,
    public_estimates,
    public_values,
    read_leaderboard,
    rounded_outwards,
)
from evaluation.phase.manifest import scan, seal
from evaluation.phase.phase import load_phase
from evaluation.phase.registry import Rules
from test.faults import faulted
from test.repository import REPOSITORY

METRICS = ("t.a", "t.b")


@pytest.fixture
def leaderboard(tmp_path):
    def write(text: str) -> Path:
        path = tmp_path / "leaderboard.csv"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_rows_with_gaps_remarks_and_ineligible_teams(leaderboard):
    path = leaderboard("team,t.a,remark,eligible,t.b\nA,0.5,x.y,,2\nB,,,No,-1e-3\n\n")
    assert read_leaderboard(path, METRICS) == (
        TeamValues("A", {"t.a": 0.5, "t.b": 2.0}),
        TeamValues("B", {"t.b": -0.001}, eligible=False),
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "team,t.c\nA,1\n",
            "leaderboard.csv: column 't.c' is not a metric of this phase; known are t.a, t.b",
        ),
        ("team\nA\n", "leaderboard.csv: expected the column 'team' and one for each metric"),
        ("team,t.a,t.a\nA,1,1\n", "leaderboard.csv: duplicate column 't.a'"),
        ("team,t.a\nA,1,2\n", "leaderboard.csv, line 2: expected 2 cells, found 3"),
        ("team,t.a\nA,n/a\n", 'leaderboard.csv, line 2, t.a: expected a finite number, found "n/a"'),
        ("team,t.a\nA,1\nA,2\n", "leaderboard.csv: duplicate team 'A' (2 rows)"),
        ("team,t.a\n,1\n", "leaderboard.csv, line 2: expected the name of a team, found nothing"),
        ("team,t.a,eligible\nA,1,maybe\n", "line 2, eligible: expected yes or no, found 'maybe'"),
    ],
)
def test_faults(leaderboard, text, problem):
    with pytest.raises(PhaseError) as error:
        read_leaderboard(leaderboard(text), METRICS)
    assert any(problem in found for found in error.value.problems), error.value.problems


@pytest.fixture
def sealed(tmp_path):
    folder = tmp_path / "phase"
    shutil.copytree(REPOSITORY / "ground-truth/refuge-onsite", folder)
    seal(folder, scan(folder))
    return folder


def test_a_leaderboard_is_sealed_and_its_faults_are_those_of_the_phase(sealed):
    path = sealed / "leaderboard.csv"
    path.write_bytes(path.read_bytes().replace(b"0.9885", b"0.9886"))
    with faulted(PhaseError, "leaderboard.csv"):
        load_phase(sealed)
    path.write_text("team,classification.auk\nA,1\n", encoding="utf-8")
    with faulted(PhaseError, "leaderboard.csv", "classification.auk"):
        load_phase(sealed, scan(sealed))


SEGMENTATION = (
    "segmentation.dice_cup",
    "segmentation.dice_disc",
    "segmentation.vertical_cup_to_disc_ratio_error",
)


@pytest.mark.parametrize(
    ("keys", "metrics"),
    [
        ({}, ("classification.auc", *SEGMENTATION)),
        ({"tasks": ("segmentation",)}, SEGMENTATION),
        ({"tasks": ("fovea",)}, ("fovea.distance",)),
        ({"tasks": ("segmentation", "fovea")}, SEGMENTATION),
        ({"platform": {"score": "segmentation.dice_cup"}},
         ("segmentation.dice_cup", "classification.auc", *SEGMENTATION[1:])),
        ({"platform": {"columns": ()}}, ("classification.auc",)),
        ({"platform": {"columns": ("fovea.distance",) * 2}}, ("classification.auc", "fovea.distance")),
        ({"platform": {"score": "fovea.distance", "columns": ("fovea.distance",)}}, ("fovea.distance",)),
    ],
)  # fmt: skip
def test_metrics_of_the_leaderboard(keys, metrics):
    config = PhaseConfig(challenge="refuge", name="r", title="", submission="archive", **keys)
    tasks = Rules(CHALLENGE, RefugeOptions()).select_tasks(config.tasks, None)
    board = PlatformBoard(config, CHALLENGE, tasks)
    assert board.ranked == metrics
    needs_fovea = "fovea.distance" in metrics
    has_fovea = "fovea" in {task.name for task in tasks}
    assert board.optional_tasks == (("fovea",) if has_fovea and not needs_fovea else ())


DISC = ("disc.dice", "disc.f1")


@pytest.mark.parametrize(
    ("keys", "ranked", "shown", "optional"),
    [
        ({"tasks": ("disc", "fovea")}, DISC, ("fovea.distance",), ("disc", "fovea")),
        ({"tasks": ("classification", "disc")}, ("classification.auc",), DISC, ("classification", "disc")),
        # Of a single task nothing can be left out.
        ({"tasks": ("disc",)}, DISC, (), ()),
        # What the phase itself names is needed.
        (
            {"tasks": ("classification", "disc", "fovea"), "platform": {"score": "fovea.distance"}},
            ("fovea.distance", "classification.auc"),
            DISC,
            ("classification", "disc"),
        ),
        ({"tasks": ("classification", "disc"), "platform": {"columns": DISC}},
         ("classification.auc", *DISC), (), ("classification",)),
    ],
)  # fmt: skip
def test_where_every_task_is_optional_the_first_is_ranked(keys, ranked, shown, optional):
    config = PhaseConfig(challenge="adam", name="a", title="", submission="archive", **keys)
    tasks = Rules(adam.CHALLENGE, adam.AdamOptions()).select_tasks(config.tasks, None)
    board = PlatformBoard(config, adam.CHALLENGE, tasks)
    assert board.ranked == ranked
    assert board.unranked == shown
    assert board.optional_tasks == optional


def config(**keys):
    return PhaseConfig(challenge="refuge", name="p", title="", submission="archive", **keys)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({}, Digits(4, 3)),
        ({"value_digits": 2}, Digits(2, 2)),
        ({"spread_digits": 6}, Digits(4, 4)),
        ({"value_digits": 12, "spread_digits": 12}, Digits(12, 12)),
        ({"digits": {"t.m": 6}}, Digits(6, 3)),
        ({"digits": {"t.m": 1}}, Digits(1, 1)),
        ({"digits": {"t.other": 1}}, Digits(4, 3)),
    ],
)
def test_digits_of_a_metric(keys, expected):
    assert digits_of(config(**keys), "t.m") == expected


def test_every_figure_of_a_metric_by_hand():
    exact = Estimate(
        0.94994,
        ConfidenceInterval(0.9391, 0.95555, 0.008225, "wilson"),
        {"wilson": ConfidenceInterval(0.5, 0.75, 0.125, "wilson")},
        standard_deviation=0.12345,
        median=0.9996,
    )
    found = public_estimates({"t": {"m": exact}}, config())["t"]["m"]
    assert found == Estimate(
        0.9499,
        ConfidenceInterval(0.939, 0.956, 0.009, "wilson"),
        {"wilson": ConfidenceInterval(0.5, 0.75, 0.125, "wilson")},
        standard_deviation=0.123,
        median=1.0,
    )
    assert public_values({"m": 0.94994}, "t", config(value_digits=1)) == {"m": 0.9}


@pytest.mark.parametrize(
    ("lower", "upper", "digits", "expected"),
    [
        (0.121, 0.129, 2, (0.12, 0.13)),
        (0.12, 0.13, 2, (0.12, 0.13)),  # an end that has so many digits stays where it is
        # 0.29 · 100 is 28.999…96, 0.07 · 100 is 7.000…01 and 0.1 + 0.2 is 0.300…04: no further step for these
        (0.29, 0.58, 2, (0.29, 0.58)),
        (0.07, 1.1, 2, (0.07, 1.1)),
        (0.1, 0.1 + 0.2, 1, (0.1, 0.3)),
        # three millionths of a step are one, 0.4 millionths are the error of a fraction
        (0.5 - 3e-8, 0.5 + 3e-8, 2, (0.49, 0.51)),
        (0.5 - 4e-9, 0.5 + 4e-9, 2, (0.5, 0.5)),
        (-0.129, -0.121, 2, (-0.13, -0.12)),
        (-2.5, 7.5, 0, (-3, 8)),
        (0.7576, 0.9371, 3, (0.757, 0.938)),
        (0.0, -0.0002, 3, (0.0, 0.0)),
    ],
)
def test_an_end_goes_to_the_next_decimal_outside_and_no_further(lower, upper, digits, expected):
    found = rounded_outwards(lower, upper, digits)
    assert found == expected
    assert "-0.0" not in map(str, found)
