"""What learning knows beside a turn's words: who is known by name, and what was spoken of a moment ago.

It is held in memory alone: relations, names and words like "favourite colour", no sentences.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ovos_persona_memory.extraction.assertion.assertion import pretends
from ovos_persona_memory.extraction.assertion.corrections import as_speaker
from ovos_persona_memory.extraction.coreference.clause_subjects import possession_asked_for
from ovos_persona_memory.extraction.coreference.person_mentions import (
    NAMES,
    DialogueContext,
    PersonRef,
    people_in,
    spoken_of,
)
from ovos_persona_memory.extraction.coreference.self_introduction import thing_of
from ovos_persona_memory.extraction.schema.candidate import Candidate
from ovos_persona_memory.extraction.segmentation.clauses import all_clauses
from ovos_persona_memory.extraction.segmentation.sentences import LanguageResources
from ovos_persona_memory.records import GUEST, HOUSEHOLD, Fact, Turn
from ovos_persona_memory.text import Lexicon, Tokens, languages, lexicon

NAMING = ("name", "family", "pet")
"""The slots whose facts name somebody."""
NamingFacts = Callable[[str, str], Iterable[Fact]]
"""From a user and one of these slots to the facts of theirs that may name somebody."""
HOUSE = 12
"""Users at most who are one household: of more each speaks of their own people alone."""
KEPT = 512
"""Facts of which it is kept in mind whom they name: all of a house are looked at for every turn."""
ROOMS = 64
"""So many sessions are kept in mind."""
ONCE_MORE_S = 60.0
"""What another told longer ago is not what "mine is" or "she" is about, seconds."""
STALE_S = 180.0
"""What was spoken of longer ago is meant by no pronoun, seconds."""
_NAME = re.compile(r"[A-Za-z]{3,20}")
"""An id of a user that can be their name."""
JUDGED = 256
"""Turns of which it is kept in mind what they came to."""
QUESTION = 3
"""Words at most before a question: "papa was ist ..."."""
AGREEING = 2
"""Words at most of what the assistant says that answers nothing: "got it"."""
TURNS = 2
"""A thing that was spoken of this many turns ago, or earlier, is no antecedent any more."""
REMEMBERED = 3
"""So many people of whom somebody spoke are kept in mind."""


@dataclass(frozen=True)
class _Spoke:
    """Of whom somebody spoke."""

    who: PersonRef
    at: float
    turns: int = 0
    """How many turns of theirs ago."""


@dataclass(frozen=True)
class _Room:
    """What was just spoken of in one session."""

    asked: tuple[str, ...] = ()
    question: bool = False
    at: float = 0.0
    head: tuple[str, ...] = ()
    """What an answer leaves out."""
    of: PersonRef | None = None
    """Of whom it was asked."""
    told: str = ""
    """The slot of what was told last."""
    told_at: float = 0.0
    people: Mapping[str, tuple[_Spoke, ...]] = field(default_factory=dict)
    """By user, the last first."""
    last: _Spoke | None = None
    """Of whom anybody spoke last, the assistant too."""
    spoke: Mapping[str, float] = field(default_factory=dict)
    """When each user last spoke."""
    thing: tuple[str, ...] = ()
    """What was named last."""
    thing_at: float = 0.0
    played: Mapping[str, float] = field(default_factory=dict)
    """When each user last played to be somebody else."""


class DialogueState:
    """Not thread-safe by itself: the transactions in which it is called are."""

    def __init__(self, users: Callable[[], Collection[str]], naming_facts: NamingFacts) -> None:
        """``users``: the users of whom something is kept."""
        self._users, self._naming_facts = users, naming_facts
        self._rooms: OrderedDict[str, _Room] = OrderedDict()
        self._names: dict[str, tuple[float, Mapping[str, PersonRef]]] = {}
        """By user, with the time when they were read: others may write into a store that is shared."""
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
        self._names.pop(user_id, None)

    def keep_judged(self, turn: Turn, verdicts: Sequence[Candidate]) -> None:
        """What a turn came to: the next one may put it right."""
        self._judged[turn.id] = verdicts
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
        names = self._names_of(turn.user_id, at)
        meant = _meant(room, turn.user_id, names, at)
        speaker = _speaker(room, turn.user_id, names, at)
        fresh = 0.0 <= at - room.at <= STALE_S
        asked = room.asked if fresh else ()
        playing = 0.0 <= at - room.played.get(turn.user_id, -STALE_S - 1.0) <= STALE_S
        thing = room.thing if 0.0 <= at - room.thing_at <= STALE_S else ()
        told = room.told if 0.0 <= at - room.told_at <= ONCE_MORE_S else ""
        head, of = (room.head, room.of) if fresh else ((), None)
        question = fresh and room.question
        person, further = meant[0] if meant else None, (*meant[1:], *([speaker] if speaker is not None else ()))
        return DialogueContext(
            names, person, further, asked, question, thing, playing, head=head, asked_of=of, told=told
        )

    def told(self, turn: Turn, slot: str) -> None:
        """Somebody told something of a kind: the next one may say "mine is ..."."""
        room = self._rooms.get(turn.session_id or "")
        if room is not None and turn.session_id:
            self._rooms[turn.session_id] = replace(room, told=slot, told_at=turn.at or 0.0)

    def note(self, turn: Turn) -> None:
        """A turn was said, and what it tells is learned: it may speak of somebody, or of what the next one is about."""
        if not turn.session_id or not turn.text:
            return
        spoken = LanguageResources.of(turn)
        if not spoken.templates.third:
            return
        room = self._rooms.pop(turn.session_id, _Room())
        names = self._names_of(turn.user_id, turn.at or 0.0)
        words = spoken.templates.words_of(turn.text)
        asked = replace(self._asked(spoken, words, turn, room), last=_last(spoken, words, turn, room.last, names))
        if turn.role == "user":
            named = _named_in(spoken, words, turn, names) or _told_of(self._judged.get(turn.id, ()))
            asked = replace(asked, people=_people(spoken.templates, words, turn, asked.people, named))
            asked = replace(asked, spoke={**asked.spoke, turn.user_id: turn.at or 0.0})
            thing = thing_of(spoken.templates, words)
            if thing or (asked.question and asked.asked[:1] and asked.asked[0] in spoken.templates.opening("where")):
                asked = replace(asked, thing=thing, thing_at=turn.at or 0.0)
            if pretends(spoken.templates, words):
                asked = replace(asked, played={**asked.played, turn.user_id: turn.at or 0.0})
        self._rooms[turn.session_id] = asked
        if len(self._rooms) > ROOMS:
            self._rooms.popitem(last=False)

    def _asked(self, spoken: LanguageResources, words: Tokens, turn: Turn, room: _Room) -> _Room:
        known = spoken.templates
        like = known.lists.get("asked_like", ())
        asked = known.opening("asked_for")
        named = any(word in asked or word.startswith(like) for word in words.folded)
        question = bool(named or known.answers) and (spoken.language.is_question(turn.text) or _asking(known, words))
        head, more = _head(known, words) if question else ((), False)
        found = possession_asked_for(known, words) if named and (question or turn.role == "user") else ()
        question = question or (bool(found) and found[0] in known.opening("where"))  # "i've got judo where's my belt"
        of = self._asked_of(spoken, words, turn, room) if head or found else None
        if more and of is None and not _of_hearer(known, words.folded):
            head = ()  # "wie heisst die hauptstadt"
        if not found and not head:
            answers = turn.role == "user" or len(words.folded) > AGREEING
            return replace(room, question=False, head=()) if answers else room
        names = self._names.get(turn.user_id, (0.0, {}))[1]
        found = tuple(word for word in found if word not in names)
        at = turn.at or 0.0
        before = room.asked if 0.0 <= at - room.at <= STALE_S else ()
        return replace(room, asked=found or before, question=question, at=at, head=head, of=of)

    def _asked_of(self, spoken: LanguageResources, words: Tokens, turn: Turn, room: _Room) -> PersonRef | None:
        """Of whom something is asked, where not of the hearer: by relation or name, or whom "she" means."""
        names = self._names.get(turn.user_id, (0.0, {}))[1]
        known, text = spoken.templates, turn.text or ""
        if turn.role == "assistant":  # "your sister" is the sister of who answers
            text = as_speaker(known, spoken.language.swaps, text)
        of = spoken_of(known, all_clauses(spoken, [text]), names)
        somebody = not known.people.isdisjoint(words.folded)  # "the dog"; not "the capital"
        she = known.opening("he_she") - (frozenset() if somebody else known.opening("article"))
        if of is None and not she.isdisjoint(words.folded):
            people = [one for some in room.people.values() for one in some if _is_fresh(one, turn.at or 0.0)]
            of = max(people, key=lambda one: one.at).who if people else None
        return of

    def _names_of(self, user_id: str, at: float) -> Mapping[str, PersonRef]:
        read_at, names = self._names.get(user_id, (None, {}))
        if read_at is None or abs(at - read_at) > STALE_S:
            names = self._read(user_id)
            self._names[user_id] = (at, names)
        return names

    def _read(self, user_id: str) -> Mapping[str, PersonRef]:
        found: dict[str, PersonRef] = {}
        users = self._users()
        self._of_all = len(users) <= HOUSE
        house = [one for one in users if one != user_id] if self._of_all else []
        for other in (*sorted(house), user_id):
            if _NAME.fullmatch(other) and other not in (HOUSEHOLD, GUEST):
                found[other.lower()] = PersonRef("" if other == user_id else other.lower())
            for slot in NAMING:
                for fact in self._naming_facts(other, slot):
                    found |= dict(_named(fact, own=other == user_id))
        return _told_apart(found)


def _asking(known: Lexicon, words: Tokens) -> bool:
    """Whether it asks though something stands before the question: "papa was ist ..."."""
    return any(word in known.opening("asking") for word in words.folded[:QUESTION])


def _head(known: Lexicon, words: Tokens) -> tuple[tuple[str, ...], bool]:
    """What an answer to the last question in the words leaves out, and whether more stands behind that question's own
    words; empty where none is known."""
    held = words.folded
    for place in range(len(held) - 1, -1, -1):
        for size in (3, 2, 1):
            if held[place : place + size] in known.answers:
                return known.answers[held[place : place + size]], place + size < len(held)
    return (), False


def _of_hearer(known: Lexicon, held: Sequence[str]) -> bool:
    """Whether a question is about whom it is put to, and not about their people."""
    hearer = known.opening("asked_hearer") | known.opening("your")
    return not hearer.isdisjoint(held) and known.people.isdisjoint(held)


def _meant(room: _Room, user_id: str, names: Mapping[str, PersonRef], at: float) -> list[PersonRef]:
    """Whom a user's "she" may mean, the likeliest first: of whom they spoke themselves, or anybody in the room did."""
    own = [one.who for one in room.people.get(user_id, ()) if _is_fresh(one, at)]
    by_name = names.get(room.last.who.called) if room.last is not None and _is_fresh(room.last, at) else None
    return [one for one in (*own, by_name, _others(room.people, user_id, at)) if one is not None]


