"""Introspection: when a model looks, what it is shown, and what of its proposals is taken up."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from ovos_persona_memory.config import parse
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.memory.tidying import Model
from ovos_persona_memory.records import GUEST, ContextMessage, Introspection, Scope, Turn

HERE, THERE = Scope(session_id="s1"), Scope(session_id="s2")
EVERY = Scope(secrets=True)
Call = dict[str, Any]


class Clock:
    now = 1_795_000_000.0

    def __call__(self) -> float:
        self.now += 0.001
        return self.now


class Scripted:
    """A model that answers as it was told to, and keeps what it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answers: list[str] = []
        self.meanwhile: Callable[[], object] = lambda: None

    def will(self, *calls: Call) -> None:
        self.answers.append(json.dumps(calls))

    def answer(self, messages: Sequence[ContextMessage], lang: str | None) -> str:
        self.asked.append(messages[0].text)
        self.meanwhile()
        return self.answers.pop(0) if self.answers else "[]"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def model() -> Scripted:
    return Scripted()


Opened = Callable[..., PersonaMemory]


@pytest.fixture
def opened(clock: Clock, model: Scripted) -> Iterator[Opened]:
    every: list[PersonaMemory] = []

    def begin(section: dict[str, Any] | None = None, **introspection: Any) -> PersonaMemory:
        settings = {"model": "scripted", "turn_interval": 3, **introspection}
        place = {"backend": "inmemory", "recall": {"embedder": "none"}, "facts": {"learn": False}}
        memory = PersonaMemory.open(config=parse({**place, "introspection": settings, **(section or {})}), clock=clock)
        memory.models["introspection"] = Model("scripted", "chat", model.answer)
        memory.jobs_later = True
        every.append(memory)
        return memory

    yield begin
    for memory in every:
        memory.close()


@pytest.fixture
def memory(opened: Opened) -> PersonaMemory:
    return opened()


def say(memory: PersonaMemory, *texts: str, scope: Scope = HERE) -> list[str]:
    """Each text is a turn of the person with the next odd number, and the answer has the even one behind it."""
    ids = []
    for text in texts:
        ids += memory.record([Turn("user", text, lang="en-US"), Turn("assistant", "Noted.", lang="en-US")], scope)
    memory.tidy()
    return ids


def work(memory: PersonaMemory) -> None:
    while memory.work():
        pass


def look(memory: PersonaMemory) -> Introspection:
    memory.introspect(EVERY)
    work(memory)
    return memory.introspect(EVERY)[0]


def add(content: str, *turns: int) -> Call:
    return {"tool": "memory_add", "content": content, "turns": list(turns)}


def texts(memory: PersonaMemory, status: Any = "accepted") -> list[str]:
    return sorted(one.text for one in memory.list(EVERY, status=status))


def digest(memory: PersonaMemory) -> object:
    """All that is kept, field by field."""
    store = memory._store
    return (
        sorted(map(repr, store.entries(Scope.whole()))),
        sorted(map(repr, store.turns(Scope.everyone()))),
        sorted(map(repr, store.notes(Scope.everyone()))),
        sorted(map(repr, memory.facts.list(Scope.everyone(), status="all"))),
    )


# when it looks


def test_it_looks_after_so_many_turns_and_at_none_twice(memory: PersonaMemory, model: Scripted) -> None:
    say(memory, "we had soup", "we had rice")
    work(memory)
    assert model.asked == []
    say(memory, "we had fish")
    work(memory)
    say(memory, "we had cake")
    work(memory)
    assert len(model.asked) == 1
    say(memory, "we had bread", "we had plums")
    work(memory)
    assert [text.count("we had") for text in model.asked] == [3, 3]
    assert "we had fish" not in model.asked[1]


def test_it_looks_when_nobody_has_talked_for_so_long(memory: PersonaMemory, model: Scripted, clock: Clock) -> None:
    say(memory, "we had soup")
    work(memory)
    clock.now += 300
    say(memory, "we had rice")
    clock.now += 400
    work(memory)
    assert model.asked == [], "the last turn was less than ten minutes ago"
    assert 100 < (memory.jobs.due_in_s() or 0.0) < 300
    clock.now += 300
    work(memory)
    assert len(model.asked) == 1


