"""From what somebody asks to have forgotten to the records that go."""

from __future__ import annotations

from typing import Any

import pytest

from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.memory.forgetting import NOTED
from ovos_persona_memory.records import Entry, Forgotten, Heard, Scope, Selection, Turn
from ovos_persona_memory.stores.inmemory.store import InMemoryStore
from ovos_persona_memory.text import languages

HERE = Scope(session_id="s")


class Home:
    """A memory that hears a session, one event a second."""

    def __init__(self) -> None:
        self.store, self.now = InMemoryStore(), 1000.0
        self.memory = PersonaMemory(self.store, MemoryConfig(), lambda: self.now)

    def hear(self, what: str, text: str = "", utterance_id: str | None = None) -> None:
        self.now += 1
        heard = Heard(what, HERE, self.now, text, utterance_id=utterance_id, session_id="s")
        with self.memory.transaction():
            self.memory.transcript.hear(heard)

    def exchange(self, question: str, answer: str, utterance_id: str) -> None:
        self.hear("utterance", question)
        self.hear("matched", question, utterance_id)
        self.hear("speech", answer, utterance_id)

    @property
    def log(self) -> list[str]:
        return [turn.text for turn in self.store.turns(Scope())]


class CountingStore(InMemoryStore):
    """Counts how often its records are looked through."""

    looked = 0

    def select(self, selection: Selection, limit: int | None = None) -> list[Turn | Entry]:
        self.looked += 1
        return super().select(selection, limit)


@pytest.fixture
def home() -> Home:
    return Home()


def test_what_told_of_a_forgotten_memory_loses_its_words(home: Home) -> None:
    home.exchange("remember that my cat is called Bob", "I will", "u1")
    home.memory.remember("my cat is called Bob", HERE, key="cat", utterance_id="u1")
    home.exchange("what is my cat called", "your cat is called Bob", "u2")
    home.exchange("is Bob a good name", "it is", "u3")
    expected = Forgotten(memories=1, redacted=3, facts=1)
    assert home.memory.forget_by_kind(HERE, key="cat", preview=True) == expected
    assert len([text for text in home.log if text]) == 6
    assert home.memory.forget_by_kind(HERE, key="cat") == expected
    assert home.log == ["", "", "what is my cat called", "", "is Bob a good name", "it is"]


def test_a_time_is_looked_through_once_however_many_memories_were_made_in_it() -> None:
    store = CountingStore()
    memory = PersonaMemory(store, MemoryConfig(), lambda: 1000.0)
    for number in range(20):
        memory.record([Turn("user", f"crate {number} holds apples", at=990.0)], HERE)
        memory.remember(f"crate {number} holds apples", HERE)
    memory.record([Turn("user", "crate 3 holds apples", at=500.0)], HERE)
    store.looked = 0
    foreseen = memory.would_forget(HERE, since=900.0)
    assert (foreseen.kinds.turns, foreseen.kinds.memories, foreseen.kinds.redacted) == (20, 20, 0)
    assert store.looked == 1


def test_who_names_a_session_or_a_time_means_no_other(home: Home) -> None:
    home.exchange("my cat is called Bob", "nice", "u1")
    home.memory.record([Turn("user", "my cat is called Bob", at=1.0)], Scope(session_id="t"))
    home.memory.remember("my cat is called Bob", HERE, key="cat")
    home.memory.forget(Scope(), since=500.0)
    assert home.log == ["my cat is called Bob"]
    home.memory.remember("my cat is called Bob", HERE, key="cat")
    home.memory.forget(HERE)
    assert home.log == ["my cat is called Bob"]
    home.memory.remember("my cat is called Bob", HERE, key="cat")
    home.memory.forget(Scope(), key="cat")
    assert home.log == [""]


def test_a_memory_of_one_word_takes_no_other_turn_along(home: Home) -> None:
    home.exchange("milk please", "noted", "u1")
    home.memory.remember("milk", HERE, key="list")
    assert home.memory.forget_by_kind(HERE, key="list") == Forgotten(memories=1)
    assert home.log == ["milk please", "noted"]


def test_the_words_of_others_stay(home: Home) -> None:
    home.memory.record([Turn("user", "my cat is called Bob")], Scope(user_id="bob", session_id="s"))
    home.memory.remember("my cat is called Bob", HERE, key="cat")
    assert home.memory.forget_by_kind(HERE, key="cat") == Forgotten(memories=1)
    assert [turn.text for turn in home.store.turns(Scope(user_id="bob"))] == ["my cat is called Bob"]


