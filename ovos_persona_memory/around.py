"""What learning knows beside a turn's words: who is known by name, and what was spoken of a moment ago.

It is held in memory alone: relations, names and words like "favourite colour", no sentences.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from ovos_persona_memory import language, templates
from ovos_persona_memory.clauses import Spoken, flat
from ovos_persona_memory.fact import Fact
from ovos_persona_memory.introduced import thing_of
from ovos_persona_memory.mentions import NAMES, Before, Who, asked_for, spoken_of
from ovos_persona_memory.records import GUEST, HOUSEHOLD, Scope, Turn
from ovos_persona_memory.statements import pretends
from ovos_persona_memory.stores.base import Store
from ovos_persona_memory.stores.facts import Wanted
from ovos_persona_memory.templates import Templates, Words

NAMING = ("name", "family", "pet")
"""The slots whose facts name somebody."""
HELD = frozenset({"active", "superseded"})
NAMED = 200
"""So many facts of a user are looked at for names."""
HOUSE = 12
"""Users at most who are one household: of more each speaks of their own people alone."""
ROOMS = 64
"""So many sessions are kept in mind."""
STALE_S = 180.0
"""What was spoken of longer ago is meant by no pronoun, seconds."""
_NAME = re.compile(r"[A-Za-z]{3,20}")
"""An id of a user that can be their name."""
TURNS = 2
"""... nor what was spoken of more turns ago."""


@dataclass(frozen=True)
class _Spoke:
    """Of whom somebody spoke."""

    who: Who
    at: float
    turns: int = 0
    """How many turns of theirs ago."""


@dataclass(frozen=True)
class _Room:
    """What was just spoken of in one session."""

    asked: tuple[str, ...] = ()
    question: bool = False
    at: float = 0.0
    people: Mapping[str, _Spoke] = field(default_factory=dict)
    """By user."""
    last: _Spoke | None = None
    """Of whom anybody spoke last, the assistant too."""
    thing: tuple[str, ...] = ()
    """What was named last."""
    thing_at: float = 0.0
    played: Mapping[str, float] = field(default_factory=dict)
    """When each user last played to be somebody else."""


class Around:
    """Not thread-safe by itself: the transactions in which it is called are."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._rooms: OrderedDict[str, _Room] = OrderedDict()
        self._names: dict[str, tuple[float, Mapping[str, Who]]] = {}
        """By user, with the time when they were read: others may write into a store that is shared."""

    def forget(self) -> None:
        """Facts changed: names are read anew, and nothing is known of what was spoken of."""
        self._names.clear()
        self._rooms.clear()

    def forget_names(self) -> None:
        """Somebody has a name that was not known."""
        self._names.clear()

    def before(self, turn: Turn) -> Before:
        """What is known when a turn is said."""
        room = self._rooms.get(turn.session_id or "", _Room())
        at = turn.at or 0.0
        names = self._names_of(turn.user_id, at)
        person = _meant(room, turn.user_id, names, at)
        fresh = 0.0 <= at - room.at <= STALE_S
        asked = room.asked if fresh else ()
        playing = 0.0 <= at - room.played.get(turn.user_id, -STALE_S - 1.0) <= STALE_S
        thing = room.thing if 0.0 <= at - room.thing_at <= STALE_S else ()
        return Before(names, person, asked, fresh and room.question, thing, playing)

    def note(self, turn: Turn) -> None:
        """A turn was said, and what it tells is learned: it may speak of somebody, or of what the next one is about."""
        if not turn.session_id or not turn.text:
            return
        spoken = Spoken.of(turn)
        if not spoken.templates.third:
            return
        room = self._rooms.pop(turn.session_id, _Room())
        names = self._names_of(turn.user_id, turn.at or 0.0)
        words = spoken.templates.words_of(turn.text)
        asked = replace(self._asked(spoken, words, turn, room), last=_last(spoken, words, turn, room.last, names))
        if turn.role == "user":
            asked = replace(asked, people=_people(spoken, words, turn, asked.people, names))
            thing = thing_of(spoken.templates, words)
            if thing:
                asked = replace(asked, thing=thing, thing_at=turn.at or 0.0)
            if pretends(spoken.templates, words):
                asked = replace(asked, played={**asked.played, turn.user_id: turn.at or 0.0})
        self._rooms[turn.session_id] = asked
        if len(self._rooms) > ROOMS:
            self._rooms.popitem(last=False)

    def _asked(self, spoken: Spoken, words: Words, turn: Turn, room: _Room) -> _Room:
        named = set(words.folded) & spoken.templates.opening("asked_for")
        question = bool(named) and spoken.language.is_question(turn.text)
        found = asked_for(spoken.templates, words) if question or (named and turn.role == "user") else ()
        if not found:
            return replace(room, question=False)
        return replace(room, asked=found, question=question, at=turn.at or 0.0)

    def _names_of(self, user_id: str, at: float) -> Mapping[str, Who]:
        read_at, names = self._names.get(user_id, (None, {}))
        if read_at is None or abs(at - read_at) > STALE_S:
            names = self._read(user_id)
            self._names[user_id] = (at, names)
        return names

    def _read(self, user_id: str) -> Mapping[str, Who]:
        found: dict[str, Who] = {}
        users = self._store.users()
        house = [one for one in users if one != user_id] if len(users) <= HOUSE else []
        for other in (*sorted(house), user_id):
            if _NAME.fullmatch(other) and other not in (HOUSEHOLD, GUEST):
                found[other.lower()] = Who("" if other == user_id else other.lower())
            for slot in NAMING:
                wanted = Wanted(Scope(user_id=other), HELD if slot == "name" else frozenset({"active"}), slot)
                for fact in self._store.fact_store.facts(replace(wanted, limit=NAMED)):
                    found |= dict(_named(fact, own=other == user_id))
        return _told_apart(found)


