"""Commands on a phase: `seal`, `rehearse`, `audit`, `settings` and `subset`; and `schema`."""

import argparse
import json
import math
import sys
from itertools import groupby
from pathlib import Path

from rich.table import Table

from evaluation.cli.common import (
    PHASE,
    PHASES,
    Argument,
    command,
    progress_bar,
    say,
    share,
    tell,
    whole_number,
)
from evaluation.cli.console import TableConsole, one_line, text_table
from evaluation.core.fault import PhaseError
from evaluation.organiser import audit, settings
from evaluation.organiser.cli.shared import SEED
from evaluation.organiser.rehearsal import MOST_CASES, MOST_PIXELS, Rehearsal, rehearse
from evaluation.organiser.subset import DrawnCases, draw, write_subset
from evaluation.organiser.validate import validate_phase
from evaluation.phase import manifest
from evaluation.phase.named import named_phase, phase_folder
from evaluation.phase.phase import Phase
from evaluation.platform import machine


@command(PHASE)
def run_seal(arguments: argparse.Namespace) -> int:
    """Seal a phase and print its digest. Raises `PhaseError` with the faults that prevent it."""
    folder = phase_folder(arguments.phase)
    scanned = manifest.scan(folder)
    with progress_bar("reference", len(scanned.files)) as progress:
        validation = validate_phase(folder, scanned, machine.worker_count(), progress)
    sealed = manifest.seal(folder, scanned)
    say(*(f"note: {notice}" for notice in validation.notices))
    say(f"{folder}: sealed {len(validation.phase.rows)} cases", sealed.digest)
    return 0


@command(PHASE)
def run_rehearse(arguments: argparse.Namespace) -> int:
    """Print the figures of each submission. Raises `PhaseError` naming the metrics that break a rule."""
    phase = named_phase(arguments.phase)
    with progress_bar("cases", len(phase.rows)) as progress:
        rehearsal = rehearse(phase, progress=progress)
    title = f"{phase.config.name}: rehearsed on {rehearsal.cases} of {len(phase.rows)} cases"
    _print_rehearsal(rehearsal, title)
    if rehearsal.cases < len(phase.rows):
        most = f"{MOST_CASES} cases and {MOST_PIXELS // 1_000_000} million pixels"
        say(f"note: the other cases were left out, evenly spaced: at most {most} are rehearsed")
    say(*(f"note: {note}" for note in (*rehearsal.notes, *rehearsal.wins)))
    say(*(f"note: {name} was not tested: no case enters it" for name in rehearsal.untried))
    if rehearsal.without_perfect:
        names = ", ".join(rehearsal.without_perfect)
        reason = "a field writes no values, or has no reference of its own"
        say(f"note: without a perfect submission, since {reason}: {names}")
    if rehearsal.problems:
        raise PhaseError(*rehearsal.problems)
    return 0


def _print_rehearsal(rehearsal: Rehearsal, title: str) -> None:
    named = dict.fromkeys(name for figures in rehearsal.figures.values() for name in figures)
    submissions = [name for name in named if "half" not in name]
    rows = []
    for name, figures in rehearsal.figures.items():
        cells = [figures.get(submission, math.nan) for submission in submissions]
        rows.append([name, *("" if math.isnan(cell) else f"{cell:.4f}" for cell in cells)])
    TableConsole(140, highlight=True).print(text_table(title, ("metric",), submissions, rows))


_DIGITS = (3, 2)
_IN_WORDS = tuple(f"{digits} decimals" for digits in _DIGITS)
_MAX_COUNTED = 10**9


@command(PHASES)
def run_audit(arguments: argparse.Namespace) -> int:
    """Print tables for every phase; return 1 if one of them has problems. Raises `PhaseError`."""
    status = 0
    for name in arguments.phases:
        try:
            phase = named_phase(name)
            _print_disclosure(phase, audit.audit(phase, machine.worker_count()))
        except PhaseError as error:
            tell(error.problems, f"{name}: not audited")
            status = 1
    return status


def _print_disclosure(phase: Phase, disclosure: audit.Disclosure) -> None:
    console = TableConsole(120)
    rows = []
    for metric, group in groupby(disclosure.figures, lambda figure: figure.metric):
        value, *further = figures = list(group)
        values = value.values()
        row = metric, f"{values:,}" if values < _MAX_COUNTED else "12 digits", f"{value.bits():.1f}"
        bits = (f"{audit.bits_of(figures, digits):.1f}" for digits in (None, *_DIGITS))
        rows.append((*row, str(sum(figure.numbers for figure in further)), *bits))
    title = f"{phase.config.name}: bits about the reference that one submission reveals, at most"
    numbers = "its values", "its bits", "further numbers", "all bits", *_IN_WORDS
    console.print(text_table(title, ("metric",), numbers, rows))
    if disclosure.labels:
        console.print(_table_of_labels(disclosure))
    for line in _answer(phase, disclosure):
        console.print(one_line(line))


