"""What a person said, restated by a language model: from its answer, whatever it looks like, to data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ovos_persona_memory.memory.tidying.proposals import LONGEST_ANSWER, WRAPPED, as_object, json_values, number_of

DEEP = 4
"""So deep, in lists and objects, restatements are looked for."""
MOST = 60
"""So many restatements of one answer are looked at."""
SAYS, TURNS = ("says", "sentence", "statement", "fact", "content", "text"), ("turn", "turns", "line", "number")
"""Under these names models put the sentence, and the line that says it."""


@dataclass(frozen=True)
class Restatement:
    """One plain sentence, and the numbers of the turns that say it, as they stand in what the model was asked."""

    text: str
    turns: tuple[int, ...]


def restatements_in(answer: str) -> list[Restatement] | None:
    """The restatements in an answer, in order; None where it holds neither one nor an empty list.

    Prose around them, fences, and a list that breaks off are read for what is whole in them.
    """
    values = list(json_values(answer[:LONGEST_ANSWER]))
    found = [made for value in values for made in _restatements(value)]
    return found[:MOST] if found or any(value in ([], {}) for value in values) else None


def _restatements(value: Any, deep: int = DEEP) -> Iterator[Restatement]:
    made = _restatement(value) if isinstance(value, dict) else None
    if made is not None:
        yield made
    elif isinstance(value, (dict, list)) and deep:
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _restatements(inner, deep - 1)


def _restatement(value: Mapping[str, Any]) -> Restatement | None:
    fields = dict(value)
    for key in WRAPPED:
        fields |= as_object(value.get(key))
    text = next((fields[key] for key in SAYS if isinstance(fields.get(key), str) and fields[key].strip()), None)
    named = next((fields[key] for key in TURNS if fields.get(key) is not None), None)
    turns = [number_of(one) for one in (named if isinstance(named, list) else [named])]
    cited = tuple(one for one in turns if one is not None)
    return Restatement(text.strip(), cited) if text is not None and cited else None


DEFINITIONS: tuple[Mapping[str, Any], ...] = (
    {
        "type": "function",
        "function": {
            "name": "restate",
            "description": "Restate one thing that the user said about the user's life as a plain sentence.",
            "parameters": {
                "type": "object",
                "properties": {
                    "says": {"type": "string", "description": "In the first person, in the user's own words."},
                    "turn": {"type": "integer", "description": "The number of the user's line that says it."},
                },
                "required": ["says", "turn"],
            },
        },
    },
)
"""The tool as OpenAI's protocol defines it, for a model that can call tools."""
