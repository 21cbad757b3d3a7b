"""What each audience sees of a submission, and that the container runs as on the platform."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from .engine import REPOSITORY, docker, environment, submission_of

pytestmark = pytest.mark.container

PHASE = "refuge-onsite"


def audience(submission: Path, *seconds: str, cwd: Path = REPOSITORY, **variables: str):
    return subprocess.run(
        [REPOSITORY / "run.sh", "--audience", PHASE, submission, *seconds],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=cwd,
        env=environment(**variables),
    )


def sections(text: str) -> dict[str, str]:
    """Return the text below each of the three headings."""
    found: dict[str, str] = {}
    heading = ""
    for line in text.splitlines():
        if line.isupper() and not line.startswith(" "):
            heading = line
        else:
            found[heading] = found.get(heading, "") + line + "\n"
    return found


def test_a_successful_submission(image):
    finished = audience(REPOSITORY / "test/input" / PHASE)
    assert finished.returncode == 0, finished.stderr
    seen = sections(finished.stdout)
    assert list(seen) == ["PARTICIPANT", "PUBLIC", "ORGANISER"]
    assert "The evaluation succeeded; it uses up an attempt." in seen["PARTICIPANT"]
    assert "AUC: 0.9494 ± " in seen["PUBLIC"]
    assert "Scored 40 cases of refuge-onsite" in seen["ORGANISER"]
    assert "Scored 40 cases" not in seen["PARTICIPANT"] + seen["PUBLIC"]


def test_a_failing_submission_in_a_zip_and_by_a_relative_path(image, tmp_path):
    submission = submission_of(PHASE, tmp_path)
    (submission / "segmentation" / "R0003.bmp").unlink()
    # Files that only their owner may read arrive all the same.
    (submission / "fovea_location_results.csv").chmod(0o600)
    shutil.make_archive(str(tmp_path / "my results"), "zip", tmp_path, "input")
    finished = audience(Path("my results.zip"), cwd=tmp_path)
    assert finished.returncode == 0, finished.stderr
    seen = sections(finished.stdout)
    assert "does not use up an attempt" in seen["PARTICIPANT"]
    assert "Message: Submission rejected, 1 fault: 1 missing (first: segm" in seen["PARTICIPANT"]
    assert "Nothing on the leaderboard." in seen["PUBLIC"]
    assert "exit status 1" in seen["ORGANISER"]


def test_what_the_platform_cannot_unpack(image, tmp_path):
    (tmp_path / "results.rar").write_bytes(b"Rar!")
    finished = audience(tmp_path / "results.rar")
    assert finished.returncode == 1
    assert "expected a folder, a zip archive or a csv file, found another file" in finished.stderr
    assert finished.stdout == ""


# Stands before the engine: what it creates runs a program instead of the evaluation.
PROBE = """#!/usr/bin/env bash
if [[ $1 == create ]]; then
  exec {docker} create --entrypoint python --env=GRAND_CHALLENGE_OWN=kept "${{@:2}}" -c {program}
elif [[ "$1 $2" == 'image inspect' && "$*" == *Config.Env* ]]; then
  echo GRAND_CHALLENGE_OWN=1
  echo grand_challenge_other=2
  echo LANG=C.UTF-8
else
  exec {docker} "$@"
fi
"""
FACTS = """'if True:
    import json, os, pathlib, resource, stat
    def writable(path):
        try:
            pathlib.Path(path, "probe").write_bytes(b"")
        except OSError:
            return False
        return True
    files = [path for path in pathlib.Path("/input").resolve().rglob("*")]
    cgroup = pathlib.Path("/sys/fs/cgroup")
    print(json.dumps({
        "uid": os.getuid(),
        "input is a link": os.path.islink("/input"),
        "owners": sorted({path.stat().st_uid for path in files}),
        "readable": all(os.access(path, os.R_OK) for path in files),
        "files": len(files),
        "tmp": os.listdir("/tmp"),
        "writable": {path: writable(path) for path in ("/input/", "/tmp", "/output")},
        "data": resource.getrlimit(resource.RLIMIT_DATA),
        "network": sorted(os.listdir("/sys/class/net")),
        "platform": sorted(name for name in os.environ if name.upper().startswith("GRAND_CHALLENGE_")),
        "first process": pathlib.Path("/proc/1/comm").read_text().strip(),
    }))
'"""
STUBBORN = """'if True:
    import signal, sys, time, pathlib
    signal.signal(signal.SIGTERM, lambda *_: print("asked to stop", flush=True))
    pathlib.Path("/output/metrics.json").write_text("{}")
    print("started", flush=True)
    while True:
        time.sleep(0.1)
'"""


@pytest.fixture
def probe(tmp_path):
    """Return a function from a program to the PATH on which the engine runs that program."""

    def path(program: str) -> str:
        file = tmp_path / "programs" / "docker"
        file.parent.mkdir()
        file.write_text(PROBE.format(docker=shutil.which("docker"), program=program))
        file.chmod(0o755)
        return f"{file.parent}:{environment()['PATH']}"

    return path


def test_the_container_runs_as_on_the_platform(image, probe):
    finished = audience(
        REPOSITORY / "test/input" / PHASE, PATH=probe(FACTS), GRAND_CHALLENGE_OWN="of the caller"
    )
    assert finished.returncode == 0, finished.stderr
    line = next(line for line in finished.stdout.splitlines() if line.startswith('    {"uid"'))
    facts = json.loads(line)
    expected_files = sum(1 for _ in (REPOSITORY / "test/input" / PHASE).rglob("*"))
    assert facts == {
        "uid": 1000,
        "input is a link": True,
        "owners": [0],
        "readable": True,
        "files": expected_files,
        "tmp": [],
        "writable": {"/input/": False, "/tmp": True, "/output": True},
        "data": [7 << 30, 7 << 30],
        "network": ["lo"],
        "platform": [],
        "first process": "docker-init",
    }


def test_the_time_limit(image, probe):
    finished = audience(REPOSITORY / "test/input" / PHASE, "2", PATH=probe(STUBBORN))
    assert finished.returncode == 0, finished.stderr
    seen = sections(finished.stdout)
    # It ignored SIGTERM and was killed after the grace; what it had written is discarded.
    assert "Message: Time limit exceeded" in seen["PARTICIPANT"]
    assert "stopped at the time limit" in seen["ORGANISER"]
    assert "asked to stop" in seen["ORGANISER"]
    assert docker("ps", "--all", "--quiet", "--filter=volume=/mnt/input").stdout == ""
