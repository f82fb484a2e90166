"""The fact port: what every backend does, and the plain scan that a fast search is compared with."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from ovos_persona_memory.records import ACCEPTED, Decision, Fact, FactChange, Scope, Selection
from ovos_persona_memory.stores.base.bm25 import set_of
from ovos_persona_memory.stores.base.selection import holds_all
from ovos_persona_memory.stores.sql.where_clause import PLACES

FIELDS = [
    "id",
    "user_id",
    "slot",
    "lang",
    "confidence",
    "decay",
    "created_at",
    "last_seen_at",
    "valid_from",
    "valid_until",
    "status",
    "superseded_by",
    "turn_id",
    *PLACES,
    "trust",
    "private",
]
"""The fields of a fact that have a column of their own; its words are kept apart."""
ACTIVE = frozenset({"active"})
EVERY_STATUS = frozenset({"active", "superseded", "waiting"})
DECISIONS_KEPT = 1000
DECISIONS_KEPT_S = 30 * 86400.0
"""Maximum number of decisions kept, and their maximum age, seconds."""


@dataclass(frozen=True)
class FoundFact:
    """One fact that a search by words found."""

    record: Fact
    score: float
    """The sum of the weights of the query terms that it holds; higher is better."""
    words: frozenset[str]


@dataclass(frozen=True)
class FactQuery:
    """A query for facts."""

    scope: Scope
    statuses: frozenset[str] = ACTIVE
    slot: str | None = None
    at: float | None = None
    """Only facts that held at that time, seconds since the epoch, UTC."""
    limit: int | None = None
    offset: int = 0
    topic: str | None = None
    """Only those that matter to this."""


class FactStore(ABC):
    """Facts by user, their changes and what was decided, with the promises of the Store that it belongs to."""

    @abstractmethod
    def put(self, fact: Fact, words: str) -> Fact:
        """Keep a fact; a fact with its id is replaced and keeps its ``seq``. It comes back with its ``seq``.

        ``words``: its index terms; only an active fact is found by them.
        """

    @abstractmethod
    def fact(self, fact_id: str) -> Fact | None:
        """The fact with this id; None where there is none."""

    @abstractmethod
    def facts(self, wanted: FactQuery) -> list[Fact]:
        """The facts that match the query, the last said first (by ``last_seen_at``, then ``seq``)."""

    @abstractmethod
    def at_place(self, user_id: str, place: str, limit: int | None = None) -> list[Fact]:
        """The newest ``limit`` facts of a user at one place (``Fact.place``), in any status, oldest first.

        By ``valid_from``, then ``seq``.
        """

    @abstractmethod
    def of_turns(self, turn_ids: Sequence[str]) -> list[Fact]:
        """The facts that were learned from these turns, in any status, by ``seq``."""

    @abstractmethod
    def held(self, user_id: str | None, statuses: frozenset[str] = ACTIVE) -> Sequence[tuple[Fact, str]]:
        """The facts of a user, None: of everybody, with their words, by ``seq``: what the plain scan reads."""

    def search(self, words: Sequence[str], scope: Scope, limit: int) -> list[FoundFact]:
        """The best ``limit`` active facts in scope that hold at least one of the words, best first.

        A word is worth ln(1 + (N - n + 0.5) / (n + 0.5)), held by n of the user's N active facts: BM25's
        inverse frequency, without the lengths, as facts are one sentence each. Of equals the newer ``seq`` first.
        """
        asked = set(words)
        found: list[FoundFact] = []
        for of_user in _by_user(self.held(scope.user_id)).values():
            matches = [(fact, asked & set_of(text)) for fact, text in of_user]
            weight = weights([held for _, held in matches], len(of_user))
            found += [
                FoundFact(fact, math.fsum(weight[word] for word in held), frozenset(held))
                for fact, held in matches
                if held and fact_in_scope(fact, scope)
            ]
        return sorted(found, key=found_order)[: max(limit, 0)]

    @abstractmethod
    def add_change(self, change: FactChange) -> None:
        """Note a change of a fact."""

    @abstractmethod
    def changes(self, fact_ids: Sequence[str]) -> list[FactChange]:
        """The changes of these facts, in the order in which they were noted."""

    @abstractmethod
    def add_decision(self, decision: Decision) -> None:
        """Note a decision; the oldest go where there are more than ``DECISIONS_KEPT``, or they are too old."""

    @abstractmethod
    def decisions(self, user_id: str | None, limit: int) -> list[Decision]:
        """The newest decisions about a user, None: everybody's, the newest first."""

    @abstractmethod
    def delete(self, fact_ids: Sequence[str]) -> int:
        """Delete facts with their changes; how many they were. The Store's ``purge`` makes it gone."""

    @abstractmethod
    def delete_decisions(self, user_id: str | None) -> None:
        """Delete the decisions about a user, None: about everybody."""

    @abstractmethod
    def delete_decisions_before(self, at: float) -> int:
        """Delete decisions made before this time, seconds since the epoch, UTC; how many they were."""

    @abstractmethod
    def rename_user(self, user_id: str, into: str) -> None:
        """Make facts, changes and decisions of one user another's."""

    def merge_user(self, user_id: str, into: str, now: float = math.inf) -> int:
        """Make one user's facts another's; how many they were. Of two about one thing the last said holds.

        Where a clock ran ahead of ``now``, seconds since the epoch, the one learned last holds.
        """
        moved = self.held(user_id, EVERY_STATUS)
        self.rename_user(user_id, into)
        for place in sorted({fact.place for fact, _ in moved if fact.status == "active"}):
            self._keep_newest(into, place, now)
        return len(moved)

    def _keep_newest(self, user_id: str, place: str, now: float) -> None:
        active = [(fact, words) for fact, words in self.held(user_id) if fact.place == place]
        if all(fact.last_seen_at <= now for fact, _ in active):  # otherwise they are ordered by seq
            active.sort(key=lambda one: (one[0].last_seen_at, one[0].seq))
        *older, (newest, _) = active
        for fact, words in older:
            until = max(newest.valid_from, fact.last_seen_at)
            self.put(replace(fact, status="superseded", valid_until=until, superseded_by=newest.id), words)

    def chosen(self, selection: Selection) -> list[Fact]:
        """The facts of a selection. A fact counts as said when it was first said."""
        if "fact" not in selection.kinds:
            return []
        held = self.held(selection.scope.user_id, EVERY_STATUS)
        return [fact for fact, words in held if takes_fact(selection, fact, words)]

    def delete_selected(self, selection: Selection) -> None:
        """Delete the facts of a selection; where that is everything of a user, the decisions go too."""
        if "fact" in selection.kinds and takes_everything(selection):
            self.delete_decisions(selection.scope.user_id)
        self.delete([fact.id for fact in self.chosen(selection)])


