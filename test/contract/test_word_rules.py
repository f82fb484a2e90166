"""Index words that other rules made are made anew."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import Entry, Fact, Scope, Turn
from ovos_persona_memory.search.record_terms import STATE, index_words, renew
from ovos_persona_memory.stores.base.selection import BOTH
from ovos_persona_memory.stores.base.store import Store
from ovos_persona_memory.stores.sqlite.store import SqliteStore
from ovos_persona_memory.text import index_terms

OLD = "made by other rules"


def fill(store: Store) -> None:
    """Three records of which other rules made the words, and one whose words are the same by both."""
    store.add_turn(Turn("user", "猫咪睡觉", at=1.0, id="1", lang="zh-CN"), "猫咪睡觉")
    store.add_turn(Turn("user", "the cats", at=2.0, id="2", lang="en-US"), "the cat")
    store.add_turn(Turn("user", "", at=3.0, id="3", redacted=True), "")
    store.put_entry(Entry("k", "les clés", id="4", lang="fr-FR", created_at=4.0, updated_at=5.0), "k les cles")


def held(store: Store) -> dict[str, str]:
    return {record.id: text for record, text in store.documents(Scope.everyone(), BOTH)}


def test_words_are_made_anew_once_and_only_where_they_differ(store: Store) -> None:
    fill(store)
    before = {record.id: record for record, _ in store.documents(Scope.everyone(), BOTH)}
    assert renew(store) == 2
    assert held(store) == {record.id: index_words(record) for record in before.values()}
    assert {record.id: record for record, _ in store.documents(Scope.everyone(), BOTH)} == before
    assert [found.record.id for found in store.search(["睡觉"], Scope(), BOTH, 5)] == ["1"]
    assert store.search(["猫咪睡觉"], Scope(), BOTH, 5) == []
    assert store.state(STATE) == index_terms.rules()


def test_words_by_the_present_rules_are_left_alone(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(store)
    renew(store)
    monkeypatch.setattr("ovos_persona_memory.search.record_terms.index_words", lambda record: OLD)
    assert renew(store) == 0
    monkeypatch.setattr(index_terms, "rules", lambda: "others")
    assert renew(store) == 4
    assert set(held(store).values()) == {OLD}


def test_the_words_of_facts_are_made_anew_too(store: Store) -> None:
    fact = store.fact_store.put(Fact("the cats are grey", id="f", subject="wife", lang="en-US"), OLD)
    assert renew(store) == 1
    assert list(store.fact_store.held(None)) == [(fact, "wife the cat are grey")]


def test_what_was_cut_short_is_finished_at_the_next_start(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(store)
    monkeypatch.setattr("ovos_persona_memory.search.record_terms.TOGETHER", 1)
    change = store.put_entry

    def ended(entry: Entry, text: str) -> Entry:
        raise KeyboardInterrupt

    monkeypatch.setattr(store, "put_entry", ended)
    with pytest.raises(KeyboardInterrupt):
        renew(store)
    assert store.state(STATE) is None
    monkeypatch.setattr(store, "put_entry", change)
    assert renew(store) == 1


def test_a_memory_that_is_opened_finds_by_the_present_rules(home: Path, opened: Callable[[], SqliteStore]) -> None:
    store = opened()
    fill(store)
    store.close()
    with PersonaMemory.open(home) as memory:
        assert [hit.id for hit in memory.recall("猫咪在哪儿", Scope(), lang="zh-CN")] == ["1"]
        assert memory.state(STATE) == index_terms.rules()
