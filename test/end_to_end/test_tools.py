"""The toolbox in a real agent loop, and the retrieval plugin as a handler: real bus, daemon, ovos-core and persona."""

from __future__ import annotations

import json
import queue
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import pytest
from ovos_bus_client import Message, MessageBusClient
from ovos_plugin_manager.agents import load_retrieval_plugin
from ovos_plugin_manager.persona import find_toolbox_plugins
from ovos_plugin_manager.templates.agent_tools import ToolBox
from ovos_plugin_manager.templates.agents import RetrievalEngine
from support.assistants import PATIENT_S, Assistant
from support.servers.ports import free_port
from support.tool_model_server import Call, ToolModelServer

from ovos_persona_memory.config import bus_address
from ovos_persona_memory.errors import NoAnswer
from ovos_persona_memory.protocol import MemoryClient, shared_transport, topics

TOOLS = "ovos-persona-memory-tools"
RETRIEVAL = "ovos-persona-memory-retrieval-plugin"
LOOP = "ovos-native-toolcall-loop"
HOST = "127.0.0.1"


@pytest.fixture(scope="module")
def model() -> Iterator[ToolModelServer]:
    """The model server of the persona; each test says what it answers."""
    server = ToolModelServer()
    yield server
    server.close()


@pytest.fixture(scope="module")
def assistant(tmp_path_factory: pytest.TempPathFactory, model: ToolModelServer) -> Iterator[Assistant]:
    """An assistant whose persona answers what is surely known, and leaves the rest to an agent loop with our tools.

    All tests share it: each talks in sessions of its own, about something of its own.
    """
    folder = tmp_path_factory.mktemp("tools")
    brain = {"api_url": model.url, "key": "none", "model": "test", "allow_system_prompts": True}
    definition = {
        "name": "Ada",
        "handlers": [RETRIEVAL, LOOP],
        RETRIEVAL: {"timeout_s": PATIENT_S},
        LOOP: {"brain": "ovos-chat-openai-plugin", "ovos-chat-openai-plugin": brain, "toolboxes": [TOOLS]},
        "memory_module": "ovos-persona-memory-plugin",
        "ovos-persona-memory-plugin": {"recall": 0, "timeout_s": PATIENT_S},
    }
    path = folder / "Ada.json"
    path.write_text(json.dumps(definition))
    with Assistant(folder / "data", folder / "home", free_port(), "--persona-file", str(path)) as running:
        yield running


@pytest.fixture
def owner(assistant: Assistant) -> Iterator[MemoryClient]:
    """A client at the owner's door."""
    with assistant.owner() as client:
        yield client


@pytest.fixture(scope="module")
def settings(assistant: Assistant) -> Iterator[dict[str, Any]]:
    """Settings with which plugins in this process reach the bus of the assistant."""
    transport = shared_transport(**bus_address(HOST, assistant.port))
    assert transport.wait_connected(10)
    yield {"host": HOST, "port": assistant.port, "timeout_s": 5.0}
    transport.close()


@pytest.fixture
def nowhere() -> Iterator[dict[str, Any]]:
    """Settings with which plugins look for a bus that is not there."""
    port = free_port()
    yield {"host": HOST, "port": port, "timeout_s": 60.0}
    shared_transport(**bus_address(HOST, port)).close()


@pytest.fixture
def bus(assistant: Assistant) -> Iterator[MessageBusClient]:
    """A client as any skill has it."""
    client = MessageBusClient(host=HOST, port=assistant.port)
    client.run_in_thread()
    assert client.connected_event.wait(10)
    yield client
    client.close()


@pytest.fixture
def toolbox(settings: dict[str, Any]) -> ToolBox:
    """The toolbox as OPM loads it, in this process."""
    return find_toolbox_plugins()[TOOLS](config=settings)


