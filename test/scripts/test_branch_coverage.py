"""The gate of continuous integration for the share of branches that the tests reach."""

import json
import runpy
import tomllib

import pytest

from test.repository import REPOSITORY
from test.rooms import GONE

GATE = runpy.run_path(str(REPOSITORY / "scripts/branch_coverage.py"))


def process(**of_paths):
    """Return what a process writes: for each path how many branches there are, and those that ran."""
    return {
        "files": {
            path: {
                "executed_branches": [[line, line + 1] for line in ran],
                "missing_branches": [[line, line + 1] for line in sorted({*range(branches)} - {*ran})],
            }
            for path, (branches, ran) in of_paths.items()
        }
    }


def test_rooms():
    room_of = GATE["room_of"]
    assert room_of("evaluation/evaluate.py") == "evaluation"
    assert room_of("evaluation/io/kinds/boxes.py") == "evaluation/io"
    assert room_of("evaluation/organiser/seal.py") == "evaluation/organiser"
    assert room_of("evaluation/organiser/report/board/page.py") == "evaluation/organiser/report"


def test_branches_are_summed_over_a_room():
    one = process(
        **{"evaluation/io/a.py": (3, [0, 1]), "evaluation/io/kinds/b.py": (1, []), "evaluation/c.py": (0, [])}
    )
    # What one process has not reached, another has.
    assert GATE["shares_of"]([one]) == {"evaluation": 100, "evaluation/io": 50}
    other = process(**{"evaluation/io/a.py": (3, [1, 2])})
    assert GATE["shares_of"]([one, other]) == {"evaluation": 100, "evaluation/io": 75}


@pytest.mark.parametrize(
    ("floors", "faults"),
    [
        ({"a": 75, "b": 20}, []),
        ({"a": 75.1, "b": 20}, ["a: 75.00 % of the branches ran, expected at least 75.1 %"]),
        ({"a": 75}, ["b: has no floor in pyproject.toml"]),
        ({"a": 75, "b": 20, "c": 1}, ["c: has a floor in pyproject.toml, but no module"]),
    ],
)
def test_faults(floors, faults):
    assert GATE["faults_of"]({"a": 75.0, "b": 20.0}, floors) == faults


def test_every_room_has_a_floor():
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    modules = [path.relative_to(REPOSITORY).as_posix() for path in (REPOSITORY / "evaluation").rglob("*.py")]
    floors = {room for room in project["tool"]["branch-coverage"] if room.rpartition("/")[2] not in GONE}
    assert floors == {GATE["room_of"](path) for path in modules}


def test_the_status_and_the_table(tmp_path, capsys):
    project = tmp_path / "pyproject.toml"
    path = tmp_path / "branches"
    path.mkdir()
    (path / "gw0.json").write_text(json.dumps(process(**{"evaluation/core/a.py": (1000, range(987))})))
    GATE["main"]([str(path), "--table"])
    project.write_text(capsys.readouterr().out)
    assert tomllib.loads(project.read_text()) == {"tool": {"branch-coverage": {"evaluation/core": 97.7}}}
    for ran, status in ((977, 0), (976, 1)):
        (path / "gw0.json").write_text(json.dumps(process(**{"evaluation/core/a.py": (1000, range(ran))})))
        assert GATE["main"]([str(path)], project) == status
    printed = capsys.readouterr()
    assert printed.out == " 97.70 %  evaluation/core\n 97.60 %  evaluation/core\n"
    assert printed.err == "evaluation/core: 97.60 % of the branches ran, expected at least 97.7 %\n"
