"""From a text to index terms: folding, stems, and character bigrams where a script has no blanks."""

from __future__ import annotations

import importlib
import re
import string
import sys
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from importlib.metadata import version
from importlib.util import find_spec, module_from_spec, spec_from_loader
from typing import Any

from ovos_persona_memory.text.stemming import FIRST_FORM, quick

RULES = 3
"""Raise this when the same text gives other index terms than before: stores then rebuild theirs."""

STEMMERS = {
    "ca": "catalan",
    "da": "danish",
    "de": "german",
    "en": "english",
    "es": "spanish",
    "eu": "basque",
    "fi": "finnish",
    "fr": "french",
    "gl": "portuguese",
    "hu": "hungarian",
    "it": "italian",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "tr": "turkish",
}
"""Snowball's algorithms by primary language tag (snowballstem.org)."""

# Han, kana, Thai, Lao, Burmese, Khmer: written without blanks between words
_UNSPACED = (
    "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
    "\u3041-\u3096\u30a1-\u30ff\u31f0-\u31ff\u0e01-\u0e4e\u0e81-\u0ecd\u1000-\u103e\u1780-\u17d3"
)
_HANGUL = "\uac00-\ud7a3"
_PIECE = re.compile(rf"([{_UNSPACED}]+|[{_HANGUL}]+)|([^\W_{_UNSPACED}{_HANGUL}]+)")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_PAIRED, _WORD = re.compile(f"[{_UNSPACED}{_HANGUL}]"), re.compile(r"[^\W_]+")
_KEPT_MARKS = re.compile("[\u0e00-\u0eff\u1000-\u103f\u1780-\u17d3\u3099\u309a]")
_LIGATURES = {"œ": "oe", "æ": "ae"}
_MAX_WORD = 64


def plain(text: str) -> str:
    """The text without case and accents; marks that make another letter (й, が, Thai vowels) stay."""
    low = text.casefold()
    if low.isascii():
        return low
    # the middle dot of Catalan l·l joins two letters of one word
    apart = unicodedata.normalize("NFKD", low).replace("и\u0306", "й").replace("l·l", "ll")
    gone = {c: "" for c in set(apart) if unicodedata.combining(c) and not _KEPT_MARKS.match(c)}
    for letter, other in {**_LIGATURES, **gone}.items():
        apart = apart.replace(letter, other)
    return unicodedata.normalize("NFC", apart)


def pieces(text: str) -> list[tuple[str, bool]]:
    """The words of a folded text in order, each with whether it is a run of characters to be split into bigrams."""
    if not _PAIRED.search(text):
        return [(word, False) for word in _WORD.findall(text)]
    return [(piece[0], piece[1] is not None) for piece in _PIECE.finditer(text)]


def fold(text: str) -> list[str]:
    """The text's words without case and accents, in order; a word ends after 64 characters.

    Where a script has no blanks, or glues endings to its words (Korean), character bigrams are the words.
    """
    bare = _bare(text)
    if bare is not None:
        return [*bare]
    low = plain(text)
    return [word for piece, paired in pieces(low) for word in (pairs(piece) if paired else [piece[:_MAX_WORD]])]


@lru_cache(maxsize=64)
def _bare(text: str) -> tuple[str, ...] | None:
    """The words of a text without case and accents; None where it has bigrams. Cached: recall folds a turn again and
    again."""
    low = plain(text)
    if _PAIRED.search(low):
        return None
    found = _WORD.findall(low)
    return tuple(found if len(low) <= _MAX_WORD else [word[:_MAX_WORD] for word in found])


def pairs(run: str) -> list[str]:
    """The character bigrams of a run; a single character is itself."""
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def document_terms(text: str, primary: str) -> list[str]:
    """The index terms of a text in the language with this primary tag, in order.

    A run of Han characters gives its single characters too: a question may consist of one alone.
    """
    bare = _bare(text)
    if bare is not None:
        algorithm = STEMMERS.get(primary, "")
        return [_stem(algorithm, word) for word in bare]
    low = plain(text)
    return [word for piece, paired in pieces(low) for word in _words_of(piece, paired, primary, _HAN.findall)]


