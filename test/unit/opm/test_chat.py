"""What the recall chat engine makes of hits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from ovos_plugin_manager.templates.agents import AgentMessage, MessageRole

from ovos_persona_memory.opm import chat
from ovos_persona_memory.opm.chat import IF_ASKED_FROM, RecallChatEngine, _each_once
from ovos_persona_memory.records import MAY_BELONG_FROM, Hit, QuestionKind
from ovos_persona_memory.text import languages

ENGLISH = languages.for_language("en-US")
ASKED = "where does the ladder live?"
MAYBE_ASKED = "eve still has my chainsaw"
UNLIKELY = 0.55


def hit(text: str, number: int = 0, answers: bool = False, confidence: float | None = None) -> Hit:
    return Hit(
        id=f"h{number}",
        kind="turn",
        text=text,
        score=1.0,
        sure=answers,
        reason="",
        at=0.0,
        role="user",
        answers=answers,
        confidence=confidence,
    )


class Memory:
    """A memory that finds what a test says, for whatever is asked."""

    degraded = False

    def __init__(self, hits: Sequence[Hit]) -> None:
        self._hits = list(hits)

    def recall(self, *_: Any, **__: Any) -> list[Hit]:
        return self._hits

    def question_kind(self, *_: Any) -> QuestionKind:
        return QuestionKind()

    def surely_asks(self, *_: Any) -> bool:
        return True

    def asks(self, *_: Any) -> bool:
        return False

    def may_ask(self, text: str, _lang: str | None = None) -> bool:
        return text == MAYBE_ASKED

    def record(self, *_: Any) -> list[str]:
        return ["kept"]


def engine(monkeypatch: pytest.MonkeyPatch, hits: Sequence[Hit], **settings: Any) -> RecallChatEngine:
    """An engine whose memory finds these hits."""
    monkeypatch.setattr(chat, "shared_transport", lambda **_: None)
    made = RecallChatEngine(settings)
    made._client = Memory(hits)  # type: ignore[assignment]  # what the engine needs of it
    return made


def said_by(engine: RecallChatEngine, text: str) -> str:
    return engine.continue_chat([AgentMessage(role=MessageRole.USER, content=text)], lang="en-US").content


def reply(monkeypatch: pytest.MonkeyPatch, hits: Sequence[Hit], **settings: Any) -> str:
    """What the engine says to ASKED."""
    return said_by(engine(monkeypatch, hits, **settings), ASKED)


def test_of_several_answers_none_is_told_that_stands_in_another_one() -> None:
    said = [
        "Jule eats no meat",
        "well Jule eats no meat and no fish",
        "Oscar drinks no milk",
        "oscar drinks no milk.",
        "no fish for Oscar",
    ]
    told = _each_once([hit(text, number) for number, text in enumerate(said)], ENGLISH)
    assert [one.text for one in told] == [said[1], said[2], said[4]]
    assert _each_once([], ENGLISH) == []


def test_where_no_answer_is_sure_the_best_of_what_may_be_one_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    unlikely = hit("the shed is locked", confidence=UNLIKELY)
    likely, other = (replace(hit(text), may_answer=True) for text in ("it hangs behind the shed", "it is old"))
    said = reply(monkeypatch, [unlikely, likely, other])
    assert said.startswith("I'm not sure") and said.endswith(": it hangs behind the shed.")


def test_all_parts_of_an_answer_are_told_three_at_a_time_and_of_others_that_answer_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = [
        hit(f"{name} has one", n, answers=True, confidence=0.9) for n, name in enumerate(("ann", "bo", "cy", "di"))
    ]
    asked = engine(monkeypatch, [replace(one, part=True) for one in answers])
    assert said_by(asked, ASKED).endswith("cy has one. There is more. Say: go on, to hear the rest.")
    assert said_by(asked, "say more").endswith("di has one.")
    assert reply(monkeypatch, answers).endswith("ann has one.")


def test_what_may_belong_to_several_things_is_offered_behind_them(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [hit(f"{name} has one", n, answers=True, confidence=0.9) for n, name in enumerate(("ann", "bo"))]
    known = [replace(one, part=True) for one in answers]
    likelier, less = hit("cy as well", 8, confidence=UNLIKELY), hit("and di", 9, confidence=UNLIKELY - 0.1)
    not_one = hit("it rains", 7, confidence=MAY_BELONG_FROM - 0.1)
    asked = engine(monkeypatch, [*known, not_one, less, likelier])
    assert said_by(asked, ASKED).endswith("bo has one. There may be more. Say: go on, to hear it.")
    more = said_by(asked, "say more")
    assert more.startswith("I'm not sure") and more.index("cy as well") < more.index("and di")
    assert "it rains" not in more
    assert said_by(engine(monkeypatch, [*known, not_one]), ASKED).endswith("bo has one.")


def test_what_answers_surely_is_told_as_it_was_said(monkeypatch: pytest.MonkeyPatch) -> None:
    said = reply(monkeypatch, [hit("the ladder lives behind the shed", answers=True, confidence=0.9), hit("it is old")])
    assert said.startswith("You told me") and "behind the shed" in said and "sure" not in said


def test_what_hardly_answers_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert reply(monkeypatch, [hit("the shed is locked", confidence=UNLIKELY)]) == ENGLISH.say("nothing_known")


def test_what_is_not_sure_is_left_to_the_next_handler(monkeypatch: pytest.MonkeyPatch) -> None:
    likely = replace(hit("i hung it up behind the shed"), may_answer=True)
    assert reply(monkeypatch, [likely], fallthrough=True) == ""


def test_a_remark_that_may_ask_is_taken_in_and_answered_where_that_is_sure(monkeypatch: pytest.MonkeyPatch) -> None:
    known = hit("the chainsaw is back", answers=True, confidence=IF_ASKED_FROM)
    said = said_by(engine(monkeypatch, [known]), MAYBE_ASKED)
    assert said.startswith("Noted. If that was a question: You told me") and said.endswith(": the chainsaw is back.")
    unsure = replace(known, confidence=IF_ASKED_FROM - 0.01)
    assert said_by(engine(monkeypatch, [unsure]), MAYBE_ASKED) == "Noted."
    assert said_by(engine(monkeypatch, [known]), "my saw is with eve") == "Noted."
    assert said_by(engine(monkeypatch, [known], fallthrough=True), MAYBE_ASKED) == "Noted."


def test_what_probably_asks_and_nothing_answers_is_taken_in_and_said_to_be_unknown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = engine(monkeypatch, [])
    monkeypatch.setattr(asked._client, "asks", lambda *_: True)
    monkeypatch.setattr(asked._client, "surely_asks", lambda *_: False)
    assert said_by(asked, MAYBE_ASKED) == "Noted. If that was a question: I know nothing about that."


def test_an_order_to_tell_everything_is_a_question(monkeypatch: pytest.MonkeyPatch) -> None:
    order, known = "read me all the shopping", hit("we need soap", answers=True, confidence=0.9)
    asked = engine(monkeypatch, [known])
    assert "soap" not in said_by(asked, order)
    monkeypatch.setattr(asked._client, "question_kind", lambda *_: QuestionKind(wants_all=True))
    assert said_by(asked, order).endswith(": we need soap.")


def test_a_remark_is_not_its_own_answer_though_it_is_spelled_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_800_000_000.0
    monkeypatch.setattr(chat.time, "time", lambda: now)
    itself = replace(hit("well eve still has my chainsaw", answers=True, confidence=0.99), at=now - 1)
    assert said_by(engine(monkeypatch, [itself]), MAYBE_ASKED) == "Noted."
    earlier = replace(itself, at=now - 3600)
    assert said_by(engine(monkeypatch, [earlier]), MAYBE_ASKED).endswith(": well eve still has my chainsaw.")
