"""What is heard and handed in becomes the log, each turn once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ovos_persona_memory.config import HistoryConfig, MemoryConfig
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import Heard, Scope, Turn
from ovos_persona_memory.stores.inmemory.store import InMemoryStore

S1 = Scope(session_id="s1")


class Talk:
    """A conversation on the bus, one event a second."""

    def __init__(self, **settings: Any) -> None:
        self.store = InMemoryStore()
        self.now = 1000.0
        config = MemoryConfig(history=HistoryConfig(**settings))
        self.memory = PersonaMemory(self.store, config, clock=lambda: self.now)

    def hear(self, what: str, text: str = "", **fields: Any) -> list[Turn]:
        self.now += 1
        session = fields.pop("session_id", "s1")
        heard = Heard(what, Scope(session_id=session), self.now, text, session_id=session, **fields)
        with self.memory.transaction():
            return self.memory.transcript.hear(heard)

    def exchange(self, question: str, answer: str, utterance_id: str, **spoken: Any) -> None:
        self.hear("utterance", question)
        self.hear("matched", question, utterance_id=utterance_id)
        self.hear("speech", answer, utterance_id=utterance_id, **spoken)

    def record(self, *texts: str, utterance_id: str | None = None, delivery_id: str = "d1") -> list[str]:
        turns = [Turn("user" if n % 2 == 0 else "assistant", text) for n, text in enumerate(texts)]
        scope = replace(S1, persona_id="Scribe")
        return self.memory.record(turns, scope, True, delivery_id, utterance_id)

    @property
    def log(self) -> list[str]:
        return [turn.text for turn in self.store.turns(Scope())]

    @property
    def history(self) -> list[str]:
        return [f"{m.role[0].upper()} {m.text}" for m in self.memory.history(S1, max_history=None)]


@pytest.fixture
def talk() -> Talk:
    return Talk()


def test_the_user_turn_takes_the_first_new_id_seen_after_it(talk: Talk) -> None:
    talk.exchange("hello", "hi", "u1")
    assert [turn.utterance_id for turn in talk.store.turns(S1)] == ["u1", "u1"]


def test_two_utterances_take_their_own_ids_by_what_was_matched(talk: Talk) -> None:
    talk.hear("utterance", "one")
    talk.hear("utterance", "two")
    talk.hear("matched", "two", utterance_id="u2")
    talk.hear("matched", "one", utterance_id="u1")
    talk.hear("speech", "two!", utterance_id="u2")
    talk.hear("speech", "one!", utterance_id="u1")
    assert talk.history == ["U one", "A one!", "U two", "A two!"]


def test_machine_talk_answers_nothing(talk: Talk) -> None:
    talk.exchange("mumble", "I did not understand", "u1", skill_id="ovos-skill-fallback-unknown.openvoiceos")
    talk.exchange("hm", "no answer", "u2", dialog="persona_error")
    assert talk.history == []
    assert talk.log == ["mumble", "I did not understand", "hm", "no answer"]


def test_a_cancelled_utterance_leaves_nothing(talk: Talk) -> None:
    talk.exchange("hello", "hi", "u1")
    talk.hear("utterance", "no wait never mind")
    talk.hear("cancelled", utterance_id="u2")
    assert talk.log == ["hello", "hi"]


def test_a_cancelled_utterance_without_an_id_is_the_newest(talk: Talk) -> None:
    talk.hear("utterance", "hello")
    talk.hear("speech", "hi")
    talk.hear("utterance", "never mind")
    talk.hear("cancelled")
    assert talk.log == ["hello", "hi"]


def test_talk_about_forgetting_is_logged_without_its_words(talk: Talk) -> None:
    talk.exchange("hello", "hi", "u1")
    talk.hear("utterance", "forget my cat")
    talk.hear("matched", "forget my cat", utterance_id="u2", skill_id="ovos-skill-persona-memory.openvoiceos",
              intent="forget.intent")  # fmt: skip
    talk.hear("speech", "I forgot your cat", utterance_id="u2")
    assert talk.log == ["hello", "hi", "", ""]
    assert talk.history == ["U hello", "A hi"]


def test_a_personas_record_of_what_was_heard_adds_its_name_and_nothing_else(talk: Talk) -> None:
    talk.hear("utterance", "tell me two things")
    talk.hear("speech", "First.", utterance_id="u1")
    talk.hear("speech", "Second.", utterance_id="u1")
    ids = talk.record("tell me two things", "First. Second.", utterance_id="u1")
    assert talk.log == ["tell me two things", "First.", "Second."]
    assert {turn.persona_id for turn in talk.store.turns(S1)} == {"Scribe"}
    assert ids == [talk.store.turns(S1)[0].id, talk.store.turns(S1)[2].id]


def test_a_record_that_arrives_before_the_speech_is_not_doubled_by_it(talk: Talk) -> None:
    talk.hear("utterance", "tell me two things")
    talk.hear("persona_turn", "tell me two things", utterance_id="u1", persona_id="Scribe")
    talk.record("tell me two things", "First. Second.", utterance_id="u1")
    talk.hear("speech", "First.", utterance_id="u1")
    talk.hear("speech", "Second.", utterance_id="u1")
    assert talk.log == ["tell me two things", "First. Second."]
    assert talk.history == ["U tell me two things", "A First. Second."]


def test_a_record_without_an_id_is_linked_by_the_answers_text(talk: Talk) -> None:
    talk.hear("utterance", "ask Scribe about tea")
    talk.hear("speech", "Tea  is hot.")
    talk.record("about tea", "Tea is hot.")
    assert talk.log == ["ask Scribe about tea", "Tea  is hot."]


def test_a_record_that_arrives_first_is_joined_with_what_was_heard_by_its_text(talk: Talk) -> None:
    talk.hear("utterance", "ask Scribe for two things")
    talk.record("two things", "First. Second.")
    talk.hear("speech", "First.")
    talk.hear("speech", "Second.")
    assert talk.log == ["ask Scribe for two things", "First. Second."]
    assert talk.history == ["U ask Scribe for two things", "A First. Second."]


def test_a_record_of_what_was_not_heard_is_kept_as_it_was_passed(talk: Talk) -> None:
    talk.record("hello", "hi")
    assert talk.history == ["U hello", "A hi"]


def test_a_delivery_that_comes_twice_is_kept_once(talk: Talk) -> None:
    first = talk.record("hello", "hi", delivery_id="d7")
    assert talk.record("hello", "hi", delivery_id="d7") == first
    assert talk.log == ["hello", "hi"]


def test_a_linked_record_that_comes_again_adds_nothing(talk: Talk) -> None:
    talk.exchange("hello", "hi", "u1")
    first = talk.record("hello", "hi", utterance_id="u1")
    assert talk.record("hello", "hi", utterance_id="u1") == first
    assert talk.log == ["hello", "hi"]


def test_the_same_question_and_answer_twice_are_both_kept(talk: Talk) -> None:
    for utterance_id in ("u1", "u2"):
        talk.exchange("time?", "noon", utterance_id)
        talk.record("time?", "noon", utterance_id=utterance_id, delivery_id=utterance_id)
    assert talk.history == ["U time?", "A noon", "U time?", "A noon"]


def test_a_statement_handed_in_alone_is_the_utterance_that_was_heard(talk: Talk) -> None:
    heard = talk.hear("utterance", "my cat is called Bob")
    ids = talk.memory.record([Turn("user", "my cat is called Bob")], S1, utterance_id="u1")
    assert ids == [heard[0].id]
    assert talk.log == ["my cat is called Bob"]


def test_an_out_of_band_question_is_found_but_in_no_history(talk: Talk) -> None:
    talk.hear("query", "what is tea", persona_id="Scribe")
    assert talk.log == []
    talk.hear("answer", "a drink", question="what is tea", persona_id="Scribe")
    talk.hear("answer", "another", question="what is tea", persona_id="Scribe")
    assert talk.log == ["what is tea", "a drink"]
    assert talk.history == []
    assert talk.memory.recall("tea drink", S1)


def test_nothing_is_written_that_is_heard_while_capture_is_off(talk: Talk) -> None:
    talk.memory.capture(write=False)
    talk.exchange("secret", "ok", "u1")
    assert talk.record("secret", "ok", utterance_id="u1") == []
    assert talk.log == []
    talk.memory.capture(write=True)
    talk.exchange("hello", "hi", "u2")
    assert talk.log == ["hello", "hi"]


def test_capture_of_one_session_leaves_the_others_alone(talk: Talk) -> None:
    talk.memory.capture(S1, write=False, session=True)
    talk.hear("utterance", "secret")
    talk.hear("utterance", "public", session_id="s2")
    assert talk.log == ["public"]


def test_capture_that_has_an_end_comes_back_by_itself(talk: Talk) -> None:
    talk.memory.capture(write=False, read=False, until=talk.now + 10)
    talk.hear("utterance", "secret")
    assert not talk.memory.capture().write
    talk.now += 20
    talk.hear("utterance", "public")
    assert talk.log == ["public"]
    assert talk.memory.capture().until is None


def test_what_was_said_during_a_pause_is_not_written_when_it_is_delivered_later(talk: Talk) -> None:
    talk.memory.capture(write=False, until=talk.now + 10)
    said_at = talk.now + 5
    talk.now += 60
    assert talk.memory.record([Turn("user", "secret", at=said_at)], S1) == []
    assert talk.memory.record([Turn("user", "public", at=talk.now)], S1)


def test_nothing_is_read_while_reading_is_off(talk: Talk) -> None:
    talk.exchange("my cat is called Bob", "nice", "u1")
    talk.memory.capture(read=False)
    assert talk.history == []
    assert talk.memory.recall("cat", S1) == []
    talk.memory.capture(read=True)
    assert talk.history
    assert talk.memory.recall("cat", S1)


# what nothing is learned from


def test_nothing_is_learned_from_what_is_recorded_to_be_unlearned(talk: Talk) -> None:
    turns = [Turn("user", "my cat is called Bob", lang="en-US"), Turn("assistant", "Nice.")]
    talk.memory.record(turns, S1, as_passed=True, learn=False)
    talk.memory.facts.settle()
    assert talk.memory.facts.list() == talk.memory.facts.decisions() == []
    assert talk.history == ["U my cat is called Bob", "A Nice."]


@pytest.mark.parametrize("utterance_id", ["u2", None])
@pytest.mark.parametrize("first", ["speech", "record"])
def test_what_was_learned_when_it_was_heard_is_taken_out_again(
    talk: Talk, utterance_id: str | None, first: str
) -> None:
    for number, text in enumerate(("I live in Berlin", "I live in Lisbon"), start=1):
        talk.hear("utterance", text, lang="en-US")
        if utterance_id is not None:
            talk.hear("matched", text, utterance_id=f"u{number}", lang="en-US")
    assert [fact.value for fact in talk.memory.facts.list()] == ["Lisbon"]
    if first == "speech":
        talk.hear("speech", "Nice.", utterance_id=utterance_id)
    turns = [Turn("user", "I live in Lisbon", lang="en-US"), Turn("assistant", "Nice.")]
    talk.memory.record(turns, S1, True, "d1", utterance_id, learn=False)
    if first == "record":
        talk.hear("speech", "Nice.", utterance_id=utterance_id)
    assert [fact.value for fact in talk.memory.facts.list()] == ["Berlin"]
    assert talk.log.count("I live in Lisbon") == 1


def test_what_is_said_again_elsewhere_is_learned_from_there(talk: Talk) -> None:
    talk.hear("utterance", "my cat is called Bob", lang="en-US")
    talk.memory.record([Turn("user", "my cat is called Bob", lang="en-US")], S1, True, "d1", learn=False)
    assert talk.memory.facts.list() == []
    talk.hear("utterance", "my cat is called Bob", lang="en-US", session_id="s2")
    assert [fact.value for fact in talk.memory.facts.list()] == ["Bob"]


def test_a_fact_does_not_live_on_in_a_turn_that_nothing_is_learned_from(talk: Talk) -> None:
    talk.hear("utterance", "I like tea", lang="en-US")
    talk.now += 100
    talk.hear("utterance", "I like tea", lang="en-US", session_id="s2")
    turns = [Turn("user", "I like tea", lang="en-US")]
    talk.memory.record(turns, Scope(session_id="s2"), True, "d1", learn=False)
    assert [fact.value for fact in talk.memory.facts.list()] == ["tea"]
    assert talk.memory.forget(S1) >= 1
    assert talk.memory.facts.list() == []


# what is recorded twice, or without an answer


def test_a_personas_memory_and_its_engine_that_record_the_same_are_one_record(talk: Talk) -> None:
    talk.hear("utterance", "tell me two things")
    talk.hear("matched", "tell me two things", utterance_id="u1")
    ids = [
        talk.record("tell me two things", text, utterance_id="u1", delivery_id=name)
        for name, text in (("engine", "First.\nSecond."), ("memory", "First. Second."))
    ]
    assert ids[0] == ids[1]
    talk.hear("speech", "First.", utterance_id="u1")
    talk.hear("speech", "Second.", utterance_id="u1")
    assert talk.log == ["tell me two things", "First.\nSecond."]


def test_a_question_recorded_without_an_answer_is_the_one_that_was_heard(talk: Talk) -> None:
    talk.hear("utterance", "Hello there!")
    assert talk.record("hello there") == [talk.store.turns(S1)[0].id]
    assert talk.log == ["Hello there!"]
    talk.record("hello there", delivery_id="d2")
    assert talk.log == ["Hello there!", "hello there"], "that one was recorded already"
