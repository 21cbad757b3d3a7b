"""Faults of the machine, of cases and of files in the container: what participant, public and organiser see.

The participant sees the last line of stderr, the public metrics.json, the organiser stdout.
"""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest

from evaluation.cli.common import MACHINE
from evaluation.workers.confinement import missing_confinement
from test.workers.test_confinement import write_captive
from test.workers.unruly_phase import CHALLENGES, write_unruly

from .engine import HARDENED, Run, docker, evaluate, submission_of

pytestmark = [pytest.mark.container, pytest.mark.timeout(300)]

ORGANISERS = (
    "The evaluation stopped because of a fault of the organisers' or of the platform, not of your submission."
)
LITTLE_MEMORY = (
    *(option for option in HARDENED if not option.startswith("--memory")),
    "--memory=600m",
    "--memory-swap=600m",
)
WITHOUT_TMP = tuple(option for option in HARDENED if not option.startswith("--tmpfs"))
UNRULY = ("evaluate", "--ground-truth", "/unruly")


def unruly(folder: Path, behaviours: dict[int, str], keys: str = "") -> tuple[Path, tuple[str, ...]]:
    """Return a submission whose cases misbehave, and the options under which its phase is there."""
    folder.chmod(0o755)
    phase, submission = write_unruly(folder, behaviours, keys=keys)
    return submission, (
        f"--mount=type=bind,source={phase},target=/unruly,readonly",
        f"--mount=type=bind,source={CHALLENGES},target=/challenges,readonly",
        "--env=EVALUATION_CHALLENGES=/challenges",
    )


def failed_cases(run: Run, count: int) -> list[str]:
    """Return what the organiser alone is told of cases that took the worst value, 0."""
    assert (run.status, run.stderr) == (0, "")
    metrics = json.loads(run.metrics)
    assert metrics["cases"] == {"expected": 12, "scored": 12 - count, "worst": count}
    assert metrics["aggregates"]["task"]["value"]["value"] == round((12 - count) / 12, 4)
    assert "case0" not in run.metrics.decode()
    return sorted(run.stdout.splitlines()[:-1])


def test_cases_that_end_their_workers(image, tmp_path):
    """By a crash, and for the memory of the machine and time that they take."""
    behaviours = {3: "score:memory_in_steps", 5: "score:segmentation_fault", 7: "score:hang_with_lock"}
    limits = "[limits]\nworker_memory_mb = 4000\ncase_seconds = 2\n"
    submission, options = unruly(tmp_path, behaviours, limits)
    run = evaluate(image, submission, *LITTLE_MEMORY, *options, arguments=UNRULY)
    assert failed_cases(run, 3) == [
        "case003: failed, killed by SIGKILL, probably for the machine's memory",
        "case005: failed, crashed with SIGSEGV",
        "case007: failed, out of time",
    ]


def test_file_for_which_the_machine_is_too_small(image, tmp_path):
    limits = "[limits]\nworker_memory_mb = 4000\n"
    submission, options = unruly(tmp_path, {3: "read:memory_in_steps"}, limits)
    run = evaluate(image, submission, *LITTLE_MEMORY, *options, arguments=UNRULY)
    assert_organisers_fault(run, "cannot read behaviour.csv: the machine is short of memory", MACHINE)


def assert_organisers_fault(run: Run, told: str, status: int = 1) -> None:
    assert (run.status, run.metrics) == (status, None)
    assert run.stderr.splitlines() == [ORGANISERS]
    assert told in run.stdout


@pytest.mark.parametrize(
    ("mount", "why"),
    [
        ((), "Read-only file system"),
        # As root made it.
        (("--mount=type=volume,target=/output,volume-nocopy",), "Permission denied"),
    ],
)
def test_output_that_cannot_be_written(mount, why, image, tmp_path):
    submission = submission_of("refuge-onsite", tmp_path)
    run = evaluate(image, submission, *HARDENED, *mount, own_output=True)
    assert_organisers_fault(
        run,
        f"/output: cannot be written: {why}. Choose an output folder that user 1000 may write; in a "
        "container, mount one at /output: a new named volume, or a folder with mode 0777\n",
    )


@pytest.mark.parametrize("more", [(), ("--ipc=none",)], ids=["no /tmp", "no place at all"])
def test_missing_places_for_temporary_files_cost_nothing(more, image, undisturbed, tmp_path):
    submission = submission_of("refuge-onsite", tmp_path)
    run = evaluate(image, submission, *WITHOUT_TMP, *more)
    assert (run.status, run.stderr) == (0, "")
    assert run.metrics == undisturbed


def test_readers_are_confined_as_far_as_this_kernel_goes(image):
    code = "from evaluation.workers.confinement import missing_confinement; print(missing_confinement())"
    done = docker("run", "--rm", *HARDENED, "--entrypoint=python", image, "-c", code)
    assert done.stdout.strip() == str(missing_confinement())


def test_a_reader_that_was_taken_over_cannot_leave(image, tmp_path):
    tmp_path.chmod(0o755)
    phase, submission = write_captive(tmp_path)
    mounted = f"--mount=type=bind,source={phase},target=/captive,readonly"
    run = evaluate(
        image, submission, *HARDENED, mounted, arguments=("evaluate", "--ground-truth", "/captive")
    )
    told = re.findall("expected (done|refused|ended), found (.+)", run.stdout)
    assert {expected for expected, _ in told} == {"done", "refused", "ended"}
    assert [pair for pair in told if pair[0] != pair[1]] == []
    assert run.message.startswith("Submission rejected")


@pytest.mark.parametrize("options", [(), ("--init",)], ids=["as process 1", "below an init"])
def test_sigterm_in_the_middle(options, image, tmp_path):
    submission, more = unruly(tmp_path, {3: "score:hang_with_lock"}, "[limits]\ncase_seconds = 1000\n")
    output = tmp_path / "output"
    output.mkdir()
    output.chmod(0o777)
    mounts = (
        f"--mount=type=bind,source={submission},target=/input,readonly",
        f"--mount=type=bind,source={output},target=/output",
    )
    container = docker("run", "--detach", *HARDENED, *options, *more, *mounts, image, *UNRULY).stdout.strip()
    try:
        while docker("top", container).stdout.count("\n") < 5 + bool(options):
            time.sleep(0.2)
        time.sleep(1)
        started = time.monotonic()
        docker("kill", "--signal=TERM", container)
        status = docker("wait", container).stdout.strip()
        took = time.monotonic() - started
        logs = docker("logs", container)
    finally:
        docker("rm", "--force", container)
    assert (status, logs.stderr) == ("143", "")
    assert took < 4  # the engine's own commands included; the platform would kill after five
    assert list(output.iterdir()) == []


def test_what_may_not_be_read(image, tmp_path):
    submission = submission_of("refuge-onsite", tmp_path)
    for path in ("segmentation", "classification_results.csv"):
        (submission / path).chmod(0)
    run = evaluate(image, submission, *HARDENED)
    assert (run.status, run.metrics) == (1, None)
    assert run.message.startswith("Submission rejected")
    assert "found a file that may not be read" in run.stdout
    assert "found one that cannot be listed" in run.stdout
