"""`seal`: validates a phase and writes its manifest, which `evaluate` requires."""

import argparse

from evaluation.cli.common import add_phase, progress_bar, say
from evaluation.organiser.validate import validate_phase
from evaluation.phase.manifest import scan, seal
from evaluation.phase.named import phase_folder
from evaluation.platform import machine


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_phase(parser)


def run(arguments: argparse.Namespace) -> int:
    """Seal a phase and print its digest. Raises `PhaseError` with the faults that prevent it."""
    folder = phase_folder(arguments.phase)
    scanned = scan(folder)
    with progress_bar("reference", len(scanned.files)) as progress:
        validation = validate_phase(folder, scanned, machine.worker_count(), progress)
    manifest = seal(folder, scanned)
    say(*(f"note: {notice}" for notice in validation.notices))
    say(f"{folder}: sealed {len(validation.phase.rows)} cases", manifest.digest)
    return 0
