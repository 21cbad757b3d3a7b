"""Submissions of every bundled phase, spoilt at random: rejected with faults, or scored within bounds."""

import json
import math
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path
from random import Random

import pytest

from evaluation.evaluate import Rejection, Result, evaluate
from evaluation.phase.manifest import scan, seal
from evaluation.phase.phase import Phase, load_phase
from evaluation.platform.messages import organiser_report, participant_line
from evaluation.platform.result_file import render
from test.repository import PHASES, REPOSITORY

EXAMPLES = int(os.environ.get("EVALUATION_FUZZ_EXAMPLES", "100"))

# What stands in cells and JSON values, good, odd and bad.
TOKENS = [
    *b'0 1 -1 0.5 1e999 nan NaN null true [] {} " \\ , ; %s ../'.split(b" "),
    *(b"", b"\0", b"\xff", b"\t", b"\r\n", b"\n\n", b"\xef\xbb\xbf", b"\xe2\x80\xae", b"1" * 400),
]
CHANGES = ("delete", "truncate", "overwrite", "insert", "cut", "copy", "rename", "swap")


def spoil(folder: Path, kind: str, random: Random) -> None:
    """Change a file; half of the changes go to tables and JSON, of which there are few."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if not files:
        return
    texts = [path for path in files if path.suffix in (".csv", ".json", ".txt")]
    path = random.choice(texts if texts and random.randrange(2) else files)
    data = path.read_bytes()
    place, token = random.randrange(len(data) + 1), random.choice([*TOKENS, random.randbytes(12)])
    if kind == "delete":
        path.unlink()
    elif kind == "copy":
        path.with_name(f"{path.stem}_{random.randrange(3)}{path.suffix}").write_bytes(data)
    elif kind == "rename":
        path.rename(path.with_name(random.choice([path.name.swapcase(), f"x{path.name}"])))
    elif kind == "swap":
        other = random.choice(files)
        path.write_bytes(other.read_bytes())
        other.write_bytes(data)
    else:
        changed = {
            "truncate": data[:place],
            "overwrite": data[:place] + token + data[place + len(token) :],
            "insert": data[:place] + token + data[place:],
            "cut": data[:place] + data[place + len(token) + 1 :],
        }
        path.write_bytes(changed[kind])


@cache
def phase_named(name: str) -> Phase:
    folder = Path(shutil.copytree(REPOSITORY / "ground-truth" / name, Path(tempfile.mkdtemp()) / "phase"))
    text = (folder / "phase.toml").read_text()
    # Intervals take most of a run's time and see nothing of the files.
    (folder / "phase.toml").write_text(text.replace("\nseed", "\nresamples = 0\nseed", 1))
    seal(folder, scan(folder))
    return load_phase(folder)


def assert_rejected_or_scored_within_bounds(name: str, changes: list[str], random: Random) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        submission = Path(
            shutil.copytree(REPOSITORY / "test" / "input" / name, Path(temporary) / "submission")
        )
        for change in changes:
            spoil(submission, change, random)
        result = evaluate(phase_named(name), submission, 0)
    if isinstance(result, Rejection):
        line = participant_line(result.faults)
        assert 0 < len(line) <= 1024
        assert line.isprintable()
        assert all(entry.isprintable() for entry in organiser_report(result.faults))
        return
    assert isinstance(result, Result)
    metrics = {(task.name, metric.name): metric for task in result.tasks for metric in task.metrics}
    content = result.metrics
    for task, estimates in content.aggregates.items():
        for metric_name, estimate in estimates.items():
            assert math.isfinite(estimate.value)
            metric = metrics.get((task, metric_name))
            if metric is not None and math.isfinite(metric.worst) and math.isfinite(metric.best):
                low, high = sorted((metric.best, metric.worst))
                assert low - 1e-12 <= estimate.value <= high + 1e-12, (task, metric_name)
    json.loads(render({"aggregates": {task: sorted(values) for task, values in content.aggregates.items()}}))


@pytest.mark.weekly
@pytest.mark.parametrize("name", PHASES)
def test_spoilt_submission_is_rejected_or_scored_within_bounds(name):
    """A number that fails makes its submission again."""
    for number in range(EXAMPLES):
        random = Random(number)
        changes = random.choices(CHANGES, k=random.randint(1, 3))
        try:
            assert_rejected_or_scored_within_bounds(name, changes, random)
        except Exception as error:
            raise AssertionError(number) from error


@pytest.mark.parametrize("change", ["delete", "truncate", "insert", "swap"])
def test_a_few_changes_of_a_small_phase(change):
    """One of each way to spoil a file; the weekly test draws many, of every phase."""
    assert_rejected_or_scored_within_bounds("cysts", [change], Random(0))
