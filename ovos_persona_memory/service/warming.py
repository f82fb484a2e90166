"""What it takes to understand a language is read before anybody speaks."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Sequence

from ovos_persona_memory.gate import judge
from ovos_persona_memory.records import Turn

PAUSE_S = 30.0
"""Before each further language: who speaks the first one right after a start is answered meanwhile, seconds."""
_SAYS_NOTHING = "one two three"
"""Any words will do: they are judged and nowhere kept."""


def read_languages(tags: Sequence[str]) -> threading.Thread:
    """Begin to read patterns and models of these languages, in their order; the thread that does, started.

    Else the first to speak would wait: a second on a desktop, several on a Raspberry Pi.
    """
    reading = threading.Thread(target=_read, args=(tuple(tags),), name="languages", daemon=True)
    reading.start()
    return reading


def _read(tags: tuple[str, ...]) -> None:
    for number, tag in enumerate(tags):
        time.sleep(PAUSE_S if number else 0.0)
        judge(Turn("user", _SAYS_NOTHING, lang=tag))
    # what was read lives as long as the process: looking through it costs 30 ms at a time
    gc.collect()
    gc.freeze()
