"""What is left of an utterance when the secrets that it tells are cut out.

Whose secret is only mentioned has the rest of the sentence kept: of "we are at grandma's on Sunday and the alarm code
is 4711" the first clause. In doubt more goes than need be: a code ends where no digit follows, but a password of words
may go on for as long as its sentence does.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from operator import itemgetter

from ovos_persona_memory.text import (
    SAID,
    SHORTEST_CODE,
    Language,
    Lexicon,
    Spot,
    Tokens,
    languages,
    lexicon,
    spots,
    tells_secret,
)

ROUNDS = 4
"""Secrets of one utterance at most; of one that tells more nothing is kept."""
LEAST = 3
"""Words at least of what is worth keeping by itself: "and by the way" is not."""
SUBJECT = 5
"""Words at most from the article to the name of a secret: "the code for our new alarm"."""
_ENDS = ",.;:!?"
_SENTENCE = re.compile(
    r"(?<=[!?\u2026;])\s+|(?<=[^\W\d_]{2})(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bSt)(?<!\bMrs)(?<!\bProf)\.+\s+|\n+"
)
"""What stands between two sentences; no dot behind a number or a short word ("3. mai", "Dr. Low")."""
_COMMA = re.compile(r"[,:]\s+")
_SIGNS = ("number", "digit", "key_sign")
LOOSE = 2
"""Words at most that digits may take up in what is kept behind a secret: more may be the rest of it."""


def without_secrets(text: str, lang: str | None) -> str:
    """The text without the clauses that tell secrets; all of it where it tells none."""
    left, values, spoken = text, set[str](), languages.for_language(lang)
    for _ in range(ROUNDS):
        if not tells_secret(left, lang):
            return "" if left != text and _holds(left, values) else left
        found = spots(left, lang)
        if not found or sum(one.end is not None for one in found) > ROUNDS:
            return ""
        left = _Cut(spoken, left, found).left(values)
    return ""


def _holds(text: str, values: set[str]) -> bool:
    """Whether a text holds a word of the secrets that were cut out of it."""
    return not values.isdisjoint(languages.fold(text))


class _Cut:
    """One utterance out of which the first of its secrets is cut."""

    def __init__(self, spoken: Language, text: str, found: Sequence[Spot]) -> None:
        self._spoken, self._known = spoken, lexicon.for_language(spoken.tag)
        self._text, self._spot, self._found = text, found[0], found
        self._words = self._known.words_of(text)
        self._sentences = [0, *(stop.end() for stop in _SENTENCE.finditer(text))]
        self._parts = sorted({*self._sentences, *(comma.end() for comma in _COMMA.finditer(text))})
        said = zip(self._words.folded, self._words.spans, strict=True)
        opened = (span[0] for word, span in said if self._known.has_word(("joint",), word))
        self._clauses = sorted({*self._parts, *opened})

    def left(self, values: set[str]) -> str:
        """What stands before the secret and behind it; the words of the secret itself are added to ``values``."""
        value = self._words.within(self._spot.value, len(self._text))
        signs = _signs(self._known, value.folded)
        is_code = self._spot.end is not None or (signs > 0 and not self._goes_on(value, signs))
        end = self._spot.end or (value.spans[signs - 1][1] if is_code else self._spot.value)
        secret = self._words.within(self._spot.value, end if is_code else self._end(self._sentences, end))
        values.update(_telling(self._spoken, self._known, secret))
        pieces = (self._text[: self._first()], self._text[self._behind(end, is_code) :])
        return ", ".join(piece for piece in map(self._worth, pieces) if piece)

    def _goes_on(self, value: Tokens, signs: int) -> bool:
        """Whether a secret that begins like a code goes on in words: "(the password is) 4711 blue"."""
        if signs >= len(value.folded):
            return False
        end, behind = value.spans[signs - 1][1], value.spans[signs][0]
        return not any(end <= start <= behind for start in self._begun(end))

    def _first(self) -> int:
        """Where the clause begins that tells the secret, or as much of it as tells nothing else."""
        begun = max(start for start in self._parts if start <= self._spot.first)
        before = self._words.within(begun, self._spot.first)
        joint = self._last(before, "joint")
        if joint is not None and self._is_long(before.part(0, joint)):
            return before.spans[joint][0]
        thing = self._last(before, "determiner")
        if thing is None or thing < len(before.folded) - SUBJECT:
            return begun
        told, first = before.part(0, thing), before.spans[thing][0]
        # "remember for me (my pin ...)" is nothing by itself
        ends = self._is_long(told) and told.folded[-1] not in self._spoken.stop_words
        return first if ends and self._is_said(first) else begun

    def _is_said(self, first: int) -> bool:
        """Whether a verb stands between the begin of a secret's name and the secret: what is before has its own."""
        return self._known.has(self._words.within(first, self._spot.value), "secret_is")

    def _last(self, words: Tokens, name: str) -> int | None:
        """The number of the last word with which a phrase of a list begins."""
        places = (n for n in range(len(words.folded) - 1, -1, -1) if self._known.has_word((name,), words.folded[n]))
        return next(places, None)

    def _begun(self, end: int) -> list[int]:
        """Where clauses begin behind a code that ends at a place."""
        behind = self._words.within(end, len(self._text))
        opened = [span[0] for span in behind.spans[:1] if self._known.has_word(("subject",), behind.folded[0])]
        return [*opened, *(start for start in self._clauses if start >= end)]

    def _behind(self, end: int, is_code: bool) -> int:
        """Where something else begins behind the secret: behind a code with the next clause, else the next sentence."""
        begun = self._begun(end) if is_code else [start for start in self._sentences if start > end]
        for start in begun:
            piece = self._without_joint(self._words.within(start, self._end(self._clauses, self._past_joint(start))))
            # what has no small word may be strung together to a password
            small = not self._spoken.stop_words.isdisjoint(piece.folded) or self._has_verb(piece)
            if small and self._is_long(piece) and not self._has_digits(start, piece):
                return start
        return len(self._text)

    def _has_verb(self, piece: Tokens) -> bool:
        return any((word,) in self._verbs for word in piece.folded)

    @cached_property
    def _verbs(self) -> frozenset[tuple[str, ...]]:
        return frozenset(tuple(languages.fold(line)) for line in self._spoken.phrases("is_words.voc"))

    def _has_digits(self, start: int, piece: Tokens) -> bool:
        """Whether more digits are told from a place on, other secrets aside: "(and) ends in six six three"."""
        first = self._number(start)
        if not self._tells_another(start, len(self._words.folded) - first):
            return self._last_digits >= first
        return _digits_last(self._known, piece) >= 0

    def _tells_another(self, start: int, words: int) -> bool:
        """Whether another secret is told from a place on, of what many words are left there."""
        return start <= (self._last_found if words <= SAID else self._last_formed)

    @cached_property
    def _last_found(self) -> int:
        return max(one.first for one in self._found)

    @cached_property
    def _last_formed(self) -> int:
        return max((one.first for one in self._found if one.end is not None), default=-1)

    @cached_property
    def _last_digits(self) -> int:
        return _digits_last(self._known, self._words)

    def _number(self, start: int) -> int:
        """The number of the first word from a place on."""
        return bisect_left(self._words.spans, start, key=itemgetter(0))

    def _past_joint(self, start: int) -> int:
        """Where the clause begins behind what joins it to the one before."""
        first = self._number(start)
        first += self._known.starts_at(self._words.folded, first, "joint")
        return self._words.spans[first][0] if first < len(self._words.spans) else len(self._text)

    def _end(self, starts: list[int], place: int) -> int:
        """Where the next of these begins behind a place."""
        number = bisect_right(starts, place)
        return starts[number] if number < len(starts) else len(self._text)

    def _is_long(self, words: Tokens) -> bool:
        return len(self._without_joint(words).folded) >= LEAST

    def _without_joint(self, words: Tokens) -> Tokens:
        return words.part(self._known.starts(words, "joint"), len(words.folded))

    def _worth(self, piece: str) -> str:
        """A piece as it is kept, without what joined it to the secret; empty where too little is left of it."""
        words = self._without_joint(self._known.words_of(piece))
        while size := max(self._known.ends(words, "joint"), self._known.ends(words, "telling_that")):
            words = words.part(0, len(words.folded) - size)
        told = words.spelled.strip(_ENDS + " ")
        bare = self._known.words_of(self._spoken.without_lead(told))
        return told if len(bare.folded) >= LEAST else ""


