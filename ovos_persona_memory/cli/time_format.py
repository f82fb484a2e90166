"""Times as people write and read them."""

from __future__ import annotations

import re
import time
from datetime import datetime

import rich_click as click

UNIT_S = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw])", re.IGNORECASE)


def span_s(text: str) -> float | None:
    """The duration in "30m", "2h" or "1d", seconds; None for any other text."""
    found = _SPAN.fullmatch(text.strip())
    return float(found[1]) * UNIT_S[found[2].lower()] if found else None


def parse_time(text: str, now: float) -> float:
    """The time that ISO 8601 names (local where it names no zone), or a duration ago, in seconds since the epoch.

    ValueError for any other text.
    """
    ago_s = span_s(text)
    if ago_s is not None:
        return now - ago_s
    # Python 3.10 knows no Z
    return datetime.fromisoformat(re.sub(r"[zZ]$", "+00:00", text.strip())).timestamp()


def format_time(at: float | None) -> str:
    """A time for people, in this device's zone; "never" for None."""
    return "never" if at is None else datetime.fromtimestamp(at).strftime("%Y-%m-%d %H:%M")


def as_moment(value: str) -> float:
    """An option's value as seconds since the epoch."""
    try:
        return parse_time(value, time.time())
    except (ValueError, OverflowError, OSError):
        raise click.BadParameter(
            f"{value!r} is no time: write 2026-11-21, 2026-11-21T18:30 or, for a time ago, 30m, 2h, 3d"
        ) from None


def as_span_s(value: str) -> float:
    """An option's value as a length of time, in seconds."""
    seconds = span_s(value)
    if seconds is None:
        raise click.BadParameter(f"{value!r} is no length of time: write 30m, 2h or 3d")
    return seconds
