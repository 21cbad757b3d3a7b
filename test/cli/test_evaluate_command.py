"""`evaluate` as a process under signals, deadlines, noise and misbehaving cases: status, streams, files."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evaluation.phase.manifest import scan, seal
from test.repository import REPOSITORY
from test.workers.sessions import session
from test.workers.unruly_phase import CHALLENGES, write_unruly

REFUGE = REPOSITORY / "test" / "input" / "refuge-onsite"

pytestmark = pytest.mark.timeout(120)


def command(phase: Path, submission: Path, output: Path) -> list[str]:
    paths = ["--input", submission, "--ground-truth", phase, "--output", output]
    return [sys.executable, "-m", "evaluation", "evaluate", *map(str, paths), "--workers", "2"]


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "EVALUATION_CHALLENGES": str(CHALLENGES), "PYTHONPATH": str(REPOSITORY), **more}


def evaluate(phase: Path, submission: Path, output: Path, **more: str) -> subprocess.CompletedProcess[bytes]:
    words = [*command(phase, submission, output), "--cases", str(output / "cases.json")]
    return subprocess.run(words, capture_output=True, cwd=REPOSITORY, env=environment(**more), check=False)


def start(phase: Path, submission: Path, output: Path, **more: str) -> subprocess.Popen[bytes]:
    """Start the command in a session of its own."""
    return subprocess.Popen(
        command(phase, submission, output),
        cwd=REPOSITORY,
        env=environment(**more),
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.fixture(scope="module")
def refuge(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("refuge") / "phase"
    shutil.copytree(REPOSITORY / "ground-truth" / "refuge-onsite", folder)
    seal(folder, scan(folder))
    return folder


@pytest.mark.parametrize("whom", ["the process", "its group"])
def test_sigterm_in_the_middle_of_a_run(whom, tmp_path):
    phase, submission = write_unruly(
        tmp_path, {5: "score:hang_with_lock", 6: "score:hang"}, keys="[limits]\ncase_seconds = 1000\n"
    )
    output = tmp_path / "output"
    process = start(phase, submission, output)
    while len(session(process.pid)) < 4:  # itself, the server and two workers
        assert process.poll() is None
        time.sleep(0.1)
    time.sleep(0.5)
    started = time.monotonic()
    if whom == "its group":
        os.killpg(process.pid, signal.SIGTERM)
    else:
        process.send_signal(signal.SIGTERM)
    status = process.wait(timeout=30)
    took = time.monotonic() - started
    stdout, stderr = process.communicate(timeout=30)  # ends only when no process holds the streams
    assert (status, stderr) == (143, b"")
    assert took < 1.0
    assert not (output / "metrics.json").exists()
    stdout.decode("utf-8")
    while session(process.pid):  # ends by the test's time limit if one stays
        time.sleep(0.05)


@pytest.mark.parametrize("delay", [0.1, 0.3])
def test_sigterm_to_the_group_at_any_moment_leaves_no_word_and_no_half_a_result(refuge, delay, tmp_path):
    process = start(refuge, REFUGE, tmp_path / "output", PYTHONWARNINGS="always")
    time.sleep(delay)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    _, stderr = process.communicate(timeout=60)
    # Before our handler is there, the signal itself ends Python; a shell shows both as 143.
    assert process.returncode in (143, -signal.SIGTERM, 0)
    assert stderr == b""
    # A signal after the last byte was written takes nothing back; the platform discards it by the status.
    if (tmp_path / "output" / "metrics.json").exists():
        json.loads((tmp_path / "output" / "metrics.json").read_text())
    else:
        assert process.returncode != 0


@pytest.mark.parametrize("submission", ["valid", "faulty"])
def test_a_reference_that_differs_from_the_seal_is_told_before_anything_of_a_submission(
    refuge, submission, tmp_path
):
    phase = Path(shutil.copytree(refuge, tmp_path / "phase"))
    (phase / "masks" / "left.txt").write_text("after sealing")
    given = REFUGE if submission == "valid" else tmp_path
    done = evaluate(phase, given, tmp_path / "output")
    assert done.returncode == 1
    assert b"masks/left.txt: is not in the manifest" in done.stdout
    assert done.stderr == (
        b"The evaluation stopped because of a fault of the organisers' or of the platform, "
        b"not of your submission.\n"
    )
    assert not (tmp_path / "output" / "metrics.json").exists()


@pytest.mark.parametrize("on_deadline", ["", 'on_deadline = "worst"\n'])
def test_deadline_writes_nothing_unless_the_phase_fills_up_with_worst_values(on_deadline, tmp_path):
    keys = f"{on_deadline}[limits]\nbudget_seconds = 5\ncase_seconds = 1000\n"
    phase, submission = write_unruly(tmp_path, {5: "score:hang"}, keys=keys)
    done = evaluate(phase, submission, tmp_path / "output")
    assert b"case005" in done.stdout
    if on_deadline:
        assert (done.returncode, done.stderr) == (0, b"")
        assert b"case005: failed, out of time" in done.stdout
        metrics = json.loads((tmp_path / "output" / "metrics.json").read_text())
        assert metrics["cases"]["worst"] >= 1
        return
    assert done.returncode == 1
    assert done.stderr.startswith(b"The evaluation ran out of time.")
    assert done.stderr.count(b"\n") == 1
    assert b"The budget of 5 s was used up" in done.stdout
    assert not (tmp_path / "output").exists()


def test_culprits_and_undefined_figures_are_named_to_the_organiser_alone_and_noise_reaches_no_stream(
    tmp_path,
):
    behaviours = {2: "score:kill", 4: "score:hang", 6: "score:memory_in_steps", 8: "score:sys_exit"}
    behaviours |= {1: "read:noise", 3: "score:noise", 5: "score:undefined"}
    keys = "[limits]\ncase_seconds = 3\nworker_memory_mb = 512\n"
    phase, submission = write_unruly(tmp_path, behaviours, keys=keys)
    done = evaluate(phase, submission, tmp_path / "output")
    assert (done.returncode, done.stderr) == (0, b"")
    undefined, *failed = sorted(done.stdout.decode().splitlines()[:-1], key=lambda line: "failed" in line)
    assert "case005: task.value: undefined" in undefined
    assert failed == [
        "case002: failed, killed by SIGKILL, probably for the machine's memory",
        "case004: failed, out of time",
        "case006: failed, out of memory",
        "case008: failed, stopped by SystemExit",
    ]
    metrics = json.loads((tmp_path / "output" / "metrics.json").read_text())
    assert metrics["cases"] == {"expected": 12, "scored": 8, "worst": 4}
    assert metrics["aggregates"]["task"]["value"]["value"] == 0.5833  # 7 / 12
    assert "undefined" not in json.dumps(metrics)
    records = json.loads((tmp_path / "output" / "cases.json").read_text())["cases"]
    cases = {case["name"]: case for case in records}
    assert cases["case005"]["tasks"]["task"]["value"] == 0
    assert [name for name, case in cases.items() if case.get("undefined")] == ["case005"]


def test_exception_while_scoring_is_told_to_the_organiser_alone(tmp_path):
    phase, submission = write_unruly(tmp_path, dict.fromkeys(range(100), "score:exception"), cases=100)
    done = evaluate(phase, submission, tmp_path / "output")
    assert done.returncode == 1
    assert b"fault of the organisers" in done.stderr
    assert b"case000" not in done.stderr
    lines = done.stdout.decode().splitlines()
    assert "case case000: Traceback" in "\n".join(lines)
    assert len(lines) <= 500
    assert done.stderr.count(b"\n") == 1


LATE = """
import atexit, os, sys, threading, warnings
def late():
    warnings.warn("late warning", ResourceWarning)
    sys.stderr.write("late text\\n")
    sys.stderr.flush()
    os.write(2, b"late bytes\\n")
class Late:
    def __del__(self):
        raise RuntimeError("late exception")
keep = [Late()]
if sys.argv[:1] != ["-c"]:
    atexit.register(late)
"""


@pytest.mark.parametrize("good", [True, False])
def test_nothing_is_written_to_stderr_after_our_line(good, refuge, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(LATE)
    submission = REFUGE if good else tmp_path
    done = evaluate(
        refuge,
        submission,
        tmp_path / "output",
        PYTHONPATH=f"{tmp_path}:{REPOSITORY}",
        PYTHONWARNINGS="always",
    )
    assert b"late bytes" in done.stdout
    lines = done.stderr.decode().splitlines()
    assert (done.returncode, len(lines)) == ((0, 0) if good else (1, 1))
    assert good or lines[0].startswith("Submission rejected")


def test_log_that_nobody_reads_does_not_cost_the_result(refuge, tmp_path):
    reader, writer = os.pipe()
    os.close(reader)
    words = command(refuge, REFUGE, tmp_path)
    done = subprocess.run(words, cwd=REPOSITORY, env=environment(), stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "metrics.json").exists()