def _meant(room: _Room, user_id: str, names: Mapping[str, Who], at: float) -> Who | None:
    """Whom a user's "she" means: of whom they spoke themselves; else of whom anybody in the room did, by name."""
    own, other = (
        spoke.who if spoke and spoke.turns < TURNS and 0.0 <= at - spoke.at <= STALE_S else None
        for spoke in (room.people.get(user_id), room.last)
    )
    return own or (names.get(other.called) if other else None)


def _last(spoken: Spoken, words: Words, turn: Turn, last: _Spoke | None, names: Mapping[str, Who]) -> _Spoke | None:
    """Of whom anybody spoke last, where it was by name."""
    known = {word for word in words.folded if word in names or word[:-1] in names}
    who = spoken_of(spoken.templates, flat(spoken, [turn.text]), names) if known else None
    if who is not None:
        return _Spoke(who, turn.at or 0.0)
    return None if last is None else replace(last, turns=last.turns + (turn.role == "user"))


def _people(
    spoken: Spoken, words: Words, turn: Turn, people: Mapping[str, _Spoke], names: Mapping[str, Who]
) -> Mapping[str, _Spoke]:
    """Of whom each user spoke last."""
    known = spoken.templates
    may = not known.people.isdisjoint(words.folded) or any(word in names or word[:-1] in names for word in words.folded)
    who = spoken_of(known, flat(spoken, [turn.text]), names) if may else None
    if who is not None:
        return {**people, turn.user_id: _Spoke(who, turn.at or 0.0)}
    last = people.get(turn.user_id)
    if last is None:
        return people
    pronouns = known.opening("he_she") | known.opening("whose")
    again = last.turns < TURNS and not pronouns.isdisjoint(words.folded)
    now = _Spoke(last.who, turn.at or 0.0) if again else replace(last, turns=last.turns + 1)
    return {**people, turn.user_id: now}


def _named(fact: Fact, own: bool) -> Iterator[tuple[str, Who]]:
    """Those whom a fact names; ``own``: it is the speaker's."""
    known = templates.of(language.of_text(fact.lang, fact.text).tag)
    if fact.slot == "name":
        if fact.thing or fact.subject or not fact.value:
            return
        oneself = own and fact.user_id != HOUSEHOLD
        for name in _names_in(known, fact.value):
            yield name, Who("" if oneself else name)
        return
    if known.has(known.words_of(fact.text), "outsider"):
        return
    relation = "" if fact.subject or not own else _relation(known, fact)
    for name in _names_in(known, fact.value or ""):
        yield name, Who(relation or name, relation=relation, pet=fact.slot == "pet")


def _names_in(known: Templates, value: str) -> Iterator[str]:
    """The names in a value: "tom and lisa" are two; "two cats" is none."""
    words = known.words_of(value)
    none = {*known.lists.get("determiner", ()), *known.lists.get("number", ()), *known.opening("pet")}
    joints = known.lists.get("listing", ())
    names: list[list[str]] = [[]]
    for word in words.folded:
        if word in joints:
            names.append([])
        else:
            names[-1].append(word)
    for name in names:
        if name and len(name) <= NAMES and none.isdisjoint(name):
            yield " ".join(name)


def _relation(known: Templates, fact: Fact) -> str:
    """The relation that a fact names, as its speaker said it."""
    words = known.words_of(fact.text)
    name = "pet" if fact.slot == "pet" else "relation"
    spoken = language.of_text(fact.lang, fact.text)
    for place in range(len(words.folded)):
        rest = words.part(place, len(words.folded))
        said = " ".join(rest.folded[: known.starts(rest, name)])
        if said and fact.thing.endswith(" ".join(spoken.words(said))):
            return said
    return ""


def _told_apart(names: Mapping[str, Who]) -> Mapping[str, Who]:
    """The same, and of two cousins each by name."""
    shared = [who.relation for who in names.values() if who.relation]
    return {
        name: replace(who, subject=name) if who.relation and shared.count(who.relation) > 1 else who
        for name, who in names.items()
    }
