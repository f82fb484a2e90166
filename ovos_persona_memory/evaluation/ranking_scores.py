"""Measures of a ranking, and their means over many questions; docs/recall.md defines each."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

K = 20
"""Number of ranks that are scored."""


@dataclass(frozen=True)
class QuestionOutcome:
    """The answer to one question."""

    kind: str
    evidence: frozenset[str]
    ranked: tuple[str, ...]
    """Ids of turns, best first."""
    sure: frozenset[str] | None
    """Those of them that are sure; None where the ranker does not tell."""
    took_ms: float


@dataclass(frozen=True)
class RankingScores:
    """Means over questions, 0 to 1; None where there is no question for the mean."""

    questions: int
    """Number of questions with evidence, over which the next six means are taken."""
    recall_at_5: float | None
    recall_at_10: float | None
    recall_at_20: float | None
    hit_at_10: float | None
    mrr: float | None
    sure_recall_at_10: float | None
    """Recall among the sure hits of the first ten."""
    no_sure_hit: float | None
    """Share of questions with evidence that get no sure hit."""
    never_said: int
    """Number of questions without evidence: no turn answers them."""
    never_said_silent: float | None
    """Share of those that get no sure hit."""


@dataclass(frozen=True)
class RankerScores:
    """The scores of one ranker on one file."""

    system: str
    overall: RankingScores
    kinds: dict[str, RankingScores]
    latency_p50_ms: float | None
    latency_p95_ms: float | None
    silence: float | None
    """Share of questions, put to another conversation, that get no sure hit."""
    silence_questions: int


def first_distinct(ranked: Sequence[str], k: int) -> list[str]:
    """The first ``k`` ids; one that comes twice counts where it came first."""
    return list(dict.fromkeys(ranked))[:k]


def recall_at(ranked: Sequence[str], evidence: Collection[str], k: int) -> float:
    """Share of the evidence, of which there is some, among the first ``k``."""
    wanted = set(evidence)
    return len(wanted.intersection(first_distinct(ranked, k))) / len(wanted)


def hit_at(ranked: Sequence[str], evidence: Collection[str], k: int) -> float:
    """1 where any evidence is among the first ``k``, else 0."""
    return float(not set(evidence).isdisjoint(first_distinct(ranked, k)))


def reciprocal_rank(ranked: Sequence[str], evidence: Collection[str], k: int = K) -> float:
    """1 / rank of the first evidence among the first ``k``; 0 where none is."""
    return next((1 / rank for rank, one in enumerate(first_distinct(ranked, k), start=1) if one in evidence), 0.0)


def percentile(values: Sequence[float], share: float) -> float | None:
    """The smallest value that at least this share of the values does not exceed (nearest rank); None of none."""
    ranked = sorted(values)
    return ranked[max(math.ceil(share * len(ranked)) - 1, 0)] if ranked else None


def figures(outcomes: Sequence[QuestionOutcome]) -> RankingScores:
    """The scores over these outcomes."""
    answerable = [one for one in outcomes if one.evidence]
    never = [one for one in outcomes if not one.evidence]
    recalls = [mean(recall_at(one.ranked, one.evidence, k) for one in answerable) for k in (5, 10, 20)]
    return RankingScores(
        questions=len(answerable),
        recall_at_5=recalls[0],
        recall_at_10=recalls[1],
        recall_at_20=recalls[2],
        hit_at_10=mean(hit_at(one.ranked, one.evidence, 10) for one in answerable),
        mrr=mean(reciprocal_rank(one.ranked, one.evidence) for one in answerable),
        sure_recall_at_10=mean(
            recall_at([i for i in first_distinct(one.ranked, 10) if i in one.sure], one.evidence, 10)
            for one in answerable
            if one.sure is not None
        ),
        no_sure_hit=silent(answerable),
        never_said=len(never),
        never_said_silent=silent(never),
    )


def silent(outcomes: Iterable[QuestionOutcome]) -> float | None:
    """Share of the questions without a sure hit, among those whose ranker tells."""
    return mean(float(not one.sure) for one in outcomes if one.sure is not None)


def mean(values: Iterable[float]) -> float | None:
    """The mean; None of no values."""
    found = list(values)
    return round(math.fsum(found) / len(found), 4) if found else None


def measured(system: str, outcomes: Sequence[QuestionOutcome], strangers: Sequence[QuestionOutcome]) -> RankerScores:
    """All scores of one ranker; ``strangers``: outcomes of questions put to another conversation."""
    took = [one.took_ms for one in outcomes]
    kinds = sorted({one.kind for one in outcomes})
    p50, p95 = (percentile(took, share) for share in (0.5, 0.95))
    return RankerScores(
        system=system,
        overall=figures(outcomes),
        kinds={kind: figures([one for one in outcomes if one.kind == kind]) for kind in kinds},
        latency_p50_ms=None if p50 is None else round(p50, 3),
        latency_p95_ms=None if p95 is None else round(p95, 3),
        silence=silent(strangers),
        silence_questions=sum(one.sure is not None for one in strangers),
    )
