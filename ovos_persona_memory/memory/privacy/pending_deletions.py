"""What was forgotten, as far as it must reach what is still on its way: said before it, delivered after it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice

import msgspec

from ovos_persona_memory.records import Entry, Episode, Fact, Scope, Selection, Turn
from ovos_persona_memory.stores import BOTH, Store, owner_name
from ovos_persona_memory.text import languages

STATE = "swept"
"""Name of the small value in which they are kept."""
MOST = 1000
"""So many are known at most, the newest."""
TELLING = 2
"""A lasting text with so many content words is told by any turn that holds them all."""
TOLD_MOST, WORDS_MOST = 100, 12
"""So many lasting texts are known of what is forgotten together, each by so many of its content words."""
AHEAD_S = 86400.0
"""A forgetting that lies further in the future, seconds, has its time from a clock that ran ahead: when it was, and
what was said before it, nobody can tell any more."""
PLACES = ("user_id", "session_id", "site_id", "task_id", "persona_id")
EVERYWHERE = Scope.everyone()

Record = Turn | Entry | Fact | Episode
Groups = Sequence[frozenset[str]]
Hash = Callable[..., int]
"""From texts to a number under the key of the ledger."""


class Sweep(msgspec.Struct, frozen=True, omit_defaults=True):
    """One forgetting: where, when and of what; names and words by their hashes."""

    at: float
    """When it was, seconds since the epoch, UTC: what was said then or later stays."""
    kinds: tuple[str, ...]
    places: dict[str, int] = {}
    """What of the scope is set."""
    level: int | None = None
    """How surely the user was known, 0 to 5; what was more private than that stayed."""
    since: float | None = None
    until: float | None = None
    words: tuple[tuple[int, ...], ...] | None = None
    """What holds one of each."""
    only: int | None = None
    """A lasting text with so many content words: whatever tells it goes with it."""
    keys: tuple[int, ...] | None = None
    owners: tuple[int, ...] | None = None
    """Of the memories with these keys, whose: personas by their names in the index of keys."""
    source: int | None = None
    slots: tuple[str, ...] | None = None


@dataclass(frozen=True)
class ForgottenText:
    """A lasting text that is forgotten."""

    user_id: str
    groups: Groups
    """Its content words, in every form."""
    by: frozenset[str] = frozenset({"turn", "memory", "fact"})
    """Which kinds of records that tell it go with it."""


class Sweeps:
    """Kept in the store that devices share, each with its time. Not thread-safe: the store's transactions are.

    Only what comes late is asked about, since the clocks of two devices may differ: what is said now is news.
    """

    def __init__(self, store: Store, clock: Callable[[], float], hashed: Hash) -> None:
        """``hashed`` gives the number of texts that stand for a name or a word."""
        self._store, self._clock, self._hash = store, clock, hashed
        self._known: tuple[str, list[Sweep]] = ("", [])
        self._delivered_at: float | None = None

    @property
    def is_late(self) -> bool:
        """Whether what is taken in now was said long ago."""
        return self._delivered_at is not None

    @contextmanager
    def late(self, now: float) -> Iterator[None]:
        """Within, what is taken in ``now``, seconds since the epoch, was said while the store was away."""
        self._delivered_at = now
        try:
            yield
        finally:
            self._delivered_at = None

    def now(self) -> float:
        """The time, also while the clock stands for what is delivered late; seconds since the epoch, UTC."""
        return self._clock() if self._delivered_at is None else self._delivered_at

    # taking note

    def note(
        self, selection: Selection, told: Iterable[ForgottenText] = (), slots: Sequence[str] | None = None
    ) -> None:
        """Take note of what is forgotten now, with the lasting texts that go with it; ``slots``: of facts, only these.

        Records that are named by their ids are all in the store: with them go only those that tell the same.
        """
        if not self._store.shared:
            return
        made = [] if selection.ids is not None and slots is None else [self._sweep(selection, slots)]
        if _is_narrow(selection):  # else what tells it goes with everything else
            made += [self._telling(selection, one) for one in islice(told, TOLD_MOST) if one.groups]
        known = {_what(one): one for one in (*self._all(), *made)}
        newest = sorted(known.values(), key=lambda one: one.at)[-MOST:]
        self._store.put_state(STATE, msgspec.json.encode(newest).decode())

    def note_fact(self, fact: Fact) -> None:
        """Take note that a fact is forgotten, and nothing else."""
        told = ForgottenText(fact.user_id, languages.statement_word_groups(fact.text, fact.lang), frozenset({"fact"}))
        self.note(Selection(Scope(user_id=fact.user_id), ids=(fact.id,)), [told])

    def _sweep(self, selection: Selection, slots: Sequence[str] | None) -> Sweep:
        named = {name: getattr(selection.scope, name) for name in PLACES}
        return Sweep(
            at=float(self._clock()),
            kinds=tuple(sorted(selection.kinds)),
            places={name: self._hash(name, value) for name, value in named.items() if value is not None},
            level=selection.scope.auth_level,
            since=None if selection.since is None else float(selection.since),
            until=None if selection.until is None else float(selection.until),
            words=None if selection.words is None else self._hashed(selection.words),
            keys=None if selection.keys is None else tuple(self._hash("key", key) for key in selection.keys),
            owners=None if selection.owners is None else tuple(map(self._owner, selection.owners)),
            source=None if selection.source is None else self._hash("source", selection.source),
            slots=None if slots is None else tuple(slots),
        )

    def _telling(self, selection: Selection, told: ForgottenText) -> Sweep:
        """What tells a lasting text that goes, as far as forgetting reaches."""
        scope = replace(selection.scope, user_id=told.user_id, persona_id=None)
        groups = list(dict.fromkeys(told.groups))
        words = tuple(groups[:WORDS_MOST])
        here = Selection(scope, since=selection.since, until=selection.until, words=words, kinds=told.by)
        return msgspec.structs.replace(self._sweep(here, None), only=len(groups))

    def _owner(self, persona_id: str | None) -> int:
        return self._hash("owner", owner_name(persona_id))

    def _hashed(self, groups: Groups) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(sorted(self._hash("word", form) for form in group)) for group in groups)

    # asking

    def takes_turn(self, turn: Turn, words: str) -> bool:
        """Whether a turn comes late that was forgotten since it was said; ``words``: its index words."""
        return self._takes(turn, "turn", turn.at or 0.0, words)

    def takes_entry(self, entry: Entry, words: str) -> bool:
        """Likewise of a lasting memory."""
        return self._takes(entry, "memory", entry.updated_at, words)

    def takes_fact(self, fact: Fact, words: str) -> bool:
        """Likewise of a fact that a turn teaches."""
        return self._takes(fact, "fact", fact.last_seen_at, words)

    def takes_episode(self, episode: Episode, words: str) -> bool:
        """Likewise of something that happened."""
        return self._takes(episode, "episode", episode.at, words)

    def _takes(self, record: Record, kind: str, at: float, words: str) -> bool:
        if not self.is_late:
            return False
        until = self.now() + AHEAD_S
        before = [one for one in self._all() if at < one.at <= until]
        asked = [one for one in before if kind in one.kinds and self._is_there(one, record, at)]
        if not any(one.words is not None for one in asked):
            return any(self._is_it(one, record) for one in asked)
        held = {self._hash("word", word) for word in words.split()}
        return any(_holds(one, held) and _tells(one, record) and self._is_it(one, record) for one in asked)

    def _is_there(self, sweep: Sweep, record: Record, at: float) -> bool:
        within = (sweep.since is None or at >= sweep.since) and (sweep.until is None or at < sweep.until)
        return within and all(self._is_in(record, name, number) for name, number in sweep.places.items())

    def _is_in(self, record: Record, name: str, number: int) -> bool:
        value = getattr(record, name, None)
        if value is None:
            return name == "persona_id"  # a persona's scope holds its own records and those of no persona
        return self._hash(name, value) == number

    def _is_it(self, sweep: Sweep, record: Record) -> bool:
        private = getattr(record, "private", 0)
        sources = (getattr(record, "skill_id", None), getattr(record, "persona_id", None))
        return (
            (sweep.level is None or private <= sweep.level)
            and (sweep.keys is None or (isinstance(record, Entry) and self._hash("key", record.key) in sweep.keys))
            and (sweep.owners is None or self._owner(getattr(record, "persona_id", None)) in sweep.owners)
            and (sweep.slots is None or (isinstance(record, Fact) and record.slot in sweep.slots))
            and (sweep.source is None or sweep.source in {self._hash("source", one) for one in sources if one})
        )

    def _all(self) -> list[Sweep]:
        kept = self._store.state(STATE) or ""
        if kept != self._known[0]:
            self._known = (kept, msgspec.json.decode(kept, type=list[Sweep]))
        return self._known[1]


def _is_narrow(selection: Selection) -> bool:
    narrower = (selection.keys, selection.ids, selection.words, selection.source)
    return any(one is not None for one in narrower) or not selection.kinds >= BOTH


def _what(sweep: Sweep) -> bytes:
    """What is forgotten, whenever that was: of two that are the same the later says it all."""
    return msgspec.json.encode(msgspec.structs.replace(sweep, at=0.0))


def _holds(sweep: Sweep, held: set[int]) -> bool:
    return sweep.words is None or (bool(sweep.words) and all(not held.isdisjoint(group) for group in sweep.words))


def _tells(sweep: Sweep, record: Record) -> bool:
    """Whether a record that holds the words of a lasting text tells it: a turn among others, the rest in no others."""
    if sweep.only is None:
        return True
    if isinstance(record, Turn):
        return sweep.only >= TELLING
    if isinstance(record, Episode):
        return False
    return len(set(languages.statement_word_groups(record.text, record.lang))) == sweep.only
