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

from evaluation.cli.evaluate_command import shard
from evaluation.cli.main import main
from evaluation.core.fault import PhaseError
from evaluation.organiser.cli.evaluate_each import parts
from test.faults import faulted
from test.organiser.rescoring.teams import CASES, many, results_in, write_teams
from test.phases import refuge_phase
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


def test_what_was_scored_kept_rejected_or_failed_is_named_and_counted(tmp_path):
    phase, submissions = write_teams(tmp_path)
    (submissions / "notes.txt").write_text("")
    done = each(submissions, phase, tmp_path / "o")
    assert (done.returncode, done.stderr) == (0, "")
    first, *lines, counts = done.stdout.splitlines()
    assert first == f"Not scored, neither a folder nor a zip: {submissions}/notes.txt"
    told = [["bad", "Submission"], ["folder", "scored"], ["packed", "scored"]]
    assert sorted(line.split()[:2] for line in lines) == told
    assert counts == "3 submissions: 2 scored, 0 kept, 1 rejected, 0 failed"
    again = each(submissions, phase, tmp_path / "o")
    assert again.returncode == 0
    assert "bad     kept: rejected as before" in again.stdout.splitlines()
    assert again.stdout.splitlines()[-1] == "3 submissions: 0 scored, 3 kept, 0 rejected, 0 failed"
    mask = min(phase.rglob("*.png"))
    mask.write_bytes(mask.read_bytes()[:-1] + b"x")
    done = each(submissions, phase, tmp_path / "new")
    assert (done.returncode, done.stderr) == (1, "")
    *_, one, other, counts = done.stdout.splitlines()
    reason = f"not scored: {mask.relative_to(phase)}: differs from the sealed file"
    assert [one, other] == [f"FAILED {team}: {reason}" for team in ("folder", "packed")]
    assert counts == "3 submissions: 0 scored, 0 kept, 1 rejected, 2 failed"


def test_the_files_beside_the_metrics_are_those_that_evaluate_writes(scored, tmp_path):
    submissions = scored.submissions
    outputs = '[outputs]\n"pages/figures.pdf" = "pdf"\n"performance.json" = "metrics"\n'
    outputs += '"chart-metrics.json" = "chart-metrics"\n"chart-roc.json" = "chart-roc"\n'
    phase = refuge_phase(tmp_path / "charted", CASES, tables=outputs)
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


def test_shares_together_write_what_one_run_writes(scored, tmp_path):
    given = (scored.submissions, scored.phase, tmp_path / "shares")
    for share in ("1/2", "2/2"):
        done = each(*given, "--shard", share)
        assert (done.returncode, done.stderr) == (0, "")
    assert results_in(tmp_path / "shares") == scored.results
    empty = each(*given, "--shard", "4/4")
    assert empty.returncode == 0
    assert "this share holds none of 3 submissions" in empty.stdout


@pytest.mark.parametrize(
    ("since", "found"),
    [
        ("link", "the same folder"),
        ("whole/folder", "one inside the other"),
        (".", "one inside the other"),
        ("none", "found none at"),
    ],
)
def test_earlier_results_that_the_run_would_overwrite_are_refused_first(scored, since, found):
    output = scored.phase.parent / "whole"
    if since == "link":
        (output.parent / "link").symlink_to(output)
    done = each(scored.submissions, scored.phase, output, "--since", output.parent / since)
    assert done.returncode == 1
    assert "--since" in done.stdout
    assert found in done.stdout
    assert results_in(output) == scored.results


@linux
@pytest.mark.parametrize(
    ("number", "status", "where"),
    [
        (signal.SIGINT, 130, ("--workers", "2")),
        pytest.param(signal.SIGINT, 130, ("--cluster", "local", "--workers", "1"), marks=needs("parallel")),
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
def test_on_a_terminal_there_is_a_bar_and_a_line_for_each(scored, tmp_path):
    phase, submissions = scored.phase, scored.submissions
    master, slave = pty.openpty()
    process = start(
        *("--each", submissions, "--ground-truth", phase, "--output", tmp_path / "o"),
        *("--workers", "1"),
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
    assert results_in(tmp_path / "o") == scored.results


def test_shares_hold_every_submission_once_and_differ_by_one_at_most():
    for count, shards in ((10, 3), (2, 5), (7, 1)):
        shares = [range(count)[shard(f"{number}/{shards}")] for number in range(1, shards + 1)]
        assert sorted(one for share in shares for one in share) == list(range(count))
        assert max(map(len, shares)) - min(map(len, shares)) <= 1
    for text in ("0/3", "4/3", "1", "1/3/5"):
        with pytest.raises(argparse.ArgumentTypeError, match=f"found '{text}'"):
            shard(text)


def test_phases_and_folders_are_told_apart(tmp_path):
    (tmp_path / "a=b").mkdir()
    assert parts([str(tmp_path / "a=b")], None) == [(None, str(tmp_path / "a=b"))]
    assert parts(["folder"], "phase") == [(None, "folder")]
    assert parts(["s3://bucket/x?version=1"], None) == [(None, "s3://bucket/x?version=1")]
    assert parts(["one=a", "s3://b/two=s3://b/c"], None) == [
        ("one", "a"),
        ("s3://b/two", "s3://b/c"),
    ]
    with faulted(PhaseError, "--each b"):
        parts(["one=a", "b"], None)
    with faulted(PhaseError, "--ground-truth"):
        parts(["one=a"], "two")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--shard", "1/2"), "--shard: "),
        (("--each", "one=a", "b"), "--each b: "),
    ],
)
def test_what_cannot_be_done_is_named(tmp_path, arguments, told, capfd):
    assert main(["evaluate", *arguments, "--output", str(tmp_path)]) == 1
    assert capfd.readouterr().out.startswith(told)


def test_an_address_elsewhere_needs_a_cluster(scored, tmp_path, capfd):
    fsspec = pytest.importorskip("fsspec")
    fsspec.filesystem("memory").pipe("/teams/one/x.csv", b"")
    given = ["--each", "memory://teams", "--ground-truth", str(scored.phase), "--output", str(tmp_path)]
    assert main(["evaluate", *given]) == 1
    assert "memory:///teams/one: expected --cluster for an address" in capfd.readouterr().out


def test_several_phases_have_a_folder_each_and_none_is_given_twice(scored, tmp_path):
    phase, submissions = scored.phase, scored.submissions
    other = refuge_phase(tmp_path / "other", CASES, keys={"name": "refuge-other"})
    given = (f"{phase}={submissions}", f"{other}={submissions}")
    done = run("evaluate", "--each", *given, "--output", tmp_path / "o", "--workers", 0)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "6 submissions: 4 scored, 0 kept, 2 rejected, 0 failed"
    assert results_in(tmp_path / "o" / "refuge-tiny") == scored.results
    metrics = json.loads((tmp_path / "o" / "refuge-other" / "folder" / "metrics.json").read_bytes())
    assert metrics["phase"]["name"] == "refuge-other"
    copy = shutil.copytree(phase, tmp_path / "copy")
    done = run("evaluate", "--each", given[0], f"{copy}={submissions}", "--output", tmp_path / "twice")
    assert done.returncode == 1
    assert "--each: expected every phase once, found refuge-tiny several times" in done.stdout
