"""A store composed of several, where the kinds of memory are kept in different places."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from ovos_persona_memory.records import Entry, Forgotten, Note, Pause, Scope, Selection, Session, Turn
from ovos_persona_memory.stores.base.facts import count_learned_elsewhere
from ovos_persona_memory.stores.base.store import (
    Counts,
    ExcludedTurn,
    FoundRecord,
    NeighbourTurn,
    Statistics,
    Store,
    refuse_unstorable,
)
from ovos_persona_memory.stores.base.vector_backend import DocumentVectorBackend, TextSource, VectorBackend
from ovos_persona_memory.stores.composite import merged_search
from ovos_persona_memory.stores.composite.external_vectors import ExternalVectors
from ovos_persona_memory.stores.inmemory.null_store import NullStore

KINDS = ("conversational", "facts", "episodic", "semantic")
"""The order in which their stores are entered, and so the reverse of the order in which they commit."""
P = TypeVar("P")


@dataclass(frozen=True)
class StoreParts:
    """The store of each kind; several kinds may share one store."""

    talk: Store
    """Turns, and the notes of sessions."""
    lasting: Store
    """Entries and facts."""
    episodes: Store
    semantic: Store
    """Documents, and the registry of vector indexes."""
    small: Store
    """Pauses, small state and tombstones."""
    shelf: Callable[[TextSource], VectorBackend] | None = None
    """Makes the external backend of the vectors of turns and entries; None: they are with the texts, which are in one
    store."""
    aside: Store | None = None
    """The store that the vector backend is built on, where it is one."""

    @property
    def stores(self) -> list[Store]:
        """Each store once; the one whose commit decides first."""
        every = (self.small, self.talk, self.lasting, self.episodes, self.semantic, self.aside)
        return list(dict.fromkeys(store for store in every if store is not None))


@dataclass(frozen=True)
class StoreOpener(Generic[P]):
    """How the store at a location is opened."""

    store: Callable[[P], Store]
    aside: Callable[[P], Store]
    """Opens a store for vectors beside the one at a location."""
    shelf: Callable[[TextSource], VectorBackend] | None = None
    """Opens a backend that keeps nothing but vectors; None: vectors are in a store."""


def compose(kinds: Mapping[str, P], opening: StoreOpener[P]) -> Store:
    """The store of these kinds' locations: the only store where all share a location, else one that joins them.

    A kind that is missing is off. Stores already opened are closed where another cannot be opened.
    """
    with ExitStack() as undo:

        def made(place: P, make: Callable[[P], Store]) -> Store:
            store = make(place)
            undo.callback(store.close)
            return store

        stores: dict[P, Store] = {}
        for name in (name for name in KINDS if name in kinds):
            if kinds[name] not in stores:
                stores[kinds[name]] = made(kinds[name], opening.store)
        held = {name: stores[place] for name, place in kinds.items()}
        if len(stores) == 1 and len(held) == len(KINDS) and opening.shelf is None:
            found: Store = next(iter(stores.values()))
        else:
            off = NullStore()
            small = next(held[name] for name in KINDS if name in held)
            talk, lasting, episodes, semantic = (held.get(name, off) for name in KINDS)
            parts = StoreParts(talk, lasting, episodes, semantic, small, opening.shelf)
            if "semantic" in held and not parts.shelf and not parts.talk is parts.lasting is parts.semantic:
                store = made(kinds["semantic"], opening.aside)
                parts = replace(parts, shelf=lambda _: DocumentVectorBackend(store), aside=store)
            found = ComposedStore(parts, {name: str(place) for name, place in kinds.items()})
        undo.pop_all()
        return found


class ComposedStore(Store):
    """Passes each call to the store of its kind; a call about several kinds is composed here.

    A transaction is one in each store. Of these the one that holds turns, or else the first that is on, commits last:
    where it fails, the changes in the others are repeated when the same request comes again.
    """

    def __init__(self, parts: StoreParts, names: Mapping[str, str]) -> None:
        """``names``: where each kind that is on is kept, for people."""
        self._parts, self._names = parts, names
        self._talk, self._lasting, self._small = parts.talk, parts.lasting, parts.small
        self._stores = parts.stores
        self._is_one = parts.talk is parts.lasting
        self.durable = all(store.durable for store in self._stores)
        self.shared = any(store.shared for store in self._stores)
        self.keeps_turns = parts.talk.keeps_turns
        self.document_store = parts.semantic.document_store
        self.fact_store = parts.lasting.fact_store
        self.episode_store = parts.episodes.episode_store
        self.ledger_store = parts.small.ledger_store
        self.vector_store = parts.semantic.vector_store
        self._beside: ExternalVectors | None = None
        self._depth = 0
        if parts.shelf is not None:
            texts = TextSource(self.select, self.documents, self.counts, self.transaction, self.state, self.put_state)
            holders = {"turn": parts.talk, "memory": parts.lasting}
            inside = frozenset(kind for kind, store in holders.items() if store is parts.semantic)
            self.vector_store = self._beside = ExternalVectors(texts, parts.shelf(texts), parts.semantic, inside)

    def close(self) -> None:
        if self._beside is not None:
            self._beside.close()
        for store in self._stores:
            store.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        late: list[Callable[[], None]] = []
        try:
            with ExitStack() as stack:
                for store in self._stores:
                    stack.enter_context(store.transaction())
                with self._vectors_too(late):
                    yield
        except BaseException:
            if self._beside is not None:
                self._beside.undone()
            raise
        for then in late:
            then()

    @contextmanager
    def _vectors_too(self, late: list[Callable[[], None]]) -> Iterator[None]:
        """Gathers the vector changes that follow the commit of the outermost transaction."""
        if self._beside is None:
            yield
            return
        self._depth += 1  # guarded by the stores' locks, which the transaction holds
        try:
            yield
            if self._depth == 1 and (then := self._beside.ending()) is not None:
                late.append(then)
        except BaseException:
            self._beside.failing()
            raise
        finally:
            self._depth -= 1

    # turns

    def add_turn(self, turn: Turn, words: str) -> Turn:
        kept = self._talk.add_turn(turn, words)
        self._wrote(kept)
        return kept

    def add_turns(self, turns: Sequence[tuple[Turn, str]], fresh: bool = False) -> list[Turn]:
        with self.transaction():
            kept = self._talk.add_turns(turns, fresh)
            for turn in kept:
                self._wrote(turn)
        return kept

    def change_turn(self, turn: Turn, words: str) -> None:
        before = self._talk.turn(turn.id) if self._beside else None
        if self._beside is None or before is None:
            self._talk.change_turn(turn, words)
            return
        refuse_unstorable(turn, words)
        with self.transaction():
            self._talk.change_turn(turn, words)
            after = replace(turn, seq=before.seq)
            if before.text != turn.text:
                self._went([before])
                self._wrote(after)
            elif before.user_id != turn.user_id:
                self._beside.moved(before, after)

    def turn(self, turn_id: str) -> Turn | None:
        return self._talk.turn(turn_id)

    def turns(
        self, scope: Scope, limit: int | None = None, since: float | None = None, until: float | None = None
    ) -> list[Turn]:
        return self._talk.turns(scope, limit, since, until)

    def talk(self, scope: Scope, limit: int | None = None) -> tuple[list[Turn], int]:
        return self._talk.talk(scope, limit)

    def moments(self, scope: Scope, since: float | None = None) -> list[tuple[float, str]]:
        return self._talk.moments(scope, since)

    def latest(self, user_id: str | None, limit: int) -> list[tuple[Turn, str]]:
        return self._talk.latest(user_id, limit)

    def oldest_turns(self, until: float, limit: int) -> list[str]:
        return self._talk.oldest_turns(until, limit)

    def sessions(self, scope: Scope, limit: int | None = None) -> list[Session]:
        return self._talk.sessions(scope, limit)

    def note(self, user_id: str, session_id: str) -> Note | None:
        return self._talk.note(user_id, session_id)

    def put_note(self, user_id: str, session_id: str, note: Note) -> None:
        self._talk.put_note(user_id, session_id, note)

    # lasting memories

    def put_entry(self, entry: Entry, words: str) -> Entry:
        if self._beside is None:
            return self._lasting.put_entry(entry, words)
        refuse_unstorable(entry, words)
        with self.transaction():
            before = self._lasting.entry(entry.key, entry.user_id, entry.persona_id)
            kept = self._lasting.put_entry(entry, words)
            if before is None or before.text != kept.text:
                self._went([before] if before else [])
                self._wrote(kept)
            return kept

    def entry(self, key: str, user_id: str, persona_id: str | None = None) -> Entry | None:
        return self._lasting.entry(key, user_id, persona_id)

    def entry_in(self, key: str, scope: Scope) -> Entry | None:
        return self._lasting.entry_in(key, scope)

    def entries(self, scope: Scope, limit: int | None = None, offset: int = 0) -> list[Entry]:
        return self._lasting.entries(scope, limit, offset)

    def has_secrets(self, user_id: str) -> bool:
        return self._lasting.has_secrets(user_id)

    def _wrote(self, record: Turn | Entry) -> None:
        if self._beside is not None:
            self._beside.wrote(record)

    def _went(self, records: Sequence[Turn | Entry]) -> None:
        if self._beside is not None:
            self._beside.went(records)

    # finding

    def documents(self, scope: Scope, kinds: frozenset[str]) -> Iterator[tuple[Turn | Entry, str]]:
        yield from self._talk.documents(scope, kinds & {"turn"})
        yield from self._lasting.documents(scope, kinds & {"memory"})

    def search(
        self,
        words: Sequence[str],
        scope: Scope,
        kinds: frozenset[str],
        limit: int,
        without: Sequence[ExcludedTurn] = (),
    ) -> list[FoundRecord]:
        if self._is_one:
            return self._talk.search(words, scope, kinds, limit, without)
        return merged_search.search(
            (self._talk, self._lasting), merged_search.SearchTerms(words, scope, kinds, limit, without)
        )

    def statistics(self, words: Sequence[str], user_id: str, without: Sequence[ExcludedTurn] = ()) -> Statistics:
        if self._is_one:
            return self._talk.statistics(words, user_id, without)
        return merged_search.statistics((self._talk, self._lasting), words, user_id, without)

    def languages(self, user_id: str, without: Sequence[ExcludedTurn] = ()) -> frozenset[str]:
        spoken = self._talk.languages(user_id, without)
        return spoken if self._is_one else spoken | self._lasting.languages(user_id)

    def newest_words(  # more than five: a scope, and what is left out of it
        self,
        scope: Scope,
        kinds: frozenset[str],
        limit: int,
        without: Sequence[ExcludedTurn] = (),
        parts: Sequence[str] = (),
    ) -> list[str]:
        lasting = self._lasting.newest_words(scope, kinds & {"memory"}, limit, (), parts)
        return [*lasting, *self._talk.newest_words(scope, kinds & {"turn"}, limit, without, parts)]

    def around(
        self, turns: Sequence[Turn], reach: int, persona_id: str | None = None, without: Sequence[ExcludedTurn] = ()
    ) -> list[list[NeighbourTurn]]:
        return self._talk.around(turns, reach, persona_id, without)

    # forgetting

    def select(self, selection: Selection, limit: int | None = None) -> list[Turn | Entry]:
        turns, lasting = _only(selection, "turn"), _only(selection, "memory")
        return [
            *(self._talk.select(turns, limit) if turns else []),
            *(self._lasting.select(lasting) if lasting else []),
        ]

    def count(self, selection: Selection) -> Forgotten:
        return self._counted(selection, self.select(selection))

    def _counted(self, selection: Selection, chosen: Sequence[Turn | Entry]) -> Forgotten:
        turn_ids = [one.id for one in chosen if isinstance(one, Turn)]
        return Forgotten(
            turns=len(turn_ids),
            memories=len(chosen) - len(turn_ids),
            documents=self.document_store.count_selected(selection),
            notes=self._talk.count(selection).notes,
            facts=count_learned_elsewhere(self.fact_store.chosen(selection), set(turn_ids)),
            episodes=len(self.episode_store.going(selection, turn_ids)),
        )

    def delete(self, selection: Selection) -> Forgotten:
        with self.transaction():
            chosen = self.select(selection)
            count = self._counted(selection, chosen)
            turn_ids = [one.id for one in chosen if isinstance(one, Turn)]
            self.episode_store.delete(self.episode_store.going(selection, turn_ids))
            for store in self._stores:
                if store is not self._parts.aside:
                    store.delete(selection)
            self._went(chosen)
        return count

    def notes(self, scope: Scope) -> list[tuple[str, str, Note]]:
        return self._talk.notes(scope)

    def notes_retelling(self, turns: Sequence[Turn]) -> list[tuple[str, str]]:
        return self._talk.notes_retelling(turns)

    def delete_notes(self, names: Sequence[tuple[str, str]]) -> int:
        return self._talk.delete_notes(names)

    def purge_later(self) -> None:
        for store in self._stores:
            store.purge_later()

    def purge(self) -> None:
        for store in self._stores:
            store.purge()

    def tidy(self) -> bool:
        if self._beside is not None:
            self._beside.tidy()
        left = [store.tidy() for store in self._stores]
        return any(left)

    def compact(self) -> bool:
        written = [store.compact() for store in self._stores]
        return any(written)

    # small state

    def pauses(self) -> list[Pause]:
        return self._small.pauses()

    def put_pause(self, pause: Pause) -> None:
        self._small.put_pause(pause)

    def delete_pauses(self, pauses: Sequence[Pause]) -> None:
        self._small.delete_pauses(pauses)

    def state(self, name: str) -> str | None:
        return self._small.state(name)

    def put_state(self, name: str, value: str) -> None:
        self._small.put_state(name, value)

    def users(self) -> list[str]:
        known = [user for store in self._stores if store is not self._parts.aside for user in store.users()]
        return list(dict.fromkeys(known))

    def counts(self) -> Counts:
        turns, lasting = self._talk.counts(), self._lasting.counts()
        return Counts(turns.turns, lasting.entries, turns.sessions, len(self.users()), lasting.facts)

    def details(self) -> Mapping[str, Any]:
        told = [dict(store.details()) for store in self._stores]
        aside = [one for details in told for one in details.pop("set_aside", [])]
        of_vectors = self._beside.details() if self._beside is not None else {}
        more = {"vectors": dict(of_vectors)} if of_vectors else {}
        return {"kinds": dict(self._names), "stores": told, "set_aside": aside, **more}


def _only(selection: Selection, kind: str) -> Selection | None:
    return replace(selection, kinds=frozenset({kind})) if kind in selection.kinds else None
