"""What is never kept as a fact: numbers of cards and accounts, passwords, PINs and keys."""

from __future__ import annotations

import re

from ovos_persona_memory import language, templates

_DIGITS = re.compile(r"\d(?:[ .\-]?\d){11,18}(?!\d)")
_IBAN = re.compile(r"\b[A-Za-z]{2}\d{2}(?:[ ]?[A-Za-z0-9]){11,30}\b")
_TOKEN = re.compile(r"\b(?:sk|pk|ghp|gho|xox[abp]|AKIA|AIza)[-_A-Za-z0-9]{12,}\b|-----BEGIN [A-Z ]*PRIVATE KEY-----")
_CARD_LENGTHS = range(12, 20)


def is_secret(text: str, lang: str | None) -> bool:
    """Whether a text holds a secret: by its form, or because it says that what follows is one."""
    return has_number(text, lang) or bool(_TOKEN.search(text)) or names_secret(text, lang)


def has_number(text: str, lang: str | None) -> bool:
    """Whether a text holds the number of a card or an account, in digits or spoken one by one."""
    spoken = _digits_said(text, lang)
    cards = any(_is_card(found.group()) for found in _DIGITS.finditer(text)) or _is_card(spoken)
    return cards or any(_is_iban(found.group()) for found in _IBAN.finditer(text))


def names_secret(text: str, lang: str | None) -> bool:
    """Whether a text says what a password, a PIN or a key is; not where it says only where it lies.

    The words are in the language's templates: <secret> followed by <is> and something.
    """
    known = templates.of(language.of(lang).tag)
    words = known.words_of(text)
    for secret in known.lists.get("secret", ()):
        for place in _places(words.joined, secret):
            rest = words.part(place, len(words.folded))
            if not rest.folded or not known.has(rest, "secret_is"):
                continue
            told = words.part(place + _after(rest, known), len(words.folded))
            if told.folded and not known.starts(told, "preposition") and not known.starts(told, "no_secret"):
                return True
    return False


def _places(joined: str, phrase: str) -> list[int]:
    """The numbers of the words behind each place where the phrase stands."""
    padded, found, start = f" {joined}", [], 0
    while (at := padded.find(f" {phrase} ", start)) >= 0:
        found.append(padded.count(" ", 0, at) + phrase.count(" ") + 1)
        start = at + 1
    return found


def _after(rest: templates.Words, known: templates.Templates) -> int:
    """How many words to skip so that what is told of the secret comes next."""
    marks = set(known.lists.get("secret_is", ()))
    return next((n + 1 for n, word in enumerate(rest.folded) if word in marks), len(rest.folded))


def _digits_said(text: str, lang: str | None) -> str:
    """The longest run of single digits, spoken as words or written apart."""
    digits = templates.of(language.of(lang).tag).lists.get("digit", ())
    values = {word: str(n % 10) for n, word in enumerate(digits)}
    best, run = "", ""
    for word in language.fold(text):
        digit = values.get(word) or (word if word.isdigit() else "")
        run = run + digit if digit else ""
        best = max(best, run, key=len)
    return best


def _is_card(text: str) -> bool:
    """Luhn's check (ISO/IEC 7812-1, annex B) on the digits of a text."""
    digits = [int(sign) for sign in text if sign.isdigit()]
    if len(digits) not in _CARD_LENGTHS or len(set(digits)) == 1:
        return False
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _is_iban(text: str) -> bool:
    """The check digits of ISO 13616: the number modulo 97 is 1."""
    bare = re.sub(r"\s", "", text).upper()
    return any(_checks(bare[:length]) for length in range(15, min(len(bare), 34) + 1))


def _checks(bare: str) -> bool:
    return int("".join(str(int(sign, 36)) for sign in bare[4:] + bare[:4])) % 97 == 1
