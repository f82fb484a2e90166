"""Who may write and read, whose words they are, and what was forgotten."""

from __future__ import annotations

from ovos_persona_memory.memory.privacy.capture import CapturePolicy
from ovos_persona_memory.memory.privacy.identity import People, relatives
from ovos_persona_memory.memory.privacy.tombstones import Tombstones

__all__ = ["CapturePolicy", "People", "Tombstones", "relatives"]
