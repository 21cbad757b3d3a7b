"""A stand-in for the runtime with which Grand Challenge surrounds an image; started by `scripts/platform.sh`.

It runs as root in a container of the image, on nothing but Python's standard library, and does what the
platform's own runtime does, rule by rule: it unpacks a submission into a folder of root's to which /input is
a link, writes `inputs.json` beside it, runs the image's command as the image's user, reads its streams line
by line, stops it at the time limit, and reads /output back as root. Submissions follow one another in the
same container, up to the first that fails: those after it are not run.
"""

from __future__ import annotations

import argparse
import asyncio
import grp
import json
import os
import pwd
import re
import resource
import shutil
import signal
import subprocess
import tarfile
import tempfile
import tomllib
import uuid
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

INPUT, OUTPUT = Path("/input"), Path("/output")
LINKED_INPUT = Path("/opt/ml/input/data")
GROUND_TRUTH = LINKED_INPUT / "ground_truth"
WRITABLE = (
    OUTPUT,
    Path("/opt/ml/output/data"),
    Path("/opt/ml/model"),
    GROUND_TRUTH,
    Path("/opt/ml/checkpoints"),
)
PHASE = Path("/opt/evaluation/ground-truth/phase.toml")
TMP = Path("/tmp")  # noqa: S108 - the image's own
GRACE_SECONDS = 5
# What of the platform's own settings a container sees, and what it does not.
VISIBLE = {"LOG_LEVEL": "INFO", "PYTHONUNBUFFERED": "1", "no_proxy": "amazonaws.com"}
HIDDEN_PREFIX = "grand_challenge_"
JUNK = re.compile(r"(__MACOSX|\.DS_Store|desktop.ini)")
UNEXPECTED = "An unexpected error occurred"


class PlatformError(Exception):
    """What the platform says instead of the container."""


@dataclass
class Recorded:
    """The end of one run: its exit status, and the lines of both streams as the platform logs them."""

    status: int = 1
    stdout: list[str] = field(default_factory=list)
    stderr: list[str] = field(default_factory=list)


# --- Input ---
def members(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return the name of every file of a zip and the path to which it is unpacked.

    Files of operating systems are skipped; what all paths have in common in front is cut off.
    """
    files = [name for name in names if not name.endswith("/") and JUNK.search(name) is None]
    common = os.path.commonpath(files) if files else ""
    if len(files) == 1:
        common = common.rpartition("/")[0]
    start = len(common) + 1 if common else 0
    return [(name, name[start:]) for name in files]


def extract(archive: Path, folder: Path) -> None:
    """Unpack a zip. Raises `PlatformError`, and whatever the platform has no message for."""
    try:
        with zipfile.ZipFile(archive) as opened:
            for name, path in members(opened.namelist()):
                normal = os.path.normpath(path) if path else "."
                if normal == ".." or normal.startswith(("/", "../")):
                    raise PlatformError("Zip file contains invalid paths")
                target = folder / normal
                target.parent.mkdir(parents=True, exist_ok=True)
                with opened.open(name) as source, target.open("wb") as file:
                    shutil.copyfileobj(source, file)
    except zipfile.BadZipFile:
        raise PlatformError("Input zip file could not be extracted") from None
    except NotImplementedError:
        raise PlatformError("Zip file contains an unsupported compression method") from None


def download(submission: Path, algorithm: bool) -> None:
    """Put a submission into /input, and the platform's description of it beside. Raises `PlatformError`."""
    try:
        _download(submission, algorithm)
    except (RuntimeError, ValueError, OSError):  # an encrypted zip, a folder called inputs.json and the like
        raise PlatformError(UNEXPECTED) from None


def _download(submission: Path, algorithm: bool) -> None:
    if algorithm:
        copy_files(submission, INPUT)
        described = _described("predictions-json-file", "predictions.json", "Anything", "Value", None)
    elif submission.is_dir():
        # What a participant would upload of this folder.
        with tempfile.TemporaryDirectory(dir="/var/tmp") as scratch:
            extract(Path(shutil.make_archive(f"{scratch}/predictions", "zip", submission)), INPUT)
        described = _described(
            "predictions-zip-file", "predictions.zip", "ZIP file", "File", "predictions.zip"
        )
    elif submission.suffix.casefold() == ".csv":
        shutil.copyfile(submission, INPUT / "predictions.csv")
        described = _described("predictions-csv-file", "predictions.csv", "CSV file", "File", submission.name)
    else:
        extract(submission, INPUT)
        described = _described("predictions-zip-file", "predictions.zip", "ZIP file", "File", submission.name)
    (INPUT / "inputs.json").write_text(json.dumps([described]), encoding="utf-8")


def _described(slug: str, path: str, kind: str, super_kind: str, file: str | None) -> dict[str, Any]:
    socket = {
        "pk": 1,
        "slug": slug,
        "title": slug.replace("-", " ").capitalize(),
        "description": "",
        "kind": kind,
        "super_kind": super_kind,
        "relative_path": path,
        "default_value": None,
        "look_up_table": None,
        "overlay_segments": [],
    }
    url = (
        f"https://grand-challenge.org/media/evaluation-supplementary/1/{file}?Expires=1&Signature=s"
        if file
        else None
    )
    return {"interface": socket, "socket": socket, "value": None, "file": url, "image": None, "pk": 1}


def clean(folder: Path) -> None:
    """Remove what lies in a folder."""
    for entry in folder.iterdir() if folder.exists() else ():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def reset_io(key: str) -> None:
    """Empty /input and /output and link /input to a folder of root's; /tmp and the home folder are kept."""
    clean(INPUT)
    clean(OUTPUT)
    if INPUT.is_symlink():
        INPUT.unlink()
    elif INPUT.exists():
        INPUT.rmdir()
    linked = LINKED_INPUT / f"{key}-input"
    linked.mkdir(parents=True)
    linked.chmod(0o755)
    INPUT.symlink_to(linked, target_is_directory=True)


# --- The container's process ---
@dataclass(frozen=True)
class User:
    """Whom the container runs as: the image's USER with its groups and home."""

    uid: int
    gid: int
    groups: list[int]
    home: str

    @classmethod
    def of(cls, name: str) -> User:
        """Return the user of an image's `USER`, which must have an entry in its passwd."""
        user, _, group = name.partition(":")
        entry = pwd.getpwuid(int(user)) if user.isdigit() else pwd.getpwnam(user)
        gid = entry.pw_gid if not group else (int(group) if group.isdigit() else grp.getgrnam(group).gr_gid)
        others = sorted(
            g.gr_gid for g in grp.getgrall() if entry.pw_name in g.gr_mem and g.gr_gid != entry.pw_gid
        )
        return cls(entry.pw_uid, gid, [entry.pw_gid, *others], entry.pw_dir)


def environment(user: User) -> dict[str, str]:
    """Return the image's variables with those of the platform that it does not hide."""
    kept = {
        name: value for name, value in os.environ.items() if not name.casefold().startswith(HIDDEN_PREFIX)
    }
    return {**kept, **VISIBLE, "HOME": user.home}


async def execute(
    command: Sequence[str], user: User, memory_bytes: int, seconds: float, run: Recorded
) -> None:
    """Run the image's command and record its end. What is wrong is logged as the platform logs it."""

    def limit() -> None:
        os.close(0)
        resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))

    process = await asyncio.create_subprocess_exec(
        *command,
        user=user.uid,
        group=user.gid,
        extra_groups=user.groups,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(user),
        start_new_session=True,
        preexec_fn=limit,
    )
    streams = asyncio.gather(_log(process.stdout, run.stdout, run), _log(process.stderr, run.stderr, run))
    try:
        await asyncio.wait_for(streams, seconds)
        run.status = await process.wait()
    except TimeoutError:
        await _stop(process)
        run.stderr.append("Time limit exceeded")
        run.status = 1
    except UnicodeDecodeError:
        await _stop(process)
        run.stderr.append(UNEXPECTED)
        run.status = 1


