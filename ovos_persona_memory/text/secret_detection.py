"""Detection of secrets in a text: numbers of cards and accounts, passwords, PINs and keys."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ovos_persona_memory.errors import SecretRefused
from ovos_persona_memory.text import languages, lexicon
from ovos_persona_memory.text.languages import Language
from ovos_persona_memory.text.lexicon import Lexicon
from ovos_persona_memory.text.tokens import Tokens

_DIGIT = re.compile(r"\d")
_DIGITS = re.compile(r"\d(?:[ .\-]?\d){11,18}(?!\d)")
_IBAN = re.compile(r"\b[A-Za-z]{2}\d{2}(?:[ ]?[A-Za-z0-9]){11,30}\b")
_TOKEN = re.compile(r"\b(?:sk|pk|ghp|gho|xox[abp]|AKIA|AIza)[-_A-Za-z0-9]{12,}\b|-----BEGIN [A-Z ]*PRIVATE KEY-----")
_CARD_LENGTHS = range(13, 20)
_ISSUERS = "23456"
"""First digits of payment cards (ISO/IEC 7812-1): travel, banking and merchandising."""
_IBAN_LENGTHS = {
    **dict.fromkeys(("NO",), 15),
    **dict.fromkeys(("BE",), 16),
    **dict.fromkeys(("DK", "FI", "NL"), 18),
    **dict.fromkeys(("AT", "EE", "LT", "LU"), 20),
    **dict.fromkeys(("CH", "HR", "LI", "LV"), 21),
    **dict.fromkeys(("BG", "DE", "GB", "IE"), 22),
    **dict.fromkeys(("CZ", "ES", "RO", "SE", "SK"), 24),
    "PT": 25,
    **dict.fromkeys(("FR", "GR", "IT"), 27),
    **dict.fromkeys(("HU", "PL"), 28),
}
"""Characters of an IBAN by country (the IBAN registry of SWIFT)."""
NAMES = ("secret", "locked", "code")
"""Lists of words for secrets, and for what they open."""
SHORTEST_CODE = 3
"""Digits of a code at least: "my pin 4 1 9"."""
TWO = 2
"""Digits that a spoken number of ten or more adds to a code."""
WITHIN = 40
"""Words at most between the name of a secret and its value: beyond, a text speaks of something else."""
SOON = 8
"""Words at most from "code" to its first digit."""
COUNTED = 4
"""Numbers at least that somebody who counts tells."""
SAID = 30
"""Words at most of something said to an assistant: a longer text about passwords seldom holds one."""


@dataclass(frozen=True)
class Spot:
    """The span of a secret in a text, in characters."""

    first: int
    """Begin of its name, or of the secret itself where it has none."""
    value: int
    """Begin of the secret itself."""
    end: int | None = None
    """End of the secret; None where it is not known: the name was found, and the value follows."""


def contains_secret(text: str, lang: str | None) -> bool:
    """Whether a text holds a secret: by its form, or because it says that what follows is one."""
    spoken = languages.for_language(lang)
    known, words = lexicon.for_language(spoken.tag), languages.fold(text)
    return _has_number(known, text, words) or bool(_TOKEN.search(text)) or _names_secret(spoken, known, text, words)


def tells_secret(text: str, lang: str | None) -> bool:
    """Whether a turn holds a secret, so that it must not even be logged; of a long text only the request to remember
    counts."""
    spoken = languages.for_language(lang)
    known, words = lexicon.for_language(spoken.tag), languages.fold(text)
    if _has_number(known, text, words):
        return True
    if len(text.split()) > SAID and spoken.without_lead(text) == text:
        return False
    return bool(_TOKEN.search(text)) or _names_secret(spoken, known, text, words)


def speaks_of_secret(text: str, lang: str | None) -> bool:
    """Whether a text has a word for a secret, or for what a secret opens: "the wifi password", "my bike lock"."""
    known = lexicon.for_language(languages.for_language(lang).tag)
    words = known.words_of(text)
    return any(True for name in NAMES for _ in _phrases(known, words, name))


def spots(text: str, lang: str | None) -> list[Spot]:
    """The spans of the secrets in a text, in order; empty where it holds none. A secret may be found more than once."""
    spoken = languages.for_language(lang)
    known, folded = lexicon.for_language(spoken.tag), languages.fold(text)
    formed = [
        *(one for one in _DIGITS.finditer(text) if _is_card(one.group()) and not _counts(one.group())),
        *(one for one in _IBAN.finditer(text) if _is_iban(one.group())),
        *_TOKEN.finditer(text),
    ]
    found = [Spot(one.start(), one.start(), one.end()) for one in formed]
    words = known.words_of(text)
    if _is_card(_digits_said(known, folded)):
        first, last = _run_said(known, words.folded)
        found.append(Spot(words.spans[first][0], words.spans[first][0], words.spans[last - 1][1]))
    for name, value in _named(spoken, known, words):
        found.append(Spot(words.spans[name][0], words.spans[value][0]))
    return sorted(found, key=lambda one: (one.first, one.value))


def refuse_secret(text: str | None, lang: str | None) -> None:
    """Raise SecretRefused where a text holds a secret."""
    if text is not None and contains_secret(text, lang):
        raise SecretRefused()


def _has_number(known: Lexicon, text: str, words: Sequence[str]) -> bool:
    """Whether a text holds the number of a card or an account, in digits or spoken one by one."""
    if _DIGIT.search(text):
        if any(_is_card(found.group()) and not _counts(found.group()) for found in _DIGITS.finditer(text)):
            return True
        if any(_is_iban(found.group()) for found in _IBAN.finditer(text)):
            return True
    return _is_card(_digits_said(known, words))


def _names_secret(spoken: Language, known: Lexicon, text: str, folded: Sequence[str]) -> bool:
    """Whether a text states a password, a PIN or a key; false where it states only where it lies.

    The words are in the language's lists: one of "secret" followed by "secret_is" and a value, or by a value and a verb
    of "secret_closes", one of "locked" by a number, or either, or a "code", and soon a number; all may end in
    "suffixed".
    """
    if "suffixed" not in known.lists and all(known.opening(name).isdisjoint(folded) for name in NAMES):
        return False
    return any(True for _ in _named(spoken, known, known.words_of(text)))


def _named(spoken: Language, known: Lexicon, words: Tokens) -> Iterator[tuple[int, int]]:
    """Secrets that are named and stated: the numbers of the first word of the name, and of the first word of the
    value."""
    yield from _opens(known, words)
    yield from _codes(known, words)
    for place, size in _phrases(known, words, "secret"):
        end = place + size
        reach = min(end + WITHIN, len(words.folded))
        rest = words.part(end, reach)
        if _digits_first(rest, known) >= SHORTEST_CODE:
            yield place, end
        if not rest.folded or not known.has(rest, "secret_is"):
            continue
        if (last := _told_last(spoken, known, rest)) is not None:
            yield place, end + last
        value = end + _after(rest, known)
        told = words.part(value, reach)
        if told.folded and not known.starts(told, "preposition") and not known.starts(told, "no_secret"):
            yield place, value


def _told_last(spoken: Language, known: Lexicon, rest: Tokens) -> int | None:
    """The begin of a secret that stands before a verb which closes its clause: "dass das passwort (blau) ist"; None
    where there is none. A value that begins with a preposition is a description or a place."""
    closing = known.opening("secret_closes")
    behind = rest.folded
    last = next((n for n, word in enumerate(behind) if word in closing), 0)
    if not last or (last + 1 < len(behind) and not known.has_word(("joint",), behind[last + 1])):
        return None
    first = 0
    while first < last and known.starts_at(behind, first, "preposition"):
        first += known.starts_at(behind, first, "preposition")
        while first < last and known.has_word(("determiner",), behind[first]):
            first += 1
        first += 1
    told = rest.part(first, last)
    if not told.folded or known.starts(told, "no_secret") or not spoken.content_words(told.spelled):
        return None
    return None if spoken.is_question(rest.text) else first


def _opens(known: Lexicon, words: Tokens) -> Iterator[tuple[int, int]]:
    """As ``_named``, of what a secret opens: "the safe is four eight two", "opens with four eight two six"."""
    for place, size in _phrases(known, words, "locked"):
        end = place + size
        reach = min(end + WITHIN, len(words.folded))
        value = end + known.starts(words.part(end, reach), "secret_is")
        if _digits_first(words.part(value, reach), known) >= SHORTEST_CODE:
            yield place, value
        digits, value = _soon(known, words, end)
        if digits > SHORTEST_CODE:
            yield place, value


def _codes(known: Lexicon, words: Tokens) -> Iterator[tuple[int, int]]:
    """As ``_named``, of a code: "the code for the burglar alarm is one nine forty four"; a postcode is none."""
    harmless = known.opening("no_code")
    for place, size in (found for name in ("code", "secret") for found in known.places(words, name)):
        if not harmless.isdisjoint(words.folded[max(place - 1, 0) : place + size + 1]):
            continue
        digits, value = _soon(known, words, place + size)
        if digits >= SHORTEST_CODE:
            yield place, value
        elif (mixed := _soon_mixed(known, words, place + size)) is not None:
            yield place, mixed


def _soon_mixed(known: Lexicon, words: Tokens, end: int) -> int | None:
    """The number of the first word soon behind a position that is said to be the code, and is of letters and digits:
    "is sunflower22"; None where there is none."""
    for place in range(end + 1, min(end + 1 + SOON, len(words.folded))):
        word = words.folded[place]
        if not word.isalpha() and not word.isdigit() and any(map(str.isdigit, word)):
            return place if known.ends(words.part(end, place), "secret_is") else None
    return None


def _soon(known: Lexicon, words: Tokens, end: int) -> tuple[int, int]:
    """The longest run of digits soon behind a position: how many digits, and the number of its first word."""
    near = enumerate(words.folded[end : end + SOON], end)
    behind = [n for n, word in near if word in known.code_starts or word.isdigit()]
    reach = min(end + SOON + WITHIN, len(words.folded))
    said = ((_digits_first(words.part(first, reach), known), -first) for first in behind)
    digits, first = max(said, default=(0, -end))
    return digits, -first


def _digits_first(words: Tokens, known: Lexicon) -> int:
    """How many digits the words begin with, spoken one by one, two by two ("nineteen forty") or written; also where the
    direction in which each is turned is said."""
    digits, before = 0, ""
    first = known.starts(words, "key_sign")
    if known.has_word(("joint",), words.folded[first] if first < len(words.folded) else ""):
        return 0  # "e" joins two numbers, and begins none; folded, "é" is the same
    for word in words.folded[first:]:
        said = _digits_of(known, word, before)
        if said is None and digits and known.has_word(("turned",), word):
            continue
        if said is None:
            break
        digits, before = digits + said, word
    return digits


def _digits_of(known: Lexicon, word: str, before: str) -> int | None:
    """How many digits a word adds behind another; None where it is no number."""
    spoken, tens = known.opening("digit"), known.opening("number")
    if word.isdigit():
        return len(word)
    if word in spoken:
        return int(before in spoken or before not in tens)  # "eighty three" are two
    return TWO if word in tens else None


def _phrases(known: Lexicon, words: Tokens, name: str) -> Iterator[tuple[int, int]]:
    """The matches of a list's phrases, by the order of the list: number of the first word, and length in words."""
    joined, endings = f" {words.joined}", ("", *known.lists.get("suffixed", ()))
    for phrase in (f"{phrase}{ending}" for phrase in known.lists.get(name, ()) for ending in endings):
        start = place = 0
        while (at := joined.find(f" {phrase} ", start)) >= 0:
            place += joined.count(" ", start, at)
            yield place, phrase.count(" ") + 1
            start, place = at + 1, place + 1


