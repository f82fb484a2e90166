"""Facts from turns: what supersedes what, how sure they are, and what was decided."""

from __future__ import annotations

from typing import Any

import pytest

from ovos_persona_memory.config import FactsConfig, MemoryConfig
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.memory.learning import learner
from ovos_persona_memory.records import Fact, Heard, Scope, Selection, Turn
from ovos_persona_memory.stores.base.facts import EVERY_STATUS, FactQuery
from ovos_persona_memory.stores.inmemory.store import InMemoryStore

DAY = 86400.0


class Talk:
    """Somebody who says things to a memory, at given days."""

    def __init__(self, **settings: Any) -> None:
        self.now = 0.0
        self.store = InMemoryStore()
        self.memory = PersonaMemory(self.store, MemoryConfig(facts=FactsConfig(**settings)), clock=lambda: self.now)

    def say(self, text: str, day: float = 1.0, role: Any = "user", **fields: Any) -> str:
        self.now = max(self.now, day * DAY)
        scope = Scope(session_id=fields.pop("session_id", "s"), user_id=fields.pop("user_id", "household"))
        return self.memory.record([Turn(role, text, at=day * DAY, lang="en-US", **fields)], scope)[0]

    def hear(self, what: str, text: str = "", **fields: Any) -> list[Turn]:
        self.now += 1
        heard = Heard(what, Scope(session_id="s"), self.now, text, "en-US", session_id="s", **fields)
        with self.memory.transaction():
            return self.memory.transcript.hear(heard)

    def facts(self, *statuses: str, **wanted: Any) -> list[Fact]:
        found = FactQuery(Scope(), frozenset(statuses or ("active",)), **wanted)
        return sorted(self.store.fact_store.facts(found), key=lambda fact: (fact.valid_from, fact.seq))

    def values(self, *statuses: str) -> list[str | None]:
        return [fact.value for fact in self.facts(*statuses)]

    def changes(self, fact: Fact) -> list[str]:
        return [change.what for change in self.store.fact_store.changes([fact.id])]

    def reasons(self) -> list[tuple[str, str]]:
        return [(one.outcome, one.reason) for one in reversed(self.store.fact_store.decisions(None, 100))]


def test_a_fact_says_from_where_it_is() -> None:
    talk = Talk()
    turn_id = talk.say("my cat is called Bob", speaker="Ann")
    [fact] = talk.facts()
    assert (fact.text, fact.slot, fact.thing, fact.value, fact.lang) == (
        "my cat is called Bob",
        "pet",
        "cat bob",
        "Bob",
        "en-US",
    )
    assert (fact.turn_id, fact.session_id, fact.speaker, fact.user_id) == (turn_id, "s", "Ann", "household")
    assert (fact.created_at, fact.last_seen_at, fact.valid_from, fact.valid_until) == (DAY, DAY, DAY, None)
    assert (fact.confidence, fact.decay, fact.topics) == (0.8, "slow", ("family", "pets"))
    assert talk.changes(fact) == ["learned"]
    assert talk.reasons() == [("learned", "stated")]


def test_what_is_said_later_supersedes() -> None:
    talk = Talk()
    talk.say("I live in Berlin", 1)
    talk.say("we moved to Porto", 9)
    [new] = talk.facts()
    [old] = talk.facts("superseded")
    assert (new.value, old.value) == ("Porto", "Berlin")
    assert (old.valid_until, old.superseded_by, new.valid_from) == (9 * DAY, new.id, 9 * DAY)
    assert talk.changes(old) == ["learned", "superseded"]
    both = ("active", "superseded")
    assert [[fact.value for fact in talk.facts(*both, at=day * DAY)] for day in (0, 1, 5, 9, 99)] == [
        [],
        ["Berlin"],
        ["Berlin"],
        ["Porto"],
        ["Porto"],
    ]


