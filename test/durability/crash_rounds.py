#!/usr/bin/env python3
"""Kill the daemon again and again while it records, and look whether anything that it acknowledged is gone.

Each round: a real daemon on a real messagebus, a look at what the rounds before left, a client that sends exchanges as
fast as they are acknowledged, kill -9 at a random (seeded) moment; one start in ten is killed while it starts. Half of
the exchanges carry a ``delivery_id`` and are sent again after the start until they are acknowledged: they must be there
exactly once. The others are never sent again: acknowledged, they must be there once, otherwise at most once. Looked at
from outside: through the owner's door, and in the database file (``PRAGMA integrity_check``). A line a round, then one
line of JSON; status 1 on any loss.
"""

from __future__ import annotations

import argparse
import json
import random
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import websocket

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "test")]  # a script is run where it stands

from support.servers.bus import Bus, Daemon, Wire, wait_until  # noqa: E402  (the line above must come first)
from support.servers.ports import free_port  # noqa: E402  (the line above must come first)

from ovos_persona_memory.protocol import topics  # noqa: E402
from ovos_persona_memory.records import Scope  # noqa: E402

IN_FLIGHT = 32
LOST = (OSError, websocket.WebSocketException)
RECORD, RECORDED = topics.request("record"), topics.response("record")
COLUMNS = ("round", "moment", "sent", "acknowledged", "again", "missing", "double", "torn", "integrity")


@dataclass
class Exchange:
    """A question and its answer, sent as one request; both texts hold its number."""

    number: int
    session_id: str
    may_repeat: bool
    acknowledged: bool = False

    @property
    def texts(self) -> tuple[str, str]:
        return f"question {self.number:07d}", f"answer {self.number:07d}"

    @property
    def data(self) -> dict[str, Any]:
        """Of the request."""
        roles = zip(("user", "assistant"), self.texts, strict=True)
        data: dict[str, Any] = {"turns": [{"role": role, "text": text} for role, text in roles]}
        again = {"delivery_id": f"crash-{self.number}", "as_passed": True} if self.may_repeat else {}
        return data | again | {"request_id": f"crash-{self.number}"}


@dataclass
class Round:
    """What happened in one."""

    round: int
    moment: str = ""
    """When it was killed."""
    sent: int = 0
    acknowledged: int = 0
    again: int = 0
    missing: list[str] = field(default_factory=list)
    double: list[str] = field(default_factory=list)
    torn: int = 0
    """Turns in the log beyond the exchanges that are whole."""
    integrity: str = "ok"

    @property
    def is_good(self) -> bool:
        return not self.missing and not self.double and not self.torn and self.integrity == "ok"

    def line(self) -> str:
        """For the table."""
        values = [getattr(self, name) for name in COLUMNS]
        return " ".join(f"{len(v) if isinstance(v, list) else v!s:>{w}}" for v, w in zip(values, WIDTHS, strict=True))


WIDTHS = (5, 22, 6, 12, 6, 7, 6, 5, 9)


class Sender:
    """Sends exchanges with some in flight, and notes which were acknowledged."""

    def __init__(self, port: int, randomness: random.Random) -> None:
        self._port = port
        self._wire = Wire(port)
        self._random = randomness
        self.exchanges: list[Exchange] = []
        self.in_flight: set[int] = set()
        self.acknowledged = 0
        self.lost_connections = 0

    def new_exchange(self, session_id: str) -> None:
        """Send the next one."""
        exchange = Exchange(len(self.exchanges), session_id, self._random.random() < 0.5)
        self.exchanges.append(exchange)
        self._send(exchange)

    def send_again(self) -> list[Exchange]:
        """Send what may be repeated and has not been acknowledged."""
        self.in_flight.clear()  # their daemon is dead
        due = [exchange for exchange in self.exchanges if exchange.may_repeat and not exchange.acknowledged]
        for exchange in due:
            self._send(exchange)
        return due

    def receive(self, timeout_s: float) -> None:
        """Take what comes next."""
        try:
            message = self._wire.receive(timeout_s)
        except LOST:
            self._come_back()
            return
        if message is None or message.get("type") != RECORDED:
            return
        number = int(message["data"]["request_id"].partition("-")[2])
        self.in_flight.discard(number)
        assert message["data"]["ok"], f"exchange {number} was refused: {message['data']}"
        self.acknowledged += not self.exchanges[number].acknowledged
        self.exchanges[number].acknowledged = True

    def load(self, session_id: str, until_acknowledged: int, until: float) -> None:
        """Keep the daemon busy until so many were acknowledged, or until this time."""
        while self.acknowledged < until_acknowledged and (left_s := until - time.monotonic()) > 0:
            while len(self.in_flight) < IN_FLIGHT:
                self.new_exchange(session_id)
            self.receive(left_s)

    def _send(self, exchange: Exchange) -> None:
        self.in_flight.add(exchange.number)
        try:
            self._wire.send(RECORD, exchange.data, {"session": {"session_id": exchange.session_id}})
        except LOST:
            self._come_back()

    def _come_back(self) -> None:
        # ovos-messagebus 0.2.1a6 drops whoever sends while a killed client is still in its list (WebSocketClosedError)
        self._wire = Wire(self._port)
        self.in_flight.clear()
        self.lost_connections += 1


