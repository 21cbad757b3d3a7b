"""`fuse annotators` and `rank --annotators` on the export of a reader study of grand-challenge.org."""

import csv
import json

import numpy as np
import pytest
from PIL import Image

from evaluation.cli.main import main
from evaluation.core.fault import PhaseError
from evaluation.organiser.annotators.study import rasterised
from evaluation.organiser.ranking.annotators import read_annotators
from test.faults import faulted
from test.organiser.platform_pages import pages_of

SITE = "https://grand-challenge.org/api/v1"
HEAD = """\
name = "study"
title = "Study"
submission = "archive"
resamples = 0
"""
REFUGE = f'challenge = "refuge"\n{HEAD}'
DECLARED = f"""{HEAD}
[fields]
referable = {{ kind = "decision" }}
grade = {{ kind = "class", classes = ["none", "mild", "severe"] }}
thickness = {{ kind = "number", minimum = 0, maximum = 9 }}

[tasks.all.metrics]
referable = {{ metric = "accuracy", field = "referable" }}
grade = {{ metric = "accuracy", field = "grade" }}
thickness = {{ metric = "mean_absolute_error", field = "thickness" }}
"""
BOXED = f"""{HEAD}
[fields]
lesions = {{ kind = "boxes", unit = "UNIT", table = "lesions.csv" }}
disc = {{ kind = "box", unit = "UNIT" }}
findings = {{ kind = "flags", classes = ["none", "mild", "severe"] }}

[tasks.all.metrics]
lesions = {{ metric = "box_f1", field = "lesions", matching = "optimal" }}
disc = {{ metric = "box_iou", field = "disc" }}
findings = {{ metric = "hamming_distance", field = "findings" }}
"""
OPTIONS = [
    {"id": number, "title": title, "default": False}
    for number, title in ((11, "none"), (12, "mild"), (13, "severe"))
]
QUESTIONS = {
    "Referable?": ("Bool", []), "Grade": ("Choice", OPTIONS), "Thickness": ("Number", []),
    "Remarks": ("Text", []), "Fovea": ("Point", []),
    "Optic disc": ("Polygon", []), "Optic cup": ("Polygon", []),
    "Glaucoma risk": ("Bool", []), "Segmentation": ("Mask", []),
    "Lesions": ("Multiple 2D bounding boxes", []), "Disc": ("2D bounding box", []),
    "Findings": ("Multiple choice", OPTIONS),
}  # fmt: skip


def uuid(kind, number):
    return f"{kind:08d}-0000-4000-8000-{number:012d}"


def question(number, text):
    answer_type, options = QUESTIONS[text]
    key = uuid(1, number)
    address = f"{SITE}/reader-studies/questions/{key}/"
    return {
        "pk": key, "api_url": address, "question_text_safe": text, "answer_type": answer_type,
        "options": options, "required": True,
    }  # fmt: skip


def display_set(number):
    key = uuid(2, number)
    image = f"{SITE}/cases/images/{uuid(4, number)}/"
    values = [{"socket": {"slug": "fundus"}, "image": image, "value": None, "file": None}]
    return {
        "pk": key, "api_url": f"{SITE}/reader-studies/display-sets/{key}/", "title_safe": "", "order": number,
        "values": values,
    }  # fmt: skip


class Export:
    """Answers of readers to a study of two cases, written as pages of JSON or as csv."""

    def __init__(self, folder):
        self.folder, self.answers = folder, []
        self.questions = [question(number, text) for number, text in enumerate(QUESTIONS)]

    def say(self, reader, case, text, answer, *, at="10:00:00", modified=None, **more):
        number = list(QUESTIONS).index(text)
        self.answers.append(
            {
                "pk": uuid(3, len(self.answers)), "api_url": "", "answer": answer, "creator": reader,
                "display_set": f"{SITE}/reader-studies/display-sets/{uuid(2, case)}/",
                "question": f"{SITE}/reader-studies/questions/{uuid(1, number)}/",
                "created": f"2026-03-01T{at}.5+01:00", "modified": f"2026-03-01T{modified or at}.5+01:00",
                "answer_image": None, "is_ground_truth": False, "last_edit_duration": None, **more,
            }
        )  # fmt: skip

    def write(self, extension=".json"):
        images = [{"pk": uuid(4, number), "name": f"F{number}.png", "files": []} for number in (1, 2)]
        parts = {
            "answers": self.answers, "questions": self.questions, "sets": [display_set(1), display_set(2)],
            "images": images,
        }  # fmt: skip
        paths = []
        self.folder.mkdir(exist_ok=True)
        for name, rows in parts.items():
            path = self.folder / f"{name}{extension}"
            paths.append(str(path))
            if extension == ".json":
                path.write_text(json.dumps({"count": len(rows), "results": rows}), encoding="utf-8")
                continue
            with path.open("w", encoding="utf-8", newline="") as file:
                table = csv.DictWriter(file, list(rows[0]))
                table.writeheader()
                for row in rows:
                    cells = {k: json.dumps(v) if isinstance(v, dict | list) else v for k, v in row.items()}
                    table.writerow(cells)
        return paths


