"""Whom a clause names: people of the family, pets, those known by name, and what "she" stands for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ovos_persona_memory.extraction.assertion.corrections import RecentStatement
from ovos_persona_memory.text import Lexicon, Tokens

STRANGER = 2
"""Words at least that tell of somebody else before "she"."""
NAMES = 2
"""Words of a name at most."""
_NO_NAMES = ("finite", "preposition", "own", "listing", "number", "pronoun", "joint", "skip", "detail", "binding")
_NOR_THESE = (
    *("no_name", "separable", "aside", "trail", "older", "nothing"),
    *("outsider", "object", "pet", "relation", "not_put"),
)


@dataclass(frozen=True)
class PersonRef:
    """Somebody who is spoken of."""

    subject: str
    """As facts name them: the relation, or the name."""
    said: str = ""
    """In the speaker's words: "my sister"."""
    relation: str = ""
    pet: bool = False
    name: Tokens | None = None
    """A name that was given with the relation: "my cousin danny"."""
    called: str = ""
    """The folded name by which they were spoken of; empty where it was another way."""


@dataclass(frozen=True)
class DialogueContext:
    """What is known when somebody speaks: who has which name, and what was just spoken of."""

    names: Mapping[str, PersonRef] = field(default_factory=dict)
    """By folded name."""
    person: PersonRef | None = None
    """Whom the speaker spoke of last."""
    further: tuple[PersonRef, ...] = ()
    """Whom "she" means where it cannot be that person, the likeliest first."""
    asked: tuple[str, ...] = ()
    """What was last named in this room as somebody's own: ("favourite", "colour")."""
    question: bool = False
    """It was asked about, and this is the next that is said."""
    thing: tuple[str, ...] = ()
    """What was named a moment ago: ("spare", "key"); "it" stands for it."""
    playing: bool = False
    """The speaker was a pirate a moment ago."""
    stated: tuple[RecentStatement, ...] = ()
    """What was just said of the speaker, the newest first, where this turn may put it right."""
    head: tuple[str, ...] = ()
    """What an answer of a few words leaves out: ("ich", "heisse")."""
    asked_of: PersonRef | None = None
    """Of whom it was asked, where not of whoever answers."""
    told: str = ""
    """The slot of what was told last in this room."""


@dataclass(frozen=True)
class PersonMention:
    """A person in a clause: ``size`` words from ``place``."""

    who: PersonRef
    place: int
    size: int
    pronoun: bool = False
    owning: bool = False
    """They own what follows: "her", "bens"."""


def named_people(
    known: Lexicon, clause: Tokens, earlier: Sequence[Tokens], before: DialogueContext
) -> Iterator[tuple[PersonRef, Tokens]]:
    """Those whom a clause names for the first time, a relation and a name: "my cousin danny"; and those words."""
    if not known.third or known.introduced.isdisjoint(clause.folded):
        return
    named: set[str] = set()
    anywhere = "verb_second" in known.lists
    for place in range(len(clause.folded) - 1):
        found = person_at(known, clause, place, before.names) or _owners(known, clause, place, earlier, before)
        found = found or _acquainted(known, clause, place, before)
        if (
            found is None
            or found.who.name is None
            or _is_known(found.who, before, anywhere and clause.folded[place] in known.opening("own"))
        ):
            continue
        if place and clause.folded[place - 1] in known.opening("your"):
            continue
        if found.who.name.spelled not in named and (anywhere or place + found.size < len(clause.folded)):
            named.add(found.who.name.spelled)
            yield found.who, clause.part(place, place + found.size)


def _is_known(who: PersonRef, before: DialogueContext, by_relation: bool) -> bool:
    """Whether somebody is known by the name; ``by_relation``: a user is not, of whom nobody said who they are."""
    there = before.names.get(" ".join(who.name.folded)) if who.name else None
    return there is not None and not (by_relation and not there.relation)


def _owners(
    known: Lexicon, clause: Tokens, place: int, earlier: Sequence[Tokens], before: DialogueContext
) -> PersonMention | None:
    """ "her son emre": of whom she stands for."""
    if clause.folded[place] not in known.opening("whose"):
        return None
    related, owner = _related(known, clause, place + 1), pronoun_at(known, clause, place, earlier, before)
    found = _with_name(known, clause, place, related, before.names) if related else None
    if found is None or owner is None or found.who.name is None:
        return None
    return replace(found, who=replace(found.who, subject=owner.who.subject, relation=found.who.relation))


