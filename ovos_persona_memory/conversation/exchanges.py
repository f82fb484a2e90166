"""Exchanges: the turns of one session, grouped by question and answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from ovos_persona_memory.records import Turn

OPEN_S = 300.0
"""Speech without an id answers the newest user turn for this long, seconds; handlers run for minutes."""


@dataclass(slots=True)
class Block:
    """A unit of history: an exchange, or a batch as it was handed in."""

    passed: list[Turn]
    """Turns that stay as they are: the user turn, or the whole batch."""
    added: list[Turn] = field(default_factory=list)
    """Turns heard for it later, in that order; an unrelated one is marked as an announcement."""

    @property
    def is_batch(self) -> bool:
        """Whether it was handed in whole rather than heard."""
        return self.passed[0].batch is not None

    @property
    def answered(self) -> bool:
        """Whether it belongs into the history: it has an answer, and nothing was redacted."""
        if self.is_batch:
            return True
        return not self.passed[0].redacted and "assistant" in [turn.role for turn in self.added]

    @property
    def speaks(self) -> bool:
        """Whether an announcement can join it: it has a message of the assistant that calls no tool."""
        return self.answered and any(_is_plain_speech(turn) for turn in (*self.passed, *self.added))

    @property
    def at(self) -> float | None:
        """The time of its newest turn, announcements aside. None: not known."""
        own = [turn.at for turn in (*self.passed, *self.added) if turn.at is not None and not turn.announcement]
        return max(own, default=None)


def blocks(turns: Iterable[Turn]) -> list[Block]:
    """The exchanges and batches of one session, in the order in which they began; hanging user turns among them.

    ``turns`` in order of arrival. Machine talk, out-of-band questions and announcements with nothing before them are
    left out.
    """
    pairing = _Pairing()
    for turn in _spared(turns):
        pairing.take(turn)
    return pairing.blocks


def blocks_by_session(turns: Iterable[Turn]) -> list[Block]:
    """The blocks of several sessions: each session is grouped alone, and all stand in the order in which they began."""
    talks: dict[tuple[str, str | None], list[Turn]] = {}
    places: dict[int, int] = {}
    for place, turn in enumerate(turns):
        talks.setdefault((turn.user_id, turn.session_id), []).append(turn)
        places[id(turn)] = place
    return sorted((one for talk in talks.values() for one in blocks(talk)), key=lambda one: places[id(one.passed[0])])


class _Pairing:
    """Walks through the turns once and tracks the user turn that further speech would answer."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._newest: Block | None = None
        self._batches: dict[str, Block] = {}
        self._by_utterance: dict[str, Block] = {}
        self._by_call: dict[str, Block] = {}
        self._asking: set[str] = set()

    def take(self, turn: Turn) -> None:
        if turn.batch is not None and not self._answers_heard(turn, turn.batch):
            self._take_batch(turn, turn.batch)
        else:
            self._take_heard(turn)

    def _take_heard(self, turn: Turn) -> None:
        if turn.role == "user":
            self._open(turn)
        elif turn.role == "assistant":
            self._take_speech(turn)
        elif turn.role == "tool":
            self._take_result(turn)
        else:
            self._take_instruction(turn)

    def _answers_heard(self, turn: Turn, batch: str) -> bool:
        """Whether this batch is an answer alone, handed in without its user turn because that had been heard."""
        asked = self._by_utterance.get(turn.utterance_id or "")
        if batch not in self._batches and turn.role == "assistant" and asked and not asked.is_batch:
            self._batches[batch] = asked
        return batch in self._batches and not self._batches[batch].is_batch

    def _take_batch(self, turn: Turn, batch: str) -> None:
        if batch in self._batches:
            self._batches[batch].passed.append(turn)
        else:
            self._batches[batch] = self._begin(turn)
        if turn.role == "user":
            self._newest = self._batches[batch]
            if turn.utterance_id is not None:
                # also from a heard user turn: late speech joins the answer that was handed in
                self._by_utterance[turn.utterance_id] = self._newest

    def _begin(self, turn: Turn) -> Block:
        block = Block([turn])
        self.blocks.append(block)
        return block

    def _open(self, turn: Turn) -> None:
        self._newest = self._begin(turn)
        # After a get_response the speech still carries the first id, and answers the turn that replied.
        if self._asking:
            self._by_utterance.update(dict.fromkeys(self._asking, self._newest))
            self._asking.clear()
        if turn.utterance_id is not None:
            self._by_utterance[turn.utterance_id] = self._newest

    def _take_speech(self, turn: Turn) -> None:
        if turn.expects_reply and turn.utterance_id is not None:
            self._asking.add(turn.utterance_id)
        if turn.redacted or not (turn.text.strip() or turn.tool_calls):
            return
        block = self._answered_by(turn)
        if block is None:
            self._announce(turn)
            return
        block.added.append(turn)
        if turn.tool_calls:
            self._by_call.update((call.id, block) for call in turn.tool_calls)

    def _answered_by(self, turn: Turn) -> Block | None:
        if turn.announcement:
            return None
        if turn.utterance_id is not None:
            return self._by_utterance.get(turn.utterance_id)
        if self._newest is None:
            return None
        asked = self._newest.passed[0]
        # the order of a batch tells what an answer belongs to, however slow it was
        return self._newest if turn.source == "record" or _within(asked, turn, OPEN_S) else None

    def _announce(self, turn: Turn) -> None:
        block = next((block for block in reversed(self.blocks) if block.speaks), None)
        if block is not None and not turn.tool_calls:
            block.added.append(replace(turn, announcement=True))

    def _take_result(self, turn: Turn) -> None:
        block = self._by_call.get(turn.tool_call_id or "")
        if block is not None:
            block.added.append(turn)

    def _take_instruction(self, turn: Turn) -> None:
        if self.blocks:
            self.blocks[-1].added.append(turn)
        else:
            self._begin(turn)


def _spared(turns: Iterable[Turn]) -> list[Turn]:
    """The turns that can take part; in a batch the answer to a redacted turn is dropped, too."""
    spared: list[Turn] = []
    answers_nothing: str | None = None
    for turn in turns:
        if turn.source == "query" or turn.machine:
            continue
        if turn.batch is not None:
            if turn.role == "user":
                answers_nothing = turn.batch if turn.redacted else None
            if turn.redacted or (turn.batch == answers_nothing and turn.role in ("assistant", "tool")):
                continue
        spared.append(turn)
    return spared


def _is_plain_speech(turn: Turn) -> bool:
    return turn.role == "assistant" and not turn.tool_calls


def _within(earlier: Turn, later: Turn, seconds: float) -> bool:
    """Whether two times are at most this far apart; true also where one of them is not known."""
    return earlier.at is None or later.at is None or later.at - earlier.at <= seconds
