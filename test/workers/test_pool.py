import contextlib
import multiprocessing
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from evaluation.workers.case_runner import RunSetup

from evaluation.core.fault import PhaseError
from evaluation.core.form import CaseForm, CaseRow, Form
from evaluation.core.outcome import CaseJob, Faulty, OrganiserFault, Scored
from evaluation.core.source import CellsSource
from evaluation.phase.reference import ReferenceFiles
from evaluation.workers.pool import DeadlineExceeded, PoolSettings, run_cases
from test.repository import REPOSITORY

from . import conftest  # noqa: F401 - makes the challenge known where this module is imported by a script

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
    "memory_in_steps",
    "hang",
    "hang_with_lock",
    "stop",
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
@pytest.mark.parametrize("what", ["result", "one_way_result"])
def test_result_that_cannot_leave_the_worker_is_the_organisers_fault_and_of_one_case(what):
    outcomes = run([job(number, f"score:{what}" if number == 13 else "well") for number in range(60)])
    assert [type(outcome) for outcome in outcomes] == [Scored] * 13 + [OrganiserFault] + [Scored] * 46
    assert "case case013: its result cannot leave the worker" in outcomes[13].problems[0]


REASONS = {
    "segmentation_fault": "crashed with SIGSEGV",
    "kill": "killed by SIGKILL, probably for the machine's memory",
    "exit_without_error": "ended its worker",
    "exit": "ended its worker",
    "sys_exit": "stopped by SystemExit",
    "memory_in_steps": "out of memory",
    "hang_with_lock": "out of time",
}


@pytest.mark.timeout(60)
def test_failed_case_carries_its_reason():
    jobs = [job(number, f"score:{behaviour}") for number, behaviour in enumerate(REASONS)]
    # Memory runs out long before time does, on a busy machine too.
    setup = replace(setup_of(jobs), memory_bytes=300 * MEBIBYTE)
    outcomes = run_cases(jobs, setup, PoolSettings(2, 6.0))
    assert [outcome.failure for outcome in outcomes] == list(REASONS.values())


@pytest.mark.timeout(60)
def test_many_deadly_cases_leave_the_others_alone():
    jobs = [job(number, "score:kill" if number % 4 == 1 else "well") for number in range(32)]
    values = [outcome.rows["task"]["value"] for outcome in run(jobs)]
    assert values == [0.0 if number % 4 == 1 else 1.0 for number in range(32)]


@pytest.mark.timeout(60)
def test_worker_that_leaves_with_status_0_is_noticed_long_before_the_time_of_its_batch():
    jobs = [job(number, "score:exit_without_error" if number == 5 else "well") for number in range(64)]
    outcomes = run(jobs, case_seconds=1000.0)
    assert [number for number, outcome in enumerate(outcomes) if outcome.failure] == [5]


@pytest.mark.timeout(60)
def test_deadly_files_are_not_all_tried_since_ten_are_enough_for_a_rejection():
    jobs = [job(number, "read:kill" if number % 2 else "well") for number in range(60)]
    outcomes = run(jobs, case_seconds=1000.0)
    faulty = [number for number, outcome in enumerate(outcomes) if isinstance(outcome, Faulty)]
    assert set(range(1, 20, 2)) <= set(faulty)
    texts = [str(fault) for number in faulty for fault in outcomes[number].faults]
    assert sum("takes too much memory or time" in text for text in texts) == 10
    assert all("takes too much" in text or "was not tried" in text for text in texts)


@pytest.mark.timeout(60)
def test_form_faults_beside_a_deadly_file_are_all_found():
    jobs = [job(0, "read:kill"), job(1, "read:exception"), job(2, "score:kill"), job(3)]
    outcomes = run(jobs)
    assert [type(outcome) for outcome in outcomes[:2]] == [Faulty, Faulty]
    assert not any(isinstance(outcome, Faulty) for outcome in outcomes[2:])


@pytest.mark.timeout(60)
def test_machine_that_reads_nothing_is_not_blamed_on_a_file():
    """The same bytes as prediction and as reference: what kills both reads is not the prediction."""
    deadly = job(3, "read:kill")
    row = CaseRow(5, {"name": deadly.case.name, "behaviour": "read:kill"})
    jobs = [job(0), job(1), job(2), CaseJob(deadly.case, deadly.sources, row)]
    with pytest.raises(PhaseError, match="case003: not even its reference can be read"):
        run(jobs)


@pytest.mark.timeout(60)
def test_workers_that_do_not_start_are_the_organisers_fault():
    jobs = [job(number) for number in range(4)]
    setup = replace(setup_of(jobs), options={"no_such_option": 1})
    with pytest.raises(PhaseError, match="the workers cannot do anything"):
        run_cases(jobs, setup, PoolSettings(2, 2.0))


@pytest.mark.timeout(120)
def test_killed_idle_workers_cost_nothing():
    """What a machine short of memory does between two batches: pebble gives up its whole pool."""
    jobs = [job(number) for number in range(48)]
    killed = []

    def kill_workers(done: int) -> None:
        if done >= 12 and not killed:
            killed.extend(multiprocessing.active_children())
            for worker in killed:
                worker.kill()

    outcomes = run_cases(jobs, setup_of(jobs), PoolSettings(2, 30.0), kill_workers)
    assert [outcome.rows["task"]["value"] for outcome in outcomes] == [1.0] * 48
    assert killed


@pytest.mark.skipif(sys.platform != "linux", reason="asks the system by prctl")
@pytest.mark.timeout(60)
def test_no_worker_outlives_a_killed_evaluation(tmp_path):
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from test.workers.test_pool import conftest, job, run\n"
        "if __name__ == '__main__':\n"
        "    run([job(number, 'score:hang') for number in range(4)], case_seconds=1000.0)\n"
    )
    (tmp_path / "main.py").write_text(script)
    root = REPOSITORY
    process = subprocess.Popen([sys.executable, tmp_path / "main.py", root], start_new_session=True)
    workers: list[int] = []
    while len(workers) < 4:  # the server, the resource tracker and two workers
        time.sleep(0.2)
        workers = [pid for pid in session(process.pid) if pid != process.pid]
        assert process.poll() is None
    process.kill()
    process.wait()
    while session(process.pid):  # ends by the test's time limit if one stays
        time.sleep(0.05)


def session(leader: int) -> list[int]:
    """Return the processes of a session that are alive."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, _, session_of = path.read_text().rpartition(")")[2].split()[:4]
            if int(session_of) == leader and state != "Z":
                found.append(int(path.parent.name))
    return found


@pytest.mark.timeout(60)
def test_deadline_ends_the_run_or_fills_up_with_worst_values():
    jobs = [job(number, "score:hang" if number == 1 else "well") for number in range(4)]
    with pytest.raises(DeadlineExceeded) as raised:
        run(jobs, case_seconds=1000.0, deadline=time.monotonic() + 1.5)
    assert "case001" in raised.value.unfinished
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
