"""What counts as a submission in a folder."""

import csv
import json
import os
import zipfile

import pytest

from evaluation.core.fault import PhaseError
from evaluation.organiser.rescoring.submissions import find_submissions, submission_digest
from test.faults import faulted


def touch(folder, *paths: str) -> None:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        if path.endswith(".zip"):
            with zipfile.ZipFile(folder / path, "w"):
                pass
        else:
            (folder / path).write_bytes(b"")


def test_folders_zips_and_tables_are_submissions_and_the_rest_is_named(tmp_path):
    touch(tmp_path, "b/mask.png", "a.zip", "C.ZIP", "d.csv", "notes.txt", ".hidden/x", ".DS_Store")
    (tmp_path / "broken").symlink_to(tmp_path / "nowhere")
    found, others = find_submissions(str(tmp_path))
    assert list(found) == ["C", "a", "b", "d"]
    assert found["a"] == str(tmp_path / "a.zip")
    assert others == ["broken", "notes.txt"]


def test_a_folder_of_zips_alone_holds_several_submissions_of_a_team(tmp_path):
    touch(tmp_path, "team/1.zip", "team/2.zip", "mixed/1.zip", "mixed/table.csv")
    assert list(find_submissions(str(tmp_path))[0]) == [
        "mixed",
        "team/1",
        "team/2",
    ]


def test_a_folder_of_folders_holds_several_submissions_unless_they_are_those_of_one(tmp_path):
    touch(tmp_path, "team/s1/masks/a.png", "team/s2/masks/a.png", "team/s3.zip", "other/masks/a.png")
    touch(tmp_path, "wrapped/My results/masks/a.png", "mixed/s1/masks/a.png", "mixed/table.csv")
    found = find_submissions(str(tmp_path), {"masks"})[0]
    names = ["mixed", "other", "team/s1", "team/s2", "team/s3", "wrapped/My results"]
    assert list(found) == names
    assert found["team/s1"] == str(tmp_path / "team/s1")


def test_two_of_one_name_are_refused(tmp_path):
    touch(tmp_path, "team/mask.png", "team.zip", "other.zip")
    with pytest.raises(PhaseError) as error:
        find_submissions(str(tmp_path))
    assert error.value.problems == (
        f"team: expected one submission of this name, found {tmp_path}/team, {tmp_path}/team.zip",
    )


def test_a_folder_without_any_is_refused_and_says_what_it_holds(tmp_path):
    touch(tmp_path, "a.txt", "b.txt")
    with faulted(PhaseError, "none", "a.txt, b.txt"):
        find_submissions(str(tmp_path))


# --- The digest of a submission tells any difference that scoring could see ---


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "s" / "inner").mkdir(parents=True)
    (tmp_path / "s" / "a.csv").write_bytes(b"1")
    (tmp_path / "s" / "inner" / "b.png").write_bytes(b"2")
    return tmp_path / "s"


def test_a_folder_has_the_digest_of_its_content_wherever_it_lies(folder, tmp_path):
    before = submission_digest(folder)
    folder.rename(tmp_path / "elsewhere")
    os.utime(tmp_path / "elsewhere" / "a.csv", (0, 0))
    assert submission_digest(tmp_path / "elsewhere") == before


CHANGES = {
    "content": lambda folder: (folder / "a.csv").write_bytes(b"2"),
    "name": lambda folder: (folder / "a.csv").rename(folder / "A.csv"),
    "place": lambda folder: (folder / "inner" / "b.png").rename(folder / "b.png"),
    "new file": lambda folder: (folder / "c").write_bytes(b""),
    "empty folder": lambda folder: (folder / "c").mkdir(),
    "link for a file": lambda folder: (
        (folder / "a.csv").rename(folder.parent / "a"),
        (folder / "a.csv").symlink_to(folder.parent / "a"),
    ),
    "pipe": lambda folder: os.mkfifo(folder / "c"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_gives_another_digest(folder, change):
    before = submission_digest(folder)
    CHANGES[change](folder)
    assert submission_digest(folder) != before


# --- Files that the platform hands out, beside its export ---


def exported(number, team, file, key):
    """Return the part of an evaluation that names its submission."""
    submission = {
        "pk": key, "created": f"2026-02-0{number}T12:00:00Z", "creator": {"username": team},
        "predictions_file": f"https://grand-challenge.org/media/{number}/{file}?Expires=1&Signature=s",
    }  # fmt: skip
    return {"pk": f"evaluation-{number}", "submission": submission, "outputs": [], "status": "Succeeded"}


KEYS = [f"{number}0000000-0000-4000-8000-00000000000{number}" for number in range(1, 5)]
ROWS = [
    exported(1, "ana", "final%20masks.zip", KEYS[0]),
    exported(2, "bob", "predictions.zip", KEYS[1]),
    exported(3, "ana", "predictions.zip", KEYS[2]),
]


@pytest.mark.parametrize("name", ["evaluations.json", "evaluations.csv"])
def test_an_export_beside_the_files_names_their_teams(tmp_path, name):
    if name.endswith(".json"):
        page = {"count": 3, "next": None, "previous": None, "results": ROWS}
        (tmp_path / name).write_text(json.dumps(page), encoding="utf-8")
    else:
        with (tmp_path / name).open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, list(ROWS[0]))
            table.writeheader()
            table.writerows({**row, "submission": json.dumps(row["submission"])} for row in ROWS)
    touch(
        tmp_path,
        "final masks.zip",
        f"{KEYS[1]}.zip",
        f"submission_{KEYS[2].upper()}.zip",
        "mine.zip",
        "a.txt",
    )
    found, others = find_submissions(str(tmp_path))
    names = {location.rpartition("/")[2]: name for name, location in found.items()}
    assert names == {
        "final masks.zip": "ana/1-10000000",
        f"{KEYS[1]}.zip": "bob/1-20000000",
        f"submission_{KEYS[2].upper()}.zip": "ana/2-30000000",
        "mine.zip": "mine",
    }
    assert others == ["a.txt"]


def test_a_name_of_several_uploads_is_no_submission(tmp_path):
    (tmp_path / "evaluations.json").write_text(json.dumps(ROWS), encoding="utf-8")
    touch(tmp_path, "predictions.zip")
    with faulted(PhaseError, "bob/1-20000000", "ana/2-30000000"):
        find_submissions(str(tmp_path))


def test_a_first_page_names_no_files(tmp_path):
    page = {"count": 101, "next": "https://x/api/v1/evaluations/?limit=1&offset=1", "results": ROWS[:1]}
    (tmp_path / "evaluations.json").write_text(json.dumps(page), encoding="utf-8")
    touch(tmp_path, "predictions.zip")
    with faulted(PhaseError, "101"):
        find_submissions(str(tmp_path))
