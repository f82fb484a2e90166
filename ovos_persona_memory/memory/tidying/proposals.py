"""What a language model proposes about the memories of a person: from its answer, whatever it looks like, to data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

Tool = Literal["memory_add", "memory_update", "memory_delete", "working_memory_update", "session_description_update"]
TOOLS: tuple[str, ...] = get_args(Tool)
LONGEST_ANSWER = 65536
"""Characters of an answer that are looked at."""
MOST_BROKEN = 200
"""So many things that look like an object and are none end the reading of an answer."""
DEEP = 4
"""So deep, in lists and objects, proposals are looked for."""
WRAPPED = ("arguments", "parameters", "args", "function")
"""Under these names models put what belongs to a call."""


@dataclass(frozen=True)
class Proposal:
    """One change that a model proposes."""

    tool: Tool
    text: str = ""
    turns: tuple[int, ...] = ()
    """Numbers of the turns that it cites, as they stand in what the model was asked."""
    memory: int | None = None
    """Number of the memory that it is about, likewise."""


def proposals_in(answer: str) -> list[Proposal] | None:
    """The proposals in an answer, in order; None where it holds neither one nor an empty list.

    Prose around them, fences, and a list that breaks off are read for what is whole in them.
    """
    text = answer[:LONGEST_ANSWER]
    found = [made for value in json_values(text) for one in _calls(value) if (made := _proposal(one)) is not None]
    return found if found or any(value in ([], {}) for value in json_values(text)) else None


def json_values(text: str) -> Iterator[Any]:
    """The JSON objects and lists in a text; of a broken one the whole ones inside it."""
    decoder, place, broken = json.JSONDecoder(), 0, 0
    while broken < MOST_BROKEN:
        starts = [at for at in (text.find("{", place), text.find("[", place)) if at >= 0]
        if not starts:
            return
        place = min(starts)
        try:
            value, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            place, broken = place + 1, broken + 1
            continue
        yield value


def _calls(value: Any, deep: int = DEEP) -> Iterator[Mapping[str, Any]]:
    """The objects that name a tool, in a value and in what it holds."""
    if isinstance(value, dict) and _named(value) is not None:
        yield value
    elif isinstance(value, (dict, list)) and deep:
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _calls(inner, deep - 1)


def _named(call: Mapping[str, Any]) -> str | None:
    name = next((call[key] for key in ("tool", "name", "action") if isinstance(call.get(key), str)), None)
    return name if name in TOOLS else None


def _proposal(call: Mapping[str, Any]) -> Proposal | None:
    name = _named(call)
    if name is None:
        return None
    fields = dict(call)
    for key in WRAPPED:
        fields |= as_object(call.get(key))
    text = next((fields[key] for key in ("content", "text", "summary", "description") if _is_text(fields, key)), "")
    turns = fields.get("turns", fields.get("turn"))
    cited = [number_of(one) for one in (turns if isinstance(turns, list) else [turns])]
    memory = number_of(fields.get("memory"))
    tool: Tool = name  # type: ignore[assignment]  # _named gives one of these
    return Proposal(tool, text.strip(), tuple(one for one in cited if one is not None), memory)


def as_object(value: Any) -> dict[str, Any]:
    """An object, also one that is written as a text; empty for anything else."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, dict) else {}


def _is_text(fields: Mapping[str, Any], key: str) -> bool:
    return isinstance(fields.get(key), str) and bool(fields[key].strip())


def number_of(value: Any) -> int | None:
    """A whole number, also as the text in which models write it: "3", "t3", "[3]"; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    digits = value.strip(" []#tTmM") if isinstance(value, str) else ""
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 9 else None


def _tool(name: Tool, what: str, **fields: Mapping[str, Any]) -> dict[str, Any]:
    parameters = {"type": "object", "properties": fields, "required": list(fields)}
    return {"type": "function", "function": {"name": name, "description": what, "parameters": parameters}}


_TEXT = {"type": "string"}
_NUMBER = {"type": "integer", "description": "The number of the memory."}
_CITED = {"type": "array", "items": {"type": "integer"}, "description": "Numbers of the user's turns that say it."}
DEFINITIONS: tuple[Mapping[str, Any], ...] = (
    _tool("memory_add", "Propose a lasting memory in the user's own words.", content=_TEXT, turns=_CITED),
    _tool("memory_update", "Propose a new text of a memory.", memory=_NUMBER, content=_TEXT, turns=_CITED),
    _tool("memory_delete", "Propose to set aside what the user asks to forget.", memory=_NUMBER, turns=_CITED),
    _tool("working_memory_update", "Put a new summary of the conversation.", content=_TEXT),
    _tool("session_description_update", "Say in a few words what the conversation is about.", content=_TEXT),
)
"""The tools as OpenAI's protocol defines them, for a model that can call tools."""
