"""Of tests with many parameters a run tries a few, and the runs of some commits all of them."""

import subprocess
import sys

from test.repository import REPOSITORY, drawn

NAMES = [f"case {number}" for number in range(20)]
COUNTED = "test/organiser/starter/test_forge.py"


def collected(**environment: str) -> int:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-p", "no:cacheprovider", COUNTED]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=REPOSITORY, env={"PATH": "/usr/bin:/bin", **environment}
    )
    assert done.returncode == 0, done.stdout
    return done.stdout.count("test_every_kind_of_the_platform_is_scored_or_named_as_unscored[")


def test_the_same_few_are_drawn_for_a_commit_and_all_in_the_course_of_some(monkeypatch):
    monkeypatch.setattr("test.repository.THOROUGH", False)
    found = [drawn(NAMES, 5, f"commit {number}") for number in range(60)]
    assert {len(few) for few in found} == {5}
    assert set().union(*found) == set(NAMES)
    assert drawn(NAMES[::-1], 5, "commit 7") == found[7]
    assert drawn(NAMES, 30, "commit") == set(NAMES)
    monkeypatch.setattr("test.repository.THOROUGH", True)
    assert drawn(NAMES, 5, "commit") == set(NAMES)


def test_a_run_tries_a_few_and_a_thorough_one_all():
    assert collected() == 10
    assert collected(EVALUATION_THOROUGH="1") > 30
