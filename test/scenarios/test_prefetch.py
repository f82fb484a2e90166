"""What a persona will be handed is found while the assistant still thinks, and never handed out of date."""

from __future__ import annotations

import pytest

from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import ContextRequest, Heard, Scope, Turn
from ovos_persona_memory.search import prefetch
from ovos_persona_memory.stores.inmemory.store import InMemoryStore

HERE = Scope(session_id="here")
QUESTION = "what is my cat called"


class Watched:
    """A memory, with its clock and how often it searched."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.searched = 1000.0, 0
        found = prefetch.recall

        def counted(*args: object) -> object:
            self.searched += 1
            return found(*args)  # type: ignore[arg-type]

        monkeypatch.setattr(prefetch, "recall", counted)
        self.store = InMemoryStore()
        self.memory = PersonaMemory(self.store, MemoryConfig(), clock=lambda: self.now)
        self.memory.record([Turn("user", "my cat is called Bob", lang="en-US")], Scope(session_id="elsewhere"))
        self.now += 100

    def hear(self, text: str) -> Turn:
        scope = Scope(session_id="here")
        return self.memory.hear(Heard("utterance", scope, self.now, text, "en-US", session_id="here"))[0]

    def texts(self, utterance: str = QUESTION, scope: Scope = HERE) -> list[str]:
        return [hit.text for hit in self.memory.context(ContextRequest(utterance, scope, lang="en-US")).hits]


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Watched:
    made = Watched(monkeypatch)
    made.texts("what is new")  # a persona asks in this session
    return made


def test_what_was_foreseen_is_handed_out_without_another_search(watched: Watched) -> None:
    watched.memory.prefetch(watched.hear(QUESTION))
    before = watched.searched
    assert watched.texts() == ["my cat is called Bob"]
    assert watched.searched == before


def test_it_is_what_a_search_would_have_found(watched: Watched) -> None:
    turn = watched.hear(QUESTION)
    searched = watched.texts()
    watched.memory.prefetch(turn)
    assert watched.texts() == searched != []


def test_before_any_persona_asked_nothing_is_foreseen(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = Watched(monkeypatch)
    fresh.memory.prefetch(fresh.hear(QUESTION))
    assert fresh.searched == 0


def test_the_persona_hears_it_without_its_question_mark(watched: Watched) -> None:
    watched.memory.prefetch(watched.hear("What is my cat called?"))
    before = watched.searched
    assert watched.texts() == ["my cat is called Bob"]
    assert watched.searched == before


@pytest.mark.parametrize(
    ("utterance", "scope"),
    [
        ("what is my dog called", HERE),
        (QUESTION, Scope(session_id="here", user_id="u_2")),
        (QUESTION, Scope(session_id="here", auth_level=0)),
        (QUESTION, Scope(session_id="here", persona_id="Scribe")),
    ],
)
def test_another_question_person_level_or_persona_is_searched_for(
    watched: Watched, utterance: str, scope: Scope
) -> None:
    watched.memory.prefetch(watched.hear(QUESTION))
    before = watched.searched
    watched.texts(utterance, scope)
    assert watched.searched == before + 1


def test_after_a_change_or_a_while_it_is_searched_anew(watched: Watched) -> None:
    watched.memory.prefetch(watched.hear(QUESTION))
    watched.memory.forget(Scope(), query="Bob")
    watched.memory.finding.invalidate()
    assert watched.texts() == []
    watched.memory.prefetch(watched.hear(QUESTION))
    before = watched.searched
    watched.now += prefetch.FORESEEN_S
    watched.texts()
    assert watched.searched == before + 1


def test_what_somebody_else_changed_in_the_store_meanwhile_is_not_handed_out(watched: Watched) -> None:
    watched.memory.remember("the cat called Bob likes tuna", Scope(), key="tuna")
    turn = watched.hear(QUESTION)
    watched.memory.prefetch(turn)
    foreseen = watched.texts()
    other = PersonaMemory(watched.store, MemoryConfig(), clock=lambda: watched.now)
    assert other.forget(Scope(), query="Bob")
    assert "my cat is called Bob" in foreseen
    assert watched.texts() == []


def test_while_reading_is_off_nothing_is_foreseen_or_handed_out(watched: Watched) -> None:
    turn = watched.hear(QUESTION)
    watched.memory.prefetch(turn)
    watched.memory.capture(Scope(), read=False)
    assert watched.texts() == []
    before = watched.searched
    watched.memory.prefetch(turn)
    assert watched.searched == before


def test_what_was_said_to_a_persona_just_before_is_foreseen(watched: Watched) -> None:
    told = watched.hear("the spare key is in the shed")
    watched.memory.context(ContextRequest(told.text, HERE, lang="en-US", utterance_id="u-1"))
    watched.memory.hear(Heard("matched", HERE, watched.now, told.text, "en-US", session_id="here", utterance_id="u-1"))
    watched.now += 10
    watched.memory.prefetch(watched.hear("where is the spare key"))
    assert watched.texts("where is the spare key") == ["the spare key is in the shed"]


def test_a_compound_is_foreseen_by_its_part(watched: Watched) -> None:
    told = Turn("user", "mein Werkstatttermin ist am Montag um acht", lang="de-DE")
    watched.memory.record([told], Scope(session_id="elsewhere"))
    heard = Heard("utterance", HERE, watched.now, "wann muss ich in die Werkstatt", "de-DE", session_id="here")
    (turn,) = watched.memory.hear(heard)
    watched.memory.prefetch(turn)
    before = watched.searched
    request = ContextRequest(turn.text, HERE, lang="de-DE", utterance_id="u-1")
    assert [hit.text for hit in watched.memory.context(request).hits] == [told.text]
    assert watched.searched == before
