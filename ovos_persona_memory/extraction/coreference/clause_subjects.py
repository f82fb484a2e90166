"""Whom and what a clause speaks of: people of the family, those known by name, and what "she" and "mine" stand for.

A clause about somebody else is read as though that person had said it of themselves ("ben works as a nurse": "i work
as a nurse", of ben), so that each template serves for both. What words do that, a language's ``facts.templates`` says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ovos_persona_memory.extraction.coreference.person_mentions import (
    DialogueContext,
    PersonMention,
    PersonRef,
    person_at,
    pronoun_at,
    spoken_of,
)
from ovos_persona_memory.extraction.segmentation.sentences import Span
from ovos_persona_memory.extraction.segmentation.word_order import behind_adverb, plain_orders
from ovos_persona_memory.text import Lexicon, Tokens

OF_PETS = frozenset(
    (
        "birthday",
        "age",
        "origin",
        "allergy",
        "diet",
        "health",
        "favourite",
        "likes",
        "dislikes",
        "location",
        "name",
        "detail",
    )
)
"""The slots that are filled for pets, too."""
OF_OTHERS = OF_PETS | {"home", "work", "family", "pet", "activity"}
"""The slots that are filled for relatives and other people close to the speaker."""
ANSWERED = frozenset(("favourite", "birthday", "name", "age", "detail"))
"""The slots that "mine is ..." or an answer of a word or two fills."""
ANSWER = 5
"""Words of an answer at most."""


@dataclass(frozen=True)
class ResolvedClause:
    """A clause as its subject would have said it."""

    words: Tokens
    who: PersonRef | None
    before: str = ""
    """What stands before the clause so that it can be understood alone."""
    only: tuple[str, ...] = ()
    """The slots that it can fill, where it is not any."""
    span: Span | None = None
    """Where it is said, where that is not all of its words."""


def readings(
    known: Lexicon, clause: Tokens, earlier: Sequence[Tokens], before: DialogueContext
) -> Iterator[ResolvedClause]:
    """The clause as though those whom it is about had said it themselves, then each of that in a plainer order."""
    for reading in _readings(known, clause, earlier, before):
        yield reading
        yield from _of_theirs(known, reading, before)
        if reading.who is not None:
            yield from (replace(reading, words=made) for made in plain_orders(known, reading.words))
    for made in plain_orders(known, clause):
        yield ResolvedClause(made, None)
        yield from (one for one in _readings(known, made, earlier, before) if one.who is not None)


def _of_theirs(known: Lexicon, reading: ResolvedClause, before: DialogueContext) -> Iterator[ResolvedClause]:
    """ "(of filiz) my son emre is fifteen": of emre."""
    if reading.who is None or reading.words.folded[0] not in known.lists.get("first_my", ()):
        return
    found = person_at(known, reading.words, 0, before.names)
    if found is not None and found.size < len(reading.words.folded):
        subject = found.who.name.folded[0] if found.who.name else f"{reading.who.subject} {found.who.subject}".strip()
        found = replace(found, who=replace(found.who, subject=subject))
        for one in _as_own(known, reading.words, found):
            yield one
            yield from (replace(one, words=made) for made in plain_orders(known, one.words))


def _readings(
    known: Lexicon, clause: Tokens, earlier: Sequence[Tokens], before: DialogueContext
) -> Iterator[ResolvedClause]:
    """The clause as though those whom it is about had said it themselves; none where it is about nobody known."""
    if known.third:
        for place in _subject_places(known, clause):
            found = person_at(known, clause, place, before.names) or pronoun_at(known, clause, place, earlier, before)
            if found is not None:
                yield from _as_own(known, clause, found)
                break
        yield from _left_out(known, clause, earlier, before)
        yield from _owned(known, clause, before)
    yield from _written_out(known, clause)
    yield from _of_thing(known, clause, earlier)


def possession_asked_for(known: Lexicon, words: Tokens) -> tuple[str, ...]:
    """What of somebody's own words name: ("favourite", "colour"); empty where they do not."""
    held, like, opening = words.folded, known.lists.get("asked_like", ()), known.opening("asked_for")
    for place, word in enumerate(held):
        asked = word in opening and known.starts_at(held, place, "asked_for")
        if asked and word in known.opening("where"):
            return (word,)
        if asked or word.startswith(like):
            return _of_somebody(known, words.part(place, len(held)))
    return ()


def _of_somebody(known: Lexicon, rest: Tokens) -> tuple[str, ...]:
    """What the words that begin with somebody's own name: up to a verb or what belongs elsewhere."""
    finite = set(known.lists.get("finite", ())) - set(known.lists.get("asked_for", ()))
    ends = finite | {"s"}.union(
        *(known.lists.get(name, ()) for name in ("preposition", "pronoun")), known.opening("mine")
    )
    until = next((n for n, one in enumerate(rest.folded) if one in ends), len(rest.folded))
    kept = bare_end(known, rest.part(0, until)).folded
    alone = len(kept) == 1 and kept[0] in known.lists.get("of_something", ())
    return kept if len(kept) < ANSWER and not alone else ()


