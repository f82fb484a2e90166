"""The vector index, kept up to date in the background, and search by meaning over it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from ovos_persona_memory.errors import PersonaMemoryError
from ovos_persona_memory.records import Scope
from ovos_persona_memory.search.embedder import Embedder, question_vector
from ovos_persona_memory.search.embedding import Open, chosen, give_memory_back, open_embedder
from ovos_persona_memory.stores import (
    Bytes,
    Floats,
    NearDocument,
    PendingText,
    VectorIndex,
    VectorStore,
    cosines,
    quantised,
)

QUIET_S = 0.2
"""Delay of the work after a write, seconds: the answer to the write comes first."""
TAKEN, TOGETHER = 64, 4
"""Texts that share a commit, and texts that pass through the model before other threads get their turn."""
YIELD_S = 0.03
"""Pause of the work after a question, seconds."""
AGAIN_S = 5.0
"""Pause after a failure of the store, seconds."""
NICENESS = 10
"""Niceness of the thread, where the system has one for each: questions come first."""


_EMBEDDING = ThreadPoolExecutor(2, thread_name_prefix="embedding")


@dataclass(frozen=True)
class SemanticSearch:
    """Search by meaning over the texts that the index holds so far."""

    vectors: VectorStore
    index: str
    embedder: Embedder

    @property
    def kind(self) -> str:
        """The kind of embedder."""
        return self.embedder.kind

    def soon(self, text: str) -> Future[Floats]:
        """A question's vector [dim], computed on another thread."""
        return _EMBEDDING.submit(self.embed_question, text)

    def embed_question(self, text: str) -> Floats:
        """A question's vector [dim]."""
        return question_vector(self.embedder, text)

    def compared(self, text: str, vectors: Sequence[Bytes]) -> list[float]:
        """The cosines of a question and vectors [dim] of this index."""
        found: list[float] = cosines(np.stack(vectors), self.embed_question(text)).tolist() if vectors else []
        return found

    def nearest(self, query: Floats, scope: Scope, kinds: frozenset[str], limit: int) -> list[NearDocument]:
        """See VectorStore.nearest."""
        return self.vectors.nearest(self.index, query, scope, kinds, limit)

    def cosines(self, query: Floats, docs: Sequence[int], user_id: str) -> Mapping[int, float]:
        """See VectorStore.cosines."""
        return self.vectors.cosines(self.index, query, docs, user_id)


