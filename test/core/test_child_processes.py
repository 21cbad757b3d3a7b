"""`evaluation.core.child_processes`: a child ends with its parent, whenever that ends."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from evaluation.core.child_processes import program_of
from test.repository import REPOSITORY


def ends_soon(process: int, until: float) -> bool:
    while time.monotonic() < until:
        state = Path(f"/proc/{process}/stat")
        if not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.01)
    return False


def test_a_child_of_a_process_that_has_ended_ends_before_it_imports_anything():
    child = program_of("no_such_module:main()").replace(f"({os.getpid()})", "(1)", 1)
    done = subprocess.run(
        [sys.executable, "-c", child], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux to be killed")
def test_a_child_that_still_imports_ends_with_its_parent(tmp_path: Path):
    (tmp_path / "slow_module.py").write_text(
        "import os, time\nfrom pathlib import Path\n"
        f"Path({str(tmp_path / 'process')!r}).write_text(str(os.getpid()))\ntime.sleep(60)\n"
    )
    script = f"""
        import subprocess, sys
        sys.path.insert(0, {str(tmp_path)!r})
        from evaluation.core.child_processes import program_of
        subprocess.run([sys.executable, "-c", program_of("slow_module:main()")])
    """
    parent = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], cwd=REPOSITORY)
    written, until = tmp_path / "process", time.monotonic() + 60
    while not (written.exists() and written.read_text()) and time.monotonic() < until:
        time.sleep(0.01)
    parent.kill()
    parent.wait()
    assert ends_soon(int(written.read_text()), until)