def test_what_arrives_late_never_beats_what_is_newer() -> None:
    talk = Talk()
    talk.say("I live in Porto", 9)
    talk.say("I live in Berlin", 1)
    assert talk.values() == ["Porto"]
    [old] = talk.facts("superseded")
    assert (old.value, old.valid_from, old.valid_until) == ("Berlin", DAY, 9 * DAY)


def test_of_the_same_time_what_arrives_later_is_newer() -> None:
    talk = Talk()
    talk.say("I live in Porto", 1)
    talk.say("I live in Lisbon now", 1)
    assert talk.values() == ["Lisbon"]


def test_what_was_said_again_since_is_newer_than_what_arrives_late() -> None:
    talk = Talk()
    for text, day in (("I live in Porto", 1), ("I live in Porto", 9), ("I live in Berlin", 5)):
        talk.say(text, day)
    assert talk.values() == ["Porto"]


@pytest.mark.parametrize(
    ("first", "second", "left"),
    [
        ("I like coriander", "I don't like coriander any more", ["dislikes"]),
        ("I hate mushrooms", "I love mushrooms", ["likes"]),
        ("my husband is called Bob", "my husband is called Tom", ["family"]),
        ("my cat is called Bob", "my cat is called Tom", ["pet", "pet"]),
        ("I put my keys in the drawer", "i left the keys on the table", ["location"]),
        ("my favourite colour is green", "my favourite colour is blue", ["favourite"]),
        ("my favourite food is pizza", "my favourite food is lasagne", ["favourite"]),
        ("I'm allergic to nuts", "I'm allergic to eggs", ["allergy", "allergy"]),
        ("my cat is called Bob", "my dog is called Tom", ["pet", "pet"]),
        ("my wife's birthday is on 3 May", "my birthday is on 4 May", ["birthday", "birthday"]),
    ],
)
def test_facts_about_one_thing_supersede_and_others_stand_side_by_side(
    first: str, second: str, left: list[str | None]
) -> None:
    talk = Talk()
    talk.say(first, 1)
    assert len(talk.facts()) == 1
    talk.say(second, 2)
    assert talk.facts()[-1].valid_from == 2 * DAY
    assert [fact.slot for fact in talk.facts()] == left


def test_notes_of_different_things_stand_side_by_side() -> None:
    talk, notes = Talk(), ("the bins go out on Tuesday", "the paper goes out on Friday")
    for day, note in enumerate(notes, 1):
        talk.say(f"remember that {note}", day)
    assert [fact.text for fact in talk.facts()] == [*notes]


def test_facts_of_different_people_stand_side_by_side() -> None:
    talk = Talk()
    talk.say("my name is Ann", 1, speaker="Ann")
    talk.say("my name is Tom", 2, speaker="Tom")
    talk.say("my name is Sue", 3, user_id="sue")
    assert talk.values() == ["Ann", "Tom"]
    talk.say("my name is Emma", 4, speaker="Ann")
    assert (talk.values(), talk.values("waiting")) == (["Ann", "Tom"], ["Emma"])  # most likely Ann plays


def test_what_is_said_again_is_surer_and_no_second_fact() -> None:
    talk = Talk()
    for day, expected in ((1, 0.8), (1.0001, 0.8), (2, 0.9), (3, 0.95)):
        talk.say("I'm allergic to peanuts" if day < 3 else "I'm very allergic to peanuts", day)
        [fact] = talk.facts()
        assert fact.confidence == pytest.approx(expected)
    assert (fact.created_at, fact.last_seen_at, fact.valid_from) == (DAY, 3 * DAY, DAY)
    assert talk.changes(fact) == ["learned", "said_again", "said_again"]


def test_what_is_said_again_after_it_faded_starts_from_where_it_is() -> None:
    talk = Talk(half_life_d=10.0)
    talk.say("I like tea", 1)
    talk.say("I like tea", 11)
    [fact] = talk.facts()
    assert fact.confidence == pytest.approx(1 - 0.6 * 0.5)


