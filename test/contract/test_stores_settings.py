"""What docs/stores.md tells to set up is set up here, on real servers, and works."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from redis_server import RedisServer

from ovos_persona_memory.config import parse
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import Scope, Turn

PAGE = (Path(__file__).parents[2] / "docs" / "stores.md").read_text("utf-8")
BLOCKS = re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=["sqlite", "postgres", "redis", "several"])
def test_a_block_of_settings_works(
    block: str,
    tmp_path: Path,
    postgres: Callable[[], str],
    redis_server: RedisServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    urls = {"MEMORY_POSTGRES": postgres(), "MEMORY_REDIS": redis_server.url}
    for name, url in urls.items():
        monkeypatch.setenv(name, url)
    path = tmp_path / "memory.url"
    path.write_text(urls["MEMORY_REDIS" if '"redis"' in block else "MEMORY_POSTGRES"] + "\n")
    for shown in ("file:~/.config/memory.url", "postgresql://memory@localhost/memory"):
        block = block.replace(shown, f"file:{path}")
    section = json.loads(block)["persona_memory"]
    config = parse({**section, "data_dir": str(tmp_path / "memory"), "recall": {"embedder": "none"}})
    for _ in range(2):
        with PersonaMemory.open(config=config) as memory:
            if not memory.status()["counts"]["turns"]:
                memory.record([Turn("user", "my cat is called Bob")], Scope("s"))
                memory.remember("the bins go out on Tuesday", key="bins")
            assert memory.recall("what is my cat called", Scope())[0].text == "my cat is called Bob"
            assert memory.recall("when do the bins go out", Scope())[0].key == "bins"
    with PersonaMemory.open(config=config) as memory:
        assert memory.forget(Scope(), everything=True) >= 2
        assert memory.recall("what is my cat called", Scope()) == []
