"""What learning knows beside a turn's words: who is known by name, and what was spoken of a moment ago.

It is held in memory alone; of what was said the last turn of each room.
"""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ovos_persona_memory.extraction import naming
from ovos_persona_memory.extraction.candidate import Candidate
from ovos_persona_memory.extraction.statements import OF_THINGS, DialogueContext
from ovos_persona_memory.records import GUEST, HOUSEHOLD, Fact, Turn
from ovos_persona_memory.text import languages
from ovos_persona_memory.text.languages import Language

NAMING = ("name", "family", "pet")
"""The slots whose facts name somebody."""
NamingFacts = Callable[[str, str], Iterable[Fact]]
"""From a user and one of these slots to the facts of theirs that may name somebody."""
HOUSE = 12
"""Users at most who are one household: of more each speaks of their own people alone."""
ROOMS = 64
"""So many sessions are kept in mind."""
JUDGED = 256
"""Turns of which it is kept in mind what they came to."""
CONTEXT_S = 90.0
"""What was said longer ago does not help to read what is said now, seconds."""
STALE_S = 180.0
"""Who was spoken of longer ago is meant by no pronoun, seconds."""
TURNS = 2
"""Who was spoken of this many turns of the speaker ago, or earlier, is meant by no pronoun."""
_USER_NAME = re.compile(r"[A-Za-z]{3,20}")
"""An id of a user that can be their name."""


class _Spoken(NamedTuple):
    """Of whom somebody spoke."""

    user_id: str
    """Whose facts name them so."""
    subject: str
    name: str
    """By which everybody in the house knows them; empty where that is not known."""
    at: float


@dataclass(frozen=True)
class _Room:
    """What was just said in one session."""

    said: str = ""
    role: str = ""
    user_id: str = ""
    at: float = 0.0
    asked_of: str | None = ""
    """Of whom the last turn asked; None: of somebody else than whom it was put to."""
    spoken: _Spoken | None = None
    turns: int = 0
    """How many turns of people ago somebody was spoken of."""
    things: Mapping[str, str] = field(default_factory=dict)
    """By slot, the stems of what was told of last."""
    things_at: float = 0.0


