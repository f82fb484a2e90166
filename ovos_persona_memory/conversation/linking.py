"""Linking without duplicates: which heard turn an utterance id or a persona's own record belongs to."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from itertools import takewhile

from ovos_persona_memory.conversation.exchanges import OPEN_S
from ovos_persona_memory.records import Turn

CLAIM_S = 120.0
"""A user turn that got no id within this time gets none any more, seconds: core stamps every message that follows
it."""


def claimant(turns: Sequence[Turn], utterance_id: str, text: str | None = None) -> Turn | None:
    """The user turn that takes an id seen for the first time; None where a turn has it already or none lacks one.

    ``turns`` of one session, in order of arrival, up to the moment the id was seen; ``text`` is the utterance in
    ``ovos.intent.matched``. The oldest turn of that text, else the oldest after the last one that has an id, else the
    oldest.
    """
    if any(turn.utterance_id == utterance_id for turn in turns if turn.role == "user"):
        return None
    heard = [turn for turn in turns if turn.role == "user" and _is_heard(turn)]
    since = max((turn.at for turn in turns if turn.at is not None), default=0.0) - CLAIM_S
    waiting = _waiting(heard, since)
    words = spelled(text or "")
    alike = [turn for turn in waiting if words and spelled(turn.text) == words]
    return next(iter([*alike, *_waiting(_after_last_id(heard), since), *waiting]), None)


def heard_answer(
    turns: Sequence[Turn], exchange: Sequence[Turn], utterance_id: str | None, now: float, within_s: float = 30.0
) -> list[Turn]:
    """The heard turns that a persona's record stands for, in order of arrival: its answer and the user turn asked.

    By the utterance id; else by the text of the answer, white space ignored: the newest sentences in a row that are not
    linked, make it up together, and ended within ``within_s`` before ``now``. Empty when the answer was not heard.
    """
    free = [turn for turn in turns if _is_heard(turn) and not turn.linked]
    speech = [turn for turn in free if turn.role == "assistant" and not (turn.machine or turn.announcement)]
    answer = [turn for turn in speech if utterance_id is not None and turn.utterance_id == utterance_id]
    if not answer:
        alike = [turn for turn in speech if _same_id(turn.utterance_id, utterance_id)]
        answer = _newest_run(alike, _answer_text(exchange), now - within_s)
    return [*_asked(turns, answer[0]), *answer] if answer else []


def heard_question(turns: Sequence[Turn], given: Sequence[Turn], now: float, within_s: float = 30.0) -> list[Turn]:
    """The heard user turn that a record without an answer stands for, where neither has an utterance id.

    The newest of the session, if it has the same words and is not linked. Empty where it was not heard.
    """
    if any(turn.role != "user" or turn.utterance_id is not None for turn in given):
        return []
    heard = [turn for turn in turns if turn.role == "user" and _is_heard(turn) and _said_since(turn, now - within_s)]
    words = spelled(given[-1].text)
    return [one for one in heard[-1:] if not one.linked and one.utterance_id is None and spelled(one.text) == words]


def recorded_before(turns: Sequence[Turn], given: Sequence[Turn], utterance_id: str | None) -> list[Turn]:
    """What another record of the same answer left, in order of arrival: a persona's memory and its engine tell both.

    By the utterance id and the text of the answer, white space ignored. Empty where there is none.
    """
    told = [turn for turn in turns if utterance_id is not None and turn.utterance_id == utterance_id]
    answer = _answer_text(given)
    again = [one for one in told if answer and _is_unheard_answer(one) and _unspaced(one.text) == answer]
    return [*(turn for turn in told if turn.role == "user"), *again] if again else []


def already_recorded(
    turns: Sequence[Turn],
    spoken: Turn,
    now: float,
    within_s: float = 30.0,
    heard: Mapping[str, str] | None = None,
) -> Turn | None:
    """The persona's record of which this speech, heard after it, is a part; None where it is new.

    ``turns`` of one session, in order of arrival, without the speech itself. ``heard`` maps the id of a record to
    everything heard of it so far, so that each piece counts once. Where no utterance id decides, the speech has to be
    the next piece, and a record before the newest heard user turn does not count: the speech answers that turn, though
    it may be in the same words.
    """
    since_asked = list(takewhile(lambda turn: not (turn.role == "user" and _is_heard(turn)), reversed(turns)))
    for i, record in enumerate(reversed(turns)):
        if not _is_unheard_answer(record) or not _said_since(record, now - within_s):
            continue
        left = _still_unheard(record, heard or {})
        if _is_piece_by_id(record, spoken, left) or (i < len(since_asked) and _is_next_piece(record, spoken, left)):
            return record
    return None


def newest_asked(recent: Sequence[Turn], spoken: Turn) -> Turn | None:
    """On the stable line: the user turn that this speech answers, the newest of its session."""
    if spoken.utterance_id is not None or spoken.announcement:
        return None
    since = (spoken.at or 0.0) - OPEN_S
    return next((turn for turn in reversed(recent) if turn.role == "user" and (turn.at or 0.0) >= since), None)


def _is_heard(turn: Turn) -> bool:
    return turn.source == "heard" and turn.batch is None


def _is_unheard_answer(turn: Turn) -> bool:
    return turn.role == "assistant" and turn.source == "record" and turn.batch is not None and not turn.linked


def _said_since(turn: Turn, since: float) -> bool:
    return turn.at is None or turn.at >= since


def _same_id(one: str | None, other: str | None) -> bool:
    """Whether two ids do not contradict each other: one of them may be missing."""
    return one is None or other is None or one == other


def _waiting(heard: Sequence[Turn], since: float) -> list[Turn]:
    return [turn for turn in heard if turn.utterance_id is None and _said_since(turn, since)]


def _after_last_id(heard: Sequence[Turn]) -> Sequence[Turn]:
    last = max((i for i, turn in enumerate(heard) if turn.utterance_id is not None), default=-1)
    return heard[last + 1 :]


def _newest_run(speech: Sequence[Turn], text: str, since: float) -> list[Turn]:
    """The newest turns in a row whose texts make up ``text``, the last of them said since then; else nothing."""
    for end in range(len(speech), 0, -1):
        if not _said_since(speech[end - 1], since):
            continue
        run = _run_to(speech[:end], text)
        if run:
            return run
    return []


def _run_to(speech: Sequence[Turn], text: str) -> list[Turn]:
    """As many of the last turns as make up ``text``; nothing when they say anything else."""
    start, left = len(speech), text
    while left and start and left.endswith(_unspaced(speech[start - 1].text)):
        start -= 1
        left = left.removesuffix(_unspaced(speech[start].text))
    return [] if left else list(speech[start:])


def _asked(turns: Sequence[Turn], answer: Turn) -> list[Turn]:
    """The heard user turn that this speech answers, if it is not linked: by id, else the newest before it."""
    before = takewhile(lambda turn: turn is not answer, turns)
    users = [turn for turn in before if turn.role == "user" and _is_heard(turn)]
    if answer.utterance_id is not None:
        users = [turn for turn in users if turn.utterance_id == answer.utterance_id]
    return [turn for turn in users[-1:] if not turn.linked]


def _is_piece_by_id(record: Turn, spoken: Turn, left: str) -> bool:
    piece = _unspaced(spoken.text)
    return (
        piece != "" and spoken.utterance_id is not None and spoken.utterance_id == record.utterance_id and piece in left
    )


def _is_next_piece(record: Turn, spoken: Turn, left: str) -> bool:
    piece = _unspaced(spoken.text)
    return piece != "" and _same_id(record.utterance_id, spoken.utterance_id) and left.startswith(piece)


def _still_unheard(record: Turn, heard: Mapping[str, str]) -> str:
    return _unspaced(record.text)[len(_unspaced(heard.get(record.id, ""))) :]


def _answer_text(exchange: Sequence[Turn]) -> str:
    return _unspaced("".join(turn.text for turn in exchange if turn.role == "assistant"))


def _unspaced(text: str) -> str:
    return "".join(text.split())


def spelled(text: str) -> str:
    """The text without case, white space and punctuation, for comparison."""
    return "".join(char for char in unicodedata.normalize("NFKC", text).casefold() if char.isalnum())
