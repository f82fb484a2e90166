"""Query analysis: a question's words, speaker and dates, before anything is searched."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import cached_property

from ovos_persona_memory.records import Turn
from ovos_persona_memory.text import Dates, DaySpan, Language, languages, named_days, time_expressions

ITSELF_S = 30.0
"""A turn with a question's words that was said within this time before it, seconds, is the question itself."""


@dataclass(frozen=True)
class Question:
    """A question with its asker and time, and which turns are the question itself."""

    text: str
    lang: str | None = None
    utterance_id: str | None = None
    """Turns of this utterance are left out: a question does not answer itself."""
    said_after: float | None = None
    """Turns with exactly the question's words said since this time are left out, seconds since the epoch, UTC."""
    at: float | None = None
    """The time of asking, seconds since the epoch, UTC; None: now."""
    dates: Dates = named_days
    """The parser of date expressions."""
    timezone: str | None = None
    """The asker's time zone, an IANA name; None: the device's own."""
    terms: tuple[str, ...] = ()
    """The words of a long question that are searched, folded; ``text`` is then its beginning."""
    said: str | None = None
    """The full text of a long question."""
    asker: str | None = None
    """The name of who asks, where several speak as one user; None: it is not known."""
    by_persona: bool = False
    """A persona has it beside what it answers: only what asks is judged, and nothing that may ask or wants something
    forgotten."""
    by_words: bool = False
    """It is a list of words to look for, which are neither searched by meaning nor judged."""

    @cached_property
    def folded(self) -> list[str]:
        """All words of the question, folded."""
        return languages.fold(self.text if self.said is None else self.said)

    @cached_property
    def bare_words(self) -> list[str]:
        """The content words as they are said: folded, not stemmed."""
        return [*self.terms] or self.spoken.bare_words(self.text)

    @cached_property
    def content_words(self) -> list[str]:
        """The content words, folded and stemmed, each once."""
        found = [word for term in self.terms for word in self.spoken.words(term)[:1]]
        return list(dict.fromkeys(found)) or self.spoken.content_words(self.text)

    @property
    def zone(self) -> tzinfo | None:
        """The time zone in which days are counted; None: that of the system's clock."""
        return time_expressions.zone(self.timezone)

    @cached_property
    def said_at(self) -> float:
        """The moment of asking, seconds since the epoch, UTC."""
        return time.time() if self.at is None else self.at

    @property
    def asked_at(self) -> datetime:
        """The moment of asking, in the zone of who asks."""
        return datetime.fromtimestamp(self.said_at, self.zone)

    @cached_property
    def asks_hearer(self) -> bool:
        """Whether it asks about the hearer: "what is your name", but not "is my name like your name"."""
        own = set(self.spoken.swaps).isdisjoint(languages.fold(self.text))
        return own and self.spoken.has_phrase("asks_hearer.list", self.text)

    @cached_property
    def names_words(self) -> bool:
        """Whether it is nothing but words to look for, "Berlin", without a word that makes it a question."""
        return (
            self.said is None and len(self.bare_words) == len(set(self.folded)) and not self.text.rstrip().endswith("?")
        )

    @cached_property
    def spoken(self) -> Language:
        """The language of the question."""
        return languages.for_text(self.lang, self.text)

    def is_itself(self, turn: Turn) -> bool:
        """Whether a turn is this very question: by its utterance, else by its words and how recently they were said.

        A part of an utterance ("my cat" of "tell me about my cat") is the same question.
        """
        if turn.role != "user":
            return False
        if self.utterance_id is not None and turn.utterance_id == self.utterance_id:
            return True
        at = turn.at or 0.0
        if self.said_after is not None and at >= self.said_after and self._is_said_by(turn):
            return True
        lately = abs(self.said_at - at) < ITSELF_S
        return lately and _only_asks(turn) and set(self.content_words).issubset(self.spoken.words(turn.text))

    def was_asked(self, turn: Turn, heard: Sequence[Turn]) -> bool:
        """Whether a turn asked the same before. ``heard``: the turns that are the question itself."""
        if turn.role != "user" or not _only_asks(turn):
            return False
        return self._is_said_by(turn) or any(languages.fold(one.text) == languages.fold(turn.text) for one in heard)

    def _is_said_by(self, turn: Turn) -> bool:
        return languages.fold(turn.text) == self.folded


def _only_asks(turn: Turn) -> bool:
    return languages.for_text(turn.lang, turn.text).only_asks(turn.text)


@dataclass(frozen=True)
class AnalysedQuery:
    """A question as the ranking needs it."""

    words: tuple[str, ...]
    """Content words, folded and stemmed, each once, without speakers' names unless nothing else is left."""
    speaker: str | None = None
    """The only speaker whom the question names, folded; None for none or several."""
    names: frozenset[str] = frozenset()
    """The stems of the name of that speaker, or of ``asker``: others may tell of them."""
    asker: str | None = None
    """The folded first name of who asks, where it asks about them; None where it does not, or no name is known."""
    of_assistant: bool = False
    """Whether it asks about the assistant's own words ("did you recommend")."""
    dates: tuple[DaySpan, ...] = ()
    asks_time: bool = False
    """Whether it asks for a time or a duration."""
    bare: str = ""
    """The question's text without the names of speakers."""


GENITIVE = "s"
"""What a genitive adds to a name without an apostrophe, "Noras Schuhe", in these languages."""
GENITIVES_IN = frozenset({"da", "de", "nl"})


def named_speakers(question: Question, speakers: Iterable[str]) -> dict[str, str]:
    """The folded words of a question that name a speaker, each with the folded name."""
    ends = ("", GENITIVE) if question.spoken.primary in GENITIVES_IN else ("",)
    forms = {f"{name}{end}": name for end in reversed(ends) for name in speakers}
    return {word: forms[word] for word in languages.fold(question.text) if word in forms}


def analyse_question(question: Question, speakers: Iterable[str], of_asker: bool = False) -> AnalysedQuery:
    """The analysed question; ``speakers``: the folded names that it may mean; ``of_asker``: it asks about who asks."""
    spoken, forms = question.spoken, named_speakers(question, speakers)
    named = sorted(set(forms.values()))
    asker = first_name(question.asker) if of_asker and not named else None
    names = {word for name in forms for word in spoken.words(name)}
    whose = named[0] if len(named) == 1 else asker
    words = question.content_words
    return AnalysedQuery(
        words=tuple(word for word in words if word not in names) or tuple(words),
        speaker=named[0] if len(named) == 1 else None,
        names=frozenset(spoken.words(whose)) if whose is not None else frozenset(),
        asker=asker,
        of_assistant=spoken.has_phrase("of_assistant.list", question.text),
        dates=tuple(question.dates(question.text, spoken.tag, question.asked_at)),
        asks_time=spoken.has_phrase("asks_time.list", question.text),
        bare=without_names(forms, question.text),
    )


NO_NAMES = ("user", "assistant", "human", "system")
"""Names of roles, which are no names of speakers."""


def first_name(speaker: str | None) -> str | None:
    """The folded first name of a speaker; None for none, and for the name of a role."""
    name = next(iter(languages.fold(speaker)), None) if speaker else None
    return None if name in NO_NAMES else name


def without_names(names: Iterable[str], text: str) -> str:
    """The text without these folded words, and what an apostrophe joins to them; the text where nothing is left."""
    gone = set(names)
    if not gone:
        return text
    kept = [word for word in text.split() if not gone.intersection(languages.fold(word)[:1])]
    return " ".join(kept) or text
