"""What is left of an utterance when the secrets that it tells are cut out.

Whose secret is only mentioned has the rest of the sentence kept: of "we are at grandma's on Sunday and the alarm code
is 4711" the first clause. In doubt more goes than need be: a code ends where no digit follows, but a password of words
may go on for as long as its sentence does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from ovos_persona_memory.extraction.assertion.assertion import offsets
from ovos_persona_memory.extraction.segmentation.clauses import between_commas, clauses, split_run_on
from ovos_persona_memory.extraction.segmentation.sentences import LanguageResources, said
from ovos_persona_memory.extraction.templates import loader
from ovos_persona_memory.text import SHORTEST_CODE, Lexicon, Spot, Tokens, languages, spots, tells_secret

ROUNDS = 4
"""Secrets of one utterance at most; of one that tells more nothing is kept."""
LEAST = 3
"""Words at least of what is worth keeping by itself: "and by the way" is not."""
SUBJECT = 5
"""Words at most from the article to the name of a secret: "the code for our new alarm"."""
_ENDS = ",.;:!?"
_BEGINS = ("determiner", "article", "own", "first_my")
"""Lists of words with which somebody begins to speak of a thing: "(the) alarm code"."""


def without_secrets(text: str, lang: str | None) -> str:
    """The text without the clauses that tell secrets; all of it where it tells none."""
    left, values = text, set[str]()
    for _ in range(ROUNDS):
        if not tells_secret(left, lang):
            return "" if left != text and _holds(left, values) else left
        found = spots(left, lang)
        if not found:
            return ""
        spoken = LanguageResources(languages.for_language(lang), loader.for_language(languages.for_language(lang).tag))
        left = _Cut(spoken, left, found[0]).left(values)
    return ""


def _holds(text: str, values: set[str]) -> bool:
    """Whether a text holds a word of the secrets that were cut out of it."""
    return not values.isdisjoint(languages.fold(text))


class _Cut:
    """One utterance out of which one secret is cut."""

    def __init__(self, spoken: LanguageResources, text: str, spot: Spot) -> None:
        self._spoken, self._known = spoken, spoken.templates
        self._text, self._spot = text, spot
        self._words = self._known.words_of(text)
        self._parts = list(_parts(spoken, text))

    def left(self, values: set[str]) -> str:
        """What stands before the secret and behind it; the words of the secret itself are added to ``values``."""
        value = self._words.within(self._spot.value, len(self._text))
        signs = _signs(self._known, value)
        is_code = self._spot.end is not None or (signs > 0 and not self._goes_on(value, signs))
        end = self._spot.end or (value.spans[signs - 1][1] if is_code else self._spot.value)
        secret = self._words.within(self._spot.value, end if is_code else self._clause_end(self._spot.value))
        values.update(_telling(self._spoken, secret.folded))
        first = self._first()
        behind = self._behind(end, is_code)
        pieces = (self._text[:first], self._text[behind:])
        return ", ".join(piece for piece in map(self._worth, pieces) if piece)

    # where it begins

    def _first(self) -> int:
        """Where the clause begins that tells the secret, or as much of it as tells nothing else."""
        begun = max((start for start in self._starts if start <= self._spot.first), default=0)
        before = self._words.within(begun, self._spot.first)
        joint = self._last(before, ("joint",))
        if joint is not None and self._tells(before.part(0, joint)):
            return before.spans[joint][0]
        thing = self._last(before, _BEGINS)
        near = thing is not None and thing >= len(before.folded) - SUBJECT
        if thing is not None and near and self._is_said() and self._tells(before.part(0, thing)):
            return before.spans[thing][0]
        return begun

    def _is_said(self) -> bool:
        """Whether a verb stands between the name of the secret and the secret: what is before it has one of its own."""
        named = self._words.within(self._spot.first, self._spot.value)
        return any(word in self._known.third for word in named.folded)

    def _last(self, words: Tokens, names: Sequence[str]) -> int | None:
        """The number of the last word with which a phrase of these lists begins."""
        places = (n for n in range(len(words.folded) - 1, -1, -1) if self._known.has_word(names, words.folded[n]))
        return next(places, None)

    # where it ends

    def _behind(self, end: int, is_code: bool) -> int:
        """Where something else begins behind the secret: behind a code with the next clause, else the next part."""
        begun = [start for start, _ in self._parts if start >= end]
        if is_code:
            begun += [start for start in self._starts if start >= end]
            words = self._words.within(end, len(self._text))
            begun += [span[0] for word, span in zip(words.folded, words.spans, strict=True) if self._joins(word)]
        for start in sorted(begun):
            piece = self._piece(start)
            if self._tells(piece) and not _signs(self._known, piece.part(self._joint(piece), len(piece.folded))):
                return start
        return len(self._text)

    def _piece(self, start: int) -> Tokens:
        """The words from a place to the end of their clause; before that may stand what joins it."""
        words = self._words.within(start, len(self._text))
        first = words.part(self._joint(words), len(words.folded))
        return words.within(start, self._clause_end(first.spans[0][0])) if first.folded else first

    def _joins(self, word: str) -> bool:
        return self._known.has_word(("joint",), word)

    def _goes_on(self, value: Tokens, signs: int) -> bool:
        """Whether a secret that begins like a code goes on in words: "(the password is) 4711 blue"."""
        if signs >= len(value.folded):
            return False
        start = value.spans[signs][0]
        return not self._joins(value.folded[signs]) and start not in {
            *self._starts,
            *(begun for begun, _ in self._parts),
        }

    # clauses

    @cached_property
    def _starts(self) -> list[int]:
        """Where clauses begin, in order."""
        found = {0, *(start for start, _ in self._parts)}
        for first, last in self._parts:
            for clause in clauses(self._spoken, self._words.within(first, last)):
                found.update(min(start for start, _ in piece.spans) for piece in split_run_on(self._known, clause))
        return sorted(found)

    def _clause_end(self, start: int) -> int:
        return min((one for one in self._starts if one > start), default=len(self._text))

    def _tells(self, words: Tokens) -> bool:
        """Whether words may be a clause: enough of them, and a verb where the language's verbs are known."""
        bare = words.part(self._joint(words), len(words.folded))
        verbs = self._known.own_verbs
        has_verb = not verbs or any(word in verbs or word in self._known.third for word in bare.folded)
        return len(bare.folded) >= LEAST and has_verb

    def _joint(self, words: Tokens) -> int:
        return self._known.starts(words, "joint")

    def _worth(self, piece: str) -> str:
        """A piece as it is kept, without what joined it to the secret; empty where too little is left of it."""
        words = self._known.words_of(piece)
        words = words.part(self._joint(words), len(words.folded))
        while size := max(self._known.ends(words, "joint"), self._known.ends(words, "telling_that")):
            words = words.part(0, len(words.folded) - size)
        told = words.spelled.strip(_ENDS + " ")
        bare = self._known.words_of(self._spoken.language.without_lead(told))
        return told if len(bare.folded) >= LEAST else ""


