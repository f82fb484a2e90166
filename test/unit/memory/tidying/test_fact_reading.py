"""Facts with a language model: what it restates, and how little of that it decides."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from ovos_persona_memory.config import parse
from ovos_persona_memory.extraction import Candidate, extract
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.memory.learning import learner
from ovos_persona_memory.memory.tidying import Model
from ovos_persona_memory.records import GUEST, ContextMessage, Scope, Turn

HERE = Scope(session_id="s1")
Said = tuple[int, str]


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

    def will(self, *restated: Said) -> None:
        self.answers.append(json.dumps([{"turn": turn, "says": says} for turn, says in restated]))

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

    def begin(**section: Any) -> PersonaMemory:
        place = {"backend": "inmemory", "recall": {"embedder": "none"}, "models": {"facts": "scripted"}}
        memory = PersonaMemory.open(config=parse({**place, **section}), clock=clock)
        memory.models["facts"] = Model("scripted", "chat", model.answer)
        memory.jobs_later = True
        every.append(memory)
        return memory

    yield begin
    for memory in every:
        memory.close()


@pytest.fixture
def memory(opened: Opened) -> PersonaMemory:
    return opened()


def say(memory: PersonaMemory, *texts: str, scope: Scope = HERE, lang: str = "en-US") -> list[str]:
    """Each text is a turn of the person with the next odd number, and the answer has the even one behind it."""
    ids = []
    for text in texts:
        ids += memory.record([Turn("user", text, lang=lang), Turn("assistant", "Noted.", lang=lang)], scope)
    memory.tidy()
    return ids


def work(memory: PersonaMemory) -> None:
    while memory.work():
        pass


def facts(memory: PersonaMemory, status: Any = "active") -> list[tuple[str | None, str | None]]:
    return sorted(((one.slot, one.value) for one in memory.facts.list(status=status)), key=str)


def reasons(memory: PersonaMemory) -> list[tuple[str, str]]:
    return [(one.outcome, one.reason) for one in memory.facts.decisions(limit=100)]


@pytest.fixture
def blind(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """From now on the memory's own rules find nothing in what is said, or this again."""
    known = extract

    def switch(on: bool = True, *found: Candidate) -> None:
        monkeypatch.setattr(learner, "extract", (lambda turn, _: [*found] * (turn.role == "user")) if on else known)

    switch()
    return switch


CAT = "my cat is called Bob"
RAMBLING = "so my sister well she's like anna you know"


# what is learned


@pytest.mark.usefixtures("blind")
def test_what_a_turn_says_word_for_word_is_learned_less_surely_than_by_the_own_rules(
    memory: PersonaMemory, model: Scripted
) -> None:
    [id, _] = say(memory, "um well my cat is um called Bob")
    model.will((1, "My cat is called Bob."))
    work(memory)
    [fact] = memory.facts.list()
    assert (fact.slot, fact.value, fact.turn_id, fact.confidence) == ("pet", "Bob", id, 0.7)
    assert reasons(memory) == [("learned", "restated")]
    assert memory.facts.take_learned_late() == {"s1": [fact.id]}


@pytest.mark.usefixtures("blind")
def test_what_is_there_but_otherwise_waits_for_review(memory: PersonaMemory, model: Scripted) -> None:
    say(memory, RAMBLING)
    model.will((1, "My sister is called Anna."))
    work(memory)
    assert facts(memory) == []
    [waits] = memory.facts.list(status="waiting")
    memory.facts.review(waits.id, accept=True)
    assert facts(memory) == [("family", "Anna")]


@pytest.mark.usefixtures("blind")
@pytest.mark.parametrize(
    ("told", "restated"),
    [
        ("she hates olives", "I hate olives."),
        ("I know she hates olives", "I hate olives."),
        ("his cat is called Bob", CAT),
    ],
)
def test_what_is_told_of_others_is_not_learned_of_the_person(
    memory: PersonaMemory, model: Scripted, told: str, restated: str
) -> None:
    say(memory, told)
    model.will((1, restated))
    work(memory)
    assert facts(memory) == []


