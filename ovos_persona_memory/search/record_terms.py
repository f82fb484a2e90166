"""The index words of a record, and those of a whole store, made anew when the rules for words change."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from ovos_persona_memory.records import Entry, Fact, Scope, Turn
from ovos_persona_memory.stores import BOTH, EVERY_STATUS, Store
from ovos_persona_memory.text import index_terms, languages

STATE = "word_rules"
"""The small value that says by which rules a store's words were made."""
TOGETHER = 500
"""So many records are changed in one transaction."""

NAMED = ("pet", "family")
"""Slots of facts that tell a name, unless they tell what somebody has: "we have a cat"."""


def index_words(record: Turn | Entry | Fact) -> str:
    """The words that a record is found by, in the language of its text."""
    spoken = languages.for_text(record.lang, record.text)
    if isinstance(record, Turn):
        return " ".join(spoken.words(record.text))
    return " ".join(spoken.words(f"{record.key if isinstance(record, Entry) else record.subject} {record.text}"))


def asking_words(record: Turn | Entry | Fact | None) -> str:
    """Index words that ask for a fact, whatever it was told with, each with a blank behind it: "who is allergic to
    nuts"; empty for what is none."""
    if not isinstance(record, Fact) or not record.slot:
        return ""
    spoken = languages.for_text(record.lang, record.text)
    if record.slot in NAMED and not set(spoken.words(record.value or "")).isdisjoint(record.thing.split()):
        return ""
    return "".join(f"{word} " for said in spoken.asked_with.get(record.slot, ()) for word in spoken.words(said))


def renew(store: Store) -> int:
    """Make all index words anew where other rules made them; how many records that changed.

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
