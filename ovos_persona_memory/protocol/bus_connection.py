"""A bus connection that keeps the order of arrival, answers fast and comes back."""

from __future__ import annotations

import random
import socket
import threading
from collections.abc import Callable
from typing import Any

import msgspec
from ovos_bus_client import MessageBusClient
from ovos_utils.log import LOG
from pyee import EventEmitter

from ovos_persona_memory.protocol.buffered_socket import BufferedSocket, ReadAheadApp

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 5.0
"""Between two attempts to connect: doubled after each failure."""


class _Peek(msgspec.Struct):
    type: str = ""


_peek = msgspec.json.Decoder(_Peek)


class BusConnection(MessageBusClient):  # type: ignore[misc]  # ovos_bus_client carries no types
    """A messagebus client for one purpose, on both OVOS lines.

    Frames on topics that are ``wanted`` go to ``arrived`` unread, in the order of arrival, on the
    receiving thread; everything else is dropped unless somebody subscribed to it with ``on``
    (handlers run on the receiving thread too). It never blocks on a bus that is away: ``send``
    says False at once, and the connection is tried again every 0.5 to 5 seconds.

    Why not the stock client's loop: on the stable line each lost connection nests one stack
    deeper, waits up to 60 s, and ``emit`` without a bus blocks for 20 s.
    """

    client: Any
    """The websocket that is current."""

    def __init__(self, wanted: Callable[[str], bool], arrived: Callable[[bytes], None], **address: Any) -> None:
        self._wanted = wanted
        self._arrived = arrived
        self._subscribed: set[str] = set()
        self._ended = threading.Event()
        self._random = random.Random()  # of its own: a host may have seeded the common one
        self._wait_s = FIRST_WAIT_S
        self._thread: threading.Thread | None = None
        self.opened: Callable[[], None] | None = None
        """Called on the receiving thread each time the bus has been reached."""
        super().__init__(emitter=EventEmitter(), **address)

    @property
    def connected(self) -> bool:
        """Whether the bus is there right now."""
        return bool(self.connected_event.is_set())

    def on(self, event_name: str, func: Callable[..., Any]) -> None:
        """Subscribe as on any OVOS client."""
        self._subscribed.add(event_name)
        super().on(event_name, func)

    def create_client(self) -> ReadAheadApp:
        """The websocket to the address that was given."""
        made = super().create_client()
        return ReadAheadApp(
            made.url, on_open=made.on_open, on_close=made.on_close, on_error=made.on_error, on_message=made.on_message
        )

    def start(self) -> None:
        """Connect, and stay connected, on a thread of its own; returns at once."""
        self._thread = threading.Thread(target=self.run_forever, name="bus", daemon=True)
        self._thread.start()

    def send(self, frame: bytes) -> bool:
        """Put one encoded message on the bus; False, at once, where the bus is away."""
        if not self.connected_event.is_set():
            return False
        try:
            self.client.send(frame)
        except Exception as error:  # whatever the socket raises, the message did not leave
            LOG.debug("could not send: %s", error)
            return False
        return True

    def run_forever(self) -> None:
        """Receive until ``close``; connect again after every loss."""
        self.started_running = True
        while not self._ended.is_set():
            self.client.run_forever(skip_utf8_validation=True)
            self.connected_event.clear()
            if self._ended.wait(min(self._wait_s * self._random.uniform(0.8, 1.2), LONGEST_WAIT_S)):
                return
            self._wait_s = min(self._wait_s * 2, LONGEST_WAIT_S)
            self.client = self.create_client()

    def on_open(self, *_: Any) -> None:
        """Take note that the bus is there."""
        self._wait_s = FIRST_WAIT_S
        self.client.sock.sock = BufferedSocket(self.client.sock.sock)
        self.connected_event.set()
        if self.opened:
            self.opened()

    def on_close(self, *_: Any) -> None:
        """Take note that the bus is gone."""
        self.connected_event.clear()

    def on_error(self, *args: Any) -> None:
        """Say once a loss why the connection failed."""
        if self.connected_event.is_set() or self._wait_s == FIRST_WAIT_S:
            LOG.warning("the messagebus is away: %s", args[-1])

    def on_message(self, *args: Any) -> None:
        """Hand a wanted frame on; read the others only where somebody listens."""
        frame = args[-1]
        topic = _topic(frame)
        if self._wanted(topic):
            self._arrived(frame.encode() if isinstance(frame, str) else bytes(frame))
        elif topic in self._subscribed:
            self._to_subscribers(frame)

    def _to_subscribers(self, frame: Any) -> None:
        try:
            super().on_message(frame)
        except Exception as error:  # a frame that the client cannot read must not cost the connection
            LOG.warning("a message was dropped: %s", error)

    def close(self) -> None:
        """Leave the bus; waits at most two seconds for the receiving thread."""
        self._ended.set()
        self.connected_event.clear()
        self.client.keep_running = False
        try:
            # wakes the receiving thread at once; the library's own close waits up to ten seconds for it
            self.client.sock.sock.shutdown(socket.SHUT_RDWR)
        except (AttributeError, OSError):
            LOG.debug("the connection is closed already")
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout=2)


def _topic(frame: str | bytes) -> str:
    try:
        return _peek.decode(frame).type
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return _topic_of_odd_frame(frame)


def _topic_of_odd_frame(frame: str | bytes) -> str:
    """The topic where the rest of the frame does not decode, so that a broken request is answered too."""
    text = frame if isinstance(frame, str) else frame.decode("utf-8", "surrogatepass")
    start = text.find('"type"')
    if start < 0:
        return ""
    return text[start + 6 : start + 200].lstrip(" :\n\t").removeprefix('"').partition('"')[0]
