"""`evaluate`: scores a submission, in the container or outside of it."""

from __future__ import annotations

import argparse
import errno
import importlib
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

# Only light imports: the worker server starts first and imports beside this process.
from evaluation.cli.common import (
    EXPECTED,
    WORKERS,
    Argument,
    add_all,
    problems_of,
    progress_bar,
    status_after,
)
from evaluation.core.fault import PhaseError, printable
from evaluation.core.formats import format_of_name
from evaluation.core.trouble import raise_trouble_of
from evaluation.phase.named import BAKED, UPLOADED, phase_folder, phase_of_image
from evaluation.platform import machine, messages
from evaluation.platform.messages import Streams

if TYPE_CHECKING:
    from evaluation.evaluate import Result
    from evaluation.phase.phase import Source


def shard(text: str) -> slice:
    """Return an argument I/N as the slice of the I-th of N shares, counted from 1."""
    if match := re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text):
        number, count = map(int, match.groups())
        if 1 <= number <= count:
            return slice(number - 1, None, count)
    raise argparse.ArgumentTypeError(f"expected I/N with I from 1 to N, found {text!r}")


INPUT = Path("/input")
OUTPUT = Path("/output")

_CHALLENGE = re.compile(r'^challenge *= *["\']([a-z][a-z0-9_]*)["\']', re.MULTILINE)

_OF_EACH = ("since", "shard", "cluster")

_ORGANISERS = (
    "The evaluation stopped because of a fault of the organisers' or of the platform, not of your submission."
)
_SHOWN_NAMES = 10
_OUT_OF_TIME = "The evaluation ran out of time. Please tell the organisers; no result was written."