def bare_end(known: Lexicon, words: Tokens) -> Tokens:
    """Words without what closes a clause."""
    while (number := known.ends(words, "trail")) and number < len(words.folded):
        words = words.part(0, len(words.folded) - number)
    return words


def _subject_places(known: Lexicon, clause: Tokens) -> Iterator[int]:
    """Where the subject may stand: in front; and behind the verb where a language puts it there."""
    yield 0
    if "verb_second" in known.lists:
        given = known.opening("given_name")
        for place in range(1 if behind_adverb(known, clause) else 2, len(clause.folded)):
            if clause.folded[place - 1] in known.third and given.isdisjoint(clause.folded[:place]):
                yield place


def _as_own(known: Lexicon, clause: Tokens, found: PersonMention) -> Iterator[ResolvedClause]:
    """The clause in the first person."""
    before = found.who.said if found.pronoun else ""
    yield from (ResolvedClause(made, found.who, before) for made in _in_first_person(known, clause, found))


def _in_first_person(known: Lexicon, clause: Tokens, found: PersonMention) -> Iterator[Tokens]:
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


def joined(head: Tokens, instead: Sequence[tuple[str, Tokens]], rest: Tokens) -> Tokens:
    """Words, others in place of what stands there, and the rest behind them."""
    folded = (*head.folded, *(word for word, _ in instead), *rest.folded)
    spans = ((of.spans[0][0], of.spans[-1][1]) for _, of in instead)
    return Tokens(head.text, folded, (*head.spans, *sorted(spans), *rest.spans))


def _left_out(
    known: Lexicon, clause: Tokens, earlier: Sequence[Tokens], before: DialogueContext
) -> Iterator[ResolvedClause]:
    """ "(she lives in porto and) works as a nurse"."""
    if not earlier or clause.folded[0] not in known.third or clause.folded[0] in known.third[clause.folded[0]]:
        return
    who = spoken_of(known, earlier[-1:], before.names)
    pronoun = earlier[-1].folded[0] in {*known.lists.get("he_she", ()), *known.lists.get("whose", ())}
    if earlier[-1].folded[0] in known.opening("article") and earlier[-1].folded[1:2]:
        pronoun = pronoun and earlier[-1].folded[1] in known.third  # "der jürgen ..." is nobody known
    who = who or (before.person if pronoun else None)
    first = known.lists.get("elided_subject", ("",))[0]
    verb = clause.part(0, 1)
    for own in known.third[clause.folded[0]] if who is not None else ():
        made = joined(clause.part(0, 0), [(first, verb), (own, verb)], clause.part(1, len(clause.folded)))
        yield ResolvedClause(made, who, who.said if who else "")


# things, and what is one's own


def _owned(known: Lexicon, clause: Tokens, before: DialogueContext) -> Iterator[ResolvedClause]:
    """ "i put lena's coat in the hall": her coat."""
    for place in range(1, len(clause.folded) - 1):
        found = person_at(known, clause, place, before.names)
        if found is not None:
            end = place + found.size
            marked = clause.folded[end : end + 1] == ("s",)
            rest = clause.part(end + marked, len(clause.folded))
            for my in known.lists.get("first_my", ()) if (marked or found.owning) and rest.folded else ():
                made = joined(clause.part(0, place), [(my, clause.part(place, end))], rest)
                yield ResolvedClause(made, found.who, only=("location",))


def _written_out(known: Lexicon, clause: Tokens) -> Iterator[ResolvedClause]:
    """ "the umbrella's in the hall": is."""
    for link in known.lists.get("is", ()) if "s" in clause.folded[1:-1] else ():
        folded = tuple(link if word == "s" else word for word in clause.folded)
        yield ResolvedClause(Tokens(clause.text, folded, clause.spans), None)


def _of_thing(known: Lexicon, clause: Tokens, earlier: Sequence[Tokens]) -> Iterator[ResolvedClause]:
    """ "the ladder | it is behind the shed": the thing in place of the pronoun."""
    finite = set(known.lists.get("finite", ()))
    standing = known.opening("pronoun") - known.opening("speaker")
    if not earlier or not finite or clause.folded[0] not in standing:
        return
    thing = earlier[-1]
    named = thing.folded[0] in known.lists.get("determiner", ()) and len(thing.folded) <= ANSWER
    if named and thing.text is clause.text and finite.isdisjoint(thing.folded[:-1]):
        yield ResolvedClause(joined(thing, (), clause.part(1, len(clause.folded))), None)
