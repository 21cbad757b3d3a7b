"""The gate of continuous integration for the share of branches that the tests reach."""

import json
import runpy
import tomllib

import pytest

from test.repository import REPOSITORY

GATE = runpy.run_path(str(REPOSITORY / "scripts/branch_coverage.py"))


def files(**of_paths):
    return {
        path: {"summary": {"covered_branches": ran, "missing_branches": branches - ran}}
        for path, (branches, ran) in of_paths.items()
    }


def test_rooms():
    room_of = GATE["room_of"]
    assert room_of("evaluation/evaluate.py") == "evaluation"
    assert room_of("evaluation/io/kinds/boxes.py") == "evaluation/io"
    assert room_of("evaluation/organiser/seal.py") == "evaluation/organiser"
    assert room_of("evaluation/organiser/report/board/page.py") == "evaluation/organiser/report"


def test_branches_are_summed_over_a_room():
    found = GATE["shares_of"](
        files(**{"evaluation/io/a.py": (3, 3), "evaluation/io/kinds/b.py": (1, 0), "evaluation/c.py": (0, 0)})
    )
    assert found == {"evaluation": 100, "evaluation/io": 75}


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
    assert set(project["tool"]["branch-coverage"]) == {GATE["room_of"](path) for path in modules}


def test_the_status_and_the_table(tmp_path, capsys):
    path, project = tmp_path / "coverage.json", tmp_path / "pyproject.toml"
    path.write_text(json.dumps({"files": files(**{"evaluation/core/a.py": (1000, 987)})}))
    GATE["main"]([str(path), "--table"])
    project.write_text(capsys.readouterr().out)
    assert tomllib.loads(project.read_text()) == {"tool": {"branch-coverage": {"evaluation/core": 97.7}}}
    for ran, status in ((977, 0), (976, 1)):
        path.write_text(json.dumps({"files": files(**{"evaluation/core/a.py": (1000, ran)})}))
        assert GATE["main"]([str(path)], project) == status
    printed = capsys.readouterr()
    assert printed.out == " 97.70 %  evaluation/core\n 97.60 %  evaluation/core\n"
    assert printed.err == "evaluation/core: 97.60 % of the branches ran, expected at least 97.7 %\n"
