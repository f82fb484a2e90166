"""Language resources: stop words, question forms, synonyms and, where shipped, spoken sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, cached_property, lru_cache
from pathlib import Path

from ovos_persona_memory.text import caching, index_terms
from ovos_persona_memory.text.caching import NotedResults as NotedResults
from ovos_persona_memory.text.caching import computed_once as computed_once
from ovos_persona_memory.text.caching import lru_cached as lru_cached
from ovos_persona_memory.text.index_terms import fold as fold
from ovos_persona_memory.text.index_terms import pieces, plain

FALLBACK = "en-US"
"""The language whose sentences are spoken where the requested language is not shipped."""

UNDERSTOOD_WORDS, UNDERSTOOD_CHARACTERS = 200, 1600
"""The words and characters from its beginning that are analysed of a text: speech is not longer, and analysis costs
more than linear time (docs/facts.md, "How much of a text is understood")."""
SENTENCE_WORDS = 100
"""Words at most of one sentence: a longer text has no full stops."""
_LONGEST_WORD = 64

_STOP = re.compile(r"[.!?;\n…。！？]")
LAST_BEGUN = 16
"""Texts whose beginnings are cached."""
LAST_HITS = 256
"""Texts of which is cached whether they only ask: recall wants to know it of each hit several times."""
LAST_FORMED = 2048
"""Words whose index terms in every language are cached: 16 languages are stemmed for each."""

SHORTEST = 4
"""Letters at least of a stem that stands for a word of another language."""

_UNSPACED = frozenset({"zh", "ja", "th", "lo", "my", "km", "yue"})
_GLUED = _UNSPACED | {"ko"}
_KOREAN_ENDING = re.compile(
    "(?<=..)(?:에서는|에서|에게|한테|으로|까지|부터|이랑|은|는|이|가|을|를|에|의|와|과|도|로|만)$"
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_MARKS = ("?", "？", "؟")
_DOTTED = frozenset({"da", "de"})  # the day of a month has a dot behind it there
Shown = Callable[[int], str]


def locale_folder() -> Path:
    """The folder with one folder for each language: inside an installed package, else beside it in a checkout."""
    package = Path(__file__).parent.parent
    inside = package / "locale"
    return inside if inside.is_dir() else package.parent / "locale"


@cache
def known() -> list[str]:
    """The tags of the languages with word lists, sorted."""
    return sorted(folder.name for folder in locale_folder().iterdir() if (folder / "stop_words.list").is_file())


@cache
def shipped() -> list[str]:
    """The tags of the languages that also have spoken sentences, sorted."""
    return [tag for tag in known() if (locale_folder() / tag / "first_start.dialog").is_file()]


def sentences_of(text: str) -> list[str]:
    """The sentences of a text, split at its punctuation marks."""
    return [part for part in _SENTENCE.split(text.strip()) if part.strip()]


SPELLED = re.compile(r"[^\W_]+")
"""A token as it is spelled."""


@lru_cache(maxsize=16)  # one turn is analysed several times
def spelled(text: str) -> tuple[tuple[str, ...], tuple[tuple[int, int], ...]]:
    """The folded tokens of a text, with the span of each."""
    folded: list[str] = []
    spans: list[tuple[int, int]] = []
    for found in SPELLED.finditer(text):
        word = found.group()
        word = word.lower() if word.isascii() else "".join(fold(word))
        if word:
            folded.append(word)
            spans.append(found.span())
    return tuple(folded), tuple(spans)


def beginning(text: str) -> str:
    """The part of a text that is analysed, up to the end of a word; the text itself where it is no longer.

    What follows is kept and indexed like everything else; nothing is learned from it, and it decides nothing.
    """
    return text if len(text) < 2 * SENTENCE_WORDS else _beginning(text)  # quick exit for most texts: no word is shorter


def _begin(text: str) -> str:
    end = min(len(text), UNDERSTOOD_CHARACTERS)
    if end < len(text) and not text[end].isspace():
        end = max((text.rfind(blank, end - _LONGEST_WORD, end) for blank in " \n"), default=-1) + 1 or end
    of_all, of_sentence, before = 0, 0, 0
    for word in SPELLED.finditer(text, 0, end):
        of_sentence = 1 if _STOP.search(text, before, word.start()) else of_sentence + 1
        of_all, before = of_all + 1, word.end()
        if of_all > UNDERSTOOD_WORDS or of_sentence > SENTENCE_WORDS:
            return text[: word.start()].rstrip()
    return text if end == len(text) else text[:end].rstrip()


_beginning = caching.lru_cached(_begin, LAST_BEGUN)


def forget_texts() -> None:
    """Clear every cached text and word."""
    caching.clear_caches()
    _form.cache_clear()
    spelled.cache_clear()
    index_terms.forget_texts()


@lru_cache(maxsize=64)
def for_language(tag: str | None) -> Language:
    """The language with this BCP-47 tag, else the nearest known one, else one without word lists."""
    tag = tag or FALLBACK
    primary = _primary(tag)
    exact = [t for t in known() if t.lower() == tag.lower()]
    near = [t for t in (*shipped(), *known()) if _primary(t) == primary]
    return Language((exact or near or [tag])[0])


def for_text(tag: str | None, text: str) -> Language:
    """The language of a text with this language tag, unless its script indicates another."""
    return for_language(index_terms.language_of_script(text, _primary(tag or FALLBACK)) or tag)


def forms(word: str, spoken: Language, tags: Iterable[str]) -> frozenset[str]:
    """The index terms of a folded word: in its own language, and in the others in which indexed texts may be.

    A short stem that takes off more than a letter, and a stop word, is left out: the German stem of "notes" is "not".
    """
    return _forms((word, spoken, tuple(tags)))


def _formed(asked: tuple[str, Language, tuple[str, ...]]) -> frozenset[str]:
    word, spoken, tags = asked
    own = index_terms.query_terms(word, spoken.primary)
    shortest = min(SHORTEST, max(len(word) - 1, SHORTEST - 1))
    others = {
        form
        for tag in tags
        for form in index_terms.query_terms(word, for_language(tag).primary)
        if len(form) >= shortest
    }
    return frozenset({*own, *(others - spoken.stop_words)})


_forms = caching.lru_cached(_formed, LAST_FORMED)


def query_word_groups(query: str, lang: str | None) -> tuple[frozenset[str], ...]:
    """The content words of a query, each as every index term under which a text of a known language may hold it."""
    asked = for_text(lang, query)
    return tuple(forms(word, asked, known()) for word in asked.bare_words(query))


def statement_word_groups(text: str, lang: str | None) -> tuple[frozenset[str], ...]:
    """As ``query_word_groups``, of a statement to remember, without a leading "remember that"."""
    return query_word_groups(for_language(lang).without_lead(text), lang)


def statement_words(text: str, lang: str | None) -> frozenset[str]:
    """The content words of a statement as they are said, folded: those of ``statement_word_groups``."""
    said = for_language(lang).without_lead(text)
    return frozenset(for_text(lang, said).bare_words(said))


_CHOICE = re.compile(r"(?<=[(\[])[^()\[\]]+(?=[)\]])")


def _wordings(line: str, gap: str) -> str:
    """A list line with "(one|other)" and "[perhaps]" as a regular expression, a gap behind each of its words."""
    ordered = _CHOICE.sub(lambda one: "|".join(sorted(one[0].split("|"), key=len, reverse=True)), line)
    plain = "".join(one if one in "()[]| " or one.isalnum() else re.escape(one) for one in ordered)
    opened = plain.replace("(", "(?:").replace("[", "(?:(?:")
    closed = re.sub(r"\]\s*", f"){gap})?", opened)
    return closed if plain.endswith("]") else closed + gap


@lru_cache(maxsize=256)
def _primary(tag: str) -> str:
    return tag.replace("_", "-").split("-")[0].lower()


@dataclass(frozen=True)
class Language:
    """One language: its word lists and sentences, read once from its locale folder."""

    tag: str

    @cached_property
    def primary(self) -> str:
        """The primary subtag: "pt" of "pt-BR"."""
        return _primary(self.tag)

    @property
    def uses_bigrams(self) -> bool:
        """Whether its words are character bigrams."""
        return self.primary in _GLUED

    def words(self, text: str) -> list[str]:
        """The index terms of a text, in order: folded and stemmed, or character bigrams."""
        return index_terms.document_terms(text, self.primary)

    def content_words(self, text: str) -> list[str]:
        """The index terms of a question without stop words, each once, in order; all of them if none is left."""
        left = index_terms.query_terms(self._without_stop_words(text), self.primary)
        return list(dict.fromkeys(left or index_terms.query_terms(text, self.primary)))

    def bare_words(self, text: str) -> list[str]:
        """The content words as they are said: folded, not stemmed."""
        return list(dict.fromkeys(fold(self._without_stop_words(text)) or fold(text)))

    def _without_stop_words(self, text: str) -> str:
        low = plain(text)
        if self.primary in _UNSPACED:
            for phrases in self._stop_phrases:
                low = phrases.sub(" ", low)
            return low
        kept = [word for word, _ in pieces(low) if word not in self.stop_words]
        return " ".join(_KOREAN_ENDING.sub("", word) for word in kept) if self.primary == "ko" else " ".join(kept)

    def is_question(self, text: str) -> bool:
        """Whether the text is a question, by its mark and its first words."""
        return _form(self, _looked_at(text)) == "question"

    def is_statement(self, text: str) -> bool:
        """Whether the text is a statement: no question, no command, no small talk, and over two words."""
        return _form(self, _looked_at(text)) == "statement"

    def is_command(self, text: str) -> bool:
        """Whether the text begins as a command does."""
        return (" ".join(fold(beginning(text))) + " ").startswith(self._command_starts)

    def only_asks(self, text: str) -> bool:
        """Whether every sentence of the text is a question; written turns often state something first."""
        return _only_asks((self, text))

    def sentence_type(self, text: str) -> str:
        """The type of a text: question, statement, or other (a command, small talk, one or two words)."""
        said = self.padded(text)
        if text.rstrip().endswith(_MARKS) or self._asks(said):
            return "question"
        if self.without_lead(text) != text:
            return "statement"
        few = len(said) <= 3 if self.uses_bigrams else said.count(" ") <= 3
        if not few and not self.uses_bigrams and (opening := self._opening(said)):
            return self.sentence_type(said[len(opening) :])
        return "other" if few or said.startswith(self._tells_nothing) else "statement"

    def _opening(self, said: str) -> str:
        """The words of small talk before something else: " okay" of " okay so the plumber comes on friday "."""
        found = [one[:-1] for one in self._phrases("small_talk.list") if said.startswith(one)]
        longest = max(found, key=len, default="")
        return longest if said[len(longest) :].count(" ") > 4 else ""

    def _asks(self, said: str) -> bool:
        if self.uses_bigrams:
            return said.endswith(self._question_ends) or any(phrase in said for phrase in self._question_starts)
        return said.startswith(self._question_starts)

    def without_lead(self, text: str) -> str:
        """The text without a leading "remember that" or its like."""
        found = self._lead.match(text)
        return text[found.end() :].strip(" ，,、:：") if found else text

    def alike(self, word: str) -> frozenset[str]:
        """The synonyms of an index term, the term itself included."""
        return self._alike.get(word, frozenset()) | {word}

    def asks_for(self, question: str) -> frozenset[str] | None:
        """The index terms of which an answer to the question needs one ("where": in, at, on); None if none is
        needed."""
        said = self.padded(question)
        return next((needed for asked, needed in self._needs.items() if asked in said), None)

    def asks_how_many(self, question: str) -> bool:
        """Whether a question asks how many there are: of what was told one by one, all of it answers."""
        return self.has_phrase("how_many.list", question)

    def has_phrase(self, name: str, text: str) -> bool:
        """Whether the text contains a phrase of the list."""
        said = self.padded(text)
        return any(phrase in said for phrase in self._phrases(name))

    def padded(self, text: str) -> str:
        """The folded text for phrase search: a blank around each word, or no blanks in languages of bigrams."""
        found = (word for word, _ in pieces(plain(text)))
        return "".join(found) if self.uses_bigrams else f" {' '.join(found)} "

    @lru_cache(maxsize=64)  # noqa: B019 - there is one object a language
    def _phrases(self, name: str) -> tuple[str, ...]:
        return tuple(self.padded(line) for line in self.lines(name))

    @cached_property
    def _command_starts(self) -> tuple[str, ...]:
        return tuple(" ".join(fold(line)) + " " for line in self.lines("command_start.list"))

    @cached_property
    def time_words(self) -> frozenset[str]:
        """The index terms that express a time."""
        return frozenset(word for line in self.lines("time_words.list") for word in self.words(line))

    def stems(self, folded: Sequence[str]) -> list[str]:
        """The first index term of each folded word; the word itself where it has none."""
        return index_terms.first_terms(folded, self.primary)

    @cached_property
    def month_names(self) -> tuple[str, ...]:
        """The folded names of the months, in order."""
        return tuple(" ".join(fold(line)) for line in self.lines("months.list"))

    @cached_property
    def months(self) -> dict[str, int]:
        """The folded names of the months, and their first three letters, mapped to 1 to 12."""
        return {short: number for number, name in enumerate(self.month_names, 1) for short in (name, name[:3])}

    def phrases(self, name: str) -> tuple[str, ...]:
        """The lines of a list or vocabulary, in order; those of English where this language has none."""
        return self.lines(name) or for_language(FALLBACK).lines(name)

    def table(self, name: str) -> dict[str, float]:
        """A list of lines "words, words: number" as folded words mapped to numbers, the longest words first."""
        pairs = (line.partition(":") for line in self.phrases(name))
        found = {" ".join(fold(words)): float(number) for left, _, number in pairs for words in left.split(",")}
        return dict(sorted(found.items(), key=lambda pair: -len(pair[0])))

    @cached_property
    def asked_with(self) -> dict[str, tuple[str, ...]]:
        """Slots of facts mapped to the words that ask for such a fact, however it was told: "activity" to "play",
        "do"."""
        pairs = (line.partition(":") for line in self.lines("asked_with.list"))
        return {slot.strip(): tuple(word.strip() for word in words.split(",")) for slot, _, words in pairs}

    @cached_property
    def asking_words(self) -> dict[str, frozenset[str]]:
        """As ``asked_with``, in index terms."""
        return {
            slot: frozenset(word for one in said for word in self.words(one)) for slot, said in self.asked_with.items()
        }

    @cached_property
    def swaps(self) -> dict[str, str]:
        """A speaker's words mapped to those that the hearer says back: "my" to "your"."""
        pairs = (line.partition(":") for line in self.lines("swapped.list"))
        return {left.strip().casefold(): right.strip() for left, _, right in pairs}

    def say(self, dialog: str, **slots: str) -> str:
        """The first sentence of a dialog with its slots filled; English where this language has none."""
        lines = self.lines(f"{dialog}.dialog") or for_language(FALLBACK).lines(f"{dialog}.dialog")
        return lines[0].format_map(slots)

    def sentences(self, dialog: str) -> tuple[str, ...]:
        """Every wording of a dialog, its slots not filled."""
        return self.lines(f"{dialog}.dialog")

    def when(self, said: datetime, now: datetime, number: Shown = str, day: Shown | None = None) -> str:
        """The time of a statement as a phrase: "today", "yesterday", "3 days ago", "on 4 May 2026".

        ``number`` and ``day`` format numbers and days of a month otherwise than as digits.
        """
        days = (now.date() - said.date()).days
        if days <= 0:
            return self.say("today")
        if days == 1:
            return self.say("yesterday")
        if days < 7:
            return self.say("days_ago", days=number(days))
        spoken = self if self.sentences("on_date") else for_language(FALLBACK)
        months = spoken.lines("months.list")
        return self.say(
            "on_date", day=(day or self._day)(said.day), month=months[said.month - 1], year=number(said.year)
        )

    def _day(self, day: int) -> str:
        return f"{day}." if self.tag.partition("-")[0] in _DOTTED else str(day)

    @cached_property
    def stop_words(self) -> frozenset[str]:
        """Folded words that are left out of a search."""
        return frozenset(word for line in self.lines("stop_words.list") for word, _ in pieces(plain(line)))

    @cached_property
    def _stop_phrases(self) -> tuple[re.Pattern[str], ...]:
        """Stop phrases of a language of bigrams: longer ones first, then single letters; kana only where no other
        phrase matches."""
        longer = sorted((word for word in self.stop_words if len(word) > 1), key=len, reverse=True)
        single = "".join(word for word in self.stop_words if len(word) == 1)
        found = [("|".join(map(re.escape, longer))), rf"(?<![\u3041-\u3096])[{single}]" if single else ""]
        return tuple(re.compile(pattern) for pattern in found if pattern)

    @cached_property
    def _question_starts(self) -> tuple[str, ...]:
        return self._phrases("question_start.list")

    @cached_property
    def _question_ends(self) -> tuple[str, ...]:
        return self._phrases("question_end.list")

    @cached_property
    def _tells_nothing(self) -> tuple[str, ...]:
        return self._phrases("command_start.list") + self._phrases("small_talk.list")

    @cached_property
    def _lead(self) -> re.Pattern[str]:
        """Openings of a request to remember, the longest first."""
        gap = "" if self.uses_bigrams else " "
        lines = sorted(self.lines("remember_that.list"), key=len, reverse=True)
        return re.compile("|".join(_wordings(line, gap) for line in lines) or r"(?!)", re.IGNORECASE)

    @cached_property
    def _alike(self) -> dict[str, frozenset[str]]:
        return {
            word: frozenset(self.words(right)) for left, right in self.pairs("alike.list") for word in self.words(left)
        }

    @cached_property
    def _needs(self) -> dict[str, frozenset[str]]:
        return {self.padded(left): frozenset(self.words(right)) for left, right in self.pairs("answer_words.list")}

    def pairs(self, name: str) -> Iterator[tuple[str, str]]:
        """Both sides of each line of a list, split at the colon."""
        for line in self.lines(name):
            left, _, right = line.partition(":")
            yield left.strip(), right.strip()

    def lines(self, name: str) -> tuple[str, ...]:
        """The lines of a list; empty where the language has no such list."""
        return _read(self.tag, name)


def _looked_at(text: str) -> str:
    """The part of a text that decides whether it is a question: its beginning, and the mark at its end."""
    looked_at = beginning(text)
    return looked_at if looked_at is text or not text.rstrip().endswith(_MARKS) else f"{looked_at}?"


def _asks_throughout(asked: tuple[Language, str]) -> bool:
    spoken, text = asked
    return all(spoken.is_question(part) for part in sentences_of(_looked_at(text)))


_only_asks = caching.lru_cached(_asks_throughout, LAST_HITS)


@lru_cache(maxsize=2048)
def _form(spoken: Language, text: str) -> str:
    return spoken.sentence_type(text)


@lru_cache(maxsize=512)
def _read(tag: str, name: str) -> tuple[str, ...]:
    if tag not in known():  # a message's tag may be anything, also the path of another folder
        return ()
    path = locale_folder() / tag / name
    if not path.is_file():
        return ()
    lines = path.read_text(encoding="utf-8").splitlines()
    return tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))
