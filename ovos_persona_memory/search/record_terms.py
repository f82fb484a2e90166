"""The index terms of a record, and reindexing a store when the rules for terms change."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from ovos_persona_memory.records import PINNED, Entry, Fact, Scope, Turn
from ovos_persona_memory.stores import BOTH, EVERY_STATUS, Store
from ovos_persona_memory.text import index_terms, languages

STATE = "word_rules"
"""Name of the store's small value: the rules that made its index terms."""
TOGETHER = 500
"""Records that one transaction reindexes."""

PIN = "#pinned"
"""The index term of what is pinned; no text has it, since the words of texts are letters and digits."""
NAMED = ("pet", "family")
"""Slots whose facts state a name, or a possession: "we have a cat"."""


def index_words(record: Turn | Entry | Fact) -> str:
    """The index terms of a record, in the language of its text."""
    spoken = languages.for_text(record.lang, record.text)
    if isinstance(record, Turn):
        return " ".join(spoken.words(record.text))
    words = spoken.words(f"{record.key if isinstance(record, Entry) else record.subject} {record.text}")
    return " ".join([*words, PIN] if _is_pinned(record) else words)


def _is_pinned(record: Entry | Fact) -> bool:
    """Whether its person is to be known by it, whatever is asked."""
    return record.metadata.get(PINNED) is True if isinstance(record, Entry) else PINNED in record.topics


def asking_words(record: Turn | Entry | Fact | None) -> str:
    """Index terms of words that ask for a fact, however it was told, each with a blank behind it: "who is allergic to
    nuts"; empty for other records."""
    if not isinstance(record, Fact) or not record.slot:
        return ""
    spoken = languages.for_text(record.lang, record.text)
    if record.slot in NAMED and record.thing and set(record.thing.split()) <= set(spoken.words(record.value or "")):
        return ""
    return "".join(f"{word} " for said in spoken.asked_with.get(record.slot, ()) for word in spoken.words(said))


def renew(store: Store) -> int:
    """Reindex all records where other rules made their terms; how many records that changed.

    Where the process ends in between, the next start does the rest.
    """
    if store.state(STATE) == index_terms.rules():
        return 0
    documents = ((record, held) for record, held in store.documents(Scope.whole(), BOTH))
    changed = ((record, now) for record, held in documents if (now := index_words(record)) != held)
    number = 0
    while some := list(islice(changed, TOGETHER)):
        _replace(store, some)
        number += len(some)
    number += _renew_facts(store)
    store.put_state(STATE, index_terms.rules())
    store.purge()
    return number


def _replace(store: Store, renewed: Sequence[tuple[Turn | Entry, str]]) -> None:
    with store.transaction():
        for record, now in renewed:
            if isinstance(record, Turn):
                store.change_turn(record, now)
            else:
                store.put_entry(record, now)


def _renew_facts(store: Store) -> int:
    facts = store.fact_store.held(None, EVERY_STATUS)
    changed = [(fact, now) for fact, held in facts if (now := index_words(fact)) != held]
    with store.transaction():
        for fact, now in changed:
            store.fact_store.put(fact, now)
    return len(changed)