VERSION = {"version": {"major": 1, "minor": 0}}


def point(x, y):
    return {"type": "Point", "name": "f", "point": [x, y, 0.5], **VERSION}


def square(size):
    low, high = -0.5, size - 0.5
    path = [[x, y, 0.5] for x, y in ((low, low), (high, low), (high, high), (low, high))]
    return {"type": "Polygon", "path_points": path, "seed_point": path[0], **VERSION}


def box(x1, y1, x2, y2, size_mm):
    """Return a box in pixels as viewers give it: its corners in mm, from the first one on around."""
    around = [(x1, y1), (x1, y2), (x2, y2), (x2, y1)]
    return {"corners": [[x * size_mm, y * size_mm, 0.5] for x, y in around]}


def annotations(tmp_path, toml, cases="name,width,height\nF1,12,10\nF2,12,10\n"):
    folder = tmp_path / "annotations"
    folder.mkdir()
    (folder / "phase.toml").write_text(toml, encoding="utf-8")
    (folder / "cases.csv").write_text(cases, encoding="utf-8")
    return folder, Export(tmp_path / "export")


@pytest.fixture
def study(tmp_path):
    """Return the organiser's folder, and an export in which two of three readers agree."""
    folder, export = annotations(tmp_path, DECLARED)
    for reader, thickness in (("ana", 2.25), ("bob", 3.25), ("cy", 8.0)):
        for case in (1, 2):
            export.say(reader, case, "Referable?", (case == 1) != (reader == "cy"))
            export.say(reader, case, "Grade", 13 if reader != "cy" else 11)
            export.say(reader, case, "Thickness", thickness)
            export.say(reader, case, "Remarks", "Some text")
    return folder, export


def rows_in(folder):
    with (folder / "cases.csv").open(encoding="utf-8") as file:
        return {row["name"]: row for row in csv.DictReader(file)}


def fused(folder, export, *more, extension=".json"):
    """Fuse an export into the folder "out" beside it; return the status and this folder."""
    output = folder.with_name("out")
    arguments = ["fuse", "annotators", str(folder), *export.write(extension), "--output", str(output)]
    return main([*arguments, *map(str, more)]), output


@pytest.mark.parametrize("extension", [".json", ".csv"])
def test_answers_become_a_reference(study, capsys, extension):
    status, output = fused(*study, extension=extension)
    told = capsys.readouterr().err
    assert status == 0
    assert "24 answers" in told
    assert "questions of no field: Remarks" in told
    rows = rows_in(output)
    assert [rows[case]["referable"] for case in ("F1", "F2")] == ["1", "0"]
    assert {row["grade"] for row in rows.values()} == {"severe"}
    assert {float(row["thickness"]) for row in rows.values()} == {4.5}
    assert output.with_name("out-report").is_dir()


@pytest.mark.parametrize("drawn", [False, True])
def test_points_and_polygons_or_masks_that_were_drawn(tmp_path, drawn):
    folder, export = annotations(tmp_path, REFUGE)
    for number, size in enumerate((6, 6, 8)):
        for case in (1, 2):
            export.say(f"reader {number}", case, "Glaucoma risk", case == 1)
            export.say(f"reader {number}", case, "Fovea", point(2.0 + number, 5))
            if not drawn:
                export.say(f"reader {number}", case, "Optic disc", square(size))
                export.say(f"reader {number}", case, "Optic cup", square(3))
                continue
            mask = np.full((10, 12), 255, np.uint8)
            mask[:size, :size], mask[:3, :3] = 128, 0
            key = uuid(5, 10 * number + case)
            Image.fromarray(mask).save(tmp_path / f"{key}.png")
            image = f"{SITE}/cases/images/{key}/"
            export.say(f"reader {number}", case, "Segmentation", None, answer_image=image)
    if drawn:
        assert fused(folder, export)[0] == 1
    status, output = fused(folder, export, *(("--masks", tmp_path) if drawn else ()))
    assert status == 0
    row = rows_in(output)["F1"]
    assert (float(row["fovea_x"]), float(row["fovea_y"])) == (3, 5)
    (path,) = output.rglob("F2.*")
    found = np.asarray(Image.open(path))
    assert found.shape == (10, 12)
    # Cup and disc of two of three readers.
    assert sorted(np.unique(found, return_counts=True)[1].tolist()) == [9, 36 - 9, 120 - 36]


