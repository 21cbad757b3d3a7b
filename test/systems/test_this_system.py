"""The commands of participants, and `rank`, on the system that the tests run on: Linux, macOS or Windows.

`test_other_systems` runs them where Linux only stands in for the other two.
"""

import csv
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from test import started
from test.repository import OF_EACH_CHALLENGE, REPOSITORY

NOTE = f"Note: on this system ({sys.platform}) cases are run one by one in this process"


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    if sys.platform == "linux":  # where other tests start commands from nothing
        return started.run(*arguments, timeout=300)
    return subprocess.run(
        [sys.executable, "-X", "utf8", "-m", "evaluation", *map(str, arguments)],
        cwd=REPOSITORY,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


def form_of(phase: str, folder: Path) -> Path:
    path = folder / "form.json"
    done = run("form", phase, "--output", path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return path


def told(done: subprocess.CompletedProcess[str]) -> list[str]:
    """Return the lines that `check` prints, without the note that only other systems than Linux have."""
    lines = done.stdout.splitlines()
    assert any(line.startswith(NOTE) for line in lines) == (sys.platform != "linux")
    return [line for line in lines if not line.startswith("Note: ")]


@pytest.mark.parametrize("phase", OF_EACH_CHALLENGE)
def test_a_submission_without_faults(phase, tmp_path):
    submission = REPOSITORY / "test" / "input" / phase
    done = run("check", "--form", form_of(phase, tmp_path), submission)
    assert (done.returncode, done.stderr) == (0, "")
    assert told(done)[-1] == f"No faults: {submission} is a submission to {phase}"


@pytest.mark.parametrize("packed", [False, True])
def test_every_fault_is_told(packed, tmp_path):
    submission = Path(shutil.copytree(REPOSITORY / "test/input/refuge-onsite", tmp_path / "mine" / "results"))
    masks = sorted((submission / "segmentation").iterdir())
    masks[0].unlink()
    masks[1].write_bytes(masks[2].read_bytes()[:-1])
    table = submission / "classification_results.csv"
    table.write_bytes(table.read_bytes().replace(b"R0002", b"R9999"))
    if packed:
        submission = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", tmp_path / "mine", "results"))
    done = run("check", "--form", form_of("refuge-onsite", tmp_path), submission)
    assert done.returncode == 1
    assert done.stderr.startswith("Submission rejected, 4 faults: ")
    assert done.stderr.count("\n") == 1
    text = "\n".join(told(done))
    for name in (masks[0].name, masks[1].name, "R0002", "R9999"):
        assert name in text
    assert masks[3].name not in text


def test_teams_are_ranked(tmp_path):
    table = tmp_path / "results.csv"
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("team", "case", "dice"))
        for number in range(12):
            writer.writerow(("second", f"case{number}", 0.6 + number / 100))
            writer.writerow(("first", f"case{number}", 0.7 + number / 100))
    output = tmp_path / "leaderboard"
    options = ("--resamples", 20, "--output", output)
    done = run("rank", table, "--metric", "dice=higher", *options)
    assert (done.returncode, done.stderr) == (0, "")
    with (output / "leaderboard.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["team"] for row in rows] == ["first", "second"]


def test_the_summary_of_a_result(tmp_path):
    result = tmp_path / "metrics.json"
    result.write_text(
        '{"phase": {"challenge": "refuge", "name": "p", "version": "1", "manifest": "", "source": "image", '
        '"missing": "reject", "options": {}}, "cases": {"expected": 2, "scored": 2, "worst": 0}, '
        '"aggregates": {"segmentation": {"dice_cup": {"value": 0.5}}}, "ranking": {"components": {}}}',
        encoding="utf-8",
    )
    done = run("summary", result)
    assert (done.returncode, done.stderr) == (0, "")
    assert "p: 2 of 2 cases scored" in done.stdout
    assert "0.5" in done.stdout
