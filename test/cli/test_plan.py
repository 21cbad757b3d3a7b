"""The command `plan`."""

import pytest

from evaluation.cli.main import main


def plan(*arguments: object) -> int:
    return main(["plan", *map(str, arguments)])


def test_what_the_test_set_of_justraigs_needs_and_gives(capsys):
    aims = ("--sensitivity", 0.8, 0.02, "--specificity", 0.95, 0.005)
    assert plan(*aims, "--prevalence", 0.16, "--cases", 9741) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert printed.out.splitlines()[2:4] == [
        "in all: 9,594 cases with a prevalence of 0.16",
        "9,741 cases, 1,559 positive and 8,182 negative, give",
    ]
    assert "sensitivity 0.8 ± 0.0198: " in printed.out
    assert printed.out.endswith(", enough\n")
    assert plan("--sensitivity", 0.8, 0.02, "--prevalence", 0.16, "--cases", 1000) == 0
    assert capsys.readouterr().out.endswith(", too few\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "expected --sensitivity, --specificity or --auc"),
        (("--sensitivity", 0.8), "--sensitivity: expected one half-width beside the value, found none"),
        (("--auc", 0.8, 0.1), "auc: expected a prevalence"),
        (("--sensitivity", 0.8, "--cases", 10), "--cases: expected the prevalence too"),
    ],
)
def test_arguments_that_do_not_fit_together(arguments, message, capsys):
    assert plan(*arguments) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert "Traceback" not in printed.err


def test_a_share_above_one(capsys):
    with pytest.raises(SystemExit, match="2"):
        plan("--sensitivity", 80, 2)
    assert "expected a number from 0 to 1, found '80'" in capsys.readouterr().err
