"""Reports from Python: the same pages as those of the command, figures by name, and errors."""

import pytest

import evaluation
from evaluation.cli.main import main
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
    report = evaluation.report_submission(phase, submission, workers=0)
    assert report == evaluation.report_submission(phase, submission, results=result, workers=0)
    assert report == evaluation.report_submission(phase, submission, results=tmp_path / "results", workers=0)
    assert "classification-glaucoma-roc" in report.charts()
    path = report.write(tmp_path / "report.html")
    arguments = ["report", "submission", "--ground-truth", str(phase), "--input", str(submission)]
    arguments += ["--workers", "0"]
    assert main([*arguments, "--output", str(tmp_path / "command.html")]) == 0
    assert path.read_bytes() == (tmp_path / "command.html").read_bytes()


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


def test_what_is_missing_is_named(phase, submission, tmp_path):
    with faulted(evaluation.PhaseError, "none"):
        evaluation.report_submission(phase)
    (submission / "classification_results.csv").unlink()
    with pytest.raises(evaluation.SubmissionRejected):
        evaluation.report_submission(phase, submission, workers=0)
    with faulted(evaluation.PhaseError, "leaderboard.json"):
        evaluation.report_leaderboard(tmp_path)
