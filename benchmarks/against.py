"""Compares the speed of two commits: the same commands of both in turn, on the same samples.

Each side is a folder with the package of its commit and the benchmarks of this checkout, so that both do the
same work. The time by the clock decides: commits differ in the processes that they wait for, and only those
count as processor time.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.measure import Contest, measure, report

_REPOSITORY = Path(__file__).resolve().parent.parent
MOST = 1.1
"""A row that takes more than so many times as long is named."""


def slower(commit: str, contests: Iterable[Contest], runs: int) -> list[str]:
    """Print what the first command of each contest takes with both commits; return what became slower."""
    found = []
    with tempfile.TemporaryDirectory() as temporary, _checkout(commit, Path(temporary, "checkout")) as before:
        sides = {
            name: _side(Path(temporary, name), checkout)
            for name, checkout in (("now", _REPOSITORY), (commit, before))
        }
        for contest in contests:
            command = next(iter(contest.commands.values()))
            commands = {name: [*start, *command] for name, start in sides.items()}
            print(f"\n{contest.title}")
            if subprocess.run(commands[commit], capture_output=True, check=False).returncode:
                print(f"{commit} cannot run it")
                continue
            measured = measure(commands, runs)
            report(measured, "now")
            if measured["now"].seconds > MOST * measured[commit].seconds:
                found.append(contest.title)
    return found


@contextmanager
def _checkout(commit: str, folder: Path) -> Iterator[Path]:
    """Have a checkout of a commit in a folder."""
    git = ["git", "-C", str(_REPOSITORY), "worktree"]
    subprocess.run([*git, "add", "--quiet", "--detach", str(folder), commit], check=True)
    try:
        yield folder
    finally:
        subprocess.run([*git, "remove", "--force", str(folder)], check=True)


def _side(folder: Path, checkout: Path) -> list[str]:
    """Make the folder of a side; return how its commands begin."""
    folder.mkdir()
    (folder / "evaluation").symlink_to(checkout / "evaluation")
    (folder / "benchmarks").symlink_to(_REPOSITORY / "benchmarks")
    return ["env", f"--chdir={folder}", f"PYTHONPATH={folder}"]
