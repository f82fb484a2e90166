"""The journal of what a language model changed: each look at a session, and what it takes to undo it as a whole."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from ovos_persona_memory.errors import UnknownEntry
from ovos_persona_memory.memory.transcript import MemoryParts
from ovos_persona_memory.records import ACCEPTED, Entry, Introspection, Note, Scope, Selection, Status
from ovos_persona_memory.search import index_words

STATE = "introspections"
"""Name of the small value in the store that holds the journal, as JSON."""
KEPT = 20
"""So many looks at sessions can be undone, the newest; of older ones nothing is kept."""
MOST_REFUSED = 50
"""So many refused proposals of one look are named."""
REPLACED = "replaced by introspection"
"""Metadata of a discarded memory that is the text which a look replaced, with the id of that look."""


@dataclass(frozen=True)
class Change:
    """One change of a look at a session, with what it takes to undo it, and no text of a memory."""

    what: Literal["added", "updated", "discarded", "note"]
    entry_id: str = ""
    left_at: float = 0.0
    """``updated_at`` of what was changed as the look left it."""
    before_at: float = 0.0
    before_status: Status = ACCEPTED
    kept_id: str = ""
    """Of an update: the id of the discarded memory that holds the text before."""
    note: Mapping[str, Any] | None = None
    """Of a note: its fields before; None where there was none."""


@dataclass(frozen=True)
class _Entered:
    """A look at a session as it stands in the journal."""

    run: Introspection
    changes: tuple[Change, ...] = ()


class Introspections:
    """The newest looks of a model at sessions, and the undoing of one.

    A replaced text is kept as a discarded memory, which forgetting reaches as any other. It lives, as an old note does,
    only as long as what took its place, and until somebody else changes that; a note goes with any turn that the one
    before may retell, too. Thread-safe: each change is a transaction of the store.
    """

    def __init__(self, workings: MemoryParts) -> None:
        self._workings, self._store = workings, workings.store

    def newest(self, scope: Scope = Scope()) -> list[Introspection]:
        """The newest looks at what was said in scope, the newest first."""
        runs = [one.run for one in self._entered()]
        of_user = (run for run in reversed(runs) if scope.user_id in (None, run.user_id))
        return [run for run in of_user if scope.session_id in (None, run.session_id)]

    def refused(self, scope: Scope) -> list[str]:
        """Each proposal of the newest looks in scope that was refused: the look, the tool and the reason."""
        return [f"{run.id} {one}" for run in self.newest(scope) for one in run.refused]

    def add(self, run: Introspection, changes: Sequence[Change]) -> None:
        """Enter a look, with its changes in the order in which they were made; within its transaction."""
        entered = [*self._entered(), _Entered(replace(run, refused=run.refused[:MOST_REFUSED]), tuple(changes))]
        self._drop(one.changes for one in entered[:-KEPT])
        self._put(entered[-KEPT:])

    def undo(self, run_id: str, scope: Scope = Scope()) -> Introspection:
        """Put back what a look at a session in scope changed, all of it or nothing; what was changed since stays.

        UnknownEntry where there is no such look, or it is undone already.
        """
        with self._store.transaction():
            entered = self._entered()
            known = {run.id for run in self.newest(scope) if not run.undone}
            found = next((one for one in entered if one.run.id == run_id and run_id in known), None)
            if found is None:
                raise UnknownEntry(f"there is no introspection {run_id!r} to be undone")
            back = [self._undo(change, found.run) for change in reversed(found.changes)]
            self._drop([found.changes])
            undone = replace(found.run, undone=True, left_alone=back.count(False))
            self._put([_Entered(undone) if one is found else one for one in entered])
        self._workings.purge_if(True)
        return undone

    def keep(self) -> None:
        """Let go of what was replaced where what took its place is gone, or was changed again; before each purge."""
        if not self._store.state(STATE):
            return
        with self._store.transaction():
            entered = self._entered()
            there = [one for one in entered if self._is_about_something(one.run)]
            gone = [one.changes for one in entered if one not in there]
            left = {self._name(change, one.run): set[float]() for one in there for change in one.changes}
            for one in there:
                for change in one.changes:
                    left[self._name(change, one.run)].add(change.left_at)
            stale = [
                change
                for one in there
                for change in one.changes
                if self._at(change, one.run) not in left[self._name(change, one.run)]
            ]
            self._drop([*gone, stale])
            kept = [replace(one, changes=tuple(_without(change, stale) for change in one.changes)) for one in there]
            if kept != entered:
                self._put(kept)
                self._store.purge_later()

    def _name(self, change: Change, run: Introspection) -> tuple[str, str]:
        """What a change is about: a memory, or the note of a session."""
        return (run.user_id, change.entry_id or run.session_id)

    def _is_about_something(self, run: Introspection) -> bool:
        return bool(self._store.turns(Scope(run.session_id, run.user_id), limit=1))

    # one change

    def _entry(self, entry_id: str, run: Introspection) -> Entry | None:
        scope = Scope(user_id=run.user_id)
        chosen = self._store.select(Selection(scope, ids=(entry_id,), kinds=frozenset({"memory"})))
        return next((one for one in chosen if isinstance(one, Entry)), None)

    def _at(self, change: Change, run: Introspection) -> float | None:
        """When what a change is about was last changed; None where it is gone."""
        if change.what == "note":
            note = self._store.note(run.user_id, run.session_id)
            return note.updated_at if note is not None else None
        entry = self._entry(change.entry_id, run)
        return entry.updated_at if entry is not None else None

    def _undo(self, change: Change, run: Introspection) -> bool:
        """Undo one change; whether it could be: what was changed since stays."""
        if self._at(change, run) != change.left_at:
            return False
        if change.what == "note":
            return self._undo_note(change, run)
        entry = self._entry(change.entry_id, run)
        if entry is None:
            return False
        if change.what == "added":
            self._delete([entry.id], run.user_id)
        elif change.what == "discarded":
            self._put_entry(replace(entry, status=change.before_status, updated_at=change.before_at))
        else:
            kept = self._entry(change.kept_id, run)
            if kept is None:
                return False
            metadata = {name: value for name, value in kept.metadata.items() if name != REPLACED}
            before = replace(kept, key=entry.key, id=entry.id, seq=entry.seq, metadata=metadata)
            self._put_entry(replace(before, status=change.before_status, updated_at=change.before_at))
        return True

    def _undo_note(self, change: Change, run: Introspection) -> bool:
        if change.note is None:
            self._store.delete_notes([(run.user_id, run.session_id)])
        else:
            self._store.put_note(run.user_id, run.session_id, Note(**change.note))
        return True

    def _put_entry(self, entry: Entry) -> None:
        self._store.put_entry(entry, index_words(entry))

    def _delete(self, ids: Sequence[str], user_id: str | None) -> None:
        if ids:
            self._store.delete(Selection(Scope(user_id=user_id), ids=tuple(ids), kinds=frozenset({"memory"})))

    def _drop(self, several: Iterable[Iterable[Change]]) -> None:
        """Delete the texts that changes kept for their undoing."""
        self._delete([change.kept_id for changes in several for change in changes if change.kept_id], None)

    # the journal

    def _entered(self) -> list[_Entered]:
        told = json.loads(self._store.state(STATE) or "[]")
        return [_Entered(_run(one["run"]), tuple(Change(**change) for change in one["changes"])) for one in told]

    def _put(self, entered: Sequence[_Entered]) -> None:
        self._store.put_state(STATE, json.dumps([asdict(one) for one in entered]) if entered else "")


def _without(change: Change, stale: Sequence[Change]) -> Change:
    """A change, without what it takes to undo it where that is out of date."""
    return replace(change, kept_id="", note=None, left_at=-1.0) if change in stale else change


def _run(told: Mapping[str, Any]) -> Introspection:
    fields: dict[str, Any] = {name: tuple(one) if isinstance(one, list) else one for name, one in told.items()}
    return Introspection(**fields)
