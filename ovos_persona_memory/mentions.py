"""Whom and what a clause speaks of: people of the family, those known by name, and what "she" and "mine" stand for.

A clause about somebody else is read as though that person had said it of themselves ("ben works as a nurse": "i work
as a nurse", of ben), so that each template serves for both. What words do that, a language's ``facts.templates`` says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ovos_persona_memory.corrections import Stated
from ovos_persona_memory.templates import Templates, Words

OF_PETS = frozenset(
    ("birthday", "age", "allergy", "diet", "health", "favourite", "likes", "dislikes", "location", "name", "detail")
)
"""The slots that are filled for pets, too."""
OF_OTHERS = OF_PETS | {"origin", "home", "work", "family", "pet", "activity"}
"""... for people of the family and their like."""
ANSWERED = frozenset(("favourite", "birthday", "name", "age", "detail"))
"""... and those that "mine is ..." or an answer of a word or two fills."""
ANSWER = 5
"""Words of an answer at most."""
FRONT = 7
"""Words at most of a clause up to its subject, where something else opens it."""
NAMES = 2
"""Words of a name at most."""


_NO_NAMES = ("finite", "preposition", "own", "listing", "number", "pronoun", "joint", "skip", "detail", "binding")
_NOR_THESE = ("older", "nothing", "outsider", "object", "pet", "relation", "not_put")


@dataclass(frozen=True)
class Who:
    """Somebody who is spoken of."""

    subject: str
    """As facts name them: the relation, or the name."""
    said: str = ""
    """In the speaker's words: "my sister"."""
    relation: str = ""
    pet: bool = False
    name: Words | None = None
    """A name that was given with the relation: "my cousin danny"."""
    called: str = ""
    """The folded name by which they were spoken of; empty where it was another way."""


@dataclass(frozen=True)
class Before:
    """What is known when somebody speaks: who has which name, and what was just spoken of."""

    names: Mapping[str, Who] = field(default_factory=dict)
    """By folded name."""
    person: Who | None = None
    """Whom the speaker spoke of last."""
    asked: tuple[str, ...] = ()
    """What was last named in this room as somebody's own: ("favourite", "colour")."""
    question: bool = False
    """It was asked about, and this is the next that is said."""
    thing: tuple[str, ...] = ()
    """What was named a moment ago: ("spare", "key"); "it" stands for it."""
    playing: bool = False
    """The speaker was a pirate a moment ago."""
    stated: tuple[Stated, ...] = ()
    """What was just said of the speaker, the newest first, where this turn may put it right."""


@dataclass(frozen=True)
class Reading:
    """A clause as its subject would have said it."""

    words: Words
    who: Who | None
    before: str = ""
    """What stands before the clause so that it can be understood alone."""
    only: str = ""
    """The slot that it can fill, where it is one alone."""


@dataclass(frozen=True)
class Found:
    """A person in a clause: ``size`` words from ``place``."""

    who: Who
    place: int
    size: int
    pronoun: bool = False
    owning: bool = False
    """They own what follows: "her", "bens"."""


def readings(known: Templates, clause: Words, earlier: Sequence[Words], before: Before) -> Iterator[Reading]:
    """The clause as though those whom it is about had said it themselves; none where it is about nobody known."""
    if known.third:
        for place in _subject_places(known, clause):
            found = person_at(known, clause, place, before.names) or _pronoun(known, clause, place, earlier, before)
            if found is not None:
                yield from _as_own(known, clause, found)
                break
        yield from _left_out(known, clause, earlier, before)
        yield from _owned(known, clause, before)
    yield from _turned(known, clause)
    yield from _written_out(known, clause)
    yield from _of_thing(known, clause, earlier)


def named_people(known: Templates, clause: Words, before: Before) -> Iterator[tuple[Who, int]]:
    """Those whom a clause begins with, a relation and a name: "my cousin danny ..."; and how many words that is."""
    found = person_at(known, clause, 0, before.names)
    if found is None or found.who.name is None or " ".join(found.who.name.folded) in before.names:
        return
    if found.place + found.size < len(clause.folded):
        yield found.who, found.size


def spoken_of(known: Templates, said: Sequence[Words], names: Mapping[str, Who]) -> Who | None:
    """The last person whom clauses speak of; None where they speak of nobody known."""
    for clause in reversed(said):
        for place in range(len(clause.folded) - 1, -1, -1):
            found = person_at(known, clause, place, names, any_article=True)
            if found is not None:
                return found.who
    return None


