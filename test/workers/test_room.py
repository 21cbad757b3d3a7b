"""The room for values of a submission: shared by the workers that read at once, less what is kept."""

import pytest

from evaluation.core.fault import Faults
from evaluation.core.outcome import no_progress
from evaluation.workers.batches import batches_of
from evaluation.workers.pool import InThisProcess
from evaluation.workers.reading import BatchReading

from .unruly_cases import case, reader_setup, settings_of


class Noting(InThisProcess):
    """Runs jobs one after another in this process, and notes the room of each."""

    def __init__(self) -> None:
        super().__init__(reader_setup(), settings_of(workers=0), None)
        self.rooms: list[float | None] = []

    def run(self, numbers, job, meanwhile=None):
        def noted(number):
            made = job(number)
            self.rooms.append(made.room_bytes)
            return made

        return super().run(numbers, noted, meanwhile)


def rooms(room_bytes, workers):
    """Return the room of each job, and the bytes of values that were kept of each."""
    cases = [case(number) for number in range(3)]
    sources = [{"behaviour": one.source} for one in cases]
    # One batch for each case: small ones would share one.
    batches = [
        batch
        for one, source in zip(cases, sources, strict=True)
        for batch in batches_of("/", [one.form], [source], (), workers=2)
    ]
    noting = Noting()
    reading = BatchReading(reader_setup(), settings_of(workers=workers), room_bytes, no_progress, Faults())
    done = reading.run(batches, noting)
    return noting.rooms, [len(one.values) for one in done]


@pytest.mark.parametrize("workers", [0, 1, 4])
def test_each_worker_has_its_share_of_what_is_left(workers):
    found, kept = rooms(1_000_001, workers)
    left = [1_000_001, 1_000_001 - kept[0], 1_000_001 - kept[0] - kept[1]]
    assert min(kept) > 0
    assert found == [one // max(1, workers) for one in left]


def test_there_is_no_room_where_values_are_only_checked_and_never_less_than_none():
    assert rooms(None, 2)[0] == [None] * 3
    assert rooms(0, 2)[0] == [0, 0, 0]
