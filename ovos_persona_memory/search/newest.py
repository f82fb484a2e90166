"""The newest of several statements that say the same of one subject with other values: it comes first, and holds.

Whether two statements do so is told by their words in any language: most words of the older stand in the newer one in
the same order, its subject among them. Where their values are of one kind, two weekdays or two numbers, or the newer
one begins as a correction does, the older holds no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from ovos_persona_memory.records import Hit
from ovos_persona_memory.search.ownership import possession
from ovos_persona_memory.text import Language, correction_in, languages, value_kinds

SHARED = 0.5
"""Share of the older statement's words that stand in the newer one in their order, >=."""
LONGEST = 40
"""Words at most of a statement that is compared: a longer one says many things."""


def newest_first(hits: Sequence[Hit]) -> list[Hit]:
    """The hits, each newer statement before those that say the same with another value; of these, those that hold no
    more are outdated, and where they answered, the newer one does."""
    found = list(hits)
    for older in hits:
        newer = max((hit for hit in hits if _says_anew(older, hit)), key=lambda hit: hit.at, default=None)
        if newer is None:
            continue
        old, new = _place(found, older), _place(found, newer)
        contradicts = _contradicts(older, newer)
        if not contradicts and not found[new].answers:
            continue
        takes_over = replace(found[new], answers=True, sure=True) if found[old].answers else found[new]
        left = replace(found[old], answers=False, sure=False, outdated=True) if contradicts else found[old]
        found[new], found[old] = takes_over, left
        if new > old:
            moved = replace(found.pop(new), score=max(found[old].score, takes_over.score))
            found.insert(old, moved)
    return [*(hit for hit in found if hit.answers), *(hit for hit in found if not hit.answers)]


def _place(hits: Sequence[Hit], wanted: Hit) -> int:
    return next(place for place, hit in enumerate(hits) if (hit.kind, hit.id) == (wanted.kind, wanted.id))


def _says_anew(older: Hit, newer: Hit) -> bool:
    """Whether a newer statement of a person says something else of what an older one speaks of."""
    if newer.at <= older.at or older.outdated or newer.outdated or "assistant" in (older.role, newer.role):
        return False
    spoken = languages.for_text(older.lang, older.text)
    if spoken.uses_bigrams or languages.for_text(newer.lang, newer.text).tag != spoken.tag:
        return False
    before, after = languages.fold(older.text), languages.fold(newer.text)
    if max(len(before), len(after)) > LONGEST or spoken.only_asks(newer.text) or not before:
        return False
    if older.speaker != newer.speaker and _speaks_of_speaker(before, spoken):
        return False
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks) >= SHARED * len(before) and _is_same_subject(before, after, spoken)


def _speaks_of_speaker(words: Sequence[str], spoken: Language) -> bool:
    of = possession(spoken.tag)
    return not (of.subjects | of.possessives).isdisjoint(words)


def _content(words: Sequence[str], spoken: Language) -> list[str]:
    of = possession(spoken.tag)
    small = of.small | of.subjects | of.possessives | of.between | of.verbs | spoken.stop_words
    return [word for word in words if word not in small]


def _is_same_subject(before: Sequence[str], after: Sequence[str], spoken: Language) -> bool:
    """Whether the first content word of the older statement stands in the newer one, and no other before it narrows it:
    "the bins", but not "the paper bins"."""
    subject = next(iter(_content(before, spoken)), None)
    if subject is None or subject not in after or set(before) == set(after):
        return False
    place = after.index(subject)
    narrowing = _content(after[place - 1 : place], spoken) if place else []
    return not set(narrowing) - set(before)


def _contradicts(older: Hit, newer: Hit) -> bool:
    """Whether both cannot hold: but for two values of one kind the older says nothing else, or the newer corrects."""
    spoken = languages.for_text(older.lang, older.text)
    before, after = (_content(languages.fold(hit.text), spoken) for hit in (older, newer))
    gone, new = set(before) - set(after), set(after) - set(before)
    if correction_in(newer.text, spoken) is not None and gone:
        return True
    kinds = value_kinds(spoken.tag)
    values = {kinds[word] for word in gone if word in kinds}
    return bool(values) and values <= {kinds[word] for word in new if word in kinds} and gone <= kinds.keys()
