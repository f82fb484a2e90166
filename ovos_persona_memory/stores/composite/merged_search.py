"""Search merged over two stores of which one holds turns and the other lasting memories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ovos_persona_memory.records import Scope, Turn
from ovos_persona_memory.stores.base.bm25 import bm25
from ovos_persona_memory.stores.base.store import ExcludedTurn, FoundRecord, Statistics, Store, found_order

MORE = 4
"""Factor of hits requested over those wanted: the two stores count terms apart, and so rank a little differently."""


@dataclass(frozen=True)
class SearchTerms:
    """The arguments of a search."""

    words: Sequence[str]
    scope: Scope
    kinds: frozenset[str]
    limit: int
    without: Sequence[ExcludedTurn] = ()


def statistics(
    stores: tuple[Store, Store], words: Sequence[str], user_id: str, without: Sequence[ExcludedTurn] = ()
) -> Statistics:
    """See Store.statistics. The first of the stores holds turns, the second entries."""
    one, other = stores[0].statistics(words, user_id, without), stores[1].statistics(words, user_id)
    documents = one.documents + other.documents
    length = one.documents * one.mean_length + other.documents * other.mean_length
    frequency = {word: one.frequency.get(word, 0) + other.frequency.get(word, 0) for word in set(words)}
    held = {word: n for word, n in frequency.items() if n}
    return Statistics(documents, length / documents if documents else 0.0, held)


def search(stores: tuple[Store, Store], asked: SearchTerms) -> list[FoundRecord]:
    """See Store.search. The first of the stores holds turns, the second entries."""
    talk, lasting = stores
    wide = max(asked.limit, 0) * MORE
    turns = _of_kind(talk, "turn", asked, wide)
    entries = _of_kind(lasting, "memory", asked, wide)
    words = {id(one): text for one, text in zip(turns, _words_of_turns(talk, turns), strict=True)}
    texts = (
        {record.id: text for record, text in lasting.documents(asked.scope, frozenset({"memory"}))} if entries else {}
    )
    words |= {id(one): texts.get(one.record.id, "") for one in entries}
    known: dict[str, Statistics] = {}
    found = []
    for one in (*turns, *entries):
        user_id = one.record.user_id
        if user_id not in known:
            known[user_id] = statistics(stores, asked.words, user_id, asked.without)
        of_user = known[user_id]
        score = bm25(asked.words, words[id(one)], of_user.frequency, of_user.documents, of_user.mean_length)
        found.append(replace(one, score=score))
    return sorted(found, key=found_order)[: asked.limit]


def _of_kind(store: Store, kind: str, asked: SearchTerms, number: int) -> list[FoundRecord]:
    if kind not in asked.kinds:
        return []
    without = asked.without if kind == "turn" else ()
    return store.search(asked.words, asked.scope, frozenset({kind}), number, without)


def _words_of_turns(talk: Store, found: Sequence[FoundRecord]) -> list[str]:
    turns = [one.record for one in found if isinstance(one.record, Turn)]
    return [beside[0].words for beside in talk.around(turns, 0)]
