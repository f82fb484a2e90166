"""The slots that facts fill: how long they hold, what they matter to, and what takes the place of what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ovos_persona_memory.records import Decay

Kept = Literal["one", "by_thing", "by_value", "by_person", "by_place"]
"""What a new fact of a slot takes the place of.

- ``one``: of any other of the person. A person has one birthday, and moves from one mood to the next.
- ``by_thing``: of one about the same thing. The key hangs in one place; a favourite colour is no favourite dish.
- ``by_value``: of the same told otherwise, or its opposite. Tastes, ailments and habits stand side by side.
- ``by_person``: of one about the same relation where one has it once, as a mother; sisters stand side by side.
- ``by_place``: of one of the same sort. A home is replaced by a home, what is near it by what is near it; an occupation
  by an occupation, an employer by an employer.
"""


@dataclass(frozen=True)
class Slot:
    """What facts of one kind have in common."""

    decay: Decay
    topics: tuple[str, ...]
    kept: Kept
    learned_from: float = 0.52
    """A value is learned if its confidence is >= this."""
    is_listed: bool = False
    """Whether "nuts and eggs" are two values: of allergies each ends by itself; "rock and roll" is one taste."""


SLOTS: dict[str, Slot] = {
    "name": Slot("never", ("person",), "by_thing"),
    "birthday": Slot("never", ("person", "time"), "one"),
    "age": Slot("slow", ("person",), "one"),
    "origin": Slot("never", ("person",), "one"),
    "home": Slot("slow", ("person", "home"), "by_place"),
    "work": Slot("slow", ("person", "work"), "by_place"),
    "family": Slot("never", ("family",), "by_person"),
    "pet": Slot("slow", ("family", "pets"), "by_person"),
    "allergy": Slot("never", ("food", "health"), "by_value", is_listed=True),
    "diet": Slot("slow", ("food", "health"), "by_value", is_listed=True),
    "health": Slot("slow", ("health",), "by_value", is_listed=True),
    "favourite": Slot("slow", ("taste",), "by_thing"),
    "likes": Slot("slow", ("taste",), "by_value"),
    "dislikes": Slot("slow", ("taste",), "by_value"),
    "activity": Slot("slow", ("activity",), "by_value"),
    "location": Slot("place", ("things",), "by_thing"),
    "mood": Slot("mood", ("mood",), "one"),
    "detail": Slot("slow", ("person",), "by_thing"),
}
