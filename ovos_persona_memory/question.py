"""What is known of a question before anything is searched: its words, whom and which time it is about."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ovos_persona_memory import language
from ovos_persona_memory.language import Language

NamedDate = tuple[int | None, int, int | None]
"""Year, month, day; a year or a day that was not named is None."""
Dates = Callable[[str, str, float | None], Sequence[NamedDate]]
"""A date parser: text, language tag and time of asking (seconds since the epoch, UTC) to the dates named."""

_YEAR = re.compile(r"(?:19|20)\d\d")
_DAY = re.compile(r"([0-3]?\d)(?:st|nd|rd|th)?")


@dataclass(frozen=True)
class Question:
    """What is asked, by whom, and what must not answer it."""

    text: str
    lang: str | None = None
    utterance_id: str | None = None
    """Turns of this utterance are left out: it does not answer itself."""
    said_after: float | None = None
    """Turns with the question's very words said since then are left out, seconds since the epoch, UTC."""
    at: float | None = None
    """The time of asking, seconds since the epoch, UTC; None: now."""
    dates: Dates | None = None
    """A date parser; None: months, days and years by name and number."""

    @property
    def spoken(self) -> Language:
        """The language of the question."""
        return language.of_text(self.lang, self.text)


@dataclass(frozen=True)
class Asked:
    """A question as the ranking needs it."""

    words: tuple[str, ...]
    """Content words, folded and stemmed, each once, without the names of speakers unless nothing else is left."""
    speaker: str | None = None
    """The one speaker whom the question names, folded; None for none or several."""
    of_assistant: bool = False
    """It asks what the assistant said ("did you recommend")."""
    dates: tuple[NamedDate, ...] = ()
    asks_time: bool = False
    """It asks when, or how long."""
    bare: str = ""
    """The question's text without the names of speakers."""


def understand(question: Question, speakers: Iterable[str]) -> Asked:
    """The question in parts; ``speakers``: the folded names of those who may be meant."""
    spoken, folded = question.spoken, language.fold(question.text)
    named = sorted(set(speakers) & set(folded))
    names = {word for name in named for word in spoken.words(name)}
    words = spoken.content_words(question.text)
    parse = question.dates or named_dates
    return Asked(
        words=tuple(word for word in words if word not in names) or tuple(words),
        speaker=named[0] if len(named) == 1 else None,
        of_assistant=spoken.has_phrase("of_assistant.list", question.text),
        dates=tuple(parse(question.text, spoken.tag, question.at)),
        asks_time=spoken.has_phrase("asks_time.list", question.text),
        bare=_without(named, question.text),
    )


def _without(names: Iterable[str], text: str) -> str:
    """The text without these folded words, and what an apostrophe ties to them."""
    gone = set(names)
    if not gone:
        return text
    kept = [word for word in text.split() if not gone.intersection(language.fold(word)[:1])]
    return " ".join(kept) or text


def named_dates(text: str, lang: str, at: float | None = None) -> list[NamedDate]:
    """The dates that a text names with the name of a month; days and years as numbers beside it."""
    months = language.of(lang).months()
    words = language.fold(text)
    found: list[NamedDate] = []
    for place, word in enumerate(words):
        month = months.get(word)
        if month is None:
            continue
        near = [words[i] for i in (place - 1, place + 1) if 0 <= i < len(words)]
        if place > 1 and len(words[place - 1]) <= 3:  # "the 10th of May"
            near.append(words[place - 2])
        wider = [words[i] for i in range(max(place - 2, 0), min(place + 3, len(words))) if i != place]
        day = next((int(m[1]) for w in near if (m := _DAY.fullmatch(w)) and 1 <= int(m[1]) <= 31), None)
        year = next((int(w) for w in wider if _YEAR.fullmatch(w)), None)
        if len(word) > 3 or day or year:  # "may" and "mar" alone are no months
            found.append((year, month, day))
    return found
