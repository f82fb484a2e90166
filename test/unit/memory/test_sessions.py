"""One session as a whole, in a memory of this process."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.errors import CapturePaused, InvalidRequest
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import ContextMessage, ContextRequest, Heard, Note, Scope, ToolCall, Turn

HERE = Scope(session_id="s1")


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(clock: Clock) -> Iterator[PersonaMemory]:
    with PersonaMemory.open(config=MemoryConfig(backend="inmemory"), clock=clock) as opened:
        yield opened


def talk(memory: PersonaMemory, rounds: int, scope: Scope = HERE) -> list[str]:
    ids: list[str] = []
    for number in range(rounds):
        ids += memory.record([Turn("user", f"question {number}"), Turn("assistant", f"answer {number}")], scope)
    return ids


def texts(messages: list[ContextMessage]) -> list[str]:
    return [message.text for message in messages]


def asked(memory: PersonaMemory) -> str:
    known = memory.context(ContextRequest("and now", HERE, recall=0))
    return known.messages[0].text if known.messages[0].role == "system" else ""


def test_the_summary_joins_the_persona_context(memory: PersonaMemory) -> None:
    assert asked(memory) == ""
    memory.update_session(HERE, summary=" they talked about cats ")
    assert "they talked about cats" in asked(memory)
    assert memory.context(ContextRequest("and now", Scope(session_id="s2"), recall=0)).messages[0].role == "user"


def test_the_summary_is_not_read_while_reading_is_off(memory: PersonaMemory) -> None:
    talk(memory, 3)
    memory.update_session(HERE, summary="cats")
    memory.capture(HERE, read=False, session=True)
    assert asked(memory) == ""
    assert memory.snapshot(HERE) == {"messages": [], "summary": None}
    assert memory.to_summarise(HERE, 0) == []
    assert memory.trim(HERE, 0) == 0


def test_nothing_is_set_or_put_back_while_remembering_is_off(memory: PersonaMemory) -> None:
    talk(memory, 1)
    memory.capture(HERE, write=False)
    with pytest.raises(CapturePaused):
        memory.update_session(HERE, summary="cats")
    with pytest.raises(CapturePaused):
        memory.restore([], HERE)
    assert len(memory.snapshot(HERE)["messages"]) == 2


def test_summary_and_description_are_set_apart(memory: PersonaMemory) -> None:
    memory.update_session(HERE, summary="one", description="two")
    memory.update_session(HERE, summary="three")
    noted = memory.update_session(HERE, description="")
    assert (noted.summary, noted.description) == ("three", "")
    assert memory.update_session(replace(HERE, user_id="bob")).summary == ""


def test_a_new_description_does_not_date_the_summary_anew(memory: PersonaMemory, clock: Clock) -> None:
    memory.update_session(HERE, summary="cats")
    told = asked(memory)
    clock.now += 3 * 86400
    aged = asked(memory)
    noted = memory.update_session(HERE, description="pets")
    assert (noted.summarised_at, noted.updated_at) == (1000.0, clock.now)
    assert asked(memory) == aged != told
    memory.update_session(HERE, summary="cats")
    assert asked(memory) == told


def test_with_nothing_to_set_they_are_only_read(memory: PersonaMemory, clock: Clock) -> None:
    kept = memory.update_session(HERE, summary="one", description="two")
    clock.now += 60.0
    assert memory.update_session(HERE) == kept
    memory.capture(HERE, write=False, session=True)
    assert memory.update_session(HERE) == kept
    memory.capture(HERE, write=True, read=False, session=True)
    assert memory.update_session(HERE) == Note()


@pytest.mark.parametrize("scope", [Scope(), Scope(user_id="bob", site_id="kitchen")])
def test_a_session_has_to_be_named(memory: PersonaMemory, scope: Scope) -> None:
    for verb in (memory.update_session, memory.snapshot, memory.to_summarise, memory.trim):
        with pytest.raises(InvalidRequest, match="session_id"):
            verb(scope)
    with pytest.raises(InvalidRequest, match="session_id"):
        memory.restore([], scope)


def test_clearing_clears_the_summary_too(memory: PersonaMemory) -> None:
    talk(memory, 1)
    memory.update_session(HERE, summary="cats", description="pets")
    assert memory.clear_session(HERE) == 2
    assert memory.snapshot(HERE) == {"messages": [], "summary": None}
    talk(memory, 1)
    assert memory.sessions(HERE)[0].description == ""


def test_a_summary_of_a_session_without_turns_is_cleared(memory: PersonaMemory) -> None:
    memory.update_session(HERE, summary="cats")
    assert memory.clear_session(HERE) == 0
    assert asked(memory) == ""


def test_forgetting_a_turn_forgets_the_summary_that_may_retell_it(memory: PersonaMemory) -> None:
    ids = talk(memory, 2)
    memory.update_session(HERE, summary="cats")
    talk(memory, 1)
    memory.forget(HERE, ids=ids[:1])
    assert memory.snapshot(HERE)["summary"] is None


def test_a_session_is_put_back_as_it_was_taken(memory: PersonaMemory) -> None:
    call = ToolCall("1", "lamp", {"on": True})
    given = [
        ContextMessage("system", "be kind"),
        ContextMessage("user", "one"),
        ContextMessage("user", "two"),
        ContextMessage("assistant", "", tool_calls=(call,)),
        ContextMessage("tool", "done", tool_call_id="1", name="lamp"),
        ContextMessage("assistant", "on"),
        ContextMessage("user", "hanging"),
    ]
    ids = memory.restore({"messages": given, "summary": "so far"}, HERE)
    assert len(set(ids)) == len(given)
    taken = memory.snapshot(HERE)
    assert taken == {"messages": given, "summary": "so far"}
    memory.restore(taken, Scope(session_id="s2"))
    assert memory.snapshot(Scope(session_id="s2")) == taken


def test_what_was_there_before_is_forgotten(memory: PersonaMemory) -> None:
    talk(memory, 2, replace(HERE, site_id="kitchen"))
    talk(memory, 1, Scope(session_id="s2"))
    memory.update_session(HERE, summary="old", description="kept")
    memory.restore([{"role": "user", "text": "new"}], replace(HERE, site_id="attic"))
    assert texts(memory.snapshot(HERE)["messages"]) == ["new"]
    assert memory.snapshot(HERE)["summary"] is None
    assert memory.sessions(HERE)[0].description == "kept"
    assert len(memory.snapshot(Scope(session_id="s2"))["messages"]) == 2


def test_a_session_that_cannot_be_put_back_stays(memory: PersonaMemory) -> None:
    talk(memory, 1)
    memory.update_session(HERE, summary="old")
    late = Turn("user", "hello", at=1_795_298_400_000.0)
    for broken in ([{"role": "robot"}], [{"role": "user", "text": "\0"}], [Turn("user", "hi"), late]):
        with pytest.raises(InvalidRequest, match=r"^messages\["):
            memory.restore(broken, HERE)
        assert len(memory.snapshot(HERE)["messages"]) == 2
        assert memory.snapshot(HERE)["summary"] == "old"


def test_what_is_said_after_a_session_was_put_back_is_news(memory: PersonaMemory, clock: Clock) -> None:
    memory.restore([{"role": "user", "text": "hello"}, {"role": "assistant", "text": "hi"}], HERE)
    clock.now += 1
    for what, text in (("utterance", "hello again"), ("speech", "hi")):
        heard = Heard(what=what, scope=HERE, at=clock.now, text=text, session_id="s1")
        assert [turn.text for turn in memory.transcript.hear(heard)] == [text]
    assert texts(memory.history(HERE)) == ["hello", "hi", "hello again", "hi"]


def test_what_is_trimmed_is_in_no_history_and_still_found(memory: PersonaMemory) -> None:
    talk(memory, 5)
    given = texts(memory.to_summarise(HERE, keep_recent=4))
    assert given == [f"{what} {number}" for number in range(3) for what in ("question", "answer")]
    assert memory.trim(HERE, keep_recent=4) == 6
    kept = [f"{what} {number}" for number in (3, 4) for what in ("question", "answer")]
    assert texts(memory.history(HERE, max_history=100)) == texts(memory.snapshot(HERE)["messages"]) == kept
    assert memory.to_summarise(HERE, keep_recent=4) == []
    assert memory.trim(HERE, keep_recent=4) == 0
    assert any(hit.text == "question 0" for hit in memory.recall("question 0", HERE, k=20))
    assert memory.sessions(HERE)[0].turns == 10


def test_trimming_keeps_the_summary_and_system_messages(memory: PersonaMemory) -> None:
    memory.restore([{"role": "system", "text": "be kind"}, *({"role": "user", "text": str(n)} for n in range(9))], HERE)
    memory.update_session(HERE, summary="numbers", description="counting")
    memory.trim(HERE)
    assert texts(memory.snapshot(HERE)["messages"]) == ["be kind", *"345678"]
    assert memory.snapshot(HERE)["summary"] == "numbers"
    assert memory.sessions(HERE)[0].description == "counting"


def test_more_is_summarised_as_more_is_said(memory: PersonaMemory) -> None:
    talk(memory, 4)
    memory.trim(HERE)
    talk(memory, 1)
    assert texts(memory.to_summarise(HERE)) == ["question 1", "answer 1"]


def test_a_snapshot_holds_so_many_of_the_newest_messages(memory: PersonaMemory) -> None:
    talk(memory, 5)
    assert texts(memory.snapshot(HERE, max_history=1)["messages"]) == ["answer 4"]
    assert len(memory.snapshot(HERE, max_history=None)["messages"]) == 10
