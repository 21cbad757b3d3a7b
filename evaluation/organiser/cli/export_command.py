"""`export`: the image of a phase, and all that goes to the platform with it."""

import argparse
import sys
from pathlib import Path

from evaluation.cli.common import say, tell
from evaluation.cli.console import TableConsole, text_table
from evaluation.core.fault import PhaseError
from evaluation.organiser import settings
from evaluation.organiser.cli.shared import add_recipe, recipe_of, tell_built, tell_terminal
from evaluation.organiser.image import codabench
from evaluation.organiser.image.build import build_image, phase_folder_of
from evaluation.organiser.image.export import export_image, next_steps
from evaluation.phase.manifest import scan
from evaluation.phase.named import phase_folder
from evaluation.phase.phase import load_phase
from evaluation.platform import machine


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add_recipe(parser)
    add(
        "--output",
        type=Path,
        metavar="FOLDER",
        help="where to write (default: export/ of a repository with phase/, export/NAME of a phase folder)",
    )
    add(
        "--for",
        dest="platform",
        choices=["codabench"],
        help="write the bundle of a competition on that platform instead: competition.zip",
    )
    add(
        "--docker-image",
        metavar="NAME",
        help="of --for: where Codabench pulls the image from (default: evaluation-<phase>-codabench)",
    )
    add(
        "--compression",
        type=int,
        choices=range(1, 10),
        default=6,
        metavar="LEVEL",
        help="of gzip, from 1 (fast) to 9 (default: %(default)s)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Build the image, write the files, print their sizes and what to do with them. Raises `PhaseError`."""
    folder = phase_folder_of(arguments.folder)
    # First of all, since what the platform would refuse needs no image to be found.
    phase = load_phase(folder, scan(folder))
    given = phase_folder(arguments.folder)
    output = arguments.output or (Path("export") / phase.config.name if given == folder else given / "export")
    if output.resolve().is_relative_to(folder.resolve()):
        raise PhaseError(
            f"{output}: lies in the phase folder, all of which is sealed; choose another --output"
        )
    if arguments.platform is not None:
        codabench.require_bundle(phase)
        image = build_image(folder, recipe_of(arguments), tell_terminal)
        name = codabench.image_for_codabench(image)
        docker_image = arguments.docker_image or name
        say(
            codabench.write_bundle(phase, image, docker_image, output),
            f"Push the image {name} to a registry as {docker_image}, so that Codabench can pull it; "
            "then upload competition.zip there. The bundle holds the labels.",
        )
        return 0
    least = settings.metrics_of_empty_submission(phase, machine.worker_count())
    chosen = settings.platform_settings(phase, least)
    image = build_image(folder, recipe_of(arguments), tell_terminal)
    tell_built(image)
    tell(f"Note: {note}" for note in settings.notes_of_export(phase, chosen))
    content = settings.settings_file(chosen)
    for path in export_image(image, content, output, tell_terminal, arguments.compression):
        size = path.stat().st_size
        say(f"{path}: {size // 1_000_000} MB" if path.suffix == ".gz" else path)
    if rows := settings.ranking_table(phase, chosen):
        headings = ("scoring_method_choice", "ranks by", "places of the challenge", "example")
        TableConsole(140).print(text_table("The platform's leaderboard", headings, (), rows))
    sys.stdout.write(next_steps(image, output))
    return 0
