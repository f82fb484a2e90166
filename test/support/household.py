"""A household that has talked with its assistant for a month: ten thousand turns, written in about two seconds."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from ovos_persona_memory.config import FactsConfig, MemoryConfig, RecallConfig
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import Episode, Scope, Turn

PEOPLE = ("ada", "ben", "mia", "household")
ROOMS = ("kitchen", "living room", "study", "bedroom")
TALK = (
    ("what is the weather like in {place}", "It is {number} degrees in {place}, with some clouds.", "weather.skill"),
    ("set a timer for {number} minutes", "A timer of {number} minutes is set.", "alerts.skill"),
    ("turn on the lamp in the {room}", "The lamp in the {room} is on.", "lights.skill"),
    ("how do you say {thing} in French", "I would have to look that up.", None),
    ("play something quiet", "Here is some piano music.", "music.skill"),
    ("tell me something about {place}", "{place} lies by the water and is older than most people think.", None),
    ("put {thing} on the shopping list", "{thing} is on the list.", "shopping.skill"),
    ("what time is it in {place}", "It is {number} past nine there.", "date-time.skill"),
    ("how long do I boil {thing}", "About {number} minutes, on a small flame.", None),
    ("who wrote the song about {place}", "Several people did; the best known is a waltz.", None),
)
PLACES = ("Lisbon", "Bergen", "Trieste", "Odense", "Vigo", "Delft", "Girona")
THINGS = ("bread", "lentils", "pears", "coffee", "rice", "plums", "potatoes")
PAIRS = 5
"""Questions with their answers in a talk."""
MONTH_S = 30 * 86400.0
LAST_S = 3 * 3600.0
"""The newest talk is so long ago, seconds: what tests say themselves is newer."""
BY_WORDS = MemoryConfig(recall=RecallConfig(embedder="none"), facts=FactsConfig(learn=False))


def fill(folder: Path, turns: int, now: float) -> None:
    """Talks of the month before ``now`` (seconds since the epoch), and what the device did for them."""
    drawn = random.Random(7)
    talks = turns // (2 * PAIRS)
    with PersonaMemory.open(folder, BY_WORDS) as memory, memory.transaction():
        for number in range(talks):
            begins = now - LAST_S - MONTH_S * (talks - number) / talks
            person = drawn.choice(PEOPLE)
            scope = Scope(f"talk-{number:04}", person, "Scribe" if number % 3 == 0 else None, drawn.choice(ROOMS))
            said = list(_said(drawn, begins, person))
            ids = memory.record([turn for turn, _ in said], scope)
            for id, (turn, skill) in zip(ids, said, strict=True):
                if skill and turn.role == "user":
                    memory._store.episode_store.add(_deed(turn, id, skill, scope), None)


def _said(drawn: random.Random, begins: float, person: str) -> Iterator[tuple[Turn, str | None]]:
    speaker = None if person == "household" else person.capitalize()
    for number in range(PAIRS):
        asked, answered, skill = drawn.choice(TALK)
        slots = {"place": drawn.choice(PLACES), "thing": drawn.choice(THINGS), "room": drawn.choice(ROOMS)}
        slots["number"] = str(drawn.randint(2, 28))
        at = begins + 40.0 * number
        yield Turn("user", asked.format(**slots), at=at, speaker=speaker, lang="en-US"), skill
        yield Turn("assistant", answered.format(**slots), at=at + 3.0, lang="en-US"), None


def _deed(turn: Turn, id: str, skill: str, scope: Scope) -> Episode:
    return Episode(
        "intent",
        turn.at or 0.0,
        f"did-{id}",
        user_id=scope.user_id or "",
        session_id=scope.session_id,
        site_id=scope.site_id,
        turn_id=id,
        skill_id=skill,
        outcome="handled",
        latency_ms=120.0,
    )
