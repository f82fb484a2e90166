"""Which hits are parts of an answer that was told bit by bit: "who brings what", "how many eggs did we find".

A judge that reads each remark by itself gives a part of such an answer little where it is told with few words ("and
one more today"), so that what else tells is weighed together with what it says.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from ovos_persona_memory.records import Hit
from ovos_persona_memory.search.query import Question
from ovos_persona_memory.text import ComingDays, coming_days, languages

WEIGHTS = (1.08, -0.41, 0.27, -0.34, -2.77, 2.81, -4.74)
"""Of each of ``signs``."""
BIAS = 1.03
PART_FROM, SUREST_FROM = 0.3, 0.65
"""With such a probability, >=, a hit is told as a part of the answer, where that of the surest is this, >=."""
SURELY_PART_FROM, SEVERAL_ARE = 0.6, 2
"""What may be asked for as one thing is asked for as several where so many, >=, are parts with this probability, >=."""
MOST = 20
"""Hits at most that are looked at."""
LONGEST_DAY = timedelta(days=1)
"""A weekend is a day on which something may be."""
LEAST = 1e-3
"""The judge is taken to be no surer than this, either way."""


@dataclass(frozen=True)
class AskedDay:
    """The coming days of which a question asks what is on them; none where it names none."""

    days: ComingDays
    zone: tzinfo | None

    @classmethod
    def of(cls, question: Question) -> AskedDay:
        """None of a longer time, "this week"."""
        days = coming_days(question.text, question.spoken, question.asked_at)
        is_day = all(span.last - span.first <= LONGEST_DAY for span in days.spans)
        return cls(days if is_day else ComingDays(), question.zone)

    def is_named_in(self, hit: Hit) -> bool:
        """Whether a hit names such a day, as seen from when it was said."""
        return bool(self.days) and self._days_of(hit).meets(self.days)

    def is_another(self, hit: Hit) -> bool:
        """Whether a hit names days, and no such day."""
        return bool(self.days) and bool(named := self._days_of(hit)) and not named.meets(self.days)

    def _days_of(self, hit: Hit) -> ComingDays:
        said_at = datetime.fromtimestamp(hit.at, self.zone)
        return coming_days(hit.text, languages.for_text(hit.lang, hit.text), said_at)


NO_DAY = AskedDay(ComingDays(), None)


def probabilities(found: Sequence[tuple[Hit, float]], question: Question) -> list[float]:
    """How likely each hit is a part of the answer; ``found``: as the hits were found, each with what the judge gives
    it."""
    sums = (BIAS + sum(w * sign for w, sign in zip(WEIGHTS, one, strict=True)) for one in signs(found, question))
    return [1.0 / (1.0 + math.exp(-one)) for one in sums]


def told_from(parts: Sequence[float]) -> float:
    """From which probability on a hit is told as a part: more than any has where none is sure enough."""
    return PART_FROM if max(parts, default=0.0) >= SUREST_FROM else math.inf


def are_several(parts: Sequence[float]) -> bool:
    """Whether several are known, so that all of them are wanted by what may ask for one."""
    return sum(one >= SURELY_PART_FROM for one in parts) >= SEVERAL_ARE


def signs(found: Sequence[tuple[Hit, float]], question: Question) -> list[tuple[float, ...]]:
    """Of each hit what tells whether it is a part of the answer.

    The logit of the judge; that of the surest; how much of what the question names it holds, as a share of what the
    one holds that holds most; that times the logit; whether it is a command; that times the share, as the judge gives
    little to "put milk on the list"; its place.
    """
    named, surest = _named_things(question), max((judgement for _, judgement in found), default=0.0)
    held = [len(named & _terms(hit)) for hit, _ in found]
    rows: list[tuple[float, ...]] = []
    for place, (hit, judgement) in enumerate(found):
        own, share = logit(judgement), held[place] / max(*held, 1)
        is_command = float(question.spoken.is_command(hit.text))
        rows.append((own, logit(surest), share, share * own, is_command, is_command * share, place / MOST))
    return rows


def logit(judgement: float) -> float:
    """The logit of what the judge says."""
    bounded = min(max(judgement, LEAST), 1.0 - LEAST)
    return math.log(bounded / (1.0 - bounded))


def _terms(hit: Hit) -> set[str]:
    return set(languages.for_text(hit.lang, hit.text).content_words(hit.text))


def _named_things(question: Question) -> set[str]:
    """Content words of a question that neither ask nor name a time."""
    spoken = question.spoken
    asking = {
        stem for line in spoken.lines("asking.list") for word in languages.fold(line) for stem in spoken.words(word)
    }
    return {word for word in question.content_words if len(word) > 1} - asking - spoken.time_words
