"""Submissions of every bundled phase, spoilt at random: rejected with faults, or scored within bounds."""

import json
import math
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluation.evaluate import Rejection, Result, evaluate
from evaluation.phase.manifest import scan, seal
from evaluation.phase.phase import Phase, load_phase
from evaluation.platform.messages import organiser_report, participant_line
from evaluation.platform.result_file import render
from test.repository import PHASES, REPOSITORY

EXAMPLES = int(os.environ.get("EVALUATION_FUZZ_EXAMPLES", "100"))

# What stands in cells and JSON values, good, odd and bad.
TOKENS = st.sampled_from(
    [
        *b'0 1 -1 0.5 1e999 nan NaN null true [] {} " \\ , ; %s ../'.split(b" "),
        *(b"", b"\0", b"\xff", b"\t", b"\r\n", b"\n\n", b"\xef\xbb\xbf", b"\xe2\x80\xae", b"1" * 400),
    ]
)
Change = tuple[str, int, float, bytes]


@st.composite
def changes(draw: st.DrawFn) -> Change:
    """Return what is done to which of the files and where: fractions, since files differ in length."""
    kind = draw(
        st.sampled_from(["delete", "truncate", "overwrite", "insert", "cut", "copy", "rename", "swap"])
    )
    return kind, draw(st.integers(0, 10_000)), draw(st.floats(0, 1)), draw(TOKENS | st.binary(max_size=12))


def apply(folder: Path, change: Change) -> None:
    kind, number, fraction, token = change
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if not files:
        return
    # Half of the changes go to tables and JSON, of which there are few.
    texts = [path for path in files if path.suffix in (".csv", ".json", ".txt")]
    chosen = texts if texts and number % 2 else files
    path = chosen[number % len(chosen)]
    data = path.read_bytes()
    place = int(fraction * len(data))
    if kind == "delete":
        path.unlink()
    elif kind == "copy":
        path.with_name(path.stem + f"_{number % 3}" + path.suffix).write_bytes(data)
    elif kind == "rename":
        path.rename(path.with_name(path.name.swapcase() if number % 3 else f"x{path.name}"))
    elif kind == "swap":
        other = files[(number * 7) % len(files)]
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


def assert_rejected_or_scored_within_bounds(name: str, spoilt: list[Change]) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        submission = Path(
            shutil.copytree(REPOSITORY / "test" / "input" / name, Path(temporary) / "submission")
        )
        for change in spoilt:
            apply(submission, change)
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
@settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(spoilt=st.lists(changes(), min_size=1, max_size=3))
def test_spoilt_submission_is_rejected_or_scored_within_bounds(name, spoilt):
    assert_rejected_or_scored_within_bounds(name, spoilt)


@pytest.mark.parametrize(
    "change",
    [("delete", 3, 0.0, b""), ("truncate", 1, 0.5, b""), ("insert", 1, 0.9, b"1e999"), ("swap", 2, 0.0, b"")],
    ids=lambda change: change[0],
)
def test_a_few_changes_of_a_small_phase(change):
    """One of each way to spoil a file; the weekly test draws many, of every phase."""
    assert_rejected_or_scored_within_bounds("cysts", [change])
