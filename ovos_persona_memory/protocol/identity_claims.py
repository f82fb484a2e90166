"""What a session says about who is speaking: a hint, until it is weighed by what this device trusts."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from ovos_persona_memory.records import MAX_USER_ID, Claim

HIGHEST_LEVEL, HIGHEST_ON_DEFAULT = 5, 1
"""OVOS-USER-ID-1, section 3.2: everybody on the device shares the default session."""


def claim_in(session: Mapping[str, Any], on_default: bool) -> Claim:
    """Who a session says is speaking, and how surely. What cannot be read counts as left out."""
    highest = HIGHEST_ON_DEFAULT if on_default else HIGHEST_LEVEL
    return Claim(_name(session.get("user_id")), min(_level(session.get("auth_level")), highest))


def _name(value: Any) -> str | None:
    if isinstance(value, str) and value.strip() and len(value) <= MAX_USER_ID and "\0" not in value:
        with suppress(UnicodeEncodeError):  # half of a surrogate pair
            value.encode()
            return value
    return None


def _level(value: Any) -> int:
    known = isinstance(value, (int, float)) and not isinstance(value, bool) and value in range(HIGHEST_LEVEL + 1)
    return int(value) if known else 0