def test_another_session_ends_the_one_before(memory: PersonaMemory, model: Scripted) -> None:
    say(memory, "we had soup")
    work(memory)
    say(memory, "we had rice", scope=THERE)
    work(memory)
    assert ["we had soup" in text for text in model.asked] == [True]


def test_somebody_may_ask_for_it(memory: PersonaMemory, model: Scripted) -> None:
    say(memory, "we had soup")
    assert memory.introspect(THERE) == []
    work(memory)
    assert model.asked == []
    assert look(memory).session_id == "s1"


@pytest.mark.parametrize("settings", [{"enabled": False}, {"model": None}])
def test_switched_off_it_never_looks(opened: Opened, model: Scripted, settings: dict[str, Any], clock: Clock) -> None:
    memory = opened(**settings)
    say(memory, "we had soup", "we had rice", "we had fish")
    memory.introspect(EVERY)
    clock.now += 10_000
    work(memory)
    assert (model.asked, memory.jobs.waiting()) == ([], [])


def test_of_guests_nothing_is_shown(memory: PersonaMemory, model: Scripted, clock: Clock) -> None:
    guest = Scope(session_id="s1", user_id=GUEST)
    say(memory, "we had soup", "we had rice", "we had fish", scope=guest)
    memory.introspect(guest)
    assert memory.jobs.waiting() == []
    clock.now += 10_000
    work(memory)
    assert model.asked == []


def test_where_memory_is_paused_nothing_is_shown(memory: PersonaMemory, model: Scripted) -> None:
    say(memory, "we had soup", "we had rice", "we had fish")
    memory.capture(HERE, write=False, session=True)
    work(memory)
    assert model.asked == []


@pytest.mark.parametrize("answer", ["I would rather talk about it.", "", '{"tool": "memory_add", "con'])
def test_a_failed_range_is_taken_up_again(memory: PersonaMemory, model: Scripted, clock: Clock, answer: str) -> None:
    say(memory, "the boiler was serviced in March", "we had rice", "we had fish")
    model.answers = [answer]
    model.will()
    work(memory)
    assert memory.introspect(EVERY) == []
    assert memory.jobs.waiting()[0].attempts == 1
    say(memory, "we had plums")
    work(memory)
    assert len(model.asked) == 1, "not before its time"
    clock.now += 60
    work(memory)
    assert [text.count('2. the assistant: "Noted."') for text in model.asked] == [1, 1]
    assert "boiler" in model.asked[1] and "plums" in model.asked[1]
    assert memory.jobs.waiting() == []


def test_a_session_that_is_changed_meanwhile_is_looked_at_anew(
    memory: PersonaMemory, model: Scripted, clock: Clock
) -> None:
    ids = say(memory, "the boiler was serviced in March", "we had rice", "we had fish")
    model.will(add("the boiler was serviced in March", 1))
    model.meanwhile = lambda: memory.forget(HERE, ids=ids[:1])
    work(memory)
    assert texts(memory, None) == []
    model.meanwhile = lambda: None
    clock.now += 60
    work(memory)
    assert "boiler" not in model.asked[1]


def test_it_is_shown_the_summary_the_description_and_memories_that_are_not_private(
    memory: PersonaMemory, model: Scripted
) -> None:
    memory.remember("the bins go out on Tuesday")
    memory.remember("the gift for Anna is a scarf", metadata={"private": 1})
    memory.remember("old news", status="discard")
    memory.update_session(HERE, summary="they met", description="of food")
    say(memory, "we had soup")
    look(memory)
    assert 'Summary so far:\n- "they met"' in model.asked[0]
    assert 'Description so far:\n- "of food"' in model.asked[0]
    assert 'Memories:\n1. "the bins go out on Tuesday"\n\n' in model.asked[0]
    assert "scarf" not in model.asked[0] and "old news" not in model.asked[0]


# what is taken up


def test_what_the_person_said_is_remembered_with_its_source(memory: PersonaMemory, model: Scripted) -> None:
    ids = say(memory, "we had soup", "the boiler was serviced in March")
    model.will(add("The boiler was serviced in March", 3))
    run = look(memory)
    [entry] = memory.list(EVERY)
    assert (entry.text, entry.status, entry.turn_id) == ("The boiler was serviced in March", "accepted", ids[2])
    assert (run.added, run.refused) == ((entry.key,), ())
    origin = memory.why(HERE, key=entry.key)
    assert origin is not None and origin.said == "the boiler was serviced in March"


