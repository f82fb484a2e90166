"""Forgetting: from what somebody asks to have forgotten to the records that go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ovos_persona_memory import language
from ovos_persona_memory.errors import InvalidRequest
from ovos_persona_memory.records import Forgotten, Scope, Selection
from ovos_persona_memory.transcript import Workings


@dataclass(frozen=True)
class Wanted:
    """What somebody asks to have forgotten; every condition that is set narrows."""

    key: str | None = None
    """The lasting memory with this key."""
    ids: Sequence[str] | None = None
    """Turns and memories with these ids."""
    query: str | None = None
    """What holds all of its words."""
    since: float | None = None
    until: float | None = None
    """What was said or last changed in [since, until), seconds since the epoch, UTC."""
    source: str | None = None
    """What this skill or persona said."""
    everything: bool = False
    """Needed where nothing else says what to forget."""
    lang: str | None = None
    """Language of the query, a BCP-47 tag."""


class Forgetting:
    """The verbs of PersonaMemory about forgetting."""

    def __init__(self, workings: Workings) -> None:
        self._workings = workings
        self._store = workings.store

    def forget(self, scope: Scope, wanted: Wanted) -> Forgotten:
        """See PersonaMemory.forget."""
        return self.delete(self._selection(scope, wanted))

    def delete(self, selection: Selection) -> Forgotten:
        """Forget what is selected: gone from the files when this, or the transaction around it, ends."""
        forgotten = self._store.delete(selection)
        self._workings.purge_if(forgotten.total + forgotten.notes > 0)
        return forgotten

    def _selection(self, scope: Scope, wanted: Wanted) -> Selection:
        conditions = (wanted.key, wanted.ids, wanted.query, wanted.since, wanted.until, wanted.source)
        places = (scope.session_id, scope.site_id, scope.task_id)
        if not wanted.everything and all(condition is None for condition in (*conditions, *places)):
            raise InvalidRequest("everything", "must be true to forget everything of this scope")
        return Selection(
            scope,
            keys=None if wanted.key is None else (wanted.key,),
            ids=None if wanted.ids is None else tuple(wanted.ids),
            words=None if wanted.query is None else word_groups(wanted.query, wanted.lang),
            since=wanted.since,
            until=wanted.until,
            source=wanted.source,
        )


def word_groups(query: str, lang: str | None) -> tuple[frozenset[str], ...]:
    """The content words of a query, each in every form in which a text of any known language may be indexed."""
    asked = language.of_text(lang, query)
    return tuple(language.forms(word, asked, language.known()) for word in asked.bare_words(query))
