"""The viewer of cases, reports from Python, and their figures as files."""

import io
import json
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

import evaluation
from evaluation.cli.main import main
from evaluation.metrics.crops import Crop
from evaluation.organiser.report.case_images import Request, read_cases
from evaluation.organiser.report.case_views import MOST_IN_PAGE, CaseView, ViewedCase, Viewer, _view
from evaluation.organiser.report.overlays import ComparedStructure
from evaluation.organiser.report.page import Page, Section, csv_of, vector_files, write_figures
from evaluation.organiser.report_library import Report, submission_page
from test.charts.examples import examples
from test.faults import faulted
from test.organiser.report.boards import ranked_teams
from test.organiser.report.browser import opened
from test.phases import refuge_phase, refuge_submission

CASES = 200


def ball(shape, centre, radius):
    axes = np.ogrid[tuple(slice(0, side) for side in shape)]
    return sum((axis - at) ** 2 for axis, at in zip(axes, centre, strict=True)) <= radius**2


STRUCTURES = (("liver", "spleen"), (), ("liver",))


def ct_view():
    """A view as of a CT of 512 × 512 × 120: 24 planes with noise around an organ."""
    generator = np.random.default_rng(0)
    planes = np.arange(30, 102, 3)
    shape = (24, 512, 512)
    body = ball(shape, (12, 256, 256), 200)
    organ, found = ball(shape, (12, 240, 240), 60), ball(shape, (12, 250, 244), 60)
    ground = (90 * body + 40 * organ + generator.normal(20, 12, shape)).clip(0, 255).astype(np.uint8)
    view = _view([structure(found, organ)], ground, 256, list(range(24)))
    return replace(view, planes=tuple(planes.tolist()), of_planes=120)


def structure(predicted, reference, spacing=None):
    masks = (Crop(mask, (0, 0, 0)) for mask in (predicted, reference))
    return ComparedStructure("organ", *masks, reference.shape, spacing)


def report_of(cases):
    section = Section("viewer", "All cases", (Viewer(("A", "B"), tuple(cases)),))
    return Report(Page("Cases", (section,)))


def test_areas_and_outlines_by_hand():
    reference, predicted = np.zeros((1, 5, 6), bool), np.zeros((1, 5, 6), bool)
    reference[0, 1:4, 1:4] = True
    predicted[0, 1:4, 3:5] = True
    view = _view([structure(predicted, reference, (1.0, 2.0, 1.0))], None, 256, [0])
    areas = np.array(Image.open(io.BytesIO(view.areas)))
    np.testing.assert_array_equal(areas[1:4], [[0, 2, 2, 1, 3, 0]] * 3)
    assert not areas[[0, 4]].any()
    outlines = np.array(Image.open(io.BytesIO(view.outlines)))
    np.testing.assert_array_equal(outlines[2], [0, 1, 0, 2, 2, 0])
    assert (view.image, view.size, view.aspect) == (None, (5, 6), 2.0)


def viewer_of(bundled):
    """Return the viewer in the report of a bundled submission, whose curves have no bands."""
    without = replace(bundled.results.resampling, resamples=0)
    page = submission_page(replace(bundled.results, resampling=without), bundled.submission, None, 0)
    (found,) = (block for section in page.sections for block in section.blocks if isinstance(block, Viewer))
    assert not page.is_large
    return found


def test_every_case_of_a_submission_is_in_the_viewer_with_its_values(bundled_phase):
    bundled = bundled_phase("refuge-onsite")
    table = bundled.results.tables["segmentation"]
    title = "Segmentation of optic disc and cup"
    of_task = [one for one in viewer_of(bundled).cases if one.task == title]
    assert [one.case for one in of_task] == list(table.names)
    assert [one.values["Dice of the cup"][0] for one in of_task] == table["dice_cup"].tolist()
    assert {one.views[0].structures for one in of_task} == {("optic cup", "optic disc")}


def test_images_without_any_box_and_cases_that_only_some_tasks_have(bundled_phase):
    bundled = bundled_phase("edd2020")
    table = bundled.results.tables["detection"]
    sides = zip(*map(table.objects, ("predicted", "reference")), table.names, strict=True)
    empty = [name for *boxes, name in sides if not any(map(len, boxes))]
    assert empty
    title = next(task.title for task in bundled.results.tasks if task.name == "detection")
    assert set(empty) <= {one.case for one in viewer_of(bundled).cases if one.task == title}
    request = Request(bundled.phase, None, {"detection": ("E00001",)}, None, 0, only_pictures=True)
    read = {one.name: list(one.pictures) for one in read_cases(request, lambda done: None)}
    assert {name: tasks for name, tasks in read.items() if tasks} == {"E00001": ["detection"]}


