"""Commands on images: `build`, `export` of all that goes to the platform, `audience` of a run."""

import argparse
import sys
from pathlib import Path

from evaluation.cli.common import Argument, command, say, tell
from evaluation.cli.console import TableConsole, text_table
from evaluation.core.fault import PhaseError
from evaluation.core.trouble import raise_trouble_of
from evaluation.io.json_files import read_json
from evaluation.organiser import settings
from evaluation.organiser.audience import recorded_run, views_of
from evaluation.organiser.image import codabench
from evaluation.organiser.image.build import (
    BuiltImage,
    Recipe,
    build_image,
    build_without_phase,
    phase_folder_of,
)
from evaluation.organiser.image.export import export_image, next_steps
from evaluation.phase.manifest import scan
from evaluation.phase.named import phase_folder
from evaluation.phase.phase import load_phase
from evaluation.platform import machine

# --- How an image is built, and what is told of it ---


_RECIPE = (
    Argument.path(
        "folder",
        "FOLDER",
        "a phase folder, the repository with one in phase/, or a name (default: the current folder)",
        nargs="?",
        default=".",
    ),
    Argument("--base", "image of Python to start from, such as python@sha256:…", metavar="IMAGE"),
    Argument.path("--dockerfile", "FILE", "instead of the package's own, from the same files"),
    Argument(
        "--docker",
        "an argument of docker build, as --docker=--no-cache; may be repeated",
        action="append",
        default=[],
        metavar="ARGUMENT",
    ),
)


def _recipe_of(arguments: argparse.Namespace) -> Recipe:
    """Return how the image is built."""
    return Recipe(arguments.base, arguments.dockerfile, arguments.docker)


def _tell_terminal(line: str) -> None:
    """Show a line of progress on a terminal; a log has none."""
    if sys.stderr.isatty():
        tell([line])


def _tell_built(image: BuiltImage) -> None:
    """Print a line about the image, and the notes for the organiser."""
    tell(f"Note: {note}" for note in image.notes)
    say(image.summary)


@command(
    Argument.flag(
        "--without-phase", "build evaluation-builder and evaluation-base, which have the package and no phase"
    ),
    *_RECIPE,
)
def run_build(arguments: argparse.Namespace) -> int:
    """Build and print the names of the images. Raises `PhaseError`."""
    if arguments.without_phase:
        names = build_without_phase(_recipe_of(arguments), _tell_terminal)
        say(*names)
    else:
        _tell_built(build_image(arguments.folder, _recipe_of(arguments), _tell_terminal))
    return 0


@command(
    *_RECIPE,
    Argument.path(
        "--output",
        "FOLDER",
        "where to write (default: export/ of a repository with phase/, export/NAME of a phase folder)",
    ),
    Argument(
        "--for",
        "write the bundle of a competition on that platform instead: competition.zip",
        dest="platform",
        choices=["codabench"],
    ),
    Argument(
        "--docker-image",
        "of --for: where Codabench pulls the image from (default: evaluation-<phase>-codabench)",
        metavar="NAME",
    ),
    Argument(
        "--compression",
        "of gzip, from 1 (fast) to 9 (default: %(default)s)",
        type=int,
        choices=range(1, 10),
        default=6,
        metavar="LEVEL",
    ),
)
def run_export(arguments: argparse.Namespace) -> int:
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
        image = build_image(folder, _recipe_of(arguments), _tell_terminal)
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
    image = build_image(folder, _recipe_of(arguments), _tell_terminal)
    _tell_built(image)
    tell(f"Note: {note}" for note in settings.notes_of_export(phase, chosen))
    content = settings.settings_file(chosen)
    for path in export_image(image, content, output, _tell_terminal, arguments.compression):
        size = path.stat().st_size
        say(f"{path}: {size // 1_000_000} MB" if path.suffix == ".gz" else path)
    if rows := settings.ranking_table(phase, chosen):
        headings = ("scoring_method_choice", "ranks by", "places of the challenge", "example")
        TableConsole(140).print(text_table("The platform's leaderboard", headings, (), rows))
    sys.stdout.write(next_steps(image, output))
    return 0


@command(
    Argument.path(
        "recorded",
        "FOLDER",
        "holds settings.json, and what scripts/platform.sh wrote: status, stdout, stderr and output/",
    ),
)
def run_audience(arguments: argparse.Namespace) -> int:
    """Print the three views. Raises `PhaseError` if the folder holds no recorded run."""
    folder: Path = arguments.recorded
    try:
        views = views_of(recorded_run(folder), read_json(folder / "settings.json"))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise_trouble_of(error, "read", folder)
        raise PhaseError(f"{folder}: holds no recorded run ({error})") from None
    for audience, lines in views.items():
        sys.stdout.write("\n".join([audience.upper(), *(f"  {line}" for line in lines), "", ""]))
    return 0
