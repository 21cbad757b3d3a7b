"""The commands as processes: exit status, what goes to stdout, stderr and into files."""

import contextlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from evaluation.cli.main import COMMANDS, ROLES, main, parser_of
from evaluation.core.entry_points import loaded
from evaluation.phase.manifest import scan, seal
from test.organiser.rescoring.teams import write_teams
from test.repository import REPOSITORY
from test.rooms import GONE
from test.started import run

SUBMISSION = REPOSITORY / "test" / "input" / "refuge-onsite"


@pytest.fixture(scope="module")
def phase(tmp_path_factory) -> Path:
    folder = Path(
        shutil.copytree(REPOSITORY / "ground-truth" / "refuge-onsite", tmp_path_factory.mktemp("p") / "phase")
    )
    seal(folder, scan(folder))
    return folder


def evaluate(phase: Path, submission: Path, output: Path, *more: object) -> subprocess.CompletedProcess[str]:
    """Score in the command's own process unless told otherwise, which says and writes the same sooner."""
    more = more if "--workers" in more else (*more, "--workers", 0)
    return run("evaluate", "--input", submission, "--ground-truth", phase, "--output", output, *more)


@pytest.fixture(scope="module")
def scored(phase, tmp_path_factory) -> Path:
    """Return the folder with the results of the good submission, `cases.json` among them."""
    folder = tmp_path_factory.mktemp("scored")
    done = evaluate(phase, SUBMISSION, folder, "--cases", folder / "cases.json")
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(path.name for path in folder.iterdir()) == ["cases.json", "metrics.json"]
    assert done.stdout.splitlines()[-1].startswith("Scored 40 cases of refuge-onsite")
    return folder


def test_rejection_tells_the_participant_in_one_line_and_writes_nothing(phase, tmp_path):
    submission = Path(shutil.copytree(SUBMISSION, tmp_path / "submission"))
    for path in sorted((submission / "segmentation").iterdir())[:3]:
        path.unlink()
    (submission / "segmentation" / "strange\nname.png").write_bytes(b"")
    output = tmp_path / "output"
    output.mkdir()
    # Nothing of an earlier run is taken for the result of this one.
    for name in ("metrics.json", "cases.json", "chart-of-mine.json"):
        (output / name).write_text("{}")
    done = evaluate(phase, submission, output, "--cases", output / "cases.json")
    assert done.returncode == 1
    assert [path.name for path in output.iterdir()] == ["chart-of-mine.json"]
    (line,) = done.stderr.splitlines()
    assert line.startswith(
        "Submission rejected, 4 faults: 3 missing (first: segmentation/R0001.bmp: expected"
    )
    assert "1 unknown (first: segmentation/strange\\nname.png" in line
    assert len(line) <= 1024
    assert done.stdout.splitlines()[-1] == "Rejected, 4 faults: 3 missing, 1 unknown"


def test_an_input_that_cannot_be_listed_is_no_fault_of_a_participant(phase, tmp_path):
    done = evaluate(phase, tmp_path / "nowhere", tmp_path)
    assert done.returncode == 1
    assert f"{tmp_path / 'nowhere'}: cannot be listed: No such file or directory\n" in done.stdout
    (line,) = done.stderr.splitlines()
    assert "fault of the organisers" in line


@pytest.fixture(scope="module")
def overview() -> str:
    """Return the help without a command."""
    done = run("--help")
    assert done.returncode == 0
    return done.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example_that_its_parser_takes(name, overview, capsys):
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert name in overview
    example = [line.strip() for line in shown.partition("example:")[2].splitlines() if line]
    assert tuple(example) == COMMANDS[name].example
    assert example[-1].startswith((f"python -m evaluation {name}", f"./run.sh --{name}"))
    for line in example:
        words = shlex.split(line, comments=True)
        # A leaf that was deleted takes its commands along.
        if words[:3] == ["python", "-m", "evaluation"] and (not GONE or words[3] in COMMANDS):
            parser = parser_of(words[3], loaded(COMMANDS[words[3]].place))
            parser.parse_args(words[4:])
        named = (word for word in words if word.startswith(("ground-truth/", "test/input/")))
        assert all((REPOSITORY / word).exists() for word in named if "manifest" not in word), line


