"""Ranking of candidates for one question: words, meaning, and neighbouring turns.

Every constant was measured on the development parts of LoCoMo and BEAM on 2026-11-21 (docs/recall.md); the search for
them is written down there, with what did not help.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from ovos_persona_memory.search.query import AnalysedQuery
from ovos_persona_memory.stores import Statistics, bm25
from ovos_persona_memory.text import DaySpan, time_expressions

DECAY = {0: 1.0, -1: 0.5, 1: 0.5, -2: 0.25, 2: 0.25}
"""Weight of a word in a turn this many turns before (-) or after (+), within the session."""
REACH = 2
NEAR_S = 1800.0
"""Turns further apart than this, seconds, are no neighbours, even in one session."""
IN_SESSION = 0.4
"""Weight of the share of the question's words that the turn's whole session holds."""
BY_PERSON = 0.45
"""Added for the only speaker that the question names, and for what others say of that speaker; where it asks about who
asks, for these; and where the assistant has no name, for the user's turns."""
ON_DATE, DAYS_BEFORE, DAYS_AFTER = 0.5, 1, 10
"""Added for turns said around a date that the question names, from the first to the second number of days."""
WITH_TIME = 0.25
"""Added for turns with time words when the question asks for a time or a duration."""
MEANING = {"static": 0.5, "sentence": 0.8, "multilingual": 1.0}
"""Weight of the similarity of vectors, by kind of embedder."""
ASKING, OF_ASSISTANT = 0.6, 0.8
"""Share of its similarity that counts of what only asks, and of what the assistant said where speakers have no names: a
question is near any question, and says nothing (docs/measurements.md)."""
BEFORE, AFTER = 0.5, 0.25
"""Share of a short neighbour's similarity: of the turn before, and of the turn after."""
SHORT = 60
"""Words at most of a turn that can be a reply: a longer one holds any words, and says little about its neighbours."""
HELD = 3
"""Different words of the question that one place must hold, >=, for its topic to count as known: every question that
tempts to a wrong answer in the household data (test/data) shares two or fewer."""
COVER = 0.44
"""Share (weighted by rarity) of the question's words that the place must hold, >=, by words alone."""
COVER_OF = {"zh": 0.36, "ja": 0.36, "ko": 0.36, "th": 0.55}
"""``COVER`` in languages of bigrams: of Han and Hangul some bigrams of a question are no words at all, and Thai bigrams
are letters, of which any two texts share many (docs/recall.md, "Languages")."""
COVER_BESIDE, COSINE_WEIGHT, KNOWN = 0.36, 3.8, 2.0
"""With vectors that share must be >= COVER_BESIDE, and the share plus COSINE_WEIGHT x best cosine >= KNOWN."""


@dataclass(frozen=True)
class RankingCandidate:
    """A document to be ranked, or a neighbouring turn."""

    doc: int
    """A turn's ``seq``, or minus a memory's."""
    times: Mapping[str, int]
    """Question word mapped to its frequency."""
    length: int
    """Length in words."""
    at: float | None = None
    day: date | None = None
    speaker: str | None = None
    """Folded name of the speaker; None where speakers have no names."""
    by_user: bool = True
    names_asked: bool = False
    """Whether it holds the name of the speaker whom the question names, or of who asks about themselves."""
    has_time: bool = False
    session: str = ""
    before: int | None = None
    after: int | None = None
    """The ``doc`` of the turns before and after it in its session; None where there is none, or it was not fetched."""
    cosine: float | None = None
    """Cosine of the question and this document alone; None where it has no vector."""


@dataclass(frozen=True)
class RankedCandidate:
    """A candidate with its score and its coverage of the question."""

    candidate: RankingCandidate
    score: float
    cover_near: float
    """Share (weighted by rarity) of the question's words in the turn and in a neighbouring turn of another speaker."""
    held_near: int
    """Number of these different words; 0 where no person said it."""


def rank(
    candidates: Sequence[RankingCandidate], asked: AnalysedQuery, known: Statistics, kind: str | None = None
) -> list[RankedCandidate]:
    """The candidates, best first, each scored among these. ``kind``: of the embedder; None where there is none."""
    weights = {word: _rarity(known.documents, known.frequency.get(word, 0)) for word in asked.words}
    around = _around(candidates)
    scores = _by_words(candidates, around, weights, known.mean_length)
    if kind is not None:
        alike = _by_meaning(candidates, around, scores)
        scores = [words + MEANING[kind] * near for words, near in zip(scores, alike, strict=True)]
    total = sum(weights.values()) or 1.0
    assistants = [candidate for candidate in candidates if not candidate.by_user]
    nameless = all(candidate.speaker is None for candidate in assistants or candidates)
    scored = []
    for candidate, score, beside in zip(candidates, scores, around, strict=True):
        held = _held_near(candidate, beside, candidates)
        by_person = candidate.by_user or candidate.speaker is not None
        cover = sum(weights.get(word, 0.0) for word in held) / total
        scored.append(
            RankedCandidate(candidate, score + _bonus(candidate, asked, nameless), cover, len(held) if by_person else 0)
        )
    return sorted(scored, key=lambda one: (-one.score, -abs(one.candidate.doc)))


def is_known(ranked: Sequence[RankedCandidate], best_cosine: float | None = None, cover: float = COVER) -> bool:
    """Whether a person spoke about the topic of the question, at one place.

    ``best_cosine``: of the question and everything in scope; None without an embedder. ``cover``: the share of its
    words that must be held there, by words alone.
    """
    most = max((one.cover_near for one in ranked if one.held_near >= HELD), default=0.0)
    if best_cosine is None or not most:
        return most >= cover
    return most >= COVER_BESIDE and most + COSINE_WEIGHT * best_cosine >= KNOWN


