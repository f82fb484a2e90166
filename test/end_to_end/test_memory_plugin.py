"""The memory plugin in the place of ovos-persona's BasicShortTermMemory, with the daemon and without."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ovos_bus_client import Message
from ovos_persona.memory import BasicShortTermMemory
from ovos_plugin_manager.templates.agents import AgentMessage, MessageRole, ToolCall
from support.servers.bus import HOST, START_S, Bus, Daemon, Wire, wait_until
from support.servers.ports import free_port

from ovos_persona_memory.config import bus_address
from ovos_persona_memory.errors import ConfigError
from ovos_persona_memory.opm.memory import PersonaMemoryPlugin
from ovos_persona_memory.opm.memory_link import LOG
from ovos_persona_memory.protocol import shared_transport, topics
from ovos_persona_memory.protocol.transport import BusTransport
from ovos_persona_memory.records import Scope, Turn

Said = tuple[str, str]
Operation = tuple[str, str, Any]
UNNAMED = "the setting is not named: float() raises its own error"
U, A, T = MessageRole.USER, MessageRole.ASSISTANT, MessageRole.TOOL


def said(messages: list[AgentMessage]) -> list[Said]:
    return [(message.role.value, message.content) for message in messages]


def exchange(question: str, answer: str) -> list[AgentMessage]:
    return [AgentMessage(U, question), AgentMessage(A, answer)]


def connection(port: int) -> BusTransport:
    """The one that all plugins at this port share."""
    return shared_transport(**bus_address(HOST, port))


def deaf_port() -> socket.socket:
    """A socket whose port refuses every connection, and is nobody else's until it is closed."""
    deaf = socket.socket()
    deaf.bind((HOST, 0))
    return deaf


class House:
    """A bus, perhaps with a daemon on it, and plugins that talk to it; everything ends with its ``with`` block."""

    def __init__(self, folder: Path, bus: bool = True, daemon: bool = True) -> None:
        self.folder = folder
        self._deaf = None if bus else deaf_port()
        self.port: int = self._deaf.getsockname()[1] if self._deaf else free_port()
        self.bus: Bus | None = None
        self.daemon: Daemon | None = None
        try:
            self._start(bus, daemon)
        except BaseException:
            self.__exit__()  # or what it started lives on, and another test is blamed for it
            raise

    def _start(self, bus: bool, daemon: bool) -> None:
        if bus:
            self.bus = Bus(self.folder / "bus", self.port)
        if daemon:
            self.start_daemon()
        if bus:
            assert connection(self.port).wait_connected(START_S), "the messagebus was not reached"
        else:
            connection(self.port).close()  # it will never connect; its waits draw from the randomness of hypothesis

    def plugin(self, **more: Any) -> PersonaMemoryPlugin:
        """A plugin that recalls nothing, so that only history counts."""
        return PersonaMemoryPlugin({"host": HOST, "port": self.port, "recall": 0, "timeout_s": 10.0, **more})

    def start_daemon(self) -> None:
        """Start a daemon on the data that is there."""
        self.daemon = Daemon(self.folder / "daemon", self.folder / "data", self.port).wait_ready()

    def history(self, session_id: str, **scope: str) -> list[Said]:
        """What the owner sees of a session."""
        assert self.daemon is not None
        with self.daemon.door() as owner:
            found = owner.history(Scope(session_id=session_id, **scope), max_history=None)
        return [(message.role, message.text) for message in found]

    def turns(self, session_id: str) -> int:
        """How many turns the log holds of a session."""
        assert self.daemon is not None
        with self.daemon.door() as owner:
            return sum(one.turns for one in owner.sessions(Scope(session_id=session_id)))

    def __enter__(self) -> House:
        return self

    def __exit__(self, *_: object) -> None:
        connection(self.port).close()
        for process in (self.daemon, self.bus):
            if process is not None:
                process.end()
        if self._deaf is not None:
            self._deaf.close()


# the same as BasicShortTermMemory