def _speaker(room: _Room, user_id: str, names: Mapping[str, PersonRef], at: float) -> PersonRef | None:
    """Who spoke just before of nobody but themselves."""
    recent = {user: said for user, said in room.spoke.items() if user != user_id and 0.0 <= at - said <= ONCE_MORE_S}
    last = max(recent, key=lambda user: recent[user], default="")
    return None if any(_is_fresh(one, at) for one in room.people.get(last, ())) else names.get(last)


def _is_fresh(spoke: _Spoke, at: float) -> bool:
    return spoke.turns < TURNS and 0.0 <= at - spoke.at <= STALE_S


def _others(people: Mapping[str, Sequence[_Spoke]], user_id: str, at: float) -> PersonRef | None:
    """Of whom somebody else spoke a moment ago, where that is the same to all in the house: by name, or a pet."""
    recent = [some[0] for user, some in people.items() if user != user_id and 0.0 <= at - some[0].at <= ONCE_MORE_S]
    if not recent:
        return None
    who = max(recent, key=lambda one: one.at).who
    if who.pet or not who.relation or who.subject != who.relation:
        return who
    name = who.name.folded[0] if who.name is not None else ""
    return replace(who, subject=name) if name else None


def _last(
    spoken: LanguageResources, words: Tokens, turn: Turn, last: _Spoke | None, names: Mapping[str, PersonRef]
) -> _Spoke | None:
    """Of whom anybody spoke last, where it was by name."""
    known = {word for word in words.folded if word in names or word[:-1] in names}
    who = spoken_of(spoken.templates, all_clauses(spoken, [turn.text]), names) if known else None
    if who is not None:
        return _Spoke(who, turn.at or 0.0)
    return None if last is None else replace(last, turns=last.turns + (turn.role == "user"))


