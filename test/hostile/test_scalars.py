"""Hostile values of a declared phase, through the command: a clear message or a correct score, no leak."""

from pathlib import Path

import pytest

from evaluation.phase.manifest import scan, seal
from test.challenges.declared.phases import declared_phase, write_table

from .runs import Forks
from .scalars import ALGORITHM, ARCHIVE, CASES, PREDICTIONS, TABLES, write_jobs
from .submissions import AS_BEFORE
from .test_submissions import assert_message_or_score

ROWS = {"archive": ARCHIVE, "algorithm": ALGORITHM}


@pytest.fixture(scope="module")
def forks():
    forks = Forks()
    yield forks
    forks.close()


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """Return by kind of submission: the phase, the same with other labels, and a good submission."""
    folder = tmp_path_factory.mktemp("scalars")
    other = {name: column if name == "name" else column[::-1] for name, column in CASES.items()}
    found = {}
    for submission in ROWS:
        phases = []
        for kind, cases in (("real", CASES), ("other", other)):
            phase = declared_phase(
                folder / submission / kind / "phase",
                TABLES,
                cases,
                submission=submission,
                keys="resamples = 0",
            )
            seal(phase, scan(phase))
            phases.append(phase)
        written = folder / submission / "good"
        if submission == "archive":
            write_table(written / "predictions.csv", PREDICTIONS)
        else:
            write_jobs(written)
        found[submission] = (tuple(phases), written)
    return found


@pytest.fixture(scope="module")
def scores(good, forks, tmp_path_factory) -> dict[str, dict[object, bytes]]:
    found = {}
    for submission, (phases, written) in good.items():
        done, other = forks(phases, written, tmp_path_factory.mktemp("scores"))
        assert done.metrics is not None, done
        assert done.metrics != other.metrics
        found[submission] = {AS_BEFORE: done.metrics}
    return found


@pytest.mark.few(18)
@pytest.mark.parametrize(
    ("submission", "name"), [(submission, name) for submission, rows in ROWS.items() for name in rows]
)
def test_message_or_score(submission, name, good, scores, forks, tmp_path: Path):
    phases, written = good[submission]
    row = ROWS[submission][name]
    assert_message_or_score(row, name, forks, phases, scores[submission], written, tmp_path)
