"""Documents in this process's memory; the searches are the plain scans."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import replace

from ovos_persona_memory.records import Document, Namespace
from ovos_persona_memory.stores.base.documents import DocumentStore, StoredDocument, free_name
from ovos_persona_memory.stores.base.selection import holds_all
from ovos_persona_memory.stores.base.store import refuse_unstorable
from ovos_persona_memory.stores.base.vector_math import Floats
from ovos_persona_memory.stores.inmemory.undo_log import UndoLog

DocumentKey = tuple[Namespace, str]


class InMemoryDocuments(DocumentStore):
    """One dict, in the order in which documents were put."""

    def __init__(
        self,
        changes: UndoLog,
        written: Callable[[], None] = lambda: None,
    ) -> None:
        """``written`` is called after a text was written."""
        self._written = written
        self._transaction, self._put, self._gone = changes.transaction, changes.put, changes.gone
        self._held: dict[DocumentKey, tuple[int, StoredDocument]] = {}
        self._last = 0

    def put(self, document: Document, words: str, embedding: Floats | None) -> None:
        refuse_unstorable(document, words)
        with self._transaction():
            self._last += 1
            place = (Namespace(document.user_id, document.namespace), document.id)
            self._put(self._held, place, (self._last, deepcopy(StoredDocument(document, words, embedding))))
            self._written()

    def numbered(self) -> dict[int, tuple[Namespace, StoredDocument]]:
        """Every document by a number that is new whenever it is put."""
        return {number: (space, held) for (space, _), (number, held) in self._held.items()}

    def get(self, space: Namespace, document_id: str) -> StoredDocument | None:
        refuse_unstorable(space, document_id)
        with self._transaction():
            found = self._held.get((space, document_id))
        return deepcopy(found[1]) if found else None

    def held(self, space: Namespace) -> Iterator[StoredDocument]:
        with self._transaction():
            found = [numbered for place, numbered in self._held.items() if place[0] == space]
        found.sort(key=lambda numbered: numbered[0])
        return (deepcopy(held) for _, held in found)

    def delete(self, space: Namespace, ids: Sequence[str] | None = None) -> int:
        refuse_unstorable(space, *(ids or ()))
        return self._delete(lambda place: place[0] == space and (ids is None or place[1] in ids))

    def delete_of_user(self, user_id: str | None) -> int:
        return self._delete(lambda place: user_id in (None, place[0].user_id))

    def count(self, user_id: str | None) -> int:
        with self._transaction():
            return sum(user_id in (None, place[0].user_id) for place in self._held)

    def holding(self, user_id: str | None, groups: Sequence[frozenset[str]]) -> list[int]:
        with self._transaction():
            mine = [held for place, held in self._held.items() if user_id in (None, place[0].user_id)]
        return [number for number, held in mine if holds_all(held.words, groups)]

    def oldest(self, before: float, limit: int) -> list[int]:
        with self._transaction():
            every = [(one.document.updated_at, number) for number, one in self._held.values()]
        return [number for at, number in sorted(every) if at < before][:limit]

    def delete_numbered(self, numbers: Sequence[int]) -> int:
        return self._delete(lambda place: self._held[place][0] in numbers)

    def users(self) -> set[str]:
        """The users who have documents."""
        return {space.user_id for space, _ in self._held}

    def merge_user(self, user_id: str, into: str) -> int:
        with self._transaction():
            moving = [(place, one) for place, one in self._held.items() if place[0].user_id == user_id]
            for place, one in sorted(moving, key=lambda each: each[1][0]):
                self._put(self._held, place, self._gone)
                self._move(one[1], Namespace(into, place[0].name))
        return len(moving)

    def _move(self, held: StoredDocument, space: Namespace) -> None:
        dim, name, other = self.dimension(space), held.document.id, self.get(space, held.document.id)
        if other is not None:
            older = min(held, other, key=lambda one: one.document.updated_at)
            free = free_name(name, lambda one: (space, one) not in self._held)
            if older is other:
                self._put(self._held, (space, name), self._gone)
                self._keep(other, space, free, dim)
            else:
                name = free
        self._keep(held, space, name, dim)

    def _keep(self, held: StoredDocument, space: Namespace, name: str, dim: int | None) -> None:
        document = replace(held.document, id=name, user_id=space.user_id)
        fits = held.embedding is not None and dim in (None, len(held.embedding))
        self.put(document, held.words, held.embedding if fits else None)

    def _delete(self, chosen: Callable[[DocumentKey], bool]) -> int:
        with self._transaction():
            places = [place for place in self._held if chosen(place)]
            for place in places:
                self._put(self._held, place, self._gone)
        return len(places)
