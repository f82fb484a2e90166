"""A question that is in the log before it is answered finds the very same as one that is not."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest

from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import Hit, Scope, Turn
from ovos_persona_memory.stores.base.store import Store

pytestmark = pytest.mark.full

NOW = 1.76e9
MEMORIES = 12
"""Of each seed, each another person's."""


@dataclass(frozen=True)
class Speech:
    """What is said and asked in a language; compounds beside their parts, so that words are known, near and unknown."""

    words: tuple[str, ...]
    told: tuple[str, ...]
    asked: tuple[str, ...]


SPEECH = {
    "de-DE": Speech(
        (
            "werkstatt",
            "termin",
            "werkstatttermin",
            "sommer",
            "reifen",
            "sommerreifen",
            "keller",
            "haustür",
            "hausmeister",
        ),
        ("mein {} ist bei {}", "die {} liegen neben {} und {}", "wo ist {}", "stell {} an"),
        ("wann bin ich bei {}", "wo sind {} und {}", "was weißt du über {} {} und {}"),
    ),
    "nl-NL": Speech(
        ("kapper", "afspraak", "kappersafspraak", "fiets", "sleutel", "fietssleutel", "schuur", "tuin", "tuinslang"),
        ("mijn {} is bij {}", "de {} ligt in {} naast {}", "waar is {}"),
        ("waar is mijn {}", "wanneer heb ik {} en {}", "wat weet je over {} {} en {}"),
    ),
    "da-DK": Speech(
        ("frisør", "tid", "frisørtid", "cykel", "nøgle", "cykelnøgle", "kælder", "have", "haveslange"),
        ("min {} er hos {}", "{} ligger ved {} og {}", "hvor er {}"),
        ("hvor er min {}", "hvornår har jeg {} og {}", "hvad ved du om {} {} og {}"),
    ),
    "en-US": Speech(
        ("cat", "dog", "garage", "key", "attic", "accordion", "dentist", "tuesday"),
        ("my {} is in the {}", "the {} is with {} and {}", "what is a {}"),
        ("where is my {}", "where are {} and {}", "what do you know about {} {} and {}"),
    ),
}


class House:
    """A person's memory, filled at random, and a question that may be asked of it."""

    def __init__(self, store: Store, rng: random.Random, person: str) -> None:
        self._rng, self._person = rng, person
        self._memory = PersonaMemory(store, MemoryConfig(), clock=lambda: NOW)
        self.lang = rng.choice(sorted(SPEECH))
        self.question = self._said(SPEECH[self.lang].asked)
        self.k, self.kinds = rng.choice([1, 3, 20]), rng.choice([None, {"turn"}, {"memory"}])
        for _ in range(rng.randrange(20)):
            lang = rng.choice([self.lang, self.lang, self.lang, *sorted(SPEECH)])
            role = rng.choice(("user", "user", "assistant"))
            self.say(self._said(SPEECH[lang].told), role, lang, NOW - rng.choice([5.0, 3000.0, 9e5]))
        if rng.random() < 0.3:
            self._memory.remember(self._said(SPEECH[self.lang].told[:2]), Scope(user_id=person), lang=self.lang)

    def _said(self, wordings: tuple[str, ...]) -> str:
        wording = self._rng.choice(wordings)
        return wording.format(*self._rng.choices(SPEECH[self.lang].words, k=wording.count("{}")))

    def say(self, text: str, role: str, lang: str, at: float, utterance_id: str | None = None) -> None:
        turn = Turn("user" if role == "user" else "assistant", text, at=at, lang=lang)
        self._memory.record([turn], Scope(self._rng.choice("ab"), self._person), utterance_id=utterance_id)

    def ask(self, scope: Scope, utterance_id: str | None = None) -> list[Hit]:
        """What is found; of every other person nothing is compared."""
        return self._memory.recall(self.question, scope, self.k, self.kinds, NOW, self.lang, utterance_id)

    def scopes(self) -> list[Scope]:
        return [Scope(user_id=self._person), Scope("a", self._person), Scope(user_id=self._person, persona_id="Ada")]


def same(hits: list[Hit], others: list[Hit]) -> bool:
    """The same hits, in the same order, as sure, and with the same scores."""
    told = [[(hit.id, hit.kind, hit.sure, hit.answers, hit.reason) for hit in found] for found in (hits, others)]
    return told[0] == told[1] and [hit.score for hit in hits] == pytest.approx([hit.score for hit in others], abs=1e-9)


@pytest.mark.parametrize("seed", range(2))
def test_a_heard_question_finds_what_it_finds_unheard(store: Store, seed: int) -> None:
    found = 0
    for number in range(MEMORIES):
        house = House(store, random.Random(f"{seed}-{number}"), f"person{number}")
        unheard = [house.ask(scope) for scope in house.scopes()]
        house.say(house.question, "user", house.lang, NOW, utterance_id=f"u-{number}")
        if number % 2:
            store.tidy()
        heard = [house.ask(scope, f"u-{number}") for scope in house.scopes()]
        assert all(map(same, unheard, heard)), (house.question, unheard, heard)
        found += any(unheard)
    assert found > MEMORIES / 2


def test_without_utterance_ids_a_question_heard_just_now_is_known_by_its_words(store: Store) -> None:
    for number in range(MEMORIES):
        house = House(store, random.Random(number), f"person{number}")
        unheard = [house.ask(scope) for scope in house.scopes()]
        house.say(house.question, "user", house.lang, NOW - 2.0)
        assert all(map(same, unheard, map(house.ask, house.scopes()))), house.question


def test_a_question_asked_before_finds_what_it_found_the_first_time(store: Store) -> None:
    """Behind it come the turns in which it was asked before."""
    for number in range(MEMORIES):
        house = House(store, random.Random(100 + number), f"person{number}")
        scope = house.scopes()[0]
        first = house.ask(scope)
        for at in (9e5, 3000.0, 100.0):
            house.say(house.question, "user", house.lang, NOW - at)
        house.say(house.question, "user", house.lang, NOW, utterance_id=f"u-{number}")
        again = house.ask(scope, f"u-{number}")
        assert same(again[: len(first)], first), house.question
        assert {(hit.text, hit.sure) for hit in again[len(first) :]} <= {(house.question, False)}
        assert not any(hit.text == house.question for hit in again) or house.kinds != {"memory"}


def test_a_question_asked_a_hundred_times_still_finds(store: Store) -> None:
    memory = PersonaMemory(store, MemoryConfig(), clock=lambda: NOW)
    told = [Turn("user", "die Sommerreifen liegen im Keller", at=NOW - 1e6, lang="de-DE")]
    memory.record(told, Scope(session_id="a"))
    asked = [Turn("user", "wo sind die Reifen", at=NOW - 1e5 + number, lang="de-DE") for number in range(100)]
    memory.record(asked, Scope(session_id="b"))
    hits = memory.recall("wo sind die Reifen", lang="de-DE", at=NOW)
    assert (hits[0].text, hits[0].answers) == ("die Sommerreifen liegen im Keller", True)
