"""How well recall finds: the format, the measures on rankings made by hand, the rankers, and the household's weeks."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from data.generators import household

from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.errors import InvalidRequest, NoAnswer
from ovos_persona_memory.evaluation import rankers
from ovos_persona_memory.evaluation.labelled_conversations import LabelledConversation, Timestamp, read_conversations
from ovos_persona_memory.evaluation.rankers import Ask, PlainBm25, Ranking, bm25, memory_ranker
from ovos_persona_memory.evaluation.ranking_scores import (
    QuestionOutcome,
    figures,
    hit_at,
    measured,
    percentile,
    recall_at,
    reciprocal_rank,
)
from ovos_persona_memory.evaluation.recall_run import measure_recall, previous_conversation

# the measures


def outcome(
    *ranked: str, evidence: str = "", sure: str | None = "", kind: str = "k", took_ms: float = 1.0
) -> QuestionOutcome:
    return QuestionOutcome(kind, frozenset(evidence), ranked, None if sure is None else frozenset(sure), took_ms)


def test_recall_is_the_share_of_the_evidence_among_the_first_k() -> None:
    assert recall_at("abcdef", "bf", 5) == 0.5
    assert recall_at("abcdef", "bf", 6) == 1.0
    assert recall_at("abcdef", "xy", 6) == 0.0
    assert recall_at("", "x", 5) == 0.0


def test_evidence_named_twice_counts_once() -> None:
    assert recall_at("ab", ["a", "a", "c"], 5) == 0.5


def test_a_turn_that_comes_twice_counts_where_it_came_first() -> None:
    assert recall_at("aab", "b", 2) == 1.0
    assert reciprocal_rank("aab", "b") == 0.5
    assert hit_at("aaab", "b", 2) == 1.0


def test_hit_asks_for_any_of_the_evidence() -> None:
    assert hit_at("abc", "cx", 3) == 1.0
    assert hit_at("abc", "cx", 2) == 0.0


def test_the_reciprocal_rank_is_that_of_the_first_evidence_within_k() -> None:
    assert reciprocal_rank("abc", "cb") == 0.5
    assert reciprocal_rank("abc", "c", k=2) == 0.0
    assert reciprocal_rank("", "c") == 0.0


def test_percentiles_are_values_that_were_measured() -> None:
    assert percentile([4.0, 1.0, 3.0, 2.0], 0.5) == 2.0
    assert percentile([4.0, 1.0, 3.0, 2.0], 0.95) == 4.0
    assert percentile([7.0], 0.5) == 7.0
    assert percentile([], 0.5) is None


def test_the_figures_are_means_over_the_questions_with_evidence() -> None:
    found = figures(
        [outcome("a", "b", evidence="bz"), outcome("c", evidence="c"), outcome("a"), outcome("a", sure="a")]
    )
    assert (found.questions, found.never_said) == (2, 2)
    assert (found.recall_at_5, found.hit_at_10, found.mrr) == (0.75, 1.0, 0.75)
    assert found.never_said_silent == 0.5


def test_without_evidence_there_is_no_recall_but_silence() -> None:
    found = figures([outcome("a")])
    assert (found.recall_at_5, found.mrr, found.sure_recall_at_10, found.no_sure_hit) == (None, None, None, None)
    assert (found.questions, found.never_said, found.never_said_silent) == (0, 1, 1.0)


def test_sure_recall_counts_sure_hits_of_the_first_ten_over_all_questions() -> None:
    late = outcome(*"abcdefghijk", evidence="ak", sure="ak")
    unsure = outcome("x", evidence="x")
    found = figures([late, unsure])
    assert (found.sure_recall_at_10, found.recall_at_10, found.no_sure_hit) == (0.25, 0.75, 0.5)


def test_who_does_not_tell_what_is_sure_gets_no_figures_for_it() -> None:
    found = measured("plain", [outcome("a", evidence="a", sure=None), outcome("a", sure=None)], [outcome(sure=None)])
    assert (found.overall.sure_recall_at_10, found.overall.no_sure_hit, found.overall.never_said_silent) == (None,) * 3
    assert (found.silence, found.silence_questions) == (None, 0)


def test_each_kind_of_question_has_its_own_figures() -> None:
    found = measured("m", [outcome("a", evidence="a", kind="x"), outcome("b", evidence="a", kind="y", took_ms=9.0)], [])
    assert {kind: one.recall_at_5 for kind, one in found.kinds.items()} == {"x": 1.0, "y": 0.0}
    assert (found.overall.recall_at_5, found.latency_p50_ms, found.latency_p95_ms) == (0.5, 1.0, 9.0)


def test_nothing_asked_is_nothing_measured() -> None:
    found = measured("m", [], [])
    assert (found.overall.questions, found.kinds, found.latency_p50_ms, found.silence) == (0, {}, None, None)


# the format

CAT = {"id": "a", "role": "user", "text": "my cat is called Minka", "session": "1", "speaker": "Anna Lee"}
DOG = {"id": "b", "role": "user", "text": "my dog is called Rex", "session": "2", "speaker": "Ben"}
ASKED = {"question": "what is Anna's cat called", "kind": "fact", "evidence": ["a"]}


def line(**changed: Any) -> dict[str, Any]:
    return {"conversation": "one", "language": "en-US", "turns": [CAT, DOG], "questions": [ASKED]} | changed


def given(**changed: Any) -> LabelledConversation:
    return read_back(line(**changed))[0]


def read_back(*lines: dict[str, Any], limit: int | None = None, packed: bool = False) -> list[LabelledConversation]:
    content = "\n\n".join(json.dumps(one) for one in lines).encode()
    return read_conversations(_Content(gzip.compress(content, mtime=0) if packed else content), limit)  # type: ignore[arg-type]  # like a path


class _Content:
    """A file that is no file."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def __str__(self) -> str:
        return "it.jsonl"

    def read_bytes(self) -> bytes:
        return self._content