@pytest.fixture
def retrieval(settings: dict[str, Any]) -> Callable[..., RetrievalEngine]:
    """Makes the retrieval plugin as OPM loads it, in this process."""
    return lambda **more: load_retrieval_plugin(RETRIEVAL)({**settings, **more})


def handling(session_id: str, call: Callable[[], Any], persona: str | None = "Ada") -> Any:
    """What a call gives while a message of this session is being handled, by this persona or none in particular."""

    def handler(message: Message) -> Any:
        return call()

    data = {} if persona is None else {"persona": persona}
    return handler(Message("persona:query", data, {"session": {"session_id": session_id}}))


def is_recent(when: str) -> bool:
    """Whether a date and time is within the last minutes."""
    return abs(time.time() - datetime.fromisoformat(when).timestamp()) < 600


# each tool, called by a model in a turn of a persona


def test_the_model_is_offered_the_six_tools_with_their_limits(assistant: Assistant, model: ToolModelServer) -> None:
    assistant.talk("offer", "tell me a joke please")
    offered = model.tools()
    assert sorted(offered) == [
        "memory_add", "memory_delete", "memory_get", "memory_list", "memory_recall", "memory_update",
    ]  # fmt: skip
    limits = {name: tool["parameters"]["properties"].get("limit", {}) for name, tool in offered.items()}
    assert (limits["memory_list"]["default"], limits["memory_list"]["maximum"]) == (20, 50)
    assert (limits["memory_recall"]["default"], limits["memory_recall"]["maximum"]) == (5, 10)
    assert all(tool["description"] for tool in offered.values())


def test_what_a_model_adds_the_owner_finds(assistant: Assistant, model: ToolModelServer, owner: MemoryClient) -> None:
    noted = {"key": "bins", "content": "the bins go out on Tuesday", "metadata": {"topic": "house"}}
    model.will(Call("memory_add", noted), "Noted.")
    assert assistant.talk("s-add", "please note the day of the bins") == [["Noted."]]
    [answer] = model.results()
    assert is_recent(answer["memory"].pop("when"))
    text, metadata = "the bins go out on Tuesday", {"topic": "house", "by": "assistant"}
    assert answer == {"memory": {"key": "bins", "text": text, "who": "household", "metadata": metadata}}
    kept = owner.get("bins")
    assert kept is not None
    assert (kept.text, kept.metadata, kept.session_id, kept.persona_id) == (text, metadata, "s-add", "Ada")


def test_what_is_added_without_a_key_is_given_one(
    assistant: Assistant, model: ToolModelServer, owner: MemoryClient
) -> None:
    model.will(Call("memory_add", {"content": "the piano is tuned in spring"}), "Noted.")
    assistant.talk("s-key", "please note when the piano is tuned")
    [answer] = model.results()
    kept = owner.get(answer["memory"]["key"])
    assert kept is not None
    assert kept.text == "the piano is tuned in spring"


def test_a_model_reads_a_memory_by_its_key(assistant: Assistant, model: ToolModelServer, owner: MemoryClient) -> None:
    owner.remember("the spare key is under\nthe third pot", key="spare key", metadata={"room": "garden"})
    model.will(Call("memory_get", {"key": "spare key"}), Call("memory_get", {"key": "unheard of"}), "I see.")
    assistant.talk("s-get", "please look at the notes")
    found, unknown = model.results()
    assert found["memory"]["text"] == "the spare key is under\nthe third pot"
    assert found["memory"]["metadata"] == {"room": "garden"}
    assert is_recent(found["memory"]["when"])
    assert unknown == {"error": "unknown_entry", "reason": "there is no memory with the key 'unheard of'"}


def test_a_model_lists_the_memories_last_changed_first(
    assistant: Assistant, model: ToolModelServer, owner: MemoryClient
) -> None:
    for number in range(60):
        owner.remember(f"shelf number {number}", key=f"shelf {number}")
    asked = [Call("memory_list", {}), Call("memory_list", {"limit": 2}), Call("memory_list", {"limit": 1000})]
    model.will(*asked, "That is a lot.")
    assistant.talk("s-list", "please list the notes")
    by_default, two, most = ([memory["key"] for memory in answer["memories"]] for answer in model.results())
    assert two == ["shelf 59", "shelf 58"]
    assert by_default == [f"shelf {number}" for number in range(59, 39, -1)]
    assert len(most) == 50


