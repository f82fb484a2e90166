"""What counts as the reply to a line of a week, and the table of what was played."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.quality.play_weeks import PlayedLine, Reply, overview, says_there_is_more, transcript_of
from benchmarks.quality.weeks import MONDAY, Week, WeekLine

from ovos_persona_memory.text import languages

NOTHING = languages.for_language("en-US").say("nothing_known")


class Seconds:
    """In the place of a clock."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def spoken(text: str, topic: str = "ovos.utterance.speak", **data: Any) -> dict[str, Any]:
    return {"type": topic, "data": {"utterance": text, **data}, "context": {"utterance_id": "u1"}}


HANDLED = {"type": "ovos.utterance.handled", "data": {}, "context": {}}


def test_one_event_under_two_names_is_heard_once() -> None:
    reply = Reply(Seconds())
    for message in (spoken("yes"), spoken("yes", "speak"), spoken("old", "speak"), HANDLED):
        reply.hear(message)
    assert reply.spoken == ["yes", "old"]


def test_what_is_said_twice_is_heard_twice() -> None:
    reply = Reply(Seconds())
    for _ in range(2):
        reply.hear(spoken("yes"))
    assert reply.spoken == ["yes", "yes"]


def test_a_reply_is_over_after_a_silence_behind_its_end() -> None:
    clock = Seconds()
    reply = Reply(clock)
    clock.now += 1
    reply.hear(HANDLED)
    clock.now += 0.2
    reply.hear(spoken("and more"))
    clock.now += 0.2
    assert not reply.is_over
    clock.now += 0.1
    assert reply.is_over
    assert (reply.handled, reply.seconds) == (True, 1.0)


def test_a_question_that_comes_back_ends_a_reply_too() -> None:
    clock = Seconds()
    reply = Reply(clock)
    reply.hear(spoken("which?", expect_response=True))
    clock.now += 1
    assert not reply.is_over
    clock.now += 1.5
    assert (reply.is_over, reply.handled) == (True, True)


def test_without_an_end_it_is_waited_for_a_while() -> None:
    clock = Seconds()
    reply = Reply(clock)
    clock.now += 29
    assert not reply.is_over
    clock.now += 2
    assert (reply.is_over, reply.handled) == (True, False)


def test_the_overview_counts_what_was_answered_with_more_than_that_nothing_is_known() -> None:
    asked = WeekLine(3, "monday morning", MONDAY, "anna", "where is it", "time", "here")
    week = Week(Path("en-US.week"), "en-US", {"anna": ""}, (asked,))
    played = [PlayedLine(asked, (reply,) if reply else (), 0.5) for reply in ("It is here.", NOTHING, "")]
    rows = [row.split() for row in overview([(week, played)])]
    assert rows[1] == ["time", "3", "1", "0.50", "0.50"]


def test_weeks_of_one_name_have_transcripts_of_their_own() -> None:
    path, out = Path("/a/first/en-US.week"), Path("/out")
    assert transcript_of(path, None, True) == Path("/a/first/en-US.transcript.jsonl")
    assert transcript_of(path, out, False) == Path("/out/en-US.transcript.jsonl")
    assert transcript_of(path, out, True) == Path("/out/first.en-US.transcript.jsonl")


def test_whether_there_is_more_is_told_by_the_offer_at_the_end() -> None:
    english = languages.for_language("en-US")
    offer, perhaps = english.say("say_more"), english.say("say_more_perhaps")
    assert says_there_is_more("en-US", ["You told me today: the cat is called Bob.", offer])
    assert says_there_is_more("en-US", [f"You told me today: the cat is called Bob. {offer}"])
    assert not says_there_is_more("en-US", ["You told me today: the cat is called Bob.", perhaps])
    assert not says_there_is_more("de-DE", [offer])