def asked_for(known: Templates, words: Words) -> tuple[str, ...]:
    """What of somebody's own words name: ("favourite", "colour"); empty where they do not."""
    finite = set(known.lists.get("finite", ())) - set(known.lists.get("asked_for", ()))
    for place in range(len(words.folded)):
        rest = words.part(place, len(words.folded))
        if known.starts(rest, "asked_for"):
            ends = finite | {"s"}.union(
                *(known.lists.get(name, ()) for name in ("preposition", "pronoun")), known.opening("mine")
            )
            until = next((n for n, one in enumerate(rest.folded) if one in ends), len(rest.folded))
            kept = bare_end(known, rest.part(0, until)).folded
            alone = len(kept) == 1 and kept[0] in known.lists.get("of_something", ())
            return kept if len(kept) < ANSWER and not alone else ()
    return ()


def bare_end(known: Templates, words: Words) -> Words:
    """Words without what closes a clause."""
    while (number := known.ends(words, "trail")) and number < len(words.folded):
        words = words.part(0, len(words.folded) - number)
    return words


def _behind_adverb(known: Templates, clause: Words) -> bool:
    """Whether a small word that was left out stands before the clause: "jetzt wohne ich ...", which is no question."""
    opening = known.words_of(clause.text[: clause.spans[0][0]]).folded
    return bool(opening) and opening[-1] in known.lists.get("skip", ())


def _subject_places(known: Templates, clause: Words) -> Iterator[int]:
    """Where the subject may stand: in front; and behind the verb where a language puts it there."""
    yield 0
    if "verb_second" in known.lists:
        given = known.opening("given_name")
        for place in range(1 if _behind_adverb(known, clause) else 2, len(clause.folded)):
            if clause.folded[place - 1] in known.third and given.isdisjoint(clause.folded[:place]):
                yield place


def person_at(
    known: Templates, clause: Words, place: int, names: Mapping[str, Who], any_article: bool = False
) -> Found | None:
    """The person whom the words from a place on name: "my sister ana", "grandma", "die lena", a known name."""
    held, at = clause.folded, place
    owners = known.lists.get("introducing" if any_article else "own", ())
    rest = clause.part(at, len(held))
    if held[at] in owners:
        related = _related(known, clause, at + 1)
        if related is not None:
            return _with_name(known, clause, place, related, names)
        if at + 1 < len(held) and (named := _by_name(clause, place, at + 1, names)) is not None:
            return named
    if held[at] in known.lists.get("article", ()) and at + 1 < len(held):
        at += 1
        rest = clause.part(at, len(held))
    size = known.starts(rest, "kin")
    if size:
        return _with_name(known, clause, place, (at + size, " ".join(rest.folded[:size]), False), names)
    pet = known.starts(rest, "pet") if at > place and any(who.pet for who in names.values()) else 0
    if pet and not _outside(known, rest, pet):  # "the dog", where there is a pet in the house
        return _with_name(known, clause, place, (at + pet, " ".join(rest.folded[:pet]), True), names)
    return _by_name(clause, place, at, names) or _kin_owning(known, clause, place, at)


def _related(known: Templates, clause: Words, at: int) -> tuple[int, str, bool] | None:
    """Where a relation or a pet ends that stands here, behind words like "older", and what it is."""
    rest = clause.part(at, len(clause.folded))
    if known.starts(rest, "outsider"):
        return None
    while older := known.starts(rest, "older"):
        if known.starts(rest, "relation") > older:
            break
        at += older
        rest = clause.part(at, len(clause.folded))
    size = known.starts(rest, "relation")
    pet = known.starts(rest, "pet")
    longer = max(size, pet)
    if not longer or _outside(known, rest, longer):
        return None
    return at + longer, " ".join(rest.folded[:longer]), pet > size


def _outside(known: Templates, rest: Words, size: int) -> bool:
    """Whether it is a word for something else: "my dog food", "my mother tongue"."""
    following = rest.folded[size : size + 1]
    return bool(following) and following[0] in known.lists.get("not_named", ())