def test_a_model_recalls_what_was_said_in_another_session_with_who_and_when(
    assistant: Assistant, model: ToolModelServer
) -> None:
    model.will("A fine name.")
    assistant.talk("s-boat", "my boat is called Argo")
    model.will(Call("memory_recall", {"query": "boat called"}), "It is Argo.")
    assistant.talk("s-recall", "please look up the boat called something")
    [answer] = model.results()
    best, *others = answer["found"]
    assert is_recent(best.pop("when"))
    assert best == {"text": "my boat is called Argo", "who": "user", "kind": "turn", "sure": True}
    assert "please look up the boat called something" not in [one["text"] for one in others], "it found itself"


def test_a_model_recalls_no_more_than_it_may(assistant: Assistant, model: ToolModelServer, owner: MemoryClient) -> None:
    for number in range(12):
        owner.remember(f"a lantern of kind {number}")
    model.will(Call("memory_recall", {"query": "lantern"}), Call("memory_recall", {"query": "lantern", "limit": 99}))
    assistant.talk("s-lantern", "please look up the lights")
    assert [len(answer["found"]) for answer in model.results()] == [5, 10]


def test_a_model_changes_a_memory_and_what_it_leaves_out_stays(
    assistant: Assistant, model: ToolModelServer, owner: MemoryClient
) -> None:
    owner.remember("the gate opens at seven", key="gate", metadata={"place": "gate", "by": "Ann"})
    change = {"key": "gate", "metadata": {"by": "Ben"}}
    model.will(
        Call("memory_update", {"key": "gate", "content": "the gate opens at nine"}), Call("memory_update", change)
    )
    assistant.talk("s-update", "please correct the time")
    assert [answer["memory"]["text"] for answer in model.results()] == ["the gate opens at nine"] * 2
    kept = owner.get("gate")
    assert kept is not None
    assert (kept.text, kept.metadata) == ("the gate opens at nine", {"place": "gate", "by": "Ben"})


def test_what_a_model_deletes_is_gone(assistant: Assistant, model: ToolModelServer, owner: MemoryClient) -> None:
    owner.remember("the zeppelin lands at noon", key="zeppelin")
    model.will(Call("memory_delete", {"key": "zeppelin"}), Call("memory_delete", {"key": "zeppelin"}), "Gone.")
    assistant.talk("s-delete", "the zeppelin is of no interest any more")
    gone, unknown = model.results()
    assert gone == {"deleted": "zeppelin"}
    assert unknown["error"] == "unknown_entry"
    assert owner.get("zeppelin") is None
    assert not [hit for hit in owner.recall("zeppelin") if "zeppelin" in hit.text]


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (Call("memory_get", {}), "key: Field required"),
        (Call("memory_add", {"content": "  "}), "content: String should have at least 1 character"),
        (Call("memory_recall", {"query": "x", "limit": "many"}), "limit: Input should be a valid integer"),
    ],
    ids=lambda given: given.tool if isinstance(given, Call) else "",
)
def test_a_model_is_told_which_argument_is_wrong(
    assistant: Assistant, model: ToolModelServer, call: Call, reason: str
) -> None:
    model.will(call, "Sorry.")
    assistant.talk(f"s-wrong-{call.tool}", "please do something wrong")
    [answer] = model.results()
    assert answer["error"] == "invalid"
    assert answer["reason"].startswith(reason)


