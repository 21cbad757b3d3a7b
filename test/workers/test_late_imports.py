"""What a library imports late does not change an answer of a confined reader."""

import subprocess
import sys

import pytest

from evaluation.workers.confinement import landlock_version, missing_filter
from test.repository import REPOSITORY

needs_all = pytest.mark.skipif(
    landlock_version() == 0 or missing_filter() is not None, reason="this kernel confines only in part"
)
LATE = """
import sys
import numpy
from datetime import datetime
from evaluation.workers.confinement import confine
before = set(sys.modules)
confine(sys.argv[1])
"""


def confined(folder, statements):
    """Run statements in a process that was confined to a folder, and return the words that it prints."""
    command = [sys.executable, "-c", LATE + statements, str(folder)]
    found = subprocess.run(command, check=True, capture_output=True, text=True, cwd=REPOSITORY)
    return found.stdout.split()


@needs_all
def test_a_module_in_python_is_imported(tmp_path):
    assert confined(tmp_path, "import wave\nprint(wave.__name__)") == ["wave"]


@needs_all
@pytest.mark.parametrize("statement", ["import secret", "import _ctypes_test"])
def test_modules_elsewhere_and_native_ones_are_not(statement, tmp_path):
    (tmp_path / "secret.py").write_text("")
    script = f"try:\n    {statement}\nexcept ImportError as error:\n    print(type(error).__name__)"
    (tmp_path / "granted").mkdir()
    path = f"sys.path.append({str(tmp_path)!r})\n"
    assert confined(tmp_path / "granted", path + script) in (["ImportError"], ["ModuleNotFoundError"])
