"""Predicates of scopes and selections, which every backend agrees on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ovos_persona_memory.records import ACCEPTED, Entry, Note, Scope, Selection, Turn

BOTH = frozenset({"turn", "memory"})


def in_scope(record: Turn | Entry, scope: Scope) -> bool:
    """Whether the record is within the scope."""
    return (
        scope.user_id in (None, record.user_id)
        and scope.session_id in (None, record.session_id)
        and (scope.persona_id is None or record.persona_id in (None, scope.persona_id))
        and scope.site_id in (None, record.site_id)
        and scope.task_id in (None, record.task_id)
        and scope.takes(ACCEPTED if isinstance(record, Turn) else record.status)
        and (isinstance(record, Turn) or scope.may_know(record.private))
    )


def kind_of(record: Turn | Entry) -> str:
    """``turn`` or ``memory``."""
    return "turn" if isinstance(record, Turn) else "memory"


def redacted(turn: Turn) -> Turn:
    """The turn without its words."""
    return replace(turn, text="", speaker=None, name=None, tool_calls=(), redacted=True)


def selected(record: Turn | Entry, selection: Selection, words: str = "") -> bool:
    """Whether a selection takes the record; ``words``: its index terms."""
    at = (record.at if isinstance(record, Turn) else record.updated_at) or 0.0
    return (
        in_scope(record, selection.scope)
        and kind_of(record) in selection.kinds
        and (selection.keys is None or (isinstance(record, Entry) and record.key in selection.keys))
        and (selection.owners is None or record.persona_id in selection.owners)
        and (selection.ids is None or record.id in selection.ids)
        and record.id not in selection.spare
        and (selection.words is None or holds_all(words, selection.words))
        and (selection.since is None or at >= selection.since)
        and (selection.until is None or at < selection.until)
        and (selection.source is None or selection.source in _sources(record))
    )


def holds_all(words: str, groups: Sequence[frozenset[str]]) -> bool:
    """Whether the index words hold at least one of each group; of no group: nothing does."""
    held = frozenset(words.split(" "))
    return bool(groups) and all(not held.isdisjoint(group) for group in groups)


def takes_note(selection: Selection, user_id: str, session_id: str, note: Note) -> bool:
    """Whether a selection takes a session's note itself: the note counts as a statement of no speaker, made when it was
    put."""
    said = Turn(role="system", text="", at=note.updated_at, user_id=user_id, session_id=session_id)
    return selected(said, selection)


def _sources(record: Turn | Entry) -> tuple[str | None, ...]:
    return (record.skill_id, record.persona_id) if isinstance(record, Turn) else (record.persona_id,)
