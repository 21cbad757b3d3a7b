"""What is handed to a scheduler, and to which of its workers, with a client that only takes notes."""

from dataclasses import dataclass, field, replace

import pytest

from evaluation.organiser.parallel.cluster import Scheduler, score_on_worker
from evaluation.organiser.rescoring.task import ScoringTask, environment

TASK = ScoringTask("team", "phase", "folder", "seal", "submission", environment())


@dataclass
class Future:
    key: str
    status: str = "pending"

    def add_done_callback(self, tell) -> None:
        self.tell = tell

    def cancel(self) -> None:
        self.status = "cancelled"
        self.tell(self)


@dataclass
class Client:
    workers: list[str]
    status: str = "running"
    submitted: list[tuple[str, list[str] | None]] = field(default_factory=list)
    futures: list[Future] = field(default_factory=list)

    def nthreads(self) -> dict[str, int]:
        return dict.fromkeys(self.workers, 1)

    def submit(self, *call, key, pure, workers) -> Future:
        self.submitted.append((key, workers))
        self.futures.append(Future(key))
        return self.futures[-1]


@pytest.fixture
def scheduler():
    made = Scheduler("tcp://here", score_on_worker, [].append, 1.0, look_seconds=0.0)
    made._client = Client(["a", "b"])
    return made


def test_a_task_for_some_workers_goes_to_these_alone_until_they_have_ended(scheduler):
    client = scheduler._client
    assert scheduler.others_than(("a",)) == ("b",)
    scheduler.give(TASK, failed_on=("a",), only_on=("b",))
    assert scheduler.has_room()
    assert client.submitted == [("team#1", ["b"])]
    client.workers.remove("b")
    assert scheduler.has_room()
    assert client.submitted == [("team#1", ["b"]), ("team#2", None)]
    assert scheduler.next() is None  # the first, which was cancelled
    client.futures[1].status = "finished"
    client.futures[1].tell(client.futures[1])
    given = scheduler.next()
    assert (given.task, given.failed_on, scheduler.is_idle()) == (TASK, ("a",), True)


def test_no_more_is_handed_over_than_there_is_room_for(scheduler):
    scheduler._client.workers = [str(number) for number in range(5)]
    while scheduler.has_room():
        scheduler.give(replace(TASK, place="one"))
    assert len(scheduler._client.submitted) == 10  # two for each thread