def _with_name(
    known: Templates, clause: Words, place: int, related: tuple[int, str, bool], names: Mapping[str, Who]
) -> Found:
    """A relation with the name that may stand behind it."""
    end, relation, pet = related
    plain = Found(Who(relation, clause.part(place, end).spelled, relation, pet), place, end - place)
    if end == len(clause.folded):
        return plain
    if clause.folded[end] in known.lists.get("article", ()) and known.starts(
        clause.part(end + 1, len(clause.folded)), "given_name"
    ):
        end += 1  # "mein neffe der jonas"
    name, said = clause.part(end, end + 1), clause.part(place, end + 1).spelled
    owning = name.folded[0] not in names and _unowned(name.folded[0]) in names
    there = names.get(_unowned(name.folded[0]) if owning else name.folded[0])
    if there is not None and there.relation == relation:
        return Found(replace(there, said=said, called=name.folded[0]), place, end + 1 - place, owning=owning)
    if there is None and not _is_name(known, clause.part(end, len(clause.folded)), pet):
        return plain
    taken = any(one.relation == relation for one in names.values())
    subject = name.folded[0] if taken else relation
    who = Who(subject, said, relation, pet, None if owning else name, name.folded[0])
    return Found(who, place, end + 1 - place, owning=owning)


def _is_name(known: Templates, rest: Words, pet: bool) -> bool:
    """Whether a name comes next: a usual one, or for a pet whatever stands before a verb."""
    if known.starts(rest, "given_name"):
        return True
    verb = rest.folded[1:2]
    if not pet and verb and verb[0] in known.third and verb[0] not in known.opening("not_after_name"):
        return not any(rest.folded[0] in words for words in (known.third, *map(known.opening, _NO_NAMES + _NOR_THESE)))
    if not pet or not verb or verb[0] == "s":
        return False
    return verb[0] in known.third and rest.folded[0] not in known.third


def _by_name(clause: Words, place: int, at: int, names: Mapping[str, Who]) -> Found | None:
    for size in range(min(NAMES, len(clause.folded) - at), 0, -1):
        word = " ".join(clause.folded[at : at + size])
        for name, owning in ((word, False), (_unowned(word), True)):
            if name and name in names:
                said = clause.part(at, at + size).spelled
                return Found(replace(names[name], said=said, called=name), place, at + size - place, False, owning)
    return None


def _kin_owning(known: Templates, clause: Words, place: int, at: int) -> Found | None:
    base = _unowned(clause.folded[at])
    if not base or base not in known.lists.get("kin", ()):
        return None
    return Found(Who(base, clause.part(at, at + 1).spelled, base), place, at + 1 - place, False, True)


def _unowned(word: str) -> str:
    """ "bens" without its s; empty where it has none."""
    return word[:-1] if word.endswith("s") and len(word) > 2 else ""


def _pronoun(known: Templates, clause: Words, place: int, earlier: Sequence[Words], before: Before) -> Found | None:
    word = clause.folded[place]
    owning = word in known.lists.get("whose", ())
    if not owning and word not in known.lists.get("he_she", ()):
        return None
    who = spoken_of(known, earlier, before.names) or before.person
    if who is None or not _may_be(known, word, who):
        return None
    return Found(who, place, 1, True, owning)


def _may_be(known: Templates, word: str, who: Who) -> bool:
    """Whether a pronoun can stand for somebody: "she" for no brother."""
    if word in known.lists.get("of_woman", ()):
        return who.relation not in known.lists.get("man", ())
    if word in known.lists.get("of_man", ()):
        return who.relation not in known.lists.get("woman", ())
    return True


def _as_own(known: Templates, clause: Words, found: Found) -> Iterator[Reading]:
    """The clause in the first person."""
    before = found.who.said if found.pronoun else ""
    yield from (Reading(made, found.who, before) for made in _in_firstperson_at(known, clause, found))


def _in_firstperson_at(known: Templates, clause: Words, found: Found) -> Iterator[Words]:
    head, rest = clause.part(0, found.place), clause.part(found.place + found.size, len(clause.folded))
    who = clause.part(found.place, found.place + found.size)
    first = known.lists.get("elided_subject", ("",))[0]
    if head.folded:  # behind its verb
        verb, head = head.part(len(head.folded) - 1, len(head.folded)), head.part(0, len(head.folded) - 1)
        for own in known.third.get(verb.folded[0], ()):
            turned = [(own, verb), (first, who)] if head.folded else [(first, who), (own, verb)]
            yield joined(head, turned, rest)
        return
    if not rest.folded:
        return
    marked = rest.folded[0] == "s"
    owned = rest.part(1, len(rest.folded)) if marked else rest
    for my in known.lists.get("first_my", ()) if (found.owning or marked) and owned.folded else ():
        yield joined(head, [(my, who)], owned)
    verb, behind = rest.part(0, 1), rest.part(1, len(rest.folded))
    for own in known.third.get(verb.folded[0], ()):
        yield joined(head, [(first, who), (own, verb)], behind)
    verb, between = rest.part(len(rest.folded) - 1, len(rest.folded)), rest.part(0, len(rest.folded) - 1)
    for own in known.third.get(verb.folded[0], ()) if between.folded and "verb_second" in known.lists else ():
        yield joined(joined(head, [(first, who)], between), [(own, verb)], behind.part(0, 0))