def test_a_model_is_told_when_nothing_may_be_kept(
    assistant: Assistant, model: ToolModelServer, owner: MemoryClient
) -> None:
    model.will(Call("memory_add", {"key": "secret", "content": "the attic is haunted"}), "I could not.")
    owner.capture(write=False)
    try:
        assistant.talk("s-off", "please note the thing about the attic")
    finally:
        owner.capture(write=True)
    [answer] = model.results()
    assert answer["error"] == "capture_paused"
    assert owner.get("secret") is None


# more than one persona


def test_a_persona_neither_reads_nor_changes_what_another_keeps(toolbox: ToolBox, owner: MemoryClient) -> None:
    def asks(persona: str | None, tool: str, **arguments: object) -> Any:
        return handling("s-safe", lambda: toolbox.call_tool(tool, arguments), persona)

    def reads(persona: str | None) -> str | None:
        found = asks(persona, "memory_get", key="safe")
        return found.memory.text if found.memory else str(found.error)

    asks("Ada", "memory_add", key="safe", content="the parrot guards the safe")
    assert reads("Bob") == "unknown_entry"
    assert asks("Bob", "memory_update", key="safe", content="gone").error == "unknown_entry"
    assert asks("Bob", "memory_delete", key="safe").error == "unknown_entry"
    assert "safe" not in [memory.key for memory in asks("Bob", "memory_list", limit=50).memories]
    assert not [one for one in asks("Bob", "memory_recall", query="parrot").found if "parrot" in one.text]
    asks("Bob", "memory_add", key="safe", content="the goat guards the safe")
    assert (reads("Ada"), reads("Bob")) == ("the parrot guards the safe", "the goat guards the safe")
    assert reads(None) == "the parrot guards the safe", "a message without a persona is the default one's, Ada's"
    asks(None, "memory_update", key="safe", content="the parrot sleeps")
    assert (reads("Ada"), reads("Carol")) == ("the parrot sleeps", "unknown_entry")
    kept = owner.remember("the neighbour has a key", key="safe")
    assert (kept.persona_id, reads("Carol"), reads("Bob")) == (
        None, "the neighbour has a key", "the goat guards the safe",
    )  # fmt: skip
    asks("Bob", "memory_delete", key="safe")
    assert (reads("Ada"), reads("Bob")) == ("the parrot sleeps", "the neighbour has a key")


# where no message is being handled, and where one is


def test_a_call_outside_of_any_message_is_refused(toolbox: ToolBox, owner: MemoryClient) -> None:
    noted = {"key": "nobody", "content": "nobody asked for this"}
    refused = toolbox.call_tool("memory_add", noted).model_dump(exclude_none=True)
    assert refused["error"] == "not_allowed"
    assert "no such message" in refused["reason"]
    assert owner.get("nobody") is None

    handling("s-somebody", lambda: toolbox.call_tool("memory_add", noted))
    kept = owner.get("nobody")
    assert kept is not None
    assert kept.session_id == "s-somebody"


@pytest.mark.parametrize("session", [None, "s1", {}, {"session_id": ""}, {"session_id": 7}])
def test_a_call_in_a_message_without_a_session_is_refused(toolbox: ToolBox, session: object) -> None:
    def handler(message: Message) -> Any:
        return toolbox.call_tool("memory_list", {})

    message = Message("persona:query")
    message.context["session"] = session
    assert handler(message).error == "not_allowed"


def test_the_toolbox_answers_on_the_bus_in_the_session_of_the_message(
    toolbox: ToolBox, owner: MemoryClient, bus: MessageBusClient
) -> None:
    toolbox.bind(bus)
    try:
        kwargs = {"key": "bus stop", "content": "the bus leaves at nine"}
        asked = {"toolbox_id": TOOLS, "name": "memory_add", "kwargs": kwargs}
        context = {"session": {"session_id": "s-bus"}}
        answer = bus.wait_for_response(Message("ovos.persona.tools.call", asked, context), timeout=10)
    finally:
        toolbox.unbind()
    assert answer.data["result"]["memory"]["text"] == "the bus leaves at nine"
    kept = owner.get("bus stop")
    assert kept is not None
    assert kept.session_id == "s-bus"


