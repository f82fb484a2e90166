#!/usr/bin/env python3
"""Watch the daemon's system calls: is a turn on the disk before its acknowledgement leaves?

strace follows a real daemon while turns are recorded: one after the other over the bus and through the owner's door,
then many at once over the bus. For each: the write that holds the turn goes to the journal (memory.db-wal), an
fdatasync or fsync of the journal starts after its transaction was written to the end (the frame that commits it) and
has returned 0 before the send that carries the acknowledgement starts. One line of JSON; status 1 where that does not
hold, 3 where strace cannot run here.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "test")]  # a script is run where it stands

from support.servers.bus import HOST, Bus, Daemon, wait_until  # noqa: E402  (the line above must come first)
from support.servers.ports import free_port  # noqa: E402  (the line above must come first)

from ovos_persona_memory.protocol import MemoryClient  # noqa: E402
from ovos_persona_memory.protocol.transport import BusTransport  # noqa: E402
from ovos_persona_memory.records import Scope, Turn  # noqa: E402

JOURNAL = "memory.db-wal"
CALLS = "write,pwrite64,writev,pwritev,pwritev2,sendto,sendmsg,fsync,fdatasync"
ACKNOWLEDGEMENT = b"ovos.persona.memory.record.response"
_LINE = re.compile(r"^(\d+) +(.*)$")
_RESUMED = re.compile(r"^<\.\.\. (\w+) resumed>(.*)$")
_BYTES = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
_FILE = re.compile(r"^\w+\(\d+<((?:\\x[0-9a-f]{2})*)")


@dataclass
class Call:
    """A system call: where in the trace it began and returned."""

    name: str
    text: str
    began: int
    returned: int

    @cached_property
    def file(self) -> str:
        """Name of the file, or "socket:" and a number."""
        matched = _FILE.match(self.text)
        return _unescaped(matched.group(1)).decode() if matched else ""

    @property
    def is_of_journal(self) -> bool:
        return self.file.endswith(JOURNAL)

    @property
    def is_sync(self) -> bool:
        return self.name in ("fsync", "fdatasync") and self.is_of_journal and self.text.rstrip().endswith("= 0")

    @property
    def is_send(self) -> bool:
        return self.name in ("sendto", "sendmsg") or (self.name == "write" and self.file.startswith("socket:"))

    @cached_property
    def payload(self) -> bytes:
        """The bytes that were written; those of a websocket frame without their mask (RFC 6455, 5.2 and 5.3)."""
        raw = b"".join(map(_unescaped, _BYTES.findall(self.text)))
        if len(raw) < 6 or raw[0] not in (0x81, 0x82) or not raw[1] & 0x80:
            return raw
        start = {126: 4, 127: 10}.get(raw[1] & 0x7F, 2)
        mask = raw[start : start + 4]
        return bytes(byte ^ mask[number % 4] for number, byte in enumerate(raw[start + 4 :]))


def _unescaped(text: str) -> bytes:
    return bytes.fromhex(text.replace("\\x", ""))


def what_is_missing() -> str | None:
    """Why strace cannot watch a process here; None where it can."""
    strace = shutil.which("strace")
    if strace is None:
        return "strace is not installed (apt install strace)"
    tried = subprocess.run([strace, "-f", "-o", "/dev/null", "true"], capture_output=True, text=True, check=False)
    return f"strace may not trace here (ptrace): {tried.stderr.strip()}" if tried.returncode else None


def calls(trace: str) -> list[Call]:
    """The calls of a trace, in the order in which they began."""
    found: list[Call] = []
    unfinished: dict[str, Call] = {}
    for number, line in enumerate(trace.splitlines()):
        matched = _LINE.match(line)
        if not matched:
            continue
        thread, text = matched.groups()
        resumed = _RESUMED.match(text)
        if resumed and thread in unfinished:
            call = unfinished.pop(thread)
            call.text, call.returned = call.text + resumed.group(2), number
        elif re.match(r"\w+\(", text):
            call = Call(text.partition("(")[0], text.replace("<unfinished ...>", ""), number, number)
            found.append(call)
            if text.endswith("<unfinished ...>"):
                unfinished[thread] = call
    return found


def verdict(found: list[Call], marker: bytes, acknowledged: Call) -> str:
    """Whether the turn with this text was safe before it was acknowledged: "ok", or what was wrong."""
    before = [call for call in found if call.began < acknowledged.began]
    writes = [call for call in before if call.is_of_journal and "sync" not in call.name]
    holding = [place for place, call in enumerate(writes) if marker in call.payload]
    if not holding:
        return "was acknowledged before it was written to the journal"
    written = end_of_transaction(writes, holding[0])
    if written is None:
        return "was acknowledged before it was committed"
    syncs = [call for call in before if call.is_sync]
    synced = any(written.returned < call.began <= call.returned < acknowledged.began for call in syncs)
    return "ok" if synced else "was acknowledged before the journal was on the disk"


def end_of_transaction(writes: list[Call], place: int) -> Call | None:
    """The write of the last page of the transaction to which this write belongs.

    A frame is a header of 24 bytes and a page; the header of the last one holds the size of the database in bytes
    4 to 7, that of the others zero (sqlite.org/fileformat2.html, 4.1).
    """
    for number in range(max(place - 1, 0), len(writes) - 1):
        header = writes[number].payload
        if len(header) == 24 and any(header[4:8]):
            return writes[number + 1]
    return None


def verdicts(trace: str, texts: list[str]) -> list[str]:
    """The verdict on each of these texts, which were acknowledged in this order."""
    found = calls(trace)
    acknowledged = [call for call in found if call.is_send and ACKNOWLEDGEMENT in call.payload]
    if len(acknowledged) != len(texts):
        return [f"{len(texts)} were recorded, {len(acknowledged)} acknowledgements were sent"] * len(texts)
    return [verdict(found, text.encode(), call) for text, call in zip(texts, acknowledged, strict=True)]


def record_all(folder: Path, count: int) -> dict[str, list[str]]:
    """Record so many turns by each way with strace watching, into folder / "trace"; the texts by way."""
    port, trace = free_port(), folder / "trace"
    watched = ("strace", "-D", "-f", "-y", "-xx", "-s", "100000", "-e", f"trace={CALLS}", "-o", str(trace))
    bus = Bus(folder / "bus", port)
    daemon = Daemon(folder / "home", folder / "memory", port, wrapped=watched)
    texts: dict[str, list[str]] = {"bus": [], "door": [], "crowd": []}
    try:
        daemon.wait_ready(timeout_s=120)
        with MemoryClient.over_bus(host=HOST, port=port) as by_bus, daemon.door() as by_door:
            for way, client in (("bus", by_bus), ("door", by_door)):
                for number in range(count):
                    texts[way].append(f"fsync order {way} {number:04d}")
                    client.record([Turn(role="user", text=texts[way][-1])], Scope(session_id=way))
        texts["crowd"] = record_at_once(port, count)
        daemon.kill()
        ended = re.compile(rf"^{daemon.popen.pid} +\+\+\+ killed", re.MULTILINE)  # short numbers are padded
        wait_until(lambda: ended.search(trace.read_text()) is not None, "the end of the trace")
    finally:
        daemon.kill()
        bus.kill()
    return texts


def record_at_once(port: int, count: int) -> list[str]:
    """Record so many turns without waiting for one another; their texts in the order of the acknowledgements."""
    texts = [f"fsync order crowd {number:04d}" for number in range(count)]
    answered: list[str] = []
    transport = BusTransport(host=HOST, port=port)
    transport.listeners.append(lambda request_id, _: answered.append(request_id))
    transport.bus.start()
    try:
        transport.wait_connected(10)
        for text in texts:
            turns = {"turns": [{"role": "user", "text": text}], "request_id": text}
            transport.tell("record", turns, Scope(session_id="crowd"), {"session": {"session_id": "crowd"}})
        wait_until(lambda: len(answered) >= count, "every acknowledgement")
    finally:
        transport.close()
    return answered


def main() -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--records", type=int, default=50, help="by the bus, and as many by the door (%(default)s)")
    parser.add_argument("--trace", type=Path, help="keep the trace in this file")
    args = parser.parse_args()
    if missing := what_is_missing():
        print(missing, file=sys.stderr)
        return 3
    with tempfile.TemporaryDirectory(prefix="fsync-") as folder:
        by_way = record_all(Path(folder), args.records)
        trace = (Path(folder) / "trace").read_text()
        if args.trace:
            args.trace.write_text(trace)
    texts = [text for some in by_way.values() for text in some]
    wrong = [f"{text}: {said}" for text, said in zip(texts, verdicts(trace, texts), strict=True) if said != "ok"]
    print(json.dumps({**{way: len(some) for way, some in by_way.items()}, "ok": not wrong, "wrong": wrong[:20]}))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
