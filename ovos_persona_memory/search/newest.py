"""The newest of several statements that say the same of one subject with other values: it comes first, and holds.

Whether two statements do so is told by their words in any language: most words of the older stand in the newer one in
the same order, its subject among them. Where their values are of one kind, two weekdays or two numbers, or the newer
one begins as a correction does, the older holds no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from ovos_persona_memory.records import Hit
from ovos_persona_memory.search.ownership import possession
from ovos_persona_memory.text import Language, correction_in, languages, value_kinds

SHARED = 0.5
"""Share of the older statement's words that stand in the newer one in their order, >=."""
LONGEST = 40
"""Words at most of a statement that is compared: a longer one says many things."""
AVERAGE = 12
"""Letters of a word, generously: a longer text is not looked at."""
MOST = 10
"""So many of the best hits are compared, and all that answer."""


@dataclass(frozen=True)
class _Statement:
    """A hit with what is compared of it."""

    hit: Hit
    spoken: Language
    words: Sequence[str]
    """Its words, folded."""
    subject: str
    """Its first content word."""


def newest_first(hits: Sequence[Hit]) -> list[Hit]:
    """The hits, each newer statement before those that say the same with another value; of these, those that hold no
    more are outdated, and where they answered, the newer one does.

    What somebody asked to be remembered stays valid: that is changed, or forgotten, where it is kept.
    """
    found = list(hits)
    statements = [one for place, hit in enumerate(hits) if (one := _statement(hit, place))]
    for older in statements:
        newer = max((one for one in statements if _says_anew(older, one)), key=lambda one: one.hit.at, default=None)
        if newer is None:
            continue
        old, new = _place(found, older.hit), _place(found, newer.hit)
        contradicts = older.hit.kind != "memory" and _contradicts(older, newer)
        if not contradicts and not (found[new].answers and found[old].answers):
            continue
        if contradicts:
            taken = found[old].answers
            found[new] = replace(found[new], answers=taken or found[new].answers, sure=taken or found[new].sure)
            found[old] = replace(found[old], answers=False, sure=False, outdated=True)
        if new > old:
            found.insert(old, replace(found.pop(new), score=found[old].score))
    return [*(hit for hit in found if hit.answers), *(hit for hit in found if not hit.answers)]


def _statement(hit: Hit, place: int) -> _Statement | None:
    """A person's statement, to be compared; None for others."""
    if hit.role == "assistant" or hit.outdated or not (hit.answers or place < MOST):
        return None
    spoken = languages.for_text(hit.lang, hit.text)
    words = languages.fold(hit.text) if len(hit.text) <= LONGEST * AVERAGE else []
    if not words or len(words) > LONGEST or spoken.uses_bigrams or spoken.only_asks(hit.text):
        return None
    subject = next(iter(_content(words, spoken)), None)
    return _Statement(hit, spoken, words, subject) if subject is not None else None


def _place(hits: Sequence[Hit], wanted: Hit) -> int:
    return next(place for place, hit in enumerate(hits) if (hit.kind, hit.id) == (wanted.kind, wanted.id))


def _says_anew(older: _Statement, newer: _Statement) -> bool:
    """Whether a newer statement says something else of what an older one speaks of."""
    if newer.hit.at <= older.hit.at or older.subject not in newer.words or newer.spoken.tag != older.spoken.tag:
        return False
    if older.hit.speaker != newer.hit.speaker and _speaks_of_speaker(older.words, older.spoken):
        return False
    if not _is_same_subject(older, newer):
        return False
    blocks = SequenceMatcher(None, older.words, newer.words, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks) >= SHARED * len(older.words)


def _speaks_of_speaker(words: Sequence[str], spoken: Language) -> bool:
    of = possession(spoken.tag)
    return not (of.subjects | of.possessives).isdisjoint(words)


def _content(words: Sequence[str], spoken: Language) -> list[str]:
    of = possession(spoken.tag)
    small = of.small | of.subjects | of.possessives | of.between | of.verbs | spoken.stop_words
    return [word for word in words if word not in small]


def _is_same_subject(older: _Statement, newer: _Statement) -> bool:
    """Whether no other content word narrows the older statement's subject in the newer one: "the bins", but not "the
    paper bins"."""
    if set(older.words) == set(newer.words):
        return False
    place = newer.words.index(older.subject)
    narrowing = _content(newer.words[place - 1 : place], newer.spoken) if place else []
    return not set(narrowing) - set(older.words)


def _contradicts(older: _Statement, newer: _Statement) -> bool:
    """Whether both cannot hold: but for two values of one kind the older says nothing else, or the newer corrects."""
    before, after = (_content(one.words, one.spoken) for one in (older, newer))
    gone, new = set(before) - set(after), set(after) - set(before)
    if correction_in(newer.hit.text, newer.spoken) is not None and gone:
        return True
    kinds = value_kinds(older.spoken.tag)
    values = {kinds[word] for word in gone if word in kinds}
    return bool(values) and values <= {kinds[word] for word in new if word in kinds} and gone <= kinds.keys()
