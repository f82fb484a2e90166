"""What gives way in a context that is too long."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ovos_persona_memory.config import parse
from ovos_persona_memory.conversation import Recalled
from ovos_persona_memory.conversation.compaction import ContextParts, fitted
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import Context, ContextMessage, ContextRequest, Hit, Note, Scope, ToolCall, Turn

PROMPT = "You are Ada."
BOB = Hit("1", "turn", "my cat is called Bob", 1.0, True, "words", 990.0)
TALK = [
    ContextMessage(role, f"{text} {number}")  # type: ignore[arg-type]  # one of two roles
    for number in range(20)
    for role, text in (("user", f"we walk to village number {number} and"), ("assistant", "That is far: "))
]


def parts(history: list[ContextMessage] = TALK, utterance: str = "and now", **recalled: Any) -> ContextParts:
    found = Recalled(**{"hits": [BOB], "limit": 3, "budget_tokens": 100, **recalled})
    return ContextParts(ContextRequest(utterance, system_prompt=PROMPT, lang="en-US"), history, found, 1000.0)


def told(known: Context) -> list[str]:
    return [message.text for message in known.messages if message.role != "system"]


def system(known: Context) -> str:
    return known.messages[0].text


def test_what_fits_stays_as_it_is() -> None:
    whole = parts().built()
    assert fitted(parts(), whole.tokens, 100) == whole


@pytest.mark.parametrize("most", [60, 80, 120, 200, 300, 340])
def test_a_context_never_has_more_tokens_than_it_may_have(most: int) -> None:
    known = fitted(parts(note=Note("they met in Porto", updated_at=900.0)), most, 100)
    assert known.tokens <= most
    assert told(known)[-1] == "and now"
    assert system(known).startswith(PROMPT)


def test_the_newest_rounds_stay_word_for_word_and_the_summary_tells_of_the_rest() -> None:
    known = fitted(parts(), 200, 100)
    recent = told(known)[:-1]
    assert recent == [message.text for message in TALK][-len(recent) :] and len(recent) >= 4
    assert known.messages[1].role == "user"
    lines = [line for line in system(known).splitlines() if "walk to village" in line]
    assert lines and all(line.startswith('- "the user: ') for line in lines)
    assert not any(text in system(known) for text in recent)


def test_the_summary_of_the_session_is_told_too() -> None:
    known = fitted(parts(note=Note("Anna is allergic to nuts", updated_at=900.0)), 240, 100)
    assert "Anna is allergic to nuts" in system(known)


def test_what_was_recalled_gives_way_before_the_newest_round() -> None:
    history = [ContextMessage("user", "x" * 200), ContextMessage("assistant", "y" * 120)]
    assert "Bob" in system(fitted(parts(history), 400, 100))
    known = fitted(parts(history), 100, 8)
    assert told(known) == [*(message.text for message in history), "and now"]
    assert "Bob" not in system(known) and known.hits == []


def test_a_round_that_is_too_long_by_itself_goes_into_the_summary() -> None:
    history = [ContextMessage("user", "my sister lives in Porto. " + "x" * 4000), ContextMessage("assistant", "Fine.")]
    known = fitted(parts(history), 200, 100)
    assert told(known) == ["and now"]
    assert "my sister lives in Porto." in system(known)


def test_a_question_that_is_too_long_by_itself_is_shortened_visibly_in_the_middle() -> None:
    known = fitted(parts(utterance="begin " + "x" * 4000 + " end"), 100, 100)
    [question] = told(known)
    assert question.startswith("begin x") and question.endswith("x end") and " […] " in question
    assert known.tokens <= 100 and known.hits == []


def test_of_the_question_something_is_left_beside_the_longest_prompt() -> None:
    long = parts(utterance="begin " + "x" * 4000 + " end")
    known = fitted(replace(long, request=replace(long.request, system_prompt="p" * 4000)), 100, 100)
    assert system(known) == "p" * 4000
    assert 100 < len(told(known)[0]) <= 128


def test_instructions_in_a_history_stay_and_a_call_keeps_its_results() -> None:
    call = ContextMessage("assistant", "", tool_calls=(ToolCall("1", "lamp", {"on": True}),))
    tools = [ContextMessage("user", "light"), call, ContextMessage("tool", "on", tool_call_id="1", name="lamp")]
    history = [ContextMessage("system", "be kind"), *TALK, *tools, ContextMessage("assistant", "It is on.")]
    known = fitted(parts(history), 120, 40)
    assert told(known)[-5:] == ["light", "", "on", "It is on.", "and now"]
    assert [message.text for message in known.messages if message.role == "system"][-1] == "be kind"


def test_a_restart_changes_nothing(tmp_path: Path) -> None:
    section = {"data_dir": str(tmp_path), "history": {"context_tokens": 150, "strategy": "token_budget"}}
    here = Scope(session_id="s1")
    request = ContextRequest("where do we walk", here, system_prompt=PROMPT, at=1_795_000_900.0, lang="en-US")
    with PersonaMemory.open(config=parse({**section, "recall": {"embedder": "none"}})) as memory:
        turns = [Turn(one.role, one.text, at=1_795_000_000.0 + n, lang="en-US") for n, one in enumerate(TALK)]
        memory.record(turns, here)
        memory.update_session(here, summary="Anna is allergic to nuts")
        before = memory.context(replace(request, max_age_s=None))
        assert before.tokens <= 150 and len(before.messages) > 3
        assert memory.snapshot(here)["summary"] == "Anna is allergic to nuts"
        narrower = memory.context(replace(request, context_tokens=90))
        assert narrower.tokens <= 90
    with PersonaMemory.open(config=parse({**section, "recall": {"embedder": "none"}})) as memory:
        assert memory.context(replace(request, max_age_s=None)) == before