class DialogueState:
    """Not thread-safe by itself: the transactions in which it is called are."""

    def __init__(self, users: Callable[[], Collection[str]], naming_facts: NamingFacts) -> None:
        """``users``: the users of whom something is kept."""
        self._users, self._naming_facts = users, naming_facts
        self._rooms: OrderedDict[str, _Room] = OrderedDict()
        self._names: dict[tuple[str, str | None], tuple[float, Mapping[str, str]]] = {}
        """By user and who speaks, with the time when they were read: others may write into a store that is shared."""
        self._of_all = True
        """Whether everybody in the house is known to everybody: it is no larger than HOUSE."""
        self._judged: OrderedDict[str, Sequence[Candidate]] = OrderedDict()

    def forget(self) -> None:
        """Facts changed: names are read anew, and nothing is known of what was spoken of."""
        self._names.clear()
        self._rooms.clear()
        self._judged.clear()

    def forget_names(self, user_id: str) -> None:
        """A user told a name that was not known."""
        if self._of_all:
            self._names.clear()
        for known in [one for one in self._names if one[0] == user_id]:
            del self._names[known]

    def keep_judged(self, turn: Turn, found: Sequence[Candidate]) -> None:
        """What a turn came to: the next one may put it right."""
        self._judged[turn.id] = found
        if len(self._judged) > JUDGED:
            self._judged.popitem(last=False)

    def forget_turns(self, turn_ids: Sequence[str]) -> None:
        """These turns are gone, or without their words."""
        for turn_id in turn_ids:
            self._judged.pop(turn_id, None)

    def judged(self, turn: Turn) -> Sequence[Candidate] | None:
        """What a turn came to; None where that is not known any more."""
        return self._judged.get(turn.id)

    def before(self, turn: Turn) -> DialogueContext:
        """What is known when a turn is said."""
        room = self._rooms.get(turn.session_id or "", _Room())
        at = turn.at or 0.0
        names = self._names_of(turn, at)
        known = DialogueContext(
            names=names,
            spoken_of=_meant(room, turn, names, at),
            things=room.things if 0.0 <= at - room.things_at <= STALE_S else {},
        )
        if not 0.0 <= at - room.at <= CONTEXT_S:
            return known
        is_other = room.role == "user" and room.user_id not in ("", turn.user_id, HOUSEHOLD, GUEST)
        hearer = known.names.get(room.user_id.lower(), room.user_id.lower()) if is_other else None
        return replace(
            known, said=room.said, by_assistant=room.role == "assistant", asked_of=room.asked_of, hearer=hearer
        )

    def note(self, turn: Turn) -> None:
        """A turn was said, and what it tells is learned: it may speak of somebody, or of what the next one is about."""
        if not turn.session_id or not turn.text:
            return
        room = self._rooms.pop(turn.session_id, _Room())
        at, found = turn.at or 0.0, self._judged.get(turn.id, ())
        language = languages.for_text(turn.lang, turn.text)
        named = self._named_in(turn, language, at)
        again = None if named else _said_again(room.spoken, turn, language, at)
        told_of = _told_of(found, language, turn, at) or (_Spoken(turn.user_id, named, "", at) if named else again)
        spoken = told_of and self._known_to_all(told_of, turn, at)
        asks = language.is_question(turn.text)
        meant = named or (again.subject if again else None if _asks_of_others(turn, language) else "")
        asked_of = meant if asks else ""
        room = replace(room, said=languages.beginning(turn.text), role=turn.role, user_id=turn.user_id, at=at)
        things = _things(turn, language, found)
        if things:
            room = replace(room, things=things, things_at=at)
        if spoken is not None:
            room = replace(room, spoken=spoken, turns=0)
        elif turn.role == "user":
            room = replace(room, turns=room.turns + 1)
        self._rooms[turn.session_id] = replace(room, asked_of=asked_of)
        if len(self._rooms) > ROOMS:
            self._rooms.popitem(last=False)

    def _named_in(self, turn: Turn, language: Language, at: float) -> str:
        """The subject of somebody whom a turn names: by a known name, or a relation; empty where it names nobody."""
        words, known = languages.fold(languages.beginning(turn.text)), naming.naming_words(language.tag)
        names = self._names_of(turn, at)
        place = next((n for n, word in enumerate(words) if names.get(word)), None)
        relation = known.relation_in(words)
        if place is None or relation is None:
            return names[words[place]] if place is not None else "" if relation is None else relation[0]
        named, (usual, first, last) = names[words[place]], relation
        between = words[place + 1 : first] if place < first else words[last:place]
        if usual in named.split() or not (known.small | known.of) - known.speaker >= set(between):
            return named
        whole = " ".join(words[min(place, first) : max(place + 1, last)])  # "ben's sister", "the sister of ben"
        return naming.subject_of(whole, language, names, None) or named

    def _known_to_all(self, spoken: _Spoken, turn: Turn, at: float) -> _Spoken:
        """The same with a name by which others know whoever is spoken of: "my sister" is nobody else's sister."""
        named = (name for name, subject in self._names_of(turn, at).items() if subject == spoken.subject)
        return spoken if spoken.name else spoken._replace(name=next(named, ""))

    def _names_of(self, turn: Turn, at: float) -> Mapping[str, str]:
        who = (turn.user_id, turn.speaker)
        read_at, names = self._names.get(who, (None, {}))
        if read_at is None or abs(at - read_at) > STALE_S:
            names = self._read(*who)
            self._names[who] = (at, names)
        return names

    def _read(self, user_id: str, speaker: str | None) -> Mapping[str, str]:
        users = self._users()
        self._of_all = len(users) <= HOUSE
        house = [one for one in users if one != user_id] if self._of_all else []
        found: dict[str, str] = {}
        for other in (*sorted(house), user_id):
            if _USER_NAME.fullmatch(other) and other not in (HOUSEHOLD, GUEST):
                found[other.lower()] = "" if other == user_id else other.lower()
            named = [
                pair
                for slot in NAMING
                for fact in self._naming_facts(other, slot)
                for pair in _named(fact, other == user_id, speaker)
            ]
            found |= _told_apart(named)
        return found