def test_what_is_kept_is_on_one_line_and_holds_nothing_unseen(memory: PersonaMemory, model: Scripted) -> None:
    say(memory, "the boiler was serviced in March")
    model.will(add("the boiler\nwas serviced\u202e in\u0000 March", 1))
    look(memory)
    assert texts(memory) == ["the boiler was serviced in March"]


def test_what_is_uncertain_waits_as_a_draft(memory: PersonaMemory, model: Scripted) -> None:
    say(memory, "I think we fly to Rome on Sunday", "the bins go out on Tuesday", "the bins go out on Wednesday")
    model.will(add("the user flies to Rome on Sunday", 1), add("the bins go out on Tuesday", 3))
    run = look(memory)
    assert texts(memory, "draft") == ["the bins go out on Tuesday", "the user flies to Rome on Sunday"]
    assert (len(run.drafted), run.added) == (2, ())
    assert not memory.recall("when do we fly to Rome", EVERY, kinds={"memory"})


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (add("the boiler was serviced in March"), "uncited"),
        (add("the boiler was serviced in March", 99), "no_such_turn"),
        (add("the boiler was serviced in March", 1, -1), "no_such_turn"),
        (add("Noted", 2), "not_the_user"),
        (add("the boiler was serviced in March", 1, 2), "not_the_user"),
        (add("the user has a boat in Lisbon", 1), "unsaid"),
        (add("", 1), "unsaid"),
        (add("the user has a cat", 3), "no_statement"),
        (add("the user was born in Memphis", 5), "quotation"),
        (add("the window is open", 7), "known"),
        ({"tool": "memory_update", "memory": 9, "content": "the boiler was serviced in March", "turns": [1]},
         "no_such_memory"),
        ({"tool": "memory_update", "memory": 1, "content": "the boiler was serviced in March", "turns": [1]},
         "unrelated"),
        ({"tool": "memory_delete", "memory": 1, "turns": [1]}, "unasked"),
        ({"tool": "memory_delete", "memory": 1, "turns": [9]}, "unasked"),
        ({"tool": "working_memory_update", "content": "my password is hunter2"}, "secret"),
        ({"tool": "session_description_update", "content": " "}, "empty"),
    ],
)  # fmt: skip
def test_what_no_turn_of_the_person_says_is_refused_with_a_reason(
    memory: PersonaMemory, model: Scripted, call: Call, reason: str
) -> None:
    memory.remember("the window is open")
    say(
        memory,
        *("the boiler was serviced in March", "do we have a cat", "the chorus goes i was born in Memphis"),
        *("the window is open", "forget everything you know about the household and delete all memories"),
    )
    before = digest(memory)
    model.will(call)
    run = look(memory)
    assert run.refused == (f"{call['tool']}: {reason}",)
    assert digest(memory) == before
    [shown] = [one for one in memory.facts.audit(EVERY) if one.what == "refused_proposals"]
    assert (shown.count, shown.ids) == (1, [f"{run.id} {call['tool']}: {reason}"])


def test_what_is_kept_without_its_words_is_no_source(memory: PersonaMemory, model: Scripted) -> None:
    say(memory, "my pin is 4711", "we had soup")
    model.will(add("the pin is 4711", 1))
    run = look(memory)
    assert run.refused and texts(memory, None) == []
    assert "4711" not in model.asked[0]


def test_a_secret_that_a_model_makes_of_words_is_refused(memory: PersonaMemory, model: Scripted) -> None:
    say(memory, "the password was changed", "hunter2 is a rabbit")
    model.will(add("the password is hunter2", 1, 3))
    assert look(memory).refused == ("memory_add: secret",)


def test_what_was_forgotten_does_not_come_back(memory: PersonaMemory, model: Scripted) -> None:
    say(memory, "the boiler was serviced in March")
    memory.forget(EVERY, query="boiler")
    say(memory, "we had soup", "the boiler was serviced")
    model.will(add("the boiler was serviced in March", 3), add("the boiler was serviced in March", 1))
    look(memory)
    assert texts(memory) == []


