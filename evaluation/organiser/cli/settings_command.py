"""`settings`: the settings of a phase on the platform, and the content of its public page."""

import argparse
import sys

from evaluation.cli.common import add_phase, say, tell
from evaluation.organiser import settings
from evaluation.phase.named import named_phase
from evaluation.platform import machine


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add_phase(parser)
    add(
        "--public",
        action="store_true",
        help="instead list the paths of metrics.json that display_all_metrics shows to everybody",
    )


def run(arguments: argparse.Namespace) -> int:
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