def test_what_is_taken_back_holds_no_more_and_no_late_turn_brings_it_back() -> None:
    talk = Talk()
    talk.say("I play chess", 3)
    assert talk.values() == ["chess"]
    talk.say("I stopped playing chess", 5)
    assert talk.values() == []
    talk.say("I play chess", 4)
    assert talk.values() == []
    talk.say("I play chess", 6)
    assert talk.values() == ["chess"]


def test_who_gives_something_up_gives_up_its_days() -> None:
    talk = Talk()
    talk.say("I do yoga on mondays", 3)
    talk.say("I've stopped doing yoga", 5)
    assert talk.values() == []


def test_what_is_taken_back_before_it_was_said_is_not_learned_from_an_old_turn() -> None:
    talk = Talk()
    talk.say("I stopped playing chess", 5)
    talk.say("I play chess", 4)
    assert talk.values() == []


ROOMS = ("kitchen", "attic")


def test_what_is_older_than_a_long_history_is_filed_in_its_place() -> None:
    talk = Talk()
    for day in range(10, 40):
        talk.say(f"I put the keys in the {ROOMS[day % 2]}", day)
    assert len(talk.facts("superseded")) == 29
    talk.say("I put the keys in the garage", 5)
    talk.say("I put the keys in the cellar", 25.5)
    first, *_ = talk.facts("superseded")
    assert (first.value, first.valid_until) == ("in the garage", 10 * DAY)
    [between] = [fact for fact in talk.facts("superseded") if fact.value == "in the cellar"]
    assert between.valid_until == 26 * DAY
    assert talk.values() == ["in the attic"]


def test_what_holds_since_long_is_superseded_however_much_arrived_late() -> None:
    talk = Talk()
    for day in (1, 90):
        talk.say("I put the keys in the garage", day)
    for day in range(2, 32):
        talk.say(f"I put the keys in the {ROOMS[day % 2]}", day)
    assert len(talk.facts("superseded")) == 30
    assert talk.values() == ["in the garage"]
    talk.say("I put the keys in the cellar", 91)
    assert talk.values() == ["in the cellar"]


def test_to_take_back_something_else_changes_nothing() -> None:
    talk = Talk()
    talk.say("I work at Siemens", 1)
    talk.say("I stopped working at the bakery", 2)
    assert talk.values() == ["Siemens"]
    assert talk.reasons()[-1] == ("ended", "late")


def test_an_older_denial_changes_nothing() -> None:
    talk = Talk()
    talk.say("I play chess", 5)
    talk.say("I stopped playing chess", 4)
    assert talk.values() == ["chess"]
    assert talk.reasons()[-1] == ("ended", "late")


# a clock that ran ahead, and was put right


AHEAD = 2000.0
"""A day on which the clock stood before it was put right: some five years ahead."""


class WrongClock(Talk):
    """Somebody who talks to a memory whose clock may stand anywhere; what they say is said when the clock says."""

    def tell(self, text: str, day: float) -> None:
        self.now = day * DAY
        self.memory.record([Turn("user", text, lang="en-US")], Scope(session_id="s"))

    def deliver(self, text: str, day: float, now: float) -> None:
        """What was said on one day arrives on another."""
        self.now = now * DAY
        self.memory.record([Turn("user", text, at=day * DAY, lang="en-US")], Scope(session_id="s"), delivery_id=text)


def test_what_is_said_after_the_clock_was_put_right_supersedes() -> None:
    talk = WrongClock()
    for day, city in ((AHEAD, "Berlin"), (AHEAD + 1, "Hamburg"), (5, "Porto"), (9, "Rome")):
        talk.tell(f"I live in {city}", day)
    assert talk.values() == ["Rome"]
    told = sorted(talk.facts(*EVERY_STATUS), key=lambda fact: fact.seq)
    assert [fact.superseded_by for fact in told] == [*(fact.id for fact in told[1:]), None]


