"""What a program says of a turn that it has recorded: tokens, tools and time, as an episode."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from typing import Any

from ovos_persona_memory.errors import InvalidRequest
from ovos_persona_memory.records import Episode, Turn


def refuse_unusable_metadata(metadata: Mapping[str, Any] | None) -> None:
    """InvalidRequest where tokens or latency_ms is no number from 0 on, or tools no list of names."""
    for name in ("tokens", "latency_ms"):
        value = (metadata or {}).get(name, 0)
        if not _is_number(value) or value < 0:
            raise InvalidRequest(f"metadata.{name}", "must be a number from 0 on")
    tools = (metadata or {}).get("tools", [])
    if not isinstance(tools, list | tuple) or not all(isinstance(tool, str) for tool in tools):
        raise InvalidRequest("metadata.tools", "must be a list of names")


def episode_of(turn: Turn, metadata: Mapping[str, Any]) -> Episode:
    """The episode of a completed turn; the same turn has the same episode, whenever it comes."""
    latency = metadata.get("latency_ms")
    return Episode(
        kind="turn_completed",
        at=turn.at or 0.0,
        id=uuid.uuid5(uuid.NAMESPACE_OID, f"turn_completed\n{turn.id}").hex,
        user_id=turn.user_id,
        session_id=turn.session_id,
        persona_id=turn.persona_id,
        site_id=turn.site_id,
        utterance_id=turn.utterance_id,
        turn_id=turn.id,
        outcome="handled",
        latency_ms=None if latency is None else float(latency),
        detail={name: value for name, value in metadata.items() if name != "latency_ms"},
    )


def numbers_of(detail: Mapping[str, Any]) -> dict[str, Any]:
    """Of what was said of a turn the numbers alone."""
    return {name: value for name, value in detail.items() if _is_number(value)}


def texts_of(value: object) -> list[str]:
    """Every text in a value, however deep."""
    return list(_texts(value))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    for one in inner:
        yield from _texts(one)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
