"""From what was extracted to facts: supersession, confidence, the queue of deferred work."""

from __future__ import annotations

from ovos_persona_memory.memory.learning.confidence import fact_of, same
from ovos_persona_memory.memory.learning.learner import Learner
from ovos_persona_memory.memory.learning.learning_queue import LearningQueue

__all__ = ["Learner", "LearningQueue", "fact_of", "same"]