def _table_of_labels(disclosure: audit.Disclosure) -> Table:
    rows = []
    for labels in disclosure.labels:
        bounds = [disclosure.bound(labels, digits) for digits in (None, *_DIGITS)]
        needed = " / ".join("–" if math.isinf(bound) else f"{bound:g}" for bound in bounds)
        row = labels.name, " + ".join(map(str, sorted(labels.counts.values()))), f"{labels.bits:.1f}"
        told = f"{100 * disclosure.share(labels):.0f} %"
        bits = audit.bits_of(disclosure.made_of(labels))
        rows.append((*row, f"{bits:.1f}", needed, told))
    title = "Hidden labels, and the fewest submissions that could tell all of them"
    told = f"told by {audit.in_words(disclosure.limit)}"
    numbers = "of each class", "bits", "bits of one submission", "submissions", told
    table = text_table(title, ("labels",), numbers, rows)
    table.caption = "submissions: as published / with " + " / with ".join(_IN_WORDS)
    table.caption_justify = "left"
    return table


def _answer(phase: Phase, disclosure: audit.Disclosure) -> list[str]:
    """Return which labels the phase's own submissions could tell."""
    told = disclosure.learnable()
    accepted = [labels.name for labels in told if labels.accepted]
    others = [labels for labels in told if not labels.accepted]
    could = "could tell all labels of" if others else "cannot tell all labels of any"
    kind = "" if others else " other kind" if accepted else " kind"
    lines = [f"{phase.config.name}: with {audit.in_words(disclosure.limit)}, results {could}{kind}"]
    lines += [f"- {labels.name}: {audit.in_words(disclosure.bound(labels))} could" for labels in others]
    if accepted:
        lines.append(f"- They could tell these, which learnable_labels accepts: {', '.join(accepted)}")
    return lines


@command(
    PHASE,
    Argument.flag(
        "--public", "instead list the paths of metrics.json that display_all_metrics shows to everybody"
    ),
)
def run_settings(arguments: argparse.Namespace) -> int:
    """Print the settings as JSON. Raises `PhaseError` if the phase has faults."""
    phase = named_phase(arguments.phase)
    least = settings.metrics_of_empty_submission(phase, machine.worker_count())
    chosen = settings.platform_settings(phase, least)
    if arguments.public:
        say(*settings.public_paths(least))
    else:
        sys.stdout.buffer.write(settings.settings_file(chosen))
        tell(f"Note: {note}" for note in settings.notes_of(phase, chosen))
    return 0


@command(
    PHASE,
    Argument.path("--output", "FOLDER", "the phase folder to write", required=True),
    Argument("--name", "name of the new phase (default: the name of its folder)"),
    Argument("--title", "title of the new phase (default: that of the phase)"),
    Argument(
        "--share", "of the cases that are drawn, from 0 to 1 (default: 0.1)", type=share, default="1/10"
    ),
    Argument(
        "--by",
        "of cases.csv: draw the share of each of its values; bins in [[subgroups]] cut "
        "numbers; repeatable (default: the first label of 2 to 10 values)",
        action="append",
        default=[],
        metavar="COLUMN",
    ),
    SEED,
    Argument(
        "--stack",
        "most images of a stack, where algorithms are run on stacks (default: as many as in the phase)",
        type=whole_number(1),
        metavar="N",
    ),
)
def run_subset(arguments: argparse.Namespace) -> int:
    """Write the phase and print the numbers of drawn cases. Raises `PhaseError` with all faults."""
    phase = named_phase(arguments.phase)
    part = draw(phase, arguments.share, arguments.by, arguments.seed)
    output: Path = arguments.output
    with progress_bar("cases", len(part.positions)) as progress:
        left_out = write_subset(
            phase,
            part,
            output,
            arguments.name or output.absolute().name,
            arguments.title,
            arguments.stack,
            progress,
        )
    lines = [f"{output}: {len(part.positions)} of {len(phase.rows)} cases", *_strata(part)]
    lines += [f"note: {path} is left out" for path in left_out]
    say(*lines)
    return 0


def _strata(part: DrawnCases) -> list[str]:
    if not part.columns:
        return ["note: drawn without strata, since cases.csv has no label of 2 to 10 values; see --by"]
    return [
        f"  {', '.join(f'{column} {value!r}' for column, value in zip(part.columns, stratum, strict=True))}: "
        f"{drawn} of {cases}"
        for stratum, (drawn, cases) in part.counts.items()
    ]


@command(
    Argument(
        "file",
        "of which file (default: %(default)s)",
        nargs="?",
        choices=["metrics", "leaderboard", "phase"],
        default="metrics",
    ),
)
def run_schema(arguments: argparse.Namespace) -> int:
    """Print the schema."""
    if arguments.file == "phase":
        from evaluation.organiser.phase_schema import phase_schema as schema
    elif arguments.file == "metrics":
        from evaluation.platform.result_file import metrics_schema as schema
    else:
        from evaluation.organiser.ranking.leaderboard_file import leaderboard_schema as schema

    sys.stdout.write(json.dumps(schema(), indent=2) + "\n")
    return 0
