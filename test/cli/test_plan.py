"""`plan` as a process."""

import csv

import pytest

from test.started import run


def test_what_the_test_set_of_justraigs_needs_and_gives(tmp_path):
    aims = ("--sensitivity", 0.8, 0.02, "--specificity", 0.95, 0.005)
    done = run("plan", *aims, "--prevalence", 0.16, "--cases", 9741, "--output", tmp_path / "plan.csv")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[2:4] == [
        "in all: 9,594 cases with a prevalence of 0.16",
        "9,741 cases, 1,559 positive and 8,182 negative, give",
    ]
    assert "sensitivity 0.8 ± 0.0198: " in done.stdout
    assert done.stdout.endswith(", enough\n")
    with (tmp_path / "plan.csv").open(newline="") as file:
        assert [row["cases"] for row in csv.DictReader(file)] == ["9594", "8705"]


def test_a_set_that_is_too_small():
    done = run("plan", "--sensitivity", 0.8, 0.02, "--prevalence", 0.16, "--cases", 1000)
    assert done.stdout.endswith(", too few\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "expected --sensitivity, --specificity or --auc"),
        (("--sensitivity", 0.8), "--sensitivity: expected one half-width beside the value, found none"),
        (("--auc", 0.8, 0.1, 0.2), "--auc: expected one half-width beside the value, found 2 numbers"),
        (("--auc", 0.8, 0.1), "auc: expected a prevalence"),
        (("--sensitivity", 0.8, "--cases", 10), "--cases: expected the prevalence too"),
    ],
)
def test_arguments_that_do_not_fit_together(arguments, message):
    done = run("plan", *arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_share_above_one():
    done = run("plan", "--sensitivity", 80, 2)
    assert done.returncode == 2
    assert "expected a number from 0 to 1, found '80'" in done.stderr