def count_learned_elsewhere(facts: Sequence[Fact], turn_ids: Collection[str]) -> int:
    """How many of the facts were learned from none of these turns: the others are deleted with their turns."""
    return sum(fact.turn_id not in turn_ids for fact in facts)


def found_order(found: FoundFact) -> tuple[float, int]:
    """Sort key of a search's answer."""
    return (-found.score, -found.record.seq)


def weights(held: Sequence[set[str]], documents: int) -> Mapping[str, float]:
    """The weight of each term; ``held``: the query terms that each of a user's active facts holds."""
    frequency: dict[str, int] = {}
    for words in held:
        for word in words:
            frequency[word] = frequency.get(word, 0) + 1
    return {word: weight_of(n, documents) for word, n in frequency.items()}


def weight_of(frequency: int, documents: int) -> float:
    """The weight of a term with this frequency among a user's active facts."""
    return math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5))


def _by_user(held: Sequence[tuple[Fact, str]]) -> dict[str, list[tuple[Fact, str]]]:
    found: dict[str, list[tuple[Fact, str]]] = {}
    for fact, words in held:
        found.setdefault(fact.user_id, []).append((fact, words))
    return found


def fact_in_scope(fact: Fact, scope: Scope) -> bool:
    """Whether the fact is within the scope."""
    return (
        scope.user_id in (None, fact.user_id)
        and scope.session_id in (None, fact.session_id)
        and (scope.persona_id is None or fact.persona_id in (None, scope.persona_id))
        and scope.site_id in (None, fact.site_id)
        and scope.task_id in (None, fact.task_id)
        and scope.may_know(fact.private)
        and scope.takes(ACCEPTED)
    )


def is_wanted(fact: Fact, wanted: FactQuery) -> bool:
    """Whether the fact matches the query."""
    return (
        wanted.slot in (None, fact.slot)
        and (wanted.topic is None or wanted.topic in fact.topics)
        and fact.status in wanted.statuses
        and fact_in_scope(fact, wanted.scope)
        and (wanted.at is None or fact.valid_from <= wanted.at)
        and (wanted.at is None or fact.valid_until is None or wanted.at < fact.valid_until)
    )


def takes_fact(selection: Selection, fact: Fact, words: str) -> bool:
    """Whether a selection takes a fact; ``words``: its index terms."""
    return (
        fact_in_scope(fact, selection.scope)
        and (selection.keys is None or fact.id in selection.keys)
        and selection.owners is None
        and (selection.ids is None or fact.id in selection.ids or fact.turn_id in selection.ids)
        and fact.id not in selection.spare
        and (selection.words is None or holds_all(words, selection.words))
        and (selection.since is None or fact.created_at >= selection.since)
        and (selection.until is None or fact.created_at < selection.until)
        and selection.source in (None, fact.persona_id)
    )


def takes_everything(selection: Selection) -> bool:
    """Whether a selection takes all facts of a user."""
    scope = selection.scope
    narrower = (selection.keys, selection.ids, selection.words, selection.since, selection.until, selection.source)
    return all(one is None for one in (*narrower, scope.session_id, scope.site_id, scope.task_id, scope.persona_id))


def in_said_order(fact: Fact) -> tuple[float, int]:
    """Sort key: the last said first."""
    return (-fact.last_seen_at, -fact.seq)
