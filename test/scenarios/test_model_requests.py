"""What a model server is sent for a long conversation with tool calls, however it is cut: no orphan, nothing twice."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.conversation.window import SHORTENED
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import ContextMessage, ContextRequest, Hit, Inject, Scope, ToolCall, Turn
from ovos_persona_memory.stores.inmemory.store import InMemoryStore

pytestmark = pytest.mark.full

LONGEST_WHOLE = 500
"""A text of so many characters is recalled in part: half of the default budget and more."""
NOW = 1_795_000_000.0
HERE, ELSEWHERE = Scope(session_id="here"), Scope(session_id="elsewhere")
MODES: tuple[Inject, ...] = get_args(Inject)
PROMPT = "You are Ada.\n{memory}\nBe brief."
ASKED = "tell me about my cat"
CATS = ("my cat is called Bob", "my cat eats tuna", "my cat sleeps on the piano", "the cat hides in the red box")
TALK = ("turn on the lamp", "tell me a joke", "how warm is it", *CATS)
Make = Callable[..., Any]


# a conversation, from its rounds


def called(*ids: str, text: str = "") -> Turn:
    return Turn("assistant", text, tool_calls=tuple(ToolCall(one, "look_up", {"word": "cat"}) for one in ids))


def given_back(call_id: str, text: str = "found") -> Turn:
    return Turn("tool", text, tool_call_id=call_id, name="look_up")


def said(kind: str, text: str, n: int) -> list[Turn]:
    """One round of a kind, the n-th of its conversation."""
    user, end = Turn("user", text), Turn("assistant", f"answer number {n}")
    first, second = f"call{n}a", f"call{n}b"
    result = given_back(first, f'{{"found": [{{"text": "{text}"}}]}}')
    return {
        "plain": [user, end],
        "call": [user, called(first), result, end],
        "two calls at once": [user, called(first, second), given_back(second), result, end],
        "two calls in turn": [user, called(first), result, called(second, text="and"), given_back(second), end],
        "a call without its result": [user, called(first, second), result, end],
        "a result without its call": [user, given_back(first), end],
        "a call with nothing after it": [user, called(first)],
        "a question without an answer": [user],
        "an answer without a question": [end],
        "a long answer": [user, Turn("assistant", " ".join([text, *(f"part{n}of{k}" for k in range(99)), text]))],
        "a long question": [Turn("user", " ".join(f"piece{n}of{k} and the cat ran" for k in range(30))), end],
    }[kind]


KINDS = ("plain", "call", "two calls at once", "two calls in turn", "a call without its result",
         "a result without its call", "a call with nothing after it", "a question without an answer",
         "an answer without a question", "a long answer", "a long question")  # fmt: skip


def remembered(rounds: Sequence[tuple[str, str]]) -> PersonaMemory:
    """A memory of this conversation, and of earlier ones in which much of it was said before."""
    memory = PersonaMemory(InMemoryStore(), MemoryConfig(), clock=lambda: NOW)
    for n, text in enumerate((*CATS, f"well {CATS[0]} and he is old", CATS[0].upper(), f"You told me: {CATS[1]}.")):
        role = "assistant" if text.startswith("You") else "user"
        memory.record([Turn(role, text, at=NOW - 86400 * (9 - n))], ELSEWHERE)
    memory.remember(CATS[1], ELSEWHERE)
    for n, (kind, text) in enumerate(rounds):
        memory.record(said(kind, text, n), HERE, as_passed=n % 2 == 0)
    return memory


# what must not be


def orphans(messages: Sequence[ContextMessage]) -> list[str]:
    """What a strict model server refuses, in words."""
    talk = [message for message in messages if message.role not in ("system", "developer")]
    wrong = [] if talk and talk[0].role == "user" else ["no question at the beginning"]
    wrong += [] if talk and talk[-1] == ContextMessage("user", talk[-1].text) else ["no utterance at the end"]
    open_calls: set[str | None] = set()
    for message in talk:
        if message.role == "tool" and message.tool_call_id not in open_calls:
            wrong.append("a result without its call")
        if message.role != "tool" and open_calls:
            wrong.append("a call without all its results")
        open_calls = (open_calls if message.role == "tool" else {call.id for call in message.tool_calls}) - (
            {message.tool_call_id} if message.role == "tool" else set()
        )
    return wrong + [f"call {one} twice" for one, n in _calls(talk).items() if n > 1]


def _calls(talk: Sequence[ContextMessage]) -> Counter[str]:
    return Counter(call.id for message in talk for call in message.tool_calls)


def repeated(messages: Sequence[ContextMessage], hits: Sequence[Hit], utterance: str) -> list[str]:
    """Of the recalled texts, those that stand in a request twice; what the user says now does not count."""
    words = " | ".join(_words(message.text) for message in messages)
    words = words.removesuffix(_words(utterance))
    times = {hit.text: len(re.findall(f"(?= {_words(hit.text)} )", f" {words} ")) for hit in hits}
    begun = [message.text.split(SHORTENED)[0] for message in messages if SHORTENED in message.text]
    wrong = [text for text, number in times.items() if number > 1 or any(text.startswith(one) for one in begun)]
    # of a long text a part stands there
    return wrong + [text for text, number in times.items() if not number and len(text) < LONGEST_WHOLE]


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


@pytest.mark.parametrize(
    ("messages", "wrong"),
    [
        (["user"], []),
        (["system", "user", "assistant", "user"], []),
        (["user", "call", "tool", "assistant", "user"], []),
        (["assistant", "user"], ["no question at the beginning"]),
        (["call", "tool", "user"], ["no question at the beginning"]),
        (["user", "assistant"], ["no utterance at the end"]),
        (["user", "tool", "user"], ["a result without its call"]),
        (["user", "call", "user"], ["a call without all its results"]),
        (["user", "call", "tool", "tool", "user"], ["a result without its call"]),
        (["user", "call", "tool", "call", "tool", "user"], ["call 1 twice"]),
    ],
)
def test_what_is_wrong_is_noticed(messages: list[str], wrong: list[str]) -> None:
    known = {
        "call": ContextMessage("assistant", "", tool_calls=(ToolCall("1", "look_up"),)),
        "tool": ContextMessage("tool", "x", tool_call_id="1"),
    }
    assert orphans([known.get(role) or ContextMessage(role, "x") for role in messages]) == wrong  # type: ignore[arg-type]


def test_what_stands_twice_is_noticed() -> None:
    hit = Hit("1", "turn", "my cat is Bob", 1.0, True, "", 0.0)
    once = [ContextMessage("system", '- "my cat is Bob"'), ContextMessage("user", "what now")]
    assert repeated(once, [hit], "what now") == []
    assert repeated([*once[:1], ContextMessage("user", "well, My cat is Bob!"), *once[1:]], [hit], "what now")
    assert repeated([ContextMessage("system", '- "my cat is Bob"\n- "My cat is Bob."'), once[1]], [hit], "what now")
    assert repeated([*once[:1], ContextMessage("user", f"my cat{SHORTENED}end"), *once[1:]], [hit], "what now")


# the two doors


Ask = Callable[[ContextRequest], tuple[Sequence[ContextMessage], Sequence[Hit]]]


def in_this_process(memory: PersonaMemory) -> Ask:
    def ask(request: ContextRequest) -> tuple[Sequence[ContextMessage], Sequence[Hit]]:
        known = memory.context(request)
        return known.messages, known.hits

    return ask


def through_the_plugin(make: Make, memory: PersonaMemory) -> Ask:
    """The plugin gives no hits: they are what the memory says for the same request."""

    def ask(request: ContextRequest) -> tuple[Sequence[ContextMessage], Sequence[Hit]]:
        names = ("max_history", "max_rounds", "max_tokens", "system_prompt", "recall")
        cut = {name: getattr(request, name) for name in names}
        built = make("memory", memory, **cut, inject_mode=request.inject).build_conversation_context(
            request.utterance, "here"
        )
        return [_message(one) for one in built], memory.context(request).hits

    return ask


def _message(built: Any) -> ContextMessage:
    calls = tuple(ToolCall(call.id, call.name, call.arguments) for call in getattr(built, "tool_calls", None) or ())
    of_tool = built.role.value == "tool"
    return ContextMessage(built.role.value, built.content, calls, built.tool_call_id if of_tool else None)


def look(ask: Ask, **cut: Any) -> int:
    """How many hits stand in the request; AssertionError where anything is wrong with it."""
    request = ContextRequest(ASKED, HERE, system_prompt=PROMPT, recall=8, **cut)
    messages, hits = ask(request)
    assert orphans(messages) == [], (cut, messages)
    assert repeated(messages, hits, ASKED) == [], (cut, messages)
    return len(hits)


# every cut

LONG = [(kind, text) for text, kind in zip(itertools.cycle(TALK), KINDS * 2)]


def cuts() -> Iterator[dict[str, int | None]]:
    """Each limit alone, at every value that changes something; None: no limit."""
    most = sum(len(said(kind, text, 0)) for kind, text in LONG) + 1
    yield from ({"max_history": n} for n in (*range(most + 1), None))
    yield from ({"max_history": None, "max_rounds": n} for n in range(len(LONG) + 2))
    yield from ({"max_history": None, "max_tokens": n} for n in (*range(60), *range(60, 2400, 60)))


@pytest.mark.parametrize("mode", MODES)
def test_no_cut_of_a_long_conversation_leaves_an_orphan_or_says_anything_twice(mode: Inject) -> None:
    ask = in_this_process(remembered(LONG))
    counts = [look(ask, inject=mode, **cut) for cut in cuts()]
    assert max(counts) >= 3, "something is recalled"
    assert min(counts) < max(counts), "and less where the window holds it"


def test_no_cut_through_the_plugin_leaves_an_orphan_or_says_anything_twice(plugin: Make) -> None:
    ask = through_the_plugin(plugin, remembered(LONG))
    counts = [look(ask, inject=mode, **cut) for cut, mode in zip(cuts(), itertools.cycle(MODES))]
    assert max(counts) >= 3, "something is recalled"


limit = st.one_of(st.none(), st.integers(0, 40))
rounds = st.lists(st.tuples(st.sampled_from(KINDS), st.sampled_from(TALK)), max_size=9)
cut = st.fixed_dictionaries(
    {
        "max_history": limit,
        "max_rounds": st.one_of(st.none(), st.integers(0, 9)),
        "max_tokens": st.one_of(st.none(), st.integers(0, 400)),
        "inject": st.sampled_from(MODES),
    }
)


@settings(derandomize=True, deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(rounds, st.lists(cut, min_size=4, max_size=4))
def test_no_cuts_together_leave_an_orphan_or_say_anything_twice(
    plugin: Make, rounds: list[tuple[str, str]], together: list[dict[str, Any]]
) -> None:
    memory = remembered(rounds)
    for limits in together:
        look(in_this_process(memory), **limits)
        look(through_the_plugin(plugin, memory), **limits)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(rounds, cut)
def test_the_plugin_alone_leaves_no_orphan_while_the_daemon_is_away(
    plugin: Make, rounds: list[tuple[str, str]], limits: dict[str, Any]
) -> None:
    names = {"max_history", "max_rounds", "max_tokens"}
    made = plugin("memory", remembered([]), inject_mode=limits["inject"], system_prompt=PROMPT,
                  **{name: limits[name] for name in names})  # fmt: skip
    made._link.transport.bus.connected = False
    for n, (kind, text) in enumerate(rounds):
        made._heard.setdefault("here", []).extend(
            Turn(**{**vars(turn), "batch": str(n), "at": None}) for turn in said(kind, text, n)
        )
    messages = [_message(one) for one in made.build_conversation_context(ASKED, "here")]
    assert orphans(messages) == []
    assert "{memory}" not in messages[0].text or limits["inject"] != "system_prompt"