def first_terms(folded: Sequence[str], primary: str) -> list[str]:
    """The first index term of each folded word; the word itself where it has none."""
    algorithm = STEMMERS.get(primary, "")
    return [
        next(iter(document_terms(word, primary)), word) if _PAIRED.search(word) else _stem(algorithm, word)
        for word in folded
    ]


def query_terms(text: str, primary: str) -> list[str]:
    """The index terms to look for, in order: as ``document_terms``, but single characters only where one stands
    alone."""
    return [word for piece, paired in pieces(plain(text)) for word in _words_of(piece, paired, primary)]


def _words_of(piece: str, paired: bool, primary: str, singles: Callable[[str], list[str]] = lambda _: []) -> list[str]:
    if not paired:
        return [_stem(STEMMERS.get(primary, ""), piece[:_MAX_WORD])]
    return pairs(piece) + (singles(piece) if len(piece) > 1 else [])


_SCRIPTS = (
    (re.compile(r"[\u3041-\u3096\u30a1-\u30fa]"), "ja", frozenset({"ja"})),
    (re.compile(rf"[{_HANGUL}]"), "ko", frozenset({"ko"})),
    (re.compile(r"[\u0e01-\u0e4e]"), "th", frozenset({"th"})),
    (re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]"), "zh", frozenset({"zh", "ja", "yue"})),
    (re.compile(r"[\u0430-\u044f]"), "ru", frozenset({"ru", "uk", "be", "bg", "sr", "mk", "kk", "ky", "mn", "tg"})),
)
"""Letters of a script, the language that they indicate, and the languages that are written with them too."""


@lru_cache(maxsize=2048)
def language_of_script(text: str, primary: str) -> str | None:
    """The language that a text's script indicates; None where the text may be in the language with this primary tag."""
    if text.isascii():
        return None
    letters = sum(map(str.isalpha, text))
    for script, language, others in _SCRIPTS:
        if 2 * len(script.findall(text.casefold())) >= letters:
            return None if primary in others else language
    return None


@cache
def rules() -> str:
    """The identity of the rules that make index terms: a store keeps it to notice a change."""
    return f"{RULES}, snowballstemmer {version('snowballstemmer')}"


def forget_texts() -> None:
    """Clear every cached text and word."""
    language_of_script.cache_clear()
    _bare.cache_clear()
    _stem.cache_clear()


@lru_cache(maxsize=65536)
def _stem(algorithm: str, word: str) -> str:
    if not algorithm or not word.strip(string.digits):
        return word
    first = FIRST_FORM.get(algorithm, {}).get(word, word)
    return str(_stemmer(algorithm).stemWord(first))


@cache
def _stemmer(algorithm: str) -> Any:
    """The stemmer of one language: PyStemmer's, which takes a tenth of the time, where it is installed."""
    return _compiled(algorithm) if _has_compiled() else _interpreted(algorithm)


@cache
def _has_compiled() -> bool:
    """Whether PyStemmer is installed in the same release of Snowball: another release may stem otherwise."""
    return find_spec("Stemmer") is not None and _release("PyStemmer") == _release("snowballstemmer")


def _release(package: str) -> list[str]:
    return version(package).split(".")[:2]


def _compiled(algorithm: str) -> Any:
    made = importlib.import_module("Stemmer").Stemmer(algorithm)
    made.maxCacheSize = 0  # its cache would keep forgotten words
    return made


def _interpreted(algorithm: str) -> Any:
    """The stemmer of snowballstemmer; importing the package itself would import every language (0.15 s)."""
    name = f"{algorithm}_stemmer"
    module = importlib.import_module(f"{_snowball()}.{name}")
    return quick(getattr(module, "".join(part.capitalize() for part in name.split("_"))))()


@cache
def _snowball() -> str:
    """A package of the same files as snowballstemmer whose own ``__init__`` is not run."""
    spec = find_spec("snowballstemmer")
    if spec is None or spec.submodule_search_locations is None:
        raise ImportError("snowballstemmer is not installed")
    name = f"{__name__}.snowball"
    made = spec_from_loader(name, None, is_package=True)
    assert made is not None
    made.submodule_search_locations = list(spec.submodule_search_locations)
    sys.modules[name] = module_from_spec(made)
    return name
