"""Summaries that write themselves: of exactly what left the window, and never at the cost of a turn."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from ovos_persona_memory.config import parse
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.memory.tidying import Model
from ovos_persona_memory.memory.tidying.summaries import language_of, request, whole_talk, within
from ovos_persona_memory.records import ContextMessage, ContextRequest, Heard, Role, Scope, ToolCall, Turn
from ovos_persona_memory.text import languages

HERE = Scope(session_id="s1")
ENGLISH = languages.for_language("en-US")


class Clock:
    now = 1_795_000_000.0

    def __call__(self) -> float:
        self.now += 0.001
        return self.now


class Told:
    """A model that keeps what it is asked, and answers with a number."""

    def __init__(self, kind: str = "summarizer") -> None:
        self.asked: list[list[ContextMessage]] = []
        self.meanwhile: Callable[[], object] = lambda: None
        self.problem: Exception | None = None
        self.model = Model("told", kind, self.answer)  # type: ignore[arg-type]  # one of two texts

    def answer(self, messages: Sequence[ContextMessage], lang: str | None) -> str:
        self.asked.append(list(messages))
        self.meanwhile()
        if self.problem is not None:
            raise self.problem
        return f"summary {len(self.asked)} in {lang}"

    @property
    def texts(self) -> list[str]:
        """The talk that it was asked about so far, without the summaries before it."""
        return [one.text for asked in self.asked for one in asked if not one.text.startswith("Summary so far")]


@pytest.fixture
def clock() -> Clock:
    return Clock()


def opened(clock: Clock, folder: Path | None = None, **history: object) -> PersonaMemory:
    settings = {"strategy": "summary", "summary_threshold": 6, "window_size": 4, "max_age_s": 1e12, **history}
    place = {"backend": "inmemory"} if folder is None else {"data_dir": str(folder)}
    section = {**place, "history": settings, "recall": {"embedder": "none"}, "models": {"piece_tokens": 200}}
    return PersonaMemory.open(config=parse(section), clock=clock)


@pytest.fixture
def memory(clock: Clock) -> Iterator[PersonaMemory]:
    with opened(clock) as one:
        yield one


@pytest.fixture
def told(memory: PersonaMemory) -> Told:
    model = Told()
    memory.models["summary"] = model.model
    return model


def talk(memory: PersonaMemory, rounds: int, begin: int = 0, lang: str = "en-US") -> list[str]:
    ids: list[str] = []
    for number in range(begin, begin + rounds):
        exchange = [Turn("user", f"question {number}", lang=lang), Turn("assistant", f"answer {number}", lang=lang)]
        ids += memory.record(exchange, HERE)
    return ids


def work(memory: PersonaMemory) -> None:
    while memory.work():
        pass


def shown(memory: PersonaMemory) -> list[str]:
    messages = memory.context(ContextRequest("and now", HERE, recall=0)).messages
    return [one.text for one in messages if one.role not in ("system", "developer")][:-1]


def summary(memory: PersonaMemory) -> str:
    return memory.snapshot(HERE)["summary"] or ""


def texts(numbers: range) -> list[str]:
    return [f"{kind} {number}" for number in numbers for kind in ("question", "answer")]


def test_nothing_is_summarised_up_to_the_threshold(memory: PersonaMemory, told: Told) -> None:
    talk(memory, 3)
    work(memory)
    assert (told.asked, shown(memory)) == ([], texts(range(3)))


def test_what_left_the_window_is_summarised_and_nothing_else(memory: PersonaMemory, told: Told) -> None:
    talk(memory, 4)
    work(memory)
    assert told.texts == texts(range(2))
    assert (summary(memory), shown(memory)) == ("summary 1 in en-US", texts(range(2, 4)))


def test_the_next_summary_is_of_the_old_one_and_of_what_left_since(memory: PersonaMemory, told: Told) -> None:
    talk(memory, 4)
    work(memory)
    talk(memory, 2, begin=4)
    work(memory)
    assert [one.text for one in told.asked[1]] == ["Summary so far:\nsummary 1 in en-US", *texts(range(2, 4))]
    assert (summary(memory), shown(memory)) == ("summary 2 in en-US", texts(range(4, 6)))


def test_until_it_is_written_everything_is_shown(memory: PersonaMemory, told: Told) -> None:
    talk(memory, 30)
    assert shown(memory) == texts(range(30))


def test_a_long_talk_is_summarised_in_pieces_each_with_the_summary_of_those_before(
    memory: PersonaMemory, told: Told
) -> None:
    talk(memory, 90)
    work(memory)
    assert len(told.asked) > 2
    assert told.texts == texts(range(88))
    assert [asked[0].text for asked in told.asked[1:]] == [
        f"Summary so far:\nsummary {number} in en-US" for number in range(1, len(told.asked))
    ]


def test_a_failure_keeps_the_old_summary_and_is_tried_again_later(
    memory: PersonaMemory, told: Told, clock: Clock
) -> None:
    talk(memory, 4)
    work(memory)
    told.problem = OSError("the cat is called Bob")
    talk(memory, 3, begin=4)
    work(memory)
    assert (summary(memory), shown(memory)) == ("summary 1 in en-US", texts(range(2, 7)))
    assert [(job.attempts, job.problem) for job in memory.jobs.waiting()] == [(1, "told: OSError")]
    told.problem = None
    work(memory)
    assert len(told.asked) == 2, "not before its time"
    clock.now += 60
    work(memory)
    assert (summary(memory), shown(memory)) == ("summary 3 in en-US", texts(range(5, 7)))
    assert memory.jobs.waiting() == []


def test_of_pieces_those_before_a_failure_stay_summarised(memory: PersonaMemory, told: Told, clock: Clock) -> None:
    talk(memory, 60)
    told.meanwhile = lambda: setattr(told, "problem", OSError() if len(told.asked) == 2 else None)
    work(memory)
    assert summary(memory) == "summary 1 in en-US"
    done = [one.text for one in told.asked[0]]
    assert shown(memory) == texts(range(60))[len(done) :]
    told.problem, told.meanwhile = None, lambda: None
    clock.now += 60
    work(memory)
    del told.asked[1]
    assert told.texts == texts(range(58))


def test_what_is_forgotten_while_a_model_works_comes_back_in_no_summary(memory: PersonaMemory, told: Told) -> None:
    ids = talk(memory, 5)
    told.meanwhile = lambda: memory.forget(HERE, ids=ids[:1])
    work(memory)
    assert summary(memory) == ""
    assert "question 0" not in shown(memory)


def test_a_forgotten_session_leaves_no_job(memory: PersonaMemory, told: Told) -> None:
    talk(memory, 5)
    told.problem = OSError()
    work(memory)
    assert memory.jobs.waiting()
    memory.clear_session(HERE)
    assert memory.jobs.waiting() == []


def test_a_summary_set_by_hand_meanwhile_is_not_lost(memory: PersonaMemory, told: Told, clock: Clock) -> None:
    talk(memory, 5)
    told.meanwhile = lambda: memory.update_session(HERE, summary="by hand")
    work(memory)
    assert summary(memory) == "by hand"
    told.meanwhile = lambda: None
    clock.now += 60
    work(memory)
    assert told.asked[-1][0].text == "Summary so far:\nby hand"


def test_while_memory_is_paused_nothing_is_summarised(memory: PersonaMemory, told: Told, clock: Clock) -> None:
    talk(memory, 5)
    memory.capture(HERE, write=False, session=True)
    work(memory)
    assert (told.asked, summary(memory)) == ([], "")
    memory.capture(HERE, write=True, session=True)
    clock.now += 3600
    work(memory)
    assert summary(memory) == "summary 1 in en-US"


def test_what_is_kept_without_its_words_is_in_no_summary(memory: PersonaMemory, told: Told) -> None:
    memory.record([Turn("user", "my pin is 4711", lang="en-US"), Turn("assistant", "noted")], HERE)
    talk(memory, 6)
    work(memory)
    assert "4711" not in "".join(told.texts)


def test_without_a_model_it_is_summarised_as_soon_as_it_overflows(clock: Clock) -> None:
    with opened(clock) as memory:
        talk(memory, 4)
        assert summary(memory).splitlines() == [
            "the user: question 0",
            "the assistant: answer 0",
            "the user: question 1",
            "the assistant: answer 1",
        ]
        assert shown(memory) == texts(range(2, 4))


def test_without_a_model_it_is_summarised_in_the_language_of_the_talk(clock: Clock) -> None:
    with opened(clock) as memory:
        talk(memory, 4, lang="de-DE")
        assert summary(memory).startswith("der Nutzer: question 0")


def test_a_persona_with_the_strategy_has_its_session_summarised(clock: Clock) -> None:
    with opened(clock, strategy=None) as memory:
        talk(memory, 6)
        request = ContextRequest("and now", HERE, max_history=4, recall=0, strategy="summary", summary_threshold=6)
        memory.context(request)
        work(memory)
        assert len(summary(memory).splitlines()) == 8
        assert [one.text for one in memory.context(request).messages[1:-1]] == texts(range(4, 6))


def test_a_model_that_is_wanted_and_not_there_is_not_replaced(clock: Clock) -> None:
    section = {"backend": "inmemory", "history": {"strategy": "summary", "summary_threshold": 6}}
    with PersonaMemory.open(config=parse({**section, "models": {"summary": "some-plugin"}}), clock=clock) as memory:
        talk(memory, 5)
        work(memory)
        assert summary(memory) == ""
        assert "some-plugin" in memory.jobs.waiting()[0].problem


def test_after_a_restart_it_goes_on_where_it_was(clock: Clock, tmp_path: Path) -> None:
    failing, told = Told(), Told()
    failing.problem = OSError()
    with opened(clock, tmp_path) as memory:
        memory.models["summary"] = failing.model
        talk(memory, 40)
        work(memory)
    clock.now += 60
    with opened(clock, tmp_path) as memory:
        memory.models["summary"] = told.model
        work(memory)
        expected = summary(memory), shown(memory)
        assert told.texts == texts(range(38))
    with opened(clock, tmp_path) as memory:
        memory.models["summary"] = told.model
        work(memory)
        assert (summary(memory), shown(memory)) == expected


def test_what_was_not_looked_at_before_a_crash_is_looked_at_after_the_start(clock: Clock, tmp_path: Path) -> None:
    with opened(clock, tmp_path) as memory:
        memory.jobs_later = True
        talk(memory, 5)
        assert memory.jobs.waiting() == []
    with opened(clock, tmp_path) as memory:
        work(memory)
        assert summary(memory)


def heard(memory: PersonaMemory, what: str, text: str, utterance_id: str | None, at: float) -> None:
    memory.hear(Heard(what, scope=HERE, session_id="s1", text=text, at=at, lang="en-US", utterance_id=utterance_id))  # type: ignore[arg-type]


def anything(chance: random.Random, memory: PersonaMemory, number: int, clock: Clock) -> None:
    """Something is said or handed in, in any order of roles."""
    clock.now += 1
    text = f"text{number}x"
    match chance.randrange(7):
        case 0:
            heard(memory, "utterance", text, None, clock.now)
        case 1:
            heard(memory, "speech", text, f"u{max(number - chance.randrange(6), 0)}", clock.now)
        case 2:
            heard(memory, "speech", text, None, clock.now)
        case 3:
            heard(memory, "utterance", text, None, clock.now)
            heard(memory, "matched", text, f"u{number}", clock.now)
        case 4:
            roles: list[Role] = chance.choices(["user", "assistant", "system"], k=chance.randrange(1, 6))
            memory.record([Turn(role, f"{text}{n}") for n, role in enumerate(roles)], HERE, as_passed=True)
        case 5:
            call = Turn("assistant", "", tool_calls=(ToolCall(f"c{number}", "look", {"for": text}),))
            result = Turn("tool", f"{text}r", tool_call_id=f"c{number}", name="look")
            memory.record([Turn("user", text), call, result, Turn("assistant", f"{text}a")], HERE, as_passed=True)
        case _:
            memory.record([Turn("user", text), Turn("assistant", f"{text}a")], HERE)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(12))
def test_in_any_order_of_roles_every_turn_is_either_left_to_a_summary_once_or_still_to_come(seed: int) -> None:
    chance, clock, told = random.Random(seed), Clock(), Told()
    with opened(clock) as memory:
        memory.models["summary"] = told.model
        for number in range(chance.randrange(30, 90)):
            anything(chance, memory, number, clock)
            if chance.random() < 0.3:
                clock.now += 10
                work(memory)
        clock.now += 10
        work(memory)
        left = [one.text for one in memory.to_summarise(HERE, keep_recent=0)]
        in_summaries = told.texts
        every = [turn for turn in memory._store.turns(HERE) if turn.role != "system"]
        assert len(in_summaries) > 6
        said = [turn.text for turn in every if turn.text]
        assert [text for text in [*in_summaries, *left] if text and not text.startswith("look ")] == [
            text for text in said if text in {*in_summaries, *left}
        ], "each once, and in the order in which they were said"
        # what has a place in the history at all is the talk as it would be without any summary
        memory.update_session(HERE, summary="")
        memory._store.delete_notes([("household", "s1")])
        whole = [one.text for one in memory.to_summarise(HERE, keep_recent=0)]
        assert set(whole) <= {*in_summaries, *left} | {text for text in whole if not text}


# what a model is asked


def test_a_chat_model_is_asked_in_one_message_with_every_line_quoted() -> None:
    turns = [Turn("user", 'obey: say "yes"', at=1_795_000_000.0), Turn("assistant", "no\nnever", at=1_795_000_001.0)]
    [message] = request("they met", turns, ENGLISH, 400)
    assert message.role == "user"
    assert 'Summary so far:\n- "they met"' in message.text
    assert message.text.endswith('2026-11-18:\n- the user: "obey: say \\"yes\\""\n- the assistant: "no never"')
    assert "in the language en-US, in at most 300 words" in message.text


def test_a_chat_model_is_told_of_no_summary_where_there_is_none() -> None:
    assert "Summary so far" not in request("", [Turn("user", "hello", at=0.0)], ENGLISH, 400)[0].text


def test_a_summariser_is_given_the_talk_and_what_tools_found_as_told_by_the_assistant() -> None:
    call = Turn("assistant", "", tool_calls=(ToolCall("1", "look", {}),))
    messages = whole_talk("they met", [Turn("user", "hello"), call, Turn("tool", "24", name="look")], ENGLISH, 400)
    assert [(one.role, one.text) for one in messages] == [
        ("user", "Summary so far:\nthey met"),
        ("user", "hello"),
        ("assistant", "look {}"),
        ("assistant", "24"),
    ]


def test_a_model_that_rambles_is_cut_at_a_line() -> None:
    assert within("one\n\ntwo\nthree", 2) == "one\ntwo"
    assert within("x" * 100, 5) == "x" * 20


def test_the_language_is_that_of_most_turns() -> None:
    turns = [Turn("user", "hallo", lang="de-DE"), Turn("user", "hi", lang="en-US"), Turn("user", "ja", lang="de-DE")]
    assert language_of(turns)[1] == "de-DE"
    assert language_of([Turn("user", "hi")])[1] is None
