"""What is named first and then stood for in the same breath: "the keys they're in the hall", "no celery i hate it"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ovos_persona_memory.extraction.coreference.clause_subjects import (
    ANSWER,
    ResolvedClause,
    bare_end,
    joined,
    possession_asked_for,
)
from ovos_persona_memory.extraction.coreference.person_mentions import DialogueContext, PersonMention, person_at
from ovos_persona_memory.text import Lexicon, Tokens

NOUN = 4
"""Words at most of what is named first."""
TAKEN_UP = 24
"""A pronoun this many words into a clause stands for nothing before it in the same clause."""
PLACE = 8
"""Words at most of where something is, as an answer."""
BREATH = 12
"""Words before a clause in which what "it" stands for was named."""
_NOT_OF_IT = ("finite", "preposition", "determiner", "joint", "pronoun", "break", "order", "binding", "listing", "skip")


def drop_resumptive_pronoun(known: Lexicon, clause: Tokens) -> Iterator[tuple[Tokens, str]]:
    """The clause without a pronoun that takes up what stands before it: "dwayne that is my cousin", "my mum she is".

    The second of each is empty: nothing is stood for.
    """
    held = clause.folded
    for place in range(1, min(len(held) - 1, TAKEN_UP)):
        owning = held[place] in known.lists.get("whose", ())
        if not (owning or _takes_up(known, held, place)) or known.has_word(("third", "finite"), held[place - 1]):
            continue
        for first in _noun_starts(known, held, place):
            marked = [("s", clause.part(place, place + 1))] if owning else []
            yield joined(clause.part(first, place), marked, clause.part(place + 1, len(held))), ""


def together(known: Lexicon, one: Tokens, other: Tokens | None = None) -> Tokens | None:
    """Two clauses as one, where the second begins with a pronoun that may take up the first; else None."""
    if other is None or not other.folded or other.folded[0] not in known.lists.get("taken_up", ()):
        return None
    return Tokens(one.text, one.folded + other.folded, one.spans + other.spans) if one.text is other.text else None


def _takes_up(known: Lexicon, held: Sequence[str], place: int) -> bool:
    verb = held[place + 1]
    return held[place] in known.lists.get("taken_up", ()) and (verb in known.opening("finite") or verb in known.third)


def _noun_starts(known: Lexicon, held: Sequence[str], end: int) -> Iterator[int]:
    """Where what ends before a word may begin: at its determiner, or behind another word; the longest first."""
    for first in range(max(end - NOUN, 0), end):
        opens = held[first] in known.lists.get("determiner", ()) or held[first] in known.opening("own")
        behind = first == 0 or held[first - 1] in known.opening("binding") or known.has_word(_LEAD, held[first - 1])
        person = held[end] in known.opening("he_she") or held[end] in known.opening("whose")
        if first and not person and held[first - 1] in known.opening("preposition"):
            continue  # "... not in my room it is ...": it is not the room
        inner = any(known.has_word(("finite", "pronoun", "joint"), word) for word in held[first:end])
        if (opens or behind) and not inner:
            yield first


_LEAD = ("lead", "skip", "joint", "break")


def resolve_object_pronoun(known: Lexicon, clause: Tokens) -> Iterator[tuple[Tokens, str]]:
    """ "don't put coriander down gareth hates (it)": what was named in place of the pronoun that ends a clause.

    With it the words that were named.
    """
    size = known.ends(clause, "of_it")
    if not size or size >= len(clause.folded):
        return
    before = known.before(clause)
    named = _named_last(known, before.part(max(len(before.folded) - BREATH, 0), len(before.folded)))
    if named.folded:
        made = joined(clause.part(0, len(clause.folded) - size), (), named)
        yield made, named.spelled


def _named_last(known: Lexicon, words: Tokens) -> Tokens:
    """What words name last, without what says where it belongs: "some (cardamom tea) on the list"."""
    while size := max(known.ends(words, "trail"), known.ends(words, "behind_it"), known.ends(words, "lead")):
        words = words.part(0, len(words.folded) - size)
    first = len(words.folded)
    while first > 0 and len(words.folded) - first < NOUN and not known.has_word(_NOT_OF_IT, words.folded[first - 1]):
        first -= 1
    judged = first > 0 and known.third.get(words.folded[first - 1], ()) == known.third.get("is", ("",))
    return words.part(len(words.folded) if judged else first, len(words.folded))  # "peas are yucky i hate them"


def asked_before(known: Lexicon, clause: Tokens, before: DialogueContext) -> tuple[str, ...]:
    """What was last named as somebody's own: in the same breath ("my favourite film guess what"), or before."""
    return possession_asked_for(known, known.before(clause)) or before.asked


