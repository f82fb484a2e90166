"""Recall run: every question of every conversation is put to one ranker, for its own conversation, then for another."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from ovos_persona_memory.evaluation.labelled_conversations import LabelledConversation, LabelledQuestion
from ovos_persona_memory.evaluation.rankers import Ask, Ranker
from ovos_persona_memory.evaluation.ranking_scores import QuestionOutcome, RankerScores, measured


def measure_recall(
    system: str, ranker: Ranker, conversations: Sequence[LabelledConversation], told: Callable[[str], None]
) -> RankerScores:
    """The scores of one ranker over these conversations; ``told`` is called with a line for people before each."""
    own: list[QuestionOutcome] = []
    strangers: list[QuestionOutcome] = []
    for place, conversation in enumerate(conversations):
        told(f"{system}: {conversation.name} ({place + 1} of {len(conversations)})")
        before = previous_conversation(conversations, place)
        with ranker(conversation) as ask:
            own += [_outcome(ask, asked, asked.question) for asked in conversation.questions]
            if before is not None:
                strangers += [_outcome(ask, asked, before.without_names(asked.question)) for asked in before.questions]
    return measured(system, own, strangers)


def previous_conversation(conversations: Sequence[LabelledConversation], place: int) -> LabelledConversation | None:
    """The conversation before the one at ``place`` in the same language; the last one for the first.

    None where it is the only one in its language: in another language silence would prove nothing.
    """
    lang = conversations[place].language
    others = (*reversed(conversations[:place]), *reversed(conversations[place + 1 :]))
    return next((other for other in others if other.language == lang), None)


def _outcome(ask: Ask, asked: LabelledQuestion, question: str) -> QuestionOutcome:
    began = time.perf_counter()
    ranking = ask(question, asked.asked_at)
    took_ms = (time.perf_counter() - began) * 1000
    return QuestionOutcome(asked.kind, frozenset(asked.evidence), tuple(ranking.ids), ranking.sure, took_ms)
