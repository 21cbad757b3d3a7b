"""`report`: the same file from a submission and from its results, and errors that a user can correct."""

import sys

import pytest

from evaluation.cli.main import main
from test.phases import refuge_phase, refuge_submission


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scored")
    phase = refuge_phase(folder / "phase", 12)
    submission = refuge_submission(folder / "submission", 12)
    arguments = [
        "--input",
        str(submission),
        "--ground-truth",
        str(phase),
        "--output",
        str(folder / "results"),
        "--workers",
        "0",
    ]
    assert main(["evaluate", *arguments, "--cases", str(folder / "results" / "cases.json")]) == 0
    return phase, submission, folder / "results"


def test_a_submission_and_its_results_give_the_same_bytes(scored, tmp_path):
    phase, submission, results = scored
    written = []
    for name, given in (
        ("a.html", ["--input", str(submission)]),
        ("b.html", ["--input", str(submission), "--results", str(results)]),
    ):
        arguments = [
            "report",
            "submission",
            "--ground-truth",
            str(phase),
            *given,
            "--output",
            str(tmp_path / name),
            "--workers",
            "0",
        ]
        assert main(arguments) == 0
        written.append((tmp_path / name).read_bytes())
    assert written[0] == written[1]
    assert written[0].startswith(b"<!DOCTYPE html>")


def test_a_rejected_submission_has_no_report(scored, tmp_path, capsys):
    phase = scored[0]
    submission = refuge_submission(tmp_path / "submission", 12)
    (submission / "classification_results.csv").unlink()
    output = tmp_path / "report.html"
    arguments = ["report", "submission", "--ground-truth", str(phase), "--input", str(submission)]
    assert main([*arguments, "--workers", "0", "--output", str(output)]) == 1
    assert "classification_results.csv" in capsys.readouterr().err
    assert not output.exists()


def test_without_the_extra_the_command_says_what_to_install(scored, tmp_path, capsys, monkeypatch):
    phase, _, results = scored
    for name in [name for name in sys.modules if name.startswith("evaluation.organiser.report")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    arguments = ["report", "submission", "--ground-truth", str(phase), "--results", str(results)]
    assert main([*arguments, "--output", str(tmp_path / "report.html")]) == 1
    assert "jinja2" in capsys.readouterr().err


def test_every_figure_is_also_a_file(scored, tmp_path):
    phase, _, results = scored
    arguments = ["report", "submission", "--ground-truth", str(phase), "--results", str(results), "--public"]
    assert (
        main([*arguments, "--output", str(tmp_path / "r.html"), "--figures", str(tmp_path / "figures")]) == 0
    )
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == [
        f"metric-intervals.{ending}" for ending in ("csv", "pdf", "png", "svg", "vl.json")
    ]
