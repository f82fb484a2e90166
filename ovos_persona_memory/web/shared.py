"""What all visits of the page share: the memory, who may come in, what is being deleted, texts and templates."""

from __future__ import annotations

import functools
import hashlib
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from ovos_utils.log import LOG

from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.errors import NoAnswer
from ovos_persona_memory.protocol import LocalTransport, MemoryClient
from ovos_persona_memory.records import User
from ovos_persona_memory.web import texts
from ovos_persona_memory.web.access import Access
from ovos_persona_memory.web.backups import BackupService
from ovos_persona_memory.web.going import UNDO_S, Going
from ovos_persona_memory.web.texts import Texts

HERE = Path(__file__).parent
PATIENCE_S = 60.0
"""How long an answer of the memory is waited for, seconds."""
FORGET_WITHIN_S = 600.0
"""Likewise that of a deletion: rewriting the files of a large memory takes its time."""
USERS_FOR_S = 5.0
"""The list of people is asked for anew after so long, seconds."""
SAMPLE_S = 60.0
SAMPLES = 720
"""Samples of the figures that are kept: half a day of talk."""
ASSETS = {path.name: path for path in (HERE / "static").iterdir()}
"""The page's own files, by their names."""
AREAS = (
    ("/", "timeline"),
    ("/known", "known"),
    ("/review", "review"),
    ("/people", "people"),
    ("/preview", "preview"),
    ("/remembering", "remembering"),
    ("/forget", "forget"),
    ("/move", "move"),
    ("/health", "health"),
)
"""The parts of the page that its menu lists: address, and name of the text."""


class Shared:
    """What all visits share. Thread-safe."""

    def __init__(
        self,
        config: MemoryConfig,
        transport: LocalTransport,
        clock: Callable[[], float],
        backups: BackupService | None = None,
    ) -> None:
        self.config, self.clock, self.transport = config, clock, transport
        self.backups = backups
        """None where the memory cannot be backed up from here."""
        self.memory = MemoryClient(transport, PATIENCE_S)
        self.access = Access(config.folder, clock)
        self.going = Going(config.folder, clock, self._carry_out)
        self.figures: deque[Mapping[str, float]] = deque(maxlen=SAMPLES)
        self.templates = _templates()
        self._users: tuple[float, Sequence[User]] = (float("-inf"), ())

    def users(self) -> Sequence[User]:
        """The people of whom anything is kept, the most recent first."""
        asked_at, known = self._users
        if self.clock() - asked_at > USERS_FOR_S:
            known = self.memory.users.list(counted=False)
            self._users = (self.clock(), known)
        return known

    def users_changed(self) -> None:
        """Ask for the list of people anew."""
        self._users = (float("-inf"), ())

    def words(self, spoken: Texts) -> dict[str, Any]:
        """What every template can use."""
        now = self.clock()
        return {
            "t": spoken,
            "moment": functools.partial(spoken.moment, now=now),
            "day_in_words": functools.partial(spoken.day, now=now),
            "time_of": spoken.time,
            "iso": texts.iso,
            "figure": texts.figure,
            "going": self.going.waiting(),
            "undo_s": int(UNDO_S),
        }

    def sample(self, status: Mapping[str, Any]) -> Mapping[str, float]:
        """One sample of the figures out of an answer of ``status``; it is kept where the last one is old enough."""
        latency = status["latency_ms"]
        made: dict[str, float] = {
            "at": self.clock(),
            "context": latency.get("context", {}).get("p95", 0.0),
            "recall": latency.get("recall", {}).get("p95", 0.0),
            "turns": status["counts"]["turns"],
            "bytes": status["store"].get("bytes", 0),
            "lag": status["index_lag"],
        }
        if not self.figures or made["at"] - self.figures[-1]["at"] >= SAMPLE_S:
            self.figures.append(made)
        return made

    def _carry_out(self, verb: str, data: Mapping[str, Any]) -> None:
        answer = self.transport.carry(verb, data, FORGET_WITHIN_S)
        if answer.get("ok") is not True and answer.get("error") not in ("invalid", "unknown_entry"):
            LOG.warning("a deletion that was asked for on the page waits: %s", answer.get("error"))
            raise NoAnswer(str(answer.get("reason")))


@functools.cache
def asset(name: str) -> str:
    """The address of a file of the page, another one whenever the file is another."""
    return f"/static/{name}?{hashlib.blake2b(ASSETS[name].read_bytes(), digest_size=6).hexdigest()}"


def _templates() -> Environment:
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.globals |= {"areas": AREAS, "asset": asset}
    return made
