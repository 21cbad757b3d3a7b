"""The first stage: what becomes of a submission whose files kill, hang or swallow their readers."""

import sys
import time
from dataclasses import replace

import pytest

from evaluation.core.trouble import MachineTrouble
from evaluation.workers import pool
from evaluation.workers.pool import DeadlineExceeded
from evaluation.workers.processes import KILLED

from .unruly_cases import GreedyReaders, case, kill_workers, read, reader_setup, settings_of

pytestmark = pytest.mark.timeout(60)

CRASHES = ["exit", "exit_without_error", "segmentation_fault", "terminate", "sys_exit"]
# By the wall's seconds that a case may take: memory runs out before time does, on a busy machine too.
LACKS = {
    "memory": ("memory", 1000.0),
    "memory_in_steps": ("memory", 1000.0),
    "hang": ("processor time", 1.0),
    "hang_with_lock": ("processor time", 1.0),
}
DEADLY = [*CRASHES, *LACKS, "kill", "stop"]


def one_misbehaves(behaviour):
    return [case(number, f"read:{behaviour}" if number == 5 else "well") for number in range(12)]


@pytest.mark.parametrize("behaviour", CRASHES)
def test_file_that_crashes_its_reader_is_a_fault_of_the_submission_and_the_only_one(behaviour):
    (fault,) = read(one_misbehaves(behaviour), settings_of(case_seconds=1.0)).faults
    assert (fault.kind, fault.file) == ("unreadable", "behaviour5.csv")
    assert "crashes its reader" in fault.found


@pytest.mark.parametrize("behaviour", LACKS)
def test_file_for_which_the_machine_is_too_small_or_too_slow_is_no_fault_of_the_submission(behaviour):
    lack, seconds = LACKS[behaviour]
    with pytest.raises(MachineTrouble) as raised:
        read(one_misbehaves(behaviour), settings_of(case_seconds=seconds))
    assert raised.value.args == ("read", "behaviour5.csv", lack)


def test_readers_that_the_system_kills_for_memory_twice_blame_no_file(monkeypatch):
    monkeypatch.setattr(pool.processes, "cause_of_end", lambda worker: KILLED)
    with pytest.raises(MachineTrouble) as raised:
        read(one_misbehaves("segmentation_fault"), settings_of(case_seconds=1.0))
    assert raised.value.args == ("read", "behaviour5.csv", "memory")


def test_file_that_takes_too_much_processor_time_is_ended_by_the_kernel():
    """The whole case may take much longer than this test."""
    setup = replace(reader_setup(), case_seconds=1.0)
    with pytest.raises(MachineTrouble) as raised:
        read([case(0), case(1, "read:spin"), case(2)], settings_of(1000.0), setup=setup)
    assert raised.value.args == ("read", "behaviour1.csv", "processor time")


def test_the_first_deadly_file_ends_the_run_and_known_faults_are_told_with_it():
    behaviours = {0: "read:exception", **dict.fromkeys(range(5, 60), "read:segmentation_fault")}
    cases = [case(number, behaviours.get(number, "well")) for number in range(60)]
    faults = list(read(cases, settings_of(1000.0)).faults)
    assert sum("crashes its reader" in fault.found for fault in faults) == 1
    assert "behaviour0.csv" in [fault.file for fault in faults]


def test_exception_while_reading_is_a_fault_of_the_file():
    faults = read([case(0, "read:exception"), case(1)], settings_of()).faults
    assert [(fault.file, fault.found) for fault in faults] == [
        ("behaviour0.csv", "one that cannot be decoded (UnpicklableError)")
    ]


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_readers_that_are_killed_from_outside_cost_nothing():
    killed = []

    def kill(done: int) -> None:
        if done >= 12 and not killed:
            killed.append(done)
            kill_workers()

    done = read([case(number) for number in range(48)], settings_of(30.0), progress=kill)
    assert killed
    assert not done.faults
    positions = sorted(position for batch in done.batches for position in batch.positions.values())
    assert positions == list(range(48))


def test_machine_on_which_readers_die_without_reading_anything_is_blamed_on_no_file():
    with pytest.raises(MachineTrouble) as raised:
        read([case(0)], settings_of(), setup=GreedyReaders(**vars(reader_setup(memory=512))))
    assert raised.value.lack == "memory"


def test_deadline_before_anything_is_wrong_is_nobodys_fault():
    cases = [case(0), case(1, "read:hang"), case(2), case(3)]
    with pytest.raises(DeadlineExceeded):
        read(cases, settings_of(1000.0, deadline=time.monotonic() + 1.5))


def test_known_faults_come_first_at_the_deadline():
    cases = [case(0, "read:exception"), case(1, "read:hang"), case(2), case(3)]
    done = read(cases, settings_of(1000.0, deadline=time.monotonic() + 3.0))
    assert [fault.file for fault in done.faults] == ["behaviour0.csv"]


def test_what_is_not_read_at_the_deadline_is_told_where_it_is_to_be_filled_up():
    cases = [case(number, "read:hang" if number == 1 else "well") for number in range(4)]
    settings = settings_of(1000.0, deadline=time.monotonic() + 3.0, fill_at_deadline=True)
    done = [position for batch in read(cases, settings).batches for position in batch.positions.values()]
    assert set(done) <= {0, 2, 3}


def test_in_this_process_faults_are_the_same():
    cases = [case(number, "read:exception" if number == 3 else "well") for number in range(8)]
    assert list(read(cases, settings_of(workers=0)).faults) == list(read(cases, settings_of()).faults)
