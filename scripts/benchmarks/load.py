"""Requests as fast as they are answered: ``python -m benchmarks.load PORT VERB CONNECTIONS WINDOW SECONDS``.

Prints how many were answered, as JSON. It reads and writes WebSocket frames itself (RFC 6455,
section 5.2): an OVOS client costs more for each message that passes on the bus than the daemon
does, and on a machine of two cores it would be measured instead.
"""

from __future__ import annotations

import contextlib
import json
import re
import selectors
import socket
import struct
import sys
import time
from itertools import cycle
from typing import Any

import websocket

from benchmarks.asking import ECHO_TOPICS
from benchmarks.corpus import Talk
from ovos_persona_memory.protocol import topics

WARM_UP_S = 0.5
TEXTS = 500
_TYPE = re.compile(rb'\{"type": ?"([^"]*)"')
_OUR_ID = re.compile(rb'"request_id": ?"load-(\d+)"')
_OK = re.compile(rb'"ok": ?true')


class Connection:
    """One connection with at most ``window`` requests under way."""

    def __init__(self, port: int, verb: str, window: int, bodies: list[bytes]) -> None:
        opened = websocket.create_connection(f"ws://127.0.0.1:{port}/core")
        self._kept = opened  # it closes its socket when it is collected
        assert opened.sock is not None  # it is connected
        self.socket: socket.socket = opened.sock
        self._window = window
        self._topic = ECHO_TOPICS.get(verb) or topics.request(verb)
        self._answer = f"{self._topic}.response".encode()
        self._bodies = cycle(bodies)
        self._session = f"load-{id(self)}-{time.time()}"
        self._unread = b""
        self._sent_at: dict[bytes, float] = {}
        self._number = id(self) * 1_000_000
        self.took: list[float] = []
        self.refused = 0

    def fill(self) -> None:
        """Send as many as the window leaves room for."""
        frames = []
        while len(self._sent_at) < self._window:
            self._number += 1
            name = str(self._number).encode()
            self._sent_at[name] = time.perf_counter()
            frames.append(self._frame(name))
        if frames:
            self.socket.sendall(b"".join(frames))

    def _frame(self, name: bytes) -> bytes:
        text = (
            b'{"type": "%b", "data": {"request_id": "load-%b", %b}, "context": {"session": {"session_id": "%b"}}}'
            % (
                self._topic.encode(),
                name,
                next(self._bodies),
                self._session.encode(),
            )
        )
        # a mask of zeros changes nothing, and is one
        length = struct.pack("!BBH", 0x81, 0xFE, len(text)) if len(text) > 125 else bytes((0x81, 0x80 | len(text)))
        return length + b"\0\0\0\0" + text

    def take(self) -> None:
        """Read what has come, and note the answers that are ours."""
        self._unread += self.socket.recv(1 << 18)
        with contextlib.suppress(AttributeError):  # where there is no such option
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
        at = 0
        while (end := self._end_of_frame(at)) is not None:
            self._note(self._unread[at:end])
            at = end
        self._unread = self._unread[at:]

    def _end_of_frame(self, at: int) -> int | None:
        data = self._unread
        if len(data) < at + 10:
            return None
        length = data[at + 1] & 0x7F
        head = {126: 4, 127: 10}.get(length, 2)
        if head > 2:
            length = int.from_bytes(data[at + 2 : at + head], "big")
        end = at + head + length
        return end if end <= len(data) else None

    def _note(self, frame: bytes) -> None:
        topic = _TYPE.search(frame, 0, 120)
        if not topic or topic[1] != self._answer:
            return
        found = _OUR_ID.search(frame)
        sent_at = self._sent_at.pop(found[1], None) if found else None
        if sent_at is None:
            return
        self.took.append(time.perf_counter() - sent_at)
        self.refused += _OK.search(frame) is None


def bodies() -> list[bytes]:
    """Fields of record requests, each with one turn."""
    talk = Talk(seed=13)
    turns = ({"turns": [{"role": "user", "text": talk.sentence()[0]}]} for _ in range(TEXTS))
    return [json.dumps(one)[1:-1].encode() for one in turns]


def drive(port: int, verb: str, connections: int, window: int, seconds: float) -> dict[str, Any]:
    """How many requests were answered within the seconds, how long each took, and how many all told."""
    said = bodies()
    selector = selectors.DefaultSelector()
    lines = [Connection(port, verb, window, said) for _ in range(connections)]
    for line in lines:
        selector.register(line.socket, selectors.EVENT_READ, line)
        line.fill()
    _pump(selector, WARM_UP_S)
    before = [len(line.took) for line in lines]
    began = time.perf_counter()
    _pump(selector, seconds)
    spent = time.perf_counter() - began
    took = sorted(t for line, known in zip(lines, before, strict=True) for t in line.took[known:])
    return {
        "per_s": len(took) / spent,
        "p50_ms": took[len(took) // 2] * 1000 if took else None,
        "p95_ms": took[int(len(took) * 0.95)] * 1000 if took else None,
        "all": sum(len(line.took) for line in lines),
        "refused": sum(line.refused for line in lines),
    }


def _pump(selector: selectors.BaseSelector, seconds: float) -> None:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for key, _ in selector.select(0.1):
            key.data.take()
            key.data.fill()


if __name__ == "__main__":
    port, verb, connections, window, seconds = sys.argv[1:]
    print(json.dumps(drive(int(port), verb, int(connections), int(window), float(seconds))))