@pytest.mark.parametrize("packed", [False, True])
def test_a_file_is_read_plain_or_packed_up_to_the_limit(packed: bool) -> None:
    found = read_back(line(conversation="1"), line(conversation="2"), line(conversation="3"), limit=2, packed=packed)
    assert [one.conversation for one in found] == ["1", "2"]
    assert [turn.id for turn in found[0].turns] == ["a", "b"]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"turns": [CAT, {**DOG, "text": 5}]}, "line 3, turns[1].text: Expected `str`, got `int`"),
        ({"turns": [CAT, {**DOG, "at": "Tuesday"}]}, "line 3, turns[1].at: 'Tuesday' is no time in ISO 8601"),
        ({"turns": [CAT, {**DOG, "at": 5}]}, "line 3, turns[1].at: Expected a time in ISO 8601"),
        ({"turns": [CAT, {**DOG, "role": "cook"}]}, "line 3, turns[1].role: Invalid enum value 'cook'"),
        ({"turns": [CAT, {**DOG, "id": "a"}]}, "line 3, turns[1].id: 'a' is the id of another turn too"),
        ({"questions": [{"kind": "x", "evidence": []}]}, "questions[0]: Object missing required field `question`"),
        ({"language": None}, "line 3, language: Expected `str`, got `null`"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_line_and_field(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidRequest) as raised:
        read_back(line(), line(**changed))
    assert raised.value.reason.startswith("it.jsonl, line 3")
    assert message in raised.value.reason


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{nonsense", "it.jsonl, line 1: is no JSON"),
        (b'{"conversation": "\xff"}', "it.jsonl, line 1: is no JSON"),
        (b"[]", "it.jsonl, line 1: Expected `object`, got `array`"),
        (b"\n \n", "it.jsonl: holds no conversation"),
        (gzip.compress(b"{}" * 99, mtime=0)[:-9], "it.jsonl: cannot be read"),
        (b"\x1f\x8bnonsense", "it.jsonl: cannot be read"),
    ],
)
def test_what_is_no_such_file_is_refused(content: bytes, message: str) -> None:
    with pytest.raises(InvalidRequest) as raised:
        read_conversations(_Content(content))  # type: ignore[arg-type]  # like a path
    assert raised.value.reason.startswith(message)


def test_turns_come_in_time_order_and_undated_ones_stay_with_the_one_before() -> None:
    times = {"a": None, "b": "2026-01-02T10:00:00", "c": None, "d": "2026-01-01T10:00:00Z"}
    turns = [{"id": one, "role": "user", "text": "x", "at": at} for one, at in times.items()]
    ordered = given(turns=turns, questions=[]).in_time_order()
    assert [turn.id for turn in ordered] == ["d", "a", "b", "c"]
    assert ordered[1].at == ordered[3].at == datetime(2026, 1, 2, 10).timestamp()
    assert {turn.at for turn in given().in_time_order()} == {None}


def test_names_of_speakers_are_taken_out_whole_or_in_part() -> None:
    assert given().without_names("what did Anna's cat do, asked ANNA LEE's Benjamin of ben?") == (
        "what did cat do, asked Benjamin of ?"
    )
    roles = [{**CAT, "speaker": "user"}, {**DOG, "speaker": None}]
    assert given(turns=roles).without_names("the user of it") == "the user of it"


def test_evidence_that_is_not_there_is_named() -> None:
    asked = [ASKED, {**ASKED, "evidence": ["a", "z"]}]
    assert given(questions=asked).missing_evidence() == [("questions[1].evidence", "z")]


# who ranks


