"""The skill: what people say to their memory, and what it says to them.

One utterance passes: core -> PersonaMemorySkill -> tell, ask, forget, quiet or care -> MemoryClient -> the daemon.
"""

from ovos_persona_memory.skill.memory_skill import PersonaMemorySkill

__all__ = ["PersonaMemorySkill"]