@pytest.fixture(scope="module", params=["without a bus", "with a daemon"])
def house(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """Shared by the tests that must not see a difference; each uses sessions of its own."""
    present = request.param == "with a daemon"
    with House(tmp_path_factory.mktemp("house"), bus=present, daemon=present) as shared:
        yield shared


class Twins:
    """Theirs and ours, told and asked the same."""

    made: dict[tuple[int, int, str], PersonaMemoryPlugin] = {}  # noqa: RUF012  (one for all examples: each has threads)
    examples = 0

    def __init__(self, house: House, max_history: int, prompt: str) -> None:
        Twins.examples += 1
        self._prefix = f"{Twins.examples}-"
        self._theirs = BasicShortTermMemory({"max_history": max_history, "system_prompt": prompt})
        key = (house.port, max_history, prompt)
        if key not in self.made:
            self.made[key] = house.plugin(max_history=max_history, system_prompt=prompt)
        self._ours = self.made[key]

    def check(self, operation: Operation) -> None:
        """Do it with both; their answers are the same."""
        verb, session_id, given_to = operation
        if verb == "update":
            messages = [AgentMessage(MessageRole(role), words) for role, words in given_to]
            self._theirs.update_history(deepcopy(messages), session_id)
            self._ours.update_history(messages, self._prefix + session_id)
        elif verb == "history":
            theirs = self._theirs.get_history(session_id)
            assert said(self._ours.get_history(self._prefix + session_id)) == said(theirs)
        else:
            theirs = self._theirs.build_conversation_context(given_to, session_id)
            ours = self._ours.build_conversation_context(given_to, self._prefix + session_id)
            assert said(ours) == said(theirs)


text = st.text("ab \n", max_size=4)
sessions = st.sampled_from(["one", "two", "three"])
talk = st.lists(st.tuples(st.sampled_from(["user", "assistant"]), text), min_size=1, max_size=4)
operations = st.one_of(
    st.tuples(st.just("update"), sessions, talk),
    st.tuples(st.just("update"), sessions, st.builds(lambda q, a: [("user", q), ("assistant", a)], text, text)),
    st.tuples(st.just("history"), sessions, st.none()),
    st.tuples(st.just("context"), sessions, text),
)


@settings(derandomize=True, deadline=None, max_examples=150)
@given(st.lists(operations, min_size=1, max_size=14), st.integers(1, 7), st.sampled_from(["", " You are Ada. "]))
def test_any_sequence_of_calls_gives_what_basic_short_term_memory_gives(
    house: House, calls: list[Operation], max_history: int, prompt: str
) -> None:
    twins = Twins(house, max_history, prompt)
    for call in calls:
        twins.check(call)
    for session_id in ("one", "two", "three"):
        twins.check(("history", session_id, None))
        twins.check(("context", session_id, "now"))


# its defects are not repeated


def test_an_empty_update_changes_nothing(house: House) -> None:
    plugin = house.plugin()
    plugin.update_history([], "empty")
    assert plugin.get_history("empty") == []
    plugin.update_history(exchange("hello", "hi"), "empty")
    plugin.update_history([], "empty")
    assert said(plugin.get_history("empty")) == [("user", "hello"), ("assistant", "hi")]
    assert said(plugin.build_conversation_context("bye", "empty"))[-1] == ("user", "bye")


def test_no_history_is_wanted_with_a_max_history_of_0(house: House) -> None:
    plugin = house.plugin(max_history=0, system_prompt="You are Ada.")
    plugin.update_history(exchange("hello", "hi"), "none")
    assert plugin.get_history("none") == []
    assert said(plugin.build_conversation_context("bye", "none")) == [("system", "You are Ada."), ("user", "bye")]


def test_a_number_written_as_text_is_that_number(house: House) -> None:
    plugin = house.plugin(max_history="2")
    for number in range(3):
        plugin.update_history(exchange(f"q{number}", f"a{number}"), "text")
    assert said(plugin.get_history("text")) == [("user", "q2"), ("assistant", "a2")]


def test_a_system_prompt_of_none_is_no_system_prompt(house: House) -> None:
    plugin = house.plugin(system_prompt=None)
    assert plugin.system_prompt == ""
    assert said(plugin.build_conversation_context("hello", "no prompt")) == [("user", "hello")]


def test_merging_two_answers_leaves_the_callers_messages_alone(house: House) -> None:
    plugin = house.plugin()
    first, second = exchange("count", "one"), [AgentMessage(A, "two")]
    plugin.update_history(first, "merge")
    plugin.update_history(second, "merge")
    assert said(plugin.get_history("merge")) == [("user", "count"), ("assistant", "one\ntwo")]
    assert said([*first, *second]) == [("user", "count"), ("assistant", "one"), ("assistant", "two")]


def test_what_the_caller_does_to_its_messages_later_changes_no_history(house: House) -> None:
    plugin = house.plugin()
    messages = exchange("count", "one")
    plugin.update_history(messages, "aliases")
    messages[0].content = messages[1].content = "changed"
    plugin.get_history("aliases").clear()
    assert said(plugin.get_history("aliases")) == [("user", "count"), ("assistant", "one")]


def tool_talk() -> list[AgentMessage]:
    call = ToolCall(id="c1", name="weather", arguments={"city": "Lisbon", "days": [1, 2]})
    return [
        AgentMessage(U, "weather"),
        AgentMessage(A, "let me look", tool_calls=[call]),
        AgentMessage(T, "sunny", tool_call_id="c1", name="weather"),
        AgentMessage(A, "It is sunny."),
    ]


def test_an_answer_after_a_tool_call_does_not_swallow_the_call(house: House) -> None:
    plugin = house.plugin(max_history=10)
    question, call, result, answer = tool_talk()
    for one in (question, call):
        plugin.update_history([one], "calls")
    assert plugin.get_history("calls") == [question, call]
    plugin.update_history([answer], "calls")
    assert plugin.get_history("calls") == [question, call, answer]
    plugin.update_history([*tool_talk()], "whole calls")
    known = plugin.build_conversation_context("thanks", "whole calls")
    assert known == [question, call, result, answer, AgentMessage(U, "thanks")]


@pytest.mark.parametrize("max_history", [1, 2, 3])
def test_a_cut_never_leaves_a_tool_result_without_its_call(house: House, max_history: int) -> None:
    plugin = house.plugin(max_history=max_history)
    plugin.update_history(tool_talk(), f"cut at {max_history}")
    assert said(plugin.build_conversation_context("thanks", f"cut at {max_history}")) == [("user", "thanks")]


def test_a_session_nobody_knows_has_no_history(house: House) -> None:
    assert house.plugin().get_history("never heard of") == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_history", -1),
        ("max_history", "many"),
        ("max_rounds", "-2"),
        ("max_tokens", [1]),
        ("recall", "lots"),
        pytest.param("timeout_s", "soon"),
        pytest.param("timeout_s", None),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(tmp_path: Path, name: str, value: object) -> None:
    with House(tmp_path, bus=False, daemon=False) as house, pytest.raises(ConfigError, match=name):
        house.plugin(**{name: value})


# it never waits


@pytest.fixture(params=["nothing listens", "a socket that never answers", "a bus without a daemon"])
def absence(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[int]:
    """The port of a bus where no memory answers."""
    with ExitStack() as stack:
        if request.param == "a bus without a daemon":
            port = stack.enter_context(House(tmp_path, daemon=False)).port
        elif request.param == "nothing listens":
            port = stack.enter_context(deaf_port()).getsockname()[1]
        else:
            port = stack.enter_context(socket.create_server((HOST, 0))).getsockname()[1]
        stack.callback(connection(port).close)
        yield port


@pytest.fixture
def warnings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The warnings logged from here on, in order."""
    logged: list[str] = []
    monkeypatch.setattr(LOG, "warning", lambda text, *values: logged.append(text % values if values else text))
    return logged


def test_a_persona_does_not_wait_for_a_memory_that_is_away(absence: int, warnings: list[str]) -> None:
    plugin = PersonaMemoryPlugin({"host": HOST, "port": absence, "timeout_s": 0.3})
    calls: list[Callable[[], object]] = [
        lambda: plugin.build_conversation_context("who are you", "s"),
        lambda: plugin.update_history(exchange("who are you", "Ada"), "s"),
        lambda: plugin.get_history("s"),
        lambda: plugin.build_conversation_context("and now", "s"),
    ]
    for call in calls:
        began = time.monotonic()
        call()
        assert time.monotonic() - began < 1.3, "the time-out, and a second for a slow machine"
    known = plugin.build_conversation_context("and now", "s")
    assert said(known) == [("user", "who are you"), ("assistant", "Ada"), ("user", "and now")]
    assert len([text for text in warnings if "without its memory" in text]) == 1


def test_a_context_that_is_too_long_is_compacted_alike_with_the_daemon_and_without(tmp_path: Path) -> None:
    with House(tmp_path) as house:
        plugin = house.plugin(context_tokens=150, max_history=60, system_prompt="You are Ada.")
        for number in range(30):
            news = exchange(f"we walk to village number {number} and rest there", f"That is far: {number}")
            plugin.update_history(news, "s")
        wait_until(lambda: house.turns("s") == 60, "the last record")
        told = plugin.build_conversation_context("and now", "s")
        assert "the user: we walk to village" in told[0].content, "a summary of what gave way"
        assert [one.content for one in told[-2:]] == ["That is far: 29", "and now"]
        assert sum(-(-len(one.content) // 4) for one in told) <= 150
        assert house.daemon is not None
        house.daemon.end()
        assert plugin.build_conversation_context("and now", "s") == told


def test_without_the_daemon_a_context_is_as_short_as_the_settings_of_the_device_say(
    absence: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    section = {"history": {"context_tokens": 60}}
    monkeypatch.setattr("ovos_persona_memory.config.Configuration", lambda: {"persona_memory": section})
    plugin = PersonaMemoryPlugin({"host": HOST, "port": absence, "max_history": 60})
    for number in range(30):
        plugin.update_history(exchange(f"we walk to village number {number} and rest there", "far"), "s")
    for text, most in (("and now", 60), ("long " * 200, 60)):
        told = plugin.build_conversation_context(text, "s")
        assert sum(-(-len(one.content) // 4) for one in told) <= most
    section["history"]["context_tokens"] = "many"  # type: ignore[assignment]  # what cannot be used
    assert len(plugin.build_conversation_context("and now", "s")) == 61


def test_after_a_miss_the_daemon_is_not_asked_again_at_once(tmp_path: Path) -> None:
    with House(tmp_path, daemon=False) as house, Wire(house.port) as wire:
        plugin = house.plugin(timeout_s=0.2)
        for _ in range(5):
            plugin.build_conversation_context("are you there", "s")
            plugin.get_history("s")
        plugin.update_history(exchange("are you there", "no"), "s")
        asked = [one["type"] for one in wire.until(topics.request("record")) if one["type"].startswith(topics.PREFIX)]
        assert asked == [topics.request("context"), topics.request("record")]


def test_a_daemon_that_came_back_is_asked_again(tmp_path: Path) -> None:
    with House(tmp_path, daemon=False) as house:
        plugin = house.plugin(timeout_s=0.2)
        plugin.build_conversation_context("are you there", "s")
        house.start_daemon()
        assert house.daemon is not None
        with house.daemon.door() as owner:
            owner.record([Turn("user", "tell it"), Turn("assistant", "told")], Scope(session_id="s"))
        wait_until(lambda: said(plugin.get_history("s")) == [("user", "tell it"), ("assistant", "told")], "an answer")


# nothing is lost meanwhile


def test_what_was_said_while_the_daemon_was_away_is_delivered_once_when_it_is_back(tmp_path: Path) -> None:
    with House(tmp_path) as house:
        plugin = house.plugin(timeout_s=0.2)
        plugin.update_history(exchange("q0", "a0"), "s")
        wait_until(lambda: house.turns("s") == 2, "the first record")
        assert house.daemon is not None
        house.daemon.kill()
        for number in (1, 2):
            plugin.update_history(exchange(f"q{number}", f"a{number}"), "s")
            known = said(plugin.build_conversation_context("next", "s"))
            assert known[-3:] == [("user", f"q{number}"), ("assistant", f"a{number}"), ("user", "next")]
        house.start_daemon()
        wait_until(lambda: house.turns("s") >= 6, "the delivery")
        assert [text for _, text in house.history("s")] == ["q0", "a0", "q1", "a1", "q2", "a2"]
        assert house.turns("s") == 6


def test_what_was_said_while_the_bus_was_away_is_delivered_once_when_it_is_back(tmp_path: Path) -> None:
    with House(tmp_path) as house:
        plugin = house.plugin()
        plugin.update_history(exchange("q0", "a0"), "s")
        wait_until(lambda: house.turns("s") == 2, "the first record")
        assert house.bus is not None
        house.bus.kill()
        wait_until(lambda: not connection(house.port).connected, "the loss of the bus")
        for number in (1, 2):
            plugin.update_history(exchange(f"q{number}", f"a{number}"), "s")
        house.bus = Bus(tmp_path / "bus", house.port)
        wait_until(lambda: house.turns("s") >= 6, "the delivery")
        assert [text for _, text in house.history("s")] == ["q0", "a0", "q1", "a1", "q2", "a2"]
        assert house.turns("s") == 6


# what was heard and what the persona tells are one


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A bus and a daemon that the tests below share."""
    with House(tmp_path_factory.mktemp("home")) as shared:
        yield shared


@pytest.fixture
def wire(home: House) -> Iterator[Wire]:
    with Wire(home.port) as connected:
        yield connected


def envelope(session_id: str, utterance_id: str | None = None) -> dict[str, Any]:
    context: dict[str, Any] = {"session": {"session_id": session_id, "site_id": "kitchen", "lang": "en-US"}}
    return context | ({"utterance_id": utterance_id} if utterance_id else {})


def ask(wire: Wire, session_id: str, question: str, utterance_id: str | None) -> None:
    """A person says this on the bus, and core stamps it."""
    wire.send("recognizer_loop:utterance", {"utterances": [question]}, envelope(session_id))
    if utterance_id is not None:
        matched = {"skill_id": "persona.openvoiceos", "intent_name": "persona:query", "utterance": question}
        wire.send("ovos.intent.matched", matched, envelope(session_id, utterance_id))
    wire.ask("status")


def speak(wire: Wire, session_id: str, utterance_id: str | None, *sentences: str) -> None:
    for sentence in sentences:
        wire.send("ovos.utterance.speak", {"utterance": sentence}, envelope(session_id, utterance_id))
    wire.ask("status")


def handle(message: Message, work: Callable[[], Any], depth: int = 0) -> Any:
    """What a persona does: it works on something while it handles this message, perhaps far down its stack."""
    return work() if depth == 0 else handle_deeper(depth - 1, work)


def handle_deeper(depth: int, work: Callable[[], Any]) -> Any:
    return work() if depth == 0 else handle_deeper(depth - 1, work)


def tell(house: House, wire: Wire, session_id: str, utterance_id: str | None, messages: list[AgentMessage]) -> None:
    """The persona Ada records this while it handles the utterance; it is recorded when this returns."""
    plugin = house.plugin()
    query = Message("persona:query", {"persona": "Ada"}, envelope(session_id, utterance_id))
    handle(query, lambda: plugin.update_history(messages, session_id))
    wire.until(topics.response("record"))


SENTENCES = ("It leaks.", "Call a plumber.")


@pytest.mark.parametrize(
    ("session_id", "heard_first", "utterance_id", "turns"),
    [
        ("heard first, by id", True, "u-1", 3),
        ("told first, by id", False, "u-2", 2),
        ("heard first, by text", True, None, 3),
        ("told first, by text", False, None, 2),
    ],
)
def test_what_is_heard_and_told_is_kept_once_with_the_personas_name(
    home: House, wire: Wire, session_id: str, heard_first: bool, utterance_id: str | None, turns: int
) -> None:
    messages = exchange("my boat is wet", " ".join(SENTENCES))
    ask(wire, session_id, "my boat is wet", utterance_id)
    if heard_first:
        speak(wire, session_id, utterance_id, *SENTENCES)
    tell(home, wire, session_id, utterance_id, messages)
    if not heard_first:
        speak(wire, session_id, utterance_id, *SENTENCES)

    asked, answered = home.history(session_id)
    assert asked == ("user", "my boat is wet")
    assert answered[1].split() == " ".join(SENTENCES).split()
    assert home.history(session_id, persona_id="Ada") == [asked, answered]
    assert home.history(session_id, persona_id="Bert") == [], "it is marked as Ada's"
    assert home.turns(session_id) == turns


def test_what_the_persona_was_given_in_other_words_is_kept_as_it_was_heard(home: House, wire: Wire) -> None:
    ask(wire, "rewritten", "ask Ada about boats", "u-7")
    speak(wire, "rewritten", "u-7", "They float.")
    tell(home, wire, "rewritten", "u-7", exchange("boats", "They float."))
    assert home.history("rewritten") == [("user", "ask Ada about boats"), ("assistant", "They float.")]
    assert home.turns("rewritten") == 2


def test_the_same_question_and_answer_twice_are_two_exchanges(home: House, wire: Wire) -> None:
    for utterance_id in ("u-3", "u-4"):
        ask(wire, "twice", "tell me a joke", utterance_id)
        speak(wire, "twice", utterance_id, "Knock knock.")
        tell(home, wire, "twice", utterance_id, exchange("tell me a joke", "Knock knock."))
    assert home.history("twice") == [("user", "tell me a joke"), ("assistant", "Knock knock.")] * 2
    assert home.turns("twice") == 4


def test_an_exchange_that_was_not_heard_is_recorded(home: House, wire: Wire) -> None:
    tell(home, wire, "unheard", "u-5", exchange("typed", "written"))
    assert home.history("unheard", persona_id="Ada") == [("user", "typed"), ("assistant", "written")]


@pytest.mark.parametrize(
    ("session_id", "utterance_id"),
    [
        ("again, by id", "u-6"),
        pytest.param("again, by text", None),
    ],
)
def test_a_record_that_was_linked_is_not_doubled_when_it_is_sent_again(
    home: House, wire: Wire, session_id: str, utterance_id: str | None
) -> None:
    ask(wire, session_id, "my boat is wet", utterance_id)
    speak(wire, session_id, utterance_id, "It leaks.")
    turns = [{"role": "user", "text": "my boat is wet"}, {"role": "assistant", "text": "It leaks."}]
    for _ in range(2):  # the answer to the first got lost
        record = {"turns": turns, "as_passed": True, "delivery_id": f"d-{utterance_id}", "request_id": "r"}
        wire.send(topics.request("record"), record, envelope(session_id, utterance_id))
        assert wire.until(topics.response("record"))[-1]["data"]["ok"]
    assert home.turns(session_id) == 2


# a request says what it is about


@pytest.mark.parametrize("depth", [0, 20], ids=["in the handler", "in a loop far below it"])
@pytest.mark.parametrize("verb", ["context", "record"])
def test_a_request_carries_session_site_language_and_utterance_of_the_handled_message(
    home: House, wire: Wire, verb: str, depth: int
) -> None:
    plugin = home.plugin()
    context = envelope("carried", "u-9")
    context["session"]["lang"] = "de-DE"
    query = Message("persona:query", {"persona": "Ada", "utterance": "hallo"}, context)
    work = {
        "context": lambda: plugin.build_conversation_context("hallo", "carried"),
        "record": lambda: plugin.update_history(exchange("hallo", "guten Tag"), "carried"),
    }
    handle(query, work[verb], depth)
    sent = wire.until(topics.request(verb))[-1]["context"]
    session = sent["session"]
    assert (session["session_id"], session["site_id"], session["lang"]) == ("carried", "kitchen", "de-DE")
    assert (session["persona_id"], sent["utterance_id"]) == ("Ada", "u-9")


def test_the_message_of_another_session_lends_a_request_nothing(home: House, wire: Wire) -> None:
    plugin = home.plugin()
    query = Message("persona:query", {"persona": "Ada"}, envelope("theirs", "u-10"))
    handle(query, lambda: plugin.build_conversation_context("hello", "mine"))
    sent = wire.until(topics.request("context"))[-1]["context"]
    assert sent["session"]["session_id"] == "mine"
    assert "kitchen" not in json.dumps(sent)
    assert "u-10" not in json.dumps(sent)
