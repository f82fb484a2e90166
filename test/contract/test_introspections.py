"""On every store a look of a language model is undone to the letter, also after the store was opened anew."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ovos_persona_memory.config import parse
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.memory.tidying import Model
from ovos_persona_memory.records import ContextMessage, Scope, Turn
from ovos_persona_memory.stores.base.store import Store

HERE, EVERY = Scope(session_id="s1"), Scope()
NOW = 1_795_000_000.0
PROPOSED = [
    {"tool": "memory_add", "content": "the boiler was serviced in March", "turns": [1]},
    {"tool": "memory_add", "content": "the bins were serviced on Wednesday", "turns": [1, 3]},
    {"tool": "memory_update", "memory": 1, "content": "the bins go out on Wednesday", "turns": [3]},
    {"tool": "memory_delete", "memory": 2, "turns": [5]},
    {"tool": "working_memory_update", "content": "They spoke of bins."},
    {"tool": "session_description_update", "content": "bins"},
]


class Clock:
    now = NOW

    def __call__(self) -> float:
        self.now += 1
        return self.now


def answer(messages: Sequence[ContextMessage], lang: str | None) -> str:
    return json.dumps(PROPOSED)


def on(store: Store, clock: Clock) -> PersonaMemory:
    settings = {"introspection": {"model": "scripted"}, "facts": {"learn": False}}
    memory = PersonaMemory(store, parse(settings), clock)
    memory.models["introspection"] = Model("scripted", "chat", answer)
    memory.jobs_later = True
    return memory


def digest(store: Store) -> list[str]:
    kept = [*store.entries(Scope.whole()), *store.turns(Scope.everyone()), *store.notes(Scope.everyone())]
    words = [(record.id, found) for record, found in store.documents(Scope.whole(), frozenset({"turn", "memory"}))]
    return sorted(map(repr, [*kept, *words]))


def test_a_look_is_undone_to_the_letter(store: Store) -> None:
    clock = Clock()
    memory = on(store, clock)
    memory.remember("the green glass is collected by Kramer", key="glass", lang="en-US")
    memory.remember("the bins go out on Tuesday", key="bins", metadata={"by": "hand"}, lang="en-US")
    memory.update_session(HERE, summary="they met", description="of food")
    told = ("the boiler was serviced in March", "the bins go out on Wednesday", "please forget the green glass")
    for text in told:
        memory.record([Turn("user", text, lang="en-US"), Turn("assistant", "Noted.", lang="en-US")], HERE)
    before = digest(store)
    memory.introspect(EVERY)
    while memory.work():
        pass
    [run] = memory.introspect(EVERY)
    assert (run.refused, len(run.added), len(run.drafted)) == ((), 1, 1)
    assert (run.updated, run.discarded, run.summary, run.description) == (("bins",), ("glass",), True, True)
    again = on(store, clock)
    [undone] = again.introspect(EVERY, undo=run.id)
    assert (undone.undone, undone.left_alone) == (True, 0)
    assert digest(store) == before
