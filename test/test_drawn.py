"""Of tests that are alike or take long a run tries some, and the runs of some commits all of them."""

import subprocess
import sys
from types import SimpleNamespace

from test import budget
from test.repository import REPOSITORY, drawn, is_drawn

NAMES = [f"case {number}" for number in range(20)]
LONG = {f"test/long.py::test_{number}": 100.0 + number for number in range(30)}
SHARED = "test/shared.py dear"


def items() -> list[SimpleNamespace]:
    """Return tests as pytest collects them: long ones, three that share a fixture, and a quick one."""
    dear = SimpleNamespace(scope="module", baseid="test/shared.py")
    sharing = [f"test/shared.py::test_{number}" for number in range(3)]
    fixtures = {name: {"dear": [dear]} for name in sharing}
    return [
        SimpleNamespace(
            nodeid=name, _fixtureinfo=SimpleNamespace(name2fixturedefs=fixtures.get(name, {})), callspec=None
        )
        for name in (*LONG, *sharing, "test/quick.py::test_quick")
    ]


def collected(file: str, **environment: str) -> int:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-p", "no:cacheprovider", file]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=REPOSITORY, env={"PATH": "/usr/bin:/bin", **environment}
    )
    assert done.returncode == 0, done.stdout
    return done.stdout.count(f"{file}::")


def test_the_same_few_are_drawn_for_a_commit_and_all_in_the_course_of_some(monkeypatch):
    monkeypatch.setattr("test.repository.THOROUGH", False)
    found = [drawn(NAMES, 5, f"commit {number}") for number in range(60)]
    assert {len(few) for few in found} == {5}
    assert set().union(*found) == set(NAMES)
    assert drawn(NAMES[::-1], 5, "commit 7") == found[7]
    assert drawn(NAMES, 30, "commit") == set(NAMES)
    shares = [sum(is_drawn(f"{name} {number}", 0.25) for number in range(100)) for name in NAMES]
    assert 400 < sum(shares) < 600
    monkeypatch.setattr("test.repository.THOROUGH", True)
    assert drawn(NAMES, 5, "commit") == set(NAMES)
    assert all(is_drawn(name, 0.25) for name in NAMES)


def test_long_tests_are_tried_within_the_budget_and_all_in_the_course_of_some_commits(monkeypatch):
    monkeypatch.setattr(budget, "THOROUGH", False)
    monkeypatch.setattr(budget, "BUDGET", 1000)
    monkeypatch.setattr(budget, "known", lambda: {**LONG, SHARED: 150.0})
    names = {item.nodeid for item in items()}
    tried = []
    for number in range(60):
        monkeypatch.setattr(budget, "commit", lambda number=number: f"commit {number}")
        tried.append(names - budget.beyond_the_budget(items()))
        assert tried[-1] == names - budget.beyond_the_budget(items()[::-1])
    assert set().union(*tried) == names
    for found in tried:
        assert "test/quick.py::test_quick" in found
        together = sum(name.startswith("test/shared.py") for name in found)
        assert together in {0, 3}
        assert 1000 <= sum(map(LONG.get, found & LONG.keys())) + 50 * together <= 1000 + 150
    monkeypatch.setattr(budget, "BUDGET", sum(LONG.values()) + 150)
    assert budget.beyond_the_budget(items()) == set()
    monkeypatch.setattr(budget, "BUDGET", 0)
    assert budget.beyond_the_budget(items()) == names - {"test/quick.py::test_quick"}
    monkeypatch.setattr(budget, "THOROUGH", True)
    assert budget.beyond_the_budget(items()) == set()


def test_a_run_tries_a_part_and_a_thorough_one_all():
    forge, sums = "test/organiser/starter/test_forge.py", "test/hostile/test_sums.py"
    assert collected(forge, EVALUATION_TEST_SECONDS="0") < collected(forge)
    assert collected(sums) < collected(sums, EVALUATION_THOROUGH="1")