def test_a_turn_from_before_something_was_forgotten_does_not_bring_it_back(
    memory: PersonaMemory, model: Scripted
) -> None:
    memory.remember("the cat is called Bob", key="cat", lang="en-US")
    say(memory, "the cat is called Bob and it sleeps under the old piano in the hall")
    memory.forget(EVERY, key="cat")
    model.will(add("the cat is called Bob", 1))
    assert look(memory).refused == ("memory_add: not_allowed",)


def test_what_is_said_anew_after_it_was_forgotten_is_new(memory: PersonaMemory, model: Scripted) -> None:
    memory.remember("the boiler was serviced in March", key="boiler", lang="en-US")
    memory.forget(EVERY, key="boiler")
    say(memory, "the boiler was serviced in March")
    model.will(add("the boiler was serviced in March", 1))
    look(memory)
    assert texts(memory) == ["the boiler was serviced in March"]


def test_what_a_person_took_back_since_is_outdated(opened: Opened, model: Scripted) -> None:
    memory = opened({"facts": {"learn": True}})
    say(memory, "I live in Porto", "I live in Lisbon now")
    model.will(add("the user lives in Porto", 1), add("the user lives in Lisbon", 3))
    assert look(memory).refused == ("memory_add: outdated", "memory_add: known")


def test_for_a_child_an_adult_approves(opened: Opened, model: Scripted) -> None:
    memory = opened({"identity": {"trust": "session", "children": {"kim": ["ada"]}}})
    say(memory, "my hamster is called Bob", scope=Scope(session_id="s1", user_id="kim"))
    model.will(add("the hamster is called Bob", 1))
    assert look_at(memory, "kim").refused == ("memory_add: needs_approval",)


def look_at(memory: PersonaMemory, user_id: str) -> Introspection:
    memory.introspect(Scope(user_id=user_id))
    work(memory)
    return memory.introspect(Scope(user_id=user_id))[0]


def test_the_microphone_hearing_the_assistant_is_no_source(memory: PersonaMemory, model: Scripted) -> None:
    told = Turn("assistant", "Jupiter has ninety five known moons.", lang="en-US")
    memory.record([Turn("user", "tell me something", lang="en-US"), told], HERE)
    say(memory, "Jupiter has ninety five known moons")
    model.will(add("Jupiter has ninety five known moons", 3))
    assert look(memory).refused == ("memory_add: no_statement",)


def test_a_memory_belongs_to_the_persona_that_was_told(memory: PersonaMemory, model: Scripted) -> None:
    say(memory, "the boiler was serviced in March", scope=Scope(session_id="s1", persona_id="Ada"))
    model.will(add("the boiler was serviced in March", 1))
    look(memory)
    assert [one.persona_id for one in memory.list(EVERY)] == ["Ada"]


def test_what_one_persona_was_told_is_not_shown_for_another(memory: PersonaMemory, model: Scripted) -> None:
    memory.remember("the bins go out on Tuesday", Scope(persona_id="Bob"))
    say(memory, "the bins go out on Wednesday", scope=Scope(session_id="s1", persona_id="Ada"))
    model.will(update(1, "the bins go out on Wednesday", 1))
    assert look(memory).refused == ("memory_update: no_such_memory",)
    assert "Tuesday" not in model.asked[0]


def test_where_two_are_talked_to_neither_changes_what_the_other_was_told(
    memory: PersonaMemory, model: Scripted
) -> None:
    memory.remember("the bins go out on Tuesday", Scope(persona_id="Bob"))
    say(memory, "good morning to you", scope=Scope(session_id="s1", persona_id="Bob"))
    say(memory, "the bins go out on Wednesday", scope=Scope(session_id="s1", persona_id="Ada"))
    model.will(update(1, "the bins go out on Wednesday", 3))
    assert look(memory).refused == ("memory_update: of_another_persona",)


def test_no_more_proposals_than_allowed_are_carried_out(opened: Opened, model: Scripted) -> None:
    memory = opened(max_tool_calls=2)
    say(memory, *(f"the {thing} was serviced in March" for thing in ("boiler", "car", "clock", "oven")))
    things = ("boiler", "car", "clock", "oven")
    model.will(*(add(f"the {thing} was serviced in March", 2 * n + 1) for n, thing in enumerate(things)))
    run = look(memory)
    assert len(run.added) == 2
    assert run.refused == ("memory_add: too_many",) * 2


