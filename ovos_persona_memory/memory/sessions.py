"""The verbs about one session as a whole: its note, taking it out and putting it back, trimming it."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

from ovos_persona_memory.config import HistoryConfig
from ovos_persona_memory.conversation import (
    INSTRUCTIONS,
    Grouping,
    MessageLike,
    Snapshot,
    Window,
    blocks,
    history,
    message_tokens,
    snapshots,
    strategies,
    turns_of,
)
from ovos_persona_memory.errors import InvalidRequest
from ovos_persona_memory.memory.transcript import MemoryParts, handed_in
from ovos_persona_memory.records import (
    HOUSEHOLD,
    ContextMessage,
    ContextRequest,
    Note,
    Role,
    Scope,
    Selection,
    StrategyName,
    Turn,
)
from ovos_persona_memory.search import index_words

LOOKED_THROUGH = 500
"""Of a session in which hardly anything is answered, not many more turns than these are read for a history."""
Trimmed = Mapping[tuple[str, str], int]
"""By user and session: turns with a seq up to this are left to the session's summary."""
BEFORE = 16
"""So many of the turns that a summary stands for are read once more: some of what follows may answer them."""
SUMMARISED = 2000
"""Of a session, so many of the newest turns are looked at when it is to be summarised."""


class Sessions:
    """The verbs of PersonaMemory about one session as a whole, and what its history begins with."""

    def __init__(self, workings: MemoryParts, config: HistoryConfig) -> None:
        self._workings = workings
        self._store = workings.store
        self._by_room = config.key == "site"
        self._usual = _usual_strategy(config)

    # its note

    def note(self, scope: Scope) -> Note:
        """What is kept of the session beside its turns; an empty note where nothing is. Read where that is allowed."""
        return Note() if scope.session_id is None else self._note(scope) or Note()

    def update(self, scope: Scope, summary: str | None = None, description: str | None = None) -> Note:
        """See PersonaMemory.update_session."""
        _named(scope)
        if summary is None and description is None:
            return self.note(scope) if self._may_read(scope) else Note()
        self._workings.captures.refuse_while_paused(scope)
        with self._store.transaction():
            known, now = self._note(scope) or Note(), self._workings.clock()
            changed = replace(
                known,
                summary=known.summary if summary is None else summary.strip(),
                description=known.description if description is None else description.strip(),
                updated_at=now,
                summarised_at=known.summary_at if summary is None else now,
            )
            self._put(scope, changed)
        self._workings.purge_if(known not in (Note(), changed))
        return changed

    def _note(self, scope: Scope) -> Note | None:
        return self._store.note(scope.user_id or HOUSEHOLD, _named(scope))

    def _put(self, scope: Scope, note: Note) -> None:
        self._store.put_note(scope.user_id or HOUSEHOLD, _named(scope), note)

    # taking it out and putting it back

    def snapshot(self, scope: Scope, max_history: int | None) -> Snapshot:
        """See PersonaMemory.snapshot."""
        _named(scope)
        if not self._may_read(scope):
            return {"messages": [], "summary": None}
        turns = self.newest_turns(scope, Window(max_history))
        return snapshots.snapshot(turns, self.note(scope).summary, max_history)

    def restore(self, taken: Mapping[str, Any] | Sequence[MessageLike], scope: Scope) -> list[str]:
        """See PersonaMemory.restore."""
        _named(scope)
        self._workings.captures.refuse_while_paused(scope)
        given, summary = turns_of(taken)
        now, batch = self._workings.clock(), uuid.uuid4().hex
        with self._store.transaction():
            known = self._note(scope) or Note()
            forgotten = self._store.delete(Selection(replace(scope, site_id=None), kinds=frozenset({"turn"})))
            # linked: what is heard from now on is news, in the same words too
            passed = [replace(turn, id="", batch=batch, linked=True) for turn in given]
            kept = [self._add(handed_in(turn, scope, turn.utterance_id, now)) for turn in passed]
            if summary or known.description:
                self._put(scope, Note(summary, known.description, updated_at=now, summarised_at=now))
        self._workings.purge_if(forgotten.total + forgotten.notes > 0)
        return [turn.id for turn in kept]

    def _add(self, turn: Turn) -> Turn:
        return self._store.add_turn(turn, index_words(turn))

    # leaving its older part to the summary

    def to_summarise(self, scope: Scope, keep_recent: int) -> list[ContextMessage]:
        """See PersonaMemory.to_summarise."""
        return [history.message_of(deepcopy(turn)) for turn in self._older(scope, keep_recent)]

    def trim(self, scope: Scope, keep_recent: int) -> int:
        """See PersonaMemory.trim."""
        _named(scope)
        with self._store.transaction():
            left = self._older(scope, keep_recent)
            if left:
                known = self._note(scope) or Note()
                self._put(scope, replace(known, trimmed_to=left[-1].seq))
        return len(left)

    def trim_to_fit(self, scope: Scope, max_tokens: int) -> int:
        """See PersonaMemory.trim_to_fit."""
        _named(scope)
        if not self._may_read(scope):
            return 0
        with self._store.transaction():
            turns, trimmed_to = self.since_summary(scope)
            left = snapshots.beyond(turns, max(max_tokens, 0), trimmed_to)
            if left:
                self._put(scope, replace(self._note(scope) or Note(), trimmed_to=left[-1].seq))
        return len(left)

    def since_summary(self, scope: Scope) -> tuple[list[Turn], int]:
        """The turns of a session that no summary stands for, oldest first, behind some that tell who answers whom;
        and the ``seq`` up to which they are those. Read where that is allowed.
        """
        limit = 4 * BEFORE
        while True:
            turns, trimmed = self._talk(scope, limit)
            trimmed_to = max(trimmed.values(), default=0)
            if len(turns) < limit or turns[BEFORE].seq <= trimmed_to:
                return turns, trimmed_to
            limit *= 2

    def summarised(self, scope: Scope, known: Note, summary: str, last: Turn) -> Note:
        """Keep a new summary that stands for the turns up to the last one, too; within a transaction."""
        now = self._workings.clock()
        changed = replace(known, summary=summary, trimmed_to=last.seq, updated_at=now, summarised_at=now)
        self._put(scope, changed)
        return changed

    def _older(self, scope: Scope, keep_recent: int) -> list[Turn]:
        _named(scope)
        if not self._may_read(scope):
            return []
        turns, trimmed = self._talk(scope, SUMMARISED)
        return snapshots.older(turns, keep_recent, max(trimmed.values(), default=0))

    # its history

    def of_room(self, scope: Scope) -> Scope:
        """The scope, of the room alone where the settings say that a history is a room's."""
        by_room = self._by_room and scope.site_id is not None
        return replace(scope, session_id=None) if by_room else scope

    @property
    def usual_overflow(self) -> strategies.Overflow | None:
        """When a session overflows by the settings; None where none does."""
        return None if self._usual is None or self._by_room else self._usual.overflow

    def within(self, limits: Window) -> Window:
        """How much history a request with these limits gets: where it sets none, as the settings say."""
        return strategies.of_request(limits, self._usual)

    def strategy_of(self, request: ContextRequest) -> strategies.Strategy | None:
        """The strategy of a persona, or of the settings where it has none and sets no limits; None: there is none."""
        if request.strategy is not None:
            return strategies.named(
                request.strategy, request.max_history, request.max_tokens, request.summary_threshold
            )
        limits = Window(request.max_history, request.max_rounds, request.max_tokens)
        return None if self.within(limits) == limits else self._usual

    def opening(self, scope: Scope, window: Window, now: float) -> list[ContextMessage]:
        """The history of a session, or of a room, that opens a prompt; read where that is allowed."""
        if scope.session_id is None and scope.site_id is None:
            return []
        return history.history(self.newest_turns(self.of_room(scope), window), window, now)

    def newest_turns(
        self, scope: Scope, window: Window, grouped: Grouping = blocks, roles: Collection[Role] | None = None
    ) -> list[Turn]:
        """As many turns as can matter for a history, without those left to the summary.

        More are read until the window is surely full, with messages of these ``roles`` where some are given.
        """
        if window.max_history is None and window.max_tokens is None:
            return _untrimmed(*self._talk(scope, None))
        wanted = 8 * max(window.max_history or 0, 0) + 16
        while True:
            turns, trimmed = self._talk(scope, wanted)
            whole = len(turns) < wanted or (window.max_history is not None and len(turns) >= LOOKED_THROUGH)
            found = [one for one in history.messages(turns, grouped=grouped) if roles is None or one.role in roles]
            if whole or _fills(found, window):
                return _untrimmed(turns, trimmed)
            wanted *= 4

    def _talk(self, scope: Scope, limit: int | None) -> tuple[list[Turn], Trimmed]:
        if scope.session_id is not None:
            turns, trimmed_to = self._store.talk(scope, limit)
            return turns, {(scope.user_id or HOUSEHOLD, scope.session_id): trimmed_to} if trimmed_to else {}
        notes = self._store.notes(Scope(user_id=scope.user_id))
        trimmed = {(user, session): note.trimmed_to for user, session, note in notes if note.trimmed_to}
        return self._store.turns(scope, limit), trimmed

    def _may_read(self, scope: Scope) -> bool:
        return self._workings.captures.may_read(scope)