def _acquainted(known: Lexicon, clause: Tokens, place: int, before: DialogueContext) -> PersonMention | None:
    """ "my teacher mrs bell": of whom the name alone is learned."""
    if clause.folded[place] not in known.lists.get("own", ()):
        return None
    start = place + 1
    start += known.starts(clause.part(start, len(clause.folded)), "older")
    rest = clause.part(start, len(clause.folded))
    size = known.starts(rest, "acquaintance")
    if not size or size == len(rest.folded):
        return None
    return _with_name(known, clause, place, (start + size, " ".join(rest.folded[:size]), False), before.names)


def spoken_of(known: Lexicon, said: Sequence[Tokens], names: Mapping[str, PersonRef]) -> PersonRef | None:
    """The last person whom clauses speak of; None where they speak of nobody known."""
    return next(people_in(known, said, names), None)


def people_in(known: Lexicon, said: Sequence[Tokens], names: Mapping[str, PersonRef]) -> Iterator[PersonRef]:
    """Those of whom clauses speak, the last first, each once."""
    seen: set[str] = set()
    places = ((one, place) for one in reversed(said) for place in reversed(range(len(one.folded))))
    for clause, place in places:
        found = person_at(known, clause, place, names, any_article=True)
        who = None if found is None else _relative(known, clause, place, names) or found.who
        if who is not None and who.subject not in seen:
            seen.add(who.subject)
            yield who


def _relative(known: Lexicon, clause: Tokens, place: int, names: Mapping[str, PersonRef]) -> PersonRef | None:
    """ "damon's sister", who is not damon, where one of these words stands at a place."""
    held = clause.folded
    for first in range(place, max(place - 3, -1), -1):
        if held[first] in names or _unowned(held[first]) in names:
            apart = held[first + 1 : first + 2] == ("s",)
            related = _related(known, clause, first + 1 + apart) if apart or held[first] not in names else None
            if related is not None and related[0] > place:
                name = held[first] if held[first] in names else _unowned(held[first])
                said = clause.part(first, related[0]).spelled
                return PersonRef(f"{name} {related[1]}", said, related[1], related[2])
    return None


def person_at(
    known: Lexicon, clause: Tokens, place: int, names: Mapping[str, PersonRef], any_article: bool = False
) -> PersonMention | None:
    """The person whom the words from a place on name: "my sister ana", "grandma", "die lena", a known name."""
    held, at = clause.folded, place
    owners = known.opening("introducing" if any_article else "own")
    if not (names or held[at] in owners or held[at].endswith("s") or known.has_word(("article", "kin"), held[at])):
        return None  # most words, quickly
    if _owns_relative(known, held, place):
        return None
    relative = _relative_of(known, clause, place, names)
    if relative is not None:
        return relative
    if held[at] in owners:
        named = _by_owner(known, clause, place, names)
        if named is not None:
            return named
    rest = clause.part(at, len(held))
    if held[at] in known.opening("article") and at + 1 < len(held):
        at += 1
        rest = clause.part(at, len(held))
        found = _by_article(known, clause, place, at, names)
        if found is not None:
            return found
    size = known.starts(rest, "kin")
    if size:
        return _with_name(known, clause, place, (at + size, " ".join(rest.folded[:size]), False), names)
    pet = known.starts(rest, "pet") if at > place and any(who.pet for who in names.values()) else 0
    if pet and not _outside(known, rest, pet):  # "the dog", where there is a pet in the house
        return _with_name(known, clause, place, (at + pet, " ".join(rest.folded[:pet]), True), names)
    return _by_name(clause, place, at, names) or _kin_owning(known, clause, place, at)


def _by_owner(known: Lexicon, clause: Tokens, place: int, names: Mapping[str, PersonRef]) -> PersonMention | None:
    """ "my sister ana", "our ana"."""
    related = _related(known, clause, place + 1)
    if related is not None:
        return _with_name(known, clause, place, related, names)
    return _by_name(clause, place, place + 1, names) if place + 1 < len(clause.folded) else None


