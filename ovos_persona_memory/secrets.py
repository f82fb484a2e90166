"""What is never kept as a fact: numbers of cards and accounts, passwords, PINs and keys."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from ovos_persona_memory import language, wordlists
from ovos_persona_memory.errors import SecretRefused
from ovos_persona_memory.template import Words
from ovos_persona_memory.wordlists import WordLists

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
SHORTEST_CODE = 3
"""Digits of a code at least: "my pin 4 1 9"."""
TWO = 2
"""Digits of a number from ten on, as it is said in a code."""
SOON = 8
"""Words at most from "code" to its first digit."""
SAID = 30
"""Words at most of something said to an assistant: a longer text that speaks of passwords seldom tells one."""


def is_secret(text: str, lang: str | None) -> bool:
    """Whether a text holds a secret: by its form, or because it says that what follows is one."""
    known, words = wordlists.of(language.of(lang).tag), language.fold(text)
    return _has_number(known, text, words) or bool(_TOKEN.search(text)) or _names_secret(known, text, words)


def tells_secret(text: str, lang: str | None) -> bool:
    """Whether a turn holds a secret, so that its words are not even logged."""
    known, words = wordlists.of(language.of(lang).tag), language.fold(text)
    if _has_number(known, text, words):
        return True
    return len(text.split()) <= SAID and (bool(_TOKEN.search(text)) or _names_secret(known, text, words))


def refuse_secret(text: str | None, lang: str | None) -> None:
    """Raise SecretRefused where a text holds a secret."""
    if text is not None and is_secret(text, lang):
        raise SecretRefused()


def _has_number(known: WordLists, text: str, words: Sequence[str]) -> bool:
    """Whether a text holds the number of a card or an account, in digits or spoken one by one."""
    if _DIGIT.search(text):
        if any(_is_card(found.group()) for found in _DIGITS.finditer(text)):
            return True
        if any(_is_iban(found.group()) for found in _IBAN.finditer(text)):
            return True
    return _is_card(_digits_said(known, words))


def _names_secret(known: WordLists, text: str, folded: Sequence[str]) -> bool:
    """Whether a text says what a password, a PIN or a key is; not where it says only where it lies.

    The words are in the language's templates: <secret> followed by <secret_is> and something, <locked> by a number, or
    either, or a <code>, and soon a number.
    """
    if all(known.opening(name).isdisjoint(folded) for name in ("secret", "locked", "code")):
        return False
    words = known.words_of(text)
    return _opens(known, words) or _is_code(known, words) or _is_said(known, words)


def _is_said(known: WordLists, words: Words) -> bool:
    """Whether words say what a secret is: "my password is hunter two", "the pin four one nine"."""
    held, marks = words.folded, set(known.lists.get("secret_is", ()))
    last = max((place for place, _ in known.places(words, "secret_is")), default=-1)
    behind = [number + 1 for number, word in enumerate(held) if word in marks]
    for place, size in known.places(words, "secret"):
        end = place + size
        if _digits_first(known, held, end) >= SHORTEST_CODE:
            return True
        number = bisect_right(behind, end)
        told = behind[number] if last >= end and number < len(behind) else len(held)
        if told < len(held) and not (
            known.starts_at(held, told, "preposition") or known.starts_at(held, told, "no_secret")
        ):
            return True
    return False


def _opens(known: WordLists, words: Words) -> bool:
    """Whether words say what opens something: "the safe is four eight two", "opens with four eight two six"."""
    held = words.folded
    for end in (place + size for place, size in known.places(words, "locked")):
        told = end + known.starts_at(held, end, "secret_is")
        if _digits_first(known, held, told) >= SHORTEST_CODE or _soon(known, held, end) > SHORTEST_CODE:
            return True
    return False


def _is_code(known: WordLists, words: Words) -> bool:
    """Whether words tell a code: "the code for the burglar alarm is one nine forty four"; a postcode is none."""
    harmless = known.opening("no_code")
    for place, size in (found for name in ("code", "secret") for found in known.places(words, name)):
        if not harmless.isdisjoint(words.folded[max(place - 1, 0) : place + size + 1]):
            continue
        if _soon(known, words.folded, place + size) >= SHORTEST_CODE:
            return True
    return False


def _soon(known: WordLists, held: tuple[str, ...], end: int) -> int:
    """How many digits are said in one go soon behind a place, at most."""
    return max((_digits_first(known, held, first) for first in range(end, min(end + SOON, len(held)))), default=0)


def _digits_first(known: WordLists, held: tuple[str, ...], first: int) -> int:
    """How many digits stand at a place, spoken one by one, two by two ("nineteen forty") or written; also where it is
    said which way each is turned."""
    digits, before = 0, ""
    for place in range(first + known.starts_at(held, first, "key_sign"), len(held)):
        word = held[place]
        said = _digits_of(known, word, before)
        if said is None and digits and known.has_word(("turned",), word):
            continue
        if said is None:
            break
        digits, before = digits + said, word
    return digits


def _digits_of(known: WordLists, word: str, before: str) -> int | None:
    """How many digits a word adds behind another; None where it is no number."""
    spoken, tens = known.opening("digit"), known.opening("number")
    if word.isdigit():
        return len(word)
    if word in spoken:
        return int(before in spoken or before not in tens)  # "eighty three" are two
    return TWO if word in tens else None


def _digits_said(known: WordLists, words: Sequence[str]) -> str:
    """The longest run of single digits, spoken as words or written one by one."""
    if len(words) < _CARD_LENGTHS.start:
        return ""
    values = known.digits
    if values.keys().isdisjoint(words) and not any(map(str.isdigit, words)):
        return ""
    best, run = "", ""
    for word in words:
        digit = values.get(word) or (word if len(word) == 1 and word.isdigit() else "")
        run = run + digit if digit else ""
        best = max(best, run, key=len)
    return best


def _is_card(text: str) -> bool:
    """Luhn's check (ISO/IEC 7812-1, annex B) on the digits of a text."""
    digits = [int(sign) for sign in text if sign.isdigit()]
    if len(digits) not in _CARD_LENGTHS or str(digits[0]) not in _ISSUERS or len(set(digits)) == 1:
        return False
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _is_iban(text: str) -> bool:
    """The check digits of ISO 13616, on as many characters as the country has: the number modulo 97 is 1."""
    bare = re.sub(r"\s", "", text).upper()
    length = _IBAN_LENGTHS.get(bare[:2], 0)
    return 0 < length <= len(bare) and _checks(bare[:length])


def _checks(bare: str) -> bool:
    return int("".join(str(int(sign, 36)) for sign in bare[4:] + bare[:4])) % 97 == 1
