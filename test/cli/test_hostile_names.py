"""Names that strangers chose cannot forge a line, colour a terminal or turn the direction of a text."""

import csv
import json
import re
import shutil

import pytest

from test.organiser.annotators.test_reader_study import DECLARED, Export
from test.organiser.ranking.test_platform_results import evaluation
from test.phases import refuge_phase, refuge_submission, tiny_cases
from test.started import run

cysts = pytest.importorskip("test.organiser.cyst_benchmark.annotators")
eyes = pytest.importorskip("test.organiser.justraigs_graders.test_graders")
archive = pytest.importorskip("test.organiser.test_archive_items")

FORGED = "FAILED forged"
HOSTILE = f"b\n{FORGED}: all\x1b[31m\u202eteam"
NEITHER = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters but tab and line feed, and those that turn the direction of a text."""


def is_clean(text, place, forged=FORGED):
    assert not NEITHER.search(text), f"{place}: {NEITHER.search(text)}\n{text[:3000]!r}"
    if forged:
        assert not any(line.lstrip().startswith(forged) for line in text.splitlines()), place


def started(folder, line):
    """Run a command in one process; in a word @ is the folder, and ! the hostile name."""
    words = [word.replace("@", f"{folder}/").replace("!", HOSTILE) for word in line.split()]
    return run(*words, *(["--workers", 0] if words[0] in ("check", "evaluate") else []))


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
    shutil.copytree(folder / "teams" / "a", folder / "wrong_teams" / HOSTILE)
    (folder / "wrong_teams" / HOSTILE / HOSTILE).mkdir()
    (folder / "wrong_teams" / HOSTILE / HOSTILE / f"{HOSTILE}.csv").write_text("none")
    (folder / "wrong_teams" / f"{HOSTILE}.zip").write_bytes(b"none")
    (folder / "files" / "masks").mkdir(parents=True)
    (folder / "files" / "masks" / f"{HOSTILE}.bmp").write_bytes(b"none")
    shutil.copy(phase / "phase.toml", folder / "files")
    assert started(folder, "form @phase --output @form.json").returncode == 0
    scored = started(folder, "evaluate --each @teams --ground-truth @phase --output @results")
    assert scored.returncode == 0, scored
    is_clean(scored.stdout + scored.stderr, "evaluate --each")
    shutil.copytree(folder / "results", folder / "broken")
    (folder / "broken" / HOSTILE / "metrics.json").write_text("{}")
    return folder


COMMANDS = [
    "check --form @form.json @wrong",
    "check --form @form.json @wrong_teams/!",
    "check --form @form.json @none/!",
    "evaluate --ground-truth @phase --input @wrong --output @out",
    "evaluate --each @wrong_teams --ground-truth @phase --output @rejected",
    "evaluate --each @teams --ground-truth @phase --output @again --since @results",
    "summary @results/!/metrics.json",
    "unpack @wrong_teams/!.zip @unpacked",
    "describe @phase --output @described",
    "audit @phase",
    "seal @phase",
    "settings @phase",
    "form @phase --words",
    "rank @results --output @ranked",
    "rank @broken",
    "rank @teams.csv --metric dice=higher",
    "rank @evaluations.json --output @exported",
    "report submission --ground-truth @phase --input @teams/! --results @results/! --output @report.html",
    "report submission --ground-truth @phase --results @broken/! --output @none.html",
    "report leaderboard @results --ground-truth @phase --output @board.html",
    "ensemble --ground-truth @phase --output @ensemble @teams/a @teams/!",
    "convert --ground-truth @phase --output @jobs @wrong",
    "subset --output @half --share 0.5 --by camera @phase",
    "plan --pilot @results --teams a ! --metric !",
    "fuse graders @graders.csv --phase @eyes.toml --output @graded",
    "fuse annotators @read --output @fused",
    "fuse annotators @asked @export/answers.json @export/questions.json @export/sets.json @export/images.json"
    " --output @answered",
    "fuse cysts @oct --report @cysts --output @cysts-phase",
    "cases @files",
    "cases @boxes --labels @labels.csv",
    "cases @boxes --boxes @coco.json",
    "cases @items --archive @items.json",
    "new @new --from @kit.json",
    "new @new_! --like points",
    "sample refuge --output @sample_! --cases 8 --width 160 --height 160",
    "build @none/!",
]
WEEKLY = [
    "paper @phase --results @results --output @paper",
    "rehearse @phase",
    "report leaderboard @evaluations.json --ground-truth @phase --output @e.html",
]
"""Those that take longest, and print by what others print by."""
BOXES = """\
name = "boxes"
title = "Boxes"
submission = "archive"

[fields.lesions]
kind = "boxes"
classes = ["lesion"]
probability = true

