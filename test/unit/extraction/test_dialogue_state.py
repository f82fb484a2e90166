"""Who is known by name while somebody speaks, and what was spoken of a moment ago."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.extraction.dialogue_state import HOUSE, JUDGED
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import Fact, Scope, Turn
from ovos_persona_memory.stores.base.facts import FactQuery
from ovos_persona_memory.stores.inmemory.store import InMemoryStore


class Home:
    """People who talk to a memory, a minute after one another."""

    def __init__(self, lang: str = "en-US") -> None:
        self.now, self.lang = 0.0, lang
        self.store = InMemoryStore()
        self.memory = PersonaMemory(self.store, MemoryConfig(), clock=lambda: self.now)

    def say(self, user_id: str, text: str, role: Any = "user", session_id: str = "kitchen", after_s: float = 20) -> str:
        self.now += after_s
        turn = Turn(role, text, at=self.now, lang=self.lang)
        return self.memory.record([turn], Scope(session_id=session_id, user_id=user_id))[0]

    def names(self, user_id: str) -> Mapping[str, str]:
        """Whom a user may speak of by name."""
        hello = Turn("user", "hello", at=self.now, user_id=user_id, session_id="kitchen")
        return self.memory.transcript.learner.around.before(hello).names

    def facts(self, user_id: str) -> list[tuple[str | None, str, str | None]]:
        found: list[Fact] = self.store.fact_store.facts(FactQuery(Scope(user_id=user_id)))
        return [(fact.slot, fact.subject, fact.value) for fact in reversed(found)]

    def placed(self, user_id: str) -> list[tuple[str, str | None]]:
        """Which thing is where, as a user said."""
        found: list[Fact] = self.store.fact_store.facts(FactQuery(Scope(user_id=user_id), slot="location"))
        return [(fact.thing, fact.value) for fact in found]


def test_a_name_that_was_told_is_known_from_then_on() -> None:
    home = Home()
    home.say("ann", "oscar loves cheese")
    assert home.facts("ann") == []  # of whom she speaks nobody knows
    home.say("ann", "my husband is called oscar")
    home.say("ann", "oscar likes figs", session_id="hall")
    assert home.facts("ann") == [("family", "", "oscar"), ("likes", "husband", "figs")]


def test_whom_one_of_the_house_named_the_others_may_speak_of() -> None:
    home = Home()
    home.say("ann", "my name is ann")
    home.say("ann", "my sister is called lotte")
    home.say("bob", "ann is allergic to figs")
    home.say("bob", "lotte lives in porto")
    home.say("ann", "ann likes tea")
    assert home.facts("bob") == [("allergy", "ann", "figs"), ("home", "lotte", "porto")]
    assert ("likes", "", "tea") in home.facts("ann")


def test_who_is_forgotten_is_not_known_any_more() -> None:
    home = Home()
    home.say("ann", "my husband is called oscar")
    home.say("ann", "oscar likes tea")
    home.memory.forget(Scope(user_id="ann"), everything=True)
    home.say("ann", "oscar likes figs")
    assert "husband" not in [subject for _, subject, _ in home.facts("ann")]


def test_a_name_goes_with_the_turn_that_told_it() -> None:
    home = Home()
    turn_id = home.say("ann", "my husband is called oscar")
    home.say("ann", "hello oscar")
    home.memory.transcript.learner.unlearn([turn_id])
    home.say("ann", "oscar likes figs")
    assert "husband" not in [subject for _, subject, _ in home.facts("ann")]


def test_she_is_the_one_spoken_of_by_name_a_moment_ago_in_the_same_room() -> None:
    home = Home()
    home.say("ann", "my sister is called lotte")
    home.say("bob", "she lives in porto")
    home.say("ann", "she lives in faro", session_id="hall")
    home.say("ann", "she lives in rome")
    home.say("ann", "she works as a baker", after_s=1000)
    assert home.facts("bob") == [("home", "lotte", "porto")]
    assert home.facts("ann") == [("family", "", "lotte"), ("home", "sister", "rome")]


def test_of_him_whom_nobody_introduced_nothing_is_learned_either() -> None:
    home = Home()
    home.say("ann", "oscar loves cheese")
    home.say("ann", "he lives in porto")
    assert home.facts("ann") == []


def test_she_is_the_sister_of_whom_she_is_the_sister() -> None:
    home = Home()
    home.say("damon", "my name is damon")
    home.say("ann", "damon's sister comes on thursday")
    home.say("ann", "she lives in porto")
    home.say("ann", "damon is allergic to figs")
    home.say("ann", "he lives in faro")
    assert ("home", "damon sister", "porto") in home.facts("ann")
    assert ("home", "damon", "faro") in home.facts("ann")
    home.say("ann", "when does the sister of damon arrive")
    home.say("ann", "she works as a nurse")
    assert ("work", "damon sister", "nurse") in home.facts("ann")


def test_she_is_nobody_after_talk_of_other_things() -> None:
    home = Home()
    home.say("ann", "my sister is called lotte")
    for text in ("set a timer for ten minutes", "turn off the light", "what time is it"):
        home.say("ann", text)
    home.say("ann", "she lives in porto")
    assert home.facts("ann") == [("family", "", "lotte")]


def test_mine_is_of_what_anybody_in_the_room_just_named() -> None:
    home = Home()
    home.say("ann", "my favourite colour is blue")
    home.say("bob", "mine is green")
    home.say("bob", "mine is red", session_id="hall")
    assert home.facts("bob") == [("favourite", "", "green")]


def test_an_answer_to_a_question_of_the_assistant_is_learned() -> None:
    home = Home()
    home.say("ann", "What is your favourite soup?", role="assistant")
    home.say("ann", "leek soup")
    home.say("ann", "turnip soup")
    assert home.facts("ann") == [("favourite", "", "leek soup")]


def test_merged_people_share_whom_they_named() -> None:
    home = Home()
    home.say("ann", "my husband is called oscar")
    home.say("annie", "hello")
    home.memory.users.merge("ann", "annie")
    home.say("annie", "oscar likes figs")
    assert ("likes", "husband", "figs") in home.facts("annie")


def test_names_that_another_process_learned_are_known_after_a_while() -> None:
    home = Home()
    home.say("ann", "hello")
    other = PersonaMemory(home.store, MemoryConfig(), clock=lambda: home.now)
    other.record([Turn("user", "my husband is called oscar", at=home.now, lang="en-US")], Scope("hall", "ann"))
    home.say("ann", "oscar likes figs", after_s=1000)
    assert ("likes", "husband", "figs") in home.facts("ann")


def test_where_there_are_too_many_for_one_household_each_speaks_of_their_own() -> None:
    home = Home()
    for number in range(HOUSE):
        home.say(f"user-{number}", "hello")
    home.say("user-0", "my sister is called lotte")
    assert "lotte" in home.names("user-1")
    home.say("one-more", "hello", after_s=1000)
    assert "lotte" not in home.names("user-1")
    assert "lotte" not in home.names("one-more")
    assert "lotte" in home.names("user-0")


def test_in_a_large_house_a_name_is_news_to_its_speaker_alone() -> None:
    home = Home()
    for number in range(HOUSE + 1):
        home.say(f"person-{number}", "i like tea")
    around = home.memory.transcript.learner.around
    read = around._names["person-0", None]
    home.say("person-1", "my husband is called oscar")
    assert around._names["person-0", None] is read
    home.say("person-1", "oscar works as a plumber")
    assert ("work", "husband", "plumber") in home.facts("person-1")


def test_what_was_taken_out_is_not_put_right() -> None:
    for is_forgotten, told in ((False, [("home", "", "faro")]), (True, [])):
        home = Home()
        home.say("ann", "i live in porto")
        if is_forgotten:
            home.memory.forget(Scope(user_id="ann"), everything=True)
        home.say("ann", "no in faro")
        assert home.facts("ann") == told


def test_turns_are_kept_in_mind_until_others_came() -> None:
    home = Home()
    around = home.memory.transcript.learner.around
    turns = [Turn("user", "hello", at=0.0, id=f"turn-{number}") for number in range(JUDGED + 1)]
    for turn in turns:
        around.keep_judged(turn, [])
    assert around.judged(turns[0]) is None
    assert around.judged(turns[1]) == []
    around.forget()
    assert around.judged(turns[1]) is None


def test_of_a_turn_that_is_cancelled_nothing_is_kept_in_mind() -> None:
    home = Home()
    learner = home.memory.transcript.learner
    ids = [home.say("ann", text) for text in ("i have never been to rome", "what is for dinner")]
    turns = [Turn("user", "", id=one) for one in ids]
    assert None not in [learner.around.judged(one) for one in turns]
    learner.unlearn(ids[:1])
    assert [learner.around.judged(one) is None for one in turns] == [True, False]


def test_a_pronoun_said_twice_means_the_same() -> None:
    home = Home()
    home.say("ann", "my sister is called lotte")
    home.say("ann", "she's forty and her favourite colour is green", after_s=100)
    assert {("age", "sister", "forty"), ("favourite", "sister", "green")} == set(home.facts("ann")[1:])


@pytest.mark.parametrize("said", ["my sister sends her love", "my sister is allergic to nuts", "lotte sends her love"])
def test_a_relative_is_that_of_whoever_spoke_of_them(said: str) -> None:
    known_as = "lotte" if "lotte" in said else None
    for user_id, subject in (("ann", "sister"), ("bob", known_as)):
        home = Home()
        home.say("ann", "my sister is called lotte" if known_as else "i like tea", session_id="hall")
        home.say("ann", said)
        home.say(user_id, "she lives in porto", after_s=100)
        assert [who for slot, who, _ in home.facts(user_id) if slot == "home"] == ([subject] if subject else [])


def test_a_question_stays_open_where_the_assistant_only_agrees() -> None:
    home = Home()
    home.say("ann", "what is your favourite colour")
    home.say("household", "alright", role="assistant")
    home.say("bob", "it's turquoise")
    assert home.facts("bob") == [("favourite", "", "turquoise")]


def test_who_gives_another_name_than_theirs_most_likely_plays() -> None:
    for lang, first, other, age in (
        ("en-US", "my name is ivy", "hello i'm tom i was born in boston", "my name is ivy may and i'm eight"),
        ("de-DE", "ich bin die lotta", "ich heiße tim und komme aus kiel", "ich heiße lotta marie und bin acht"),
    ):
        home = Home(lang)
        home.say("u", first)
        home.say("u", other, after_s=100)
        assert [slot for slot, _, _ in home.facts("u")] == ["name"]  # the origin waits, too
        waiting = home.store.fact_store.facts(FactQuery(Scope(user_id="u"), frozenset({"waiting"})))
        assert {fact.slot for fact in waiting} == {"name", "origin"}
        home.say("u", age)
        assert ("age", "", age.split()[-1]) in home.facts("u")
        new = Home(lang)
        new.say("u", other)
        assert {slot for slot, _, _ in new.facts("u")} == {"name", "origin"}  # whose name nobody knew


def test_a_surname_a_nickname_and_a_name_put_right_are_no_play() -> None:
    for text, value in (
        ("my surname is pritchard", "pritchard"),
        ("my nickname is gaz", "gaz"),
        ("no my name is not gareth it's gary", "gary"),
    ):
        home = Home()
        home.say("u", "my name is gareth")
        home.say("u", text)
        assert ("name", "", value) in home.facts("u"), text


@pytest.mark.parametrize(
    ("asks", "answer", "told"),
    [
        ("wie heißt die hauptstadt von frankreich", "paris", []),
        ("wie alt ist die queen", "neunzig", []),
        ("wo wohnt der papst", "in rom", []),
        ("wie alt bist du", "acht", [("age", "", "acht")]),
        ("wie heißt deine schwester", "mia", [("family", "", "mia")]),
        ("wo wohnst du", "in kiel", [("home", "", "kiel")]),
    ],
)
def test_an_answer_is_about_whom_the_question_is_about(asks: str, answer: str, told: list[Any]) -> None:
    home = Home("de-DE")
    home.say("ann", asks, role="assistant")
    home.say("ann", answer)
    assert home.facts("ann") == told


def test_the_dog_that_is_asked_about_is_the_one_just_spoken_of() -> None:
    for answer in ("der hund heißt bello", "der heißt bello", "sein name ist bello", "er heißt bello"):
        home = Home("de-DE")
        home.say("ann", "wir haben einen hund")
        home.say("bob", "wie heißt der hund")
        home.say("ann", answer)
        assert ("pet", "", "bello") in home.facts("ann"), answer


def test_what_was_asked_long_ago_is_not_what_another_question_asks() -> None:
    home = Home("de-DE")
    home.say("ann", "was ist deine lieblingsfarbe", role="assistant")
    home.say("ann", "wie heißt du", role="assistant", after_s=400)
    home.say("ann", "karamell")
    assert [slot for slot, _, _ in home.facts("ann")] != ["favourite"]


def test_who_asks_to_have_another_name_remembered_does_not_play() -> None:
    for lang, first, asked in (
        ("en-US", "my name is ivy", "remember that my name is tom"),
        ("de-DE", "ich bin die lotta", "merk dir dass ich tim heiße"),
    ):
        home = Home(lang)
        home.say("u", first)
        home.say("u", asked)
        assert home.facts("u")[-1][2] in ("tom", "tim"), home.facts("u")


def test_what_is_said_behind_a_statement_is_no_answer_about_whom_that_names() -> None:
    home = Home()
    home.say("ann", "my son is called ben")
    home.say("ann", "my daughter is called emma")
    home.say("ann", "my cat is called minka")
    assert home.facts("ann") == [("family", "", "ben"), ("family", "", "emma"), ("pet", "", "minka")]


def test_a_speaker_who_names_themselves_answers_nothing_about_somebody_else() -> None:
    home = Home()
    home.say("ann", "how is my son?")
    home.say("ann", "i like tea")
    assert home.facts("ann") == [("likes", "", "tea")]
