"""Spoken word order made plain: "lakritz das hass ich", "weil ich im klinikum arbeite", "geboren bin ich in görlitz".

Templates are written in the plain order, "ich arbeite im klinikum", and each serves for all the ways of saying it.
It is for languages whose verb comes second (<verb_second>), and nothing is done in others.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from ovos_persona_memory.text import Lexicon, Tokens

FRONT = 7
"""Words at most of a clause up to its subject, where something else opens it."""
LONG = 16
"""Words of a clause that is no longer put in order: it says several things."""
MOST = 10
"""Orders of a clause at most."""


def plain_orders(known: Lexicon, clause: Tokens) -> Iterator[Tokens]:
    """The clause in other orders that mean the same, the likeliest first; none twice, and not as it is."""
    if "verb_second" not in known.lists or len(clause.folded) > LONG:
        return
    seen, waiting = {clause.folded}, [clause]
    while waiting and len(seen) <= MOST:
        made = waiting.pop(0)
        for one in chain.from_iterable(rule(known, made) for rule in _RULES):
            if one.folded and one.folded not in seen:
                seen.add(one.folded)
                waiting.append(one)
                yield one


def behind_adverb(known: Lexicon, clause: Tokens) -> bool:
    """Whether a small word that was left out stands before the clause: "jetzt wohne ich ...", which is no question."""
    opening = known.opening_of(clause).folded
    return bool(opening) and opening[-1] in known.lists.get("skip", ())


def fronted(known: Lexicon, clause: Tokens) -> bool:
    """Whether words that were left out stand before the clause, which is no question then: "eigentlich", "deshalb"."""
    opening = known.opening_of(clause)
    return behind_adverb(known, clause) or known.ends(opening, "fronting") > 0 or _left_out(known, clause)


def _left_out(known: Lexicon, clause: Tokens) -> bool:
    """Whether words were left out before it that mean nothing: "wenn zeit ist"."""
    return len(clause.opening.split()) > len(known.opening_of(clause).folded)


def resumes(known: Lexicon, held: tuple[str, ...], place: int) -> bool:
    """Whether a word takes up what opens the clause: the second "der" of "der ben der wohnt in wien"."""
    if not 0 < place < min(len(held) - 1, FRONT) or held[place] not in known.opening("resumed"):
        return False
    if not (held[place + 1] in known.own_verbs or held[place + 1] in known.third):
        return False
    if held[0] in known.opening("vague"):
        return False  # "irgendwas von queen das ist ..."
    if known.own_form(held[place - 1]) in known.own_verbs or "zu" in held[place - 1][1:-2]:
        return False  # "meinen bruder anzurufen der heißt cem"
    if held[place - 1] in known.opening("preposition") or held[0] in known.opening("ordering"):
        return False
    return not any(word in known.own_verbs or word in known.third or word in _joints(known) for word in held[:place])


def _joints(known: Lexicon) -> frozenset[str]:
    return known.opening("pronoun") - known.opening("article") | known.opening("break") - known.opening("listing")


def _without_taken_up(known: Lexicon, clause: Tokens) -> Iterator[Tokens]:
    """ "lakritz hass ich"."""
    held = clause.folded
    for place in range(1, min(len(held) - 1, FRONT)):
        if resumes(known, held, place):
            yield _ordered(clause, (*range(place), *range(place + 1, len(held))))
            return


def _subject_first(known: Lexicon, clause: Tokens) -> Iterator[Tokens]:
    """ "montags lerne ich ...", "(eigentlich) mag ich ...": its subject before its verb, what stood there behind it."""
    held, speakers = clause.folded, known.opening("speaker")
    if speakers.isdisjoint(held):
        return
    for place in range(1 if fronted(known, clause) else 2, min(len(held), FRONT)):
        verb = held[place - 1]
        if held[place] in speakers and (verb in known.own_verbs or known.own_form(verb) in known.own_verbs):
            subject, front, rest = (place, place - 1), range(place - 1), range(place + 1, len(held))
            yield _ordered(clause, (*subject, *front, *rest))
            yield _ordered(clause, (*subject, *rest, *front))
            return


def _verb_second(known: Lexicon, clause: Tokens) -> Iterator[Tokens]:
    """ "(weil) ich im klinikum arbeite": its verb behind its subject, and what can be divided from it last."""
    held = clause.folded
    last = len(held) - 1
    if last < 2 or held[0] not in known.opening("speaker") or held[1] in known.own_verbs:
        return
    if held[last] in known.own_verbs:
        yield _ordered(clause, (0, last, *range(1, last)))
    parts = known.divided(held[last])
    if parts:
        span = clause.spans[last]
        folded = (held[0], parts[1], *held[1:last], parts[0])
        yield Tokens(clause.text, folded, (clause.spans[0], span, *clause.spans[1:last], span))


def _done(known: Lexicon, clause: Tokens) -> Iterator[Tokens]:
    """ "ich tue frühstücken nie": "ich frühstücke nie"."""
    held = clause.folded
    if len(held) < 3 or held[0] not in known.opening("speaker") or held[1] not in known.opening("do"):
        return
    for place in dict.fromkeys((len(held) - 1, 2)):
        verb = known.own_form(held[place])
        if verb:
            rest = [n for n in range(2, len(held)) if n != place]
            folded = (held[0], verb, *(held[n] for n in rest))
            yield Tokens(clause.text, folded, tuple(clause.spans[n] for n in (0, place, *rest)))


def _put_right(known: Lexicon, clause: Tokens) -> Iterator[Tokens]:
    """ "... ist nicht mehr blau sondern türkis": without what it is not."""
    held = clause.folded
    rather = next((n for n, word in enumerate(held) if word in known.opening("rather")), 0)
    no = next((n for n in range(rather - 1, 0, -1) if held[n] in known.opening("unasked")), 0)
    if 0 < no < rather < len(held) - 1:
        yield _ordered(clause, (*range(no), *range(rather + 1, len(held))))


def _without_asides(known: Lexicon, clause: Tokens) -> Iterator[Tokens]:
    """ "ich esse unter der woche nie fleisch": without what only says when, where or how much."""
    left: set[int] = set()
    for place, size in known.places(clause, "aside"):
        left.update(range(place, place + size))
    if left and len(left) < len(clause.folded):
        yield _ordered(clause, tuple(n for n in range(len(clause.folded)) if n not in left))


def _ordered(clause: Tokens, order: tuple[int, ...]) -> Tokens:
    return Tokens(clause.text, tuple(clause.folded[n] for n in order), tuple(clause.spans[n] for n in order))


_RULES = (_without_taken_up, _put_right, _subject_first, _verb_second, _done, _without_asides)