def test_200_ct_cases_are_files_beside_the_page_that_opens_at_once(chromium, tmp_path):
    view = ct_view()
    views = [replace(view, structures=structures) for structures in STRUCTURES]
    cases = [
        ViewedCase(
            f"CT{number:03d}", "Liver", (views[number % 3], views[number % 3]), {"Dice": (number / 200, 0.5)}
        )
        for number in range(CASES)
    ]
    path = report_of(cases).write(tmp_path / "a report.html")
    folder = tmp_path / "a report-images"
    assert MOST_IN_PAGE < sum(file.stat().st_size for file in folder.iterdir()) <= 60_000_000
    assert path.stat().st_size < 1_000_000
    shown = opened(chromium, path)
    page = shown.page
    place = "plane 67 of 120 (24 are shown)"
    assert page.inner_text(".viewer .caption") == f"CT000, 1 of 200, {place}. Shows liver, spleen"
    # In a low window, too, the sides of a frame are those of the plane.
    page.set_viewport_size({"width": 1440, "height": 300})
    box = page.locator(".frame").first.bounding_box()
    assert box["width"] == pytest.approx(box["height"], abs=0.5)
    page.select_option("[data-part=order]", "-Dice")
    page.focus(".stage")
    # The case in sight stays in sight: with the lowest Dice it is the last one, before the first.
    for key, text in (
        ("ArrowLeft", f"CT001, 199 of 200, {place}. Nothing is there in prediction or reference"),
        ("ArrowRight", "CT000, 200 of 200, plane 67"),
        ("ArrowRight", "CT199, 1 of 200, plane 67"),
        ("ArrowDown", "CT199, 1 of 200, plane 70"),
    ):
        page.keyboard.press(key)
        assert page.inner_text(".viewer .caption").startswith(text)
    page.keyboard.press("+")
    page.keyboard.press("o")
    assert "scale(1.25)" in page.locator(".moved").nth(1).get_attribute("style")  # both teams at one scale
    assert page.locator(".outlines:visible").count() == 0
    loaded = page.evaluate(
        """async () => {
          const url = document.querySelector(".layer.areas").style.backgroundImage.slice(5, -2);
          const image = new Image(); image.src = url; await image.decode(); return image.naturalWidth; }"""
    )
    assert loaded == 5 * 256
    assert shown.errors == []


def test_few_small_cases_stay_in_the_page(tmp_path):
    view = CaseView(b"jpeg", None, None, (0,), 1, (1, 1))
    report = report_of([ViewedCase("a", "task", (view, None), {})])
    path = report.write(tmp_path / "r.html")
    assert list(tmp_path.iterdir()) == [path]
    assert "data:image/jpeg;base64,anBlZw==" in path.read_text()
    assert "file:" not in path.read_text().partition("<style>")[0]


@pytest.fixture
def phase(tmp_path):
    return refuge_phase(tmp_path / "phase", 12)


@pytest.fixture
def submission(tmp_path):
    return refuge_submission(tmp_path / "submission", 12)


def test_the_report_of_a_submission_is_that_of_the_command(phase, submission, tmp_path):
    result = evaluation.evaluate(phase, submission, workers=0)
    result.write(tmp_path / "results")
    report = evaluation.report_submission(phase, submission, workers=0)
    assert report == evaluation.report_submission(phase, submission, results=result, workers=0)
    assert report == evaluation.report_submission(phase, submission, results=tmp_path / "results", workers=0)
    assert "classification-glaucoma-roc" in report.charts()
    public = evaluation.report_submission(phase, submission, results=result, public=True, workers=0)
    assert not public.page.banner
    path = report.write(tmp_path / "report.html")
    arguments = ["report", "submission", "--ground-truth", str(phase), "--input", str(submission)]
    arguments += ["--workers", "0"]
    assert main([*arguments, "--output", str(tmp_path / "command.html")]) == 0
    assert path.read_bytes() == (tmp_path / "command.html").read_bytes()


def test_the_report_of_a_leaderboard_is_that_of_the_command(tmp_path):
    teams = ranked_teams(tmp_path, ["one", "two", "three"], 40)
    report = evaluation.report_leaderboard(teams.folder)
    output = tmp_path / "command.html"
    assert main(["report", "leaderboard", str(teams.folder), "--output", str(output)]) == 0
    assert report.to_html() == output.read_text(encoding="utf-8")


def test_what_is_missing_is_named(phase, submission, tmp_path):
    with faulted(evaluation.PhaseError, "none"):
        evaluation.report_submission(phase)
    (submission / "classification_results.csv").unlink()
    with pytest.raises(evaluation.SubmissionRejected):
        evaluation.report_submission(phase, submission, workers=0)
    with faulted(evaluation.PhaseError, "leaderboard.json"):
        evaluation.report_leaderboard(tmp_path)


STARTS = {"svg": b"<svg", "pdf": b"%PDF-", "png": b"\x89PNG", "csv": b"table,", "vl.json": b"{"}


def test_every_format_is_written(tmp_path):
    chart = examples()["roc"]
    paths = write_figures([chart], tmp_path)
    assert [path.name for path in paths] == [
        f"roc.{ending}" for ending in ("vl.json", "csv", "svg", "pdf", "png")
    ]
    for ending, start in STARTS.items():
        assert (tmp_path / f"roc.{ending}").read_bytes().startswith(start)
    assert json.loads((tmp_path / "roc.vl.json").read_bytes())["width"] == 480


def test_a_csv_has_a_row_for_each_row_of_each_table_and_no_formula():
    points = [{"case": "a", "x": 1, "y": 0.5}, {"case": "=1+1", "x": -1.5}]
    chart = replace(examples()["roc"], data={"points": points, "lines": [{"y": 2}]})
    assert csv_of(chart).decode().splitlines() == [
        "table,case,x,y",
        "points,a,1,0.5",
        "points,'=1+1,-1.5,",
        "lines,,,2",
    ]


def test_a_drawing_has_the_same_bytes_every_time():
    groups = "".join(
        f'<g opacity="0.{n}"><path d="M{n} 0h9v9z"/><text y="9">{n}</text></g>' for n in range(1, 9)
    )
    drawing = f'<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20">{groups}</svg>'
    first, *others = (vector_files(drawing)["pdf"] for _ in range(4))
    assert first.startswith(b"%PDF")
    assert others == [first] * 3
