"""`evaluate --each` as a process: phases, shares, comparisons, and what stops it."""

import argparse
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from PIL import Image

from evaluation.cli.evaluate_command import shard
from evaluation.cli.main import main
from evaluation.core.fault import PhaseError
from evaluation.organiser.cli.evaluate_each import PhaseSubmissions, parts
from evaluation.phase.manifest import scan, seal
from test.faults import faulted
from test.organiser.rescoring.teams import CASES, many, results_in, write_teams
from test.phases import refuge_phase, replace_in
from test.repository import REPOSITORY
from test.rooms import needs
from test.started import run

linux = pytest.mark.skipif(sys.platform != "linux", reason="scores in processes")


def start(*arguments: object, **more: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "evaluation", "evaluate", *map(str, arguments)]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
    return subprocess.Popen(command, cwd=REPOSITORY, text=True, start_new_session=True, **streams)


def each(submissions: object, phase: object, output: Path, *more: object) -> subprocess.CompletedProcess[str]:
    """Score in the command's own process unless told otherwise, which gives the same results sooner."""
    if not {"--cluster", "--workers"} & set(more):
        more = (*more, "--workers", 0)
    return run("evaluate", "--each", submissions, "--ground-truth", phase, "--output", output, *more)


@pytest.fixture
def teams(tmp_path) -> tuple[Path, Path]:
    """Return a phase and submissions that a test may change."""
    return write_teams(tmp_path)


@dataclass(frozen=True)
class Scored:
    """A phase with three submissions, of which two are scored, and the results of one run from end to end."""

    phase: Path
    submissions: Path
    results: dict[str, bytes]


@pytest.fixture(scope="module")
def scored(tmp_path_factory) -> Scored:
    folder = tmp_path_factory.mktemp("scored")
    phase, submissions = write_teams(folder)
    assert each(submissions, phase, folder / "whole").returncode == 0
    return Scored(phase, submissions, results_in(folder / "whole"))


@pytest.fixture(scope="module")
def crowd(tmp_path_factory) -> Scored:
    """Eight submissions, of which seven are scored."""
    folder = tmp_path_factory.mktemp("crowd")
    phase, submissions = write_teams(folder)
    many(submissions, 5)
    assert each(submissions, phase, folder / "whole").returncode == 0
    return Scored(phase, submissions, results_in(folder / "whole"))


def test_folders_and_zips_are_scored_once_and_the_rest_is_named(teams, tmp_path):
    phase, submissions = teams
    (submissions / "notes.txt").write_text("")
    done = each(submissions, phase, tmp_path / "o")
    assert (done.returncode, done.stderr) == (0, "")
    first, *lines, counts = done.stdout.splitlines()
    assert first == f"Not scored, neither a folder nor a zip: {submissions}/notes.txt"
    assert sorted(line.split()[:2] for line in lines) == [
        ["bad", "Submission"],
        ["folder", "scored"],
        ["packed", "scored"],
    ]
    assert counts == "3 submissions: 2 scored, 0 kept, 1 rejected, 0 failed"
    again = each(submissions, phase, tmp_path / "o")
    assert again.returncode == 0
    assert "bad     kept: rejected as before" in again.stdout.splitlines()
    assert again.stdout.splitlines()[-1] == "3 submissions: 0 scored, 3 kept, 0 rejected, 0 failed"


def test_a_failure_is_named_and_gives_status_1(teams, tmp_path):
    phase, submissions = teams
    mask = min(phase.rglob("*.png"))
    mask.write_bytes(mask.read_bytes()[:-1] + b"x")
    done = each(submissions, phase, tmp_path / "o")
    assert (done.returncode, done.stderr) == (1, "")
    *_, one, other, counts = done.stdout.splitlines()
    reason = f"not scored: {mask.relative_to(phase)}: differs from the sealed file"
    assert [one, other] == [f"FAILED {team}: {reason}" for team in ("folder", "packed")]
    assert counts == "3 submissions: 0 scored, 0 kept, 1 rejected, 2 failed"


@linux
def test_slices_of_a_few_cases_give_the_results_of_whole_submissions(scored, tmp_path):
    slices = ("--cases-per-task", 2, "--workers", "2")
    done = each(scored.submissions, scored.phase, tmp_path / "sliced", *slices)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "3 submissions: 2 scored, 0 kept, 1 rejected, 0 failed"
    assert results_in(tmp_path / "sliced") == scored.results


