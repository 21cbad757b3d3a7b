"""Images under the stand-in for the platform's runtime: scored, rejected, not unpacked, out of time."""

from __future__ import annotations

import functools
import json
import os
import shutil
import tempfile
import time
import zipfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from evaluation.organiser.audience import recorded_run, views_of
from evaluation.organiser.settings import metrics_of_empty_submission, platform_settings
from evaluation.phase.phase import load_phase

from .engine import REPOSITORY, docker, on_platform, sealed_reference, submission_of

pytestmark = pytest.mark.container


@functools.cache
def settings_of(image: str) -> dict:
    with sealed_reference(image) as reference:
        phase = load_phase(reference)
        return platform_settings(phase, metrics_of_empty_submission(phase, 0))


def views(folder: Path, image: str) -> dict[str, list[str]]:
    return views_of(recorded_run(folder), settings_of(image))


def as_zip(submission: Path, folder: Path) -> Path:
    """Return a submission as a participant zips it: in a folder of its own, with what a Mac leaves behind."""
    path = folder / "My results.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("__MACOSX/my results/._x", b"x")
        archive.writestr("my results/.DS_Store", b"x")
        for file in sorted(submission.rglob("*")):
            if file.is_file():
                archive.write(file, f"my results/{file.relative_to(submission)}")
    return path


def spoilt(submission: Path, folder: Path) -> tuple[Path, str]:
    """Return the submission with one fault of its form, and what the participant must read of it."""
    copy = Path(shutil.copytree(submission, folder / "spoilt"))
    jobs = copy / "predictions.json"
    if jobs.exists():
        content = json.loads(jobs.read_text())
        content[0]["inputs"][0]["image"]["name"] = "nothing.tif"
        jobs.write_text(json.dumps(content))
        return copy, "'nothing.tif'"
    first = min(path for path in copy.rglob("*") if path.is_file())
    first.write_bytes(b"\0")
    return copy, first.name


@pytest.mark.parametrize("phase", ["refuge-onsite", "justraigs-phase1"])
def test_a_phase_of_folders_and_one_of_jobs_are_scored_and_reject(phase, image_of, tmp_path):
    image = image_of(phase)
    submission = submission_of(phase, tmp_path)
    bad, named = spoilt(submission, tmp_path)
    # What only its owner may read arrives all the same.
    min(path for path in submission.rglob("*") if path.is_file()).chmod(0o600)
    uploaded = submission if (submission / "predictions.json").exists() else as_zip(submission, tmp_path)
    # Nothing of a run is left for the next, although /tmp and the home folder are kept.
    first, again, rejected = on_platform(image, tmp_path, uploaded, submission, bad, submission)

    seen = views(first, image)
    assert (first / "status").read_text() == "0\n"
    assert (first / "stderr").read_text() == ""
    assert seen["public"][0] == "On the leaderboard:"
    assert any(line.strip().startswith("Scored ") for line in seen["organiser"])
    # Nothing beside the result, no link and no hidden file: all of /output is uploaded.
    assert [path.name for path in (first / "output").rglob("*")] == ["metrics.json"]

    seen = views(rejected, image)
    assert seen["participant"][1].startswith("Message: Submission rejected, ")
    assert named in seen["participant"][1]
    assert seen["public"][0] == "Nothing on the leaderboard."
    assert "exit status 1" in seen["organiser"]
    assert list((rejected / "output").iterdir()) == []

    assert (again / "output/metrics.json").read_bytes() == (first / "output/metrics.json").read_bytes()


def test_what_is_no_zip_or_cannot_be_unpacked(image, tmp_path):
    (tmp_path / "results.rar").write_bytes(b"Rar!")
    absolute, outside = tmp_path / "absolute.zip", tmp_path / "outside.zip"
    for path, name in ((absolute, "/a/one.csv"), (outside, "a/../../one.csv")):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(name, b"x")
            archive.writestr("two.csv", b"x")
    paths = tmp_path / "results.rar", absolute, outside
    runs = [run for path in paths for run in on_platform(image, tmp_path, path, absolute)]
    assert [views(run, image)["participant"][1] for run in runs] == [
        "Message: Input zip file could not be extracted",
        "Message: An unexpected error occurred",
        "Message: Zip file contains invalid paths",
    ]
    assert [(run / "stdout").read_text() for run in runs] == [""] * 3  # the container was not started
    # A csv file alone arrives as predictions.csv, beside the platform's inputs.json.
    table = REPOSITORY / "test/input/refuge-onsite/classification_results.csv"
    (run,) = on_platform(image, tmp_path, table)
    assert "Submission rejected" in (run / "stderr").read_text()
    assert "inputs.json" not in (run / "stderr").read_text() + (run / "stdout").read_text()


@contextmanager
def probing(image: str, program: str):
    """Yield the image with another program in the place of the evaluation."""
    name = f"evaluation-test-probe-{os.getpid()}"  # other processes probe, too
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "probe.py").write_text(program)
        (Path(folder) / "Dockerfile").write_text(
            f"FROM {image}\nENV GRAND_CHALLENGE_OWN=1 grand_challenge_other=2\n"
            'COPY probe.py /opt/probe.py\nENTRYPOINT ["python", "/opt/probe.py"]\n'
        )
        docker("build", "--quiet", f"--tag={name}", folder)
    try:
        yield name
    finally:
        docker("rmi", "--force", name)


