"""From a question to hits."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from ovos_persona_memory.records import Entry, Hit, Scope, Turn
from ovos_persona_memory.search.query import Question
from ovos_persona_memory.search.recall import recall
from ovos_persona_memory.stores import NearDocument
from ovos_persona_memory.stores.inmemory.store import InMemoryStore
from ovos_persona_memory.text import languages

DATA = Path(__file__).parents[2] / "data"
HOUSEHOLDS = [json.loads((DATA / f"household_{tag}.json").read_text(encoding="utf-8")) for tag in ("en", "de")]


def told(*texts: str, lang: str = "en-US", role: str = "user", store: InMemoryStore | None = None) -> InMemoryStore:
    store = store or InMemoryStore()
    for text in texts:
        number = store.counts().turns
        turn = Turn("user" if role == "user" else "assistant", text, at=float(number), lang=lang, id=f"{role}{number}")
        store.add_turn(turn, " ".join(languages.for_language(lang).words(text)))
    return store


def asked(store: InMemoryStore, question: str, k: int = 5, lang: str = "en-US") -> list[Hit]:
    return recall(store, Question(question, lang), Scope(), k)


def sure(store: InMemoryStore, question: str, lang: str = "en-US") -> list[str]:
    return [hit.text for hit in asked(store, question, lang=lang) if hit.sure]


def test_the_statement_that_answers_is_sure() -> None:
    store = told("my cat is called Bob", "my dog is called Rex", "I like tea")
    assert sure(store, "what is my cat called") == ["my cat is called Bob"]


def test_a_neighbour_is_found_but_not_sure() -> None:
    hits = asked(told("my cat is called Bob"), "what does my cat eat")
    assert [(hit.text, hit.sure) for hit in hits] == [("my cat is called Bob", False)]


def test_nothing_is_found_for_words_never_said() -> None:
    assert asked(told("my cat is called Bob"), "where is the moon") == []


def test_a_question_never_answers_and_comes_after_what_it_asks_about() -> None:
    store = told("what is my cat called", "my cat is called Bob", "what is my cat called")
    hits = asked(store, "what is my cat called")
    assert hits[0].text == "my cat is called Bob"
    assert [hit.sure for hit in hits] == [True, False, False]


@pytest.mark.parametrize("word", ["Berlin", "berlin", "capital Germany"])
def test_a_hit_that_holds_the_word_comes_before_its_neighbours(word: str) -> None:
    store = told("what is the biggest town in that country")
    told("The capital of Germany is Berlin.", role="assistant", store=store)
    told("thanks that is a nice town", store=store)
    assert [hit.text for hit in asked(store, word, 1)] == ["The capital of Germany is Berlin."]


def test_a_question_with_the_word_comes_after_what_is_said_of_it_and_before_neighbours() -> None:
    store = told("I feel fine", "how old is python and who made it", "ok then")
    told(
        "a snake",
        "the python is a snake that lives in hot countries and eats small animals",
        role="assistant",
        store=store,
    )
    hits = [hit.text for hit in asked(store, "Python")]
    assert hits[0].startswith("the python is")
    assert hits[1].startswith("how old is python")


def test_what_is_said_again_and_again_takes_one_place() -> None:
    store = told("we need milk", "the milk is in the cellar and the bread, too", "we need milk", "we need milk")
    hits = [hit.text for hit in asked(store, "milk for the cake")]
    assert hits[:2] == ["we need milk", "the milk is in the cellar and the bread, too"]
    assert len(hits) == 4


def test_the_assistants_own_words_never_answer() -> None:
    store = told("your cat is called Bob", role="assistant")
    assert sure(store, "what is my cat called") == []
    assert asked(store, "what is my cat called")


def test_a_command_never_answers() -> None:
    assert sure(told("call my sister"), "what is my sister called") == []


def test_asking_where_needs_a_place_in_the_answer() -> None:
    store = told("the passports expire soon", "the passports are in the blue drawer")
    assert sure(store, "where are the passports") == ["the passports are in the blue drawer"]


def test_an_utterance_is_no_hit_of_its_own() -> None:
    store = told("my cat is called Bob")
    store.add_turn(Turn("user", "my cat is big", at=5.0, id="asks", utterance_id="u1"), "my cat is big")
    hits = recall(store, Question("my cat is big", "en-US", utterance_id="u1"), Scope(), 5)
    assert [hit.text for hit in hits] == ["my cat is called Bob"]


def test_the_same_words_said_just_now_are_left_out() -> None:
    store = told("the cat sleeps", "the cat sleeps")
    hits = recall(store, Question("the cat sleeps", "en-US", said_after=0.5), Scope(), 5)
    assert [hit.at for hit in hits] == [0.0]


def test_a_lasting_memory_answers_too() -> None:
    store = InMemoryStore()
    store.put_entry(Entry("bins", "the bins go out on Tuesday", updated_at=3.0), "the bin go out on tuesday")
    hit = asked(store, "when do the bins go out")[0]
    assert (hit.kind, hit.key, hit.sure, hit.at) == ("memory", "bins", True, 3.0)


def test_every_hit_says_why() -> None:
    hits = asked(told("my cat is called Bob", "my cat is big"), "what is my cat called")
    assert [hit.reason for hit in hits] == ["has all that was asked for: cat, call", "has some of it: cat"]


def test_no_more_hits_come_than_were_asked_for() -> None:
    store = told(*(f"my cat number {n}" for n in range(9)))
    assert len(asked(store, "my cat", k=4)) == 4
    assert asked(store, "my cat", k=0) == []


@pytest.mark.parametrize(
    ("household", "least", "most_made_up"), list(zip(HOUSEHOLDS, (66, 60), (2, 2), strict=True)), ids=("en", "de")
)
def test_a_household_gets_its_own_statements_back_and_nothing_made_up(
    household: dict, least: int, most_made_up: int
) -> None:
    tag = household["language"]
    store = told(*(entry["text"] for entry in household["statements"]), *household["chatter"], lang=tag)
    told(*(entry["question"] for entry in household["questions"]), lang=tag, store=store)
    reachable = [entry for entry in household["questions"] if entry["wording"] != "far"]
    right = [
        entry
        for entry in reachable
        if sure(store, entry["question"], tag)[:1] == [household["statements"][entry["statement"]]["text"]]
    ]
    made_up = [entry["question"] for entry in household["unanswerable"] if sure(store, entry["question"], tag)]
    assert len(right) >= least
    assert len(made_up) <= most_made_up


def test_a_memory_that_the_assistant_wrote_answers_nothing() -> None:
    store = InMemoryStore()
    store.put_entry(Entry("bins", "the bins go out on Tuesday", {"by": "assistant"}), "bin the bin go out on tuesday")
    hit = asked(store, "when do the bins go out")[0]
    assert (hit.role, hit.answers) == ("assistant", False)


def test_an_answer_of_the_assistant_beside_a_statement_is_a_neighbour() -> None:
    store = told("my cat is called Bob")
    told("what a nice name for a cat", role="assistant", store=store)
    assert [hit.answers for hit in asked(store, "what is my cat called")] == [True, False]


def test_the_turn_beside_what_was_found_is_found_too() -> None:
    store = InMemoryStore()
    for number, (role, text) in enumerate((("user", "which boat shall we take"), ("assistant", "the red one"))):
        turn = Turn(role, text, at=float(number), id=str(number), session_id="s")  # type: ignore[arg-type]
        store.add_turn(turn, " ".join(languages.for_language("en-US").words(text)))
    assert [hit.text for hit in asked(store, "which boat shall we take again")][-1] == "the red one"


# days that the question names

NOON, DAY_S = 1778673600.0, 86400.0  # Wednesday, 2026-05-13, 12:00 UTC


def at_days(*said: tuple[int, str]) -> InMemoryStore:
    """Turns of so many days before noon."""
    store = InMemoryStore()
    for days, text in said:
        turn = Turn("user", text, at=NOON - days * DAY_S, lang="en-US", id=text)
        store.add_turn(turn, " ".join(languages.for_language("en-US").words(text)))
    return store


def on_the_day(store: InMemoryStore, question: str) -> list[Hit]:
    return recall(store, Question(question, "en-US", at=NOON, timezone="UTC"), Scope(), 5)


def test_what_was_told_on_the_day_answers_without_naming_it() -> None:
    store = at_days((9, "we had soup for dinner tonight"), (1, "we had pizza for dinner tonight"))
    hits = on_the_day(store, "what did we have for dinner yesterday")
    assert [(hit.text, hit.answers) for hit in hits] == [
        ("we had pizza for dinner tonight", True),
        ("we had soup for dinner tonight", False),
    ]


def test_nothing_is_sure_where_nothing_was_told_of_that_day() -> None:
    store = at_days((40, "the cat chased the red ball in the garden"))
    assert [hit.sure for hit in on_the_day(store, "where did the cat chase the red ball")] == [True]
    assert [hit.sure for hit in on_the_day(store, "where did the cat chase the red ball yesterday")] == [False]


def test_a_text_that_names_the_day_itself_is_told_of_it() -> None:
    store = at_days((90, "the wedding of my sister is on 5 May"))
    assert [hit.sure for hit in on_the_day(store, "whose wedding is on 5 May")] == [True]


# a question that is in the log before it is answered

ASKED_AT = 5000.0


class Heard:
    """A memory in which each question is heard, and recorded as a turn, before it is asked."""

    def __init__(self, lang: str, *told: str) -> None:
        self.lang, self.store, self.now, self._number = lang, InMemoryStore(), 1000.0, 0
        for text in told:
            self.say(text)
        self.now = ASKED_AT

    def say(self, text: str, role: str = "user", utterance_id: str | None = None, session_id: str = "s") -> None:
        self._number += 1
        who, at = "user" if role == "user" else "assistant", self.now
        turn = Turn(who, text, at, None, self.lang, f"t{self._number}", 0, "household", session_id)  # type: ignore[arg-type]  # who
        turn = replace(turn, utterance_id=utterance_id)
        self.store.add_turn(turn, " ".join(languages.for_language(self.lang).words(text)))

    def ask(self, question: str, part: str | None = None, with_id: bool = True) -> list[tuple[str, bool, bool]]:
        """What is found for a question, or a part of it, that was heard a moment ago."""
        utterance_id = f"u{self._number}" if with_id else None
        self.say(question, utterance_id=utterance_id)
        self.now += 1.0
        asked = Question(part or question, self.lang, utterance_id, at=self.now)
        return [(hit.text, hit.sure, hit.answers) for hit in recall(self.store, asked, Scope(), 5)]


COMPOUNDS = [
    ("de-DE", "mein Werkstatttermin ist am Montag um acht", "wann muss ich in die Werkstatt"),
    ("de-DE", "der Gartenschlauch hängt im Schuppen", "wo ist der Schlauch"),
    ("nl-NL", "mijn kappersafspraak is dinsdag om drie", "wanneer moet ik naar de kapper"),
    ("nl-NL", "de tuinslang ligt achter de schuur", "waar is de slang"),
    ("da-DK", "min frisørtid er på torsdag klokken to", "hvornår skal jeg til frisøren"),
    ("da-DK", "cykelnøglen ligger i skuffen", "hvor er nøglen"),
]


@pytest.mark.parametrize("with_id", [True, False])
@pytest.mark.parametrize(("lang", "told", "question"), COMPOUNDS)
def test_a_heard_question_does_not_make_its_own_words_known(lang: str, told: str, question: str, with_id: bool) -> None:
    house = Heard(lang, told)
    unheard = recall(house.store, Question(question, lang, at=house.now), Scope(), 5)
    assert [hit.text for hit in unheard] == [told]
    found = [(told, unheard[0].sure, unheard[0].answers)]
    assert house.ask(question, with_id=with_id) == found
    for _ in range(3):
        house.now += 60.0
        again = house.ask(question, with_id=with_id)
        assert again[0] == found[0]
        assert {one[0] for one in again[1:]} == {question}


def test_what_the_assistant_answered_makes_no_word_known_either() -> None:
    house = Heard("de-DE")
    question = "wann muss ich in die Werkstatt"
    assert house.ask(question) == []
    house.say("von der Werkstatt weiß ich nichts", "assistant")
    house.say("mein Werkstatttermin ist am Montag um acht")
    house.now += 60.0
    assert ("mein Werkstatttermin ist am Montag um acht", True, True) in house.ask(question)


def test_a_question_beside_what_it_finds_makes_nothing_sure() -> None:
    house = Heard("en-US")
    for text, role in (("the accordion is heavy", "user"), ("good to know", "assistant")):
        house.say(text, role)
    assert house.ask("does the accordion need a new strap") == [
        ("the accordion is heavy", False, False),
        ("good to know", False, False),
    ]


def test_a_question_asked_again_in_vain_makes_nothing_sure() -> None:
    house, question = Heard("en-US"), "which bus do I take to the office"
    house.ask(question)
    house.say("I have nothing on that", "assistant")
    house.now += 3600.0
    assert house.ask(question) == [(question, False, False)]


def test_an_earlier_asking_is_a_hit_behind_all_others_and_only_where_turns_are_looked_for() -> None:
    house, question = Heard("en-US", "my cat is called Bob", "my cat likes tuna"), "what is my cat called"
    house.ask(question)
    house.now += 3600.0
    assert [one[0] for one in house.ask(question)] == ["my cat is called Bob", "my cat likes tuna", question]
    asked = Question(question, "en-US", at=house.now)
    assert recall(house.store, asked, Scope(), 5, frozenset({"memory"})) == []
    assert [hit.text for hit in recall(house.store, asked, Scope("elsewhere"), 5)] == []
    assert [hit.text for hit in recall(house.store, asked, Scope(), 2)] == ["my cat is called Bob", "my cat likes tuna"]


def test_what_is_asked_for_a_part_of_an_utterance_just_heard_is_the_same_question() -> None:
    house = Heard("de-DE", "mein Werkstatttermin ist am Montag um acht")
    found = house.ask("was weißt du über meine Werkstatt", "Werkstatt", with_id=False)
    assert [one[0] for one in found] == ["mein Werkstatttermin ist am Montag um acht"]


def test_a_statement_in_the_words_of_what_is_asked_is_found_however_lately_it_was_made() -> None:
    house = Heard("en-US")
    assert house.ask("the cat sleeps in the attic", with_id=False) == [("the cat sleeps in the attic", True, True)]


def test_what_others_asked_in_the_same_words_is_theirs() -> None:
    house, question = Heard("en-US", "my cat is called Bob"), "what is my cat called"
    turn = Turn("user", question, ASKED_AT, lang="en-US", id="toms", user_id="tom", utterance_id="u-tom")
    house.store.add_turn(turn, "my cat call")
    alone = recall(house.store, Question(question, "en-US", at=ASKED_AT), Scope(user_id="tom"), 5)
    assert alone == []
    assert [one[0] for one in house.ask(question)] == ["my cat is called Bob"]


class Meaning:
    """A search by meaning that keeps what it was asked with, and finds the first turns."""

    kind = "multilingual"

    def __init__(self, store: InMemoryStore) -> None:
        self.embedded: list[str] = []
        self.searched: list[float] = []
        self._store = store

    def soon(self, text: str) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(np.zeros(2, dtype=np.float32))
        return done

    def embed_question(self, text: str) -> Any:
        self.embedded.append(text)
        return np.ones(2, dtype=np.float32)

    def nearest(self, query: Any, scope: Scope, kinds: frozenset[str], limit: int) -> list[NearDocument]:
        self.searched.append(float(query[0]))
        return [NearDocument(turn, 0.5) for turn in self._store.turns(scope)][:limit]

    def cosines(self, query: Any, docs: Sequence[int], user_id: str) -> dict[int, float]:
        return dict.fromkeys(docs, 0.5)


def test_the_vector_of_a_question_holds_no_names_of_speakers() -> None:
    store = InMemoryStore()
    for number, (speaker, text) in enumerate((("Anna", "I sing in a choir"), ("Ben", "hi Anna good to see you"))):
        turn = Turn("user", text, at=float(number), lang="en-US", id=f"t{number}", speaker=speaker)
        store.add_turn(turn, " ".join(languages.for_language("en-US").words(text)))
    meaning = Meaning(store)
    recall(store, Question("what does Anna sing in the choir", "en-US"), Scope(), 5, meaning=cast(Any, meaning))
    assert (meaning.embedded, meaning.searched) == (["what does sing in the choir"], [1.0])


def test_what_is_said_again_and_again_is_one_of_the_nearest() -> None:
    store = told(*("good night" for _ in range(30)), "the sledge is behind the boiler")
    meaning = Meaning(store)
    hits = recall(store, Question("something for snow", "en-US"), Scope(), 5, meaning=cast(Any, meaning))
    assert {hit.text for hit in hits[:2]} == {"good night", "the sledge is behind the boiler"}


# several who speak as one user


def heard_of(*said: tuple[str | None, str], lang: str = "en-US") -> InMemoryStore:
    store = InMemoryStore()
    for number, (speaker, text) in enumerate(said):
        turn = Turn("user", text, float(number), speaker, lang, f"t{number}")
        store.add_turn(turn, " ".join(languages.for_language(lang).words(text)))
    return store


SIZES = [
    ("en-US", "my glove size is seven", "my glove size is nine", "what is my glove size"),
    ("de-DE", "meine Handschuhgröße ist sieben", "meine Handschuhgröße ist neun", "was ist meine Handschuhgröße"),
    ("fr-FR", "ma pointure est trente-huit", "ma pointure est quarante", "quelle est ma pointure"),
    ("es-ES", "mi talla es la mediana", "mi talla es la grande", "cuál es mi talla"),
    ("nl-NL", "mijn schoenmaat is zeven", "mijn schoenmaat is negen", "wat is mijn schoenmaat"),
]


@pytest.mark.parametrize(("lang", "ines", "omars", "question"), SIZES)
def test_who_asks_of_themselves_is_answered_with_what_they_said(
    lang: str, ines: str, omars: str, question: str
) -> None:
    store = heard_of(("ines", ines), ("omar", omars), lang=lang)
    for name, told_by in (("ines", ines), ("omar", omars)):
        hits = recall(store, Question(question, lang, asker=name), Scope(), 5)
        assert [hit.text for hit in hits if hit.answers] == [told_by]
    everything = recall(store, Question(question, lang), Scope(), 5)
    assert [hit.text for hit in everything if hit.answers] == [omars, ines]


def test_what_another_says_of_who_asks_and_what_they_share_answers_too() -> None:
    store = heard_of(("omar", "ines' glove size is seven"), ("omar", "our ferry leaves at nine"))
    for question, answer in (("what is my glove size", 0), ("when does my ferry leave", 1), ("when is our ferry", 1)):
        hits = recall(store, Question(question, "en-US", asker="ines"), Scope(), 5)
        told_of = "ines' glove size is seven" if answer == 0 else "our ferry leaves at nine"
        assert told_of in [hit.text for hit in hits if hit.answers], question
    hits = recall(store, Question("what is my glove size", "en-US", asker="kim"), Scope(), 5)
    assert not any(hit.answers for hit in hits)


NAMED = [
    ("en-US", "i passed my sailing exam", "i failed my sailing exam", "did ines pass her sailing exam"),
    ("de-DE", "mein Koffer ist blau", "mein Koffer ist rot", "welche Farbe hat Ines' Koffer"),
    ("de-DE", "mein Koffer ist blau", "mein Koffer ist rot", "wo ist Ines Koffer"),
    ("da-DK", "min kuffert er blå", "min kuffert er rød", "hvor er Ines kuffert"),
]


@pytest.mark.parametrize(("lang", "ines", "omars", "question"), NAMED)
def test_whom_a_question_names_is_found_by_what_they_said_of_themselves(
    lang: str, ines: str, omars: str, question: str
) -> None:
    store = heard_of(("ines", ines), ("omar", omars), lang=lang)
    hits = recall(store, Question(question, lang, asker="omar"), Scope(), 5)
    assert hits[0].text == ines and not any(hit.answers for hit in hits[1:])


def test_a_genitive_without_an_apostrophe_names_the_speaker() -> None:
    store = heard_of(("nora", "mein Schlüssel liegt im Flur"), ("omar", "mein Schlüssel liegt im Bad"), lang="de-DE")
    hits = recall(store, Question("wo liegt Noras Schlüssel", "de-DE"), Scope(), 5)
    assert [hit.text for hit in hits if hit.answers] == ["mein Schlüssel liegt im Flur"]


def test_what_others_say_of_whom_a_question_names_answers_too() -> None:
    store = heard_of(("omar", "ines lost her keys"), ("ines", "i baked bread"), ("omar", "i lost my keys"))
    hits = recall(store, Question("did ines lose her keys", "en-US", asker="omar"), Scope(), 5)
    assert [hit.text for hit in hits if hit.answers] == ["ines lost her keys"]