def _told_of(verdicts: Sequence[Candidate]) -> list[PersonRef]:
    """Of whom a turn told something, the last first; none where of its speaker alone."""
    subjects = dict.fromkeys(one.subject for one in reversed(verdicts) if one.outcome == "learned" and one.subject)
    return [PersonRef(subject, subject) for subject in subjects]


def _named_in(spoken: LanguageResources, words: Tokens, turn: Turn, names: Mapping[str, PersonRef]) -> list[PersonRef]:
    """Of whom else a turn speaks by a relation or a name that is known, the last first."""
    known = spoken.templates
    may = not known.people.isdisjoint(words.folded) or any(word in names or word[:-1] in names for word in words.folded)
    return [who for who in people_in(known, all_clauses(spoken, [turn.text]), names) if who.subject] if may else []


def _people(
    known: Lexicon, words: Tokens, turn: Turn, people: Mapping[str, tuple[_Spoke, ...]], named: Sequence[PersonRef]
) -> Mapping[str, tuple[_Spoke, ...]]:
    """Of whom each user spoke last; ``named``: whom this turn names."""
    before, at = people.get(turn.user_id, ()), turn.at or 0.0
    if named:
        old = (replace(one, turns=one.turns + 1) for one in before if one.who not in named)
        return {**people, turn.user_id: (*(_Spoke(who, at) for who in named), *old)[:REMEMBERED]}
    pronouns = known.opening("he_she") | known.opening("whose")
    again = not pronouns.isdisjoint(words.folded)
    now = (_Spoke(one.who, at) if again and one.turns < TURNS else replace(one, turns=one.turns + 1) for one in before)
    return {**people, turn.user_id: tuple(now)} if before else people


