"""Single values as messages carry them: what cannot be used counts as left out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ovos_persona_memory.records import is_clean

MAX_UTTERANCE = 16384
"""Characters of a heard utterance that are kept; a longer one is shortened visibly in the middle."""


def site(value: Any) -> str | None:
    """A room; None for one that is not known."""
    site = text(value)
    return None if site == "unknown" else site


def text(value: Any) -> str | None:
    """A text that can be kept; None for anything else."""
    return value if isinstance(value, str) and value and is_clean(value) else None


def first(*values: Any) -> str | None:
    """The first of these that is a text."""
    return next((found for value in values if (found := text(value))), None)


def bounded(given: Any, characters: int) -> dict[str, Any]:
    """The single texts, numbers and switches of a mapping, shortened to so many characters altogether."""
    kept: dict[str, Any] = {}
    for name, value in mapping(given).items():
        plain = cleaned(value) if isinstance(value, str) else value
        if not text(name) or not isinstance(plain, (str, int, float, bool)) or not plain:
            continue
        characters -= len(name) + len(str(plain))
        if characters < 0:
            break
        kept[name] = plain
    return kept


def cleaned(text: str) -> str:
    """A heard text as it can be kept: without NUL and lone surrogates, shortened in the middle if too long."""
    if not is_clean(text):
        text = text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
    if len(text) > MAX_UTTERANCE:
        half = MAX_UTTERANCE // 2 - 4
        text = f"{text[:half]} […] {text[-half:]}"
    return text.strip()


def zone(location: Mapping[str, Any]) -> str | None:
    """OVOS-SESSION-1, section 3.5: ``tz``; the stable line nests it as in mycroft.conf."""
    return text(location.get("tz")) or text(mapping(location.get("timezone")).get("code"))


def mapping(value: Any) -> Mapping[str, Any]:
    """A mapping; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def spoken(data: Mapping[str, Any]) -> str:
    """What was said or is spoken; empty where nothing is."""
    utterances = data.get("utterances")
    first = utterances[0] if isinstance(utterances, list) and utterances else None
    return next((value for value in (data.get("utterance"), first) if isinstance(value, str)), "")


def decoded_leniently(frame: bytes) -> tuple[Any, str | None]:
    """What can be read of a frame that is not valid throughout, and what is wrong with it."""
    # lone surrogates pass here and are refused later, by the name of their field
    try:
        return json.loads(frame.decode("utf-8", "replace")), None
    except (ValueError, RecursionError):
        text = frame[:4096].decode("utf-8", "replace")
        topic = text.partition('"type"')[2].partition('"')[2].partition('"')[0]
        request_id = text.partition('"request_id"')[2].partition('"')[2].partition('"')[0]
        data = {"request_id": request_id} if request_id else {}
        return {"type": topic, "data": data, "context": {}}, "data: is nested too deeply or is not valid JSON"