def test_what_is_taken_back_after_the_clock_was_put_right_holds_no_more() -> None:
    talk = WrongClock()
    talk.tell("I play chess", AHEAD)
    assert talk.values() == ["chess"]
    talk.tell("I stopped playing chess", 5)
    assert talk.values() == []
    talk.tell("I play chess", 6)
    assert talk.values() == ["chess"]


def test_a_clock_that_stands_behind_hinders_nothing() -> None:
    talk = WrongClock()
    talk.tell("I live in Berlin", 100)
    talk.tell("I live in Porto", 0.001)  # it begins with 1970 until the network is there
    assert talk.values() == ["Porto"]
    talk.tell("I live in Rome", 101)
    assert talk.values() == ["Rome"]


def test_what_is_corrected_by_hand_can_be_said_otherwise_after_the_clock_was_put_right() -> None:
    talk = WrongClock()
    talk.tell("I live in Berlin", AHEAD)
    talk.now = 5 * DAY
    talk.memory.update(talk.facts()[0].id, text="I live in Porto")
    talk.tell("I live in Rome", 6)
    assert talk.values() == ["Rome"]


def test_what_waited_since_the_clock_ran_ahead_is_no_newer_than_what_was_said_since() -> None:
    talk = WrongClock()
    talk.tell("I might have left the keys in the garage", AHEAD)
    talk.tell("I put the keys in the shed", 5)
    [waiting] = talk.facts("waiting")
    taken = talk.memory.facts.review(waiting.id, accept=True)
    assert taken is not None and taken.status == "superseded"
    assert talk.values() == ["in the shed"]


def test_what_arrives_late_beats_nothing_newer_though_a_clock_ran_ahead_before() -> None:
    talk = WrongClock()
    talk.tell("I live in Berlin", AHEAD)
    talk.tell("I live in Porto", 9)
    talk.deliver("I live in Rome", 5, now=10)
    assert talk.values() == ["Porto"]
    talk.deliver("I live in Paris", 9.5, now=10)
    assert talk.values() == ["Paris"]


def test_what_waits_for_learning_keeps_its_place_though_a_clock_ran_ahead_before() -> None:
    talk = WrongClock()
    talk.tell("I live in Berlin", AHEAD)
    talk.now = 5 * DAY
    with talk.memory.transaction(crowded=True):
        talk.memory.record([Turn("user", "I live in Porto", lang="en-US")], Scope(session_id="s"))
    talk.now = 8 * DAY
    while talk.memory.transcript.backlog.catch_up():
        pass
    assert talk.values() == ["Porto"]


def test_a_doubtful_fact_waits_and_is_not_found() -> None:
    talk = Talk()
    for day in (1, 2):
        talk.say("I might have left the keys in the garage", day)
    [fact] = talk.facts("waiting")
    assert (fact.confidence, fact.value) == (0.4, "in the garage")
    assert talk.facts() == []
    assert talk.memory.recall("where are the keys", kinds={"fact"}) == []


def test_a_cancelled_utterance_takes_its_fact_along_and_what_it_superseded_holds_again() -> None:
    talk = Talk()
    talk.hear("utterance", "i live in berlin")
    talk.hear("matched", "i live in berlin", utterance_id="u1")
    talk.hear("utterance", "i live in lisbon now")
    talk.hear("matched", "i live in lisbon now", utterance_id="u2")
    assert talk.values() == ["lisbon"]
    talk.hear("cancelled", utterance_id="u2")
    [fact] = talk.facts()
    assert (fact.value, fact.valid_until, fact.superseded_by) == ("berlin", None, None)
    assert talk.facts(*EVERY_STATUS) == [fact]


def test_a_fact_between_two_is_taken_out_of_the_chain() -> None:
    talk = Talk()
    turns = [talk.say(f"I live in {city}", day) for day, city in enumerate(("Berlin", "Porto", "Rome"), 1)]
    talk.memory.transcript.learner.unlearn([turns[1]])
    first, last = talk.facts("active", "superseded")
    assert (first.value, first.superseded_by, first.valid_until, last.value) == ("Berlin", last.id, 3 * DAY, "Rome")