def _fills(found: Sequence[ContextMessage], limits: Window) -> bool:
    """Whether there is more than the limits let through, without the first message, which may lack what joins it."""
    if limits.max_history is not None and len(found) > limits.max_history + 1:
        return True
    if limits.max_tokens is None:
        return False
    # no message is shown with more than half of the tokens, and the newest question is shown in any case
    costs = (min(message_tokens(message), limits.max_tokens // 2) for message in found[1:])
    return sum(costs) > 2 * limits.max_tokens and any(message.role == "user" for message in found[1:])


def _usual_strategy(config: HistoryConfig) -> strategies.Strategy | None:
    if config.strategy is None:
        return None
    name: StrategyName = config.strategy  # type: ignore[assignment]  # one of CHOICES in config
    return strategies.Strategy(name, config.window_size, config.max_tokens, config.summary_threshold)


def _untrimmed(turns: Sequence[Turn], trimmed: Trimmed) -> list[Turn]:
    if not trimmed:
        return list(turns)
    left = ((turn, trimmed.get((turn.user_id, turn.session_id or ""), 0)) for turn in turns)
    return [turn for turn, up_to in left if turn.seq > up_to or turn.role in INSTRUCTIONS]


def _named(scope: Scope) -> str:
    if scope.session_id is None:
        raise InvalidRequest("session_id", "is missing")
    return scope.session_id
