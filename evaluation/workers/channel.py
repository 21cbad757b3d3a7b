"""Messages between two processes: a length, a kind, and bytes that nobody interprets here."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Sequence
from enum import IntEnum

_HEAD = struct.Struct("<BQ")
_IOV_MAX = 512
MAX_ANSWER_BYTES = 1 << 32


class Message(IntEnum):
    """The type of a message: a job, its answer, or a sign that the other side is at work."""

    JOB = 1
    ANSWER = 2
    ALIVE = 3


class ChannelError(Exception):
    """Raised if the other side has ended, is silent within a message, or breaks the protocol."""


class Channel:
    """One end of a connection between two processes."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def fileno(self) -> int:
        """Return the descriptor, for `selectors`."""
        return self._connection.fileno()

    def send(
        self, kind: Message, parts: Sequence[bytes | memoryview] = (), seconds: float | None = None
    ) -> None:
        """Send a message of several parts. Raises `ChannelError`, also after seconds without progress."""
        self._connection.settimeout(seconds)
        views = [memoryview(_HEAD.pack(kind, sum(map(len, parts)))), *(memoryview(part) for part in parts)]
        views = [view for view in views if len(view)]
        try:
            while views:
                sent = self._connection.sendmsg(views[:_IOV_MAX])
                while views and sent >= len(views[0]):
                    sent -= len(views.pop(0))
                if views:
                    views[0] = views[0][sent:]
        except OSError as error:
            raise ChannelError(f"nothing can be sent: {error}") from None

    def receive(self, limit_bytes: int, seconds: float | None = None) -> tuple[Message, memoryview]:
        """Return the next message. Raises `ChannelError`, also where it takes longer than ``seconds``."""
        until = None if seconds is None else time.monotonic() + seconds
        kind, length = _HEAD.unpack(self._exactly(_HEAD.size, until))
        if kind not in set(Message) or length > limit_bytes:
            raise ChannelError(f"a message of kind {kind} and {length} bytes")
        return Message(kind), self._exactly(length, until)

    def _exactly(self, count: int, until: float | None) -> memoryview:
        view = memoryview(bytearray(count))
        filled = 0
        try:
            while filled < count:
                if until is not None:
                    self._connection.settimeout(max(0.001, until - time.monotonic()))
                received = self._connection.recv_into(view[filled:])
                if not received:
                    raise ChannelError("the other side has ended")
                filled += received
        except OSError as error:
            raise ChannelError(f"nothing can be received: {error}") from None
        return view.toreadonly()

    def close(self) -> None:
        """Close this end."""
        self._connection.close()
