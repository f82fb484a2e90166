"""History: what pure functions make of the log of one session (docs: the rules of history)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

from ovos_persona_memory.conversation.exchanges import Block, blocks, blocks_by_session
from ovos_persona_memory.conversation.window import INSTRUCTIONS, Window, newest, of_roles, repair, window
from ovos_persona_memory.records import ContextMessage, Role, Turn

Grouping = Callable[[Iterable[Turn]], list[Block]]
"""Groups turns into exchanges: ``blocks``, or ``blocks_by_session`` where turns of several sessions are mixed."""


def history(
    turns: Iterable[Turn], limits: Window, now: float, grouped: Grouping = blocks, roles: Collection[Role] | None = None
) -> list[ContextMessage]:
    """The history for a prompt, oldest first: exchanges that were answered, within the limits, without orphans.

    ``turns`` of one session, in order of arrival, or of several where they are ``grouped`` by session; ``now`` in
    seconds since the epoch. ``roles``: only messages of these roles, to which the limits then apply, except that on
    rounds.
    """
    if roles is not None:
        return of_roles(history(turns, _rounds_of(limits), now, grouped), roles, limits)
    return repair(window(_newest(_told(turns, _since(limits, now), grouped), limits), limits))


def raw_history(
    turns: Iterable[Turn], limits: Window, now: float, grouped: Grouping = blocks, roles: Collection[Role] | None = None
) -> list[ContextMessage]:
    """The history before repair, as ``get_history`` of ovos-persona's BasicShortTermMemory gives it.

    A last question without an answer stays, so do hanging user messages of a batch, and a cut may leave an answer
    without its question. Of several sessions each stays as it ends, and none runs into the next.
    """
    if roles is not None:
        return of_roles(raw_history(turns, _rounds_of(limits), now, grouped), roles, limits)
    told = _told(turns, _since(limits, now), grouped)
    if grouped is not blocks_by_session:
        return newest(_newest(told, limits, hanging=True), limits)
    parts: list[list[Block]] = []
    for block in told:
        if not parts or _talk_of(parts[-1][-1]) != _talk_of(block):
            parts.append([])
        parts[-1].append(block)
    ends = {_talk_of(part[-1]): place for place, part in enumerate(parts)}
    whole = [place in ends.values() for place in range(len(parts))]
    return newest(
        [one for part, is_end in zip(parts, whole, strict=True) for one in _newest(part, limits, is_end)], limits
    )


def _talk_of(block: Block) -> tuple[str, str | None]:
    """The user and the session of a block."""
    return block.passed[0].user_id, block.passed[0].session_id


def _since(limits: Window, now: float) -> float | None:
    return None if limits.max_age_s is None else now - limits.max_age_s


def _rounds_of(limits: Window) -> Window:
    return Window(max_rounds=limits.max_rounds, max_age_s=limits.max_age_s)


def _newest(told: list[Block], limits: Window, hanging: bool = False) -> list[ContextMessage]:
    """Of all messages those that the limits can let through: the newest, and every instruction before them."""
    if limits.max_history is None:
        return _all_of(told, hanging)
    lone = _lone_question(told, hanging)
    # one more than wanted: the first may lack messages that were joined to it
    newest_blocks = _taken_off(told, max(limits.max_history, 0) + 1)
    before = (turn for block in told for turn in (*block.passed, *block.added) if turn.role in INSTRUCTIONS)
    return [message_of(turn) for turn in before] + _joined([*newest_blocks, *lone])


def _lone_question(told: Sequence[Block], hanging: bool) -> list[list[ContextMessage]]:
    """The last question, where hanging ones are wanted and it has no answer."""
    if not hanging or not told or told[-1].answered:
        return []
    return [[message_of(turn) for turn in told[-1].passed if turn.role == "user" and not turn.redacted]]


def _taken_off(told: list[Block], most: int) -> list[list[ContextMessage]]:
    """Pop the last blocks off the list, rendered: as many as give this many messages when they are joined."""
    taken: list[list[ContextMessage]] = []
    number = 0
    while told and number < most:
        rendered = _rendered(told.pop())
        if rendered:
            number += len(rendered) - (1 if taken and _meet(rendered[-1], taken[-1][0]) else 0)
            taken.append(rendered)
    taken.reverse()
    return taken


def messages(
    turns: Iterable[Turn], since: float | None = None, grouped: Grouping = blocks, hanging: bool = False
) -> list[ContextMessage]:
    """All messages of one session, grouped and merged; ``since`` leaves out blocks that ended before it.

    ``hanging``: with a last question without an answer.
    """
    return _all_of(_told(turns, since, grouped), hanging)


def _all_of(told: Sequence[Block], hanging: bool) -> list[ContextMessage]:
    return _joined([*map(_rendered, told), *_lone_question(told, hanging)])


def _told(turns: Iterable[Turn], since: float | None, grouped: Grouping) -> list[Block]:
    every = grouped(turns)
    return every if since is None else [block for block in every if block.at is None or block.at >= since]


def _joined(rendered: Iterable[list[ContextMessage]]) -> list[ContextMessage]:
    joined: list[ContextMessage] = []
    for block in rendered:
        _join(joined, block)
    return joined


def _rendered(block: Block) -> list[ContextMessage]:
    """The messages of one block: those passed, with what was added to it merged in its place."""
    if not block.answered:  # a hanging user turn is dropped, an instruction beside it stays
        return [message_of(turn) for turn in (*block.passed, *block.added) if turn.role in INSTRUCTIONS]
    rendered = [message_of(turn) for turn in block.passed]
    for turn in block.added:
        _add(rendered, turn)
    return rendered


def _add(rendered: list[ContextMessage], turn: Turn) -> None:
    message = message_of(turn)
    if turn.announcement and turn.role not in INSTRUCTIONS:
        _add_announcement(rendered, message)
    elif turn.role == "tool":
        _add_result(rendered, message)
    else:
        _join(rendered, [message])


def _add_announcement(rendered: list[ContextMessage], announcement: ContextMessage) -> None:
    """Append an announcement to the last message of the assistant that calls no tool."""
    for i in reversed(range(len(rendered))):
        if rendered[i].role == "assistant" and not rendered[i].tool_calls:
            rendered[i] = _merged(rendered[i], announcement)
            return


def _add_result(rendered: list[ContextMessage], result: ContextMessage) -> None:
    """Insert a tool result behind its call and the results already there: speech may have come in between."""
    for i in reversed(range(len(rendered))):
        if any(call.id == result.tool_call_id for call in rendered[i].tool_calls):
            end = i + 1
            while end < len(rendered) and rendered[end].role == "tool":
                end += 1
            rendered.insert(end, result)
            return


def _join(stored: list[ContextMessage], new: Sequence[ContextMessage]) -> None:
    """Join two lists as BasicShortTermMemory does: a hanging question is dropped, two answers in a row become one."""
    if not (stored and new):
        stored.extend(new)
        return
    last, first = stored[-1], new[0]
    if _meet(last, first):
        stored.pop()
        if first.role == "assistant":
            new = [_merged(last, first), *new[1:]]
    stored.extend(new)


def _meet(last: ContextMessage, first: ContextMessage) -> bool:
    """Whether two messages in a row become one: two questions, or two answers that call no tool."""
    if last.role != first.role:
        return False
    return last.role == "user" or (last.role == "assistant" and not (last.tool_calls or first.tool_calls))


def _merged(earlier: ContextMessage, later: ContextMessage) -> ContextMessage:
    return replace(later, text=f"{earlier.text}\n{later.text}")


def message_of(turn: Turn) -> ContextMessage:
    """The turn alone as a message."""
    message = object.__new__(ContextMessage)  # a third of the constructor's time, a dozen times for each history
    message.__dict__.update(
        role=turn.role,
        text=turn.text,
        tool_calls=turn.tool_calls,
        tool_call_id=turn.tool_call_id,
        name=turn.name,
        is_error=turn.is_error,
    )
    return message
