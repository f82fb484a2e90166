"""A store that holds something of every kind."""

from __future__ import annotations

import numpy as np

from ovos_persona_memory.config import parse
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import Document, Episode, Note, Pause, Place, Scope, ToolCall, Turn
from ovos_persona_memory.search.record_terms import index_words
from ovos_persona_memory.stores import open_store, parse_location
from ovos_persona_memory.stores.base.store import Store
from ovos_persona_memory.stores.base.vector_math import normalised

TURNS = 160


def opened(place: str) -> Store:
    return open_store(parse_location(place).backend, None, place=parse_location(place))


def fill(place: str, documents: bool = True) -> None:
    """Something of every kind."""
    store = opened(place)
    memory = PersonaMemory(store, parse({}), clock=lambda: 5000.0)
    for number in range(4):
        said = Turn("user", f"my cat is called Bob{number}", at=1000.0 + number)
        memory.record([said], Scope(f"s{number % 2}", ("household", "ada")[number % 2]))
    with store.transaction():
        for number in range(TURNS - 4):
            turn = Turn(
                ("user", "assistant")[number % 2],
                f"talk number {number} of the {'kitchen' if number % 3 else 'study'} ✓",
                id=f"turn-{number}",
                at=2000.0 + number / 3,
                session_id=f"session {number % 5}" if number % 7 else None,
                user_id=("household", "ada", "bob")[number % 3],
                tool_calls=(ToolCall("c", "lamp", {"on": True}),) if number % 50 == 1 else (),
                redacted=number % 60 == 3,
            )
            store.add_turn(turn, index_words(turn))
    memory.remember("the bins go out on Tuesday", key="bins", metadata={"room": "kitchen", "n": 1.5})
    memory.remember("the key is under the stone", Scope(user_id="ada"), key="key")
    for persona in (None, "Ada", "Bob"):
        memory.remember(f"{persona} knows where it is", Scope(persona_id=persona), key="safe", status="draft")
    memory.forget(Scope(), query="Bob0")
    last = store.turns(Scope("session 1", "ada"))[3]
    store.put_note("ada", "session 1", Note("they talked", "talk", last.seq, 3000.0))
    store.put_pause(Pause(Place("site", "study"), 10.0, None, False, True))
    for number in range(3):
        store.episode_store.add(
            Episode("intent", 1.0 + number, f"e{number}", outcome="handled", latency_ms=3.5), "lamp"
        )
    if documents:
        row = normalised(np.arange(1, 9, dtype=np.float32))
        store.document_store.put(Document("d", "a recipe", {"a": [1, {"b": None}]}, user_id="bob"), "recipe", row)
        store.document_store.put(Document("e", "another", namespace="own"), "another", None)
    memory.close()
