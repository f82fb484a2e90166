"""What docs/stores.md tells to set up is set up here, on real servers, and works."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support.servers.chroma import ChromaServer
from support.servers.redis import RedisServer

from ovos_persona_memory.config import parse
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import Scope, Turn
from ovos_persona_memory.stores import open_stores
from ovos_persona_memory.stores.base.vectors import VectorIndex

PAGE = (Path(__file__).parents[2] / "docs" / "stores.md").read_text("utf-8")
BLOCKS = re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=["sqlite", "postgres", "redis", "chroma", "several"])
def test_a_block_of_settings_works(
    block: str,
    tmp_path: Path,
    postgres: Callable[[], str],
    redis_server: RedisServer,
    chroma_server: ChromaServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    urls = {"MEMORY_POSTGRES": postgres(), "MEMORY_REDIS": redis_server.url}
    for name, url in urls.items():
        monkeypatch.setenv(name, url)
    path = tmp_path / "memory.url"
    path.write_text(urls["MEMORY_REDIS" if '"redis"' in block else "MEMORY_POSTGRES"] + "\n")
    for shown in ("file:~/.config/memory.url", "postgresql://memory@localhost/memory"):
        block = block.replace(shown, f"file:{path}")
    block = block.replace("http://localhost:8000", chroma_server.url)
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


def test_the_lines_that_set_chroma_up_are_those_that_start_it_here(chroma_server: ChromaServer, tmp_path: Path) -> None:
    (line,) = re.findall(r"`chroma run (.*)`", PAGE)
    assert re.findall(r"--[a-z]+", line) == [one for one in chroma_server.command if one.startswith("--")]
    assert '"chroma": CHROMA' in (Path(__file__).parents[2] / "setup.py").read_text("utf-8")
    (block,) = [one for one in BLOCKS if '"chroma"' in one]
    section = json.loads(block.replace("http://localhost:8000", chroma_server.url))["persona_memory"]
    store = open_stores(parse({**section, "data_dir": str(tmp_path / "memory")}))
    try:
        store.add_turn(Turn("user", "my cat is called Bob", id="t", at=1.0), "cat")
        store.vector_store.start(VectorIndex("model", "", 3))
        taken = store.vector_store.pending("model", 9)
        store.vector_store.put("model", taken, np.array([[1, 2, 3]], dtype=np.int8))
        assert [name.startswith("home-") for name in chroma_server.collections()] == [True]
        near = store.vector_store.nearest("model", np.ones(3, dtype=np.float32), Scope(), frozenset({"turn"}), 1)
        assert near[0].record.id == "t"
    finally:
        store.close()
