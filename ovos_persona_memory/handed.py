"""Turns that are handed in: looked at, put into a scope, named."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import get_args

from ovos_persona_memory.errors import InvalidRequest
from ovos_persona_memory.messages import is_clean
from ovos_persona_memory.records import HOUSEHOLD, Role, Scope, Turn, changed

ROLES: tuple[str, ...] = get_args(Role)


def refuse_unusable(turns: Sequence[Turn]) -> None:
    """InvalidRequest, naming the field, for the first turn that cannot be kept."""
    for number, turn in enumerate(turns):
        if turn.role not in ROLES:
            raise InvalidRequest(f"turns[{number}].role", f"{turn.role!r} is none of {', '.join(ROLES)}")
        for name in ("text", "speaker", "name", "lang", "tool_call_id"):
            if not is_clean(getattr(turn, name) or ""):
                raise InvalidRequest(f"turns[{number}].{name}", "holds a NUL or half a character (a lone surrogate)")


def handed_in(turn: Turn, scope: Scope, utterance_id: str | None, now: float) -> Turn:
    """The turn as it is recorded in a scope, of this utterance, with an id and a time."""
    return changed(
        turn,
        id=turn.id or uuid.uuid4().hex,
        at=now if turn.at is None else turn.at,
        user_id=scope.user_id or HOUSEHOLD,
        session_id=scope.session_id,
        persona_id=scope.owner,
        site_id=scope.site_id,
        task_id=scope.task_id,
        utterance_id=utterance_id,
        source="record",
    )


def delivered_id(turn: Turn, delivery_id: str, number: int) -> str:
    """The id of a turn that may be delivered again: the same whenever it comes."""
    names = (turn.user_id, turn.session_id or "", delivery_id, str(number))
    return uuid.uuid5(uuid.NAMESPACE_OID, "\n".join(names)).hex
