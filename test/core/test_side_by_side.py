"""`evaluation.core.side_by_side`: the same results from two processes, whatever happens to one of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from evaluation.core import side_by_side as module
from evaluation.core.side_by_side import side_by_side
from test.repository import REPOSITORY


def number_and_process(number: int) -> Callable[[], tuple[int, int]]:
    return lambda: (number, os.getpid())


def test_results_come_in_order_from_two_processes(may_fork):
    found = side_by_side([number_and_process(number) for number in range(5)], [1, 5, 2, 4, 3])
    assert [number for number, _ in found] == [0, 1, 2, 3, 4]
    here = {number for number, process in found if process == os.getpid()}
    # 5 here, 4 and 3 there, 2 here, and 1, with 7 on each side, here.
    assert here == {0, 1, 2}
    assert len({process for _, process in found}) == 2


def test_one_task_and_none_need_no_other_process(may_fork):
    assert side_by_side([number_and_process(7)], [1]) == [(7, os.getpid())]
    assert side_by_side([], []) == []


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for a single processor")
def test_threads_and_a_single_processor_forbid_it():
    tasks, here = [number_and_process(0), number_and_process(1)], os.getpid()
    ended = threading.Event()
    thread = threading.Thread(target=ended.wait)
    thread.start()
    try:
        assert side_by_side(tasks, [1, 1]) == [(0, here), (1, here)]
    finally:
        ended.set()
        thread.join()
    processors = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(processors)})
    try:
        assert side_by_side(tasks, [1, 1]) == [(0, here), (1, here)]
    finally:
        os.sched_setaffinity(0, processors)


def here_only(how: Callable[[], object]) -> Callable[[], str]:
    """Return a task that fails in any process but this one."""
    here = os.getpid()

    def task() -> str:
        if os.getpid() != here:
            how()
        return "done"

    return task


@pytest.mark.parametrize(
    "how",
    [
        lambda: 1 / 0,
        lambda: os.kill(os.getpid(), signal.SIGKILL),
        lambda: os._exit(0),
        lambda: sys.exit(3),
    ],
    ids=["exception", "killed", "ended", "exit"],
)
def test_what_fails_in_the_copy_is_done_here(may_fork, how):
    assert side_by_side([lambda: "ours", here_only(how)], [2, 1]) == ["ours", "done"]


def test_a_result_that_cannot_be_pickled_is_computed_here(may_fork):
    found = side_by_side([lambda: "ours", lambda: lambda: 5], [2, 1])
    assert found[1]() == 5


def test_an_answer_larger_than_a_pipe(may_fork):
    assert side_by_side([lambda: b"", lambda: b"x" * 5_000_000], [2, 1])[1] == b"x" * 5_000_000


def test_exceptions_are_those_of_the_tasks_and_leave_no_process(may_fork, tmp_path):
    def theirs() -> None:
        (tmp_path / str(os.getpid())).touch()
        time.sleep(60)

    def ours() -> None:
        while not list(tmp_path.iterdir()):
            time.sleep(0.01)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        side_by_side([ours, theirs], [2, 1])
    (copy,) = tmp_path.iterdir()
    with pytest.raises(ProcessLookupError):
        os.kill(int(copy.name), 0)
    with pytest.raises(ZeroDivisionError):
        side_by_side([lambda: "ours", lambda: 1 / 0], [2, 1])


def ends_soon(process: int, until: float) -> bool:
    while time.monotonic() < until:
        state = Path(f"/proc/{process}/stat")
        if not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.01)
    return False


def test_the_copy_ends_with_a_process_that_is_killed(tmp_path: Path):
    script = f"""
        import os, time
        from pathlib import Path
        from evaluation.core import side_by_side as module

        def theirs():
            Path({str(tmp_path / "process")!r}).write_text(str(os.getpid()))
            time.sleep(60)

        os.sched_getaffinity = lambda process: {{0, 1}}
        module.side_by_side([lambda: time.sleep(60), theirs], [2, 1])
    """
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], cwd=REPOSITORY)
    written = tmp_path / "process"
    until = time.monotonic() + 60
    while not (written.exists() and written.read_text()) and time.monotonic() < until:
        time.sleep(0.01)
    copy = int(written.read_text())
    process.kill()
    process.wait()
    assert ends_soon(copy, until)


def test_a_child_of_a_process_that_has_ended_ends_before_it_imports_anything():
    child = module.program_of("no_such_module:main()").replace(f"({os.getpid()})", "(1)", 1)
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
        from evaluation.core.side_by_side import program_of
        subprocess.run([sys.executable, "-c", program_of("slow_module:main()")])
    """
    parent = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], cwd=REPOSITORY)
    written, until = tmp_path / "process", time.monotonic() + 60
    while not (written.exists() and written.read_text()) and time.monotonic() < until:
        time.sleep(0.01)
    parent.kill()
    parent.wait()
    assert ends_soon(int(written.read_text()), until)
