import socket
import threading

import pytest

from evaluation.workers.processes import Channel, ChannelError, Message


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
