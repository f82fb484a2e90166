"""The page's texts in every shipped language, and times in words."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import cached_property, lru_cache
from zoneinfo import ZoneInfo

import msgspec

from ovos_persona_memory.config import device_language, device_timezone
from ovos_persona_memory.text import languages

FILE = "web.json"
"""Name of the file in each language's folder: one text a key, with slots as in dialogs."""


@lru_cache(maxsize=32)
def _texts_of(tag: str) -> Mapping[str, str]:
    path = languages.locale_folder() / tag / FILE
    return msgspec.json.decode(path.read_bytes(), type=dict[str, str]) if path.is_file() else {}


@lru_cache(maxsize=1)
def offered() -> tuple[str, ...]:
    """The tags of the languages that the page speaks, sorted."""
    return tuple(tag for tag in languages.shipped() if _texts_of(tag))


@dataclass(frozen=True)
class Texts:
    """The texts of one language; those of English where this one has none."""

    tag: str

    def __call__(self, key: str, **slots: object) -> str:
        """The text of this name, with its slots filled."""
        text = _texts_of(self.tag).get(key) or _texts_of(languages.FALLBACK).get(key) or key
        return text.format_map({name: str(value) for name, value in slots.items()}) if slots else text

    def has(self, key: str) -> bool:
        """Whether there is a text of this name."""
        return key in _texts_of(languages.FALLBACK)

    @cached_property
    def direction(self) -> str:
        """Which way its script runs, rtl or ltr: that of the first letter that has one."""
        for letter in self("name"):
            runs = unicodedata.bidirectional(letter)
            if runs in ("L", "R", "AL"):
                return "ltr" if runs == "L" else "rtl"
        return "ltr"

    def day(self, at: float, now: float) -> str:
        """The day of a moment in words: today, yesterday, 3 days ago, on 4 May 2026."""
        said = languages.for_language(self.tag).when(_local(at), _local(now))
        return said[:1].upper() + said[1:]

    def time(self, at: float) -> str:
        """The time of day."""
        return _local(at).strftime("%H:%M")

    def moment(self, at: float, now: float) -> str:
        """Day and time."""
        return f"{self.day(at, now)}, {self.time(at)}"


def figure(number: float) -> str:
    """A whole number with a thin space between thousands, as in every language (ISO 80000-1, 7.3.1)."""
    return f"{number:,.0f}".replace(",", "\u202f")


def iso(at: float) -> str:
    """A moment for machines, in the device's time zone."""
    return _local(at).isoformat(timespec="seconds")


def day_of(at: float) -> str:
    """The day of a moment in the device's time zone: 2026-11-21."""
    return _local(at).date().isoformat()


def day_bounds(day: str) -> tuple[float, float] | None:
    """The moments at which a day like 2026-11-21 begins and ends; None where it is no day."""
    try:
        begins = datetime.strptime(day, "%Y-%m-%d").replace(tzinfo=_zone())
        ends = datetime.strptime(day, "%Y-%m-%d").replace(hour=23, minute=59, second=59, tzinfo=_zone())
        since, until = begins.timestamp(), ends.timestamp() + 1.0
    except (ValueError, OverflowError, OSError):
        return None
    return (since, until) if since >= 0 else None


def chosen(wanted: str | None, accepted: str) -> Texts:
    """The texts in the language that somebody chose; else in the first of an Accept-Language header that is there, else
    in the device's."""
    for tag in (wanted, *_by_weight(accepted), device_language()):
        if tag and (found := _nearest(tag)):
            return Texts(found)
    return Texts(languages.FALLBACK)


def _nearest(tag: str) -> str | None:
    exact = [one for one in offered() if one.lower() == tag.lower()]
    near = [one for one in offered() if one.split("-")[0] == tag.lower().split("-")[0]]
    return next(iter((*exact, *near)), None)


def _by_weight(accepted: str) -> list[str]:
    weighed = []
    for number, part in enumerate(accepted[:500].split(",")):
        tag, _, weight = part.strip().partition(";q=")
        try:
            weighed.append((-float(weight or 1.0), number, tag.strip()))
        except ValueError:
            continue
    return [tag for _, _, tag in sorted(weighed)]


@lru_cache(maxsize=1)
def _zone() -> tzinfo | None:
    named = device_timezone()
    try:
        return ZoneInfo(named) if named else None
    except (KeyError, ValueError, OSError):
        return None


def _local(at: float) -> datetime:
    zone = _zone()
    return datetime.fromtimestamp(at, zone) if zone is not None else datetime.fromtimestamp(at).astimezone()
