"""The journal of introspection: what can be undone, what is left alone, and that forgetting reaches into it."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.remains import left

from ovos_persona_memory.config import parse
from ovos_persona_memory.errors import UnknownEntry
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.memory.tidying import Model
from ovos_persona_memory.memory.tidying.introspections import KEPT, STATE
from ovos_persona_memory.records import Introspection, Scope

from .test_introspection import EVERY, HERE, Clock, Scripted, add, look, say, texts, update
from .test_introspection import clock as clock
from .test_introspection import memory as memory
from .test_introspection import model as model
from .test_introspection import opened as opened


def summarise(content: str) -> dict[str, str]:
    return {"tool": "working_memory_update", "content": content}


@pytest.fixture
def run(memory: PersonaMemory, model: Scripted) -> Introspection:
    """A look that put a memory and a summary in the place of others."""
    memory.remember("the bins go out on Tuesday", key="bins")
    memory.update_session(HERE, summary="they met in Sintra")
    say(memory, "the bins go out on Wednesday")
    model.will(update(1, "the bins go out on Wednesday", 1), summarise("They spoke of bins."))
    return look(memory)


def journal(memory: PersonaMemory) -> str:
    return memory.state(STATE) or ""


def test_what_was_changed_since_is_left_alone(memory: PersonaMemory, run: Introspection) -> None:
    memory.update("bins", EVERY, text="the bins go out on Friday")
    [undone] = memory.introspect(EVERY, undo=run.id)
    assert (undone.left_alone, texts(memory)) == (1, ["the bins go out on Friday"])
    assert memory.snapshot(HERE)["summary"] == "they met in Sintra"


def test_an_added_memory_that_somebody_put_right_stays(memory: PersonaMemory, model: Scripted) -> None:
    say(memory, "the boiler was serviced in March")
    model.will(add("the boiler was serviced in March", 1))
    run = look(memory)
    memory.update(run.added[0], EVERY, text="the boiler was serviced in April")
    [undone] = memory.introspect(EVERY, undo=run.id)
    assert (undone.left_alone, texts(memory)) == (1, ["the boiler was serviced in April"])


def test_a_look_is_undone_once_and_by_its_id_in_scope(memory: PersonaMemory, run: Introspection) -> None:
    for unknown, scope in (("nothing", EVERY), (run.id, Scope(user_id="ada")), (run.id, Scope(session_id="s2"))):
        with pytest.raises(UnknownEntry):
            memory.introspect(scope, undo=unknown)
    memory.introspect(EVERY, undo=run.id)
    with pytest.raises(UnknownEntry):
        memory.introspect(EVERY, undo=run.id)


def test_looks_are_undone_one_after_the_other(memory: PersonaMemory, model: Scripted, run: Introspection) -> None:
    say(memory, "the bins go out on Friday")
    model.will(update(1, "the bins go out on Friday", 1))
    second = look(memory)
    assert texts(memory) == ["the bins go out on Friday"]
    memory.introspect(EVERY, undo=second.id)
    assert texts(memory) == ["the bins go out on Wednesday"]
    memory.introspect(EVERY, undo=run.id)
    assert texts(memory) == ["the bins go out on Tuesday"]


def test_what_was_replaced_goes_with_what_took_its_place(memory: PersonaMemory, run: Introspection) -> None:
    assert "the bins go out on Tuesday" in texts(memory, "discard")
    memory.forget(EVERY, key="bins")
    assert texts(memory, None) == []


def test_forgetting_by_words_reaches_what_was_replaced(memory: PersonaMemory, run: Introspection) -> None:
    memory.forget(EVERY, query="Tuesday")
    assert texts(memory, None) == ["the bins go out on Wednesday"]
    assert memory.introspect(EVERY, undo=run.id)[0].left_alone == 1


def test_an_old_summary_goes_with_the_turns_that_it_may_retell(memory: PersonaMemory, run: Introspection) -> None:
    assert "Sintra" in journal(memory)
    memory.forget(EVERY, query="Wednesday")
    assert "Sintra" not in journal(memory)


def test_of_a_forgotten_session_nothing_is_left(memory: PersonaMemory, run: Introspection) -> None:
    memory.forget(EVERY, everything=True)
    assert (texts(memory, None), journal(memory), memory.state("introspected")) == ([], "", "")


def test_the_newest_looks_are_kept(memory: PersonaMemory, model: Scripted) -> None:
    memory.remember("the bins go out in week zero", key="bins")
    for number in range(KEPT + 3):
        say(memory, f"the bins go out in week {number}x")
        model.will(update(1, f"the bins go out in week {number}x", 1))
        look(memory)
    assert len(memory.introspect(EVERY)) == KEPT
    assert len(texts(memory, "discard")) == KEPT


def test_after_a_restart_it_goes_on_and_can_be_undone(tmp_path: Path, model: Scripted, clock: Clock) -> None:
    settings = {"data_dir": str(tmp_path), "recall": {"embedder": "none"}, "introspection": {"model": "scripted"}}

    def begin() -> PersonaMemory:
        opened = PersonaMemory.open(config=parse(settings), clock=clock)
        opened.models["introspection"] = Model("scripted", "chat", model.answer)
        opened.jobs_later = True
        return opened

    with begin() as memory:
        say(memory, "the boiler was serviced in March")
        model.will(add("the boiler was serviced in March", 1))
        run = look(memory)
        say(memory, "the oven was cleaned in May")
    with begin() as memory:
        model.will(add("the oven was cleaned in May", 1))
        second = look(memory)
        assert "boiler" not in model.asked[1].partition("Said in the conversation")[2]
        memory.introspect(EVERY, undo=second.id)
        memory.introspect(EVERY, undo=run.id)
        assert texts(memory, None) == []


def test_of_what_was_forgotten_no_file_holds_a_word(tmp_path: Path, model: Scripted, clock: Clock) -> None:
    settings = {"data_dir": str(tmp_path), "recall": {"embedder": "none"}, "introspection": {"model": "scripted"}}
    with PersonaMemory.open(config=parse(settings), clock=clock) as memory:
        memory.models["introspection"] = Model("scripted", "chat", model.answer)
        memory.jobs_later = True
        memory.remember("the boiler was serviced in March by Quasimodo", key="boiler", lang="en-US")
        memory.update_session(HERE, summary="they met Esmeralda in Sintra")
        say(memory, "the boiler was serviced in April by Quasimodo")
        model.will(
            update(1, "the boiler was serviced in April by Quasimodo", 1),
            summarise("They spoke of Frollo."),
            add("x y"),
        )
        assert look(memory).updated == ("boiler",)
        memory.forget(EVERY, query="Quasimodo")
        assert texts(memory, None) == []
    assert left(tmp_path, ["Quasimodo", "Esmeralda", "Sintra", "Frollo"]) == []
