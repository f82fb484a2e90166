"""What each shipped language brings: words, stems, stop words, question forms and sentences."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cache, cached_property, lru_cache
from pathlib import Path

import snowballstemmer

FALLBACK = "en-US"
"""The language whose sentences are spoken where the asked-for one is not shipped."""

STEMMERS = {
    "ca": "catalan",
    "da": "danish",
    "de": "german",
    "en": "english",
    "es": "spanish",
    "eu": "basque",
    "fi": "finnish",
    "fr": "french",
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

_WORD = re.compile(r"[^\W_]+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_MAX_WORD = 64


def locale_folder() -> Path:
    """The folder with one folder a language: inside an installed package, else beside it in a checkout."""
    package = Path(__file__).parent
    inside = package / "locale"
    return inside if inside.is_dir() else package.parent / "locale"


def shipped() -> list[str]:
    """The tags of the shipped languages, sorted."""
    return sorted(folder.name for folder in locale_folder().iterdir() if (folder / "first_start.dialog").is_file())


def fold(text: str) -> list[str]:
    """The text's words without case and accents, in order; a word ends after 64 characters."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(c for c in plain if not unicodedata.combining(c)) if not plain.isascii() else plain
    return [word[:_MAX_WORD] for word in _WORD.findall(bare)]


@lru_cache(maxsize=32)
def of(tag: str | None) -> Language:
    """The language with this BCP-47 tag, else the shipped one nearest to it, else one without word lists."""
    tag = tag or FALLBACK
    primary = tag.split("-")[0].lower()
    tags = shipped()
    exact = [t for t in tags if t.lower() == tag.lower()]
    near = [t for t in tags if t.split("-")[0].lower() == primary]
    return Language((exact or near or [tag])[0])