_ARGUMENTS = (
    Argument.path("--input", "FOLDER", "the submission (default: %(default)s)", default="/input"),
    Argument(
        "--ground-truth",
        "a phase folder, or the name of one below ground-truth/; it must be sealed (default: "
        f"{UPLOADED} if it holds anything, else {BAKED})",
        metavar="PHASE",
    ),
    Argument.path("--output", "FOLDER", "where metrics.json goes (default: %(default)s)", default="/output"),
    Argument.path("--cases", "FILE", "also write every case's columns, labels included, for the organiser"),
    Argument(
        "--for",
        "run as the scoring program of that platform, in its folders below /app, and also write its "
        "scores.json and detailed_results.html",
        dest="platform",
        choices=["codabench"],
    ),
    WORKERS,
    Argument.flag(
        "--require-isolation",
        "stop where readers of untrusted files cannot be confined as SECURITY.md says; "
        "without it, the log tells what they keep",
    ),
)
_EACH = (
    Argument(
        "--each",
        "score every folder and zip in FOLDER as one team's submission, into OUTPUT/<team>/, "
        "or those in FOLDER/<team>/ as its submissions; a result whose submission is the same"
        " is kept. Several phases: PHASE=FOLDER …, into OUTPUT/<phase>/<team>/",
        nargs="+",
        metavar="FOLDER",
    ),
    Argument.path("--since", "RESULTS", "compare with earlier results; writes OUTPUT/changes.json"),
    Argument("--shard", "score only the I-th of N shares, as one job of an array", type=shard, metavar="I/N"),
    Argument(
        "--cluster",
        "score on the workers of the Dask scheduler at this address, or start one: local, "
        "kubernetes, or a batch system such as slurm; --workers is then how many to ask for",
        metavar="WHERE",
    ),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_all(_ARGUMENTS, parser)
    add_all(_EACH, parser.add_argument_group("many submissions"))


def run(arguments: argparse.Namespace) -> int:
    """Score a submission; return 0, or another status after a message to the participant without a result."""
    started = time.monotonic()
    streams = Streams()
    status = 1
    try:
        machine.require_memory()
        if machine.CAN_ISOLATE:
            from evaluation.workers.processes import collect_rarely, warm_up

            if arguments.workers != 0 and not arguments.each:
                reference = _reference_folder(arguments.ground_truth)
                warm_up(_holds_images(reference), *_modules_of(reference))
            collect_rarely()
        else:
            streams.tell_organiser([machine.NO_ISOLATION])
        _tell_of_isolation(arguments, streams)
        if arguments.each:
            # Found by name: it belongs to the organiser's part of the package, which an image does not have.
            each = importlib.import_module("evaluation.organiser.cli.evaluate_each")
            return int(each.evaluate_each(arguments, lambda: _reference(None), streams))
        unused = [name for name in _OF_EACH if getattr(arguments, name) is not None]
        PhaseError.raise_all([f"--{name}: expected only together with --each" for name in unused])
        return _run_one(arguments, started, streams)
    except EXPECTED as error:
        streams.tell_organiser(problems_of(error))
        status = status_after(error)
    except Exception:
        import traceback

        streams.tell_organiser(["Fault of the evaluation itself:", traceback.format_exc()])
    # Of many submissions, the reader is the organiser, who has the reason above.
    if arguments.each is None:
        streams.tell_participant(_ORGANISERS)
    return status


def _tell_of_isolation(arguments: argparse.Namespace, streams: Streams) -> None:
    """Tell what confinement workers lack here. Raises `PhaseError` where it is required."""
    from evaluation.workers.confinement import missing_confinement

    isolates = machine.CAN_ISOLATE and arguments.workers != 0
    missing = missing_confinement() if isolates else "cases are run in this process (--workers 0)"
    if missing and arguments.require_isolation:
        raise PhaseError(f"--require-isolation: {missing}")
    if missing and isolates:
        streams.tell_organiser([missing])


def _run_one(arguments: argparse.Namespace, started: float, streams: Streams) -> int:
    """Score one submission and return the exit status."""
    from evaluation.evaluate import Rejection, evaluate
    from evaluation.phase.phase import load_phase_to_verify
    from evaluation.workers.pool import DeadlineExceeded

    if arguments.platform is not None:
        _take_folders_of_codabench(arguments)
    of_cases = [arguments.cases.absolute()] if arguments.cases else []
    _remove_outputs(arguments.output, ("metrics.json", *of_cases))
    folder, source = _reference(arguments.ground_truth)
    if arguments.ground_truth is None and folder is BAKED and UPLOADED.is_dir():
        streams.tell_organiser(
            [f"{UPLOADED} is empty: the reference in the image is used, and no uploaded ground truth"]
        )
    phase = load_phase_to_verify(folder, source=source)
    _remove_outputs(arguments.output, phase.config.outputs)
    _require_readable(arguments.input)
    workers = machine.worker_count(arguments.workers)
    try:
        with progress_bar("cases", len(phase.rows)) as progress:
            result = evaluate(phase, arguments.input, workers, started, progress)
        if isinstance(result, Rejection):
            streams.tell_organiser([*result.notes, *messages.organiser_report(result.faults)])
            return _rejected(messages.participant_line(result.faults), arguments, streams)
        path = _write(result, arguments)
        if arguments.platform is not None:
            from evaluation import codabench

            with _writing_to(arguments.output):
                line = codabench.write_results(result.phase, result.metrics, arguments.output)
            if line is not None:
                streams.tell_participant(line)
                return 1
    except DeadlineExceeded as deadline:
        streams.tell_organiser(
            [
                f"The budget of {phase.config.limits.budget_seconds} s was used up; not finished:",
                *map(printable, deadline.unfinished),
            ]
        )
        return _rejected(_OUT_OF_TIME, arguments, streams)
    cases = result.metrics.cases
    scored = f"{cases.scored} of {cases.expected}" if cases.scored < cases.expected else str(cases.scored)
    streams.tell_organiser([*result.notes(), f"Scored {scored} cases of {phase.config.name}: {path}"])
    if sys.stdout.isatty():
        from evaluation.cli.console import print_figures
        from evaluation.io.json_files import read_json

        print_figures(read_json(path))
    return 0


def _rejected(line: str, arguments: argparse.Namespace, streams: Streams) -> int:
    """Tell the participant why there is no result, and return the exit status."""
    streams.tell_participant(line)
    if arguments.platform is not None:
        from evaluation import codabench

        codabench.write_rejection(line, arguments.output)
    return 1


def _write(result: Result, arguments: argparse.Namespace) -> Path:
    """Write the files of a result, `metrics.json` after all others, and return its path."""
    from evaluation.io.files import write_atomically
    from evaluation.platform.result_file import render, write_metrics

    if arguments.cases:
        from evaluation.summary import organiser_records

        records = organiser_records(result, result.figures)
        write_atomically(arguments.cases, render(records, organisers=True, rounded=False))
    with _writing_to(arguments.output):
        if outputs := result.phase.config.outputs:
            from evaluation.charts.published import documents

            for name, document in documents(result, result.metrics, outputs).items():
                write_atomically(arguments.output / name, document)
        return write_metrics(result.metrics, arguments.output)


def _take_folders_of_codabench(arguments: argparse.Namespace) -> None:
    """Take the folders of Codabench where no others are named, and remove what an earlier run has written."""
    from evaluation.codabench import FOLDERS, PAGE, REFERENCE, SCORES

    for name, ours in (("input", INPUT), ("output", OUTPUT)):
        if getattr(arguments, name) == ours:
            setattr(arguments, name, FOLDERS[name])
    arguments.ground_truth = arguments.ground_truth or REFERENCE
    _remove_outputs(arguments.output, (SCORES, PAGE))


def _remove_outputs(output: Path, paths: Iterable[str | Path]) -> None:
    """Remove files of an earlier run, so that none is taken for the result of this one."""
    with _writing_to(output):
        for path in paths:
            (output / path).unlink(missing_ok=True)


def _require_readable(folder: Path) -> None:
    """Raise `PhaseError` unless the submission's folder can be listed: no participant made that folder."""
    try:
        with os.scandir(folder):
            pass
    except OSError as error:
        raise_trouble_of(error, "list", folder)
        raise PhaseError(f"{folder}: cannot be listed: {error.strerror}") from None


@contextmanager
def _writing_to(folder: Path) -> Iterator[None]:
    """Say what to do where this process may not write into a folder. Raises `PhaseError` and `OSError`."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise
        user = f"user {os.getuid()}" if hasattr(os, "getuid") else "this user"
        raise PhaseError(
            f"{folder}: cannot be written: {error.strerror}. Choose an output folder that {user} may write; "
            f"in a container, mount one at {OUTPUT}: a new named volume, or a folder with mode 0777"
        ) from None


def _reference(given: str | None) -> tuple[Path, Source]:
    """Return the folder of the phase to score against, and whether it came from the image or a tarball."""
    folder = _reference_folder(given)
    if given is not None:
        return folder, "folder"
    if folder is UPLOADED:
        _require_phase_on_top(UPLOADED)
        if BAKED.is_dir():
            _require_same_phase(BAKED, UPLOADED)
    return folder, "tarball" if folder is UPLOADED else "image"


def _reference_folder(given: str | None) -> Path:
    return phase_folder(given) if given is not None else phase_of_image()


def _holds_images(phase: Path) -> bool:
    """Return whether a reference seems to have images for SimpleITK, by the first file of each folder."""
    folders = [entry.path for entry in os.scandir(phase) if entry.is_dir()] if phase.is_dir() else []
    formats = (format_of_name(name) for folder in folders for name in _first_name(folder))
    return any(row is None or "SimpleITK" in row.needs for row in formats)


def _first_name(folder: str) -> list[str]:
    with suppress(OSError), os.scandir(folder) as entries:  # loading the phase tells what cannot be listed
        return [entry.name for entry in islice(entries, 1)]
    return []


def _modules_of(phase: Path) -> tuple[list[str], list[str]]:
    """Return the modules that workers seem to need for a phase, before its configuration is read.

    Where the phase declares a challenge, its kinds and metrics follow.
    """
    try:
        content = (phase / "phase.toml").read_text("utf-8", "replace")
    except OSError:
        return ["evaluation.challenges"], []
    if found := _CHALLENGE.search(content):
        return [f"evaluation.challenges.{found.group(1)}"], []
    from evaluation.challenges.declared import names

    return [names.READING_MODULE, names.PACKAGE], names.names_in(content)


def _require_phase_on_top(uploaded: Path) -> None:
    """Reject an uploaded reference that lies in a folder, or is none. Raises `PhaseError`."""
    if (uploaded / "phase.toml").is_file():
        return
    from evaluation.phase.config import folders_with

    inner = folders_with("phase.toml", uploaded)
    names = sorted(path.name for path in uploaded.iterdir())
    found = f"it in the folder {inner[0]}/" if inner else ", ".join(map(printable, names[:_SHOWN_NAMES]))
    raise PhaseError(
        f"{uploaded}: expected phase.toml on top of the uploaded ground truth, found {found}. Upload the "
        "tarball that `evaluation export` writes, or pack the content of the phase folder without the folder"
    )


def _require_same_phase(baked: Path, uploaded: Path) -> None:
    """Reject an uploaded reference of another phase. Raises `PhaseError`."""
    from evaluation.phase.config import read_config

    image_config, tarball_config = read_config(baked), read_config(uploaded)
    for key in ("challenge", "name"):
        expected, found = getattr(image_config, key), getattr(tarball_config, key)
        if expected != found:
            raise PhaseError(
                f"{uploaded}/phase.toml: {key}: expected {expected!r} as in the image, found {found!r}"
            )
