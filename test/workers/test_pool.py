import time

import pytest

from evaluation.model.form import CaseForm, CaseRow, Form
from evaluation.model.outcome import CaseJob, Faulty, OrganiserFault, Scored
from evaluation.model.source import CellsSource
from evaluation.phase.reference import ReferenceFiles
from evaluation.workers.case_runner import RunSetup
from evaluation.workers.pool import DeadlineExceeded, PoolSettings, run_cases

MEBIBYTE = 1 << 20


def job(number: int, behaviour: str = "well") -> CaseJob:
    case = CaseForm(f"case{number:03d}")
    source = CellsSource((behaviour,), "behaviour.csv", number + 2, ("Behaviour",))
    return CaseJob(case, {"behaviour": source}, CaseRow(number + 2, {"name": case.name, "behaviour": "well"}))


def setup_of(jobs: list[CaseJob]) -> RunSetup:
    form = Form("unruly", "unruly", "archive", ("task",), "reject", {}, {}, tuple(j.case for j in jobs))
    return RunSetup(form, ("task",), "/", {}, ReferenceFiles("/", {}, {}), memory_bytes=1024 * MEBIBYTE)


def run(jobs: list[CaseJob], case_seconds: float = 2.0, **settings: object) -> list[object]:
    return run_cases(jobs, setup_of(jobs), PoolSettings(2, case_seconds, **settings))


DEADLY = [
    "exit",
    "exit_without_error",
    "segmentation_fault",
    "kill",
    "terminate",
    "sys_exit",
    "memory",
    "hang",
    "hang_with_lock",
]


@pytest.mark.parametrize("behaviour", DEADLY)
@pytest.mark.timeout(60)
def test_case_that_ends_its_worker_while_scored_costs_itself_only(behaviour):
    jobs = [job(number, f"score:{behaviour}" if number == 5 else "well") for number in range(12)]
    outcomes = run(jobs)
    assert [outcome.rows["task"]["value"] for outcome in outcomes] == [1.0] * 5 + [0.0] + [1.0] * 6
    assert [bool(outcome.failure) for outcome in outcomes] == [number == 5 for number in range(12)]


@pytest.mark.parametrize("behaviour", DEADLY)
@pytest.mark.timeout(60)
def test_file_that_ends_its_worker_while_read_is_a_fault_of_the_submission(behaviour):
    jobs = [job(number, f"read:{behaviour}" if number == 5 else "well") for number in range(12)]
    outcomes = run(jobs)
    assert [type(outcome) for outcome in outcomes] == [Scored] * 5 + [Faulty] + [Scored] * 6
    (fault,) = outcomes[5].faults
    assert (fault.kind, fault.file) == ("unreadable", "behaviour.csv")


@pytest.mark.timeout(60)
def test_exception_while_reading_is_a_fault_of_the_file_and_while_scoring_the_organisers():
    outcomes = run([job(0, "read:exception"), job(1, "score:exception"), job(2)])
    assert [type(outcome) for outcome in outcomes] == [Faulty, OrganiserFault, Scored]
    assert "cannot be pickled" in outcomes[1].problems[0]


@pytest.mark.timeout(60)
def test_result_that_cannot_leave_the_worker_is_the_organisers_fault():
    outcomes = run([job(0), job(1, "score:result"), job(2)])
    assert [type(outcome) for outcome in outcomes] == [Scored, OrganiserFault, Scored]


@pytest.mark.timeout(60)
def test_many_deadly_cases_leave_the_others_alone():
    jobs = [job(number, "score:kill" if number % 4 == 1 else "well") for number in range(16)]
    values = [outcome.rows["task"]["value"] for outcome in run(jobs)]
    assert values == [0.0 if number % 4 == 1 else 1.0 for number in range(16)]


@pytest.mark.timeout(60)
def test_deadline_ends_the_run_or_fills_up_with_worst_values():
    jobs = [job(number, "score:hang" if number == 1 else "well") for number in range(4)]
    with pytest.raises(DeadlineExceeded):
        run(jobs, case_seconds=1000.0, deadline=time.monotonic() + 1.5)
    outcomes = run(jobs, case_seconds=1000.0, deadline=time.monotonic() + 1.5, fill_at_deadline=True)
    assert outcomes[1].rows["task"]["value"] == 0.0
    assert outcomes[1].failure == "out of time"


@pytest.mark.timeout(60)
def test_serial_mode_gives_the_same_outcomes_as_workers():
    jobs = [job(number, "read:exception" if number == 3 else "well") for number in range(8)]
    serial = run_cases(jobs, setup_of(jobs), PoolSettings(0, 30.0))
    assert serial == run(jobs)


def test_progress_reaches_the_number_of_cases():
    jobs = [job(number) for number in range(20)]
    seen: list[int] = []
    run_cases(jobs, setup_of(jobs), PoolSettings(2, 30.0), seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 20
