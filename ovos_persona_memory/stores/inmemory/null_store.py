"""Null object for a kind of memory that is off: it accepts writes and keeps nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ovos_persona_memory.errors import NotAllowed
from ovos_persona_memory.records import Decision, Document, Entry, Episode, Fact, FactChange, Note, Turn
from ovos_persona_memory.stores.base.store import refuse_unstorable
from ovos_persona_memory.stores.base.vector_math import Bytes, Floats
from ovos_persona_memory.stores.base.vectors import PendingText, VectorIndex
from ovos_persona_memory.stores.inmemory.documents import InMemoryDocuments
from ovos_persona_memory.stores.inmemory.episodes import InMemoryEpisodes
from ovos_persona_memory.stores.inmemory.facts import InMemoryFacts
from ovos_persona_memory.stores.inmemory.store import InMemoryStore
from ovos_persona_memory.stores.inmemory.vectors import InMemoryVectors


class NullStore(InMemoryStore):
    """Turns pass through it; a request to keep something is refused with NotAllowed."""

    durable = True  # nothing that it acknowledged is lost
    keeps_turns = False

    def __init__(self) -> None:
        super().__init__()
        changes = self._changes()
        self.episode_store = _NoEpisodes(changes)
        self.fact_store = _NoFacts(changes)
        self.document_store = self._documents = _NoDocuments(changes)
        self.vector_store = self._vectors = _NoVectors(changes, self._documents.numbered)

    def add_turn(self, turn: Turn, words: str) -> Turn:
        refuse_unstorable(turn, words)
        with self.transaction():
            return replace(turn, seq=self._next_seq())

    def change_turn(self, turn: Turn, words: str) -> None:
        refuse_unstorable(turn, words)

    def put_note(self, user_id: str, session_id: str, note: Note) -> None:
        refuse_unstorable(note, user_id, session_id)

    def put_entry(self, entry: Entry, words: str) -> Entry:
        raise NotAllowed("lasting memories are not kept here: the setting kinds.facts names no backend")


class _NoEpisodes(InMemoryEpisodes):
    def add(self, episode: Episode, words: str = "") -> Episode:
        refuse_unstorable(episode, words)
        return episode


class _NoFacts(InMemoryFacts):
    def put(self, fact: Fact, words: str) -> Fact:
        refuse_unstorable(fact, words)
        return fact

    def add_change(self, change: FactChange) -> None:
        refuse_unstorable(change)

    def add_decision(self, decision: Decision) -> None:
        refuse_unstorable(decision)


class _NoDocuments(InMemoryDocuments):
    def put(self, document: Document, words: str, embedding: Floats | None) -> None:
        raise NotAllowed("documents are not kept here: the setting kinds.semantic names no backend")


class _NoVectors(InMemoryVectors):
    def wrote(self, record: Turn | Entry) -> None:
        pass

    def deleted(self, record: Turn | Entry) -> None:
        pass

    def start(self, index: VectorIndex) -> None:
        pass

    def lag(self, name: str | None) -> int:
        return 0

    def pending(self, name: str, limit: int) -> list[PendingText]:
        return []

    def put(self, name: str, taken: Sequence[PendingText], vectors: Bytes) -> None:
        pass
