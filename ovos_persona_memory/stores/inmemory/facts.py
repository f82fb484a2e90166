"""Facts in this process's memory; the search is the plain scan."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from dataclasses import replace

from ovos_persona_memory.records import Decision, Fact, FactChange
from ovos_persona_memory.stores.base.facts import (
    ACTIVE,
    DECISIONS_KEPT,
    DECISIONS_KEPT_S,
    EVERY_STATUS,
    FactQuery,
    FactStore,
    in_said_order,
    is_wanted,
)
from ovos_persona_memory.stores.base.store import refuse_unstorable
from ovos_persona_memory.stores.inmemory.undo_log import UndoLog


class InMemoryFacts(FactStore):
    """Dicts of facts, changes and decisions."""

    def __init__(self, changes: UndoLog) -> None:
        self._transaction, self._put, self._gone = changes.transaction, changes.put, changes.gone
        self._reading, self._number = changes.reading, changes.number
        self._facts: MutableMapping[str, tuple[Fact, str]] = changes.table("fact")
        self._changes: MutableMapping[int, FactChange] = changes.table("change")
        self._decisions: MutableMapping[int, Decision] = changes.table("decision")

    def _next(self) -> int:
        return self._number("fact")

    def put(self, fact: Fact, words: str) -> Fact:
        refuse_unstorable(fact, words, *fact.topics)
        with self._transaction():
            known = self._facts.get(fact.id)
            kept = replace(fact, seq=known[0].seq if known else self._next())
            self._put(self._facts, kept.id, (kept, words))
        return kept

    def fact(self, fact_id: str) -> Fact | None:
        with self._reading():
            found = self._facts.get(fact_id)
        return found[0] if found else None

    def _every(self) -> list[tuple[Fact, str]]:
        with self._reading():
            return list(self._facts.values())

    def facts(self, wanted: FactQuery) -> list[Fact]:
        found = sorted((fact for fact, _ in self._every() if is_wanted(fact, wanted)), key=in_said_order)
        return found[wanted.offset :][: wanted.limit]

    def at_place(self, user_id: str, place: str, limit: int | None = None) -> list[Fact]:
        found = [fact for fact, _ in self._every() if (fact.user_id, fact.place) == (user_id, place)]
        found.sort(key=lambda fact: (fact.valid_from, fact.seq))
        return found if limit is None else found[max(len(found) - limit, 0) :]

    def of_turns(self, turn_ids: Sequence[str]) -> list[Fact]:
        found = [fact for fact, _ in self._every() if fact.turn_id in turn_ids]
        return sorted(found, key=lambda fact: fact.seq)

    def held(self, user_id: str | None, statuses: frozenset[str] = ACTIVE) -> list[tuple[Fact, str]]:
        found = [one for one in self._every() if one[0].status in statuses and user_id in (None, one[0].user_id)]
        return sorted(found, key=lambda one: one[0].seq)

    # changes and decisions

    def add_change(self, change: FactChange) -> None:
        refuse_unstorable(change)
        with self._transaction():
            self._put(self._changes, self._next(), change)

    def changes(self, fact_ids: Sequence[str]) -> list[FactChange]:
        with self._reading():
            return [change for _, change in sorted(self._changes.items()) if change.fact_id in fact_ids]

    def add_decision(self, decision: Decision) -> None:
        refuse_unstorable(decision)
        with self._transaction():
            self._put(self._decisions, self._next(), decision)
            newest = sorted(self._decisions, reverse=True)[:DECISIONS_KEPT]
            for number, one in list(self._decisions.items()):
                if number < newest[-1] or one.at < decision.at - DECISIONS_KEPT_S:
                    self._put(self._decisions, number, self._gone)

    def decisions(self, user_id: str | None, limit: int) -> list[Decision]:
        with self._reading():
            found = [one for _, one in sorted(self._decisions.items(), reverse=True)]
        return [one for one in found if user_id in (None, one.user_id)][: max(limit, 0)]

    # forgetting and moving

    def rename_user(self, user_id: str, into: str) -> None:
        with self._transaction():
            for fact, words in self.held(user_id, EVERY_STATUS):
                self._put(self._facts, fact.id, (replace(fact, user_id=into), words))
            for table in (self._changes, self._decisions):
                for number, one in [item for item in table.items() if item[1].user_id == user_id]:
                    self._put(table, number, replace(one, user_id=into))

    def delete(self, fact_ids: Sequence[str]) -> int:
        with self._transaction():
            gone = [fact_id for fact_id in set(fact_ids) if fact_id in self._facts]
            for fact_id in gone:
                self._put(self._facts, fact_id, self._gone)
            for number in [n for n, change in self._changes.items() if change.fact_id in gone]:
                self._put(self._changes, number, self._gone)
        return len(gone)

    def delete_decisions_before(self, at: float) -> int:
        with self._transaction():
            old = [number for number, one in self._decisions.items() if one.at < at]
            for number in old:
                self._put(self._decisions, number, self._gone)
        return len(old)

    def delete_decisions(self, user_id: str | None) -> None:
        with self._transaction():
            for number in [n for n, one in self._decisions.items() if user_id in (None, one.user_id)]:
                self._put(self._decisions, number, self._gone)