def resolve_possessive(known: Lexicon, clause: Tokens, before: DialogueContext) -> Iterator[ResolvedClause]:
    """ "mine is green", "my mums is green" after a colour was spoken of; "it is green" or "green" after a question."""
    asked = asked_before(known, clause, before)
    if not asked:
        return
    if asked[0] in known.lists.get("where", ()):
        yield from _there(known, clause, before)
        return
    size = known.starts(clause, "mine")
    found = None if size else person_at(known, clause, 0, before.names)
    if found is not None:
        size = _owned(known, clause, found)
        found = found if size else None
    end = len(clause.folded) - known.ends(clause, "answer_end")
    led = known.ends(known.opening_of(clause), "answer_end")  # "for me it is ..."
    if not size and not led and possession_asked_for(known, clause):
        return
    answers = bool(size or before.question or led or end < len(clause.folded))
    if answers and not size:
        size = known.starts(clause, "answer")
    value = clause.part(size, end)
    if not value.folded or not answers or len(value.folded) > ANSWER:
        return
    behind = bare_end(known, known.closing_of(clause))
    if not (size or led or end < len(clause.folded)) and behind.folded:
        return  # nobody answers with the first words of something else
    if not known.opening("finite").isdisjoint(value.folded):
        return
    link = known.lists.get("is", ("",))[0]
    start = clause.part(0, 1)
    for my in known.lists.get("first_my", ()):
        heads = [(word, start) for word in (my, *asked, link)]
        yield ResolvedClause(joined(clause.part(0, 0), heads, value), found.who if found else None, " ".join(asked))


def _owned(known: Lexicon, clause: Tokens, found: PersonMention) -> int:
    """How many words "my mums is" has; 0 where nothing of somebody's is meant."""
    end = found.place + found.size
    marked = clause.folded[end : end + 1] == ("s",)
    if not (marked or found.owning):
        return 0
    behind = end + marked
    linked = clause.folded[behind : behind + 1]
    return behind + 1 if linked and linked[0] in known.lists.get("is", ()) else 0


def _there(known: Lexicon, clause: Tokens, before: DialogueContext) -> Iterator[ResolvedClause]:
    """ "on the coat rack", "it's upstairs", "hängt auf der leine" after "where is the leash"."""
    place = clause.part(_until_place(known, clause.folded), len(clause.folded))
    if not before.question or not before.thing or not known.starts(place, "preposition") or len(place.folded) > PLACE:
        return
    if set(before.thing) <= set(place.folded):
        return  # "it's on top of the wardrobe": not the wardrobe
    start = clause.part(0, 1)
    words = (*known.lists.get("kept_at", known.lists["first_my"][:1]), *before.thing)
    made = joined(clause.part(0, 0), [(word, start) for word in words], place)
    yield ResolvedClause(made, None, " ".join(before.thing), ("location",))


def _until_place(known: Lexicon, held: tuple[str, ...]) -> int:
    """How many words stand before the place: "it is", "it'll be", "der liegt", "hängt"."""
    pronoun = int(held[0] in known.opening("it_named") | known.opening("they"))
    verb = max(known.starts_at(held, pronoun, name) for name in ("lies", "is"))
    return pronoun + verb if verb else 0
