"""`plan`: the number of cases that a test set needs for intervals of a width, or to show a difference."""

import argparse
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import get_args

from evaluation.cli.common import say, share, whole_number
from evaluation.core.fault import PhaseError
from evaluation.metrics.intervals import class_sizes
from evaluation.organiser import plan
from evaluation.organiser.plan import Aim, Needed
from evaluation.organiser.ranking.comparisons import difference_of_means, difference_of_pilot
from evaluation.organiser.ranking.results import read_results


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    figures = {"sensitivity": "sensitivity", "specificity": "specificity", "auc": "area under the ROC curve"}
    for name, figure in figures.items():
        words = f"the expected {figure}, and the half-width that its 95 %% interval is to have"
        add(f"--{name}", type=share, nargs="+", metavar=("VALUE", "HALF_WIDTH"), help=words)
    add("--prevalence", type=share, metavar="SHARE", help="share of positive cases in the test set")
    add(
        "--cases",
        type=whole_number(1),
        metavar="N",
        help="also the intervals on so many cases; then a half-width may be left out",
    )
    add(
        "--pilot",
        type=Path,
        metavar="FOLDER",
        help="results of teams, as evaluate --each writes them: how many cases show the difference"
        " of two teams with the test of rank; needs --teams and --metric",
    )
    add("--teams", nargs=2, metavar="TEAM", help="of --pilot: the two teams")
    add("--metric", metavar="TASK.METRIC", help="of --pilot: the metric")
    add(
        "--difference",
        type=float,
        nargs=3,
        metavar=("DIFFERENCE", "SPREAD", "CORRELATION"),
        help="without a pilot: of two means over cases, the standard deviation over the cases, and"
        " the correlation between two teams",
    )
    add("--power", type=share, default="4/5", metavar="SHARE", help="of a difference (default: 0.8)")


def run(arguments: argparse.Namespace) -> int:
    """Print the needed numbers of cases. Raises `PhaseError` for arguments that do not fit together."""
    if arguments.pilot is not None or arguments.difference is not None:
        say(_difference(arguments))
        return 0
    aims = _aims(arguments)
    prevalence: Fraction | None = arguments.prevalence
    needed = plan.cases_needed(aims, prevalence)
    given: list[str] = []
    if arguments.cases is not None:
        if prevalence is None:
            raise PhaseError("--cases: expected the prevalence too, found none")
        given = _lines_given(aims, *class_sizes(arguments.cases, prevalence))
    say(*_lines_needed(needed, prevalence), *given)
    return 0


def _difference(arguments: argparse.Namespace) -> str:
    power = float(arguments.power)
    if arguments.pilot is None:
        difference, spread, correlation = arguments.difference
        found = difference_of_means(difference, spread, correlation, power)
    elif arguments.teams is None or arguments.metric is None:
        raise PhaseError("--pilot: expected --teams and --metric, too")
    else:
        results = read_results(arguments.pilot)
        found = difference_of_pilot(results, arguments.teams, arguments.metric, power)
    unit = "clusters" if found.clustered else "cases"
    return (
        f"{found.metric}: {found.needed:,} {unit} show a difference of {found.difference:.4g} "
        f"with {100 * power:g} % power ({found.method})"
    )


def _aims(arguments: argparse.Namespace) -> list[Aim]:
    aims, problems = [], []
    for figure in get_args(plan.Figure):
        given: Sequence[Fraction] | None = getattr(arguments, figure)
        if given is None:
            continue
        value, *half_widths = map(float, given)
        if len(half_widths) > 1 or (not half_widths and arguments.cases is None):
            found = "none" if not half_widths else f"{len(half_widths)} numbers"
            problems.append(f"--{figure}: expected one half-width beside the value, found {found}")
        aims.append(Aim(figure, value, next(iter(half_widths), None)))
    if not aims:
        problems.append("expected --sensitivity, --specificity or --auc, found none of them")
    PhaseError.raise_all(problems)
    return aims


def _lines_needed(needed: Sequence[Needed], prevalence: Fraction | None) -> list[str]:
    lines = []
    for one in needed:
        classes = " and ".join(
            f"{count:,} {name} cases"
            for count, name in ((one.positives, "positive"), (one.negatives, "negative"))
            if count is not None
        )
        lines.append(f"{_named(one.aim)} ± {one.aim.half_width:g} needs {classes}")
    if needed and prevalence is not None:
        in_all = plan.cases_in_all(needed)
        lines.append(f"in all: {in_all:,} cases with a prevalence of {float(prevalence):g}")
    return lines


def _lines_given(aims: Sequence[Aim], positives: int, negatives: int) -> list[str]:
    cases = positives + negatives
    lines = [f"{cases:,} cases, {positives:,} positive and {negatives:,} negative, give"]
    for aim, interval in zip(aims, plan.intervals_given(aims, positives, negatives), strict=True):
        verdict = ""
        if aim.half_width is not None:
            verdict = ", enough" if interval.half_width <= aim.half_width else ", too few"
        bounds = f"{interval.lower:.4f} – {interval.upper:.4f}"
        lines.append(f"{_named(aim)} ± {interval.half_width:.4f}: {bounds}{verdict}")
    return lines


def _named(aim: Aim) -> str:
    return f"{'AUC' if aim.figure == 'auc' else aim.figure} {aim.value:g}"