class Rounds:
    """All rounds on one data folder."""

    def __init__(self, folder: Path, port: int, seconds: float, seed: int) -> None:
        self._folder = folder
        self._port = port
        self._seconds = seconds
        self._random = random.Random(seed)
        self._data = folder / "memory"
        self._sender = Sender(port, self._random)
        self._unseen: list[str] = []
        """Sessions at which nobody looked since their daemon was killed."""

    @property
    def lost_connections(self) -> int:
        """How often the bus dropped the client."""
        return self._sender.lost_connections

    def run(self, number: int) -> Round:
        """Start, send again, look at what was sent before, load, kill."""
        outcome = Round(number)
        before = len(self._sender.exchanges), self._sender.acknowledged
        daemon = Daemon(self._folder / "home", self._data, self._port)
        try:
            if self._random.random() < 0.1:
                self._kill_while_starting(daemon, outcome)
                return outcome
            self._look_at(daemon, outcome, self._unseen)
            self._unseen = [f"round-{number}"]
            self._load(outcome, f"round-{number}")
        finally:
            daemon.kill()
        outcome.sent = len(self._sender.exchanges) - before[0]
        outcome.acknowledged = self._sender.acknowledged - before[1]
        return outcome

    def look_at_all(self, rounds: int) -> Round:
        """Look once more at every session, at the end."""
        outcome = Round(rounds, moment="the end, all rounds")
        daemon = Daemon(self._folder / "home", self._data, self._port)
        try:
            self._look_at(daemon, outcome, [f"round-{number}" for number in range(rounds)])
        finally:
            daemon.end()
        outcome.sent, outcome.acknowledged = len(self._sender.exchanges), self._sender.acknowledged
        return outcome

    def _load(self, outcome: Round, session_id: str) -> None:
        until_acknowledged, after_s = sys.maxsize, 30.0
        if self._random.random() < 0.5:
            count = self._random.randint(1, 300)
            outcome.moment = f"{count} acknowledged"
            until_acknowledged = self._sender.acknowledged + count
        else:
            after_s = self._random.uniform(0.002, self._seconds)
            outcome.moment = f"{after_s:.3f} s"
        self._sender.load(session_id, until_acknowledged, time.monotonic() + after_s)

    def _kill_while_starting(self, daemon: Daemon, outcome: Round) -> None:
        after_s = self._random.uniform(0, 1.5)
        outcome.moment = f"start + {after_s:.3f} s"
        until = time.monotonic() + after_s
        while (left_s := until - time.monotonic()) > 0 and daemon.lives:
            self._sender.receive(left_s)

    def _all_acknowledged(self, due: list[Exchange]) -> bool:
        if not self._sender.in_flight:
            self._sender.send_again()  # the connection was lost with them
        if not all(exchange.acknowledged for exchange in due):
            self._sender.receive(0.1)
        return all(exchange.acknowledged for exchange in due)

    def _look_at(self, daemon: Daemon, outcome: Round, session_ids: list[str]) -> None:
        daemon.wait_ready()
        due = self._sender.send_again()
        outcome.again = len(due)
        wait_until(lambda: self._all_acknowledged(due), "the acknowledgement of what was sent again")
        for session_id in session_ids:
            self._look(daemon, outcome, session_id)
        outcome.integrity = integrity(self._data / "memory.db")

    def _look(self, daemon: Daemon, outcome: Round, session_id: str) -> None:
        scope = Scope(session_id=session_id)
        with daemon.door() as client:
            kept = Counter(message.text for message in client.history(scope, max_history=None, hanging=True))
            turns = next((s.turns for s in client.sessions(scope, limit=1000) if s.session_id == session_id), 0)
        sent = [exchange for exchange in self._sender.exchanges if exchange.session_id == session_id]
        outcome.missing += [text for e in sent if e.acknowledged for text in e.texts if not kept[text]]
        outcome.double += [text for text, times in kept.items() if times > 1]
        outcome.torn += abs(turns - sum(kept.values()))


def integrity(database: Path) -> str:
    """What SQLite says about the file, read while the daemon has it open."""
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    try:
        return "; ".join(row[0] for row in connection.execute("PRAGMA integrity_check"))
    finally:
        connection.close()


def main() -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=200, help="kills (%(default)s)")
    parser.add_argument("--seconds", type=float, default=1.0, help="of load before a kill, at most (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the moments (%(default)s)")
    args = parser.parse_args()
    began = time.monotonic()
    print(" ".join(f"{name:>{width}}" for name, width in zip(COLUMNS, WIDTHS, strict=True)))
    with tempfile.TemporaryDirectory(prefix="crash-") as folder:
        port = free_port()
        bus = Bus(Path(folder) / "bus", port)
        try:
            rounds = Rounds(Path(folder), port, args.seconds, args.seed)
            outcomes = []
            for number in range(args.rounds):
                outcomes.append(rounds.run(number))
                print(outcomes[-1].line(), flush=True)
            outcomes.append(rounds.look_at_all(args.rounds))
            print(outcomes[-1].line(), flush=True)
        finally:
            bus.kill()
    bad = [asdict(outcome) for outcome in outcomes if not outcome.is_good]
    total = outcomes[-1]
    print(
        json.dumps(
            {
                "kills": args.rounds,
                "seed": args.seed,
                "exchanges_sent": total.sent,
                "exchanges_acknowledged": total.acknowledged,
                "sent_again": sum(outcome.again for outcome in outcomes),
                "connections_lost": rounds.lost_connections,
                "took_s": round(time.monotonic() - began, 1),
                "ok": not bad,
                "bad": bad,
            }
        )
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
