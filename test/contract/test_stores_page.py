"""docs/stores.md: what it tells people to type works."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.servers.postgres import FAST, PORT, running
from support.servers.redis import RedisServer

from ovos_persona_memory import config
from ovos_persona_memory.cli.program import program
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import Scope, Turn
from ovos_persona_memory.stores import open_stores
from ovos_persona_memory.stores.redis.store import open_redis

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "stores.md").read_text(encoding="utf-8")

pytestmark = pytest.mark.full


SECTIONS = re.split(r"^## ", PAGE, flags=re.MULTILINE)


def section(title: str) -> str:
    """The text of a section."""
    return next(one for one in SECTIONS if one.startswith(title))


def blocks(title: str) -> list[str]:
    """The code blocks of a section."""
    return re.findall(r"^```\w*\n(.*?)^```", section(title), re.MULTILINE | re.DOTALL)


def test_the_lines_that_set_postgresql_up_do_so() -> None:
    commands, settings = blocks("PostgreSQL")
    lines = [shlex.split(line) for line in commands.splitlines()]
    assert len(lines) + len(settings.splitlines()) <= 5
    assert lines.pop() == ["pip", "install", "ovos-persona-memory[postgres]"]
    with running(**FAST) as server:
        for program, *arguments in lines:
            server.run(program, "--host", str(server.home), "--port", str(PORT), "--username", "postgres", *arguments)
        asked = json.loads(settings)["persona_memory"]
        asked["connection"] = asked["connection"].replace("@localhost/", "@/") + f"?host={server.home}"
        chosen = config.parse(asked)
        for text in ("the lamp is in the hall", "the rope is long"):
            with PersonaMemory(open_stores(chosen), chosen) as memory:
                memory.record([Turn("user", text, lang="en-US")], Scope("s"))
        with PersonaMemory(open_stores(chosen), chosen) as memory:
            assert "lamp" in memory.recall("where is the lamp", lang="en-US")[0].text
            assert memory.status()["store"]["household"] == "home"


def test_the_extra_that_is_named_is_there_and_no_other_extension_is_used() -> None:
    assert '"postgres": POSTGRES' in (ROOT / "setup.py").read_text(encoding="utf-8")
    steps = (ROOT / "ovos_persona_memory" / "stores" / "postgres").rglob("*.*")
    code = "".join(path.read_text(encoding="utf-8") for path in steps if path.suffix in (".py", ".sql"))
    assert set(re.findall(r"CREATE EXTENSION (?:IF NOT EXISTS )?(\w+)", code)) == {"vector"}


@pytest.mark.parametrize("title", ["SQLite", "PostgreSQL", "Redis or Valkey", "Chroma", "Each kind elsewhere"])
def test_of_every_store_it_is_said_for_whom_it_is_and_what_it_costs_and_set_up_it_is_in_five_steps(title: str) -> None:
    text = section(title)
    assert "**For whom.**" in text
    assert "**What it costs.**" in text
    assert len(re.findall(r"^\d\. ", text, re.MULTILINE)) <= 5


def test_the_lines_for_the_configuration_of_redis_have_every_change_written() -> None:
    lines = dict(line.split() for line in re.findall(r"`(append\w+ \w+)`", section("Redis or Valkey")))
    assert len(lines) == 2
    with RedisServer(**lines) as server:
        store = open_redis(server.url)
        assert store.details()["written_to_disk"] == "every change"
        with server.client() as client:
            assert client.config_get("appendfsync")["appendfsync"] == "always"
        store.close()


def test_the_lines_that_bring_a_memory_elsewhere_and_back_do_so(
    postgres: Callable[[], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MEMORY_POSTGRES", postgres())
    lines = re.findall(r"^\$ ovos-persona-memory (.*)", "".join(blocks("From one store to another")), re.MULTILINE)
    begin, *_, end = (word for line in lines for word in line.split() if word.startswith("~"))
    with PersonaMemory.open(Path(begin).expanduser(), config.parse({"recall": {"embedder": "none"}})) as memory:
        memory.record([Turn("user", "the lamp is in the hall", lang="en-US")], Scope("s"))
        memory.documents(Scope()).upsert("how the lamp works", "d")
    for line in lines:
        done = CliRunner().invoke(program, [str(Path(word).expanduser()) for word in line.split()])
        assert done.exit_code == 0, done.output
    with PersonaMemory.open(Path(end).expanduser(), config.parse({"recall": {"embedder": "none"}})) as memory:
        assert memory.recall("where is the lamp", lang="en-US")[0].text == "the lamp is in the hall"
        assert memory.documents(Scope()).get("d") is not None
