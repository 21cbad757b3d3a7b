"""What goes to workers and comes back: batches of cases, outcomes, and messages."""

import math
import pickle
import socket
import threading
from collections.abc import Mapping

import numpy as np
import pytest

from evaluation.core.field import CaseColumns, Field, Files, Kind, Reference
from evaluation.core.form import CaseForm
from evaluation.core.outcome import Died, OrganiserFault, Scored
from evaluation.core.sources import CellsSource, FileSource, JsonFileSource, StackSource
from evaluation.workers.batches import (
    Columns,
    Content,
    batches_of,
    packed_outcomes,
    parts_of,
    unpacked_outcomes,
)
from evaluation.workers.processes import Channel, ChannelError, Message


class Picture(Kind):
    def read(self, source, case, files):
        raise AssertionError

    def describe(self):
        return "a picture"

    def pixels(self, case):
        return case.width * case.height


FIELD = Field(
    "p",
    "P",
    Picture(),
    Files("p", (".png",)),
    Reference(Picture(), CaseColumns(("p",))),
)


def sizes(count, side, workers=2):
    cases = [CaseForm(f"C{number}", side, side) for number in range(count)]
    return [len(part) for part in parts_of(cases, [FIELD], workers)]


@pytest.mark.parametrize(
    ("count", "side", "expected"),
    [
        (0, 0, []),
        (3, 0, [3]),
        (4, 600, [4]),  # few and small: one process does them before a second has started
        (160, 0, [32] * 5),
        (1600, 0, [100] * 16),  # eight batches for each of two workers
        (20_000, 0, [512] * 39 + [32]),  # at most 512 cases
        (64, 8000, [2] * 32),  # 2 × (64e6 + 2^16) pixels are below 2^27, three are not
        (3, 20_000, [1, 1, 1]),  # a case of 400e6 pixels by itself
    ],
)
def test_a_batch_has_a_share_of_the_cost_and_limits_of_its_own(count, side, expected):
    assert sizes(count, side) == expected


def test_cases_of_a_stack_stay_together_up_to_the_largest_batch():
    cases = [CaseForm(f"C{number}") for number in range(1200)]
    stacks = [{"x": JsonFileSource(f"{number}.json", "", 9, 600)} for number in range(2)]
    sources = [stacks[number % 2] for number in range(1200)]
    batches = list(batches_of("/", cases, sources, [], 2))
    assert [len(batch.positions) for batch in batches] == [512, 88, 512, 88]
    assert [{position % 2 for position in batch.positions} for batch in batches] == [{0}, {0}, {1}, {1}]


def test_content_comes_as_it_was_packed_and_shares_the_values_of_a_stack():
    shared = {"x": StackSource([1, 2], "s.json", "here", 2)}
    cases = tuple(CaseForm(name, columns={"set": name}) for name in "ABCD")
    content = Content("/root", cases, (shared, {"y": FileSource("b")}, shared, {}))
    found = Content.unpacked(content.packed())
    assert found == content
    assert found.sources[0]["x"].values is found.sources[2]["x"].values


INSTANCES = {
    "none": [],
    "of one class": [CaseForm("A", 3, 4, {"set": "x"}), CaseForm("B")],
    "of two classes": [FileSource("a.txt"), CellsSource(("1",), "t.csv", 2, ("c",))],
    "of no dataclass": [1, 2, 3],
}


@pytest.mark.parametrize("name", INSTANCES)
def test_instances_come_as_they_were(name):
    instances = INSTANCES[name]
    assert pickle.loads(pickle.dumps(Columns.of(instances))).instances() == instances


BOXES = np.arange(12.0).reshape(2, 6)
OUTCOMES = {
    "none": [],
    "floats and whole numbers": [
        Scored({"a": {"dice": 0.5, "missing": 0}}),
        Scored({"a": {"dice": 1, "missing": 1}}),
    ],
    "other columns and tasks in another order": [
        Scored({"a": {"x": 0.1 + 0.2}, "b": {"y": math.inf}}),
        Scored({"b": {"y": -0.0}, "a": {"x": 3.0, "z": "text"}}),
        Scored({}),
        Scored({"a": {}}),
    ],
    "arrays of one form": [Scored({"a": {"boxes": BOXES[:count], "n": count}}) for count in (2, 0, 1)],
    "arrays of several forms": [
        Scored({"a": {"boxes": BOXES}}),
        Scored({"a": {"boxes": BOXES[:, :2]}}),
        Scored({"a": {"boxes": np.array(1.0)}}),
        Scored({"a": {"boxes": np.arange(2)}}),
    ],
    "what failed": [
        Scored({"a": {"dice": 0.0}}, ("a",), "out of time"),
        Died("out of memory"),
        Scored({"a": {"dice": 0.0}}, ("a",)),
        OrganiserFault(("a problem",)),
    ],
}


def plain(value):
    """Return a value in which also types, signs of zero and forms of arrays can be compared."""
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.tolist()
    if isinstance(value, Mapping):
        return [(key, plain(entry)) for key, entry in value.items()]
    if isinstance(value, Scored):
        return plain(value.rows), value.worst, value.failure
    return repr(value)


@pytest.mark.parametrize("name", OUTCOMES)
def test_outcomes_come_as_they_were(name):
    found = unpacked_outcomes(packed_outcomes(OUTCOMES[name]))
    assert list(map(plain, found)) == list(map(plain, OUTCOMES[name]))


@pytest.fixture
def ends():
    first, second = socket.socketpair()
    with first, second:
        yield Channel(first), second


@pytest.mark.parametrize("parts", [[], [b""], [b"a", b"", b"bc"], [b"x"] * 2000, [bytes(5 << 20), b"end"]])
def test_a_message_arrives_as_it_was_sent(ends, parts):
    channel, other = ends
    sender = threading.Thread(target=channel.send, args=(Message.ANSWER, parts))
    sender.start()
    kind, data = Channel(other).receive(1 << 30)
    sender.join()
    assert (kind, bytes(data)) == (Message.ANSWER, b"".join(parts))


@pytest.mark.parametrize(
    "sent", [b"\x09" + bytes(8), b"\x02" + b"\xff" * 8, b"\x02\x65" + bytes(7)], ids=["kind", "huge", "limit"]
)
def test_a_message_that_breaks_the_rules_is_refused_before_memory_is_taken(ends, sent):
    channel, other = ends
    other.sendall(sent)
    with pytest.raises(ChannelError, match="a message of kind"):
        channel.receive(100)


def test_half_a_message_is_not_waited_for(ends):
    channel, other = ends
    other.sendall(b"\x02\x05" + bytes(7) + b"abc")
    with pytest.raises(ChannelError, match="timed out"):
        channel.receive(100, seconds=0.2)


def test_a_receiver_that_takes_nothing_is_not_waited_for(ends):
    channel, _ = ends
    with pytest.raises(ChannelError, match="timed out"):
        channel.send(Message.JOB, [bytes(64 << 20)], seconds=0.2)


def test_the_end_of_the_other_side(ends):
    channel, other = ends
    other.close()
    with pytest.raises(ChannelError, match="has ended"):
        channel.receive(100)
    with pytest.raises(ChannelError, match="nothing can be sent"):
        channel.send(Message.JOB, [b"x"])
