"""`report leaderboard`: from the submissions of four teams to a page and its figures as files."""

import itertools
import json
import re
import shutil

import pytest
from PIL import Image

from evaluation.cli.main import main
from test.rooms import skip_without

QUALITIES = ("perfect", "good", "poor")


@pytest.fixture(scope="module")
def ranked(tmp_path_factory):
    """Return the folder of a ranking of four teams, whose tasks are of different qualities."""
    skip_without("samples")
    folder = tmp_path_factory.mktemp("sample")
    sizes = ["--cases", "12", "--width", "96", "--height", "96", "--glaucoma", "0.5"]
    assert main(["sample", "refuge", "--output", str(folder), *sizes]) == 0
    phase = folder / "ground-truth" / "refuge-sample"
    assert main(["seal", str(phase)]) == 0
    submissions = folder / "submissions"
    of_tasks = list(itertools.product(QUALITIES, repeat=3))[1::2][:4]
    for number, (classification, segmentation, fovea) in enumerate(of_tasks):
        team = folder / "teams" / f"team {number}"
        shutil.copytree(submissions / segmentation / "segmentation", team / "segmentation")
        shutil.copy(submissions / classification / "classification_results.csv", team)
        shutil.copy(submissions / fovea / "fovea_location_results.csv", team)
    arguments = ["--ground-truth", str(phase), "--output", str(folder / "results"), "--workers", "0"]
    assert main(["evaluate", "--each", str(folder / "teams"), *arguments]) == 0
    options = ["--resamples", "50", "--subgroup", "eye"]
    assert main(["rank", str(folder / "results"), "--output", str(folder / "board"), *options]) == 0
    return folder / "board"


def test_results_that_are_not_ranked_yet_are_ranked_as_rank_does(ranked, tmp_path):
    results = tmp_path / "results"
    for number in range(3):
        shutil.copytree(ranked.parent / "results" / f"team {number}", results / f"team {number}")
    # As a report ranks them, with all resamples.
    assert main(["rank", str(results), "--output", str(tmp_path / "board")]) == 0
    for source, name in ((results, "direct.html"), (tmp_path / "board", "ranked.html")):
        assert main(["report", "leaderboard", str(source), "--output", str(tmp_path / name)]) == 0
    assert (tmp_path / "direct.html").read_bytes() == (tmp_path / "ranked.html").read_bytes()


def test_the_page_and_its_figures_are_written(tmp_path, capsys):
    table = tmp_path / "results.csv"
    rows = [f"{team},{case},0.{first}{case}" for team, first in (("a", 9), ("b", 8)) for case in range(1, 9)]
    table.write_text("\n".join(["team,case,dice", *rows]), encoding="utf-8")
    board, page, figures = (tmp_path / name for name in ("board", "a.html", "figures"))
    options = ["--metric", "dice=higher", "--resamples", "50", "--output", str(board)]
    assert main(["rank", str(table), *options]) == 0
    arguments = [str(board), "--output", str(page), "--figures", str(figures)]
    assert main(["report", "leaderboard", *arguments]) == 0
    assert page.is_file()
    assert str(page) in capsys.readouterr().out
    for extension in ("svg", "pdf", "png", "csv", "vl.json"):
        assert (figures / f"results-dice-boxes.{extension}").stat().st_size > 100


def pictures_of(page):
    """Return the captions of every gallery by its title."""
    html = page.read_text(encoding="utf-8")
    found = {}
    for block in html.split('<div class="gallery">')[1:]:
        title = re.search(r"<h3>(.*?)</h3>", block)[1]
        found[title] = re.findall(r"<figcaption>(\w+(?: \d+)?)\.", block.partition("</section>")[0])
    return found


def test_the_hardest_cases_are_shown_as_the_reference_and_the_best_teams_have_them(ranked, tmp_path):
    phase = ranked.parent / "ground-truth" / "refuge-sample"
    board = json.loads((ranked / "leaderboard.json").read_bytes())["phases"][0]
    best = [team["team"] for team in board["teams"][:3]]
    names = [line.split(",")[0] for line in (phase / "cases.csv").read_text().splitlines()[1:]]
    images = tmp_path / "images"
    images.mkdir()
    for name in names:
        Image.new("RGB", (96, 96), (120, 60, 20)).save(images / f"{name}.png")
    page = tmp_path / "report.html"
    arguments = ["report", "leaderboard", str(ranked), "--ground-truth", str(phase), "--output", str(page)]
    arguments += ["--submissions", str(ranked.parent / "teams"), "--workers", "0"]
    assert main([*arguments, "--images", str(images)]) == 0
    galleries = pictures_of(page)
    assert len(galleries) == 6  # three cases of each of two tasks; likelihoods have no picture
    assert all(captions == ["Reference", *best] for captions in galleries.values())
    html = page.read_text(encoding="utf-8")
    assert "Area of optic disc by glaucoma" in html  # the data of the phase are a section of the page
    galleries_alone = re.sub(r'<div class="viewer".*?</script>', "", html, flags=re.DOTALL)
    assert galleries_alone.count("data:image/jpeg;base64,") == 24
    # By hand from the organiser's file: the three largest mean distances of the fovea.
    values = json.loads((ranked / "organiser.json").read_bytes())["values"]["fovea.distance"]
    means = [sum(of_case) / len(of_case) for of_case in zip(*values["teams"].values(), strict=True)]
    hardest = sorted(zip(means, values["cases"], strict=True), reverse=True)[:3]
    fovea = [title.rpartition(": ")[2] for title in galleries if "fovea" in title]
    assert sorted(fovea) == sorted(case for _, case in hardest)


def test_pictures_need_the_phase_and_the_submissions_of_the_best_teams(ranked, tmp_path, capsys):
    phase = ranked.parent / "ground-truth" / "refuge-sample"
    page = tmp_path / "report.html"
    arguments = ["report", "leaderboard", str(ranked), "--output", str(page), "--submissions", str(tmp_path)]
    assert main(arguments) == 1
    assert "expected --ground-truth PHASE too" in capsys.readouterr().err
    assert main([*arguments, "--ground-truth", str(phase)]) == 1
    assert capsys.readouterr().err.count("expected the submission of team") == 3
    assert not page.exists()
