"""Fail where the tests reach a smaller share of the branches of a room than pyproject.toml asks for.

    python scripts/branch_coverage.py FOLDER [--table]

FOLDER is what `EVALUATION_BRANCHES=FOLDER ./test.sh` writes: a file for each process of the tests. A room is
a folder of the package: `evaluation/core`, `evaluation/organiser/report`, and `evaluation` itself for the
modules beside its folders.
``--table`` prints the floors to enter into pyproject.toml: one point below the shares of this run.
"""

import json
import math
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

WINGS = ("evaluation", "evaluation/organiser")
"""The folders whose folders are rooms."""
PROJECT = Path(__file__).parent.parent / "pyproject.toml"
MARGIN = 1.0
"""Percentage points that a share may fall before it fails, so that a small change of code does not."""


def room_of(path: str) -> str:
    """Return the room of a module, given its path in the repository."""
    room = PurePosixPath(path).parent
    while room.as_posix() not in WINGS and room.parent.as_posix() not in WINGS:
        room = room.parent
    return room.as_posix()


def shares_of(processes: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Return the percentage of branches that ran in each room in any process, 100 for a room without any."""
    known: defaultdict[str, set[tuple[int, ...]]] = defaultdict(set)
    reached: defaultdict[str, set[tuple[int, ...]]] = defaultdict(set)
    for process in processes:
        for path, file in process["files"].items():
            reached[path].update(map(tuple, file["executed_branches"]))
            known[path].update(map(tuple, file["executed_branches"] + file["missing_branches"]))
    branches: Counter[str] = Counter()
    ran: Counter[str] = Counter()
    for path in known:
        room = room_of(Path(path).as_posix())
        branches[room] += len(known[path])
        ran[room] += len(reached[path])
    return {room: 100 * ran[room] / branches[room] if branches[room] else 100.0 for room in sorted(branches)}


def faults_of(shares: Mapping[str, float], floors: Mapping[str, float]) -> list[str]:
    """Return what is wrong: shares below their floors, rooms without a floor and floors without a room."""
    return [
        *(
            f"{room}: {shares[room]:.2f} % of the branches ran, expected at least {floor} %"
            for room, floor in floors.items()
            if room in shares and shares[room] < floor
        ),
        *(f"{room}: has no floor in pyproject.toml" for room in shares.keys() - floors.keys()),
        *(f"{room}: has a floor in pyproject.toml, but no module" for room in floors.keys() - shares.keys()),
    ]


def main(arguments: Sequence[str], project: Path = PROJECT) -> int:
    """Print the shares, or the floors with ``--table``, and return the exit status."""
    path, *options = arguments
    files = sorted(Path(path).glob("*.json"))
    shares = shares_of(json.loads(file.read_text(encoding="utf-8")) for file in files)
    if options == ["--table"]:
        print("[tool.branch-coverage]")
        for room, share in shares.items():
            print(f'"{room}" = {math.floor(10 * (share - MARGIN)) / 10}')
        return 0
    floors = tomllib.loads(project.read_text(encoding="utf-8"))["tool"]["branch-coverage"]
    for room, share in shares.items():
        print(f"{share:6.2f} %  {room}")
    faults = faults_of(shares, floors)
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
