"""`report`: the same file from a submission and from its results, and errors that a user can correct."""

import json
import sys

import pytest
from PIL import Image

from evaluation.cli.main import main
from evaluation.phase.manifest import scan, seal
from test.organiser.rescoring.teams import write_teams
from test.phases import refuge_phase, refuge_submission, replace_in


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scored")
    phase = refuge_phase(folder / "phase", 12, keys={"tasks": ["classification", "fovea"]})
    submission = refuge_submission(folder / "submission", 12, fields=("glaucoma_risk", "fovea"))
    places = ("--input", submission, "--ground-truth", phase, "--output", folder / "results")
    cases = ("--cases", folder / "results" / "cases.json", "--workers", 0)
    assert main([*map(str, ("evaluate", *places, *cases))]) == 0
    return phase, submission, folder / "results"


def report(phase, output, *more) -> int:
    words = ("report", "submission", "--ground-truth", phase, "--output", output, *more)
    return main([*map(str, words)])


def test_without_further_analyses_no_table_is_written_and_the_report_is(scored, tmp_path, capsys):
    phase, _, results = scored
    output, tables = tmp_path / "report.html", tmp_path / "tables"
    assert report(phase, output, "--results", results, "--tables", tables) == 0
    assert "the report has no further analyses" in capsys.readouterr().err
    assert output.exists()
    assert not tables.exists()


def test_without_the_extra_the_command_says_what_to_install(scored, tmp_path, capsys, monkeypatch):
    phase, _, results = scored
    for name in [name for name in sys.modules if name.startswith("evaluation.organiser.report")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert report(phase, tmp_path / "report.html", "--results", results) == 1
    assert "jinja2" in capsys.readouterr().err


def test_what_has_changed_is_told(tmp_path, capfd):
    phase, submissions = write_teams(tmp_path)
    each = ["evaluate", "--each", str(submissions), "--ground-truth", str(phase), "--workers", "0"]
    assert main([*each, "--output", str(tmp_path / "before")]) == 0
    replace_in(phase / "cases.csv", "V0003,16,12,1", "V0003,16,12,0")
    mask = min(phase.rglob("*.png"))
    Image.open(mask).save(mask, compress_level=0)  # the same pixels in other bytes
    seal(phase, scan(phase))
    capfd.readouterr()
    assert main([*each, "--output", str(tmp_path / "now"), "--since", str(tmp_path / "before")]) == 0
    head, *changed = capfd.readouterr().out.splitlines()[4:]
    assert head == "refuge-tiny: 2 of 3 submissions have changed, 1 case moved"
    assert len([line for line in changed if "1 case moved" in line]) == 2
    (changes,) = json.loads((tmp_path / "now" / "changes.json").read_bytes())["phases"]
    assert changes["seal"]["before"] != changes["seal"]["now"]
    assert changes["references"] == [mask.relative_to(phase).as_posix()]
    moved = [submission["cases"] for submission in changes["submissions"] if submission["cases"]]
    assert [[case["case"] for case in cases["classification"]] for cases in moved] == [["V0003"], ["V0003"]]