@pytest.mark.usefixtures("blind")
def test_a_model_that_invents_teaches_nothing(memory: PersonaMemory, model: Scripted) -> None:
    say(memory, CAT, "is my sister called Anna", "the weather is nice in Porto")
    memory.record([Turn("user", "thanks"), Turn("assistant", "You live in Lisbon, Marta.")], HERE)
    model.will(
        *((1, text) for text in ("My cat is called Tom.", "My dog is called Rex.", "My cat is not called Bob.")),
        *((1, text) for text in ("I am allergic to peanuts.", "My name is Marta.", "I hate cats.")),
        *((3, "My sister is called Anna."), (4, "My cat is called Bob."), (8, "I live in Lisbon.")),
        *((7, "I live in Lisbon."), (5, "My home is in Lisbon."), (99, "My cat is called Bob."), (0, "I am 42.")),
    )
    work(memory)
    assert facts(memory, "all") == []
    assert {outcome for outcome, _ in reasons(memory)} == {"refused"}
    assert {"unsaid", "no_statement", "denied"} <= {reason for _, reason in reasons(memory)}


# beside what the memory's own rules learn


def test_what_the_own_rules_learned_of_a_turn_is_not_learned_twice(memory: PersonaMemory, model: Scripted) -> None:
    say(memory, CAT)
    before = memory.facts.list(status="all")
    model.will((1, "My cat is called Bob."))
    work(memory)
    assert [one.text for one in before] == [CAT]
    assert memory.facts.list(status="all") == before
    assert ("refused", "known") in reasons(memory)


def test_what_the_own_rules_learned_of_a_turn_comes_before_what_a_model_makes_of_it(
    memory: PersonaMemory, model: Scripted
) -> None:
    say(memory, "I live in Berlin and then we drove to Munich")
    before = memory.facts.list(status="all")
    model.will((1, "I live in Munich."))
    work(memory)
    assert ("home", "Berlin") in facts(memory)
    assert memory.facts.list(status="all") == before
    assert ("refused", "otherwise") in reasons(memory)


def test_what_the_own_rules_refused_stays_refused(
    memory: PersonaMemory, model: Scripted, blind: Callable[..., None]
) -> None:
    blind(True, Candidate("refused", "joke", ""))
    say(memory, CAT)
    model.will((1, "My cat is called Bob."))
    work(memory)
    assert facts(memory, "all") == []
    assert reasons(memory) == [("refused", "joke"), ("refused", "joke")]


@pytest.mark.usefixtures("blind")
@pytest.mark.parametrize("first", [1, 3])
def test_of_two_that_contradict_each_other_the_one_that_was_said_later_holds(
    memory: PersonaMemory, model: Scripted, clock: Clock, first: int
) -> None:
    say(memory, "I live in Berlin")
    clock.now += 86400
    say(memory, "I live in Porto")
    told = {1: "I live in Berlin.", 3: "I live in Porto."}
    model.will(*((turn, told[turn]) for turn in sorted(told, key=lambda turn: turn != first)))
    work(memory)
    assert facts(memory) == [("home", "Porto")]
    assert facts(memory, "superseded") == [("home", "Berlin")]


@pytest.mark.usefixtures("blind")
def test_what_was_said_otherwise_later_is_history_where_the_model_restates_both(
    memory: PersonaMemory, model: Scripted, clock: Clock
) -> None:
    say(memory, "my favourite film is Alien")
    clock.now += 86400
    say(memory, "my favourite film is Casablanca")
    model.will((1, "My favourite film is Alien."), (3, "My favourite film is Casablanca."))
    work(memory)
    assert (facts(memory), facts(memory, "superseded")) == ([("favourite", "Casablanca")], [("favourite", "Alien")])


@pytest.mark.usefixtures("blind")
def test_what_was_said_otherwise_later_waits_though_the_model_restates_the_first_alone(
    memory: PersonaMemory, model: Scripted
) -> None:
    say(memory, "my cat is called Tom", CAT)
    model.will((1, "My cat is called Tom."))
    work(memory)
    assert (facts(memory), facts(memory, "waiting")) == ([], [("pet", "Tom")])


@pytest.mark.usefixtures("blind")
def test_what_is_known_already_is_confirmed_when_it_is_said_again(
    memory: PersonaMemory, model: Scripted, clock: Clock
) -> None:
    for _ in range(2):
        say(memory, CAT)
        clock.now += 86400
        model.will((1, "My cat is called Bob."))
        work(memory)
    [fact] = memory.facts.list()
    assert 0.84 < fact.confidence < 0.86


