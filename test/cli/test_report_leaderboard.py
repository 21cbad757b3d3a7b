"""`report leaderboard`: from the submissions of twelve teams to a page and its figures as files."""

import itertools
import shutil

import pytest

from evaluation.cli.main import main

QUALITIES = ("perfect", "good", "poor")


@pytest.fixture(scope="module")
def ranked(tmp_path_factory):
    """Return the folder of a ranking of twelve teams, whose tasks are of different qualities."""
    folder = tmp_path_factory.mktemp("sample")
    sizes = ["--cases", "24", "--width", "96", "--height", "96", "--glaucoma", "0.5"]
    assert main(["sample", "refuge", "--output", str(folder), *sizes]) == 0
    phase = folder / "ground-truth" / "refuge-sample"
    assert main(["seal", str(phase)]) == 0
    submissions = folder / "submissions"
    of_tasks = list(itertools.product(QUALITIES, repeat=3))[1::2][:12]
    for number, (classification, segmentation, fovea) in enumerate(of_tasks):
        team = folder / "teams" / f"team {number}"
        shutil.copytree(submissions / segmentation / "segmentation", team / "segmentation")
        shutil.copy(submissions / classification / "classification_results.csv", team)
        shutil.copy(submissions / fovea / "fovea_location_results.csv", team)
    arguments = ["--ground-truth", str(phase), "--output", str(folder / "results")]
    assert main(["evaluate", "--each", str(folder / "teams"), *arguments]) == 0
    options = ["--resamples", "50", "--permutations", "99", "--subgroup", "eye"]
    assert main(["rank", str(folder / "results"), "--output", str(folder / "board"), *options]) == 0
    return folder / "board"


def test_results_that_are_not_ranked_yet_are_ranked_as_rank_does(ranked, tmp_path):
    results = ranked.parent / "results"
    assert main(["rank", str(results), "--output", str(tmp_path / "board")]) == 0
    for source, name in ((results, "direct.html"), (tmp_path / "board", "ranked.html")):
        assert main(["report", "leaderboard", str(source), "--output", str(tmp_path / name)]) == 0
    assert (tmp_path / "direct.html").read_bytes() == (tmp_path / "ranked.html").read_bytes()


def test_the_page_and_its_figures_are_written(ranked, tmp_path, capsys):
    files = {name: tmp_path / name for name in ("a.html", "b.html")}
    figures = tmp_path / "figures"
    for name, path in files.items():
        more = ["--figures", str(figures)] if name == "a.html" else []
        assert main(["report", "leaderboard", str(ranked), "--output", str(path), *more]) == 0
    assert files["a.html"].read_bytes() == files["b.html"].read_bytes()
    assert str(files["a.html"]) in capsys.readouterr().out
    for extension in ("svg", "pdf", "png", "csv", "vl.json"):
        assert (figures / f"overall-blobs.{extension}").stat().st_size > 100


def test_the_data_of_a_phase_are_a_section_of_the_page(ranked, tmp_path):
    phase = ranked.parent / "ground-truth" / "refuge-sample"
    page = tmp_path / "report.html"
    arguments = ["--output", str(page), "--ground-truth", str(phase)]
    assert main(["report", "leaderboard", str(ranked), *arguments]) == 0
    assert "Area of optic disc by glaucoma" in page.read_text(encoding="utf-8")


def test_a_folder_without_results_has_no_report(tmp_path, capsys):
    output = tmp_path / "report.html"
    assert main(["report", "leaderboard", str(tmp_path), "--output", str(output)]) == 1
    assert "leaderboard.json: is missing; `rank" in capsys.readouterr().err
    assert not output.exists()
