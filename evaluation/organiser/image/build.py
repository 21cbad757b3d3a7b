"""Build images with the Docker engine: of a phase, or of the package without any phase.

The engine gets the Dockerfile of the package, its requirements with their hashes, its code, and one phase.
All of this is in a distribution too, so that an installed package builds the same layers as its repository.
"""

import json
import os
import re
import secrets
import subprocess
import tarfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import IO, Any

import evaluation
from evaluation.core.fault import PhaseError
from evaluation.phase import registry
from evaluation.phase.config import FILE_NAME, PhaseConfig, read_config
from evaluation.phase.manifest import NONCE
from evaluation.phase.named import phase_folder

PACKAGE = Path(evaluation.__file__).parent
_DISTRIBUTED = Path(__file__).parent / "base"  # where a distribution has what the repository has on top
_REFERENCE = "ground-truth"
_PACKAGES = "requirements.txt"  # of the package, and of a phase that needs more
# Without attestations the exported file holds one image and nothing else.
_ENVIRONMENT = {"BUILDX_NO_DEFAULT_ATTESTATIONS": "1"}
_LAST_LINES = 20
_TIME = 1735689600  # SOURCE_DATE_EPOCH of the Dockerfile, which resets later times and keeps earlier ones
_BASE, _OURS = "org.opencontainers.image.base", "org.grand-challenge.evaluation"

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Recipe:
    """How an image is built: on which base image, by which Dockerfile, with what arguments of `docker build`.

    Without ``base`` and ``dockerfile``, those of the package.
    """

    base: str | None = None
    dockerfile: Path | None = None
    arguments: Sequence[str] = ()


@dataclass(frozen=True)
class BuiltImage:
    """The image of a phase: its name, the phase's folder, and the engine's description with all labels.

    ``notes`` are for the organiser.
    """

    name: str
    phase: Path
    description: dict[str, Any]
    notes: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """One line with version, manifest and base of the image."""
        labels = self.labels
        base = f"{labels[f'{_BASE}.name']} {labels[f'{_BASE}.digest']}"
        version, manifest = labels["org.opencontainers.image.version"], labels[f"{_OURS}.manifest"]
        return f"{self.name}: version {version}, manifest {manifest}, base {base}"

    @property
    def labels(self) -> dict[str, str]:
        """The labels of the image."""
        return dict(self.description["Config"]["Labels"])


def phase_folder_of(folder: Path) -> Path:
    """Return a phase folder, given itself, its repository or its name. Raises `PhaseError`."""
    folder = phase_folder(folder)
    for place in (folder, folder / "phase"):
        if (place / FILE_NAME).is_file():
            return place
    raise PhaseError(f"{folder}: expected {FILE_NAME} or phase/{FILE_NAME}, found neither")


def build_image(folder: Path, recipe: Recipe, tell: Tell) -> BuiltImage:
    """Build the image of the phase in a folder, `evaluation-<phase>`, sealed, rehearsed and labelled.

    ``tell`` gets the lines of the build. Raises `PhaseError` if no engine answers, the phase has faults, or
    the image is not for the platform.
    """
    phase = phase_folder_of(folder)
    config = read_config(phase)
    name = f"evaluation-{config.name}"
    engine("info")
    base = _base_of(recipe)
    base_digest = _digest_of(base, tell)
    before = (_description(name) or {}).get("Config", {}).get("Labels") or {}
    if not (phase / NONCE).exists():
        (phase / NONCE).touch(mode=0o600)
        (phase / NONCE).write_text(secrets.token_hex(16), encoding="ascii")
    # Only the complete image gets the name: no other build or export at the same time sees half of it.
    unlabelled = f"{name}:unlabelled-{secrets.token_hex(4)}"
    options = ["--build-arg", f"PHASE={config.name}"]
    _build(unlabelled, options, recipe, _phase_files(phase, f"{_REFERENCE}/{config.name}"), tell)
    try:
        labels = _labels_of(unlabelled, config)
        labels |= {f"{_BASE}.name": base, f"{_BASE}.digest": base_digest}
        # The digest of the manifest is known only now: a second build, which makes no layer, adds the labels.
        options = [option for item in labels.items() for option in ("--label", "=".join(item))]
        engine("build", "--quiet", "--tag", name, *options, "-", given=f"FROM {unlabelled}\n".encode())
    finally:
        _docker("image", "rm", unlabelled)
    description = _description(name) or {}
    return BuiltImage(name, phase, description, _notes(before, labels))