def test_a_name_that_a_model_found_is_known_to_the_own_rules_from_then_on(
    memory: PersonaMemory, model: Scripted, blind: Callable[..., None]
) -> None:
    say(memory, "my sister is called Anna")
    blind(False)
    say(memory, "I like tea")  # the names of the house are read
    blind(True)
    model.will((1, "My sister is called Anna."))
    work(memory)
    blind(False)
    say(memory, "Anna is a vegetarian")
    assert [(one.subject, one.value) for one in memory.facts.list(slot="diet")] == [("sister", "vegetarian")]


# of whom, and what is shown


@pytest.mark.usefixtures("blind")
def test_what_a_child_says_waits_for_review(opened: Opened, model: Scripted) -> None:
    memory = opened(identity={"trust": "session", "children": {"kim": ["ann"]}})
    say(memory, CAT, scope=Scope("s1", "kim"))
    model.will((1, "My cat is called Bob."))
    work(memory)
    found = memory.facts.list(Scope(user_id="kim"), status="all")
    assert [(one.status, one.value) for one in found] == [("waiting", "Bob")]


def test_nothing_of_guests_is_shown_and_nothing_that_is_not_to_be_learned_from(
    memory: PersonaMemory, model: Scripted
) -> None:
    say(memory, CAT, scope=Scope("s2", GUEST))
    memory.record([Turn("user", CAT), Turn("assistant", "Noted.")], HERE, learn=False)
    work(memory)
    assert model.asked == []
    say(memory, "I like tea")
    work(memory)
    assert "I like tea" in model.asked[0] and "Bob" not in model.asked[0]


def test_nothing_is_read_where_no_model_is_named_or_nothing_is_to_be_learned(opened: Opened, model: Scripted) -> None:
    off: list[dict[str, Any]] = [{"models": {}}, {"facts": {"learn": False}}]
    for section in off:
        memory = opened(**section)
        say(memory, CAT)
        work(memory)
    assert model.asked == []


def test_each_turn_is_read_once_and_only_what_is_new(memory: PersonaMemory, model: Scripted) -> None:
    say(memory, "we had soup", "we had rice")
    work(memory)
    say(memory, "we had fish")
    work(memory)
    work(memory)
    assert [text.count("we had") for text in model.asked] == [2, 1]


def test_it_reads_when_the_own_rules_have_learned(memory: PersonaMemory, model: Scripted) -> None:
    memory.learns_later = True
    memory.record([Turn("user", CAT), Turn("assistant", "Noted.")], HERE)
    work(memory)
    assert model.asked == [] and [job.kind for job in memory.jobs.waiting()] == ["facts"]
    memory.tidy()
    while memory.jobs.waiting():
        work(memory)
    assert len(model.asked) == 1


# what goes wrong


@pytest.mark.usefixtures("blind")
def test_an_answer_without_restatements_is_asked_for_again(
    memory: PersonaMemory, model: Scripted, clock: Clock
) -> None:
    say(memory, CAT)
    model.answers.append("Your cat has a lovely name.")
    model.will((1, "My cat is called Bob."))
    work(memory)
    assert facts(memory, "all") == [] and "no restatements" in memory.jobs.waiting()[0].problem
    clock.now += 31
    work(memory)
    assert facts(memory) == [("pet", "Bob")] and memory.jobs.waiting() == []


@pytest.mark.usefixtures("blind")
def test_what_is_forgotten_while_the_model_works_teaches_nothing(
    memory: PersonaMemory, model: Scripted, clock: Clock
) -> None:
    [id, *_] = say(memory, CAT, "I like tea")
    model.will((1, "My cat is called Bob."))
    model.meanwhile = lambda: memory.forget(ids=[id])
    work(memory)
    clock.now += 10
    model.meanwhile = lambda: None
    work(memory)
    assert facts(memory, "all") == []
    assert len(model.asked) == 2 and "Bob" not in model.asked[1]


def test_of_a_session_that_was_forgotten_nothing_is_kept_in_mind(memory: PersonaMemory, model: Scripted) -> None:
    say(memory, CAT)
    work(memory)
    assert "s1" in (memory.state("facts_read") or "")
    memory.forget(everything=True)
    assert memory.state("facts_read") == ""


def test_a_plugin_that_is_not_there_is_said(memory: PersonaMemory) -> None:
    memory.models.clear()
    say(memory, CAT)
    work(memory)
    assert memory.status()["models"]["problem"] == "scripted, which models.facts names, is not loaded"
