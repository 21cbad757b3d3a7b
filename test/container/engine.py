"""The Docker engine, an image and its runs, for the tests of the container."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from test.repository import REPOSITORY

GROUND_TRUTH = "/opt/evaluation/ground-truth"

# The restrictions of the platform's machine, and more.
HARDENED = (
    "--network=none",
    "--read-only",
    "--tmpfs=/tmp:mode=1777,size=1g",
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
    "--pids-limit=128",
    "--memory=7g",
    "--memory-swap=7g",
    "--cpus=2",
)


def docker(*arguments: object, check: bool = True) -> subprocess.CompletedProcess[str]:
    finished = subprocess.run(
        ["docker", *map(str, arguments)], capture_output=True, text=True, encoding="utf-8", timeout=300
    )
    if check and finished.returncode != 0:
        raise RuntimeError(f"docker {arguments[0]} ended with {finished.returncode}: {finished.stderr}")
    return finished


@dataclass(frozen=True)
class Run:
    status: int
    stdout: str
    stderr: str
    metrics: bytes | None
    readable: bool

    @property
    def message(self) -> str:
        """The platform's message: the last line of stderr that is not empty."""
        lines = [line for line in self.stderr.splitlines() if line.strip()]
        return lines[-1] if lines else ""


def evaluate(
    image: str, submission: Path, *options: str, arguments: tuple[str, ...] = (), own_output: bool = False
) -> Run:
    """Run the image on a submission as the platform does; ``own_output``: the options say where it goes."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "output"
        output.mkdir()
        output.chmod(0o777)
        finished = docker(
            "run",
            "--rm",
            *options,
            f"--mount=type=bind,source={submission},target=/input,readonly",
            *(() if own_output else (f"--mount=type=bind,source={output},target=/output",)),
            image,
            *arguments,
            check=False,
        )
        file = output / "metrics.json"
        return Run(
            finished.returncode,
            finished.stdout,
            finished.stderr,
            file.read_bytes() if file.exists() else None,
            file.exists() and file.stat().st_mode & 0o444 == 0o444,
        )


def on_platform(image: str, folder: Path, *submissions: Path, seconds: int = 300) -> list[Path]:
    """Run submissions as the platform does, up to the first that fails; return where each run is recorded."""
    results = Path(tempfile.mkdtemp(prefix="results-", dir=folder))
    folder.chmod(0o755)
    results.chmod(0o777)
    finished = subprocess.run(
        [REPOSITORY / "scripts/platform.sh", image, results, str(seconds), *submissions],
        capture_output=True,
        text=True,
        timeout=600,
    )
    if finished.returncode != 0:
        raise RuntimeError(finished.stderr)
    return sorted(
        (path for path in results.iterdir() if path.name.isdecimal()), key=lambda path: int(path.name)
    )


def inside(image: str, code: str, *options: str) -> str:
    """Return the output of a Python program in the image; any warning is an error."""
    return docker("run", "--rm", *options, "--entrypoint=python", image, "-W", "error", "-c", code).stdout


@contextmanager
def sealed_reference(image: str):
    """Yield a copy of the phase that lies sealed in the image, readable for any user."""
    container = docker("create", image).stdout.strip()
    folder = Path(tempfile.mkdtemp())
    try:
        docker("cp", f"{container}:{GROUND_TRUTH}", folder)
        folder.chmod(0o755)
        yield folder / "ground-truth"
    finally:
        docker("rm", container)
        shutil.rmtree(folder)


def submission_of(phase: str, folder: Path) -> Path:
    """Return a copy of the bundled submission, readable for any user, to be spoilt."""
    copy = shutil.copytree(REPOSITORY / "test/input" / phase, folder / "input")
    for path in (copy, *copy.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return copy