def _after(rest: Tokens, known: Lexicon) -> int:
    """How many words to skip so that the value of the secret comes next."""
    marks = set(known.lists.get("secret_is", ()))
    return next((n + 1 for n, word in enumerate(rest.folded) if word in marks), len(rest.folded))


def _digits_said(known: Lexicon, words: Sequence[str]) -> str:
    """The longest run of single digits, spoken as words or written one by one."""
    if len(words) < _CARD_LENGTHS.start:
        return ""
    values = known.digits
    if values.keys().isdisjoint(words) and not any(map(str.isdigit, words)):
        return ""
    first, last = _run_said(known, words)
    return "".join(values.get(word, word) for word in words[first:last])


def _run_said(known: Lexicon, words: Sequence[str]) -> tuple[int, int]:
    """The numbers of the first word of the longest run of digits, and of the word behind it."""
    best, begun = (0, 0), 0
    for place, word in enumerate(words):
        if word not in known.digits and not (len(word) == 1 and word.isdigit()):
            begun = place + 1
        elif place + 1 - begun > best[1] - best[0]:
            best = (begun, place + 1)
    return best


def _is_card(text: str) -> bool:
    """Luhn's check (ISO/IEC 7812-1, annex B) on the digits of a text."""
    digits = [int(sign) for sign in text if sign.isdigit()]
    if len(digits) not in _CARD_LENGTHS or str(digits[0]) not in _ISSUERS or len(set(digits)) == 1:
        return False
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _counts(text: str) -> bool:
    """Whether numbers in digits are told one after the other in equal steps: somebody counts, and tells no secret."""
    told = re.findall(r"\d+", text)
    cycle = 10 if all(len(one) == 1 for one in told) else 0  # "8 9 0 1"
    steps = {(int(b) - int(a)) % cycle if cycle else int(b) - int(a) for a, b in pairwise(told)}
    return len(told) >= COUNTED and len(steps) == 1 and 0 not in steps


def _is_iban(text: str) -> bool:
    """The check digits of ISO 13616, on as many characters as the country has: the number modulo 97 is 1."""
    bare = re.sub(r"\s", "", text).upper()
    length = _IBAN_LENGTHS.get(bare[:2], 0)
    return 0 < length <= len(bare) and _checks(bare[:length])


def _checks(bare: str) -> bool:
    return int("".join(str(int(sign, 36)) for sign in bare[4:] + bare[:4])) % 97 == 1
