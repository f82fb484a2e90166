"""Evaluation of recall and of fact learning: labelled data, scores and training."""

from __future__ import annotations

from ovos_persona_memory.evaluation import labelled_conversations, ranking_scores, recall_run, talk_markup
from ovos_persona_memory.evaluation.fact_scores import LearningScores, Ratio, measure_learning
from ovos_persona_memory.evaluation.fact_traps import Trap, TrapResult, is_trap_file, play_trap, read_traps
from ovos_persona_memory.evaluation.labelled_conversations import LabelledConversation
from ovos_persona_memory.evaluation.labelled_talk import LabelledTalk, read_talks
from ovos_persona_memory.evaluation.rankers import (
    RANKERS,
    Ask,
    Ranker,
    Ranking,
    embedder_ranker,
    memory_ranker,
    turn_document,
)
from ovos_persona_memory.evaluation.ranking_scores import RankerScores, RankingScores
from ovos_persona_memory.evaluation.talk_markup import read_marked

__all__ = [
    "RANKERS",
    "Ask",
    "LabelledConversation",
    "LabelledTalk",
    "LearningScores",
    "Ranker",
    "RankerScores",
    "Ranking",
    "RankingScores",
    "Ratio",
    "Trap",
    "TrapResult",
    "embedder_ranker",
    "is_trap_file",
    "labelled_conversations",
    "measure_learning",
    "memory_ranker",
    "play_trap",
    "ranking_scores",
    "read_marked",
    "read_talks",
    "read_traps",
    "recall_run",
    "talk_markup",
    "turn_document",
]
