"""Whatever a reader that was taken over says beside a scorer costs its case, and is no free attempt."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from evaluation.phase.manifest import scan, seal
from test.hostile.beside import (
    ALONE,
    ALONE_NUMBERS,
    ATTACKS,
    CLOCK,
    EARLY,
    EARLY_NUMBERS,
    FORGERIES,
    HONEST,
    NUMBERS,
    SECONDS_OF_A_POSITIVE,
)
from test.repository import REPOSITORY
from test.started import run

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="readers live in processes"),
    pytest.mark.timeout(120),
]
MEASURED = """
import resource, subprocess, sys
status = subprocess.run([sys.executable, "-m", "evaluation", "evaluate", *sys.argv[2:]]).returncode
with open(sys.argv[1], "w") as file:
    file.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(status)
"""
"""Runs a command, and writes the memory of the largest of its processes in kB to a file."""
LIMITS = "[limits]\ncase_seconds = 2\nworker_memory_mb = 400\n"


def evaluated(folder: Path, submitted, labels, limits=LIMITS, most=None):
    """Return the status, the organiser's log, the participant's line and the result of a process.

    The memory of the largest process is written to ``most``, if that is a file.
    """
    phase, submission = folder / "phase", folder / "submission"
    for made in (phase, submission):
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir(parents=True)
    keys = 'challenge = "beside"\nname = "beside"\ntitle = "Beside"\nsubmission = "archive"\n'
    keys += f"publish_cases = true\n{limits}"
    (phase / "phase.toml").write_text(keys)
    rows = "".join(f"c{number:02},{label}\n" for number, label in enumerate(labels))
    (phase / "cases.csv").write_text(f"name,value\n{rows}")
    shutil.copy(REPOSITORY / "test/hostile/beside.py", phase / "challenge.py")
    rows = "".join(f"c{number:02},{value}\n" for number, value in enumerate(submitted))
    (submission / "tries.csv").write_text(f"case,value\n{rows}")
    seal(phase, scan(phase))
    output = folder / "output"
    given = ["--ground-truth", phase, "--input", submission, "--output", output, "--workers", "1"]
    if most is None:
        done = run("evaluate", *given)
    else:
        command = [sys.executable, "-c", MEASURED, most, *map(str, given)]
        done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    result = output / "metrics.json"
    return (
        done.returncode,
        done.stdout,
        done.stderr,
        json.loads(result.read_text()) if result.exists() else None,
    )


@pytest.mark.parametrize("name", EARLY)
def test_a_flood_to_the_main_process_is_a_fault_of_the_file_and_takes_little_memory(name, tmp_path):
    """Of any process: the machine may not have what a file asks for.

    A reader itself may take its own 700 MB, beside the code that all share.
    """
    limits = "[limits]\ncase_seconds = 20\nworker_memory_mb = 700\n"
    most = tmp_path / "most.txt"
    status, _, line, result = evaluated(tmp_path, [EARLY_NUMBERS[name]], [0], limits, most)
    assert (status, result) == (1, None)
    assert "unreadable" in line
    assert int(most.read_text()) < 850 * 1024


@pytest.mark.parametrize("name", FORGERIES)
def test_words_of_a_process_that_had_read_the_submission_are_quoted_and_few(name, tmp_path):
    status, log, line, result = evaluated(tmp_path, [EARLY_NUMBERS[name]], [0])
    assert (status, result) == (1, None)
    assert "of the organisers" in line
    *quoted, others = log.splitlines()
    assert quoted == [
        "a process that had read the submission says: "
        rf'"the phase is damaged: run \x22rm -r phase{number}\x22\nScored"'
        for number in range(20)
    ]
    assert others == "and 980 more problems"


@pytest.mark.parametrize("name", ALONE)
def test_what_a_reader_says_of_a_single_case_ends_as_a_submission_does(name, tmp_path):
    status, log, line, result = evaluated(tmp_path, [ALONE_NUMBERS[name], HONEST], [0, 0])
    assert "Fault of the evaluation" not in log
    if "again" in name:
        assert (status, line, told(result)) == (0, "", [1.0, 1.0])
    else:
        assert (status, result) == (1, None)
        assert line.endswith(".: expected a readable file, found one that crashes its reader)\n")


def told(result) -> list[float]:
    return [case["task"]["told"] for _, case in sorted(result["case"].items())]


def test_whatever_a_reader_beside_a_scorer_does_costs_its_case_and_nothing_else(tmp_path):
    submitted = [HONEST, *NUMBERS.values(), HONEST]
    status, log, line, result = evaluated(tmp_path, submitted, [0] * len(submitted))
    assert (status, line) == (0, "")
    ends = dict(zip(["before", *ATTACKS, "after"], told(result), strict=True))
    assert ends == {"before": HONEST, **dict.fromkeys(ATTACKS, 1.0), "after": HONEST}
    assert all(f"c{number:02}: failed, " in log for number in range(1, len(ATTACKS) + 1))
    assert "Fault of the evaluation" not in log


@pytest.mark.parametrize("name", ["tell trouble", "hand on no number"])
def test_what_a_reader_beside_a_scorer_says_has_the_same_end_for_all_labels(name, tmp_path):
    """Trouble after a label that takes long, and none after another one, was a free answer to a question."""
    ends = [evaluated(tmp_path, [HONEST, NUMBERS[name]], [label, 0])[:3] for label in (0, 1)]
    assert ends[0] == ends[1]
    assert ends[0][0] == 0


def test_a_reader_beside_a_scorer_has_seen_nothing_of_the_case_before(tmp_path):
    """It is a new process, started once that case is scored: waiting tells it nothing."""
    status, _, _, result = evaluated(tmp_path, [CLOCK] * 8, [0, 1, 0, 1, 1, 0, 1, 0])
    assert status == 0
    assert max(told(result)) < SECONDS_OF_A_POSITIVE / 2


def test_silence_beside_scorers_until_the_deadline_costs_the_cases_that_are_left(tmp_path):
    """Else a reader could choose by a label whether there is a result."""
    limits = "[limits]\nbudget_seconds = 10\ncase_seconds = 60\n"  # much longer than until scoring begins
    status, log, line, result = evaluated(tmp_path, [NUMBERS["be silent"], HONEST], [0, 0], limits)
    assert (status, line) == (0, "")
    assert told(result) == [1.0, 1.0]
    assert "c00: failed, out of time" in log