@dataclass(frozen=True)
class Language:
    """One language: its word lists and sentences, read once from its locale folder."""

    tag: str

    def words(self, text: str) -> list[str]:
        """The text as index words: folded and stemmed, in order."""
        return [self._stem(word) for word in fold(text)]

    def content_words(self, text: str) -> list[str]:
        """Index words of a question without its stop words, each once, in order; all of them if none is left."""
        folded = fold(text)
        kept = [word for word in folded if word not in self.stop_words]
        return list(dict.fromkeys(self._stem(word) for word in kept or folded))

    def is_question(self, text: str) -> bool:
        """Whether the text asks something, going by its mark and by its first words."""
        return _form(self, text) == "question"

    def is_statement(self, text: str) -> bool:
        """Whether the text tells something: no question, no command, no small talk, and over two words."""
        return _form(self, text) == "statement"

    def only_asks(self, text: str) -> bool:
        """Whether every sentence of the text is a question; written turns often tell something first."""
        return all(self.is_question(sentence) for sentence in _SENTENCE.split(text.strip()))

    def form(self, text: str) -> str:
        """question, statement, or other: a command, small talk, a word or two."""
        words = fold(text)
        joined = " ".join(words) + " "
        if text.rstrip().endswith(("?", "？", "؟")) or joined.startswith(self._question_starts):
            return "question"
        if self.without_lead(text) != text:
            return "statement"
        return "other" if len(words) <= 2 or joined.startswith(self._tells_nothing) else "statement"

    def without_lead(self, text: str) -> str:
        """The text without a leading "remember that" or its like."""
        low = text.casefold()
        for lead in self._leads:
            if low.startswith(lead + " "):
                return text[len(lead) + 1 :].strip()
        return text

    def alike(self, word: str) -> frozenset[str]:
        """The index words that answer for this one: itself and what the language lists beside it."""
        return self._alike.get(word, frozenset()) | {word}

    def asks_for(self, question: str) -> frozenset[str] | None:
        """Index words of which an answer to the question needs one ("where": in, at, on); None if none."""
        words = fold(question)
        for asked, needed in self._needs.items():
            if f" {asked} " in f" {' '.join(words)} ":
                return needed
        return None

    def has_phrase(self, name: str, text: str) -> bool:
        """Whether the text has one of the phrases of a list."""
        words = f" {' '.join(fold(text))} "
        return any(f" {phrase} " in words for phrase in self._phrases(name))

    @lru_cache(maxsize=64)  # noqa: B019 - there is one object a language
    def _phrases(self, name: str) -> tuple[str, ...]:
        return tuple(" ".join(fold(line)) for line in self._lines(name))

    @cached_property
    def time_words(self) -> frozenset[str]:
        """Index words that tell of a time."""
        return frozenset(self._stem(word) for line in self._lines("time_words.list") for word in fold(line))

    def months(self) -> dict[str, int]:
        """Folded names of the months, and their first three letters, to 1 to 12."""
        names = [" ".join(fold(line)) for line in self._lines("months.list")]
        return {short: number for number, name in enumerate(names, 1) for short in (name, name[:3])}

    def say(self, dialog: str, **slots: str) -> str:
        """The first sentence of a dialog with its slots filled; English where this language has none."""
        lines = self._lines(f"{dialog}.dialog") or of(FALLBACK)._lines(f"{dialog}.dialog")
        return lines[0].format_map(slots)

    def sentences(self, dialog: str) -> tuple[str, ...]:
        """Every wording of a dialog, slots not filled."""
        return self._lines(f"{dialog}.dialog")

    def when(self, said: datetime, now: datetime) -> str:
        """When something was said, in words: "today", "yesterday", "3 days ago", "on 4 May 2026"."""
        days = (now.date() - said.date()).days
        if days <= 0:
            return self.say("today")
        if days == 1:
            return self.say("yesterday")
        if days < 7:
            return self.say("days_ago", days=str(days))
        months = self._lines("months.list") or of(FALLBACK)._lines("months.list")
        return self.say("on_date", day=str(said.day), month=months[said.month - 1], year=str(said.year))

    @cached_property
    def stop_words(self) -> frozenset[str]:
        """Folded words that a question is searched without."""
        return frozenset(word for line in self._lines("stop_words.list") for word in fold(line))

    @cached_property
    def _question_starts(self) -> tuple[str, ...]:
        return tuple(" ".join(fold(line)) + " " for line in self._lines("question_start.list"))

    @cached_property
    def _tells_nothing(self) -> tuple[str, ...]:
        lines = self._lines("command_start.list") + self._lines("small_talk.list")
        return tuple(" ".join(fold(line)) + " " for line in lines)

    @cached_property
    def _leads(self) -> tuple[str, ...]:
        return tuple(sorted((line.casefold() for line in self._lines("remember_that.list")), key=len, reverse=True))

    @cached_property
    def _alike(self) -> dict[str, frozenset[str]]:
        return {
            self._stem(word): frozenset(self._stem(other) for other in others)
            for words, others in self._pairs("alike.list")
            for word in words
        }

    @cached_property
    def _needs(self) -> dict[str, frozenset[str]]:
        return {
            " ".join(fold(asked)): frozenset(self._stem(word) for word in needed)
            for asked, needed in self._raw_pairs("answer_words.list")
        }

    def _pairs(self, name: str) -> Iterator[tuple[list[str], list[str]]]:
        for left, right in self._raw_pairs(name):
            yield fold(left), right

    def _raw_pairs(self, name: str) -> Iterator[tuple[str, list[str]]]:
        for line in self._lines(name):
            left, _, right = line.partition(":")
            yield left, fold(right)

    def _stem(self, word: str) -> str:
        return _stem(STEMMERS.get(self.tag.split("-")[0].lower(), ""), word)

    def _lines(self, name: str) -> tuple[str, ...]:
        return _read(self.tag, name)


@lru_cache(maxsize=2048)
def _form(spoken: Language, text: str) -> str:
    return spoken.form(text)


@lru_cache(maxsize=512)
def _read(tag: str, name: str) -> tuple[str, ...]:
    path = locale_folder() / tag / name
    if not path.is_file():
        return ()
    lines = path.read_text(encoding="utf-8").splitlines()
    return tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))


@cache
def _stemmer(algorithm: str) -> snowballstemmer.stemmer:
    return snowballstemmer.stemmer(algorithm)


@lru_cache(maxsize=65536)
def _stem(algorithm: str, word: str) -> str:
    if not algorithm or not word.strip(string.digits):
        return word
    return str(_stemmer(algorithm).stemWord(word))
