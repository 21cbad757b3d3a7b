"""Of tests that are alike or take long a run tries some, and the runs of some commits all of them."""

import subprocess
import sys
from functools import partial
from types import SimpleNamespace

from test.budget import beyond_the_budget
from test.repository import REPOSITORY, drawn, is_drawn
from test.rooms import needs

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


def test_the_same_few_are_drawn_for_a_commit_and_all_in_the_course_of_some():
    found = [drawn(NAMES, 5, f"commit {number}", thorough=False) for number in range(60)]
    assert {len(few) for few in found} == {5}
    assert set().union(*found) == set(NAMES)
    assert drawn(NAMES[::-1], 5, "commit 7", thorough=False) == found[7]
    assert drawn(NAMES, 30, "commit", thorough=False) == set(NAMES)
    names = [f"{name} {number}" for name in NAMES for number in range(100)]
    assert 400 < sum(is_drawn(name, 0.25, thorough=False) for name in names) < 600
    assert drawn(NAMES, 5, "commit", thorough=True) == set(NAMES)
    assert all(is_drawn(name, 0.25, thorough=True) for name in NAMES)


def test_long_tests_are_tried_within_the_budget_and_all_in_the_course_of_some_commits():
    left_out = partial(beyond_the_budget, seconds_of={**LONG, SHARED: 150.0}, thorough=False)
    names = {item.nodeid for item in items()}
    tried = []
    for number in range(60):
        tried.append(names - left_out(items(), 1000, seed=f"commit {number}"))
        assert tried[-1] == names - left_out(items()[::-1], 1000, seed=f"commit {number}")
    assert set().union(*tried) == names
    for found in tried:
        assert "test/quick.py::test_quick" in found
        together = sum(name.startswith("test/shared.py") for name in found)
        assert together in {0, 3}
        assert 1000 <= sum(map(LONG.get, found & LONG.keys())) + 50 * together <= 1000 + 150
    assert left_out(items(), sum(LONG.values()) + 150) == set()
    assert left_out(items(), 0) == names - {"test/quick.py::test_quick"}
    assert left_out(items(), 0, thorough=True) == set()


@needs("samples", "starter")
def test_a_run_tries_a_part_and_a_thorough_one_all():
    forge, sums = "test/organiser/starter/test_forge.py", "test/hostile/test_sums.py"
    assert collected(forge, EVALUATION_TEST_SECONDS="0") < collected(forge)
    assert collected(sums) < collected(sums, EVALUATION_THOROUGH="1")
