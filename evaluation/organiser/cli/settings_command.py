"""`settings`: the settings of a phase on the platform, and the content of its public page."""

import argparse
import sys

from evaluation.organiser.settings import (
    metrics_of_empty_submission,
    notes_of,
    platform_settings,
    public_paths,
    settings_file,
)
from evaluation.phase.named import named_phase
from evaluation.platform import machine


def run(arguments: argparse.Namespace) -> int:
    """Print the settings as JSON. Raises `PhaseError` if the phase has faults."""
    phase = named_phase(arguments.phase)
    least = metrics_of_empty_submission(phase, machine.worker_count())
    settings = platform_settings(phase, least)
    if arguments.public:
        sys.stdout.write("".join(f"{path}\n" for path in public_paths(least)))
    else:
        sys.stdout.buffer.write(settings_file(settings))
        sys.stderr.write("".join(f"Note: {note}\n" for note in notes_of(phase, settings)))
    return 0