[tasks.all.metrics]
box_average_precision = { field = "lesions" }
"""


def table(path, *rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


@pytest.fixture(scope="module")
def gathered(given):
    """Add what comes with names from elsewhere: tables, annotations, and exports of the platform."""
    table(
        given / "graders.csv",
        [*eyes.HEADER, "Grader G1", "Grader G2", "Grader G3"],
        *(
            [HOSTILE if number else row[0], *row[1:], "ann", HOSTILE, "cy"]
            for number, row in enumerate(eyes.ROWS)
        ),
    )
    table(given / "teams.csv", ["team", "case", "dice"], ["a", "F1", "0.5"], [HOSTILE, "F1", HOSTILE])
    table(given / "labels.csv", ["name", HOSTILE], [HOSTILE, HOSTILE], ["b", "1"])
    keys = 'challenge = "justraigs"\nname = "eyes"\ntitle = "Eyes"\nsubmission = "archive"\n'
    (given / "eyes.toml").write_text(keys)

    metrics = json.loads((given / "results" / "a" / "metrics.json").read_text())
    rows = [evaluation(number, team, metrics) for number, team in enumerate(("a", HOSTILE), start=1)]
    rows.append(evaluation(3, f"{HOSTILE} failed", None, status="Failed"))
    (given / "evaluations.json").write_text(json.dumps(rows))

    for folder in ("read", "asked"):
        (given / folder).mkdir()
        (given / folder / "phase.toml").write_text(DECLARED)
        (given / folder / "cases.csv").write_text("name,width,height\nF1,12,10\nF2,12,10\n")
    for reader in ("ana", HOSTILE):
        for name, column in (("predictions", "referable"), (HOSTILE, HOSTILE)):
            table(given / "read" / "readers" / reader / f"{name}.csv", ["case", column], ["F1", HOSTILE])
    export = Export(given / "export")
    for reader in ("ana", HOSTILE):
        for case in (1, 2):
            export.say(reader, case, "Referable?", True)
            export.say(reader, case, "Grade", HOSTILE)
    export.write()

    for folder in ("boxes", "items"):
        (given / folder).mkdir()
        (given / folder / "phase.toml").write_text(BOXES)
    (given / "boxes" / "cases.csv").write_text("name,width,height\nF1,12,10\n")
    images = [{"id": 1, "file_name": "F1.png", "width": 12, "height": 10}]
    images += [{"id": 2, "file_name": f"{HOSTILE}.png", "width": 12, "height": 10}]
    boxes = [
        {"id": n, "image_id": n, "category_id": n, "bbox": [1, 1, 2, 2], "iscrowd": 0, "area": 4}
        for n in (1, 2)
    ]
    classes = [{"id": 1, "name": "lesion"}, {"id": 2, "name": HOSTILE}]
    (given / "coco.json").write_text(
        json.dumps({"images": images, "annotations": boxes, "categories": classes})
    )
    items = [archive.item(number, archive.scan(f"{HOSTILE}.png")) for number in (1, 2)]
    items.append(archive.item(3, title=HOSTILE))
    (given / "items.json").write_text(json.dumps(items))
    socket = {"slug": HOSTILE, "relative_path": f"{HOSTILE}.json", "example_value": HOSTILE}
    values = [
        {"socket": {"slug": slug, "relative_path": "images/ct", "is_image_kind": True}} for slug in ("ct",)
    ]
    job = {"pk": HOSTILE, "status": HOSTILE, "inputs": values, "outputs": [{"socket": socket}]}
    (given / "kit.json").write_text(json.dumps([job]))

    oct_folder = cysts.cyst_annotators(given / "oct", volumes=3).folder
    (oct_folder / "annotations" / HOSTILE).mkdir()
    (oct_folder / "annotations" / HOSTILE / f"{HOSTILE}.mha").write_bytes(b"none")
    return given


READ = (".html", ".tex", ".md", ".svg", ".txt")


@pytest.mark.parametrize(
    "line", [*COMMANDS, *(pytest.param(line, marks=pytest.mark.weekly) for line in WEEKLY)]
)
def test_no_command_repeats_a_hostile_name_as_it_is(given, gathered, line):
    before = {path: path.stat().st_mtime_ns for path in given.rglob("*")}
    finished = started(given, line)
    assert finished.returncode in (0, 1), finished.stderr  # no error of usage, no traceback
    assert "Traceback" not in finished.stderr
    is_clean(finished.stdout + finished.stderr, line)
    for path in given.rglob("*"):
        if path.suffix in READ and before.get(path) != path.stat().st_mtime_ns:
            # In markup a line says nothing.
            is_clean(path.read_text(encoding="utf-8"), path.name, forged="")
