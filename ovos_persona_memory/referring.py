"""What is understood from what was said before: "bei mir ist es spinat", "das ist meine lieblingsfarbe".

Each reading is the clause with what it leaves out. What words do that, a language's ``facts.templates`` says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ovos_persona_memory.mentions import Reading, joined
from ovos_persona_memory.order import plain_orders
from ovos_persona_memory.people import Before
from ovos_persona_memory.template import Words
from ovos_persona_memory.templates import Templates

ANSWER = 5
"""Words of an answer at most."""
NAMED = 3
"""Words at most of what was named last."""
OF_NAMED = ("favourite", "likes", "dislikes", "family", "pet", "diet")
"""The slots that what was named in passing can fill."""


def referring(known: Templates, clause: Words, earlier: Sequence[Words], before: Before) -> Iterator[Reading]:
    """The clause with what it leaves out; none where it stands for itself, or nobody can tell."""
    yield from _answered(known, clause, before)
    yield from _again(known, clause, before)
    yield from _mine(known, clause, before)
    yield from _taken_from_before(known, clause, earlier)


def _answered(known: Templates, clause: Words, before: Before) -> Iterator[Reading]:
    """ "herr schmitz" after "what is he called"."""
    value = clause.part(known.starts(clause, "answer"), len(clause.folded))
    if before.head and before.question and _is_value(known, value):
        yield _with_head(known, before.head, value, Reading(value, before.asked_of, _said(before)))


def _said(before: Before) -> str:
    return before.asked_of.said if before.asked_of is not None else ""


def _again(known: Templates, clause: Words, before: Before) -> Iterator[Reading]:
    """ "bei mir ist es spinat", "und ich vierzig", after somebody told the like of themselves."""
    size = known.starts(clause, "mine") or _and_i(known, clause)
    value = clause.part(size, len(clause.folded))
    for head in known.again.get(before.told, ()) if size and _is_value(known, value) else ():
        yield _with_head(known, head, value, Reading(value, None, only=(before.told,)))


def _and_i(known: Templates, clause: Words) -> int:
    """1 where a clause opens with "and i", "i too"; else 0."""
    before = known.words_of(clause.opening).folded
    said = known.starts(clause, "elided_subject") and before[-1:] and before[-1] in known.opening("listing")
    return 1 if said else 0


def _with_head(known: Templates, head: Sequence[str], value: Words, reading: Reading) -> Reading:
    """A reading with words before its value, but for one that the value has: "in" of "in köln"."""
    bare = head[:-1] if _leads(known, head[-1]) and _leads(known, value.folded[0]) else head
    start = value.part(0, 1)
    made = joined(value.part(0, 0), [(word, start) for word in bare], value)
    return Reading(made, reading.who, reading.before, reading.only)


def _leads(known: Templates, word: str) -> bool:
    return known.has_word(("preposition", "from_on"), word)


def _is_value(known: Templates, value: Words) -> bool:
    return 0 < len(value.folded) <= ANSWER and not any(
        word in known.opening("finite") or word in known.own_verbs or word in known.third for word in value.folded
    )


def _mine(known: Templates, clause: Words, before: Before) -> Iterator[Reading]:
    """ "meins steht im hof" after a bicycle was named."""
    if not before.thing or clause.folded[0] not in known.opening("own_one") or len(clause.folded) < 3:
        return
    if clause.folded[1] in known.third or clause.folded[1] in known.opening("finite"):
        start = clause.part(0, 1)
        heads = [(word, start) for word in (known.lists.get("first_my", ("",))[0], *before.thing)]
        made = joined(clause.part(0, 0), heads, clause.part(1, len(clause.folded)))
        yield Reading(made, None, " ".join(before.thing), ("detail", "location", "age", "pet"))


def _taken_from_before(known: Templates, clause: Words, earlier: Sequence[Words]) -> Iterator[Reading]:
    """ "(such was von querbeat) das ist meine lieblingsband": querbeat."""
    if not earlier or "verb_second" not in known.lists or earlier[-1].text is not clause.text:
        return
    left_out = clause.folded[0] in known.lists.get("is", ())
    if not left_out and (clause.folded[0] not in known.opening("resumed") or len(clause.folded) < 3):
        return
    told = not known.opening("is").isdisjoint(earlier[-1].folded)  # "mein lieblingstier ist der igel"
    named = named_last(known, earlier[-1])
    if named.folded and not told:
        made = joined(named, (), clause if left_out else clause.part(1, len(clause.folded)))
        yield Reading(made, None, only=OF_NAMED)
        yield from (Reading(one, None, only=OF_NAMED) for one in plain_orders(known, made))


def named_last(known: Templates, words: Words) -> Words:
    """What a clause names last: "(such mir ein rezept für) rhabarberkuchen (raus)"; empty where it names nothing."""
    words = _without_place(known, words)
    held, end = words.folded, len(words.folded)
    if end > 2 and held[1] in known.opening("finite") and not _stops(known, held[0]):
        return words.part(0, 1)  # "lakritze könnt ihr alleine essen"
    while end > 1 and _is_verb(known, held, end - 1):
        end -= 1
    start = end
    while start and end - start < NAMED and not _stops(known, held[start - 1]):
        start -= 1
    return words.part(start, end)


def _without_place(known: Templates, words: Words) -> Words:
    """ "(schreib ayran) auf die liste"."""
    for place, size in known.places(words, "onto"):
        return words.part(0, place) if place + size >= len(words.folded) - 1 else words
    return words


def _is_verb(known: Templates, held: Sequence[str], place: int) -> bool:
    """Whether it is what closes a clause: an infinitive, a participle, what a verb is divided from, a small word."""
    word = held[place]
    small = ("separable", "trail", "skip", "aside", "no_name")
    if any(word in known.opening(name) for name in small):
        return True
    return known.own_form(word) in known.own_verbs or (word.startswith("ge") and word.endswith(("en", "t")))


def _stops(known: Templates, word: str) -> bool:
    lists = ("determiner", "preposition", "finite", "pronoun", "order", "ordering", "skip", "nothing", "joint", "aside")
    return word in known.third or word in known.own_verbs or any(word in known.opening(name) for name in lists)
