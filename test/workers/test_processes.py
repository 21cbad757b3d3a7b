"""Server and workers as processes: what outlives what, and what a stopped one costs."""

import importlib
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from evaluation.core.trouble import MachineTrouble
from evaluation.evaluate import Result, evaluate
from evaluation.phase import registry
from evaluation.phase.phase import load_phase
from evaluation.workers import processes
from evaluation.workers.pool import open_pool
from test.phases import refuge_phase, refuge_submission
from test.repository import REPOSITORY

from .sessions import session
from .unruly_cases import case, read, run, settings_of, values

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc"),
    pytest.mark.timeout(90),
]


@pytest.mark.parametrize("stopped", ["nothing", "server", "workers"])
def test_no_worker_outlives_a_killed_evaluation(stopped, tmp_path):
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from test.workers.unruly_cases import case, run, settings_of\n"
        "run([case(number, 'score:hang') for number in range(4)], settings_of(1000.0))\n"
    )
    (tmp_path / "main.py").write_text(script)
    process = subprocess.Popen([sys.executable, tmp_path / "main.py", REPOSITORY], start_new_session=True)
    seen: list[int] = []
    # Itself, the server and two workers; readers come and go before these.
    while len(seen) < 4 or seen != session(process.pid):
        seen = session(process.pid)
        time.sleep(0.3)
        assert process.poll() is None
    server, *workers = sorted(pid for pid in seen if pid != process.pid)
    for pid in {"nothing": [], "server": [server], "workers": workers}[stopped]:
        os.kill(pid, signal.SIGSTOP)
    process.kill()
    process.wait()
    while session(process.pid):  # ends by the test's time limit if one stays
        time.sleep(0.05)


def test_stopped_worker_is_noticed_within_the_time_of_one_case():
    """Of which its batch has many, and its case is read again by another.

    There is one worker, which has answered before: one that is stopped while it starts has 30 s more.
    """
    stopped = []

    def stop(done: int) -> None:
        if not stopped:
            server = processes._server.process
            children = Path(f"/proc/{server}/task/{server}/children").read_text().split()
            stopped.append(int(children[-1]))
            os.kill(stopped[0], signal.SIGSTOP)

    started = time.monotonic()
    done = read([case(number, "well") for number in range(200)], settings_of(4.0, workers=1), progress=stop)
    assert stopped
    assert len(done.batches) > 1
    assert not done.faults
    assert 4.0 <= time.monotonic() - started < 4.0 + 8.0


@pytest.mark.parametrize("sent", [signal.SIGSTOP, signal.SIGKILL])
def test_a_server_that_is_gone_is_replaced(sent):
    processes.warm_up()
    gone = processes._server.process
    os.kill(gone, sent)
    if sent == signal.SIGSTOP:
        processes.stop(processes.start_worker((), seconds=5.0))
    assert values(run([case(number) for number in range(4)], settings_of(10.0))) == [1.0] * 4
    assert processes._server.process != gone


def test_a_server_that_never_answers_is_short_of_time():
    """Every server is stopped as soon as it is there, and one that is there already before it is asked."""
    over = threading.Event()

    def stop() -> None:
        if (server := processes._server) is not None:
            with suppress(ProcessLookupError):
                os.kill(server.process, signal.SIGSTOP)

    def go_on_stopping() -> None:
        while not over.wait(0.001):
            stop()

    stop()
    stopping = threading.Thread(target=go_on_stopping)
    stopping.start()
    try:
        with pytest.raises(MachineTrouble) as raised:
            processes.start_worker((), seconds=0.5)
    finally:
        over.set()
        stopping.join()
    assert raised.value.args == ("start", "a worker process", "processor time")


def test_a_few_small_cases_start_one_process_for_each_stage(tmp_path, monkeypatch):
    phase, submission = refuge_phase(tmp_path / "phase", 4), refuge_submission(tmp_path / "one", 4)
    started = []
    start = processes.start_worker
    monkeypatch.setattr(processes, "start_worker", lambda modules: started.append(modules) or start(modules))
    result = evaluate(load_phase(phase), submission, workers=4)
    assert isinstance(result, Result)
    assert len(started) == 3  # who lists, who reads, who scores


@dataclass(frozen=True)
class SetupThatLooks:
    """Workers of a challenge, which answer whether a module of it was there before they began."""

    challenge: str | None
    below: str = ""
    memory_bytes: int | None = None

    @property
    def modules(self):
        return registry.modules_of(self.challenge) if self.challenge else ()

    def open(self, ask_reader):
        found = f"evaluation.challenges.{self.challenge}{self.below}" in sys.modules
        return lambda job, tick: [str(found).encode()]

    def confine(self):
        pass


@pytest.mark.parametrize(
    ("challenge", "below", "found"),
    [
        ("refuge", "", True),
        ("declared", ".displacement", True),
        (None, "", False),
        ("at home", "", False),
        ("ä" * 3000, "", False),
        ("..", "", False),
    ],
)
def test_the_modules_of_a_challenge_are_imported_once_for_all_workers(challenge, below, found):
    """A challenge that has none, of whatever name, hinders no worker."""
    if below:
        importlib.import_module(f"evaluation.challenges.{challenge}{below}")
    with open_pool(SetupThatLooks(challenge, below), settings_of(10.0)) as pool:
        answers = sorted(
            (number, bytes(answer)) for number, answer in pool.run(range(2), lambda number: number)
        )
    assert answers == [(number, str(found).encode()) for number in range(2)]
