"""`report changes`: from two runs of `evaluate --each` to a page and its figures as files."""

from evaluation.cli.main import main
from evaluation.phase.manifest import scan, seal
from test.organiser.rescoring.teams import write_teams
from test.phases import replace_in


def test_the_page_and_its_figures_are_written(tmp_path, capsys):
    phase, submissions = write_teams(tmp_path)
    each = [
        "evaluate",
        "--each",
        str(submissions),
        "--ground-truth",
        str(phase),
        "--workers",
        "0",
        "--output",
    ]
    assert main([*each, str(tmp_path / "before")]) == 0
    replace_in(phase / "cases.csv", "V0003,16,12,1", "V0003,16,12,0")
    seal(phase, scan(phase))
    assert main([*each, str(tmp_path / "now"), "--since", str(tmp_path / "before")]) == 0
    figures = tmp_path / "figures"
    for name, more in {"a.html": ["--figures", str(figures)], "b.html": []}.items():
        arguments = [str(tmp_path / "now"), "--output", str(tmp_path / name), *more]
        assert main(["report", "changes", *arguments]) == 0
        assert str(tmp_path / name) in capsys.readouterr().out
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    assert "V0003" in (tmp_path / "a.html").read_text(encoding="utf-8")
    for extension in ("svg", "pdf", "png", "csv", "vl.json"):
        assert (figures / f"classification-auc-changes.{extension}").stat().st_size > 50


def test_a_folder_without_changes_has_no_report(tmp_path, capsys):
    output = tmp_path / "report.html"
    assert main(["report", "changes", str(tmp_path), "--output", str(output)]) == 1
    assert "changes.json: is missing; `evaluate --each FOLDER --since" in capsys.readouterr().err
    assert not output.exists()