class _Naming(NamedTuple):
    """What of a fact may name somebody."""

    slot: str | None
    thing: str
    subject: str
    value: str
    text: str
    lang: str | None
    own: bool
    """It is the speaker's."""
    person: bool
    """It is somebody's, and not the household's."""


def _named(fact: Fact, own: bool) -> tuple[tuple[str, PersonRef], ...]:
    """Those whom a fact names; ``own``: it is the speaker's."""
    person = fact.user_id != HOUSEHOLD
    return _whom(_Naming(fact.slot, fact.thing, fact.subject, fact.value or "", fact.text, fact.lang, own, person))


def _named_by(one: _Naming) -> tuple[tuple[str, PersonRef], ...]:
    known = lexicon.for_language(languages.for_text(one.lang, one.text).tag)
    if one.slot == "name":
        if one.thing or one.subject:
            return ()
        oneself = one.own and one.person
        return tuple(
            (name, PersonRef("", called=name) if oneself else PersonRef(name)) for name in _names_in(known, one.value)
        )
    if known.has(known.words_of(one.text), "outsider"):
        return ()
    relation = "" if one.subject or not one.own else _relation(known, one)
    pet = one.slot == "pet"
    return tuple(
        (name, PersonRef(relation or name, relation=relation, pet=pet)) for name in _names_in(known, one.value)
    )


_whom = languages.lru_cached(_named_by, KEPT)


def _names_in(known: Lexicon, value: str) -> Iterator[str]:
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


def _relation(known: Lexicon, fact: _Naming) -> str:
    """The relation that a fact names, as its speaker said it."""
    words = known.words_of(fact.text)
    name = "pet" if fact.slot == "pet" else "relation"
    spoken = languages.for_text(fact.lang, fact.text)
    for place in range(len(words.folded)):
        rest = words.part(place, len(words.folded))
        said = " ".join(rest.folded[: known.starts(rest, name)])
        if said and fact.thing.endswith(" ".join(spoken.words(said))):
            return said
    return ""


def _told_apart(names: Mapping[str, PersonRef]) -> Mapping[str, PersonRef]:
    """The same, and of two cousins each by name."""
    shared = [who.relation for who in names.values() if who.relation]
    return {
        name: replace(who, subject=name) if who.relation and shared.count(who.relation) > 1 else who
        for name, who in names.items()
    }