def test_the_files_beside_the_metrics_are_those_that_evaluate_writes(scored, tmp_path):
    submissions = scored.submissions
    outputs = '[outputs]\n"pages/figures.pdf" = "pdf"\n"performance.json" = "metrics"\n'
    keys = {"charts": ["metrics", "roc"]}
    phase = refuge_phase(tmp_path / "charted", CASES, keys=keys, tables=outputs)
    assert each(submissions, phase, tmp_path / "o").returncode == 0
    places = ("--ground-truth", phase, "--output", tmp_path / "alone", "--workers", 0)
    assert run("evaluate", "--input", submissions / "folder", *places).returncode == 0
    written = results_in(tmp_path / "alone")
    charts = ["chart-metrics.json", "chart-roc.json"]
    assert sorted(written) == [*charts, "metrics.json", "pages/figures.pdf", "performance.json"]
    found = results_in(tmp_path / "o" / "folder")
    assert {name: found[name] for name in written} == written
    assert list(results_in(tmp_path / "o" / "bad")) == ["rejected.txt"]
    assert run("evaluate", "--input", submissions / "bad", *places).returncode == 1
    assert results_in(tmp_path / "alone") == {}


def test_several_phases_have_a_folder_each(scored, tmp_path):
    phase, submissions = scored.phase, scored.submissions
    other = refuge_phase(tmp_path / "other", CASES, keys={"name": "refuge-other"})
    given = (f"{phase}={submissions}", f"{other}={submissions}")
    done = run("evaluate", "--each", *given, "--output", tmp_path / "o", "--workers", 0)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "6 submissions: 4 scored, 0 kept, 2 rejected, 0 failed"
    assert results_in(tmp_path / "o" / "refuge-tiny") == scored.results
    metrics = json.loads((tmp_path / "o" / "refuge-other" / "folder" / "metrics.json").read_bytes())
    assert metrics["phase"]["name"] == "refuge-other"


def test_shares_together_write_what_one_run_writes(scored, tmp_path):
    phase, submissions = scored.phase, scored.submissions
    for share in ("1/2", "2/2"):
        assert each(submissions, phase, tmp_path / "shares", "--shard", share).returncode == 0
    assert results_in(tmp_path / "shares") == scored.results
    empty = each(submissions, phase, tmp_path / "shares", "--shard", "4/4")
    assert empty.returncode == 0
    assert "this share holds none of 3 submissions" in empty.stdout


def test_what_has_changed_since_is_told_and_a_file(teams, tmp_path):
    phase, submissions = teams
    assert each(submissions, phase, tmp_path / "before").returncode == 0
    replace_in(phase / "cases.csv", "V0001,16,12,1", "V0001,16,12,0")
    mask = next(path for path in sorted(phase.rglob("*.png")))
    Image.open(mask).save(mask, compress_level=0)  # the same pixels in other bytes
    seal(phase, scan(phase))
    done = each(submissions, phase, tmp_path / "now", "--since", tmp_path / "before")
    assert (done.returncode, done.stderr) == (0, "")
    head, *changed = done.stdout.splitlines()[4:]
    assert head == "refuge-tiny: 2 of 3 submissions have changed, 1 case moved"
    assert len([line for line in changed if "1 case moved" in line]) == 2
    (changes,) = json.loads((tmp_path / "now" / "changes.json").read_bytes())["phases"]
    assert changes["seal"]["before"] != changes["seal"]["now"]
    assert changes["references"] == [mask.relative_to(phase).as_posix()]
    moved = [submission["cases"] for submission in changes["submissions"] if submission["cases"]]
    assert [[case["case"] for case in cases["classification"]] for cases in moved] == [["V0001"], ["V0001"]]


@pytest.mark.parametrize(
    ("since", "found"),
    [
        ("results/../results/", "the same folder"),
        ("link", "the same folder"),
        ("results/folder", "one inside the other"),
        (".", "one inside the other"),
        ("none", "found none at"),
    ],
)
def test_earlier_results_that_the_run_would_overwrite_are_refused_first(teams, tmp_path, since, found):
    phase, submissions = teams
    output = tmp_path / "results"
    (tmp_path / "link").symlink_to(output)
    assert each(submissions, phase, output).returncode == 0
    before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in output.rglob("*.json")}
    replace_in(phase / "cases.csv", "V0001,16,12,1", "V0001,16,12,0")
    seal(phase, scan(phase))
    done = each(submissions, phase, output, "--since", tmp_path / since)
    assert done.returncode == 1
    assert "--since" in done.stdout
    assert found in done.stdout
    assert {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in output.rglob("*.json")} == before


@linux
@pytest.mark.parametrize(
    ("number", "status", "where"),
    [
        (signal.SIGINT, 130, ("--workers", "2")),
        pytest.param(
            signal.SIGINT,
            130,
            ("--cluster", "local", "--workers", "1"),
            marks=[needs("parallel"), pytest.mark.weekly],
        ),
        (signal.SIGKILL, -9, ("--workers", "2")),
    ],
    ids=["interrupt", "interrupt of a cluster", "kill"],
)
def test_a_signal_stops_the_run_without_a_traceback_and_the_next_goes_on(
    crowd, tmp_path, number, status, where
):
    phase, submissions = crowd.phase, crowd.submissions
    process = start("--each", submissions, "--ground-truth", phase, "--output", tmp_path / "o", *where)
    while not list((tmp_path / "o" / ".kept").glob("*.json")):
        time.sleep(0.02)
        assert process.poll() is None
    # A terminal sends SIGINT to the whole group, as `kill` does not.
    (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
    stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stderr) == (status, "")
    assert "Traceback" not in stdout
    assert number == signal.SIGKILL or re.match("Stopped: [0-9]+ are left; ", stdout.splitlines()[-1])
    published = list((tmp_path / "o" / ".kept").glob("*.json"))
    done = each(submissions, phase, tmp_path / "o")
    assert done.returncode == 0
    kept = re.search(r"([0-9]+) kept", done.stdout.splitlines()[-1])
    assert int(kept[1]) == len(published)
    assert results_in(tmp_path / "o") == crowd.results