def _labels_of(image: str, config: PhaseConfig) -> dict[str, str]:
    """Ask an image which package and which sealed phase it holds. Raises `PhaseError`: another platform."""
    found = _description(image) or {}
    if (platform := f"{found.get('Os')}/{found.get('Architecture')}") != "linux/amd64":
        raise PhaseError(f"{_untagged(image)} is for {platform}, but must be for linux/amd64")
    program = (
        "import hashlib, pathlib, evaluation; print(evaluation.__version__, hashlib.sha256("
        f"pathlib.Path('/opt/evaluation/{_REFERENCE}/manifest.json').read_bytes()).hexdigest())"
    )
    printed = engine("run", "--rm", "--network=none", "--entrypoint=python", image, "-c", program)
    version, manifest = printed.decode().split()
    return {
        "org.opencontainers.image.version": version,
        f"{_OURS}.phase": config.name,
        f"{_OURS}.phase-version": config.version,
        f"{_OURS}.manifest": f"sha256:{manifest}",
    }


def build_without_phase(recipe: Recipe, tell: Tell) -> list[str]:
    """Build the two images with the package and without any phase, and return their names.

    evaluation-builder has the whole package, evaluation-base nothing for organisers: what an image of a phase
    is made of. Raises `PhaseError`.
    """
    engine("info")
    names = []
    for target in ("builder", "base"):
        names.append(f"evaluation-{target}:{evaluation.__version__}")
        _build(names[-1], ["--target", target], recipe, (), tell)
    return names


def _untagged(image: str) -> str:
    return image.partition(":")[0]


def _notes(before: dict[str, str], now: dict[str, str]) -> tuple[str, ...]:
    changed, version = f"{_OURS}.manifest", f"{_OURS}.phase-version"
    if before.get(version) == now[version] and before.get(changed) != now[changed]:
        return (
            f"the phase is not that of the last image, but its version is still {now[version]!r}: change "
            f"`version` in {FILE_NAME}, so that results tell which reference they come from",
        )
    return ()


# --- What the engine gets ---


def _source(name: str) -> Path:
    """Return a file of the distribution, or of the repository of the package. Raises `PhaseError`."""
    for folder in (_DISTRIBUTED, PACKAGE.parent):
        if (folder / name).is_file():
            return folder / name
    raise PhaseError(f"{name}: expected in {_DISTRIBUTED}; install the package from its wheel")


def _files_in(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder, followlinks=True):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        yield from (Path(place, name) for name in sorted(names) if not name.endswith(".pyc"))


def package_files() -> Iterator[tuple[str, Path]]:
    """Yield the path in the image's sources of every file of the package, and the file."""
    for path in _files_in(PACKAGE):
        if _DISTRIBUTED not in path.parents:
            yield f"evaluation/{path.relative_to(PACKAGE).as_posix()}", path


def _phase_files(phase: Path, place: str) -> Iterator[tuple[str, Path]]:
    yield from ((f"{place}/{path.relative_to(phase).as_posix()}", path) for path in _files_in(phase))
    file = registry.find_file(phase)
    if file is not None and file.parent != phase.absolute():
        yield from ((f"{place}/{path.name}", path) for path in registry.files_at_home(file))
        if (packages := file.with_name(_PACKAGES)).exists() and not (phase / _PACKAGES).exists():
            yield f"{place}/{_PACKAGES}", packages


