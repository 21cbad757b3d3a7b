"""Export the image of a phase, with all that an organiser needs on the platform.

evaluation-<phase>.tar.gz     the image to upload
ground-truth-<phase>.tar.gz   its reference, sealed alike, to upload beside the image
settings.json                 the phase's settings on the platform
form.json                     what participants check their submissions with
format.md                     the format of a submission in words, for the challenge's page
sbom.json                     what the image is made of: every package with its version (CycloneDX 1.5)
provenance.json               what it was built of: base image, seal, sources, layers (in-toto, SLSA 1)
"""

import hashlib
import json
import shutil
import subprocess
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

from zlib_ng import gzip_ng

import evaluation
from evaluation.core.fault import PhaseError, printable
from evaluation.io.files import sha256_of_file, write_atomically
from evaluation.organiser.image import sbom
from evaluation.organiser.image.build import PACKAGE, BuiltImage, Tell, engine, package_files

_BASE = "org.opencontainers.image.base"
_OURS = "org.grand-challenge.evaluation"
_DISTRIBUTION = "challenge-evaluation"


def provenance(image: BuiltImage) -> bytes:
    """Return the statement about an image as JSON.

    Sources in a git repository have their commit, and say whether what was built has uncommitted changes. The
    code of the package has the digest of its files besides, so that an installed package is identified too.
    The times are those of the build; ``created`` is the engine's, which is earlier where it reused a build.
    """
    labels, phase = image.labels, image.phase
    beside = [PACKAGE.parent / name for name in ("Dockerfile", "requirements.txt")]
    package = {"dirHash": _digest_of_package()}
    materials = [
        _material(labels[f"{_BASE}.name"], _digest(labels[f"{_BASE}.digest"])),
        _material(f"{phase.name}/manifest.json", _digest(labels[f"{_OURS}.manifest"])),
        {
            **_material(_DISTRIBUTION, package, _of_git(PACKAGE, beside)),
            "uri": f"pkg:pypi/{_DISTRIBUTION}@{evaluation.__version__}",
        },
    ]
    if state := _of_git(phase):
        materials.append(_material("phase", {}, state))
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [
            {
                **_material(image.name, _digest(image.description["Id"])),
                "annotations": {"created": _seconds(datetime.fromisoformat(image.description["Created"]))},
            },
            *(
                _material(f"layer {number}", _digest(layer))
                for number, layer in enumerate(image.description["RootFS"]["Layers"], start=1)
            ),
        ],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": "urn:evaluation:build:2",
                "externalParameters": {"PHASE": labels[f"{_OURS}.phase"], "BASE": labels[f"{_BASE}.name"]},
                "resolvedDependencies": materials,
            },
            "runDetails": {
                "builder": {"id": "urn:evaluation:build"},
                "metadata": {"startedOn": _seconds(image.started), "finishedOn": _seconds(image.finished)},
            },
        },
    }
    return (json.dumps(statement, indent=1) + "\n").encode()


def _material(name: str, digest: dict[str, str], git: tuple[str, bool] | None = None) -> dict[str, Any]:
    if git is None:
        return {"name": name, "digest": digest}
    commit, changed = git
    return {
        "name": name,
        "digest": {**digest, "gitCommit": commit},
        "annotations": {"uncommittedChanges": changed},
    }


def _of_git(folder: Path, more: Sequence[Path] = ()) -> tuple[str, bool] | None:
    """Return the commit of a folder, and whether it or one of more files differs; None where it is in none.

    An installed package lies in no commit, although the environment may be in somebody's repository.
    """
    git = ["git", "-C", str(folder)]
    try:
        tracked = subprocess.run([*git, "ls-files", "."], capture_output=True, check=True)  # noqa: S603
        head = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, check=True)  # noqa: S603
        status = [*git, "status", "--porcelain", "--untracked-files=all", "--", ".", *map(str, more)]
        changed = subprocess.run(status, capture_output=True, check=True)  # noqa: S603
    except (OSError, subprocess.CalledProcessError):
        return None
    return (head.stdout.decode().strip(), bool(changed.stdout)) if tracked.stdout else None


def _digest_of_package() -> str:
    """Return the SHA-256 of the list of the package's files with theirs (in-toto's `dirHash`)."""
    lines = sorted((name, sha256_of_file(path)) for name, path in package_files())
    return hashlib.sha256("".join(f"{digest}  {name}\n" for name, digest in lines).encode()).hexdigest()


def _digest(text: str) -> dict[str, str]:
    algorithm, _, value = text.partition(":")
    return {algorithm: value}


def _seconds(time: datetime) -> str:
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


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
        "sbom.json": lambda: engine(
            *(*_RUN, "--interactive", "--entrypoint=python", image.name, "-"),
            given=Path(sbom.__file__).read_bytes(),
        ),
        "provenance.json": lambda: provenance(image),
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
