"""Preloading of language resources before the first utterance."""

from __future__ import annotations

import gc
import threading
from collections.abc import Sequence

from ovos_persona_memory.extraction import answering, extract
from ovos_persona_memory.records import Turn
from ovos_persona_memory.search import embedding
from ovos_persona_memory.text import languages, lexicon

_SAYS_NOTHING = "one two three"
"""Any words will do: they are judged and nowhere kept."""


class Languages:
    """Loads word lists, patterns and models of languages in the background, in their order.

    Otherwise the first utterance would wait: a second on a desktop, several on a Raspberry Pi.
    """

    def __init__(self, tags: Sequence[str]) -> None:
        """``tags``: BCP-47."""
        self._tags = tuple(dict.fromkeys(languages.for_language(tag).tag for tag in tags))
        self._thread = threading.Thread(target=self._read_all, name="languages", daemon=True)
        self._busy = threading.Event()

    def start(self) -> None:
        """Load the word lists of the first language, which detect secrets before anything is kept."""
        if self._tags:
            lexicon.for_language(self._tags[0])
            self._busy.set()

    def go_on(self) -> None:
        """Load the rest in the background; nothing where that has begun."""
        if self._busy.is_set() and self._thread.ident is None:
            self._thread.start()

    @property
    def busy(self) -> bool:
        """Whether languages are being loaded: a learner would wait for one of them. Thread-safe."""
        return self._busy.is_set()

    def _read_all(self) -> None:
        try:
            for tag in self._tags:
                self._read(tag)
            answering(_SAYS_NOTHING, [(_SAYS_NOTHING, None)])  # the judge, or the first question waits for it
        finally:
            self._busy.clear()
        # loaded resources live as long as the process: the garbage collector would scan them for 30 ms at a time
        gc.collect()
        gc.freeze()
        embedding.give_memory_back()  # what loading the models has freed: 10 MB

    def _read(self, tag: str) -> None:
        extract(Turn("user", _SAYS_NOTHING, lang=tag))
