"""Rankers of a conversation's turns for a question: the memory, and the systems that it is compared with."""

from __future__ import annotations

import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.errors import ConfigError, NoAnswer
from ovos_persona_memory.evaluation.labelled_conversations import LabelledConversation, LabelledTurn
from ovos_persona_memory.evaluation.ranking_scores import K
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import Scope, Turn
from ovos_persona_memory.search import Embedder, embedding, open_embedder, question_vector
from ovos_persona_memory.stores import Bm25
from ovos_persona_memory.text import languages

INDEXED_WITHIN_S = 900.0
POLL_S = 0.02


@dataclass(frozen=True)
class Ranking:
    """The answer of a ranker."""

    ids: Sequence[str]
    """Ids of turns of the conversation, best first, at most ``K``."""
    sure: frozenset[str] | None = None
    """Those of them that are sure; None where the ranker does not tell."""


Ask = Callable[[str, float | None], Ranking]
"""Ranks the turns for a question, asked at this time, seconds since the epoch (None: at the end of the
conversation)."""
Ranker = Callable[[LabelledConversation], AbstractContextManager[Ask]]
"""Indexes a conversation, once, and answers questions while it is open."""


HEARD = "asked"
"""The utterance id of a question that is recorded before it is asked."""


class _Rollback(Exception):
    """Raised to roll the recorded question back."""


def memory_ranker(config: MemoryConfig, opener: embedding.Open = open_embedder, heard: bool = False) -> Ranker:
    """The memory as a ranker: a fresh one for each conversation. ConfigError where its embedder cannot be loaded.

    ``heard``: each question is recorded as a turn of the last session before it is asked, as in the running assistant,
    and rolled back afterwards.
    """

    @contextmanager
    def opened(conversation: LabelledConversation) -> Iterator[Ask]:
        turns = conversation.in_time_order()
        with (
            tempfile.TemporaryDirectory(prefix="ovos-persona-memory-bench-") as folder,
            PersonaMemory.open(folder, config, _clock_from_the_end_of(turns), opener) as memory,
        ):
            known = _record(memory, turns, conversation.language)
            wait_until_indexed(memory)

            def ask(question: str, at: float | None, utterance_id: str | None = None) -> Ranking:
                hits = memory.recall(question, Scope(), K, {"turn"}, at, conversation.language, utterance_id)
                return Ranking([known[hit.id] for hit in hits], frozenset(known[hit.id] for hit in hits if hit.sure))

            def ask_aloud(question: str, at: float | None) -> Ranking:
                said = Turn("user", question, at=at, lang=conversation.language)
                found: list[Ranking] = []
                with suppress(_Rollback), memory.transcript.undoing(), memory.transaction():
                    memory.record([said], Scope(session_id=turns[-1].session if turns else None), utterance_id=HEARD)
                    found.append(ask(question, at, HEARD))
                    raise _Rollback
                return found[0]

            yield ask_aloud if heard else ask

    return opened


def _clock_from_the_end_of(turns: Sequence[LabelledTurn]) -> Callable[[], float]:
    """A clock that runs on from the last turn: a question without a time is asked then, whatever the date."""
    last = turns[-1].at if turns else None
    ahead = time.time() if last is None else last
    opened = time.monotonic()
    return lambda: ahead + time.monotonic() - opened


def _record(memory: PersonaMemory, turns: Sequence[LabelledTurn], lang: str) -> dict[str, str]:
    """The ids that the memory gave mapped to those of the conversation."""
    known: dict[str, str] = {}
    with memory.transaction():
        for session, said in groupby(turns, key=lambda turn: turn.session):
            block = list(said)
            given = [Turn(one.role, one.text, at=_plain(one.at), speaker=one.speaker, lang=lang) for one in block]
            ids = memory.record(given, Scope(session_id=session))
            known.update(zip(ids, (one.id for one in block), strict=True))
    return known


def _plain(at: float | None) -> float | None:
    return None if at is None else float(at)  # stores get a plain float, not the file's own type


def wait_until_indexed(memory: PersonaMemory) -> None:
    """Return when every turn has a vector; NoAnswer where the indexer does not finish.

    ConfigError where the embedder of the settings cannot be loaded.
    """
    deadline, pause = time.monotonic() + INDEXED_WITHIN_S, threading.Event()
    while (status := memory.status())["index_lag"] > 0:
        if time.monotonic() > deadline:
            raise NoAnswer(f"the index did not take up all turns within {INDEXED_WITHIN_S:.0f} s")
        pause.wait(POLL_S)
    if problem := status.get("meaning", {}).get("problem"):
        raise ConfigError(problem)


class PlainBm25:
    """BM25 over all words, unstemmed, stop words included: a search without any language resources."""

    def __init__(self, documents: Sequence[tuple[str, str]]) -> None:
        """``documents``: (id, text), oldest first."""
        self._ids = [one for one, _ in documents]
        counted = [Counter(languages.fold(text)) for _, text in documents]
        lengths = [sum(words.values()) for words in counted]
        self._formula = Bm25(len(documents), sum(lengths) / max(len(documents), 1) or 1.0)
        self._damping = [self._formula.damping(length) for length in lengths]
        self._held: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for place, words in enumerate(counted):
            for word, times in words.items():
                self._held[word].append((place, times))

    def rank(self, question: str, k: int) -> list[str]:
        """Ids of the documents that hold a word of the question, best first, of equals the newer."""
        scores: dict[int, float] = defaultdict(float)
        for word in sorted(set(languages.fold(question))):
            places = self._held.get(word, [])
            weight = self._formula.weight(len(places))
            for place, times in places:
                scores[place] += self._formula.part(weight, times, self._damping[place])
        best = sorted(scores, key=lambda place: (-scores[place], -place))
        return [self._ids[place] for place in best[:k]]


def turn_document(turn: LabelledTurn) -> str:
    """The text of a turn for rankers of plain texts, with the speaker's name in it."""
    return f"{turn.speaker}: {turn.text}" if turn.speaker else turn.text


@contextmanager
def bm25(conversation: LabelledConversation) -> Iterator[Ask]:
    """Plain BM25 as a ranker."""
    index = PlainBm25([(turn.id, turn_document(turn)) for turn in conversation.in_time_order()])
    yield lambda question, at: Ranking(index.rank(question, K))


def embedder_ranker(embedder: Embedder) -> Ranker:
    """The embedder alone: the cosine of question and turn."""

    @contextmanager
    def opened(conversation: LabelledConversation) -> Iterator[Ask]:
        turns = conversation.in_time_order()
        rows = embedder.embed([turn_document(turn) for turn in turns])

        def ask(question: str, at: float | None) -> Ranking:
            cosines = rows @ question_vector(embedder, question)
            best = np.lexsort((-np.arange(len(turns)), -cosines))[:K]
            return Ranking([turns[place].id for place in best])

        yield ask

    return opened


RANKERS: dict[str, Ranker] = {"bm25": bm25}
"""The systems that the memory can be compared with, by name. An edge may add rankers that need packages of OVOS."""