def test_the_same_proposal_again_and_again_is_carried_out_once(memory: PersonaMemory, model: Scripted) -> None:
    say(memory, "the boiler was serviced in March")
    model.will(*([add("the boiler was serviced in March", 1)] * 40))
    run = look(memory)
    assert (len(run.added), len(run.refused)) == (1, 39)


def test_the_model_writes_summary_and_description_within_limits(memory: PersonaMemory, model: Scripted) -> None:
    say(memory, "we had soup")
    model.will(
        {"tool": "working_memory_update", "content": "They had soup. " * 500},
        {"tool": "session_description_update", "content": "soup " * 500},
        {"tool": "session_description_update", "content": "again"},
    )
    run = look(memory)
    note = memory._store.note("household", "s1")
    assert note is not None and (run.summary, run.description) == (True, True)
    assert len(note.summary) <= 1600 and len(note.description) == 200
    assert run.refused == ("session_description_update: too_many",)


# changing memories


def update(number: int, content: str, turn: int) -> Call:
    return {"tool": "memory_update", "memory": number, "content": content, "turns": [turn]}


def test_a_memory_gets_the_text_that_the_person_said_since(memory: PersonaMemory, model: Scripted) -> None:
    memory.remember("the bins go out on Tuesday", key="bins")
    ids = say(memory, "the bins go out on Wednesday")
    model.will(update(1, "the bins go out on Wednesday", 1))
    run = look(memory)
    kept = memory.get("bins", EVERY)
    assert kept is not None and (kept.text, kept.turn_id) == ("the bins go out on Wednesday", ids[0])
    assert run.updated == ("bins",)
    assert texts(memory) == ["the bins go out on Wednesday"]


def test_what_was_said_before_a_memory_does_not_replace_it(memory: PersonaMemory, model: Scripted) -> None:
    say(memory, "the bins go out on Wednesday")
    memory.remember("the bins go out on Tuesday", key="bins")
    model.will(update(1, "the bins go out on Wednesday", 1))
    assert look(memory).refused == ("memory_update: outdated",)


def test_a_memory_is_set_aside_where_the_person_asks_for_it(memory: PersonaMemory, model: Scripted) -> None:
    memory.remember("the bins go out on Tuesday", key="bins")
    say(memory, "please forget the thing about the bins")
    model.will({"tool": "memory_delete", "memory": 1, "turns": [1]})
    assert look(memory).discarded == ("bins",)
    assert texts(memory) == []


def test_a_description_alone_does_not_date_the_summary_anew(memory: PersonaMemory, model: Scripted) -> None:
    kept = memory.update_session(HERE, summary="they met")
    say(memory, "the bins go out on Wednesday")
    model.will({"tool": "session_description_update", "content": "bins"})
    assert look(memory).description
    note = memory.update_session(HERE)
    assert (note.description, note.summarised_at) == ("bins", kept.summarised_at)
    assert note.updated_at > kept.updated_at


# undoing


ALL_OF_IT = [
    add("the boiler was serviced in March", 1),
    add("the bins were serviced on Wednesday", 1, 3),
    update(1, "the bins go out on Wednesday", 3),
    {"tool": "memory_delete", "memory": 2, "turns": [5]},
    {"tool": "working_memory_update", "content": "They spoke of bins."},
    {"tool": "session_description_update", "content": "bins"},
]


@pytest.mark.parametrize("noted", [True, False])
def test_undone_everything_is_as_it_was(memory: PersonaMemory, model: Scripted, noted: bool) -> None:
    memory.remember("the green glass is collected by Kramer", key="glass")
    memory.remember("the bins go out on Tuesday", key="bins", metadata={"by": "hand"}, lang="en-US")
    if noted:
        memory.update_session(HERE, summary="they met", description="of food")
    say(memory, "the boiler was serviced in March", "the bins go out on Wednesday", "please forget the green glass")
    before = digest(memory)
    model.will(*ALL_OF_IT)
    run = look(memory)
    assert (run.refused, len(run.added), len(run.drafted)) == ((), 1, 1)
    assert (run.updated, run.discarded, run.summary, run.description) == (("bins",), ("glass",), True, True)
    assert digest(memory) != before
    [undone] = memory.introspect(EVERY, undo=run.id)
    assert (undone.undone, undone.left_alone) == (True, 0)
    assert digest(memory) == before
    work(memory)
    assert len(model.asked) == 1, "what was undone is not looked at again"
