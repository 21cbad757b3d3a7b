"""Tests in several processes: reports, temporary folders, what they share, and processes that end early."""

import subprocess
import sys
from pathlib import Path

from test.repository import REPOSITORY

CONFTEST = """
from pathlib import Path
import pytest
from test.forks import Forks

def pytest_configure(config):
    scope = lambda test: test.partition("::")[0]
    config.pluginmanager.register(Forks(2, scope, lambda name: Path(name + ".ended").touch()))

@pytest.fixture(scope="session")
def shared(tmp_path_factory):
    yield tmp_path_factory.mktemp("shared")
    with open("torn down", "a") as file:
        file.write("x")
"""
FIRST = """
import os, time
from pathlib import Path

def test_of_the_first_file(shared):
    print("said by the first")
    Path("first").write_text(f"{os.getpid()} {shared.parent.name}")
    while not Path("second").exists():
        time.sleep(0.01)
    assert shared.parent.name == "of no process"

def test_in_the_same_process(shared):
    assert Path("first").read_text().split()[0] == str(os.getpid())
"""
SECOND = """
import os, time
from pathlib import Path

def test_of_the_second_file(shared):
    while not Path("first").exists():
        time.sleep(0.01)
    Path("second").write_text(f"{os.getpid()} {shared.parent.name}")
"""


def run(folder: Path, **files: str) -> subprocess.CompletedProcess[str]:
    for name, text in {"conftest": CONFTEST, **files}.items():
        (folder / f"{name}.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir=.", "."]
    # No options of the repository: they name plugins, and where branches are written.
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(REPOSITORY)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=100)


def test_files_run_at_the_same_time_in_two_processes_whose_reports_are_told(tmp_path):
    done = run(tmp_path, test_first=FIRST, test_second=SECOND)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "FAILED test_first.py::test_of_the_first_file - AssertionError" in done.stdout
    assert "said by the first" in done.stdout
    assert "1 failed, 2 passed" in done.stdout
    (one, here), (other, there) = ((tmp_path / name).read_text().split() for name in ("first", "second"))
    assert one != other
    assert {here, there} == {"process0", "process1"}
    assert {path.name for path in tmp_path.glob("*.ended")} == {"process0.ended", "process1.ended"}
    assert (tmp_path / "torn down").read_text() == "xx"


def test_a_process_that_ends_within_a_test_is_a_fault_that_names_it(tmp_path):
    ending = "import os\ndef test_that_ends_all():\n    os._exit(0)\n"
    done = run(tmp_path, test_first=ending, test_second="def test_other():\n    pass\n")
    assert done.returncode not in (0, 1)
    assert "ended while it ran test_first.py::test_that_ends_all" in done.stdout + done.stderr
