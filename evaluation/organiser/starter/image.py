"""The image of a phase, made by the Docker engine from a base image without any phase."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from zlib_ng import gzip_ng

import evaluation
from evaluation.core.fault import PhaseError
from evaluation.organiser.starter.repository import BASE_IMAGE, BUILDER_IMAGE, PHASE, write_surroundings
from evaluation.phase import registry
from evaluation.phase.config import FILE_NAME, read_config
from evaluation.phase.manifest import scan
from evaluation.phase.phase import load_phase
from evaluation.platform import machine

_NONCE = ".nonce"
_PIECE = 1 << 20
# Without attestations the exported file holds one image and nothing else.
_ENVIRONMENT = {"BUILDX_NO_DEFAULT_ATTESTATIONS": "1"}


def phase_folder_of(folder: Path) -> Path:
    """Return a phase folder, given itself or its repository. Raises `PhaseError`."""
    for place in (folder, folder / PHASE):
        if (place / FILE_NAME).is_file():
            return place
    raise PhaseError(f"{folder}: expected {FILE_NAME} or {PHASE}/{FILE_NAME}, found neither")


def build_image(
    folder: Path,
    base: str | None = None,
    builder: str | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> str:
    """Build the image of the phase in a folder and return its name, `evaluation-<phase>`.

    base: the image to start from; builder: the image that seals and rehearses; by default this package's
    version of each. Besides the base, the image holds the phase, sealed, and the challenge that is programmed
    beside it. ``tell`` gets the lines of the build. Raises `PhaseError` if no engine answers, one of the two
    images is missing or the phase has faults.
    """
    phase = phase_folder_of(folder)
    config = read_config(phase)
    images = {
        "BASE": base or f"{BASE_IMAGE}:{evaluation.__version__}",
        "BUILDER": builder or f"{BUILDER_IMAGE}:{evaluation.__version__}",
    }
    image = f"evaluation-{config.name}"
    _engine("info")
    for needed in images.values():
        if _docker("image", "inspect", needed).returncode:
            raise PhaseError(
                f"the base image {needed} is not on this machine: pull it, or make it with ./build.sh --base "
                "in the package's repository"
            )
    if not (phase / _NONCE).exists():
        (phase / _NONCE).touch(mode=0o600)
        (phase / _NONCE).write_text(secrets.token_hex(16), encoding="ascii")
    with tempfile.TemporaryDirectory() as temporary:
        context = Path(temporary)
        shutil.copytree(phase, context / PHASE, ignore=shutil.ignore_patterns("manifest.json", "__pycache__"))
        if (file := registry.find_file(phase)) is not None:
            shutil.copy(file, context / PHASE / registry.CHALLENGE_FILE)
        write_surroundings(context, config.name, config.title)
        dockerfile = folder / "Dockerfile"
        if dockerfile.is_file():
            shutil.copy(dockerfile, context / "Dockerfile")
        options = [option for item in images.items() for option in ("--build-arg", "=".join(item))]
        command = ["docker", "build", "--tag", image, *options, str(context)]
        with subprocess.Popen(  # noqa: S603
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=os.environ | _ENVIRONMENT,
        ) as process:
            assert process.stdout is not None
            lines = []
            for line in process.stdout:
                lines.append(line.rstrip())
                tell(lines[-1])
        if process.returncode:
            raise PhaseError(f"{image} could not be built:", *lines[-20:])
    return image


def export_image(folder: Path, output: Path, image: str) -> list[Path]:
    """Write the files for the platform into a folder and return their paths; `export.sh` lists them.

    Raises `PhaseError` if the image is missing or does not start.
    """
    from evaluation.organiser.settings import metrics_of_empty_submission, platform_settings, settings_file

    phase = phase_folder_of(folder)
    config = read_config(phase)
    output.mkdir(parents=True, exist_ok=True)
    settings = output / "settings.json"
    # Computed here: the image has no code for organisers.
    loaded = load_phase(phase, scan(phase))
    least = metrics_of_empty_submission(loaded, machine.worker_count())
    settings.write_bytes(settings_file(platform_settings(loaded, least)))
    written = [settings]
    for name, arguments in (
        ("form.json", ("form", "ground-truth")),
        ("format.md", ("form", "ground-truth", "--words")),
    ):
        path = output / name
        path.write_bytes(_engine("run", "--rm", "--network=none", "--read-only", image, *arguments))
        written.append(path)
    script = (
        "cd ground-truth && exec tar --create --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner "
        "--format=gnu -- *"
    )
    run = ["run", "--rm", "--network=none", "--read-only", "--entrypoint=sh", image, "-c", script]
    for name, command in (
        (f"ground-truth-{config.name}.tar.gz", run),
        (f"evaluation-{config.name}.tar.gz", ["save", f"{image}:latest"]),
    ):
        written.append(_write_compressed(output / name, ["docker", *command]))
    return written


def _write_compressed(path: Path, command: Sequence[str]) -> Path:
    """Write a command's output, compressed; if it fails, the last file stays as it was."""
    partial = path.with_name(f"{path.name}.partial")
    try:
        with (
            partial.open("wb") as raw,
            gzip_ng.GzipNGFile(filename="", mode="wb", compresslevel=6, fileobj=raw, mtime=0) as file,  # type: ignore[no-untyped-call]
            subprocess.Popen(command, stdout=subprocess.PIPE) as process,  # noqa: S603
        ):
            assert process.stdout is not None
            while piece := process.stdout.read(_PIECE):
                file.write(piece)  # type: ignore[no-untyped-call]
        if process.returncode:
            raise PhaseError(f"{path} could not be written: {command[1]} failed")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return path


def _engine(*arguments: str) -> bytes:
    """Return the output of the engine's client. Raises `PhaseError` if it fails."""
    done = _docker(*arguments)
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no message"]
        raise PhaseError(f"docker {arguments[0]}: {lines[-1]}")
    return done.stdout


def _docker(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(  # noqa: S603
            ["docker", *arguments],  # noqa: S607
            capture_output=True,
            env=os.environ | _ENVIRONMENT,
            check=False,
        )
    except FileNotFoundError:
        raise PhaseError("docker: not installed; see https://docs.docker.com/engine/install/") from None
