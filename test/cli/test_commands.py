"""The commands as processes: exit status, what goes to stdout, stderr and into files."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from evaluation.cli.main import COMMANDS, ROLES, main
from evaluation.phase.manifest import scan, seal
from test.cli.options import OPTIONS, lines
from test.repository import REPOSITORY
from test.rooms import GONE, needs
from test.started import WITHOUT_WORKERS, run, write_program

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


def test_success_writes_metrics_and_leaves_stderr_empty(phase, tmp_path):
    done = evaluate(phase, SUBMISSION, tmp_path, "--cases", tmp_path / "cases.json")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1].startswith("Scored 40 cases of refuge-onsite")
    metrics = json.loads((tmp_path / "metrics.json").read_text())
    assert metrics["cases"] == {"expected": 40, "scored": 40, "worst": 0}
    assert len(json.loads((tmp_path / "cases.json").read_text())["cases"]) == 40
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cases.json", "metrics.json"]


def test_second_run_writes_the_same_bytes(phase, tmp_path):
    for name, workers in (("first", 2), ("second", 1)):
        (tmp_path / name).mkdir()
        assert evaluate(phase, SUBMISSION, tmp_path / name, "--workers", workers).returncode == 0
    first, second = ((tmp_path / name / "metrics.json").read_bytes() for name in ("first", "second"))
    assert first == second


def test_rejection_tells_the_participant_in_one_line_and_writes_nothing(phase, tmp_path):
    submission = Path(shutil.copytree(SUBMISSION, tmp_path / "submission"))
    for path in sorted((submission / "segmentation").iterdir())[:3]:
        path.unlink()
    (submission / "segmentation" / "strange\nname.png").write_bytes(b"")
    output = tmp_path / "output"
    output.mkdir()
    # Nothing of an earlier run is taken for the result of this one.
    for name in ("metrics.json", "chart-roc.json", "cases.json", "chart-of-mine.json"):
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


def test_fault_of_the_phase_is_the_organisers_and_tells_the_participant_no_label(phase, tmp_path):
    altered = Path(shutil.copytree(phase, tmp_path / "altered"))
    mask = altered / "masks" / "R0001.png"
    mask.write_bytes(mask.read_bytes()[:-1] + b"x")
    done = evaluate(altered, SUBMISSION, tmp_path)
    assert done.returncode == 1
    assert "masks/R0001.png: differs from the sealed file" in done.stdout
    (line,) = done.stderr.splitlines()
    assert "fault of the organisers" in line
    assert "R0001" not in line


def test_an_input_that_cannot_be_listed_is_no_fault_of_a_participant(phase, tmp_path):
    done = evaluate(phase, tmp_path / "nowhere", tmp_path)
    assert done.returncode == 1
    assert f"{tmp_path / 'nowhere'}: cannot be listed: No such file or directory\n" in done.stdout
    (line,) = done.stderr.splitlines()
    assert "fault of the organisers" in line


def test_unsealed_phase_is_refused(phase, tmp_path):
    unsealed = Path(shutil.copytree(phase, tmp_path / "unsealed"))
    (unsealed / "manifest.json").unlink()
    done = evaluate(unsealed, SUBMISSION, tmp_path)
    assert done.returncode == 1
    assert "seal the phase first" in done.stdout


@pytest.fixture(scope="module")
def overview() -> str:
    """Return the help without a command."""
    done = run("--help")
    assert done.returncode == 0
    return done.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example_that_runs_in_a_fresh_clone(name, overview, tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert name in overview
    if GONE and not COMMANDS[name].example:
        assert "example:" not in shown
        return  # it names a command of a leaf that was deleted
    example = [line.strip() for line in shown.partition("example:")[2].splitlines() if line]
    assert tuple(example) == COMMANDS[name].example
    assert example[-1].startswith((f"python -m evaluation {name}", f"./run.sh --{name}"))
    if "Docker" in example[-1]:
        return  # run by the tests of the container
    clone = fresh_clone(tmp_path)
    write_program(tmp_path / "python", WITHOUT_WORKERS)
    program = "\n".join(["set -e", f'python() {{ {tmp_path}/python "$@"; }}', *example])
    ran = subprocess.run(
        ["bash", "-c", program], cwd=clone, capture_output=True, text=True, timeout=120, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def fresh_clone(folder: Path) -> Path:
    """Return a copy of what the examples change, with links to what they only read."""
    clone = folder / "clone"
    ignored = shutil.ignore_patterns("manifest.json")
    shutil.copytree(REPOSITORY / "ground-truth", clone / "ground-truth", ignore=ignored)
    (clone / "test").mkdir()
    for name in ("evaluation", "test/input"):
        (clone / name).symlink_to(REPOSITORY / name)
    return clone


@pytest.mark.parametrize("name", ["evaluate", "check", "form"])
def test_without_its_packages_a_command_ends_in_a_sentence(name):
    more = ["--form", "form.json", "submission"] if name == "check" else []
    more = ["refuge-onsite"] if name == "form" else more
    command = [sys.executable, "-S", "-m", "evaluation", name, *more]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stdout + done.stderr
    assert "is not installed in" in done.stdout + done.stderr


def test_a_bare_name_is_a_phase_below_ground_truth(tmp_path):
    clone = fresh_clone(tmp_path)
    named = ("--ground-truth", "refuge-onsite")
    for arguments in (
        ["seal", "refuge-onsite"],
        ["audit", "refuge-onsite"],
        ["evaluate", "--workers", 0, *named, "--input", SUBMISSION, "--output", tmp_path],
    ):
        assert run(*arguments, cwd=clone).returncode == 0
    assert json.loads((tmp_path / "metrics.json").read_text())["phase"]["name"] == "refuge-onsite"


def test_three_runs_into_one_output_lose_nothing(phase, tmp_path):
    with ThreadPoolExecutor(3) as threads:
        runs = [threads.submit(evaluate, phase, SUBMISSION, tmp_path) for _ in range(3)]
    assert [run.result().returncode for run in runs] == [0, 0, 0]
    assert [path.name for path in tmp_path.iterdir()] == ["metrics.json"]
    assert json.loads((tmp_path / "metrics.json").read_text())["cases"]["scored"] == 40


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


def test_the_options_that_completion_reads_are_those_of_the_commands():
    written = OPTIONS.read_text(encoding="utf-8").splitlines(keepends=True)
    there = "".join(line for line in written if line.split()[0] in COMMANDS)
    assert there == lines(), "write them with: python -m test.cli.options"
    assert GONE or len(written) == len(COMMANDS)


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_bash_completes_commands_and_options(shell):
    program = (
        run("completion", shell).stdout.replace("autoload", ":").replace(" && compinit && bashcompinit", "")
    )
    for words, expected in (("evaluation reh", "rehearse"), ("evaluation cases --im", "--images")):
        ask = f"COMP_WORDS=({words}); COMP_CWORD={words.count(' ')}; _evaluation; echo ${{COMPREPLY[@]}}"
        done = subprocess.run(
            ["bash", "-c", f"{program}\n{ask}"], capture_output=True, text=True, timeout=20, check=True
        )
        assert done.stdout == f"{expected}\n"


def test_fish_completes_commands_and_options():
    lines = run("completion", "fish").stdout.splitlines()
    assert "complete -c evaluation -n '__fish_seen_subcommand_from cases' -l images" in lines
    assert len([line for line in lines if "__fish_use_subcommand" in line]) == len(COMMANDS)


def test_json_for_programs(phase, tmp_path):
    assert (
        evaluate(phase, SUBMISSION, tmp_path / "a", "--cases", tmp_path / "a" / "cases.json").returncode == 0
    )
    found = json.loads(run("summary", "--json", tmp_path / "a" / "metrics.json").stdout)
    assert found["figures"][0]["metric"] == "auc"
    assert all("interval" in figure for figure in found["figures"])
    assert found["cases"]["scored"] == 40
    assert len(json.loads(run("rank", tmp_path, "--json").stdout)["phases"]) == 1
    assert json.loads(run("describe", phase, "--json").stdout)["format"] == "description/1"
    assert run("form", phase, "--output", tmp_path / "form.json").returncode == 0
    (tmp_path / "empty").mkdir()
    for submission, passed in ((SUBMISSION, True), (tmp_path / "empty", False)):
        done = run("check", "--json", "--form", tmp_path / "form.json", submission, "--workers", 0)
        content = json.loads(done.stdout)
        assert (content["passed"], bool(content["faults"]), done.returncode) == (
            passed,
            not passed,
            1 - passed,
        )


def test_seal_lists_all_faults_and_writes_no_manifest(tmp_path):
    folder = Path(shutil.copytree(REPOSITORY / "ground-truth" / "refuge-onsite", tmp_path / "phase"))
    (folder / "manifest.json").unlink(missing_ok=True)
    (folder / "masks" / "R0003.png").unlink()
    (folder / "masks" / "R9999.png").write_bytes(b"")
    done = run("seal", folder)
    assert done.returncode == 1
    assert "masks/R0003.png: is missing" in done.stderr
    assert "masks/R9999.png: matches no case" in done.stderr
    assert not (folder / "manifest.json").exists()


def test_summary_shows_every_metric(phase, tmp_path):
    evaluate(phase, SUBMISSION, tmp_path)
    text = run("summary", tmp_path / "metrics.json").stdout
    metrics = json.loads((tmp_path / "metrics.json").read_text())["aggregates"]
    for task, figures in metrics.items():
        for name, estimate in figures.items():
            row = next(line for line in text.splitlines() if task in line and name.replace("_", " ") in line)
            assert f"{estimate['value']:.12g} " in row
            if interval := estimate.get("confidence_interval"):
                assert f"{interval['lower']:g} to {interval['upper']:g}" in row
            else:
                (number,) = re.findall(r"none \((\d+)\)", row)
                assert f"({number}) no interval: " in text


def test_a_subset_can_be_sealed_and_says_what_was_drawn(tmp_path):
    output = tmp_path / "a-tenth"
    done = run("subset", "refuge-onsite", "--share", "0.1", "--by", "glaucoma", "--output", output)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        f"{output}: 4 of 40 cases",
        "  glaucoma '0': 3 of 28",
        "  glaucoma '1': 1 of 12",
        "note: leaderboard.csv is left out",
    ]
    assert run("seal", output).returncode == 0
    assert 'name = "a-tenth"' in (output / "phase.toml").read_text()
    again = run("subset", "refuge-onsite", "--share", "0.1", "--output", output)
    assert (again.returncode, again.stdout) == (1, "")
    assert again.stderr.splitlines()[-1] == "nothing was written"


def _catches(process: int, number: int) -> bool:
    """Tell whether a process has a handler for a signal, as the kernel lists them."""
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    caught = int(status.partition("SigCgt:")[2].split()[0], 16)
    return bool(caught >> (number - 1) & 1)


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel lists the signals that a process catches")
@pytest.mark.timeout(60)
def test_sigterm_ends_the_run_within_a_second_without_a_result(phase, tmp_path):
    command = [sys.executable, "-m", "evaluation", "evaluate", "--input", str(SUBMISSION)]
    command += ["--ground-truth", str(phase), "--output", str(tmp_path)]
    process = subprocess.Popen(command, cwd=REPOSITORY, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    while not _catches(process.pid, signal.SIGTERM):
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    started = time.monotonic()
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 143
    assert time.monotonic() - started < 1.0
    assert errors == b""
    assert not (tmp_path / "metrics.json").exists()


@pytest.fixture(scope="module")
def form(phase, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("form") / "form.json"
    done = run("form", phase, "--output", path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return path


def test_check_finds_no_fault_in_a_folder_and_in_its_zip(form, tmp_path):
    shutil.make_archive(str(tmp_path / "submission"), "zip", SUBMISSION.parent, SUBMISSION.name)
    for submission in (SUBMISSION, tmp_path / "submission.zip"):
        done = run("check", "--form", form, submission, "--workers", 0)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == f"No faults: {submission} is a submission to refuge-onsite\n"


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
        ([SUBMISSION], "--form: expected the form.json of the phase, which its organisers give; found none"),
        (["--form", "no-such-form.json", SUBMISSION], "no-such-form.json: No such file or directory"),
        (["--form", "README.md", SUBMISSION], "README.md: expected JSON"),
    ],
)
def test_check_without_a_form(arguments, message):
    done = run("check", *arguments)
    assert done.returncode == 1
    assert message in done.stderr


def test_check_of_nothing(form):
    done = run("check", "--form", form, "no-such-submission.zip")
    assert (done.returncode, done.stdout) == (1, "")
    assert "no-such-submission.zip: no such file or folder" in done.stderr


def test_form_in_words_and_by_the_name_of_a_phase(phase):
    by_folder = run("form", phase, "--words")
    by_name = run("form", "refuge-onsite", "--words")
    assert by_folder.stdout == by_name.stdout
    assert by_name.stdout.startswith("# Format of a submission to refuge-onsite\n")


def test_form_of_an_unknown_phase():
    done = run("form", "refuge-onsit")
    assert done.returncode == 1
    assert "refuge-offline, refuge-onsite" in done.stderr


def test_settings_are_json_to_paste():
    settings = json.loads(run("settings", "refuge-onsite").stdout)
    assert settings["score_jsonpath"] == "aggregates.classification.auc.value"
    assert settings["score_default_sort"] == "desc"


def test_settings_list_what_the_public_sees(phase, tmp_path):
    listed = run("settings", phase, "--public").stdout.splitlines()
    assert "aggregates.segmentation.dice_cup.standard_deviation" in listed
    assert not [path for path in listed if path.startswith(("case.", "labels"))]


def test_rehearse_prints_every_metric():
    done = run("rehearse", "refuge-onsite")
    assert (done.returncode, done.stderr) == (0, "")
    assert "refuge-onsite: rehearsed on 40 of 40 cases" in done.stdout
    assert "segmentation.vertical_cup_to_disc_ratio_error" in done.stdout


def test_rehearse_fails_with_the_name_of_the_metric(tmp_path):
    (tmp_path / "cases.csv").write_text("name,decision\nA,1\nB,0\n")
    (tmp_path / "phase.toml").write_text(
        'challenge = "faulty"\nname = "faulty"\ntitle = "Faulty"\nsubmission = "archive"\n'
        '[options]\nfault = "direction"\n'
    )
    command = [sys.executable, "-m", "evaluation", "rehearse", str(tmp_path)]
    environment = {
        **os.environ,
        "EVALUATION_CHALLENGES": str(REPOSITORY / "test" / "organiser" / "challenges"),
    }
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=REPOSITORY, env=environment, check=False
    )
    assert done.returncode == 1
    assert "decisions.accuracy: the perfect submission gets 1, not the best value 0" in done.stderr


def contents(folder: Path) -> dict[Path, bytes]:
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_unpack_gives_what_the_container_finds(tmp_path):
    shutil.make_archive(str(tmp_path / "submission"), "zip", SUBMISSION.parent, SUBMISSION.name)
    for number, submission in enumerate((SUBMISSION, tmp_path / "submission.zip")):
        folder = tmp_path / str(number)
        assert run("unpack", submission, folder).returncode == 0
        unpacked = {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.*")}
        assert unpacked == {
            path.relative_to(SUBMISSION): path.read_bytes() for path in SUBMISSION.rglob("*.*")
        }


def test_unpack_refuses_another_file_and_a_folder_that_is_not_empty(tmp_path):
    done = run("unpack", "README.md", tmp_path / "new")
    assert done.returncode == 1
    assert done.stderr == ("README.md: expected a folder, a zip archive or a csv file, found another file\n")
    (tmp_path / "mine.tar.gz").write_bytes(b"\x1f\x8b")
    done = run("unpack", tmp_path / "mine.tar.gz", tmp_path / "new")
    assert done.stderr.endswith("(zip it: the platform unpacks zip archives alone)\n")
    (tmp_path / "a").touch()
    done = run("unpack", SUBMISSION, tmp_path)
    assert done.returncode == 1
    assert "is not empty" in done.stderr


@pytest.mark.parametrize("recorded", [{}, {"status": "many", "stdout": "", "stderr": ""}])
def test_audience_without_a_recorded_run(recorded, tmp_path):
    for name, text in recorded.items():
        (tmp_path / name).write_text(text)
    done = run("audience", tmp_path)
    assert done.returncode == 1
    assert "holds no recorded run" in done.stderr


def run_unread(*arguments: object) -> tuple[int, str]:
    """Run a command whose output nobody reads, as `… | true`; return its status and its stderr."""
    unread, stdout = os.pipe()
    os.close(unread)
    try:
        done = run(*arguments, output=stdout)
    finally:
        os.close(stdout)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("schema", "phase"),
        ("form", "refuge-onsite", "--words"),
        ("settings", "refuge-onsite", "--public"),
        ("audit", "refuge-onsite"),
    ],
    ids=" ".join,
)
def test_where_nobody_reads_the_output_a_command_ends_quietly(arguments):
    assert run_unread(*arguments) == (141, "")


@needs("samples")
def test_where_nobody_reads_the_output_the_files_are_written_all_the_same(tmp_path):
    folder = tmp_path / "refuge"
    sizes = ("--cases", 4, "--width", 96, "--height", 96, "--glaucoma", 0.5)
    assert run_unread("sample", "refuge", "--output", folder, *sizes) == (141, "")
    phase = folder / "ground-truth" / "refuge-sample"
    assert run_unread("seal", phase) == (141, "")
    assert (phase / "manifest.json").is_file()
    results = ("--ground-truth", phase, "--output", tmp_path / "results", "--workers", 0)
    # The platform decides by the status of `evaluate`, whoever reads what it says.
    assert run_unread("evaluate", "--each", folder / "submissions", *results) == (0, "")
    assert run_unread("rank", tmp_path / "results", "--output", tmp_path / "board") == (141, "")
    assert (tmp_path / "board" / "leaderboard.csv").is_file()
    assert (tmp_path / "board" / "comparisons.csv").is_file()
    assert run_unread("describe", phase, "--output", tmp_path / "data") == (141, "")
    assert (tmp_path / "data" / "description.tex").is_file()