def _parts(spoken: LanguageResources, text: str) -> Iterator[tuple[int, int]]:
    """Where each sentence begins and ends, and what stands between its commas."""
    parts = [part for sentence in said(spoken, text) for part in between_commas(sentence)]
    places = zip(offsets(text, parts), parts, strict=True)
    yield from ((start, start + len(part)) for start, part in places if start >= 0)  # a link is no part of it


def _signs(known: Lexicon, words: Tokens) -> int:
    """How many words a code goes on for: digits, numbers, single letters, and which way each is turned."""
    place = 0
    while place < len(words.folded):
        word = words.folded[place]
        names = ("number", "digit", "key_sign", "turned") if place else ("number", "digit", "key_sign")
        size = max(known.starts_at(words.folded, place, name) for name in names)
        is_sign = size > 0 or len(word) == 1 or any(map(str.isdigit, word))
        if not is_sign or known.has_word(("joint",), word):
            break
        place += max(size, 1)
    return place


def _telling(spoken: LanguageResources, folded: Sequence[str]) -> Iterator[str]:
    """The words of a secret that give something away: no small words, and no number that anything may have."""
    small = spoken.language.stop_words
    numbers = spoken.templates.opening("number") | spoken.templates.opening("digit")
    for word in folded:
        if word not in small and word not in numbers and (not word.isdigit() or len(word) >= SHORTEST_CODE):
            yield word
