"""What happens is noted as episodes, and what was used is known again."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.errors import InvalidRequest
from ovos_persona_memory.memory import PersonaMemory, named_time
from ovos_persona_memory.records import ContextRequest, Episode, Heard, Scope, ToolCall, Turn, Use
from ovos_persona_memory.stores.inmemory.store import InMemoryStore
from ovos_persona_memory.text import languages
from ovos_persona_memory.text.time_expressions import happened_at

HERE = Scope(session_id="s")
EVERY = {"exchange", "intent", "tool_call", "recall"}


class Home:
    """A memory that hears a session, one event a second."""

    def __init__(self) -> None:
        self.store, self.now = InMemoryStore(), 1000.0
        self.memory = PersonaMemory(self.store, MemoryConfig(), lambda: self.now)

    def hear(self, what: str, text: str = "", utterance_id: str | None = None, **fields: Any) -> None:
        self.now += 1
        self.memory.hear(Heard(what, HERE, self.now, text, utterance_id=utterance_id, session_id="s", **fields))

    def exchange(self, question: str, answer: str, utterance_id: str | None, slots: Mapping[str, Any] = {}) -> None:
        self.hear("utterance", question)
        self.hear("matched", question, utterance_id, skill_id="a.skill", intent="do_it", detail=dict(slots))
        self.hear("speech", answer, utterance_id, skill_id="a.skill")
        self.hear("handled", "", utterance_id)

    def episodes(self, **wanted: Any) -> list[Episode]:
        return self.memory.episodes(Scope(), **wanted)


@pytest.fixture
def home() -> Home:
    return Home()


@pytest.mark.parametrize("utterance_id", ["u1", None])
def test_an_exchange_and_its_intent_are_noted_with_their_outcome(home: Home, utterance_id: str | None) -> None:
    home.exchange("lights on in the kitchen", "they are on", utterance_id, {"room": "kitchen"})
    exchange, intent = sorted(home.episodes(), key=lambda one: one.kind)
    asked = home.store.turns(Scope())[0]
    assert (intent.skill_id, intent.name, intent.detail) == ("a.skill", "do_it", {"room": "kitchen"})
    assert (intent.outcome, intent.latency_ms, intent.turn_id) == ("handled", 2000.0, asked.id)
    assert (exchange.outcome, exchange.latency_ms, exchange.at) == ("handled", 2000.0, asked.at)
    assert (exchange.turn_id, exchange.skill_id) == (asked.id, "a.skill")
    assert exchange.detail == {"tokens": 3, "tools": []}


def test_what_no_skill_takes_and_what_fails_is_noted_so(home: Home) -> None:
    home.hear("utterance", "gibberish")
    home.hear("unmatched", "", "u1")
    home.hear("handled", "", "u1")
    home.hear("utterance", "lights on")
    home.hear("matched", "lights on", "u2", skill_id="a.skill", intent="do_it")
    home.hear("failed", "", "u2", detail={"error": "ValueError"})
    home.hear("handled", "", "u2")
    assert [(one.kind, one.outcome) for one in reversed(home.episodes())] == [
        ("exchange", "unmatched"),
        ("exchange", "failed"),
        ("intent", "failed"),
    ]


def test_a_tool_call_is_noted_with_its_latency(home: Home) -> None:
    home.hear("utterance", "what is two and two")
    home.hear("persona_turn", "what is two and two", "u1")
    detail = {"tool": "add", "toolbox": "sums", "arguments": {"a": 2}}
    home.hear("tool_call", "", "u1", detail=detail)
    home.hear("tool_result", "", "u1", detail={"toolbox": "other"})
    home.hear("tool_result", "", "u1", detail={"toolbox": "sums", "error": "ValueError: too hard"})
    home.hear("speech", "four", "u1")
    home.hear("handled", "", "u1")
    [call] = home.episodes(kinds={"tool_call"})
    assert (call.name, call.outcome, call.latency_ms) == ("add", "error", 2000.0)
    assert call.detail == {"arguments": {"a": 2}, "error": "ValueError: too hard"}
    [exchange] = home.episodes(kinds={"exchange"})
    assert exchange.detail["tools"] == ["add"]


def test_a_tool_call_that_is_handed_in_is_noted_once(home: Home) -> None:
    turns = [Turn("user", "two and two"), Turn("assistant", "", tool_calls=(ToolCall("1", "add", {"a": 2}),))]
    for _ in range(2):
        home.memory.record(turns, HERE, as_passed=True, delivery_id="d")
    [call] = home.episodes(kinds={"tool_call"})
    assert (call.name, call.detail, call.turn_id) == ("add", {"arguments": {"a": 2}}, home.store.turns(Scope())[1].id)
    home.memory.forget(HERE)
    assert home.episodes(kinds=EVERY) == []


def turn_with_calls(*names: str) -> Turn:
    return Turn("assistant", "", tool_calls=tuple(ToolCall(f"c{n}", name) for n, name in enumerate(names)))


def result_of(call_id: str, **fields: Any) -> Turn:
    return Turn("tool", "done", tool_call_id=call_id, **fields)


@pytest.mark.parametrize("scope", [HERE, Scope(), Scope("s", persona_id="Ada"), Scope("s", user_id="bob")])
def test_how_a_tool_call_that_is_handed_in_ended_is_told_by_its_result(home: Home, scope: Scope) -> None:
    turns = [Turn("user", "it is dark"), turn_with_calls("lights", "blinds", "fan")]
    turns += [result_of("c1", is_error=True), result_of("c0"), result_of("c9"), Turn("assistant", "there")]
    home.memory.record(turns, scope, as_passed=True)
    calls = home.memory.episodes(Scope.everyone(), kinds={"tool_call"}, words=True)
    assert [(one.name, one.outcome) for one in calls] == [("fan", None), ("blinds", "error"), ("lights", "ok")]
    assert {one.said for one in calls} == {"it is dark"}, "what the person said, not the turn that calls"


def test_a_result_that_comes_later_ends_the_newest_call_of_its_id_in_its_session(home: Home) -> None:
    for session in ("s", "s", "other"):
        home.now += 1
        home.memory.record([Turn("user", f"at {home.now}"), turn_with_calls("lights")], Scope(session))
    for _ in range(2):
        home.memory.record([result_of("c0", at=home.now)], HERE, delivery_id="result")
    calls = home.episodes(kinds={"tool_call"}, words=True)
    assert [(one.session_id, one.outcome, one.said) for one in calls] == [
        ("other", None, "at 1003.0"),
        ("s", "ok", "at 1002.0"),
        ("s", None, "at 1001.0"),
    ]


def test_two_calls_of_one_id_are_two_and_end_with_one_result(home: Home) -> None:
    twice = Turn("assistant", "", tool_calls=(ToolCall("c0", "lights"), ToolCall("c0", "lights")))
    home.memory.record([Turn("user", "it is dark"), twice, result_of("c0")], HERE)
    assert [one.outcome for one in home.episodes(kinds={"tool_call"})] == ["ok", "ok"]


def test_of_a_forgotten_question_a_tool_call_tells_no_words(home: Home) -> None:
    ids = home.memory.record([Turn("user", "it is dark"), turn_with_calls("lights"), result_of("c0")], HERE)
    home.store.redact(ids[:1])
    assert [(one.outcome, one.said) for one in home.episodes(kinds={"tool_call"}, words=True)] == [("ok", None)]


def test_of_a_cancelled_utterance_nothing_is_noted(home: Home) -> None:
    home.hear("utterance", "lights on")
    home.hear("matched", "lights on", "u1", detail={"room": "kitchen"})
    home.hear("cancelled", "", "u1")
    home.hear("handled", "", "u1")
    assert home.episodes(kinds=EVERY) == []


def test_while_remembering_is_off_nothing_is_noted(home: Home) -> None:
    home.memory.capture(write=False)
    home.exchange("lights on", "on", "u1", {"room": "kitchen"})
    home.memory.context(ContextRequest("lights on", HERE, utterance_id="u1"))
    assert home.episodes(kinds=EVERY) == []
    home.memory.capture(write=True, read=False)
    home.exchange("lights on", "on", "u2")
    assert home.episodes() == []
    home.memory.capture(read=True)
    assert len(home.episodes()) == 2


def test_a_request_to_forget_is_noted_without_its_slots(home: Home) -> None:
    home.hear("utterance", "forget my cat Bob")
    skill = "ovos-skill-persona-memory.openvoiceos"
    home.hear("matched", "forget my cat Bob", "u1", skill_id=skill, intent="forget.intent", detail={"topic": "Bob"})
    home.hear("handled", "", "u1")
    assert {one.kind for one in home.episodes()} == {"exchange", "intent"}
    assert "Bob" not in repr(home.store.episode_store.held(None))


def test_what_comes_late_or_again_of_a_forgotten_utterance_is_not_noted(home: Home) -> None:
    home.exchange("lights on in the kitchen", "on", "u1", {"room": "kitchen"})
    home.memory.forget(HERE)
    detail = {"tool": "lights", "toolbox": "t", "arguments": {"room": "kitchen"}}
    home.hear("matched", "lights on in the kitchen", "u1", detail={"room": "kitchen"})
    home.hear("tool_call", "", "u1", detail=detail)
    home.hear("tool_result", "", "u1", detail={"toolbox": "t"})
    home.hear("handled", "", "u1")
    assert home.episodes(kinds=EVERY) == []


def test_episodes_are_forgotten_with_what_they_tell_of(home: Home) -> None:
    home.exchange("lights on in the kitchen", "on", "u1", {"room": "kitchen"})
    home.exchange("lights on in the cellar", "on", "u2", {"room": "cellar"})
    forgotten = home.memory.forget_by_kind(Scope(), query="kitchen")
    assert (forgotten.turns, forgotten.episodes) == (1, 2)
    assert {one.detail.get("room") for one in home.episodes(kinds={"intent"})} == {"cellar"}
    home.memory.forget(Scope(), everything=True)
    assert home.episodes(kinds=EVERY) == []


# why


def test_why_tells_who_said_it_when_where_and_in_whose_words(home: Home) -> None:
    home.hear("utterance", "remember that the bins go out on Tuesday")
    home.hear("matched", "remember that the bins go out on Tuesday", "u1")
    asked = home.store.turns(Scope())[0]
    entry = home.memory.remember("the bins go out on Tuesday", HERE, key="bins", utterance_id="u1")
    origin = home.memory.why(Scope(), key="bins")
    assert origin is not None
    assert (origin.id, origin.kind, origin.text, origin.at) == (entry.id, "memory", entry.text, entry.created_at)
    assert (origin.user_id, origin.session_id, origin.turn_id, origin.said) == ("household", "s", asked.id, asked.text)
    assert (origin.sure, origin.used) == (None, None)
    assert home.memory.why(Scope(), id=entry.id) == origin
    assert home.memory.why(Scope(user_id="bob"), id=entry.id) is None
    turn = home.memory.why(Scope(), id=asked.id)
    assert turn is not None
    assert (turn.kind, turn.said) == ("turn", asked.text)


def test_why_tells_how_sure_a_fact_is(home: Home) -> None:
    home.exchange("my cat is called Bob", "nice", "u1")
    [(fact, _)] = home.store.fact_store.held("household")
    origin = home.memory.why(Scope(), key=fact.id)
    assert origin is not None
    assert (origin.kind, origin.said, origin.sure) == ("fact", "my cat is called Bob", round(fact.confidence, 3))
    assert home.memory.why(Scope(user_id="bob"), id=fact.id) is None


def test_the_last_use_is_known_with_its_question(home: Home) -> None:
    entry = home.memory.remember("the bins go out on Tuesday", Scope(), key="bins")
    for number in (1, 2):
        home.hear("utterance", "when do the bins go out")
        home.hear("persona_turn", "when do the bins go out", f"u{number}")
        asked = ContextRequest("when do the bins go out", HERE, utterance_id=f"u{number}")
        assert [hit.id for hit in home.memory.context(asked).hits] == [entry.id]
    origin = home.memory.why(Scope(), key="bins")
    assert origin is not None
    assert origin.used == Use(home.now, 2, "when do the bins go out")
    last = home.memory.why(HERE)
    assert last == origin, "what the last answer in this session was made of"
    assert home.memory.why(Scope(session_id="other")) is None
    home.memory.forget(HERE)
    again = home.memory.why(Scope(), key="bins")
    assert again is not None
    assert again.used is None, "the questions were forgotten, and their uses with them"


def test_only_what_surely_answers_an_utterance_counts_as_used_by_a_recall(home: Home) -> None:
    home.memory.remember("the bins go out on Tuesday", Scope(), key="bins")
    home.memory.recall("when do the bins go out", Scope())
    assert home.episodes(kinds={"recall"}) == [], "a program asks, nobody aloud"
    home.hear("utterance", "when do the bins go out")
    home.memory.recall("when do the bins go out", Scope(), utterance_id="u1")
    assert len(home.episodes(kinds={"recall"})) == 1


def test_why_needs_something_to_ask_about(home: Home) -> None:
    with pytest.raises(InvalidRequest):
        home.memory.why(Scope())
    home.memory.remember("the bins go out on Tuesday", Scope(), key="bins")
    assert home.memory.why(Scope(), key="none") is None
    home.memory.capture(read=False)
    assert home.memory.why(Scope(), key="bins") is None


def test_a_forgotten_source_is_told_of_no_more(home: Home) -> None:
    home.memory.record([Turn("user", "hello")], HERE)
    [turn] = home.store.turns(Scope())
    home.store.redact([turn.id])
    assert home.memory.why(Scope(), id=turn.id) is None


# by time

NOW = datetime(2026, 11, 21, 18, 30, tzinfo=timezone(timedelta(hours=1)))  # a Saturday


@pytest.mark.parametrize(
    ("question", "lang", "since", "until"),
    [
        ("what happened today", "en-US", (21, 0, 0), (21, 18, 30)),
        ("what happened yesterday", "en-US", (20, 0, 0), (21, 0, 0)),
        ("what did you do at three", "en-US", (21, 15, 0), (21, 16, 0)),
        ("what did you do yesterday at three", "en-US", (20, 15, 0), (20, 16, 0)),
        ("what did you do yesterday at 3 am", "en-US", (20, 3, 0), (20, 4, 0)),
        ("what did you do at 8 pm", "en-US", (20, 20, 0), (20, 21, 0)),
        ("what did you do at 7", "en-US", (21, 7, 0), (21, 8, 0)),
        ("what happened at 15:30", "en-US", (21, 15, 15), (21, 15, 45)),
        ("what happened on Tuesday", "en-US", (17, 0, 0), (18, 0, 0)),
        ("was hast du um drei gemacht um drei", "de-DE", (21, 15, 0), (21, 16, 0)),
        ("was war gestern um 15:30", "de-DE", (20, 15, 15), (20, 15, 45)),
        ("what happened in the last ten minutes", "en-US", (21, 18, 20), (21, 18, 30)),
    ],
)
def test_a_question_names_a_time(
    question: str, lang: str, since: tuple[int, int, int], until: tuple[int, int, int]
) -> None:
    found = happened_at(question, languages.for_language(lang), NOW)
    assert found is not None
    shown = [datetime.fromtimestamp(one, NOW.tzinfo) for one in (found.since, found.until)]
    assert [(one.day, one.hour, one.minute) for one in shown] == [since, until]


def test_a_day_is_that_of_the_persons_zone() -> None:
    lisbon = named_time("what happened today", "en-US", "Europe/Lisbon", NOW.timestamp())
    tokyo = named_time("what happened today", "en-US", "Asia/Tokyo", NOW.timestamp())
    assert lisbon[0] == datetime(2026, 11, 21, tzinfo=timezone.utc).timestamp()
    assert tokyo[0] == datetime(2026, 11, 21, 15, tzinfo=timezone.utc).timestamp()


def test_a_time_longer_than_any_memory_begins_with_the_epoch(home: Home) -> None:
    since, until = named_time("what happened in the last 60 years", "en-US", None, NOW.timestamp())
    assert (since, until) == (0.0, NOW.timestamp())
    assert home.episodes(since=since, until=until) == []


def test_a_question_without_a_time_is_refused() -> None:
    with pytest.raises(InvalidRequest):
        named_time("what is my cat called", "en-US", None, NOW.timestamp())


def test_nothing_is_told_of_a_day_on_which_nothing_happened(home: Home) -> None:
    home.exchange("lights on", "on", "u1")
    assert home.episodes(since=0.0, until=900.0) == []
    assert len(home.episodes(since=900.0, until=2000.0)) == 2
