"""The second stage: a case that ends its scorer costs itself and no other."""

import sys
import time

import pytest

from evaluation.core.fault import PhaseError
from evaluation.core.outcome import OrganiserFault, Scored
from evaluation.workers.pool import DeadlineExceeded
from test.faults import faulted

from .test_reading import DEADLY
from .unruly_cases import (
    case,
    in_file,
    kill_workers,
    read,
    reader_setup,
    run,
    score,
    scorer_setup,
    settings_of,
    values,
)

pytestmark = pytest.mark.timeout(60)


@pytest.mark.parametrize("behaviour", DEADLY)
def test_case_that_ends_its_scorer_costs_itself_only(behaviour):
    cases = [case(number, f"score:{behaviour}" if number == 5 else "well") for number in range(12)]
    outcomes = run(cases, settings_of(case_seconds=1.0))
    assert values(outcomes) == [1.0] * 5 + [0.0] + [1.0] * 6
    assert [bool(outcome.failure) for outcome in outcomes] == [number == 5 for number in range(12)]


REASONS = {
    "segmentation_fault": "crashed with SIGSEGV",
    "kill": "killed by SIGKILL, probably for the machine's memory",
    "exit_without_error": "ended its worker",
    "exit": "ended its worker",
    "sys_exit": "stopped by SystemExit",
    "memory_in_steps": "out of memory",
    "hang_with_lock": "out of time",
    "stop": "out of time",
}


def test_failed_case_carries_its_reason():
    cases = [case(number, f"score:{behaviour}") for number, behaviour in enumerate(REASONS)]
    # Memory runs out long before time does, on a busy machine too.
    outcomes = run(cases, settings_of(6.0), scorer=scorer_setup(memory=300))
    assert [outcome.failure for outcome in outcomes] == list(REASONS.values())


def test_many_deadly_cases_leave_the_others_alone():
    cases = [case(number, "score:kill" if number % 4 == 1 else "well") for number in range(32)]
    assert values(run(cases, settings_of())) == [0.0 if number % 4 == 1 else 1.0 for number in range(32)]


def test_exception_while_scoring_is_the_organisers():
    outcomes = run([case(0), case(1, "score:exception")], settings_of())
    assert [type(outcome) for outcome in outcomes] == [Scored, OrganiserFault]
    assert "cannot be pickled" in outcomes[1].problems[0]


@pytest.mark.parametrize("what", ["result", "one_way_result"])
def test_result_that_cannot_leave_the_worker_is_the_organisers_fault_and_of_one_case(what):
    cases = [case(number, f"score:{what}" if number == 13 else "well") for number in range(60)]
    outcomes = run(cases, settings_of())
    assert [type(outcome) for outcome in outcomes] == [Scored] * 13 + [OrganiserFault] + [Scored] * 46
    assert "case case013: its result cannot leave the worker" in outcomes[13].problems[0]


def test_scorers_that_do_not_start_are_the_organisers_fault():
    with faulted(PhaseError, "3"):
        run([case(number) for number in range(4)], settings_of(), scorer=scorer_setup(no_such_option=1))


def test_deadline_ends_the_run_or_fills_up_with_worst_values():
    cases = [case(number, "score:hang" if number == 1 else "well") for number in range(4)]
    with pytest.raises(DeadlineExceeded) as raised:
        run(cases, settings_of(1000.0, deadline=time.monotonic() + 3.0))
    assert "case001" in raised.value.unfinished
    settings = settings_of(1000.0, deadline=time.monotonic() + 3.0, fill_at_deadline=True)
    outcomes = run(cases, settings)
    assert outcomes[1].rows["task"]["value"] == 0.0
    assert outcomes[1].failure == "out of time"


@pytest.mark.parametrize("workers", [0, 2])
def test_values_that_are_too_large_to_be_kept_are_read_again_and_from_the_same_bytes(workers, tmp_path):
    cases = [in_file(number, tmp_path) for number in range(12)]
    settings, setup = settings_of(10.0, workers), reader_setup(str(tmp_path))
    done = read(cases, settings, room=0, setup=setup)
    assert all(batch.again.keys() == batch.positions.keys() for batch in done.batches)
    assert values(score(cases, done, settings, setup)) == [1.0] * 12
    (tmp_path / "3.txt").write_text("other")
    outcomes = score(cases, done, settings, setup)
    assert values(outcomes) == [0.0 if number == 3 else 1.0 for number in range(12)]
    assert outcomes[3].failure == "its files cannot be read again"


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_scorers_that_are_killed_from_outside_cost_nothing():
    killed = []

    def kill(done: int) -> None:
        if done >= 12 and not killed:
            killed.append(done)
            kill_workers()

    outcomes = run([case(number) for number in range(48)], settings_of(30.0), progress=kill)
    assert values(outcomes) == [1.0] * 48
    assert killed


def test_serial_mode_gives_the_same_outcomes_as_workers():
    cases = [case(number) for number in range(8)]
    assert run(cases, settings_of(30.0, workers=0)) == run(cases, settings_of(30.0))


def test_progress_reaches_the_number_of_cases():
    seen: list[int] = []
    run([case(number) for number in range(20)], settings_of(30.0), progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 20
