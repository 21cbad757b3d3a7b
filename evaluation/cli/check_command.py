"""`check`: lists the faults of a submission as the container would, without any label."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

# Only light imports: the worker server starts first and imports beside this process.
from evaluation.cli.common import (
    EXPECTED,
    JSON,
    WORKERS,
    Argument,
    command,
    problems_of,
    progress_bar,
    status_after,
    stdout_for_json,
)
from evaluation.core.fault import counted, printable
from evaluation.platform import machine, messages
from evaluation.platform.messages import Streams

if TYPE_CHECKING:
    from evaluation.core.form import Form


@command(
    Argument.path(
        "--form", "FILE", "the form of the phase, from the challenge's organisers (in an image: of its phase)"
    ),
    Argument.path(
        "--challenge",
        "FILE",
        "the challenge.py of the organisers, of a challenge that is programmed in one; it is run",
    ),
    Argument.path(
        "submission", "SUBMISSION", "a zip archive, a csv file, or a folder with what one of them holds"
    ),
    WORKERS,
    JSON,
)
def run(arguments: argparse.Namespace) -> int:
    """Check a submission; return 0, or 1 after listing its faults."""
    if machine.CAN_ISOLATE and arguments.workers != 0:
        from evaluation.workers.processes import warm_up

        warm_up()
    with stdout_for_json(arguments.json):
        status, answer = _checked(arguments)
    sys.stdout.write(answer)
    return status


def _checked(arguments: argparse.Namespace) -> tuple[int, str]:
    """Return the exit status, and the answer in JSON if it is asked for."""
    # On a terminal, the participant's line would say again what the list says.
    is_one_place = os.path.sameopenfile(1, 2)
    streams = Streams()
    if not machine.CAN_ISOLATE:
        streams.tell_organiser([machine.NO_ISOLATION])
    from evaluation.core.fault import PhaseError
    from evaluation.evaluate import check_files
    from evaluation.phase import registry
    from evaluation.phase.form_file import read_form

    submission: Path = arguments.submission
    try:
        if arguments.challenge is not None:
            registry.load(arguments.challenge)
        form = _form_of_image() if arguments.form is None else read_form(arguments.form)
        if not submission.exists():
            raise PhaseError(f"{submission}: no such file or folder")
        workers = machine.worker_count(arguments.workers)
        with progress_bar("cases", len(form.cases)) as progress:
            checked = check_files(form, submission, workers, progress)
    except EXPECTED as error:
        streams.tell_participant("; ".join(problems_of(error)))
        return status_after(error), ""
    if arguments.json:
        from evaluation.library import CheckResult

        content = CheckResult(tuple(checked.faults), checked.notices).to_dict()
        return 1 if checked.faults else 0, json.dumps(content, indent=2) + "\n"
    streams.tell_organiser(f"Note: {notice}" for notice in checked.notices)
    if checked.faults:
        streams.tell_organiser(messages.organiser_report(checked.faults))
        if not is_one_place:
            streams.tell_participant(messages.participant_line(checked.faults))
        return 1, ""
    but = f", but {counted(len(checked.notices), 'note')} above" if checked.notices else ""
    streams.tell_organiser([f"No faults{but}: {printable(submission)} is a submission to {form.phase}"])
    return 0, ""


def _form_of_image() -> Form:
    """Return the form of the phase in this image. Raises `PhaseError` where there is none."""
    from evaluation.core.fault import PhaseError
    from evaluation.phase.named import named_phase, phase_of_image

    if not (folder := phase_of_image()).is_dir():
        raise PhaseError("--form: expected the form.json of the phase, which its organisers give; found none")
    return named_phase(folder).form
