"""Settings from a mapping: what may stand in the section ``memory``, too."""

from __future__ import annotations

from typing import Any

import pytest

from ovos_persona_memory.config import parse
from ovos_persona_memory.errors import ConfigError


def test_what_stands_in_the_section_memory_is_as_in_its_own_group() -> None:
    more = {"recall": {"limit": 5}, "backend": "inmemory"}
    also = {"context_entry_limit": 4, "introspection": {"max_tool_calls": 3}}
    mine = {"recall": {"limit": 5, "context_entry_limit": 4}, "introspection": {"max_tool_calls": 3}}
    assert parse({**more, "memory": also}) == parse({**more, **mine})
    assert parse({**more, "memory": {}}) == parse(more)


@pytest.mark.parametrize(
    ("section", "problem"),
    [
        ({"memory": {"introspektion": {}}}, "memory.introspektion: there is no such setting"),
        ({"memory": {"recall": {}}}, "memory.recall: there is no such setting"),
        ({"memory": 5}, "memory: there is no such setting"),
        ({"memory": {"context_entry_limit": -1}}, "recall.context_entry_limit: must not be below 0"),
        (
            {"memory": {"context_entry_limit": 1}, "recall": {"context_entry_limit": 2}},
            "memory.context_entry_limit: recall.context_entry_limit is set, too",
        ),
        (
            {"memory": {"introspection": {}}, "introspection": {"enabled": False}},
            "memory.introspection: introspection is set, too",
        ),
    ],
)
def test_a_setting_that_is_unknown_or_given_twice_is_named(section: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        parse(section)
