"""Turns that are handed in: put into a scope, named."""

from __future__ import annotations

import os
import uuid

from ovos_persona_memory.blocks import text_of
from ovos_persona_memory.records import HOUSEHOLD, Scope, Turn, changed


def handed_in(turn: Turn, scope: Scope, utterance_id: str | None, now: float) -> Turn:
    """The turn as it is recorded in a scope, of this utterance, with an id and a time."""
    return changed(
        turn,
        text=text_of(turn.text),
        id=turn.id or os.urandom(16).hex(),  # as unique as a random UUID, in a fifth of its time
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