def test_tools_say_so_at_once_where_the_bus_is_away(nowhere: dict[str, Any]) -> None:
    toolbox = find_toolbox_plugins()[TOOLS](config=nowhere)
    began = time.monotonic()
    answer = handling("s-away", lambda: toolbox.call_tool("memory_list", {}))
    assert time.monotonic() - began < 10
    assert (answer.error, answer.reason) == (NoAnswer.code, "the messagebus is away")


# the retrieval plugin


def test_a_persona_answers_a_question_with_what_is_surely_known_and_leaves_the_rest_to_the_next_handler(
    assistant: Assistant, model: ToolModelServer
) -> None:
    model.will("A fine name.", "I have no idea.")
    assistant.talk("s-horse", "my horse is called Dapple")
    asked = len(model.requests)
    assert assistant.talk("s-stable", "what is my horse called") == [["my horse is called Dapple"]]
    assert len(model.requests) == asked
    assert assistant.talk("s-stable", "what does my horse eat") == [["I have no idea."]]


def test_a_persona_does_not_answer_with_what_was_said_beside_the_question(
    assistant: Assistant, model: ToolModelServer, retrieval: Callable[..., RetrievalEngine]
) -> None:
    model.will("How nice.", "I cannot tell.")
    assistant.talk("s-harbour", "I met Ann at the harbour in Porto")
    question = "does Ann like the harbour in Porto"
    found = handling("s-quay", lambda: retrieval(sure_only=False).query(question, "en-US", k=1))
    assert found == [('the user, today: "I met Ann at the harbour in Porto"', 1.0)], "it bears on the question"
    assert assistant.talk("s-quay", question) == [["I cannot tell."]]


def test_a_persona_does_not_parrot_what_it_is_told_twice(assistant: Assistant, model: ToolModelServer) -> None:
    model.will("A fine name.", "You told me.")
    said = assistant.talk("s-goat", "my goat is called Pan", "my goat is called Pan")
    assert said == [["A fine name."], ["You told me."]]


def test_retrieval_gives_sure_answers_to_questions_alone_unless_told_otherwise(
    retrieval: Callable[..., RetrievalEngine], owner: MemoryClient
) -> None:
    owner.remember("my violin is from Cremona")
    owner.remember("the violin needs new strings")
    careful, open_minded = retrieval(), retrieval(sure_only=False)
    question = "where is my violin from"
    assert [text for text, _ in careful.query(question, "en-US", k=5)] == ["my violin is from Cremona"]
    assert careful.query("my violin is from Cremona", "en-US", k=5) == []
    assert careful.query("what does my violin cost", "en-US", k=5) == []

    (best, highest), (other, lower) = open_minded.query("violin from Cremona", "en-US", k=2)
    assert (best, highest) == ('the user, today: "my violin is from Cremona"', 1.0)
    assert other == 'the user, today: "the violin needs new strings"'
    assert 0.0 < lower < 1.0
    assert open_minded.query("violin from Cremona", "en-US", k=1) == [(best, 1.0)]


def test_retrieval_asks_in_the_session_of_the_message_that_is_handled(
    retrieval: Callable[..., RetrievalEngine], bus: MessageBusClient
) -> None:
    asked: queue.Queue[Message] = queue.Queue()
    bus.on(topics.request("recall"), asked.put)
    handling("s-host", lambda: retrieval().query("what is my drone called", "en-US"))
    session = asked.get(timeout=10).context["session"]
    assert (session["session_id"], session["persona_id"]) == ("s-host", "Ada")


def test_retrieval_gives_nothing_at_once_where_the_bus_is_away(nowhere: dict[str, Any]) -> None:
    plugin = load_retrieval_plugin(RETRIEVAL)(nowhere)
    began = time.monotonic()
    assert plugin.query("what is my cat called", "en-US") == []
    assert time.monotonic() - began < 10
