"""docs/stores.md: what it tells people to type works."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from postgres_server import FAST, PORT, running

from ovos_persona_memory import config
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import Scope, Turn
from ovos_persona_memory.stores import open_stores

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "stores.md").read_text(encoding="utf-8")

pytestmark = pytest.mark.full


def blocks(title: str) -> list[str]:
    """The code blocks of a section."""
    section = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    text = next(one for one in section if one.startswith(title))
    return re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def test_the_lines_that_set_postgresql_up_do_so() -> None:
    commands, settings = blocks("PostgreSQL")
    lines = [shlex.split(line) for line in commands.splitlines()]
    assert len(lines) + len(settings.splitlines()) <= 5
    assert lines.pop() == ["pip", "install", "ovos-persona-memory[postgres]"]
    with running(**FAST) as server:
        for program, *arguments in lines:
            server.run(program, "--host", str(server.home), "--port", str(PORT), "--username", "postgres", *arguments)
        section = json.loads(settings)["persona_memory"]
        section["connection"] = section["connection"].replace("@localhost/", "@/") + f"?host={server.home}"
        chosen = config.parse(section)
        for text in ("the lamp is in the hall", "the rope is long"):
            with PersonaMemory(open_stores(chosen), chosen) as memory:
                memory.record([Turn("user", text, lang="en-US")], Scope("s"))
        with PersonaMemory(open_stores(chosen), chosen) as memory:
            assert "lamp" in memory.recall("where is the lamp", lang="en-US")[0].text
            assert memory.status()["store"]["household"] == "home"


def test_the_extra_that_is_named_is_there_and_no_other_extension_is_used() -> None:
    assert '"postgres": POSTGRES' in (ROOT / "setup.py").read_text(encoding="utf-8")
    steps = (ROOT / "ovos_persona_memory" / "stores").rglob("postgres*")
    code = "".join(path.read_text(encoding="utf-8") for path in steps if path.is_file())
    assert set(re.findall(r"CREATE EXTENSION (?:IF NOT EXISTS )?(\w+)", code)) == {"vector"}
