"""``@remember`` around the methods of a chat engine, on a memory in this process."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from ovos_bus_client.message import Message
from ovos_plugin_manager.templates.agents import AgentMessage, ChatEngine, MessageRole
from ovos_utils.log import LOG

from ovos_persona_memory.config import MemoryConfig, parse
from ovos_persona_memory.errors import ConfigError, StoreUnavailable
from ovos_persona_memory.memory import Model, PersonaMemory
from ovos_persona_memory.opm import remember
from ovos_persona_memory.records import Context, ContextRequest, Scope, Turn

USER, ASSISTANT, SYSTEM = MessageRole.USER, MessageRole.ASSISTANT, MessageRole.SYSTEM
S = Scope(session_id="s")


class Echo(ChatEngine):  # type: ignore[misc]  # ovos_plugin_manager carries no types
    """Keeps what it was handed; answers with the same two sentences."""

    answer = "It is noted.\nThank you."

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        super().__init__(config)
        self.handed: list[list[tuple[str, str]]] = []

    def _take(self, messages: list[AgentMessage]) -> None:
        self.handed.append([(one.role.value, one.content) for one in messages])

    def continue_chat(
        self,
        messages: list[AgentMessage],
        session_id: str = "default",
        lang: str | None = None,
        units: str | None = None,
        tools: Any = None,
    ) -> AgentMessage:
        self._take(messages)
        messages.append(AgentMessage(SYSTEM, "its own list"))
        return AgentMessage(ASSISTANT, self.answer)


class Streaming(Echo):
    """Makes each piece of its answers itself."""

    pieces = ("It is", " noted.", " Thank you.")

    def stream_tokens(self, messages: list[AgentMessage], *_: Any, **__: Any) -> Iterable[str]:
        self._take(messages)
        yield from self.pieces

    def stream_sentences(
        self, messages: list[AgentMessage], session_id: str = "default", lang: str | None = None, units: Any = None
    ) -> Iterable[str]:
        self._take(messages)
        for piece in self.pieces:
            if piece == "!":
                raise OSError("the model server is gone")
            yield piece.strip()


@pytest.fixture
def memory() -> Iterator[PersonaMemory]:
    with PersonaMemory.open(config=MemoryConfig(backend="inmemory")) as opened:
        yield opened


@pytest.fixture
def made(memory: PersonaMemory) -> Callable[..., Any]:
    """Makes a remembering engine: ``made(Echo, top_k=1)``."""

    def make(engine: type, pieces: tuple[str, ...] | None = None, **settings: Any) -> Any:
        own = type(engine.__name__, (engine,), {"pieces": pieces} if pieces is not None else {})
        return remember(**{"store": memory, **settings})(own)()

    return make


def asking(*texts: str) -> list[AgentMessage]:
    return [AgentMessage(USER if number % 2 == 0 else ASSISTANT, text) for number, text in enumerate(texts)]


def recorded(memory: PersonaMemory) -> list[tuple[str, str]]:
    return [(one.role, one.text) for one in memory.history(S, max_history=None, hanging=True)]


def test_what_is_known_is_injected_and_what_was_said_is_recorded(memory: PersonaMemory, made: Any) -> None:
    memory.record([Turn("user", "my cat is called Bob", lang="en-US")], Scope(session_id="before"))
    engine = made(Echo)
    given = asking("what is my cat called")
    answer = engine.continue_chat(given, "s", "en-US")
    assert answer.content == Echo.answer
    (system, question) = engine.handed[0]
    assert (system[0], question) == ("system", ("user", "what is my cat called"))
    assert '"my cat is called Bob"' in system[1]
    assert [one.content for one in given] == ["what is my cat called"], "the caller's list is as it was"
    assert recorded(memory) == [("user", "what is my cat called"), ("assistant", Echo.answer)]


def test_facts_are_learned_from_what_is_said(memory: PersonaMemory, made: Any) -> None:
    made(Echo).continue_chat(asking("my cat is called Bob"), "s", "en-US")
    assert [fact.value for fact in memory.facts.list()] == ["Bob"]


def test_nothing_is_learned_where_extract_is_off(memory: PersonaMemory, made: Any) -> None:
    made(Echo, extract=False).continue_chat(asking("my cat is called Bob"), "s", "en-US")
    memory.tidy()
    assert memory.facts.list() == []
    assert recorded(memory)[0] == ("user", "my cat is called Bob")


def test_nothing_is_injected_where_inject_is_off(memory: PersonaMemory, made: Any) -> None:
    memory.record([Turn("user", "my cat is called Bob", lang="en-US")], Scope(session_id="before"))
    for settings in ({"inject": False}, {"top_k": 0}):
        engine = made(Echo, **settings)
        engine.continue_chat(asking("what is my cat called"), "s", "en-US")
        assert engine.handed == [[("user", "what is my cat called")]]


def test_at_most_so_many_hits_are_injected(memory: PersonaMemory, made: Any) -> None:
    for day in ("Monday", "Tuesday", "Friday"):
        memory.remember(f"the choir rehearses on {day}", Scope())
    for top_k in (1, 2):
        engine = made(Echo, top_k=top_k)
        engine.continue_chat(asking("when does the choir rehearse"), f"s{top_k}", "en-US")
        assert engine.handed[0][0][1].count("the choir rehearses") == top_k


def test_the_notes_stand_behind_the_prompt_and_what_the_talk_holds_is_not_told_again(
    memory: PersonaMemory, made: Any
) -> None:
    for text in ("my cat is called Bob", "my cat is called Bob by everybody but my aunt"):
        memory.remember(text, Scope())
    engine = made(Echo)
    talk = [AgentMessage(SYSTEM, "You are Ada."), *asking("my cat is called Bob", "Nice.", "what is my cat called")]
    engine.continue_chat(talk, "s", "en-US")
    system, *rest = engine.handed[0]
    assert system[1].startswith("You are Ada.\n\n")
    assert system[1].count("my cat") == 1
    assert rest == [("user", "my cat is called Bob"), ("assistant", "Nice."), ("user", "what is my cat called")]
    assert recorded(memory) == [("user", "what is my cat called"), ("assistant", Echo.answer)]


@pytest.mark.parametrize("mode", ["developer", "user", "tool"])
def test_each_mode_puts_the_notes_in_its_place(memory: PersonaMemory, made: Any, mode: str) -> None:
    memory.remember("my cat is called Bob", Scope())
    engine = made(Echo, inject_mode=mode)
    engine.continue_chat(asking("what is my cat called"), "s", "en-US")
    handed = engine.handed[0]
    places = {"developer": ["developer", "user"], "user": ["user"], "tool": ["user", "assistant", "tool", "user"]}
    assert [role for role, _ in handed] == places[mode]
    assert sum("Bob" in text for _, text in handed) == 1
    assert handed[-1][1].endswith("what is my cat called")
    assert recorded(memory)[0] == ("user", "what is my cat called")


def test_a_picture_stays_with_its_question(memory: PersonaMemory, made: Any) -> None:
    from ovos_plugin_manager.templates.agents import MultimodalAgentMessage

    memory.remember("my cat is called Bob", Scope())
    seen = []

    class Looking(Echo):
        def _take(self, messages: list[AgentMessage]) -> None:
            seen.append(messages[-1])

    question = MultimodalAgentMessage(USER, "is that my cat", image_content=["b64"])
    made(Looking, inject_mode="user").continue_chat([question], "s", "en-US")
    assert seen[0].image_content == ["b64"]
    assert question.content == "is that my cat"


@pytest.mark.parametrize(("stream", "whole"), [("stream_tokens", Echo.answer), ("stream_sentences", Echo.answer)])
def test_a_stream_that_the_engine_cuts_from_its_answer_is_recorded_once_as_it_was(
    memory: PersonaMemory, made: Any, stream: str, whole: str
) -> None:
    engine = made(Echo)
    assert len(list(getattr(engine, stream)(asking("hello"), "s", "en-US"))) > 1
    assert recorded(memory) == [("user", "hello"), ("assistant", whole)]
    assert len(engine.handed) == 1


@pytest.mark.parametrize("stream", ["stream_tokens", "stream_sentences"])
def test_the_pieces_of_a_stream_are_recorded_as_one_answer(memory: PersonaMemory, made: Any, stream: str) -> None:
    engine = made(Streaming)
    pieces = list(getattr(engine, stream)(asking("hello"), session_id="s", lang="en-US"))
    assert len(pieces) == 3
    assert recorded(memory) == [("user", "hello"), ("assistant", "It is noted. Thank you.")]


def test_sentences_that_an_engine_makes_of_its_own_tokens_are_one_exchange(memory: PersonaMemory, made: Any) -> None:
    class Joining(Streaming):
        def stream_sentences(self, messages: list[AgentMessage], session_id: str = "s", **_: Any) -> Iterable[str]:
            yield "".join(self.stream_tokens(messages, session_id))

    assert list(made(Joining).stream_sentences(asking("hello"), session_id="s")) == ["It is noted. Thank you."]
    assert recorded(memory) == [("user", "hello"), ("assistant", "It is noted. Thank you.")]


def handling(message: Message, act: Callable[[], Any]) -> Any:
    """As a handler of the bus does: the message is found on the stack."""
    return act()


@pytest.mark.parametrize(("utterance_id", "kept"), [("u1", 2), (None, 0)])
def test_of_a_stopped_answer_that_is_heard_on_the_bus_without_an_id_the_daemon_knows_more(
    memory: PersonaMemory, made: Any, utterance_id: str | None, kept: int
) -> None:
    context = {"session": {"session_id": "s"}} | ({"utterance_id": utterance_id} if utterance_id else {})
    message = Message("persona:query", {"utterance": "hello"}, context)
    stream = made(Streaming).stream_sentences(asking("hello"), "s", "en-US")
    handling(message, lambda: next(stream))
    stream.close()
    assert len(recorded(memory)) == kept
    handling(message, lambda: list(made(Streaming).stream_sentences(asking("and now"), "s", "en-US")))
    assert len(recorded(memory)) == kept + 2


def test_a_question_past_the_pipeline_is_left_to_the_daemon_that_hears_it(memory: PersonaMemory, made: Any) -> None:
    message = Message("ovos.persona.query", {"utterance": "hello"}, {"session": {"session_id": "s"}})
    answer = handling(message, lambda: made(Echo).continue_chat(asking("hello"), "s", "en-US"))
    assert (answer.content, recorded(memory)) == (Echo.answer, [])


def test_an_empty_stream_leaves_what_was_asked(memory: PersonaMemory, made: Any) -> None:
    assert list(made(Streaming, pieces=()).stream_sentences(asking("hello"), "s", "en-US")) == []
    assert recorded(memory) == [("user", "hello")]


def test_of_a_stream_that_breaks_off_what_was_said_is_recorded(memory: PersonaMemory, made: Any) -> None:
    stream = made(Streaming, pieces=("One.", "Two.", "!")).stream_sentences(asking("count"), "s", "en-US")
    with pytest.raises(OSError, match="model server"):
        list(stream)
    assert recorded(memory) == [("user", "count"), ("assistant", "One. Two.")]


@pytest.mark.parametrize("engine", [Echo, Streaming])
def test_of_a_stream_that_is_closed_early_what_was_handed_on_is_recorded_once(
    memory: PersonaMemory, made: Any, engine: type
) -> None:
    stream = made(engine, pieces=("It is noted.", "Thank you.")).stream_sentences(asking("hello"), "s", "en-US")
    assert next(stream) == "It is noted."
    assert recorded(memory) == []
    stream.close()
    stream.close()
    assert recorded(memory) == [("user", "hello"), ("assistant", "It is noted.")]


def test_a_stream_that_nobody_begins_records_nothing(memory: PersonaMemory, made: Any) -> None:
    made(Streaming).stream_sentences(asking("hello"), "s", "en-US").close()
    assert recorded(memory) == []


def test_an_answer_that_fails_leaves_what_was_asked(memory: PersonaMemory, made: Any) -> None:
    class Broken(Echo):
        def continue_chat(self, messages: list[AgentMessage], session_id: str = "s", **_: Any) -> AgentMessage:
            raise OSError("away")

    with pytest.raises(OSError, match="away"):
        made(Broken).continue_chat(asking("hello"), session_id="s")
    assert recorded(memory) == [("user", "hello")]


@pytest.mark.parametrize("stream", ["continue_chat", "stream_sentences"])
def test_messages_may_be_passed_by_name(memory: PersonaMemory, made: Any, stream: str) -> None:
    answer = getattr(made(Echo), stream)(messages=asking("hello"), session_id="s", lang="en-US")
    assert answer if stream == "continue_chat" else list(answer)
    assert recorded(memory) == [("user", "hello"), ("assistant", Echo.answer)]


def test_two_streams_of_one_engine_at_once_are_two_exchanges(memory: PersonaMemory, made: Any) -> None:
    engine = made(Echo)
    one, two = (engine.stream_sentences(asking(text), "s", "en-US") for text in ("one", "two"))
    assert [next(one), next(two), *one, *two] == ["It is noted.", "It is noted.", "Thank you.", "Thank you."]
    assert [text for role, text in recorded(memory) if role == "user"] == ["one", "two"]


def test_a_class_that_is_made_to_remember_twice_does_so_once(memory: PersonaMemory, made: Any) -> None:
    remember(store=memory)(type("Base", (Echo,), {}))
    engine = remember(store=memory)(remember(store=memory)(type("Twice", (Echo,), {})))()
    engine.continue_chat(asking("hello"), "s", "en-US")
    assert recorded(memory) == [("user", "hello"), ("assistant", Echo.answer)]
    assert not hasattr(Echo.continue_chat, "__wrapped__"), "the class below is as it was"


def test_within_a_loop_of_tools_each_message_is_recorded_once(memory: PersonaMemory, made: Any) -> None:
    from ovos_plugin_manager.templates.agents import ToolCall

    call = AgentMessage(ASSISTANT, "", tool_calls=[ToolCall("c1", "weather", {"city": "Lisbon"})])
    answers = [call, AgentMessage(ASSISTANT, "It is sunny.")]

    class Calling(Echo):
        def continue_chat(self, messages: list[AgentMessage], session_id: str = "s", **_: Any) -> AgentMessage:
            self._take(messages)
            return answers.pop(0)

    engine, talk = made(Calling), asking("what is the weather")
    talk.append(engine.continue_chat(talk, session_id="s"))
    talk.append(AgentMessage(MessageRole.TOOL, "sunny", tool_call_id="c1", name="weather"))
    engine.continue_chat(talk, session_id="s")
    assert recorded(memory) == [
        *(("user", "what is the weather"), ("assistant", ""), ("tool", "sunny"), ("assistant", "It is sunny.")),
    ]


def test_where_the_memory_is_away_the_engine_answers_as_if_undecorated() -> None:
    class Away:
        def context(self, request: ContextRequest) -> Context:
            raise StoreUnavailable("gone")

        def record(self, turns: Any, scope: Scope, **_: Any) -> list[str]:
            raise StoreUnavailable("gone")

    engine = remember(store=Away())(type("Alone", (Echo,), {}))()
    assert engine.continue_chat(asking("hello"), "s", "en-US").content == Echo.answer
    assert engine.handed == [[("user", "hello")]]


def test_without_parentheses_it_says_so() -> None:
    with pytest.raises(TypeError, match=r"write @remember\(\) before the class Echo"):
        remember(Echo)
    with pytest.raises(TypeError, match="by name"):
        remember("store")


RAMBLING = "so my sister well she's like anna you know"


@pytest.fixture
def warned(monkeypatch: pytest.MonkeyPatch) -> queue.SimpleQueue[str]:
    """What is warned of."""
    told: queue.SimpleQueue[str] = queue.SimpleQueue()
    monkeypatch.setattr(LOG, "warning", lambda text, *values: told.put(text % values))
    return told


def test_the_extraction_model_that_the_memory_has_finds_facts_in_what_is_said(
    made: Callable[..., Any], warned: queue.SimpleQueue[str]
) -> None:
    says = '[{"turn": 1, "says": "My sister is called Anna."}]'
    config = parse({"backend": "inmemory", "models": {"facts": "some-plugin"}})
    with PersonaMemory.open(config=config) as memory:
        memory.models["facts"] = Model("some-plugin", "chat", lambda messages, lang: says)
        engine = made(Echo, store=memory, extraction_model="some-plugin")
        engine.continue_chat([AgentMessage(USER, RAMBLING)], session_id="s", lang="en-US")
        while memory.tidy():
            pass
        found = memory.facts.list(status="waiting")
        assert "Anna" in [one.value for one in found]
    assert warned.empty()


def test_where_the_memory_has_another_extraction_model_or_none_it_is_said_once(
    made: Callable[..., Any], warned: queue.SimpleQueue[str]
) -> None:
    engine = made(Echo, extraction_model="some-plugin")
    for _ in range(2):
        engine.continue_chat([AgentMessage(USER, "I like tea")], session_id="s", lang="en-US")
    said = warned.get(timeout=20)
    assert "by its own rules, and not with some-plugin" in said and "models.facts" in said
    assert warned.empty()


def test_what_cannot_be_used_is_named() -> None:
    with pytest.raises(TypeError, match="has no method continue_chat"):
        remember()(type("Nothing", (), {}))
    for settings, named in (
        ({"top_k": "many"}, "top_k"),
        ({"extract": "no"}, "extract"),
        ({"inject_mode": "loud"}, "inject_mode"),
        ({"extraction_model": 4}, "extraction_model"),
        ({"extraction_model": " "}, "extraction_model"),
    ):
        with pytest.raises(ConfigError, match=named):
            remember(**settings)  # type: ignore[arg-type]  # that is what is refused


def test_the_same_name_is_the_decorator_after_its_module_was_imported() -> None:
    import ovos_persona_memory.opm.decorator
    from ovos_persona_memory.opm import remember as again

    assert again is remember is ovos_persona_memory.opm.decorator.remember
