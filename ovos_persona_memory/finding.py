"""Questions to the memory: asked now, where the person is, by words and by meaning."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ovos_persona_memory.dates import Dates, named_days
from ovos_persona_memory.indexer import Indexer, Meaning
from ovos_persona_memory.question import Question
from ovos_persona_memory.recall import KINDS, recall
from ovos_persona_memory.records import ContextRequest, Hit, Scope
from ovos_persona_memory.stores.base import Store

ITSELF_S = 30.0
"""A turn with the very words of an utterance said within so long before is that utterance, seconds."""


class Finding:
    """Recall with what is the same for every question."""

    def __init__(self, store: Store, clock: Callable[[], float], indexer: Indexer | None) -> None:
        self._store, self._clock, self._indexer = store, clock, indexer
        self.dates: Dates = named_days
        """Finds the days that a question names; an edge may put a better parser here."""
        self.timezone: str | None = None
        """An IANA name, where a question comes with none; None: as the system's clock is set."""

    def hits(self, question: Question, scope: Scope, k: int, kinds: frozenset[str] = KINDS) -> list[Hit]:
        """See recall; the question's moment, parser and time zone are filled in."""
        asked = replace(
            question,
            at=self._clock() if question.at is None else question.at,
            dates=self.dates,
            timezone=question.timezone or self.timezone,
        )
        return recall(self._store, asked, scope, k, kinds, self.meaning())

    def meaning(self) -> Meaning | None:
        """Search by meaning; None where there is no embedder, or it is not loaded yet."""
        return self._indexer.meaning() if self._indexer is not None else None

    def sure(self, request: ContextRequest, k: int, now: float) -> list[Hit]:
        """What a persona may be told for an utterance: of the whole memory of its user, sure hits alone."""
        asked = Question(request.utterance, request.lang, request.utterance_id, now - ITSELF_S, now)
        of_user = replace(request.scope, session_id=None, site_id=None, task_id=None)
        hits = self.hits(replace(asked, timezone=request.timezone), of_user, k)
        return [hit for hit in hits if hit.sure]
