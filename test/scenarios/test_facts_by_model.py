"""Facts by the real OpenAI plugin, against a server that misbehaves in every way that servers do."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.model_server import Fault, ModelServer
from support.tool_model_server import Call, ToolModelServer

from ovos_persona_memory.config import parse
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import Scope, Turn
from ovos_persona_memory.service import open_model

pytestmark = pytest.mark.full

HERE = Scope(session_id="s1")
PAGE = (Path(__file__).parent.parent.parent / "docs" / "models.md").read_text("utf-8")
SHOWN = [json.loads(block) for block in re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)]
[BLOCK] = [block for block in SHOWN if "facts" in block["persona_memory"]["models"]]
TOLD = "so my sister well she's like anna you know"
SAYS = {"turn": 1, "says": "My sister is called Anna."}


class Clock:
    now = 1_795_000_000.0

    def __call__(self) -> float:
        self.now += 0.001
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data"


def opened(url: str, clock: Clock, folder: Path) -> PersonaMemory:
    """A memory with the settings of the page, but for where the server and the memory are."""
    section = copy.deepcopy(BLOCK["persona_memory"])
    section["models"]["plugins"]["ovos-chat-openai-plugin"]["api_url"] = url
    config = parse({**section, "recall": {"embedder": "none"}, "data_dir": str(folder)})
    memory = PersonaMemory.open(config=config, clock=clock)
    model = open_model("facts", config.models)
    assert model is not None and model.leaves_device is False
    memory.models["facts"] = model
    memory.jobs_later = True
    return memory


@pytest.fixture
def server() -> Iterator[ModelServer]:
    made = ModelServer(json.dumps([SAYS]))
    yield made
    made.close()


@pytest.fixture
def memory(server: ModelServer, clock: Clock, folder: Path) -> Iterator[PersonaMemory]:
    with opened(server.url, clock, folder) as made:
        yield made


def say(memory: PersonaMemory, *texts: str) -> None:
    for text in texts:
        memory.record([Turn("user", text, lang="en-US"), Turn("assistant", "Noted.", lang="en-US")], HERE)


def work(memory: PersonaMemory) -> None:
    while memory.work():
        pass


def found(memory: PersonaMemory) -> list[tuple[str, str | None]]:
    return sorted((one.status, one.value) for one in memory.facts.list(status="all"))


def test_the_settings_of_the_page_have_facts_found(memory: PersonaMemory, server: ModelServer) -> None:
    say(memory, TOLD)
    before = found(memory)
    work(memory)
    assert found(memory) == sorted([*before, ("waiting", "Anna")])
    role, asked = server.messages()[-1]
    assert role == "user" and f'1. the user: "{TOLD}"' in asked
    told = memory.status()["models"]
    assert (told["facts"]["plugin"], told["calls"], told["problem"]) == ("ovos-chat-openai-plugin", 1, None)


@pytest.mark.parametrize("fault", ["error", "half", "dropped", "empty", "nonsense"])
def test_a_server_that_fails_loses_nothing_and_doubles_nothing(
    memory: PersonaMemory, server: ModelServer, clock: Clock, fault: Fault
) -> None:
    say(memory, TOLD)
    before = found(memory)
    server.faults = [fault, fault]
    for _ in range(3):
        assert found(memory) == before
        work(memory)
        clock.now += 3600
    assert found(memory) == sorted([*before, ("waiting", "Anna")])
    assert memory.jobs.waiting() == [] and len(server.requests) == 3
    assert all("sister" not in job.problem for job in memory.jobs.waiting())


@pytest.mark.parametrize(
    "prose",
    [
        "Sure! Your sister is called Anna.",
        "1. My sister is called Anna.",
        "Ihre Schwester heißt Anna.",
        '[{"turn": 1, "says": "My sis',
        '{"turn": "one", "says": "My sister is called Anna."}',
    ],
)
def test_prose_and_broken_json_teach_nothing_and_are_asked_for_again(clock: Clock, folder: Path, prose: str) -> None:
    server = ModelServer(prose, "```json\n" + json.dumps({"facts": [SAYS]}) + "\n```\nThat is all.")
    with opened(server.url, clock, folder) as memory:
        say(memory, TOLD)
        before = found(memory)
        work(memory)
        assert found(memory) == before and "no restatements" in memory.jobs.waiting()[0].problem
        clock.now += 60
        work(memory)
        assert found(memory) == sorted([*before, ("waiting", "Anna")])
    server.close()


def test_a_model_that_calls_tools_restates_with_them(clock: Clock, folder: Path) -> None:
    server = ToolModelServer()
    server.will(Call("restate", SAYS), *[Call("restate", SAYS)] * 20)
    with opened(server.url, clock, folder) as memory:
        say(memory, TOLD)
        before = found(memory)
        work(memory)
        assert found(memory) == sorted([*before, ("waiting", "Anna")])
        assert list(server.tools()) == ["restate"] and len(server.requests) == 1
    server.close()


def test_a_model_that_invents_a_month_of_facts_teaches_nothing(clock: Clock, folder: Path) -> None:
    household = [
        *("my cat is called Bob", "we had soup today", "is it going to rain", "turn off the lights in the kitchen"),
        *("my neighbour says that Porto is nice", "I wonder whether Anna likes tea", "set a timer for ten minutes"),
        *("remind me to call the dentist", "what does the cat eat", "that film about the plumber was great"),
    ]
    inventions = [
        *("My cat is called Tom.", "My dog is called Soup.", "My sister is called Anna.", "I live in Porto."),
        *("I am a plumber.", "I work as a dentist.", "I am allergic to tea.", "My birthday is on the tenth of May."),
        *("My name is Bob.", "I like Anna.", "My password is kitchen.", "My cat is not called Bob.", "I hate rain."),
    ]
    everything = [{"turn": turn, "says": text} for turn in range(1, 22) for text in inventions]
    parts = [json.dumps(everything[start : start + 50]) for start in range(0, len(everything), 50)]
    for number, part in enumerate(parts):
        server = ModelServer(part)
        with opened(server.url, clock, folder / str(number)) as memory:
            say(memory, *household)
            before = memory.facts.list(status="active")
            work(memory)
            assert memory.facts.list(status="active") == before
            assert memory.jobs.waiting() == []
        server.close()


def test_what_is_cut_off_between_the_answer_and_the_disk_is_read_anew_and_nothing_is_doubled(
    server: ModelServer, clock: Clock, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = opened(server.url, clock, folder)
    say(memory, TOLD)
    before, put_state = found(memory), memory._store.put_state

    def cut_off(name: str, value: str) -> None:
        if name == "facts_read":
            raise KeyboardInterrupt
        put_state(name, value)

    monkeypatch.setattr(memory._store, "put_state", cut_off)
    with pytest.raises(KeyboardInterrupt):
        work(memory)
    assert found(memory) == before
    memory.close()
    with opened(server.url, clock, folder) as again:
        work(again)
        assert found(again) == sorted([*before, ("waiting", "Anna")])
    assert len(server.requests) == 2
