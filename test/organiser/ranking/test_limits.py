"""Which submissions count: how many of a team, and until when."""

import csv
import io
import json
from datetime import UTC, datetime

import numpy as np
import pytest

from evaluation.cli.main import main
from evaluation.organiser.ranking.results import RankingError, read_results
from evaluation.organiser.ranking.selection import (
    FILE_NAME,
    SubmissionLimits,
    read_time,
    read_times,
    within_limits,
)
from test.faults import faulted
from test.organiser.ranking.teams import labels, refuge_columns, write_team


@pytest.fixture
def folder(tmp_path):
    """Team a with four submissions, the second of them rejected, and team b with one."""
    rng = np.random.default_rng(1)
    columns = refuge_columns(labels(20, 8), rng, 1.0, 0.8)
    for name in ("1", "3", "10"):
        write_team(tmp_path / "a" / name, columns, with_cases=False)
    (tmp_path / "a" / "2").mkdir()
    (tmp_path / "a" / "2" / "rejected.txt").write_text("Submission rejected\n", encoding="utf-8")
    write_team(tmp_path / "b", columns, with_cases=False)
    return tmp_path


def kept(folder, limits=None):
    results = read_results(folder)
    found, notices = within_limits(results, read_times(folder, results), limits or SubmissionLimits())
    return [f"{one.team}{one.name}" for one in found.submissions], notices


def write_times(folder, *lines):
    text = "\n".join(["team,submission,submitted_at", *lines])
    (folder / FILE_NAME).write_text(f"{text}\n", encoding="utf-8")


TIMES = (
    "a,1,2018-09-16T12:00:00+02:00",
    "a,2,2018-09-16T10:30:00Z",
    "a,3,2018-09-16T09:00:00Z",
    "a,10,2018-09-16T11:00:00Z",
    "b,,2018-09-16T08:00:00Z",
)


def test_all_submissions_are_listed_with_their_figures_and_one_counts(folder, tmp_path):
    """JustRAIGS lists all submissions of phase 1 and ranks only the best."""
    assert main(["rank", str(folder), "--output", str(tmp_path / "board"), "--resamples", "0"]) == 0
    table = (tmp_path / "board" / "submissions.csv").read_text("utf-8")
    rows = list(csv.DictReader(io.StringIO(table)))
    assert [(row["team"], row["submission"], row["counts"]) for row in rows] == [
        ("a", "1", "no"),
        ("a", "2", "no"),
        ("a", "3", "no"),
        ("a", "10", "yes"),
        ("b", "", "yes"),
    ]
    values = [row["classification.auc"] for row in rows]
    assert (values[1], rows[1]["note"]) == ("", "Submission rejected")
    published = json.loads((folder / "a" / "1" / "metrics.json").read_text("utf-8"))
    assert float(values[0]) == published["aggregates"]["classification"]["auc"]["value"]


def test_rejected_submissions_do_not_count_as_evaluated(folder):
    assert kept(folder) == (["a1", "a2", "a3", "a10", "b"], ())
    # As on the platform, where a failed evaluation uses up no attempt.
    names, notices = kept(folder, SubmissionLimits(evaluations=2))
    assert names == ["a1", "a2", "a3", "b"]
    assert notices == ("a: 1 submissions beyond 2 left out",)
    assert kept(folder, SubmissionLimits(evaluations=1))[0] == ["a1", "a2", "b"]


def test_times_give_the_order_and_what_comes_after_the_deadline_is_left_out(folder):
    write_times(folder, *TIMES)
    assert kept(folder)[0] == ["a3", "a1", "a2", "a10", "b"]
    assert kept(folder, SubmissionLimits(evaluations=1))[0] == ["a3", "b"]
    deadline = datetime(2018, 9, 16, 10, 0, tzinfo=UTC)
    names, notices = kept(folder, SubmissionLimits(deadline=deadline))
    assert names == ["a3", "a1", "b"], "12:00 at +02:00 is 10:00 UTC, in time to the second"
    assert notices == ("a: 2 of 4 submissions after the deadline left out",)
    names, notices = kept(folder, SubmissionLimits(deadline=datetime(2018, 9, 16, 8, 30, tzinfo=UTC)))
    assert (names, notices) == (["b"], ("a: 4 of 4 submissions after the deadline left out",))


def test_a_deadline_needs_times_with_an_offset(folder):
    with faulted(RankingError, "refuge-test", "submissions.csv"):
        kept(folder, SubmissionLimits(deadline=datetime.now(UTC)))
    assert read_time("2018-09-16T12:00:00+02:00") == datetime(2018, 9, 16, 10, tzinfo=UTC)
    with pytest.raises(ValueError, match="expected a time with its offset"):
        read_time("2018-09-16")


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (TIMES[:-1], ("submissions.csv", "b")),
        (TIMES[1:], ("submissions.csv", "a/1")),
        ((*TIMES, TIMES[0]), ("submissions.csv, line 7, submission", "a/1")),
        (("a,1,yesterday", *TIMES[1:]), ("line 2, submitted_at", "'yesterday'")),
        (("a,1,2018-09-16T12:00:00", *TIMES[1:]), ("'2018-09-16T12:00:00'",)),
    ],
)
def test_faults_of_the_times(folder, lines, told):
    write_times(folder, *lines)
    with faulted(RankingError, *told):
        kept(folder)