def test_a_redacted_utterance_takes_its_fact_along() -> None:
    talk = Talk()
    talk.hear("utterance", "i live in porto")
    talk.hear("matched", utterance_id="u1", intent="ovos-skill-persona-memory.openvoiceos:forget.intent")
    assert talk.facts(*EVERY_STATUS) == []


def test_a_denial_that_is_cancelled_denies_nothing() -> None:
    talk = Talk()
    talk.hear("utterance", "i play chess")
    assert talk.values() == ["chess"]
    talk.now += 100
    talk.hear("utterance", "i stopped playing chess")
    talk.hear("matched", "i stopped playing chess", utterance_id="u2")
    assert talk.values() == []
    talk.hear("cancelled", utterance_id="u2")
    assert talk.values() == ["chess"]


def test_the_assistants_words_coming_back_teach_nothing() -> None:
    talk = Talk()
    talk.hear("speech", "did you know? my cat is called Bob")
    talk.hear("utterance", "my cat is called bob")
    assert talk.facts() == []
    assert talk.reasons() == [("refused", "echo")]
    talk.now += 100
    talk.hear("utterance", "my cat is called bob")
    assert talk.values() == ["bob"]


def test_nothing_is_learned_while_it_is_switched_off_or_nothing_is_written() -> None:
    off = Talk(learn=False)
    off.say("my cat is called Bob")
    paused = Talk()
    paused.memory.capture(write=False)
    paused.hear("utterance", "my cat is called Bob")
    assert (off.facts(), paused.facts()) == ([], [])


def test_what_is_recorded_without_being_learned_from_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    monkeypatch.setattr(learner, "extract", lambda turn, _: read.append(turn.text) or [])
    talk = Talk()
    for text, learn in (("my cat is called Bob", False), ("my dog is called Rex", True)):
        talk.memory.record([Turn("user", text, lang="en-US")], Scope(session_id="s"), learn=learn)
    talk.memory.facts.settle()
    assert read == ["my dog is called Rex"]


def test_the_assistant_teaches_nothing() -> None:
    talk = Talk()
    talk.say("my cat is called Bob", role="assistant")
    assert (talk.facts(), talk.reasons()) == ([], [])


def test_a_restored_session_teaches_nothing() -> None:
    talk = Talk()
    talk.memory.restore([Turn("user", "my cat is called Bob", lang="en-US")], Scope(session_id="s"))
    assert talk.facts() == []


def test_a_refusal_is_noted_without_its_words() -> None:
    talk = Talk()
    turn_id = talk.say("remember that my pin is 1234")
    [decision] = talk.store.fact_store.decisions(None, 9)
    assert (decision.outcome, decision.reason, decision.turn_id, decision.fact_id) == (
        "refused",
        "secret",
        turn_id,
        None,
    )
    assert talk.facts() == []


def test_of_a_secret_that_is_only_mentioned_the_rest_teaches_as_ever() -> None:
    talk = Talk()
    talk.say("my cat is called Bob and my pin is 1234")
    assert [(fact.text, fact.value) for fact in talk.facts()] == [("my cat is called Bob", "Bob")]
    assert sorted(talk.reasons()) == [("learned", "stated"), ("refused", "secret")]


def test_what_was_learned_is_told_once() -> None:
    talk = Talk()
    talk.say("my cat is called Bob and my dog is called Rex")
    assert talk.values() == ["Bob", "Rex"]
    (learned,) = talk.memory.facts.take_learned_late().values()
    assert set(learned) == {fact.id for fact in talk.facts()}
    assert talk.memory.facts.take_learned_late() == {}


# finding


def test_a_fact_is_recalled_by_its_words() -> None:
    talk = Talk()
    talk.say("Hello there! I had a day. My cat is called Bob. What about you?")
    talk.say("my dog is called Rex", 2)
    [fact] = [fact for fact in talk.facts() if fact.value == "Bob"]
    [hit] = talk.memory.recall("what is my cat called", k=1, kinds={"fact"})
    assert (hit.id, hit.kind, hit.text, hit.sure, hit.answers, hit.key) == (
        fact.id,
        "fact",
        "My cat is called Bob",
        True,
        True,
        fact.id,
    )
    assert (hit.at, hit.session_id, hit.role) == (DAY, "s", "user")


