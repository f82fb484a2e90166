"""The history of batches, beside the real BasicShortTermMemory on the same calls.

Left out are its documented defects: an empty list, ``max_history`` below one, tool calls lost in a
merge, tool results whose call was cut off, the caller's object changed. Our system messages outlive a cut.
"""

from __future__ import annotations

from copy import deepcopy
from itertools import dropwhile

from hypothesis import given, settings
from hypothesis import strategies as st
from ovos_persona.memory import BasicShortTermMemory
from ovos_plugin_manager.templates.agents import AgentMessage, MessageRole

from ovos_persona_memory.conversation.history import history, raw_history
from ovos_persona_memory.conversation.window import Window
from ovos_persona_memory.records import ContextMessage, Turn

Said = tuple[str, str]
ANY_ROLE = ["user", "assistant", "system", "developer", "tool"]
TALK = ["user", "assistant"]
text = st.text("ab \n", max_size=4)
max_size = st.integers(1, 7)
seeded = settings(derandomize=True, deadline=None, max_examples=500)


def calls(roles: list[str]) -> st.SearchStrategy[list[list[Said]]]:
    """Lists handed to update_history, one call after the other."""
    return st.lists(st.lists(st.tuples(st.sampled_from(roles), text), min_size=1, max_size=5), max_size=8)


def theirs(batches: list[list[Said]], max_history: int) -> BasicShortTermMemory:
    memory = BasicShortTermMemory({"max_history": max_history, "system_prompt": ""})
    for batch in deepcopy(batches):
        memory.update_history([AgentMessage(MessageRole(role), words) for role, words in batch], "s")
    return memory


def ours(batches: list[list[Said]]) -> list[Turn]:
    return [
        Turn(role, words, source="record", batch=str(i))  # type: ignore[arg-type]  # roles are drawn from a list
        for i, batch in enumerate(batches)
        for role, words in batch
    ]


def said(messages: list[ContextMessage]) -> list[Said]:
    return [(message.role, message.text) for message in messages]


def their_words(messages: list[AgentMessage]) -> list[Said]:
    return [(message.role.value, message.content) for message in messages]


@seeded
@given(calls(ANY_ROLE), max_size)
def test_the_raw_history_is_that_of_basic_short_term_memory(batches: list[list[Said]], max_history: int) -> None:
    expected = their_words(theirs(batches, max_history).get_history("s"))
    if len(raw_history(ours(batches), Window(), 0.0)) > max_history:
        expected = list(dropwhile(lambda message: message[0] == "tool", expected))
    assert said(raw_history(ours(batches), Window(max_history=max_history), 0.0)) == expected


@seeded
@given(calls(TALK), max_size)
def test_the_history_for_a_prompt_is_that_of_basic_short_term_memory(
    batches: list[list[Said]], max_history: int
) -> None:
    context = theirs(batches, max_history).build_conversation_context("now", "s")
    assert context[-1].content == "now"
    assert said(history(ours(batches), Window(max_history=max_history), 0.0)) == their_words(context[:-1])


@seeded
@given(st.lists(st.tuples(text, text), max_size=8), max_size)
def test_exchanges_that_were_heard_give_the_same_as_those_handed_in(exchanges: list[Said], max_history: int) -> None:
    pairs = [("u" + question, "a" + answer) for question, answer in exchanges]
    batches = [[("user", question), ("assistant", answer)] for question, answer in pairs]
    heard = [
        turn
        for i, (question, answer) in enumerate(pairs)
        for turn in (Turn("user", question, utterance_id=str(i)), Turn("assistant", answer, utterance_id=str(i)))
    ]
    limits = Window(max_history=max_history)
    assert raw_history(heard, limits, 0.0) == raw_history(ours(batches), limits, 0.0)
    assert said(raw_history(heard, limits, 0.0)) == their_words(theirs(batches, max_history).get_history("s"))
