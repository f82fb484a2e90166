"""The retrieval plugin: records that bear on a query, with a score for each."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

# The stable line has no retrieval engines: this import fails there and the plugin is not offered.
from ovos_plugin_manager.templates.agents import RetrievalEngine
from ovos_utils.log import LOG

from ovos_persona_memory.config import bus_address, seconds
from ovos_persona_memory.conversation import prompt, quoting
from ovos_persona_memory.errors import PersonaMemoryError
from ovos_persona_memory.protocol import MemoryClient, shared_transport
from ovos_persona_memory.records import Hit
from ovos_persona_memory.text import languages


class PersonaMemoryRetrieval(RetrievalEngine):  # type: ignore[misc]  # ovos_plugin_manager carries no types
    """Asks the daemon for records that bear on a query, in the session of the message being handled.

    A persona speaks the first result of a handler as it is, whatever the user said. So, unless ``sure_only`` is false,
    only a question is answered, and only by sure hits that can be quoted as the answer. Otherwise the results are data
    for a prompt, and each text is quoted, with speaker and date. It never waits: a bus that is away gives nothing at
    once, an answer takes at most ``timeout_s``.

    Settings, in the block ``ovos-persona-memory-retrieval-plugin``: ``sure_only`` (true), ``timeout_s`` (0.5), ``host``
    and ``port`` of the bus.
    """

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        super().__init__(config)
        transport = shared_transport(**bus_address(self.config.get("host"), self.config.get("port")))
        self._client = MemoryClient(transport, timeout_s=seconds(self.config, "timeout_s", 0.5))

    def query(self, query: str, lang: str | None = None, k: int = 3) -> list[tuple[str, float]]:
        """At most ``k`` texts on one line each, best first, scores 0 to 1; empty where the daemon is away."""
        spoken, query = languages.for_language(lang or self.lang), prompt.without_notes(query)
        sure_only = bool(self.config.get("sure_only", True))
        if sure_only and not spoken.is_question(query):
            return []
        try:
            hits = self._client.recall(query, k=k, lang=spoken.tag)
        except PersonaMemoryError as error:
            LOG.warning("nothing was recalled: %s", error.reason)
            return []
        if sure_only:
            return scored([hit for hit in hits if hit.sure and hit.answers], _spoken)
        now = time.time()
        return scored(hits, lambda hit: prompt.line(hit, spoken.tag, now))


def _spoken(hit: Hit) -> str:
    return quoting.visible_text(hit.text)


def scored(hits: Sequence[Hit], shown: Callable[[Hit], str] = _spoken) -> list[tuple[str, float]]:
    """Each hit in its ``shown`` form with its score as a share of the first one's, never above that of a better hit."""
    shares: list[tuple[str, float]] = []
    best, least = (hits[0].score or 1.0) if hits else 1.0, 1.0
    for hit in hits:
        # a sure hit comes before an unsure one of a higher score
        least = max(0.0, min(least, hit.score / best))
        shares.append((shown(hit), least))
    return shares
