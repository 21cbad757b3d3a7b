"""What `run.sh --audience` prints of a submission."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from .engine import REPOSITORY, submission_of

pytestmark = pytest.mark.container

PHASE = "refuge-onsite"


def audience(submission: Path, cwd: Path = REPOSITORY):
    return subprocess.run(
        [REPOSITORY / "run.sh", "--audience", PHASE, submission],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=cwd,
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
    assert "AUC: 0.9494\n" in seen["PUBLIC"]
    assert "Dice of the cup: 0.9278 ± " in seen["PUBLIC"]
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