def _named(fact: Fact, is_own: bool, speaker: str | None) -> Iterator[tuple[str, str]]:
    """Names that a fact gives, folded, each with the subject of facts about whoever has it.

    ``speaker``: who speaks now; several may speak as one user.
    """
    words = languages.fold(fact.value or "")
    if not words or any(word.isdigit() for word in words):
        return
    name = words[0]
    if fact.slot == "name":
        is_same = fact.speaker == speaker or None in (fact.speaker, speaker)
        has_id = not is_own and fact.user_id != HOUSEHOLD
        owner = fact.subject if is_own and is_same else fact.subject or (fact.user_id.lower() if has_id else name)
        yield from ((word, owner) for word in words)
        return
    relation = naming.relation_in_stems(fact.thing, languages.for_text(fact.lang, fact.text))
    if fact.slot == "pet" and name in fact.thing.split() and len(fact.thing.split()) == 1:
        return  # the animal alone: "we have a dog"
    if not relation:
        yield name, name
    elif is_own:
        yield name, f"{fact.subject} {relation}".strip()
    else:
        yield name, name  # somebody else's sister is known by her name


def _told_apart(named: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Where several have the same relation, each is named by relation and name."""
    several = Counter(subject for _, subject in set(named) if subject)
    return {
        name: f"{subject} {name}" if several[subject] > 1 and subject != name else subject for name, subject in named
    }


def _told_of(found: Sequence[Candidate], language: Language, turn: Turn, at: float) -> _Spoken | None:
    """Of whom a turn told something; None where of its speaker alone, or of somebody whom nobody knows."""
    for one in found:
        if one.outcome not in ("learned", "ended"):
            continue
        if one.slot in ("family", "pet") and one.value:
            name = languages.fold(one.value)[0]
            relation = naming.relation_in_stems(one.thing, language) if one.slot == "family" else ""
            return _Spoken(turn.user_id, f"{one.subject} {relation}".strip() if relation else name, name, at)
        if one.subject:
            return _Spoken(turn.user_id, one.subject, "", at)
    return None


def _said_again(spoken: _Spoken | None, turn: Turn, language: Language, at: float) -> _Spoken | None:
    """Whoever was just spoken of, where a turn names them by the same word: "the dog"; None where it does not."""
    if spoken is None or not 0.0 <= at - spoken.at <= STALE_S or spoken.name not in languages.fold(turn.text):
        return None
    return spoken._replace(at=at)


def _meant(room: _Room, turn: Turn, names: Mapping[str, str], at: float) -> str | None:
    """Whom a pronoun of a turn means; None where nobody was spoken of a moment ago."""
    spoken = room.spoken
    if spoken is None or not 0.0 <= at - spoken.at <= STALE_S or room.turns >= TURNS:
        return None
    return spoken.subject if spoken.user_id == turn.user_id else names.get(spoken.name, spoken.name) or None


def _asks_of_others(turn: Turn, language: Language) -> bool:
    """Whether a turn asks neither its hearer nor of its hearer's people: "how old is the queen"."""
    known = naming.naming_words(language.tag)
    if not known.names_subject or not language.is_question(turn.text):
        return False
    words = languages.fold(languages.beginning(turn.text))
    return known.hearer.isdisjoint(words) and known.speaker.isdisjoint(words)


def _things(turn: Turn, language: Language, found: Sequence[Candidate]) -> dict[str, str]:
    """By slot, the stems of what a turn tells of, or asks for: "where is the ladder"."""
    told = {one.slot: one.thing for one in found if one.slot in OF_THINGS and one.thing}
    if told or not language.is_question(turn.text):
        return {slot: thing for slot, thing in told.items() if slot is not None}
    asked = naming.thing_of(" ".join(language.bare_words(languages.beginning(turn.text))), language).split()
    return {slot: " ".join(w for w in asked if w not in language.asking_words.get(slot, ())) for slot in OF_THINGS}
