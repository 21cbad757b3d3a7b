"""The first teams of a leaderboard, from the table that `rank` writes."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from evaluation.core.fault import PhaseError
from evaluation.organiser.annotators.ensemble import best_of_board
from test.faults import faulted

TABLE = """\
team,eligible,overall place,segmentation place,submission,note
b,yes,2,1,,
a,yes,1,3,2,
organiser,no,,,,
c,yes,3,1,,
d,yes,3,4,,
late,yes,,,,rejected
"""


def board(tmp_path: Path, text: str = TABLE) -> Path:
    (tmp_path / "leaderboard.csv").write_text(text, encoding="utf-8")
    return tmp_path


def folders(*names: str) -> dict[str, Path]:
    return {name: Path("submissions") / name for name in names}


ALL = folders("a", "b", "c", "d", "organiser", "late")


def test_the_first_by_the_overall_place_and_the_submission_that_counts(tmp_path):
    chosen = best_of_board(board(tmp_path), ALL, 2)
    assert (list(chosen.folders), chosen.column) == (["a", "b"], "overall place")
    assert best_of_board(tmp_path / "leaderboard.csv", ALL, 2) == chosen
    # Teams with one place come in the order of their names; both are among the first two.
    assert list(best_of_board(tmp_path, ALL, 2, "segmentation").folders) == ["b", "c"]
    assert list(best_of_board(tmp_path, ALL, 4).folders) == ["a", "b", "c", "d"]
    (tmp_path / "teams" / "a" / "2").mkdir(parents=True)
    given = {**ALL, "a": tmp_path / "teams" / "a"}
    assert best_of_board(board(tmp_path), given, 2).folders["a"] == tmp_path / "teams" / "a" / "2"


def test_boards_without_an_overall_place(tmp_path):
    text = "place,team,score\n2,a,1\n1,b,1\n3,c,1\n"
    assert list(best_of_board(board(tmp_path, text), ALL, 2).folders) == ["b", "a"]
    text = "team,dice place\na,2\nb,1\n"
    assert best_of_board(board(tmp_path, text), ALL, 2).column == "dice place"
    board(tmp_path, "team,x place,y place\na,1,1\nb,2,2\n")
    with faulted(PhaseError, "leaderboard.csv", "x, y"):
        best_of_board(tmp_path, ALL, 2)


@pytest.mark.parametrize(
    ("count", "name", "given", "told"),
    [
        (3, None, ALL, ("overall place", "c, d")),
        (5, None, ALL, ("leaderboard.csv", "4")),
        (2, "fovea", ALL, ("leaderboard.csv", "'fovea'")),
        (2, None, folders("a", "c"), ("b",)),
    ],
)
def test_faults(tmp_path, count, name, given, told):
    with faulted(PhaseError, *told):
        best_of_board(board(tmp_path), given, count, name)


def scored(name: str, digest: str) -> SimpleNamespace:
    """What the choice of members is told of the phase that an ensemble is scored on."""
    return SimpleNamespace(config=SimpleNamespace(name=name), manifest=SimpleNamespace(digest=digest))


def test_members_that_were_chosen_on_the_cases_of_the_phase_are_known(tmp_path):
    assert best_of_board(board(tmp_path), ALL, 2).members(scored("offline", "1")) == "not known"
    phases = [
        {"role": "first", "phase": "offline", "manifest": "1"},
        {"role": "second", "phase": "onsite", "manifest": "2"},
    ]
    (tmp_path / "leaderboard.json").write_text(json.dumps({"phases": phases}), encoding="utf-8")
    table = tmp_path / "leaderboard-first.csv"
    table.write_text(TABLE, encoding="utf-8")
    final = tmp_path / "leaderboard.csv"
    final.write_text("place,team,first place,second place\n1,a,1,2\n2,b,2,1\n", encoding="utf-8")
    here, other = "on these cases", "on other cases"
    # The final places are of both phases; the same seal under another name is the same set.
    for path, name, expected in (
        (final, None, (here, here, here, other)),
        (table, None, (here, other, here, other)),
        (final, "second", (other, here, other, other)),
    ):
        chosen = best_of_board(path, ALL, 2, name)
        given = (("offline", "9"), ("onsite", "9"), ("copy", "1"), ("next", "9"))
        assert tuple(chosen.members(scored(*one)) for one in given) == expected
    (tmp_path / "leaderboard.json").write_text("[]", encoding="utf-8")
    with faulted(PhaseError, "leaderboard.json"):
        best_of_board(final, ALL, 2)
