"""Export the image of a phase, with all that an organiser needs on the platform.

evaluation-<phase>.tar.gz     the image to upload
ground-truth-<phase>.tar.gz   its reference, sealed alike, to upload beside the image
settings.json                 the phase's settings on the platform
form.json                     what participants check their submissions with
format.md                     the format of a submission in words, for the challenge's page
"""

import shutil
import subprocess
from collections.abc import Callable, Sequence
from importlib import resources
from pathlib import Path
from string import Template

from zlib_ng import gzip_ng

from evaluation.core.fault import PhaseError, printable
from evaluation.io.files import write_atomically
from evaluation.organiser.image.build import BuiltImage, Tell, engine

_PIECE = 1 << 20
_RUN = ("run", "--rm", "--network=none", "--read-only")


def export_image(
    image: BuiltImage, settings: bytes, output: Path, tell: Tell, compression: int = 6
) -> list[Path]:
    """Write the files for the platform into a folder and return their paths, the two to upload last.

    settings: what `evaluation settings` prints; the image has no code for it. A file whose making fails stays
    as it was. ``compression`` is the level of gzip. Raises `PhaseError` and `OSError`.
    """
    output.mkdir(parents=True, exist_ok=True)
    files: dict[str, Callable[[], bytes]] = {
        "settings.json": lambda: settings,
        "form.json": lambda: engine(*_RUN, image.name, "form", "ground-truth"),
        "format.md": lambda: engine(*_RUN, image.name, "form", "ground-truth", "--words"),
    }
    for name, content in files.items():
        tell(f"writing {output / name}")
        write_atomically(output / name, content())
    # Taken out of the image, so that both have the same seal.
    script = (
        "cd ground-truth && exec tar --create --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner "
        "--format=gnu -- *"
    )
    packed = {
        "ground-truth": [*_RUN, "--entrypoint=sh", image.name, "-c", script],
        # With its tag, as without one every tag of that name would go into the file.
        "evaluation": ["save", f"{image.name}:latest"],
    }
    paths = [output / name for name in files]
    for kind, command in packed.items():
        paths.append(output / f"{kind}-{image.name.removeprefix('evaluation-')}.tar.gz")
        tell(f"writing {paths[-1]}")
        _write_compressed(paths[-1], ["docker", *command], compression)
    return paths


def next_steps(image: BuiltImage, output: Path) -> str:
    """Return the steps of an administrator of the challenge with the files."""
    phase = image.name.removeprefix("evaluation-")
    text = (resources.files("evaluation.organiser.image") / "templates/next_steps.txt").read_text("utf-8")
    return Template(text).substitute(phase=phase, output=printable(output, 1000))


def _write_compressed(path: Path, command: Sequence[str], level: int) -> None:
    """Write a command's output, compressed; if it fails, the last file stays as it was."""
    partial = path.with_name(f"{path.name}.partial")
    try:
        with (
            partial.open("wb") as raw,
            gzip_ng.GzipNGFile(filename="", mode="wb", compresslevel=level, fileobj=raw, mtime=0) as file,  # type: ignore[no-untyped-call]
            subprocess.Popen(command, stdout=subprocess.PIPE) as process,  # noqa: S603
        ):
            assert process.stdout is not None
            shutil.copyfileobj(process.stdout, file, _PIECE)
        if process.returncode:
            raise PhaseError(f"{path} could not be written: docker {command[1]} failed")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
