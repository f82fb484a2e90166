"""How well recall finds and facts are learned: labelled data, scores and training."""

from __future__ import annotations

from ovos_persona_memory.evaluation import labelled_conversations, ranking_scores, recall_run, talk_markup
from ovos_persona_memory.evaluation.fact_scores import LearnedFigures, Share, measure_learning
from ovos_persona_memory.evaluation.labelled_conversations import Conversation
from ovos_persona_memory.evaluation.labelled_talk import Talk, read_talks
from ovos_persona_memory.evaluation.rankers import RANKERS, Ask, Ranker, Ranking, as_document, by_embedder, of_memory
from ovos_persona_memory.evaluation.ranking_scores import Figures, Measured
from ovos_persona_memory.evaluation.talk_markup import read_marked

__all__ = [
    "RANKERS",
    "Ask",
    "Conversation",
    "Figures",
    "LearnedFigures",
    "Measured",
    "Ranker",
    "Ranking",
    "Share",
    "Talk",
    "as_document",
    "by_embedder",
    "labelled_conversations",
    "measure_learning",
    "of_memory",
    "ranking_scores",
    "read_marked",
    "read_talks",
    "recall_run",
    "talk_markup",
]