def test_plain_bm25_takes_every_word_and_the_newer_of_equals() -> None:
    index = PlainBm25([("old", "the cat"), ("new", "the cat"), ("both", "the cat sat"), ("none", "a dog")])
    assert index.rank("Cat SAT", 5) == ["both", "new", "old"]
    assert index.rank("the", 1) == ["new"]
    assert index.rank("zebra", 5) == []
    assert PlainBm25([]).rank("cat", 5) == []


def test_plain_bm25_knows_the_speaker_as_a_word() -> None:
    with bm25(given()) as ask:
        assert ask("Ben", None) == Ranking(["b"])


def test_the_memory_ranks_by_the_ids_of_the_file_and_tells_what_is_sure() -> None:
    with memory_ranker(MemoryConfig(backend="inmemory"))(given()) as ask:
        assert ask("what is my cat called", None) == Ranking(["a", "b"], frozenset("a"))
        assert ask("zebra", 1.0) == Ranking([], frozenset())


def test_a_question_that_is_heard_first_finds_the_same_and_leaves_nothing() -> None:
    question = "what is my cat called"
    with memory_ranker(MemoryConfig(backend="inmemory"), heard=True)(given()) as ask:
        assert ask(question, None) == Ranking(["a", "b"], frozenset("a"))
        assert ask(question, None) == Ranking(["a", "b"], frozenset("a"))


class Lagging:
    """A memory that takes its turns up one look at a time."""

    def __init__(self, lag: int) -> None:
        self.lag = lag

    def status(self) -> dict[str, int]:
        self.lag -= 1
        return {"index_lag": self.lag + 1}


def test_nothing_is_asked_before_all_turns_are_taken_up_and_not_waited_for_without_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rankers, "POLL_S", 0.0)
    memory = Lagging(3)
    rankers.wait_until_indexed(memory)  # type: ignore[arg-type]  # all that is asked of it
    assert memory.lag == -1
    monkeypatch.setattr(rankers, "INDEXED_WITHIN_S", -1.0)
    with pytest.raises(NoAnswer):
        rankers.wait_until_indexed(Lagging(3))  # type: ignore[arg-type]  # all that is asked of it


def test_a_conversation_without_turns_finds_nothing() -> None:
    for ranker in (memory_ranker(MemoryConfig(backend="inmemory")), bm25):
        with ranker(given(turns=[])) as ask:
            assert list(ask("what is my cat called", None).ids) == []


# the rounds


def test_the_next_conversation_is_one_of_the_same_language() -> None:
    tags = ("en", "de", "en", "fr", "en")
    all_of_them = [given(conversation=str(place), language=tag) for place, tag in enumerate(tags)]
    before = [previous_conversation(all_of_them, place) for place in range(len(tags))]
    assert [one and one.conversation for one in before] == ["4", None, "0", None, "2"]


def test_every_question_is_put_to_its_own_conversation_and_without_names_to_the_next() -> None:
    heard: list[tuple[str, str, float | None]] = []

    @contextmanager
    def ranker(conversation: LabelledConversation) -> Iterator[Ask]:
        def ask(question: str, at: float | None) -> Ranking:
            heard.append((conversation.conversation, question, at))
            return Ranking(["a"], frozenset({"a"} if conversation.conversation == "1" else ()))

        yield ask

    lines = [line(conversation=one, questions=[ASKED | {"asked_at": "1970-01-02T00:00:00Z"}]) for one in "12"]
    told: list[str] = []
    found = measure_recall("made up", ranker, read_back(*lines), told.append)
    own, bare = "what is Anna's cat called", "what is cat called"
    assert heard == [(place, text, Timestamp(86400)) for place in "12" for text in (own, bare)]
    assert (found.silence, found.silence_questions, found.overall.no_sure_hit) == (0.5, 2, 0.5)
    assert told == ["made up: 1 (1 of 2)", "made up: 2 (2 of 2)"]


# the household's weeks

WEEKS = Path(__file__).parents[2] / "data" / "household_weeks.jsonl.gz"


def test_the_household_is_what_its_generator_writes() -> None:
    # packed bytes differ from one zlib to the next, the lines do not
    assert gzip.decompress(WEEKS.read_bytes()) == household.lines()
    assert WEEKS.stat().st_size < 200_000


def test_the_household_asks_in_three_languages_and_in_every_way() -> None:
    found = read_conversations(WEEKS)
    assert [one.language for one in found] == ["en-US", "en-US", "de-DE", "de-DE", "fr-FR", "fr-FR"]
    for one in found:
        assert one.missing_evidence() == []
        assert [turn.id for turn in one.in_time_order()] == [turn.id for turn in one.turns]
        assert {asked.kind for asked in one.questions if not asked.evidence} == {"never_said"}
        assert len({asked.kind for asked in one.questions}) == 11
        assert max(turn.at or 0.0 for turn in one.turns) < min(asked.asked_at or 0.0 for asked in one.questions)
