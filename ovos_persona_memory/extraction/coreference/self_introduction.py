"""Who says who they are with a name that is no usual one ("i am wren and i'm eight years old"), and what "it" is."""

from __future__ import annotations

from collections.abc import Iterator

from ovos_persona_memory.extraction.coreference.clause_subjects import ResolvedClause, joined
from ovos_persona_memory.extraction.coreference.person_mentions import DialogueContext
from ovos_persona_memory.text import Lexicon, Tokens

NAMED = 3
"""Words at most of a thing that "it" can stand for."""


def own_name(known: Lexicon, clause: Tokens, before: DialogueContext) -> Iterator[ResolvedClause]:
    """ "i am wren" from somebody who is known as wren, or with an age behind it: "my name is wren"."""
    own, being = known.lists.get("elided_subject", ()), known.opening("being")
    if len(clause.folded) not in (3, 4) or clause.folded[0] not in own or clause.folded[1] not in being:
        return
    name = clause.part(2 + (clause.folded[2] in known.lists.get("article", ())), len(clause.folded))
    who = before.names.get(name.folded[0]) if len(name.folded) == 1 else None
    if name.folded and (
        (who is not None and not who.subject) or (len(name.folded) == 1 and _age_behind(known, clause))
    ):
        start = clause.part(0, 1)
        heads = [(word, start) for word in known.lists.get("self_named", ())]
        yield ResolvedClause(joined(clause.part(0, 0), heads, name), None)


def _age_behind(known: Lexicon, clause: Tokens) -> bool:
    """Whether what stands behind a clause is an age: "... and i'm eight years old"."""
    rest = known.closing_of(clause).folded
    counted = {*known.lists.get("number", ())}
    between = {*known.lists.get("joint", ()), *known.lists.get("elided_subject", ()), *known.opening("being")}
    place = next((n for n, word in enumerate(rest) if word not in between), len(rest))
    return 0 < place < len(rest) and (rest[place] in counted or rest[place].isdigit())


def thing_of(known: Lexicon, words: Tokens) -> tuple[str, ...]:
    """The last thing that words name ("where is my spare key": spare, key); empty where they name none."""
    held, articles = (
        words.folded,
        (*known.lists.get("first_my", ()), *known.lists.get("own", ()), *known.lists.get("pointed", ())),
    )
    if not articles:
        return ()
    ends = ("finite", "preposition", "joint", "pronoun", "break", "determiner", "nothing", "skip", "trail", "sought")
    none = {*known.lists.get("not_put", ()), *known.lists.get("relation", ())}
    for place in range(len(held) - 2, -1, -1):
        if held[place] not in articles and held[place] != "s":
            continue
        if place and known.has_word(("preposition", "of_whom"), held[place - 1]):
            continue  # "in the drawer" is where a thing is
        rest = held[place + 1 : place + 2 + NAMED]
        behind = (words.part(place + 1 + n, len(held)) for n in range(len(rest)))
        over = (part.folded[0] in known.third or any(known.starts(part, end) for end in ends) for part in behind)
        size = next((n for n, ended in enumerate(over) if ended), len(rest))
        if 0 < size <= NAMED and rest[size - 1] not in none:
            return rest[:size]
    return ()
