"""`score`: the figures of predictions against labels, of two folders or two tables, without a challenge."""

import argparse
import tempfile
from contextlib import ExitStack
from pathlib import Path

import pandas

from evaluation.cli.common import WORKERS, Argument, command, progress_bar, say, tell
from evaluation.cli.console import print_figures
from evaluation.core.fault import PhaseError
from evaluation.library import Evaluation, SubmissionRejected, evaluate
from evaluation.organiser.library import seal
from evaluation.organiser.output import plain_cell, whole_folder
from evaluation.organiser.score import ScoreChoices, write_phase_of

_METAVAR = "NUMBER=NAME"


@command(
    Argument.path("labels", "LABELS", "a folder of label maps or masks, or a table (csv)"),
    Argument.path(
        "predictions",
        "PREDICTIONS",
        "a folder of files with the names of the labels, or a table with their columns",
    ),
    Argument(
        "--metrics",
        "by any usual name, such as dice hd95 nsd (default: the usual ones of the kind)",
        nargs="+",
        default=[],
        metavar="METRIC",
    ),
    Argument("--names", "names of labels, such as 1=liver 2=spleen", nargs="+", default=[], metavar=_METAVAR),
    Argument("--tolerance", "of nsd (default: %(default)s)", type=float, default=1.0, metavar="MM"),
    Argument("--key", "the column of both tables that names the cases", metavar="COLUMN"),
    Argument("--positive", "the class that is looked for, of two in a table of labels", metavar="CELL"),
    Argument.path("--cases", "FILE.csv", "write each case there rather than print it"),
    Argument.path("--output", "FOLDER", "also write metrics.json and cases.json there"),
    Argument.path("--report", "FILE.html", "also write a report with pictures"),
    Argument.path(
        "--write-phase",
        "FOLDER",
        "keep the phase that was used, from which a challenge can start: a new or empty folder",
    ),
    WORKERS,
)
def run(arguments: argparse.Namespace) -> int:
    """Write a phase, score the predictions by it, and print each case and the figures.

    Raises `PhaseError` for what cannot be scored.
    """
    kept = arguments.write_phase
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="evaluation-score-")))
        phase = folder / "phase" if kept is None else stack.enter_context(whole_folder(kept))
        _score(arguments, phase, folder / "submission")
    if kept is not None:
        say(f"{kept}: the phase that was used")
    return 0


def _score(arguments: argparse.Namespace, phase: Path, submission: Path) -> None:
    choices = ScoreChoices(
        arguments.labels,
        arguments.predictions,
        metrics=tuple(arguments.metrics),
        names=_names(arguments.names),
        tolerance_mm=arguments.tolerance,
        key=arguments.key,
        positive=arguments.positive,
        copied=arguments.write_phase is not None,
    )
    with progress_bar("files", 0) as progress:
        notes = write_phase_of(choices, phase, submission, progress)
    tell(f"note: {note}" for note in notes)
    seal(phase)
    try:
        result = evaluate(phase, submission, workers=arguments.workers)
    except SubmissionRejected as rejected:
        raise PhaseError(*(str(fault) for fault in rejected.faults)) from None
    text = _cases_of(result).to_csv(lineterminator="\n", float_format="%.6g")
    if arguments.cases is None:
        say(*text.splitlines(), "")
    else:
        arguments.cases.parent.mkdir(parents=True, exist_ok=True)
        arguments.cases.write_text(text, encoding="utf-8", newline="\n")
    print_figures(result.to_dict())
    if arguments.output is not None:
        result.write(arguments.output)
    if arguments.report is not None:
        from evaluation.organiser.report_library import report_submission

        report = report_submission(phase, submission, results=result, workers=arguments.workers)
        report.write(arguments.report)
        say(arguments.report)


def _names(given: list[str]) -> dict[int, str]:
    pairs = [one.partition("=") for one in given]
    PhaseError.raise_all(
        [f"--names {number}{sign}{name}: expected {_METAVAR}" for number, sign, name in pairs if not name]
        + [f"--names {number}: expected a whole number" for number, _, _ in pairs if not number.isdecimal()]
    )
    return {int(number): name for number, _, name in pairs}


def _cases_of(result: Evaluation) -> pandas.DataFrame:
    """Return a row for each case with the columns of its metrics, without lists."""
    frame = result.cases()
    frame = frame[[column for column in frame.columns if not column.startswith("table.")]]
    tasks = {column.partition(".")[0] for column in frame.columns if "." in column}
    if len(tasks) == 1:
        frame = frame.rename(columns=lambda column: column.partition(".")[2] or column)
    frame = frame.drop(columns=[one for one in ("worst", "failure") if not frame[one].astype(bool).any()])
    frame = frame.loc[:, [not frame[one].map(lambda cell: isinstance(cell, list)).any() for one in frame]]
    return frame.map(plain_cell).rename(index=plain_cell)