def _relative_of(known: Lexicon, clause: Tokens, place: int, names: Mapping[str, PersonRef]) -> PersonMention | None:
    """ "der mann meiner tochter", "the wife of my brother"."""
    held, of_whom = clause.folded, known.opening("of_whom")
    if of_whom.isdisjoint(held) or not known.has_word(("article", "own"), held[place]):
        return None
    related = _related(known, clause, place + 1)
    if related is None or related[0] + 1 >= len(held) or held[related[0]] not in of_whom:
        return None
    start = related[0] + (held[related[0]] not in known.opening("own"))
    owner = person_at(known, clause.part(start, len(held)), 0, names)
    if owner is None:
        return None
    end = start + owner.size
    subject = f"{owner.who.subject} {related[1]}"
    return PersonMention(
        PersonRef(subject, clause.part(place, end).spelled, related[1], related[2]), place, end - place
    )


def _owns_relative(known: Lexicon, held: Sequence[str], place: int) -> bool:
    """Whether who stands at a place only says whose somebody before them is: "the wife of | my brother"."""
    of_whom = known.opening("of_whom")
    if of_whom.isdisjoint(held):
        return False
    head = next((n for n in range(place - 1, -1, -1) if held[n] not in of_whom), -1)
    linked = head < place - 1 or held[place] in of_whom
    return linked and head >= 0 and known.has_word(("relation", "kin", "outsider", "acquaintance", "pet"), held[head])


def _by_article(
    known: Lexicon, clause: Tokens, place: int, at: int, names: Mapping[str, PersonRef]
) -> PersonMention | None:
    """ "der neffe der jonas", and "der hund" of those who have one."""
    related = _related(known, clause, at) if "verb_second" in known.lists else None
    if related is None:
        return None
    if related[2]:
        return None
    found = _with_name(known, clause, place, related, names)
    return found if found.who.name is not None else None


def _related(known: Lexicon, clause: Tokens, at: int) -> tuple[int, str, bool] | None:
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


def _outside(known: Lexicon, rest: Tokens, size: int) -> bool:
    """Whether it is a word for something else: "my dog food", "my mother tongue"."""
    following = rest.folded[size : size + 1]
    return bool(following) and following[0] in known.lists.get("not_named", ())


def _with_name(
    known: Lexicon, clause: Tokens, place: int, related: tuple[int, str, bool], names: Mapping[str, PersonRef]
) -> PersonMention:
    """A relation with the name that may stand behind it."""
    end, relation, pet = related
    plain = PersonMention(PersonRef(relation, clause.part(place, end).spelled, relation, pet), place, end - place)
    if end == len(clause.folded):
        return plain
    rest = clause.part(end, len(clause.folded))
    told = rest.folded[0] in known.lists.get("article", ()) and len(rest.folded) > 1
    if told and _is_told_name(known, rest.part(1, len(rest.folded))):
        end += 1  # "mein neffe der jonas"
    size = 1 + (clause.folded[end] in known.opening("title") and end + 1 < len(clause.folded))
    name, said = clause.part(end, end + size), clause.part(place, end + size).spelled
    owning = name.folded[0] not in names and _unowned(name.folded[0]) in names
    there = names.get(_unowned(name.folded[0]) if owning else name.folded[0])
    if there is not None and there.relation == relation:
        return PersonMention(replace(there, said=said, called=name.folded[0]), place, end + 1 - place, owning=owning)
    owned = clause.folded[place] in known.opening("own") | known.opening("whose")
    usual = size > 1 or end > related[0] or _is_name(known, clause.part(end, len(clause.folded)), pet, owned)
    if there is None and not usual:
        return plain
    taken = any(one.relation == relation for one in names.values())
    subject = name.folded[0] if taken else relation
    who = PersonRef(
        subject, said, relation, pet, None if owning or (there and there.relation) else name, name.folded[0]
    )
    return PersonMention(who, place, end + size - place, owning=owning)


def _is_told_name(known: Lexicon, rest: Tokens) -> bool:
    """Whether a name follows an article behind a relation: "der orhan", not "der arme"."""
    word = rest.folded[0]
    if known.starts(rest, "given_name") or (word in known.opening("title") and len(rest.folded) > 1):
        return True
    if word in known.third or word in known.own_verbs or word.endswith("e") or known.starts(rest, "job"):
        return False
    ended = len(rest.folded) == 1 or rest.folded[1] in known.third or rest.folded[1] in known.opening("resumed")
    return ended and not any(word in words for words in map(known.opening, _NO_NAMES + _NOR_THESE))


