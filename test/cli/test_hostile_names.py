"""Names that strangers chose cannot forge a line, colour a terminal or turn the direction of a text."""

import re
import shutil

import pytest

from test.phases import refuge_phase, refuge_submission, tiny_cases
from test.started import run

FORGED = "FAILED forged"
HOSTILE = f"b\n{FORGED}: all\x1b[31m\u202eteam"
NEITHER = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters but tab and line feed, and those that turn the direction of a text."""


def is_clean(text, place, forged=FORGED):
    assert not NEITHER.search(text), f"{place}: {NEITHER.search(text)}\n{text[:3000]!r}"
    if forged:
        assert not any(line.lstrip().startswith(forged) for line in text.splitlines()), place


def started(folder, *arguments):
    """Run a command whose paths begin with @, the folder."""
    return run(*(f"{folder}/{one[1:]}" if one.startswith("@") else one for one in arguments))


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """Return a folder with a phase, with hostile names of cameras and of one of two teams."""
    folder = tmp_path_factory.mktemp("hostile names")
    cases = tiny_cases(8)
    phase = refuge_phase(
        folder / "phase",
        cases,
        columns={"camera": ["A", HOSTILE.replace("\n", "")] * 4},
        tables='[[subgroups]]\ncolumn = "camera"\n',
    )
    for team in ("a", HOSTILE):
        refuge_submission(folder / "teams" / team, cases)
    shutil.copytree(folder / "teams" / "a", folder / "wrong")
    (folder / "wrong" / "segmentation" / f"{HOSTILE}.bmp").write_bytes(b"none")
    shutil.copytree(folder / "teams" / "a", folder / "wrong teams" / HOSTILE)
    (folder / "wrong teams" / HOSTILE / HOSTILE).mkdir()
    (folder / "wrong teams" / HOSTILE / HOSTILE / f"{HOSTILE}.csv").write_text("none")
    (folder / "wrong teams" / f"{HOSTILE}.zip").write_bytes(b"none")
    (folder / "files" / "masks").mkdir(parents=True)
    (folder / "files" / "masks" / f"{HOSTILE}.bmp").write_bytes(b"none")
    shutil.copy(phase / "phase.toml", folder / "files")
    assert started(folder, "form", "@phase", "--output", "@form.json").returncode == 0
    scored = started(
        folder, "evaluate", "--each", "@teams", "--ground-truth", "@phase", "--output", "@results"
    )
    assert scored.returncode == 0, scored
    is_clean(scored.stdout + scored.stderr, "evaluate --each")
    shutil.copytree(folder / "results", folder / "broken")
    (folder / "broken" / HOSTILE / "metrics.json").write_text("{}")
    return folder


COMMANDS = {
    "check": ["check", "--form", "@form.json", "@wrong"],
    "check of a place": ["check", "--form", "@form.json", f"@wrong teams/{HOSTILE}"],
    "check of nothing": ["check", "--form", "@form.json", f"@none/{HOSTILE}"],
    "evaluate": ["evaluate", "--ground-truth", "@phase", "--input", "@wrong", "--output", "@out"],
    "evaluate --each": [
        "evaluate",
        "--each",
        "@wrong teams",
        "--ground-truth",
        "@phase",
        "--output",
        "@rejected",
    ],
    "summary": ["summary", f"@results/{HOSTILE}/metrics.json"],
    "summary of none": ["summary", f"@none/{HOSTILE}"],
    "unpack": ["unpack", f"@wrong teams/{HOSTILE}.zip", "@unpacked"],
    "describe": ["describe", "@phase", "--output", "@described"],
    "audit": ["audit", "@phase"],
    "seal": ["seal", "@phase"],
    "cases": ["cases", "@files"],
    "rehearse": ["rehearse", "@phase"],
    "settings": ["settings", "@phase"],
    "form": ["form", "@phase", "--words"],
    "rank": ["rank", "@results", "--output", "@ranked"],
    "rank of broken results": ["rank", "@broken"],
    "report": [
        *("report", "submission", "--ground-truth", "@phase", "--input", f"@teams/{HOSTILE}"),
        *("--results", f"@results/{HOSTILE}", "--output", "@report.html"),
    ],
    "report of none": [
        *("report", "submission", "--ground-truth", "@phase", "--results", f"@broken/{HOSTILE}"),
        *("--output", "@none.html"),
    ],
    "report leaderboard": [
        *("report", "leaderboard", "@results", "--ground-truth", "@phase", "--output", "@board.html"),
    ],
    "ensemble": [
        *("ensemble", "--ground-truth", "@phase", "--output", "@ensemble", "@teams/a", f"@teams/{HOSTILE}"),
    ],
    "convert": ["convert", "--ground-truth", "@phase", "--output", "@jobs", "@wrong"],
    "subset": ["subset", "--output", "@half", "--share", "0.5", "--by", "camera", "@phase"],
    "paper": ["paper", "@phase", "--results", "@results", "--output", "@paper"],
}
READ = (".html", ".tex", ".md", ".svg", ".txt")


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_repeats_a_hostile_name_as_it_is(given, name):
    before = {path: path.stat().st_mtime_ns for path in given.rglob("*")}
    finished = started(given, *COMMANDS[name])
    assert finished.returncode in (0, 1), finished.stderr  # no error of usage, no traceback
    assert "Traceback" not in finished.stderr
    is_clean(finished.stdout + finished.stderr, name)
    for path in given.rglob("*"):
        if path.suffix in READ and before.get(path) != path.stat().st_mtime_ns:
            # In markup a line says nothing.
            is_clean(path.read_text(encoding="utf-8"), path.name, forged="")
