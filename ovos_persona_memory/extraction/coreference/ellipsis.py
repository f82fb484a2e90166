"""What is understood from what was said before: "bei mir ist es spinat", "das ist meine lieblingsfarbe".

Each reading is the clause with what it leaves out. What words do that, a language's ``facts.templates`` says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ovos_persona_memory.extraction.coreference.clause_subjects import ResolvedClause, joined
from ovos_persona_memory.extraction.coreference.person_mentions import DialogueContext
from ovos_persona_memory.extraction.segmentation.word_order import plain_orders
from ovos_persona_memory.text import Lexicon, Tokens

ANSWER = 5
"""Words of an answer at most."""
NAMED = 3
"""Words at most of what was named last."""
OF_NAMED = ("favourite", "likes", "dislikes", "family", "pet", "diet", "name", "detail", "work")
"""The slots that what was named in passing can fill."""
OF_PLACES = ("origin", "home", "work")
"""The slots that a place named in passing can fill."""
LEAST = 3
"""Words at least of what takes up something named: "that is my ..."."""
SHORT = 4
"""Words at most of what may be nothing but a place."""
PLACE = 2
"""Words at most of a place."""


def referring(
    known: Lexicon, clause: Tokens, earlier: Sequence[Tokens], before: DialogueContext
) -> Iterator[ResolvedClause]:
    """The clause with what it leaves out; none where it stands for itself, or nobody can tell."""
    yield from _answered(known, clause, before)
    yield from _again(known, clause, before)
    yield from _mine(known, clause, before)
    yield from _taken_from_before(known, clause, earlier)
    yield from _there(known, clause, earlier)


def _answered(known: Lexicon, clause: Tokens, before: DialogueContext) -> Iterator[ResolvedClause]:
    """ "herr schmitz" after "what is he called"."""
    value = clause.part(known.starts(clause, "answer"), len(clause.folded))
    if before.head and before.question and _is_value(known, value):
        yield _with_head(known, before.head, value, ResolvedClause(value, before.asked_of, _said(before)))


def _said(before: DialogueContext) -> str:
    return before.asked_of.said if before.asked_of is not None else ""


def _again(known: Lexicon, clause: Tokens, before: DialogueContext) -> Iterator[ResolvedClause]:
    """ "bei mir ist es spinat", "und ich vierzig", after somebody told the like of themselves."""
    size = known.starts(clause, "mine") or _and_i(known, clause)
    value = clause.part(size, len(clause.folded))
    for head in known.again.get(before.told, ()) if size and _is_value(known, value) else ():
        yield _with_head(known, head, value, ResolvedClause(value, None, only=(before.told,)))


def _and_i(known: Lexicon, clause: Tokens) -> int:
    """1 where a clause opens with "and i", "i too"; else 0."""
    before = known.opening_of(clause).folded
    said = known.starts(clause, "elided_subject") and before[-1:] and before[-1] in known.opening("listing")
    return 1 if said else 0


def _with_head(known: Lexicon, head: Sequence[str], value: Tokens, reading: ResolvedClause) -> ResolvedClause:
    """A reading with words before its value, but for one that the value has: "in" of "in köln"."""
    bare = head[:-1] if _leads(known, head[-1]) and _leads(known, value.folded[0]) else head
    start = value.part(0, 1)
    made = joined(value.part(0, 0), [(word, start) for word in bare], value)
    return ResolvedClause(made, reading.who, reading.before, reading.only)


def _leads(known: Lexicon, word: str) -> bool:
    return known.has_word(("preposition", "from_on"), word)


def _is_value(known: Lexicon, value: Tokens) -> bool:
    return 0 < len(value.folded) <= ANSWER and not any(
        word in known.opening("finite") or word in known.own_verbs or word in known.third for word in value.folded
    )


def _mine(known: Lexicon, clause: Tokens, before: DialogueContext) -> Iterator[ResolvedClause]:
    """ "meins steht im hof" after a bicycle was named."""
    if not before.thing or clause.folded[0] not in known.opening("own_one") or len(clause.folded) < 3:
        return
    if clause.folded[1] in known.third or clause.folded[1] in known.opening("finite"):
        start = clause.part(0, 1)
        heads = [(word, start) for word in (known.lists.get("first_my", ("",))[0], *before.thing)]
        made = joined(clause.part(0, 0), heads, clause.part(1, len(clause.folded)))
        yield ResolvedClause(made, None, " ".join(before.thing), ("detail", "location", "age", "pet"))


def _taken_from_before(known: Lexicon, clause: Tokens, earlier: Sequence[Tokens]) -> Iterator[ResolvedClause]:
    """ "(such was von querbeat) das ist meine lieblingsband": querbeat."""
    if not earlier or earlier[-1].text is not clause.text or clause.folded[0] not in _takes_up(known, clause):
        return
    told = not known.opening("is").isdisjoint(earlier[-1].folded[:-1])  # "mein lieblingstier ist der igel"
    named = named_last(known, earlier[-1])
    if named.folded and not told and not _is_listed(known, earlier[-1], named):
        left_out = clause.folded[0] in known.lists.get("is", ())
        made = joined(named, (), clause if left_out else clause.part(1, len(clause.folded)))
        yield from (_standing(one, clause, OF_NAMED) for one in (made, *plain_orders(known, made)))


def _is_listed(known: Lexicon, words: Tokens, named: Tokens) -> bool:
    """Whether it is but the last of several: "i make it with flour, coconut oil and (raspberries)"."""
    place = words.spans.index(named.spans[0])
    return place > 0 and words.folded[place - 1] in known.opening("listing")


def _standing(made: Tokens, clause: Tokens, slots: tuple[str, ...]) -> ResolvedClause:
    """What a clause says with what was named before it in place."""
    return ResolvedClause(made, None, only=slots, span=(clause.spans[0][0], clause.spans[-1][1]))


def _takes_up(known: Lexicon, clause: Tokens) -> frozenset[str]:
    """The words that can take up what was named; where no verb may come first, only "that is my ..." does."""
    if len(clause.folded) < LEAST:
        return known.opening("is") if "verb_second" in known.lists else frozenset()
    if "verb_second" in known.lists:
        return known.opening("resumed") | known.opening("is")
    verb, own = clause.folded[1:LEAST]
    is_so = verb in known.third and known.third[verb] == known.third.get(known.lists["is"][0])
    return known.opening("taken_up") if is_so and own in known.opening("own") else frozenset()


def _there(known: Lexicon, clause: Tokens, earlier: Sequence[Tokens]) -> Iterator[ResolvedClause]:
    """ "(wie ist das wetter in leer) da bin ich geboren", "(any flights to dundee) that is where i am from"."""
    said = [one for one in earlier if one.text is clause.text]
    led = bool(said) and known.starts(said[-1], "there_lead") == len(said[-1].folded)  # "von | da stamme ich"
    said = said[:-1] if led else said
    size = known.starts(clause, "there")
    closes = known.starts(known.closing_of(clause), "there") > 0
    named = _place_last(known, said[-1]) if said and (size or closes) else clause.part(0, 0)
    rest = clause.part(size, len(clause.folded))
    for one in ("", *known.lists.get("from_there" if led else "in_there", ())) if named.folded and rest.folded else ():
        made = _with_place(known, rest, named, one, size > 0)
        yield from (_standing(order, clause, OF_PLACES) for order in (made, *plain_orders(known, made)))


def _with_place(known: Lexicon, rest: Tokens, named: Tokens, preposition: str, first: bool) -> Tokens:
    """A clause with the place in it: before the verb where a language has it so, else behind all."""
    start = named.spans[0][0]
    words, spans = (preposition, *named.folded), ((start, start), *named.spans)
    words, spans = (words, spans) if preposition else (words[1:], spans[1:])
    if first and "verb_second" in known.lists:
        return Tokens(rest.text, words + rest.folded, spans + rest.spans)
    return Tokens(rest.text, rest.folded + words, rest.spans + spans)


def _place_last(known: Lexicon, words: Tokens) -> Tokens:
    """The place that words name last: "any flights to (dundee) at christmas"; else what they name last."""
    held, before = words.folded, known.opening("place_before")
    for place in range(len(held) - 1, 0, -1):
        if held[place - 1] in before and not _stops(known, held[place]):
            ends = (n for n in range(place + 1, min(place + PLACE, len(held))) if _stops(known, held[n]))
            return words.part(place, next(ends, min(place + PLACE, len(held))))
    return named_last(known, words) if len(held) <= SHORT else words.part(0, 0)


def named_last(known: Lexicon, words: Tokens) -> Tokens:
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


def _without_place(known: Lexicon, words: Tokens) -> Tokens:
    """ "(schreib ayran) auf die liste"."""
    for place, size in known.places(words, "onto"):
        return words.part(0, place) if place + size >= len(words.folded) - 1 else words
    return words


def _is_verb(known: Lexicon, held: Sequence[str], place: int) -> bool:
    """Whether it is what closes a clause: an infinitive, a participle, what a verb is divided from, a small word."""
    word = held[place]
    small = ("separable", "trail", "skip", "aside", "no_name")
    if any(word in known.opening(name) for name in small):
        return True
    return known.own_form(word) in known.own_verbs or (word.startswith("ge") and word.endswith(("en", "t")))


def _stops(known: Lexicon, word: str) -> bool:
    lists = ("determiner", "preposition", "finite", "pronoun", "order", "ordering", "skip", "nothing", "joint", "aside")
    return word in known.third or word in known.own_verbs or any(word in known.opening(name) for name in lists)