@pytest.mark.parametrize(("name", "more"), [("evaluate", []), ("form", ["refuge-onsite"])])
def test_without_its_packages_a_command_ends_in_a_sentence(name, more):
    words = [sys.executable, "-S", "-m", "evaluation", name, *more]
    variables = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(words, cwd=REPOSITORY, env=variables, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "Traceback" not in done.stdout + done.stderr
    assert "is not installed in" in done.stdout + done.stderr


@pytest.mark.parametrize(
    "call",
    [
        "main.main(['report', 'leaderboard', '.', '--output', 'r.html'])",
        "main.main(['paper', 'refuge-onsite', '--results', '.', '--output', 'p'])",
        "evaluation.report_leaderboard('.')",
    ],
)
def test_without_the_packages_of_reports_the_remedy_is_their_extra(call, tmp_path):
    if "paper" in GONE and "'paper'" in call:
        pytest.skip("the paper is gone")
    hidden = "import sys; sys.modules.update(vl_convert=None, jinja2=None)"
    program = f"{hidden}; import evaluation; from evaluation.cli import main; {call}"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "pip install '.[report]'" in done.stderr
    assert ("Traceback" in done.stderr) == call.startswith("evaluation.")


def test_unknown_command_is_refused_with_the_known_ones():
    done = run("evalute")
    assert done.returncode == 2
    assert done.stderr.startswith("unknown command 'evalute'; did you mean 'evaluate'?\n")
    done = run("chess")
    assert done.stderr.startswith("unknown command 'chess'\nusage: ")
    assert "seal" in done.stderr


def test_the_overview_is_one_screen_and_has_each_command_once(overview):
    listed = [name for names in ROLES.values() for name in names]
    assert sorted(listed) == sorted(COMMANDS)
    lines = overview.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    # A command without arguments scores /input in a container alone.
    assert [run().stdout, run("help").stdout, run("-h").stdout] == [overview] * 3
    assert run("-V").stdout == run("--version").stdout


def test_help_names_the_program_as_it_was_called(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["/usr/bin/evaluation"])
    with pytest.raises(SystemExit):
        main(["help", "schema"])
    shown = capsys.readouterr().out
    assert shown.startswith("usage: evaluation schema ")
    assert "\n  evaluation schema phase" in shown
    assert "python -m" not in shown


def test_json_for_programs(phase, scored, form, tmp_path):
    found = json.loads(run("summary", "--json", scored / "metrics.json").stdout)
    assert found["figures"][0]["metric"] == "auc"
    assert all("interval" in figure for figure in found["figures"])
    assert found["cases"]["scored"] == 40
    (tmp_path / "teams").mkdir()
    shutil.copytree(scored, tmp_path / "teams" / "one")
    assert len(json.loads(run("rank", tmp_path / "teams", "--json").stdout)["phases"]) == 1
    assert json.loads(run("describe", phase, "--json").stdout)["format"] == "description/1"
    (tmp_path / "empty").mkdir()
    for submission, status in ((SUBMISSION, 0), (tmp_path / "empty", 1)):
        done = run("check", "--json", "--form", form, submission, "--workers", 0)
        content = json.loads(done.stdout)
        assert (content["passed"], bool(content["faults"]), done.returncode) == (not status, status, status)


@pytest.mark.skipif(sys.platform == "win32", reason="has no such terminals")
def test_evaluate_shows_the_figures_on_a_terminal(phase, scored, tmp_path):
    import pty

    master, slave = pty.openpty()
    words = ("--input", SUBMISSION, "--ground-truth", phase, "--output", tmp_path, "--workers", 0)
    done = run("evaluate", *words, output=slave)
    os.close(slave)
    shown = b""
    with contextlib.suppress(OSError):  # the terminal is gone with the process
        while part := os.read(master, 65536):
            shown += part
    os.close(master)
    assert done.returncode == 0
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())
    assert "refuge-onsite: 40 of 40 cases scored" in text
    figures = json.loads((scored / "metrics.json").read_text())["aggregates"]
    assert all(f"{one['value']:.12g}" in text for task in figures.values() for one in task.values())


def test_summary_shows_every_metric(scored):
    text = run("summary", scored / "metrics.json").stdout
    metrics = json.loads((scored / "metrics.json").read_text())["aggregates"]
    for task, figures in metrics.items():
        for name, estimate in figures.items():
            row = next(line for line in text.splitlines() if task in line and name.replace("_", " ") in line)
            assert f"{estimate['value']:.12g} " in row
            if interval := estimate.get("confidence_interval"):
                assert f"{interval['lower']:g} to {interval['upper']:g}" in row
            else:
                (number,) = re.findall(r"none \((\d+)\)", row)
                assert f"({number}) no interval: " in text