FACTS = """
import json, os, pathlib, resource
def writable(path):
    try:
        pathlib.Path(path, "probe").write_bytes(b"")
    except OSError:
        return False
    return True
closed = not os.path.exists("/proc/self/fd/0")
root = pathlib.Path("/input").resolve()
files = sorted(root.rglob("*"))
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(json.dumps({
    "stdin closed": closed,
    "uid": os.getuid(),
    "groups": os.getgroups(),
    "home": os.environ["HOME"],
    "session of its own": os.getsid(0) == os.getpid(),
    "input is a link": os.path.islink("/input"),
    "mode of the folder": oct(root.stat().st_mode & 0o7777),
    "owners": sorted({path.stat().st_uid for path in [root, *files]}),
    "readable": all(os.access(path, os.R_OK) for path in files),
    "files": [str(path.relative_to(root)) for path in files],
    "described": json.load(open("/input/inputs.json"))[0]["socket"]["slug"],
    "tmp": os.listdir("/tmp"),
    "modes": [oct(os.stat(path).st_mode & 0o7777) for path in ("/tmp", "/output", "/opt/ml/output/data")],
    "writable": {path: writable(path) for path in ("/input/", "/tmp", "/output")},
    "data": resource.getrlimit(resource.RLIMIT_DATA),
    "network": sorted(os.listdir("/sys/class/net")),
    "platform": sorted(name for name in os.environ if name.upper().startswith("GRAND_CHALLENGE_")),
    "visible": [os.environ.get(name) for name in ("LOG_LEVEL", "PYTHONUNBUFFERED", "STATICX_PROG_PATH")],
    "capabilities": status["CapEff"].strip(),
    "no new privileges": status["NoNewPrivs"].strip(),
}))
os.symlink("/etc/hostname", "/output/link")
"""


def test_what_the_container_finds(image, tmp_path):
    with probing(image, FACTS) as probe:
        archive = tmp_path / "x.zip"
        with zipfile.ZipFile(archive, "w") as opened:
            opened.writestr("a/inputs.json", b"the participant's own")
            opened.writestr("a/b/c.csv", b"x")
        first, second = on_platform(probe, tmp_path, archive, archive)
    facts, again = (json.loads((folder / "stdout").read_text()) for folder in (first, second))
    assert facts == {
        "stdin closed": True,
        "uid": 1000,
        "groups": [1000],
        "home": "/home/evaluation",
        "session of its own": True,
        "input is a link": True,
        "mode of the folder": "0o755",
        "owners": [0],
        "readable": True,
        "files": ["b", "b/c.csv", "inputs.json"],
        "described": "predictions-zip-file",
        "tmp": [],
        "modes": ["0o777", "0o777", "0o777"],
        "writable": {"/input/": False, "/tmp": True, "/output": True},
        "data": [7 << 30, 7 << 30],
        "network": ["lo"],
        "platform": [],
        "visible": ["INFO", "1", "/opt/sagemaker-shim"],
        "capabilities": "0000000000000000",
        "no new privileges": "1",
    }
    assert again == {**facts, "tmp": ["probe"]}
    # What is left in /output is followed as root: whoever leaves a link publishes what it leads to.
    assert (second / "output/link").is_file()
    assert not (second / "output/link").is_symlink()


TALKATIVE = """
import os, sys
os.write(1, b"one\\x00 line\\ntwo\\xe2\\x80\\xa8lines\\n" + b"x" * 70_000 + b"\\nlast")
os.write(2, b"our message\\n" + b"y" * 70_000 + b"\\n")
sys.exit(int(open("/input/status").read()))
"""


def test_streams_and_statuses(image, tmp_path):
    submissions = []
    for status in (3, 137, 143):
        folder = tmp_path / str(status)
        folder.mkdir()
        (folder / "status").write_text(str(status))
        (folder / "other").write_text("")
        submissions.append(folder)
    with probing(image, TALKATIVE) as probe:
        runs = [run for folder in submissions for run in on_platform(probe, tmp_path, folder)]
    assert (runs[0] / "stdout").read_text().split("\n")[:3] == ["one line", "two", "lines"]
    assert "x" * 70_000 not in (runs[0] / "stdout").read_text()
    # A line over 64 KiB, of either stream, becomes a warning on stderr, which is then the last.
    skipped = "WARNING: A log line was skipped as it was too long"
    assert sorted((runs[0] / "stderr").read_text().splitlines()) == [skipped, skipped, "our message"]
    messages = [views_of(recorded_run(run), settings_of(image))["participant"][1] for run in runs]
    killed = "The container was killed as it exceeded the memory limit"
    assert messages == [f"Message: {message}" for message in (skipped, killed, skipped)]


STUBBORN = """
import os, signal, subprocess, sys, time, pathlib
def asked(*_):
    pathlib.Path(f"/mnt/platform/results/asked-{os.getpid()}").write_text("")
signal.signal(signal.SIGTERM, asked)
if len(sys.argv) == 1:
    subprocess.Popen([sys.executable, __file__, "child"])
pathlib.Path("/output/metrics.json").write_text("{}")
while True:
    time.sleep(0.1)
"""


def test_the_time_limit(image, tmp_path):
    submission = submission_of("refuge-onsite", tmp_path)
    with probing(image, STUBBORN) as probe:
        started = time.monotonic()
        (stopped,) = on_platform(probe, tmp_path, submission, submission, seconds=2)
        took = time.monotonic() - started
    seen = views(stopped, image)
    assert seen["participant"][1] == "Message: Time limit exceeded"
    assert seen["public"][0] == "Nothing on the leaderboard."
    # What it had written is discarded; parent and child were both asked, and killed five seconds later.
    assert list((stopped / "output").iterdir()) == []
    assert len(list(stopped.parent.glob("asked-*"))) == 2
    assert 7 < took < 30
