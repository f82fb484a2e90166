"""recall@10 on conversations with labelled evidence, for each store, on servers started here: it must hardly differ.

    scripts/benchmarks/quality/recall_by_store.py FILE [--limit N] [--embedder NAME] [--store NAME ...]

FILE: JSON lines, plain or gzip, as `ovos-persona-memory bench recall` takes them.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT), str(ROOT / "test")]  # a script is run where it stands

from support.servers.chroma import ChromaServer  # noqa: E402  (the line above must come first)
from support.servers.postgres import FAST, Databases, running  # noqa: E402
from support.servers.redis import RedisServer  # noqa: E402

from ovos_persona_memory.config import MemoryConfig, parse  # noqa: E402
from ovos_persona_memory.evaluation.labelled_conversations import LabelledConversation, read_conversations  # noqa: E402
from ovos_persona_memory.evaluation.rankers import Ask, memory_ranker  # noqa: E402
from ovos_persona_memory.evaluation.ranking_scores import RankerScores  # noqa: E402
from ovos_persona_memory.evaluation.recall_run import measure_recall  # noqa: E402
from ovos_persona_memory.search.embedder import Embedder, Kind  # noqa: E402
from ovos_persona_memory.service.embedder_plugins import open_embedder  # noqa: E402
from ovos_persona_memory.stores.base.vector_math import Floats  # noqa: E402

KINDS = ("conversational", "facts", "episodic", "semantic")
STORES = ("inmemory", "sqlite", "kinds", "redis", "postgres", "chroma")
MOST_POINTS = 3.0
"""Maximum difference between two stores, percentage points."""


@dataclass
class CachedEmbedder:
    """An embedder that embeds each text once, whatever the number of stores. Its speed is not to be measured."""

    embedder: Embedder
    known: dict[str, Floats] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The embedder's."""
        return self.embedder.name

    @property
    def dim(self) -> int:
        """The embedder's."""
        return self.embedder.dim

    @property
    def kind(self) -> Kind:
        """The embedder's."""
        return self.embedder.kind

    def embed(self, texts: Sequence[str]) -> Floats:
        """See Embedder.embed."""
        new = [text for text in dict.fromkeys(texts) if text not in self.known]
        if new:
            self.known.update(zip(new, self.embedder.embed(new), strict=True))
        return np.stack([self.known[text] for text in texts])


@contextmanager
def settings_for(store: str, conversation: int, servers: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The settings of an empty store; each conversation has a store of its own."""
    sqlite = {name: {"backend": "sqlite"} for name in KINDS}
    if store == "kinds":
        folder = servers["folder"] / f"kinds-{conversation}-{time.monotonic_ns()}"
        for name in KINDS[1:]:
            sqlite[name] = {"backend": "sqlite", "connection": str(folder / name)}
        yield {"kinds": sqlite}
    elif store == "redis":
        with servers["redis"].client() as client:
            client.flushall()
        redis = {"backend": "redis", "connection": servers["redis"].url}
        yield {"kinds": {**sqlite, **dict.fromkeys(KINDS[:3], redis)}}
    elif store == "chroma":
        servers["chroma"].empty()
        yield {"kinds": {**sqlite, "semantic": {"backend": "chroma", "connection": servers["chroma"].url}}}
    elif store == "postgres":
        url = servers["postgres"].fresh()
        yield {"backend": "postgres", "connection": url}
        servers["postgres"].drop(url)
    else:
        yield {"backend": store}


def measured(
    store: str, conversations: Sequence[LabelledConversation], embedder: Embedder | None, servers: Mapping[str, Any]
) -> RankerScores:
    """The figures of one store over all conversations."""

    @contextmanager
    def ranker(conversation: LabelledConversation) -> Iterator[Ask]:
        with settings_for(store, conversations.index(conversation), servers) as section:
            setting = "given" if embedder is not None else "none"
            config: MemoryConfig = parse({**section, "recall": {"embedder": setting}})
            with memory_ranker(config, lambda _: embedder or open_embedder(_))(conversation) as ask:
                yield ask

    return measure_recall(store, ranker, conversations, lambda line: print(line, file=sys.stderr))


def main() -> int:
    """Print a line for each store; 1 where two differ by too much."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--embedder", default="minilm")
    parser.add_argument("--store", action="append", choices=STORES)
    asked = parser.parse_args()
    conversations = list(read_conversations(asked.file, asked.limit))
    embedder = None if asked.embedder == "none" else CachedEmbedder(open_embedder(asked.embedder))

    found: dict[str, float] = {}
    with (
        RedisServer() as redis,
        ChromaServer() as chroma,
        running(**FAST) as postgres,
        tempfile.TemporaryDirectory() as folder,
    ):
        servers = {"redis": redis, "chroma": chroma, "postgres": Databases(postgres), "folder": Path(folder)}
        for store in asked.store or STORES:
            began = time.monotonic()
            # a property is as good as a field that is only read
            told = measured(store, conversations, embedder, servers)  # type: ignore[arg-type]
            found[store] = 100 * (told.overall.recall_at_10 or 0.0)
            figures = (
                f"recall@10 {found[store]:.2f}  p50 {told.latency_p50_ms:.1f} ms  p95 {told.latency_p95_ms:.1f} ms"
            )
            print(f"{store:<10} {figures}  ({time.monotonic() - began:.0f} s)", flush=True)
    apart = max(found.values()) - min(found.values())
    print(f"{len(conversations)} conversations; the stores differ by {apart:.2f} points, {MOST_POINTS:.0f} are allowed")
    return 0 if apart <= MOST_POINTS else 1


if __name__ == "__main__":
    sys.exit(main())