@pytest.mark.parametrize(
    ("extension", "unit", "size_mm"),
    [(".json", "pixels", 0.5), (".csv", "pixels", 1.0), (".json", "mm", 1.0)],
)
def test_boxes_and_several_choices(tmp_path, extension, unit, size_mm):
    rows = [f"{case},100,100,{size_mm} {size_mm}\n" for case in ("F1", "F2")]
    cases = "".join(["name,width,height,spacing_mm\n", *rows])
    folder, export = annotations(tmp_path, BOXED.replace("UNIT", unit), cases)
    for reader, moved in (("ana", 0.0), ("bob", 1.0), ("cy", 2.0)):
        for case in (1, 2):
            boxes = [
                {"name": "Box 1", **box(10 + moved, 10, 30 + moved, 30, size_mm)},
                box(50, 60, 70, 80, size_mm),
            ]
            # In the second case, one of three readers alone sees the second box.
            found = boxes if case == 1 or reader == "ana" else boxes[:1]
            many = {"type": "Multiple 2D bounding boxes", "boxes": found, **VERSION}
            export.say(reader, case, "Lesions", many)
            disc = {"name": "disc", **box(20, 20 + moved, 40, 40 + moved, size_mm)}
            export.say(reader, case, "Disc", {"type": "2D bounding box", **disc, **VERSION})
            export.say(reader, case, "Findings", [13] if reader == "cy" else [12, 13])
    status, output = fused(folder, export, extension=extension)
    assert status == 0
    ends = ("x1", "y1", "x2", "y2")
    with (output / "lesions.csv").open(encoding="utf-8", newline="") as file:
        lines = [(row["case"], *(float(row[key]) for key in ends)) for row in csv.DictReader(file)]
    assert sorted(lines) == [("F1", 11, 10, 31, 30), ("F1", 50, 60, 70, 80), ("F2", 11, 10, 31, 30)]
    for row in rows_in(output).values():
        assert [float(row[f"disc_{key}"]) for key in ends] == [20, 21, 40, 41]
        assert [row[name] for name in ("none", "mild", "severe")] == ["0", "1", "1"]
    assert main(["seal", str(output)]) == 0


def test_unanswered_edited_and_ground_truth_are_told_apart(study, capsys):
    folder, export = study
    export.say("dan", 1, "Grade", None)
    export.say("dan", 2, "Referable?", "")
    export.say("ana", 1, "Referable?", False, at="11:00:00", modified="12:00:00")
    export.say("expert", 1, "Grade", 11, is_ground_truth=True)
    status, output = fused(folder, export)
    told = capsys.readouterr().err
    assert status == 0
    assert " 0 " not in told
    for words in ("2 unanswered", "1 edited", "1 of the ground truth", "1 replaced by a later one"):
        assert words in told
    assert rows_in(output)["F1"]["referable"] == "0"  # ana has changed her mind


@pytest.mark.parametrize(
    ("say", "told"),
    [
        (("ana", 7, "Grade", 11), "display_set"),
        (("ana", 1, "Grade", 99), "type Choice"),
        (("ana", 1, "Referable?", "maybe"), "type Bool"),
        (("zed", 1, "Thickness", 99), "99"),
    ],
)
def test_faults_of_answers(study, capsys, say, told):
    folder, export = study
    export.say(*say, at="15:00:00")
    status, output = fused(folder, export)
    assert status == 1
    assert told in capsys.readouterr().err
    assert not output.exists()


def test_a_first_page_of_answers_is_no_reference(study, tmp_path, capsys):
    """Without the last reader, two of three would disagree as one of two."""
    folder, export = study
    _, *others = export.write()
    pages = pages_of(export.answers, 10, "reader-studies/answers/?question__reader_study=1")
    files = [tmp_path / f"answers-{number}.json" for number, _ in enumerate(pages)]
    for path, page in zip(files, pages, strict=True):
        path.write_text(json.dumps(page), encoding="utf-8")
    output = ["--output", str(tmp_path / "phase"), "--report", str(tmp_path / "report")]
    assert main(["fuse", "annotators", str(folder), str(files[0]), *others, *output]) == 1
    told = capsys.readouterr().err
    assert "answers-0.json: expected all 24 rows, found 10, without 11 to 24: give all pages together" in told
    assert not (tmp_path / "phase").exists()
    assert main(["fuse", "annotators", str(folder), *map(str, files), *others, *output]) == 0
    grades = {row["grade"] for row in rows_in(tmp_path / "phase").values()}
    assert grades == {"severe"}


def test_rank_reads_decisions_of_readers(study):
    _, export = study
    export.write()
    with faulted(PhaseError, "'Referable?', 'Thickness', 'Glaucoma risk'"):
        read_annotators(export.folder, ("F2", "F1"))
    columns = read_annotators(export.folder.with_name("export=Referable?"), ("F2", "F1"))
    found = {reader: column.tolist() for reader, column in columns.items()}
    assert found == {"ana": [0, 1], "bob": [0, 1], "cy": [1, 0]}


def test_pixels_of_a_polygon():
    triangle = [[0, 0, 0.5], [8, 0, 0.5], [0, 8, 0.5]]
    inside = rasterised(triangle, 12, 10, (1.0, 1.0))
    # Of pixel centres strictly between the sides: x + y < 8, from the left side on.
    y, x = np.mgrid[:10, :12]
    assert np.array_equal(inside, (x + y < 8) & (y >= 0) & (x >= 0))
    halved = rasterised([[2 * x, 2 * y] for x, y, _ in triangle], 12, 10, (2.0, 2.0))
    assert np.array_equal(inside, halved)
    assert not rasterised([[1, 1], [5, 5]], 12, 10, (1.0, 1.0)).any()