@linux
def test_two_runs_into_one_folder_score_every_submission_once(crowd, tmp_path):
    phase, submissions = crowd.phase, crowd.submissions
    command = ("--each", submissions, "--ground-truth", phase, "--output", tmp_path / "o", "--workers", "1")
    runs = [start(*command) for _ in range(2)]
    scored = 0
    for process in runs:
        stdout, stderr = process.communicate(timeout=100)
        assert (process.returncode, stderr) == (0, "")
        scored += sum(map(int, re.findall(r"([0-9]+) (?:scored|rejected)", stdout.splitlines()[-1])))
    assert scored == 8
    assert results_in(tmp_path / "o") == crowd.results


@linux
def test_on_a_terminal_there_is_a_bar_and_a_line_for_each(scored, tmp_path):
    phase, submissions = scored.phase, scored.submissions
    master, slave = pty.openpty()
    process = start(
        *("--each", submissions, "--ground-truth", phase, "--output", tmp_path / "o", "--workers", "1"),
        stdout=slave,
        stderr=slave,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
    )
    os.close(slave)
    shown = b""
    while True:
        try:
            shown += os.read(master, 4096)
        except OSError:  # the terminal is gone with the process
            break
    os.close(master)
    assert process.wait(60) == 0
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())
    assert "folder  scored" in text
    assert "3/3" in text
    assert "/min" in text


@pytest.mark.parametrize(("count", "shards"), [(10, 3), (2, 5), (7, 1)])
def test_shares_hold_every_submission_once_and_differ_by_one_at_most(count, shards):
    shares = [range(count)[shard(f"{number}/{shards}")] for number in range(1, shards + 1)]
    assert sorted(one for share in shares for one in share) == list(range(count))
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "1/3/5"])
def test_other_shares_are_refused(text):
    with pytest.raises(argparse.ArgumentTypeError, match=f"found '{text}'"):
        shard(text)


def test_phases_and_folders_are_told_apart(tmp_path):
    (tmp_path / "a=b").mkdir()
    assert parts([str(tmp_path / "a=b")], None) == [PhaseSubmissions(None, str(tmp_path / "a=b"))]
    assert parts(["folder"], "phase") == [PhaseSubmissions(None, "folder")]
    assert parts(["s3://bucket/x?version=1"], None) == [PhaseSubmissions(None, "s3://bucket/x?version=1")]
    assert parts(["one=a", "s3://b/two=s3://b/c"], None) == [
        PhaseSubmissions("one", "a"),
        PhaseSubmissions("s3://b/two", "s3://b/c"),
    ]
    with faulted(PhaseError, "--each b"):
        parts(["one=a", "b"], None)
    with faulted(PhaseError, "--ground-truth"):
        parts(["one=a"], "two")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--shard", "1/2"), "--shard: "),
        (("--cases-per-task", "2"), "--cases-per-task: "),
        (("--each", "one=a", "b"), "--each b: "),
    ],
)
def test_what_cannot_be_done_is_named(tmp_path, arguments, told, capfd):
    assert main(["evaluate", *arguments, "--output", str(tmp_path)]) == 1
    assert capfd.readouterr().out.startswith(told)


def test_addresses_of_this_machine_are_paths(scored, tmp_path):
    done = each(f"file://{scored.submissions}", f"file://{scored.phase}", tmp_path / "addresses")
    assert (done.returncode, done.stderr) == (0, "")
    assert results_in(tmp_path / "addresses") == scored.results


def test_an_address_elsewhere_needs_a_cluster(scored, tmp_path):
    program = (
        "import fsspec, sys\nfrom evaluation.cli.main import main\n"
        "fsspec.filesystem('memory').pipe('/teams/one/x.csv', b'')\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    arguments = ("evaluate", "--each", "memory://teams", "--ground-truth", scored.phase, "--output", tmp_path)
    command = [sys.executable, "-c", program, *map(str, arguments)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "memory:///teams/one: expected --cluster for an address" in done.stdout


def test_the_same_phase_twice_is_refused(scored, tmp_path):
    phase, submissions = scored.phase, scored.submissions
    copy = shutil.copytree(phase, tmp_path / "copy")
    twice = (f"{phase}={submissions}", f"{copy}={submissions}")
    done = run("evaluate", "--each", *twice, "--output", tmp_path / "o")
    assert done.returncode == 1
    assert "--each: expected every phase once, found refuge-tiny several times" in done.stdout
