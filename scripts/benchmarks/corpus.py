"""Seeded text that behaves like talk, and databases of many turns of it, kept under build/."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from itertools import accumulate, islice
from pathlib import Path

from benchmarks.progress import say
from ovos_persona_memory.config import FactsConfig, MemoryConfig, RecallConfig
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import HOUSEHOLD, Scope, Turn

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / "build" / "bench"
FUNCTION_WORDS = (
    *("the", "and", "a", "to", "of", "i", "it", "in", "you", "that", "is", "was", "my"),
    *("for", "on", "with", "we", "have", "at", "but", "this", "they", "so", "he", "she", "me"),
)
CONTENT_WORDS = 30_000
SESSION_TURNS = 20
COMMIT_TURNS = 20_000
FIRST_AT = 1_700_000_000.0
MOST_QUESTIONS = 2000
BY_WORDS = MemoryConfig(recall=RecallConfig(embedder="none"))
WITHOUT_LEARNING = replace(BY_WORDS, facts=FactsConfig(learn=False))
"""The sentences tell nothing, and looking for facts in a hundred thousand of them takes half an hour."""


@dataclass(frozen=True)
class Corpus:
    """What a database is made of."""

    turns: int
    people: int = 1
    """One: the household. More: as many users, the busiest first, by Zipf's law."""
    seed: int = 7


@dataclass(frozen=True)
class Asked:
    """A question made of words of one turn, and whose turn it is."""

    text: str
    user_id: str
    session_id: str


@dataclass(frozen=True)
class Built:
    """A database and questions that it can answer."""

    folder: Path
    questions: list[Asked]
    turn_us: float
    """What a turn cost to record when it was built, microseconds."""

    def copy(self, folder: Path) -> Path:
        """A copy of the data folder, for a daemon that writes into it."""
        shutil.copytree(self.folder, folder)
        return folder


class Talk:
    """An endless source of sentences: function words, and content words spread by Zipf and Mandelbrot."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self._words = list(islice(self._new_words(), CONTENT_WORDS))
        self._content = list(accumulate(1 / (rank + 2.7) for rank in range(1, CONTENT_WORDS + 1)))
        self._function = list(accumulate(1 / rank for rank in range(1, len(FUNCTION_WORDS) + 1)))

    def _new_words(self) -> Iterator[str]:
        seen: set[str] = set()
        while True:
            parts = self.random.choices("bdfgklmnprstvz", k=3), self.random.choices("aeiou", k=3)
            word = "".join(map("".join, zip(*parts, strict=True)))[: self.random.choice((5, 6))]
            word += self.random.choice(("", "", "n", "r", "l", "sto", "mar"))
            if word not in seen:
                seen.add(word)
                yield word

    def sentence(self) -> tuple[str, list[str]]:
        """5 to 20 words, about half of them function words; and the content words by themselves."""
        length = self.random.randint(5, 20)
        content = self.random.choices(self._words, cum_weights=self._content, k=max(3, length // 2))
        others = self.random.choices(FUNCTION_WORDS, cum_weights=self._function, k=length - len(content))
        mixed = [*content[1:], *others]
        self.random.shuffle(mixed)
        return f"{content[0].capitalize()} {' '.join(mixed)}.", content

    def question(self, content: list[str]) -> str:
        """3 to 8 of the words."""
        words = list(dict.fromkeys(content))
        most = min(8, len(words))
        return " ".join(self.random.sample(words, self.random.randint(min(3, most), most))) + "?"


def built(corpus: Corpus) -> Built:
    """The database of this corpus, made where the cache has none for this very code."""
    folder = CACHE / f"{corpus.turns}-{corpus.people}-{_fingerprint(corpus)}"
    if not (folder / "questions.json").exists():
        for old in CACHE.glob(f"{corpus.turns}-{corpus.people}-*"):
            shutil.rmtree(old)
        _build(corpus, folder)
    kept = json.loads((folder / "questions.json").read_text(encoding="utf-8"))
    return Built(folder / "data", [Asked(**one) for one in kept["questions"]], kept["turn_us"])


def _fingerprint(corpus: Corpus) -> str:
    package = ROOT / "ovos_persona_memory"
    code = [Path(__file__), *sorted((package / "stores").rglob("*.[ps][yq]*")), package / "text" / "languages.py"]
    known = hashlib.sha256(json.dumps(asdict(corpus)).encode())
    for path in code:
        known.update(path.read_bytes())
    return known.hexdigest()[:12]


def _build(corpus: Corpus, folder: Path) -> None:
    CACHE.mkdir(parents=True, exist_ok=True)
    talk = Talk(corpus.seed)
    questions: list[Asked] = []
    spent = 0.0
    with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
        data = Path(scratch) / "built" / "data"
        with PersonaMemory.open(data, WITHOUT_LEARNING) as memory:
            # Words come in no order: with the store's own cache of 8 MB a million turns wrote 20 times their size.
            memory._store._sql.execute("PRAGMA cache_size = -1000000")  # type: ignore[attr-defined]
            for number, batch in enumerate(_batches(_sessions(corpus, talk, questions))):
                say(f"building {corpus.turns} turns: {number * COMMIT_TURNS} are recorded")
                began = time.perf_counter()
                with memory.transaction():
                    for turns, scope in batch:
                        memory.record(turns, scope)
                spent += time.perf_counter() - began
            while memory.tidy():
                pass
        talk.random.shuffle(questions)
        kept = {"turn_us": spent / corpus.turns * 1e6, "questions": [asdict(one) for one in questions[:MOST_QUESTIONS]]}
        (data.parent / "questions.json").write_text(json.dumps(kept), encoding="utf-8")
        data.parent.rename(folder)


def _sessions(corpus: Corpus, talk: Talk, questions: list[Asked]) -> Iterator[tuple[list[Turn], Scope]]:
    shares = list(accumulate(1 / rank for rank in range(1, corpus.people + 1)))
    every = max(1, corpus.turns // SESSION_TURNS // MOST_QUESTIONS)
    for number in range(corpus.turns // SESSION_TURNS):
        person = talk.random.choices(range(corpus.people), cum_weights=shares)[0]
        user_id = HOUSEHOLD if corpus.people == 1 else f"person-{person}"
        scope = Scope(session_id=f"talk-{number}", user_id=user_id)
        turns, content = _turns(talk, FIRST_AT + 30.0 * SESSION_TURNS * number)
        if number % every == 0:
            questions.append(Asked(talk.question(content), user_id, f"talk-{number}"))
        yield turns, scope


def _turns(talk: Talk, begin: float) -> tuple[list[Turn], list[str]]:
    turns, asked_about = [], []
    for number in range(SESSION_TURNS):
        text, content = talk.sentence()
        turns.append(Turn("assistant" if number % 2 else "user", text, at=begin + 30.0 * number, lang="en-US"))
        if number == SESSION_TURNS // 2:
            asked_about = content
    return turns, asked_about


def _batches(sessions: Iterator[tuple[list[Turn], Scope]]) -> Iterator[list[tuple[list[Turn], Scope]]]:
    while batch := list(islice(sessions, COMMIT_TURNS // SESSION_TURNS)):
        yield batch
