"""Introspection by the real OpenAI plugin, with the settings of the page, against a server on loopback."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from support.model_server import ModelServer
from support.tool_model_server import Call, ToolModelServer

from ovos_persona_memory.config import parse
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import Scope, Turn
from ovos_persona_memory.service import open_model

pytestmark = pytest.mark.full

HERE = Scope(session_id="s1")
PAGE = (Path(__file__).parent.parent.parent / "docs" / "models.md").read_text("utf-8")
SHOWN = [json.loads(block) for block in re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)]
[BLOCK] = [block for block in SHOWN if "introspection" in block["persona_memory"]]
SAID = (
    "the fence was painted in April",
    "we had soup",
    "my aunt might move to Ghent",
    "do we have a saw",
    "it is late",
)
"""As many as the page's ``turn_interval``."""


class Clock:
    now = 1_795_000_000.0

    def __call__(self) -> float:
        self.now += 0.001
        return self.now


def add(content: str, *turns: int) -> dict[str, Any]:
    return {"tool": "memory_add", "content": content, "turns": list(turns)}


PROPOSED = [
    add("the fence was painted in April", 1),
    add("the user's aunt moves to Ghent", 5),
    add("the fence was painted in June", 1),
    {"tool": "session_description_update", "content": "of the fence"},
    *[add("the user has a boat", 3)] * 20,
]


def opened(url: str) -> PersonaMemory:
    """A memory with the settings of the page, but for where the server and the memory are."""
    section = copy.deepcopy(BLOCK["persona_memory"])
    section["models"]["plugins"]["ovos-chat-openai-plugin"]["api_url"] = url
    config = parse({**section, "backend": "inmemory", "recall": {"embedder": "none"}, "facts": {"learn": False}})
    memory = PersonaMemory.open(config=config, clock=Clock())
    model = open_model("introspection", config.models, config.introspection.wanted)
    assert model is not None and model.leaves_device is False
    memory.models["introspection"] = model
    memory.jobs_later = True
    return memory


def work(memory: PersonaMemory) -> None:
    while memory.work():
        pass


def say(memory: PersonaMemory, *texts: str) -> None:
    for text in texts:
        memory.record([Turn("user", text, lang="en-US"), Turn("assistant", "Noted.", lang="en-US")], HERE)
    memory.tidy()


@pytest.fixture(params=["json", "tools"])
def server(request: pytest.FixtureRequest) -> Iterator[ModelServer | ToolModelServer]:
    """A server that proposes in a list, or by calling tools."""
    if request.param == "json":
        with closing(ModelServer(json.dumps(PROPOSED))) as listing:
            yield listing
    else:
        with closing(ToolModelServer()) as calling:
            arguments = [{name: value for name, value in one.items() if name != "tool"} for one in PROPOSED]
            calling.will([Call(one["tool"], given) for one, given in zip(PROPOSED, arguments, strict=True)])
            yield calling


def test_the_settings_of_the_page_have_a_session_looked_at(server: ModelServer | ToolModelServer) -> None:
    with opened(server.url) as memory:
        say(memory, *SAID[:-1])
        work(memory)
        assert server.requests == [], "not before its turn_interval"
        say(memory, SAID[-1])
        work(memory)
        assert len(server.requests) == 1
        settings = BLOCK["persona_memory"]["models"]["plugins"]["ovos-chat-openai-plugin"]
        sent = server.requests[0]
        assert (sent["model"], sent["max_tokens"]) == (settings["model"], settings["max_tokens"])
        asked = str(sent["messages"][-1]["content"])
        assert all(f'the user: "{text}"' in asked for text in SAID)
        [run] = memory.introspect(Scope())
        texts = {status: [one.text for one in memory.list(Scope(), status=status)] for status in ("accepted", "draft")}
        assert texts == {"accepted": ["the fence was painted in April"], "draft": ["the user's aunt moves to Ghent"]}
        most = BLOCK["persona_memory"]["introspection"]["max_tool_calls"]
        assert run.refused[0] == "memory_add: unsaid" and run.description
        assert run.refused.count("memory_add: too_many") == len(PROPOSED) - most
        [audited] = [one for one in memory.facts.audit(Scope()) if one.what == "refused_proposals"]
        assert audited.count == len(run.refused)
