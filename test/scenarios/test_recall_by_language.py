"""What was said is found by words alone, in conversations written by somebody who had not seen the stemmers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import Scope, Turn

pytestmark = pytest.mark.full

DATA = Path(__file__).parents[1] / "data" / "languages"
CONVERSATIONS = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(DATA.glob("*.json"))]
BEGAN, STEP_S = 1763750000.0, 30.0
K, AT_LEAST = 5, 0.90


def of_language(conversation: dict) -> str:
    return str(conversation["language"])


def record(memory: PersonaMemory, conversation: dict, scope: Scope, without: frozenset[str] = frozenset()) -> None:
    for number, turn in enumerate(conversation["turns"]):
        if turn["id"] not in without:
            said = Turn(turn["role"], turn["text"], at=BEGAN + STEP_S * number, lang=conversation["language"])
            memory.record([said], scope)


def share_found(memory: PersonaMemory, conversation: dict, asked: dict) -> float:
    """How much of a question's evidence is among the best hits."""
    texts = {turn["id"]: turn["text"] for turn in conversation["turns"]}
    hits = memory.recall(asked["question"], Scope(), K, {"turn"}, lang=conversation["language"])
    found = {hit.text for hit in hits}
    return sum(texts[one] in found for one in asked["evidence"]) / len(asked["evidence"])


@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=of_language)
def test_what_was_said_is_found_by_words_in_every_language(conversation: dict) -> None:
    assert len(conversation["turns"]) >= 30
    assert len(conversation["questions"]) >= 15
    with PersonaMemory.open(config=MemoryConfig(backend="inmemory")) as memory:
        record(memory, conversation, Scope(session_id="s"))
        shares = {asked["question"]: share_found(memory, conversation, asked) for asked in conversation["questions"]}
    mean = sum(shares.values()) / len(shares)
    failed = [question for question, share in shares.items() if share < 1]
    assert mean >= AT_LEAST, f"{conversation['language']}: recall@{K} {mean:.3f}; not found: {failed}"


@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=of_language)
def test_a_question_whose_answer_was_never_said_is_mostly_not_known(conversation: dict) -> None:
    order = [turn["id"] for turn in conversation["turns"]]
    known = []
    with PersonaMemory.open(config=MemoryConfig(backend="inmemory")) as memory:
        for asked in conversation["questions"]:
            # an answer of the assistant's to what is left out would tell it
            beside = {order[place] for one in asked["evidence"] if (place := order.index(one) + 1) < len(order)}
            replies = {turn["id"] for turn in conversation["turns"] if turn["role"] == "assistant"} & beside
            scope = Scope(session_id="s", user_id=asked["question"])
            record(memory, conversation, scope, frozenset({*asked["evidence"], *replies}))
            hits = memory.recall(asked["question"], Scope(user_id=asked["question"]), K, lang=of_language(conversation))
            known += [asked["question"]] if any(hit.sure for hit in hits) else []
    assert len(known) <= 0.1 * len(conversation["questions"]), known


def test_there_are_conversations_in_the_ten_languages_and_in_scripts_without_blanks() -> None:
    ten = {"de-DE", "fr-FR", "es-ES", "it-IT", "pt-PT", "nl-NL", "ca-ES", "da-DK", "gl-ES"}  # English is elsewhere
    assert ten | {"zh-CN", "ja-JP", "ko-KR", "th-TH", "ru-RU"} <= set(map(of_language, CONVERSATIONS))