async def _log(stream: asyncio.StreamReader | None, lines: list[str], run: Recorded) -> None:
    """Log a stream; a message of several lines in the sense of `str.splitlines` is several messages."""
    while stream is not None:
        try:
            line = await stream.readline()
        except ValueError:
            run.stderr.append("WARNING: A log line was skipped as it was too long")
            continue
        if not line:
            return
        lines += line.replace(b"\x00", b"").decode("utf-8").splitlines() or [""]


async def _stop(process: asyncio.subprocess.Process) -> None:
    """Ask all processes of the session to end, and end them after some seconds."""
    for signal_number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, signal_number)
            await asyncio.wait_for(process.wait(), GRACE_SECONDS)
        except ProcessLookupError:
            return
        except TimeoutError:
            continue
        return


# --- One submission after the other ---
def evaluate(submission: Path, results: Path, arguments: argparse.Namespace) -> bool:
    """Run the image on one submission, record what the platform keeps, and return whether it succeeded."""
    run = Recorded()
    # The organiser says on the platform what a phase takes, and in the phase's own configuration.
    phase = tomllib.loads(PHASE.read_text(encoding="utf-8"))
    reset_io(str(uuid.uuid4()))
    try:
        download(submission, phase["submission"] == "algorithm")
    except PlatformError as error:
        run.stderr.append(str(error))
    else:
        memory_bytes = (arguments.memory_mb - 1024) << 20
        command = [*(arguments.config.get("Entrypoint") or ()), *(arguments.config.get("Cmd") or ())]
        asyncio.run(execute(command, User.of(arguments.config["User"]), memory_bytes, arguments.seconds, run))
    results.mkdir(parents=True)
    (results / "output").mkdir()
    if run.status == 0:
        copy_files(OUTPUT, results / "output")
    (results / "status").write_text(f"{run.status}\n", encoding="ascii")
    for name in ("stdout", "stderr"):
        text = "".join(f"{line}\n" for line in getattr(run, name))
        (results / name).write_text(text, encoding="utf-8", newline="\n")
    return run.status == 0


def copy_files(source: Path, folder: Path) -> None:
    """Copy every file below a folder as root's own; a link is followed, as the platform follows it."""
    for path in source.rglob("*"):
        if path.is_file() or path.is_symlink():
            target = folder / path.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)


def main() -> None:
    """Run the submissions below a folder in the order of their numbers, each into a folder of results."""
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--config", type=json.loads, required=True, help="the image's own, from docker image inspect"
    )
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--memory-mb", type=int, required=True)
    parser.add_argument("--ground-truth", type=Path, help="a tarball to be unpacked beside the image")
    parser.add_argument("submissions", type=Path)
    parser.add_argument("results", type=Path)
    arguments = parser.parse_args()
    os.umask(0o022)
    for folder in (TMP, *WRITABLE):
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o777)
    if arguments.ground_truth is not None:
        user = User.of(arguments.config["User"])
        with tarfile.open(arguments.ground_truth) as tar:
            tar.extractall(GROUND_TRUTH, filter="data")
        for path in GROUND_TRUTH.rglob("*"):
            os.chown(path, user.uid, user.gid)
    for folder in sorted(arguments.submissions.iterdir(), key=lambda path: int(path.name)):
        (submission,) = folder.iterdir()
        if not evaluate(submission, arguments.results / folder.name, arguments):
            break
    for path in arguments.results.rglob("*"):
        path.chmod(0o777 if path.is_dir() else 0o666)


if __name__ == "__main__":
    main()