def test_what_was_learned_in_the_words_of_its_turn_is_found_once() -> None:
    talk = Talk()
    talk.say("my cat is called Bob")
    assert [hit.kind for hit in talk.memory.recall("what is my cat called")] == ["turn"]
    assert [hit.kind for hit in talk.memory.recall("what is my cat called", kinds={"fact"})] == ["fact"]


def test_a_turn_whose_facts_hold_no_more_answers_nothing() -> None:
    talk = Talk()
    talk.say("my favourite food is pizza", 1)
    talk.say("my favourite food is lasagne", 2)
    hits = talk.memory.recall("what is my favourite food")
    assert [(hit.text, hit.answers) for hit in hits] == [
        ("my favourite food is lasagne", True),
        ("my favourite food is pizza", False),
    ]


def test_facts_are_found_when_their_turns_are_gone() -> None:
    talk = Talk()
    talk.say("my cat is called Bob")
    talk.store.delete(Selection(Scope(), kinds=frozenset({"turn"})))
    assert [hit.text for hit in talk.memory.recall("what is my cat called") if hit.sure] == ["my cat is called Bob"]


def test_others_facts_are_not_found() -> None:
    talk = Talk()
    talk.say("my cat is called Bob", user_id="ann")
    assert talk.memory.recall("what is my cat called", Scope(user_id="tom"), kinds={"fact"}) == []
    assert len(talk.memory.recall("what is my cat called", Scope(user_id="ann"), kinds={"fact"})) == 1


@pytest.mark.parametrize("crowded", [False, True])
def test_an_answer_in_the_same_words_is_not_taken_for_something_said_before(crowded: bool) -> None:
    talk = Talk()
    said = [Turn("user", "my cat is called Bob", lang="en-US"), Turn("assistant", "So my cat is called Bob.")]
    with talk.memory.transaction(crowded):
        talk.memory.record(said, Scope("s"))
    while talk.memory.tidy():
        pass
    assert talk.values() == ["Bob"]


# several who speak as one user


def test_what_two_people_say_of_themselves_stands_side_by_side() -> None:
    talk = Talk()
    talk.say("I live in Lyon", 1, speaker="ines")
    talk.say("I live in Turin", 2, speaker="omar")
    talk.say("I live in Ghent", 3, speaker="ines")
    assert {(fact.speaker, fact.value) for fact in talk.facts()} == {("ines", "Ghent"), ("omar", "Turin")}
    assert [fact.value for fact in talk.facts("superseded")] == ["Lyon"]


def test_who_was_not_named_may_be_whoever_is_named_later() -> None:
    talk = Talk()
    talk.say("I live in Lyon", 1)
    gone = talk.say("I live in Ghent", 2, speaker="ines")
    assert talk.values() == ["Ghent"]
    talk.memory.transcript.learner.unlearn([gone])
    assert talk.values() == ["Lyon"]


def test_what_one_gives_up_another_goes_on_with() -> None:
    talk = Talk()
    talk.say("I work as a baker", 1, speaker="ines")
    talk.say("I work as a nurse", 2, speaker="omar")
    talk.say("I retired last month", 3, speaker="omar")
    assert [(fact.speaker, fact.value) for fact in talk.facts()] == [("ines", "baker")]
    talk.say("I retired last month", 4, speaker="ines")
    assert talk.facts() == []


def test_what_one_denies_of_themselves_another_still_does() -> None:
    talk = Talk()
    talk.say("I play chess", 1, speaker="ines")
    talk.say("I play chess", 2, speaker="omar")
    talk.say("I don't play chess any more", 3, speaker="omar")
    assert [fact.speaker for fact in talk.facts()] == ["ines"]