def joined(head: Words, instead: Sequence[tuple[str, Words]], rest: Words) -> Words:
    """Words, others in place of what stands there, and the rest behind them."""
    folded = (*head.folded, *(word for word, _ in instead), *rest.folded)
    spans = ((of.spans[0][0], of.spans[-1][1]) for _, of in instead)
    return Words(head.text, folded, (*head.spans, *sorted(spans), *rest.spans))


def _left_out(known: Templates, clause: Words, earlier: Sequence[Words], before: Before) -> Iterator[Reading]:
    """ "(she lives in porto and) works as a nurse"."""
    if not earlier or clause.folded[0] not in known.third or clause.folded[0] in known.third[clause.folded[0]]:
        return
    who = spoken_of(known, earlier[-1:], before.names)
    pronoun = earlier[-1].folded[0] in {*known.lists.get("he_she", ()), *known.lists.get("whose", ())}
    who = who or (before.person if pronoun else None)
    first = known.lists.get("elided_subject", ("",))[0]
    verb = clause.part(0, 1)
    for own in known.third[clause.folded[0]] if who is not None else ():
        made = joined(clause.part(0, 0), [(first, verb), (own, verb)], clause.part(1, len(clause.folded)))
        yield Reading(made, who, who.said if who else "")


# things, and what is one's own


def _owned(known: Templates, clause: Words, before: Before) -> Iterator[Reading]:
    """ "i put lena's coat in the hall": her coat."""
    for place in range(1, len(clause.folded) - 1):
        found = person_at(known, clause, place, before.names)
        if found is not None:
            end = place + found.size
            marked = clause.folded[end : end + 1] == ("s",)
            rest = clause.part(end + marked, len(clause.folded))
            for my in known.lists.get("first_my", ()) if (marked or found.owning) and rest.folded else ():
                made = joined(clause.part(0, place), [(my, clause.part(place, end))], rest)
                yield Reading(made, found.who, only="location")


def _turned(known: Templates, clause: Words) -> Iterator[Reading]:
    """ "montags lerne ich ...", "(eigentlich) mag ich ...": its subject before its verb, what stood there behind it."""
    held, speakers = clause.folded, known.opening("speaker")
    if "verb_second" not in known.lists:
        return
    for place in range(1 if _fronted(known, clause) else 2, min(len(held), FRONT)):
        if held[place] in speakers and held[place - 1] in known.own_verbs:
            order = (place, place - 1, *range(place - 1), *range(place + 1, len(held)))
            yield Reading(
                Words(clause.text, tuple(held[n] for n in order), tuple(clause.spans[n] for n in order)), None
            )
            return


def _fronted(known: Templates, clause: Words) -> bool:
    """Whether words that were left out stand before the clause, which is no question then: "eigentlich", "deshalb"."""
    opening = known.words_of(clause.text[: clause.spans[0][0]])
    return _behind_adverb(known, clause) or known.ends(opening, "fronting") > 0


def _written_out(known: Templates, clause: Words) -> Iterator[Reading]:
    """ "the umbrella's in the hall": is."""
    for link in known.lists.get("is", ()) if "s" in clause.folded[1:-1] else ():
        folded = tuple(link if word == "s" else word for word in clause.folded)
        yield Reading(Words(clause.text, folded, clause.spans), None)


def _of_thing(known: Templates, clause: Words, earlier: Sequence[Words]) -> Iterator[Reading]:
    """ "the ladder | it is behind the shed": the thing in place of the pronoun."""
    finite = set(known.lists.get("finite", ()))
    if not earlier or not finite or clause.folded[0] not in known.lists.get("pronoun", ()):
        return
    thing = earlier[-1]
    named = thing.folded[0] in known.lists.get("determiner", ()) and len(thing.folded) <= ANSWER
    if named and thing.text is clause.text and finite.isdisjoint(thing.folded[:-1]):
        yield Reading(joined(thing, (), clause.part(1, len(clause.folded))), None)