def _is_name(known: Lexicon, rest: Tokens, pet: bool, owned: bool) -> bool:
    """Whether a name comes next: a usual one, or for a pet whatever stands before a verb."""
    if known.starts(rest, "given_name"):
        return True
    verb = rest.folded[1:2]
    article = bool(verb) and owned and verb[0] in known.opening("name_before")
    if article and (rest.folded[0].endswith("en") or rest.folded[0] in known.own_verbs):
        return False
    follows = verb and (article or verb[0] in known.third or verb[0] in known.opening("he_she"))
    if not pet and follows and verb[0] not in known.opening("not_after_name"):
        return not any(rest.folded[0] in words for words in (known.third, *map(known.opening, _NO_NAMES + _NOR_THESE)))
    named = not any(rest.folded[0] in known.opening(one) for one in ("no_name", "speaker", "pronoun"))
    named = named and rest.folded[0] not in known.third
    return pet and bool(verb) and verb[0] != "s" and verb[0] in known.third and named


def _by_name(clause: Tokens, place: int, at: int, names: Mapping[str, PersonRef]) -> PersonMention | None:
    for size in range(min(NAMES, len(clause.folded) - at), 0, -1) if names else ():
        word = " ".join(clause.folded[at : at + size])
        for name, owning in ((word, False), (_unowned(word), True)):
            if name and name in names:
                said = clause.part(at, at + size).spelled
                return PersonMention(
                    replace(names[name], said=said, called=name), place, at + size - place, False, owning
                )
    return None


def _kin_owning(known: Lexicon, clause: Tokens, place: int, at: int) -> PersonMention | None:
    base = _unowned(clause.folded[at])
    if not base or base not in known.lists.get("kin", ()):
        return None
    return PersonMention(PersonRef(base, clause.part(at, at + 1).spelled, base), place, at + 1 - place, False, True)


def _unowned(word: str) -> str:
    """ "bens" without its s; empty where it has none."""
    return word[:-1] if word.endswith("s") and len(word) > 2 else ""


def pronoun_at(
    known: Lexicon, clause: Tokens, place: int, earlier: Sequence[Tokens], before: DialogueContext
) -> PersonMention | None:
    word = clause.folded[place]
    owning = word in known.lists.get("whose", ())
    if not owning and word not in known.lists.get("he_she", ()):
        return None
    if place and not owning and word in known.opening("article") and not _stands_alone(known, clause, place):
        return None
    if earlier and known.has(earlier[-1], "outsider"):
        return None  # "der nachbar hat einen papagei der heißt rio"
    further = () if _of_a_stranger(known, clause, place, earlier) else before.further
    meant = (*people_in(known, list(_until(earlier, word)), before.names), before.person, *further)
    who = next((one for one in meant if one is not None and one.subject and may_be(known, word, one)), None)
    return None if who is None else PersonMention(who, place, 1, True, owning)


def _of_a_stranger(known: Lexicon, clause: Tokens, place: int, earlier: Sequence[Tokens]) -> bool:
    """Whether what stands before a pronoun is about somebody whom nobody knows: "(wait) bia moved | she's in porto"."""
    said = [word for one in earlier for word in one.folded] if not place else []
    own = [word for word in (*said, *clause.folded[:place]) if not known.has_word(("skip", "lead", "joint"), word)]
    ours = ("speaker", "first_my", "own", "he_she", "whose", "pronoun", "hearer")
    return len(own) >= STRANGER and not any(known.has_word(ours, word) or word in known.people for word in own)


def _until(said: Sequence[Tokens], word: str) -> Iterator[Tokens]:
    """What was said before a word was said first: "she" means the same again."""
    for one in said:
        if word in one.folded:
            yield one.part(0, one.folded.index(word))
            return
        yield one


def _stands_alone(known: Lexicon, clause: Tokens, place: int) -> bool:
    """Whether an article is a pronoun: "(geboren ist) die in monschau"; not "(ist) die frau krause"."""
    following = clause.folded[place + 1 : place + 2]
    if following and following[0] in known.third:
        return True  # "der ist fischer"
    lists = ("preposition", "determiner", "no_name", "aside", "number")
    return not following or any(following[0] in known.opening(name) for name in lists)


def may_be(known: Lexicon, word: str, who: PersonRef) -> bool:
    """Whether a pronoun can stand for somebody: "she" for no brother."""
    if word in known.lists.get("of_pet", ()) and not who.pet:
        return False
    said = {who.relation, *who.subject.split(), *who.said.lower().split()}
    if word in known.lists.get("of_woman", ()):
        return said.isdisjoint(known.lists.get("man", ()))
    if word in known.lists.get("of_man", ()):
        return said.isdisjoint(known.lists.get("woman", ()))
    return True