def _signs(known: Lexicon, words: tuple[str, ...], first: int = 0) -> int:
    """How many words a code goes on for from a word on: digits, numbers, single letters, and which way each is
    turned."""
    place = first
    while place < len(words):
        word = words[place]
        names = (*_SIGNS, "turned") if place > first else _SIGNS
        size = max([known.starts_at(words, place, name) for name in names]) if known.has_word(names, word) else 0
        is_sign = size > 0 or len(word) == 1 or (not word.isalpha() and any(map(str.isdigit, word)))
        if not is_sign or known.has_word(("joint",), word):
            break
        place += max(size, 1)
    return place - first


def _digits_last(known: Lexicon, words: Tokens) -> int:
    """The number of the last word with which digits begin that may be a code or the rest of one; -1 for none."""
    last, place = -1, 0
    while place < len(words.folded):
        size = _signs(known, words.folded, place)
        if size > LOOSE:
            last = place + size - LOOSE - 1
        long = (n for n in range(place, place + size) if len(words.folded[n]) >= SHORTEST_CODE)
        last = max(last, *(n for n in long if words.folded[n].isdigit()), -1)
        place += max(size, 1)
    return last


def _telling(spoken: Language, known: Lexicon, secret: Tokens) -> Iterator[str]:
    """The words of a secret that give something away: no small words, and no number that anything may have."""
    numbers = known.opening("number") | known.opening("digit")
    for word in secret.folded:
        if word in spoken.stop_words or word in numbers:
            continue
        if not word.isdigit() or len(word) >= SHORTEST_CODE:
            yield word
