"""What is answered to a request, made of what a verb gives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import Request, Scope
from ovos_persona_memory.service.verb_handlers import answer

CONFIG = MemoryConfig(backend="inmemory")


@pytest.fixture
def memory() -> Iterator[PersonaMemory]:
    with PersonaMemory.open(config=CONFIG) as memory:
        memory.learns_later = True  # as in the daemon
        yield memory


def asked(memory: PersonaMemory, verb: str, lang: str, session: str = "s", **data: Any) -> dict[str, Any]:
    return answer(memory, CONFIG, Request(verb, data, Scope(session_id=session), lang=lang), owner=False)


@pytest.mark.parametrize(
    ("lang", "told", "corrected", "small_talk"),
    [
        ("en-US", "my brother works as a smith", "my brother works as a cook", "good evening"),
        ("de-DE", "mein Bruder arbeitet als Schmied", "mein Bruder arbeitet als Koch", "guten Abend"),
        ("fr-FR", "mon frère travaille comme cuisinier", "mon frère travaille comme forgeron", "bonsoir"),
    ],
)
def test_what_was_corrected_is_not_told_as_learned_from_what_is_said_next(
    memory: PersonaMemory, lang: str, told: str, corrected: str, small_talk: str
) -> None:
    added = asked(memory, "facts.add", lang, text=told)
    assert added["learned"] == [added["fact"]["id"]]
    memory.facts.correct(added["fact"]["id"], corrected)
    recorded = asked(memory, "record", lang, "elsewhere", turns=[{"role": "user", "text": small_talk}])
    assert len(recorded["ids"]) == 1 and recorded["learned"] == []