def _write_context(stream: IO[bytes], files: Iterable[tuple[str, Path]]) -> None:
    """Write files as a tar archive, alike on every machine: with one time, owner and mode.

    Folders have members of their own, as in what `docker build` sends: the engine finds the same layers.
    """
    folders: set[PurePosixPath] = set()
    # The engine may refuse the build before it has read everything.
    with suppress(BrokenPipeError), stream, tarfile.open(fileobj=stream, mode="w|") as tar:
        for name, path in files:
            for folder in reversed(PurePosixPath(name).parents[:-1]):
                if folder not in folders:
                    folders.add(folder)
                    member = tarfile.TarInfo(str(folder))
                    member.type, member.mode, member.mtime = tarfile.DIRTYPE, 0o755, _TIME
                    tar.addfile(member)
            member = tarfile.TarInfo(name)
            member.mode = 0o600 if path.name == NONCE else 0o644
            member.mtime = _TIME
            with path.open("rb") as file:
                member.size = os.fstat(file.fileno()).st_size
                tar.addfile(member, file)


# --- The engine ---


def _build(
    name: str, options: Sequence[str], recipe: Recipe, files: Iterable[tuple[str, Path]], tell: Tell
) -> None:
    """Build an image of the package and more files. Raises `PhaseError` with the last lines of the build."""
    if recipe.base:
        options = [*options, "--build-arg", f"BASE={recipe.base}"]
    top = [("Dockerfile", _dockerfile_of(recipe)), (_PACKAGES, _source(_PACKAGES))]
    lines: list[str] = []
    with (
        subprocess.Popen(  # noqa: S603
            ["docker", "build", "--tag", name, *options, *recipe.arguments, "-"],  # noqa: S607
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=os.environ | _ENVIRONMENT,
        ) as process,
        ThreadPoolExecutor(1) as pool,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        written = pool.submit(_write_context, process.stdin, chain(top, package_files(), files))
        for line in process.stdout:
            lines.append(line.decode("utf-8", "replace").rstrip())
            tell(lines[-1])
    written.result()
    if process.returncode:
        if any("no space left on device" in line.lower() for line in lines):
            raise PhaseError("the disk is full; 'docker system prune' frees what no image or container uses")
        raise PhaseError(f"{_untagged(name)} could not be built:", *lines[-_LAST_LINES:])


def _dockerfile_of(recipe: Recipe) -> Path:
    return recipe.dockerfile or _source("Dockerfile")


def _base_of(recipe: Recipe) -> str:
    """Return the image that a build starts from. Raises `PhaseError`."""
    text = _dockerfile_of(recipe).read_text(encoding="utf-8")
    if (found := re.search(r"^ARG BASE=(\S+)", text, re.MULTILINE)) is None:
        raise PhaseError(
            f"{recipe.dockerfile}: expected a line ARG BASE=…, which names the base image, found none"
        )
    matches = (re.match(r"(?:--build-arg=)?BASE=(.+)", argument) for argument in recipe.arguments)
    given = [match[1] for match in matches if match]
    return given[-1] if given else recipe.base or found[1]


def _digest_of(base: str, tell: Tell) -> str:
    """Return the digest of a base image, which is pulled where this machine lacks it. Raises `PhaseError`."""
    if (description := _description(base)) is None:
        tell(f"pulling {base}")
        engine("pull", "--quiet", "--platform=linux/amd64", base)
        description = _description(base) or {}
    # An image that was never pulled has no digest of a registry; its own identifier names it as well.
    names = description.get("RepoDigests") or [description.get("Id", "")]
    return str(names[0]).rpartition("@")[2]


def _description(image: str) -> dict[str, Any] | None:
    done = _docker("image", "inspect", image)
    return None if done.returncode else dict(json.loads(done.stdout)[0])


def engine(*arguments: str, given: bytes | None = None) -> bytes:
    """Return the output of the engine's client, which gets ``given`` as input. Raises `PhaseError`."""
    done = _docker(*arguments, given=given)
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no message"]
        hint = " Start the engine (Linux: sudo systemctl start docker; Docker Desktop: open it)."
        raise PhaseError(f"docker {arguments[0]}: {lines[-1]}{hint if arguments[0] == 'info' else ''}")
    return done.stdout


def _docker(*arguments: str, given: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(  # noqa: S603
            ["docker", *arguments],  # noqa: S607
            input=given or b"",
            capture_output=True,
            env=os.environ | _ENVIRONMENT,
            check=False,
        )
    except FileNotFoundError:
        raise PhaseError("docker: not installed; see https://docs.docker.com/engine/install/") from None