@pytest.mark.parametrize("wanted", [{"query": "cat Bob"}, {"since": 0.0}, {"everything": True}])
def test_the_request_and_its_answer_stay_without_their_words(home: Home, wanted: dict[str, Any]) -> None:
    home.exchange("my cat is called Bob", "nice", "u1")
    home.exchange("forget my cat Bob", "shall I forget Bob the cat", "u2")
    home.memory.forget(Scope(), asked_in=HERE, utterance_id="u2", **wanted)
    home.hear("speech", "Bob is forgotten", "u2")
    kept = [turn for turn in home.store.turns(HERE) if turn.utterance_id == "u2"]
    assert [(turn.role, turn.text, turn.redacted) for turn in kept] == [
        ("user", "", True),
        ("assistant", "", True),
        ("assistant", "", True),
    ]
    assert "Bob" not in repr(home.store.turns(Scope()))


def test_a_late_answer_to_what_was_forgotten_is_kept_without_its_words(home: Home) -> None:
    home.exchange("tell me of Bob", "Bob was", "u1")
    home.memory.forget(HERE)
    home.hear("speech", "a cat", "u1")
    assert home.log == [""]
    assert home.memory.record([Turn("assistant", "a cat")], HERE, utterance_id="u1") == []


def test_an_utterance_that_comes_again_with_its_id_much_later_loses_its_words(home: Home) -> None:
    home.exchange("my cat is called Bob", "nice", "u1")
    home.memory.forget(HERE)
    home.now += 100_000
    home.hear("utterance", "my cat is called Bob")
    assert home.log == ["my cat is called Bob"], "somebody may say it again"
    home.hear("utterance", "something else")
    home.hear("matched", "my cat is called Bob", "u1")
    assert home.log == ["", "something else"]


def test_what_was_forgotten_while_the_clock_ran_ahead_can_be_remembered_again(home: Home) -> None:
    scope = Scope(session_id="s1")
    before, home.now = home.now, home.now + 5 * 365 * 86400.0
    home.memory.remember("the bins go out on Tuesday", scope, key="bins")
    assert home.memory.forget(scope, key="bins") == 1
    home.now = before + 60.0
    assert home.memory.remember("the bins go out on Tuesday", scope, key="bins").text == "the bins go out on Tuesday"
    home.memory.record([Turn("user", "the bins go out on Tuesday")], scope, delivery_id="d1")
    assert home.memory.recall("when do the bins go out", scope, kinds={"turn"})


def test_what_is_said_again_is_said_anew(home: Home) -> None:
    home.exchange("lights on", "they are on", "u1")
    home.memory.forget(Scope(), everything=True)
    home.exchange("lights on", "they are on", "u2")
    assert home.log == ["lights on", "they are on"]


def test_a_query_finds_every_form_of_its_words_in_each_shipped_language(home: Home) -> None:
    home.memory.record(
        [Turn("user", "Katzen schlafen", lang="de-DE"), Turn("user", "a sleeping cat", lang="en-US")], HERE
    )
    assert home.memory.forget(Scope(), query="Katzen schlafen", lang="en-US") == 1
    assert home.memory.forget(Scope(), query="die Katze", lang="de-DE") == 0
    assert home.memory.forget(Scope(), query="the cats", lang="en-US") == 1


@pytest.mark.full
def test_more_are_forgotten_than_a_search_would_find(home: Home) -> None:
    home.memory.record([Turn("user", f"cat number {number}") for number in range(1500)], HERE)
    assert home.memory.forget(Scope(), query="cat number") == 1500
    assert NOTED > 1500


def test_a_summary_that_holds_the_words_goes(home: Home) -> None:
    home.memory.update_session(HERE, summary="The cats, and Bob.")
    home.memory.update_session(Scope(session_id="t"), summary="The cat alone.")
    assert home.memory.forget_by_kind(Scope(), query="cat Bob", preview=True) == Forgotten(notes=1)
    assert home.memory.forget_by_kind(Scope(), query="cat Bob") == Forgotten(notes=1)
    assert [name[1] for name in home.store.notes(Scope())] == ["t"]


def test_words_of_a_query_stand_for_themselves_once_and_without_stop_words() -> None:
    assert [min(group) for group in languages.query_word_groups("forget the cats, the cats!", "en-US")][-1] == "cat"
    assert len(languages.query_word_groups("the cats, the cats!", "en-US")) == 1
    assert len(languages.query_word_groups("the", "en-US")) == 1
    assert languages.query_word_groups("!?", "en-US") == ()


def facts_of(home: Home) -> list[str]:
    return [fact.text for fact, _ in home.store.fact_store.held("household", frozenset({"active", "superseded"}))]


def test_a_forgotten_fact_takes_the_words_of_its_turns_and_may_be_told_again(home: Home) -> None:
    home.exchange("my cat is called Bob", "nice", "u1")
    [fact] = [fact for fact, _ in home.store.fact_store.held("household")]
    assert home.memory.forget_by_kind(Scope(), key=fact.id) == Forgotten(facts=1, redacted=2)
    assert (home.log, facts_of(home)) == (["", ""], [])
    home.memory.record([Turn("user", "my cat is called Bob", at=home.now - 1)], Scope(session_id="late"))
    assert facts_of(home) == [], "what was said before and comes late is not learned"
    home.exchange("my cat is called Bob", "nice", "u2")
    assert facts_of(home) == ["my cat is called Bob"], "what is said again after that is new"
    assert home.log[-2:] == ["my cat is called Bob", "nice"]
    home.exchange("my cat is called Bob", "nice", "u4")
    assert len(facts_of(home)) == 1