@pytest.fixture(scope="module")
def form(phase, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("form") / "form.json"
    done = run("form", phase, "--output", path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return path


def test_check_says_what_the_container_says(phase, form, tmp_path):
    submission = Path(shutil.copytree(SUBMISSION, tmp_path / "submission"))
    table = submission / "classification_results.csv"
    lines = table.read_text(encoding="utf-8").splitlines()
    table.write_text("\n".join([*lines[:2], "R0002,high", *lines[3:-1], "R9999,0.5"]), encoding="utf-8")
    masks = sorted((submission / "segmentation").iterdir())
    masks[0].unlink()
    masks[1].write_bytes(masks[2].read_bytes()[:-1])
    of_container = evaluate(phase, submission, tmp_path, "--workers", 1)
    of_check = run("check", "--form", form, submission, "--workers", 0)
    assert of_check.returncode == of_container.returncode == 1
    assert of_check.stdout == of_container.stdout
    assert of_check.stderr == of_container.stderr
    assert of_check.stdout.splitlines()[-1].startswith("Rejected, 5 faults: ")
    # On a terminal, both streams are one: each fault stands there once.
    words = [sys.executable, "-m", "evaluation", "check", "--form", form, submission, "--workers", "0"]
    together = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert together.stdout == of_check.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([SUBMISSION], "--form: expected the form.json of the phase"),
        (["--form", "no-such-form.json", SUBMISSION], "no-such-form.json: No such file or directory"),
        (["--form", "README.md", SUBMISSION], "README.md: expected JSON"),
        (["--form", "{form}", "none.zip"], "none.zip: no such file or folder"),
    ],
)
def test_check_without_a_form_or_a_submission(form, arguments, message):
    done = run("check", *(str(one).format(form=form) for one in arguments))
    assert (done.returncode, done.stdout) == (1, "")
    assert message in done.stderr


def test_settings_are_json_to_paste_and_list_what_the_public_sees(phase):
    settings = json.loads(run("settings", phase).stdout)
    assert settings["score_jsonpath"] == "aggregates.classification.auc.value"
    listed = run("settings", phase, "--public").stdout.splitlines()
    assert "aggregates.segmentation.dice_cup.standard_deviation" in listed
    assert not [path for path in listed if path.startswith(("case.", "labels"))]


def test_rehearse_fails_with_the_name_of_the_metric(tmp_path):
    (tmp_path / "cases.csv").write_text("name,decision\nA,1\nB,0\n")
    (tmp_path / "phase.toml").write_text(
        'challenge = "faulty"\nname = "faulty"\ntitle = "Faulty"\nsubmission = "archive"\n'
        '[options]\nfault = "direction"\n'
    )
    variables = {**os.environ, "EVALUATION_CHALLENGES": str(REPOSITORY / "test" / "organiser" / "challenges")}
    words = [sys.executable, "-m", "evaluation", "rehearse", str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=REPOSITORY, env=variables, check=False)
    assert done.returncode == 1
    assert "decisions.accuracy: the perfect submission gets 1, not the best value 0" in done.stderr


def test_unpack_gives_what_the_container_finds(tmp_path):
    shutil.make_archive(str(tmp_path / "submission"), "zip", SUBMISSION.parent, SUBMISSION.name)
    expected = {path.relative_to(SUBMISSION): path.read_bytes() for path in SUBMISSION.rglob("*.*")}
    for number, submission in enumerate((SUBMISSION, tmp_path / "submission.zip")):
        folder = tmp_path / str(number)
        assert run("unpack", submission, folder).returncode == 0
        assert {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.*")} == expected


def test_unpack_refuses_another_file_and_a_folder_that_is_not_empty(tmp_path):
    done = run("unpack", "README.md", tmp_path / "new")
    assert done.returncode == 1
    assert done.stderr.startswith("README.md: expected a folder, a zip archive or a csv file")
    (tmp_path / "mine.tar.gz").write_bytes(b"\x1f\x8b")
    done = run("unpack", tmp_path / "mine.tar.gz", tmp_path / "new")
    assert done.stderr.endswith("(zip it: the platform unpacks zip archives alone)\n")
    (tmp_path / "mine.zip").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(99))
    assert run("unpack", tmp_path / "mine.zip", tmp_path / "new").stderr.endswith("found a PNG image\n")
    (tmp_path / "a").touch()
    done = run("unpack", SUBMISSION, tmp_path)
    assert done.returncode == 1
    assert "is not empty" in done.stderr


def run_unread(*arguments: object) -> tuple[int, str]:
    """Run a command whose output nobody reads, as `… | true`; return its status and its stderr."""
    unread, stdout = os.pipe()
    os.close(unread)
    try:
        done = run(*arguments, output=stdout)
    finally:
        os.close(stdout)
    return done.returncode, done.stderr


def test_where_nobody_reads_the_output_a_command_ends_quietly_and_files_are_written(tmp_path):
    assert run_unread("--help") == (141, "")
    phase, submissions = write_teams(tmp_path)
    assert run_unread("audit", phase) == (141, "")
    (phase / "manifest.json").unlink()
    assert run_unread("seal", phase) == (141, "")
    assert (phase / "manifest.json").is_file()
    results = ("--ground-truth", phase, "--output", tmp_path / "results", "--workers", 0)
    # The platform decides by the status of `evaluate`, whoever reads what it says.
    assert run_unread("evaluate", "--each", submissions, *results) == (0, "")
    assert run_unread("rank", tmp_path / "results", "--output", tmp_path / "board") == (141, "")
    assert (tmp_path / "board" / "leaderboard.csv").is_file()
    assert (tmp_path / "board" / "comparisons.csv").is_file()