def _rarity(documents: int, frequency: int) -> float:
    return math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5))


def _share(times: int, length: int, mean_length: float) -> float:
    """BM25's term-frequency component of one word, 0 to 1."""
    return times / (times + bm25.K1 * (1 - bm25.B + bm25.B * length / mean_length)) if times else 0.0


def _around(candidates: Sequence[RankingCandidate]) -> list[dict[int, int]]:
    """For each candidate the positions of its neighbours, by step: {0: own position, -1: before, ...}."""
    places = {candidate.doc: place for place, candidate in enumerate(candidates)}
    return [_steps(place, candidates, places) for place in range(len(candidates))]


def _steps(place: int, candidates: Sequence[RankingCandidate], places: Mapping[int, int]) -> dict[int, int]:
    steps = {0: place}
    for direction in (-1, 1):
        here = place
        for step in range(1, REACH + 1):
            beside = candidates[here].before if direction < 0 else candidates[here].after
            found = places.get(beside) if beside is not None else None
            if found is None or not _near(candidates[place], candidates[found]):
                break
            here = steps[direction * step] = found
    return steps


def _near(one: RankingCandidate, other: RankingCandidate) -> bool:
    return one.at is None or other.at is None or abs(one.at - other.at) <= NEAR_S


def _by_words(
    candidates: Sequence[RankingCandidate],
    around: Sequence[Mapping[int, int]],
    weights: Mapping[str, float],
    mean_length: float,
) -> list[float]:
    """Lexical score, 0 to 1: each word counts once over the turn and its neighbours, as the root of the sum of squares.

    So a turn whose neighbour holds the other words of the question comes before one whose neighbour repeats the same
    word.
    """
    shares = [{w: _share(n, one.length, mean_length) for w, n in one.times.items()} for one in candidates]
    raw = [_with_neighbours(beside, shares, weights) for beside in around]
    covered = _session_cover(candidates, shares, weights)
    best, most = max(raw, default=0.0), max(covered.values(), default=0.0)
    if best <= 0 or most <= 0:
        return [0.0] * len(candidates)
    mixed = [s / best + IN_SESSION * covered[one.session] / most for s, one in zip(raw, candidates, strict=True)]
    top = max(mixed)
    return [score / top for score in mixed]


def _with_neighbours(
    beside: Mapping[int, int], shares: Sequence[Mapping[str, float]], weights: Mapping[str, float]
) -> float:
    squares: dict[str, float] = {}
    for step, place in beside.items():
        for word, share in shares[place].items():
            squares[word] = squares.get(word, 0.0) + (DECAY[step] * share) ** 2
    return sum(weights.get(word, 0.0) * math.sqrt(square) for word, square in squares.items())


def _session_cover(
    candidates: Sequence[RankingCandidate], shares: Sequence[Mapping[str, float]], weights: Mapping[str, float]
) -> dict[str, float]:
    best: dict[str, dict[str, float]] = {}
    for candidate, held in zip(candidates, shares, strict=True):
        mine = best.setdefault(candidate.session, {})
        for word, share in held.items():
            mine[word] = max(mine.get(word, 0.0), share)
    return {session: sum(weights.get(w, 0.0) * s for w, s in held.items()) for session, held in best.items()}


def _by_meaning(
    candidates: Sequence[RankingCandidate], around: Sequence[Mapping[int, int]], words: Sequence[float]
) -> list[float]:
    """Semantic score, 0 to 1: a candidate's own similarity and a share of short neighbours', scaled over the
    candidates.

    A candidate without a vector gets its score by ``words``: a turn that was said just now is not worth less for it.
    """
    mixed = [_similarity(beside, candidates) for beside in around]
    known = [value for value in mixed if value is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    span = high - low or 1.0
    return [score if value is None else (value - low) / span for value, score in zip(mixed, words, strict=True)]


def _similarity(beside: Mapping[int, int], candidates: Sequence[RankingCandidate]) -> float | None:
    total, weight = candidates[beside[0]].cosine, 1.0
    if total is None:
        return None
    for step, share in ((-1, BEFORE), (1, AFTER)):
        other = candidates[beside[step]] if step in beside else None
        if other is not None and other.cosine is not None and other.length <= SHORT:
            total += share * other.cosine
            weight += share
    return total / math.sqrt(weight)


def _held_near(
    candidate: RankingCandidate, beside: Mapping[int, int], candidates: Sequence[RankingCandidate]
) -> set[str]:
    """Words held by the turn and by a short reply, or by the turn it replied to: two statements of one person in a row
    are often about two topics, and a long page holds any words."""
    held = set(candidate.times)
    for step in (-1, 1):
        other = candidates[beside[step]] if step in beside else None
        if other is None or other.length > SHORT:
            continue
        if (other.speaker, other.by_user) != (candidate.speaker, candidate.by_user):
            held |= set(other.times)
    return held


def _bonus(candidate: RankingCandidate, asked: AnalysedQuery, nameless: bool) -> float:
    total, person = 0.0, asked.speaker or asked.asker
    if person is not None:
        # where all have names they also address each other by them
        total += BY_PERSON * (candidate.speaker == person or (nameless and candidate.names_asked))
    if asked.speaker is None and nameless and candidate.by_user and not asked.of_assistant:
        total += BY_PERSON
    if candidate.day is not None and any(told_of(candidate.day, span) for span in asked.dates):
        total += ON_DATE
    return total + WITH_TIME * (asked.asks_time and candidate.has_time)


def told_of(day: date, span: DaySpan) -> bool:
    """Whether a turn of this day may be about these days: from the day before, to some days after."""
    return span.first - DAYS_BEFORE * time_expressions.DAY <= day <= span.last + DAYS_AFTER * time_expressions.DAY