def test_what_a_forgotten_fact_had_superseded_goes_too(home: Home) -> None:
    home.exchange("my husband is called Rob", "nice", "u1")
    home.exchange("my husband is called Bob", "nice", "u2")
    assert facts_of(home) == ["my husband is called Rob", "my husband is called Bob"]
    active = next(fact for fact, _ in home.store.fact_store.held("household"))
    home.memory.forget(Scope(), key=active.id)
    assert facts_of(home) == []
    assert "Bob" not in repr(home.store.fact_store.__dict__)


def test_forgetting_a_memory_forgets_the_fact_of_the_same_words_and_the_other_way_round(home: Home) -> None:
    for key in ("memory", "fact"):
        home.now += 10_000
        home.exchange("remember that my cat is called Bob", "I will", f"u-{key}")
        home.memory.remember("my cat is called Bob", HERE, key="cat")
        [fact] = [fact for fact, _ in home.store.fact_store.held("household")]
        home.memory.forget(Scope(), key="cat" if key == "memory" else fact.id)
        assert (facts_of(home), home.memory.list(Scope())) == ([], [])


def say(home: Home, session_id: str, text: str) -> None:
    home.now += 100
    home.memory.record([Turn("user", text, at=home.now, lang="en-US")], Scope(session_id))


def facts(home: Home, status: str = "active") -> list[tuple[str, str | None]]:
    return sorted((fact.text, fact.session_id) for fact in home.memory.facts.list(status=status))


CLEARS = {
    "clear": lambda home: home.memory.clear_session(Scope("a")),
    "forget": lambda home: home.memory.forget(Scope("a")),
}


@pytest.mark.parametrize("way", CLEARS)
def test_with_a_session_goes_what_was_learned_in_it(home: Home, way: str) -> None:
    say(home, "a", "my cat is called Bob")
    say(home, "b", "my dog is called Rex")
    CLEARS[way](home)
    assert facts(home, "all") == [("my dog is called Rex", "b")]
    say(home, "c", "my cat is called Bob")
    assert facts(home, "all") == [("my cat is called Bob", "c"), ("my dog is called Rex", "b")], "told again, it is new"


@pytest.mark.parametrize("way", CLEARS)
def test_a_fact_that_was_said_in_another_session_too_stays_in_the_words_said_there(home: Home, way: str) -> None:
    say(home, "a", "my tomcat is called Bob")
    say(home, "a", "my cat is called Bob")
    say(home, "a", "the name of my cat is Bob")
    say(home, "b", "the name of my cat is Bob")
    CLEARS[way](home)
    assert facts(home, "all") == [("the name of my cat is Bob", "b")]
    say(home, "c", "the name of my cat is Bob")
    assert home.memory.facts.list()[0].last_seen_at == home.now


@pytest.mark.parametrize("way", CLEARS)
def test_what_a_session_superseded_holds_again_without_it(home: Home, way: str) -> None:
    say(home, "b", "i live in Rome")
    say(home, "a", "i live in Lisbon")
    CLEARS[way](home)
    assert facts(home) == facts(home, "all") == [("i live in Rome", "b")]
    say(home, "b", "i live in Faro")
    assert facts(home) == [("i live in Faro", "b")]


def test_a_fact_said_again_within_the_session_alone_goes(home: Home) -> None:
    say(home, "a", "my cat is called Bob")
    say(home, "a", "my cat is called Bob")
    assert home.memory.clear_session(Scope("a")) == 2
    assert facts(home, "all") == []


def test_a_time_takes_no_fact_that_was_said_after_it_as_well(home: Home) -> None:
    say(home, "a", "my cat is called Bob")
    say(home, "a", "my dog is called Rex")
    between = home.now + 50
    say(home, "a", "my cat is called Bob")
    home.memory.forget(Scope(), until=between)
    assert facts(home, "all") == [("my cat is called Bob", "a")]


def test_a_topic_takes_no_other_word_of_its_stem_and_every_record_with_the_word() -> None:
    home = Home()
    home.exchange("the gardener comes on monday", "Noted.", "u1")
    home.exchange("the garden hose leaks", "Noted.", "u2")
    home.exchange("when does the gardener come", "You told me today: the gardener comes on monday.", "u3")
    home.memory.remember("the gardeners want to be paid in cash", Scope())
    home.memory.remember("the key of the garden is on the hook", Scope())
    home.memory.forget(Scope(), topic="the gardener", lang="en-US")
    assert [text for text in home.log if "garden" in text] == ["the garden hose leaks"]
    assert [entry.text for entry in home.memory.list(Scope())] == ["the key of the garden is on the hook"]