class Indexer:
    """One thread that embeds texts without a vector.

    Where another embedder is chosen than the one that made the vectors, the old index goes on answering until the new
    one is complete. Thread-safe. The lock guards what other threads read: the answering index, and the last problem.
    """

    def __init__(
        self, vectors: VectorStore, setting: str, opener: Open = open_embedder, load_wait_s: float = 0.0
    ) -> None:
        """``load_wait_s``: maximum wait of a question for a model that is being loaded, seconds."""
        self._vectors = vectors
        self._setting = chosen(setting)
        self._open = opener
        self._load_wait_s = load_wait_s
        self._lock = threading.Lock()
        self._answering: SemanticSearch | None = None
        self._problem: str | None = None
        self._name: str | None = None
        self._asked_at = 0.0
        self._work = threading.Event()
        self._loaded = threading.Event()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="indexer", daemon=True)

    def start(self) -> None:
        """Start, where an embedder is chosen; nothing is loaded before there is a text or a question to embed."""
        if self._setting is None:
            return
        self._vectors.listener = self._work.set
        if self.lag or (self._vectors.indexes() and not self._load_wait_s):
            self._work.set()
        self._thread.start()

    def stop(self) -> None:
        """Stop the work; what is under way is dropped, and done after the next start."""
        self._stopped.set()
        self._work.set()
        if self._thread.is_alive():
            self._thread.join()
        self._vectors.listener = None

    @property
    def lag(self) -> int:
        """Turns and memories without a vector; 0 where no embedder is chosen, or none can be loaded."""
        if self._setting is None or self._problem is not None:
            return 0
        name = self._name
        if name is None:  # not loaded yet
            name = next((index.name for index in self._vectors.indexes() if index.setting == self._setting), None)
        return self._vectors.lag(name)

    def state(self) -> dict[str, Any]:
        """State for people: embedder, answering index, last problem."""
        answering = self._answering
        return {
            "embedder": self._setting or "none",
            "model": self._name,
            "answering": answering.index if answering else None,
            "problem": self._problem or (self._vectors.problem if self._setting else None),
        }

    def meaning(self) -> SemanticSearch | None:
        """Search by meaning; None where there is none, so that questions go by words alone."""
        self._asked_at = time.monotonic()
        if self._setting is None:
            return None
        if not self._loaded.is_set() and self._thread.is_alive() and self._vectors.indexes():
            self._work.set()
            self._loaded.wait(self._load_wait_s)
        with self._lock:
            return self._answering

    # the thread

    def _run(self) -> None:
        _step_back()
        try:
            self._wait_for_work()
            if not self._stopped.is_set():
                self._begin(self._open(self._setting or ""))
        except Exception as error:  # the owner's own model may raise anything
            self._fail(error)
        finally:
            self._loaded.set()
        while not self._stopped.is_set() and self._problem is None:
            try:
                if not self._take_up():
                    self._finish()
                    self._wait_for_work()
            except PersonaMemoryError:
                self._stopped.wait(AGAIN_S)  # the store's own status reports it
            except Exception as error:
                self._fail(error)

    def _fail(self, error: Exception) -> None:
        reason = error.reason if isinstance(error, PersonaMemoryError) else f"{type(error).__name__}: {error}"
        with self._lock:
            self._problem, self._answering = reason, None

    def _wait_for_work(self) -> None:
        self._work.wait()
        self._stopped.wait(QUIET_S)
        self._work.clear()

    def _begin(self, embedder: Embedder) -> None:
        """Choose the answering index, and the one to build."""
        self._embedder = embedder
        indexes = self._vectors.indexes()
        mine = [index for index in indexes if (index.name, index.dim) == (embedder.name, embedder.dim)]
        for place, index in enumerate(indexes):
            if index not in mine and (place > 0 or index.name == embedder.name):
                self._drop(index.name)
        if not mine:
            self._vectors.start(VectorIndex(embedder.name, self._setting or "", embedder.dim))
        first = self._vectors.indexes()[0]
        self._name = embedder.name
        self._answer_by(embedder if first.name == embedder.name else self._opened(first), first.name)

    def _opened(self, index: VectorIndex) -> Embedder | None:
        """The embedder that made an index; None where it can no longer be loaded."""
        with suppress(Exception):
            found = self._open(index.setting)
            return found if (found.name, found.dim) == (index.name, index.dim) else None
        return None

    def _answer_by(self, embedder: Embedder | None, name: str) -> None:
        if embedder is not None:
            self._vectors.warm(name)
        with self._lock:
            self._answering = SemanticSearch(self._vectors, name, embedder) if embedder is not None else None
        self._loaded.set()
        if embedder is not None:
            self._vectors.warm_others(name, self._is_to_stop)

    def _is_to_stop(self) -> bool:
        """Wait for the thread's turn; whether to stop then."""
        self._give_way()
        return self._stopped.is_set()

    def _take_up(self) -> bool:
        """Embed the next texts; whether there were any."""
        taken = self._vectors.pending(self._embedder.name, TAKEN)
        rows = np.zeros((len(taken), self._embedder.dim), dtype=np.float32)
        places = [place for place, one in enumerate(taken) if one.text.strip()]
        places.sort(key=lambda place: len(taken[place].text))
        for start in range(0, len(places), TOGETHER):
            self._give_way()
            if self._stopped.is_set():
                return True
            some = places[start : start + TOGETHER]
            rows[some] = self._embedder.embed([taken[place].text for place in some])
        self._keep(taken, rows)
        return bool(taken)

    def _keep(self, taken: Sequence[PendingText], rows: Floats) -> None:
        if taken:
            self._vectors.put(self._embedder.name, taken, quantised(rows))

    def _give_way(self) -> None:
        if time.monotonic() - self._asked_at < YIELD_S:
            self._stopped.wait(YIELD_S)

    def _finish(self) -> None:
        """All texts have vectors: this index answers from now on, and the one before is dropped."""
        old = [index.name for index in self._vectors.indexes() if index.name != self._embedder.name]
        if old or self._answering is None:
            self._answer_by(self._embedder, self._embedder.name)
        for name in old:
            self._drop(name)
        if old:
            give_memory_back()

    def _drop(self, name: str) -> None:
        while not self._stopped.is_set() and not self._vectors.drop(name):
            self._give_way()


def _step_back() -> None:
    with suppress(OSError, AttributeError):  # only Linux has a priority for each thread
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
