"""Reports from Python: the same pages as those of the command, figures by name, and errors."""

import json

import pytest

import evaluation
from evaluation.cli.main import main
from test.charts.vega_lite import validator
from test.faults import faulted
from test.organiser.report.boards import ranked_teams
from test.phases import refuge_phase, refuge_submission


@pytest.fixture
def phase(tmp_path):
    return refuge_phase(tmp_path / "phase", 12)


@pytest.fixture
def submission(tmp_path):
    return refuge_submission(tmp_path / "submission", 12)


def test_the_report_of_a_submission_is_that_of_the_command(phase, submission, tmp_path):
    result = evaluation.evaluate(phase, submission, workers=0)
    result.write(tmp_path / "results")
    report = evaluation.report_submission(phase, submission, results=result, workers=0)
    assert report == evaluation.report_submission(phase, submission, workers=0)
    assert report == evaluation.report_submission(phase, submission, results=tmp_path / "results", workers=0)
    path = report.write(tmp_path / "report.html")
    arguments = ["report", "submission", "--ground-truth", str(phase), "--input", str(submission)]
    arguments += ["--workers", "0"]
    assert main([*arguments, "--output", str(tmp_path / "command.html")]) == 0
    assert path.read_bytes() == (tmp_path / "command.html").read_bytes()


def test_figures_are_vega_lite_by_name(phase, submission):
    charts = evaluation.report_submission(phase, submission, workers=0).charts()
    assert "classification-glaucoma-roc" in charts
    assert all(validator().is_valid(json.loads(json.dumps(chart))) for chart in charts.values())


def test_a_public_report_has_no_case(phase, submission):
    report = evaluation.report_submission(phase, submission, public=True, workers=0)
    assert not report.page.banner
    assert "V0001" not in report.to_html()


def test_the_report_of_a_leaderboard_is_that_of_the_command(tmp_path):
    teams = ranked_teams(tmp_path, ["one", "two", "three"], 40)
    report = evaluation.report_leaderboard(teams.folder)
    output = tmp_path / "command.html"
    assert main(["report", "leaderboard", str(teams.folder), "--output", str(output)]) == 0
    assert report.to_html() == output.read_text(encoding="utf-8")


def test_the_figures_of_a_report_are_files_of_every_format(tmp_path):
    (tmp_path / "results.csv").write_text("team,dice\na,0.9\nb,0.8\n", encoding="utf-8")
    arguments = ["rank", str(tmp_path / "results.csv"), "--metric", "dice=higher"]
    assert main([*arguments, "--output", str(tmp_path / "board")]) == 0
    report = evaluation.report_leaderboard(tmp_path / "board")
    assert {path.suffix for path in report.write_figures(tmp_path / "figures")} == {
        ".svg",
        ".pdf",
        ".png",
        ".csv",
        ".json",
    }


def test_what_is_missing_is_named(phase, submission, tmp_path):
    with faulted(evaluation.PhaseError, "none"):
        evaluation.report_submission(phase)
    (submission / "classification_results.csv").unlink()
    with pytest.raises(evaluation.SubmissionRejected):
        evaluation.report_submission(phase, submission, workers=0)
    with faulted(evaluation.PhaseError, "leaderboard.json"):
        evaluation.report_leaderboard(tmp_path)
