"""Part j: how long another session waits while the longest text is recorded, beside the same without it."""

from __future__ import annotations

import itertools
import json
import random
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.asking import BenchTransport, connected, timed_ms
from benchmarks.corpus import CACHE, ROOT, Asked, Corpus, built
from benchmarks.figures import Figure, Spread
from benchmarks.progress import say
from benchmarks.requests import ANY_AGE
from benchmarks.services import stack
from ovos_persona_memory.records import Scope

SIZES = {"quick": (5_000, 12), "full": (100_000, 100)}
WORDS, CHARACTERS = 3040, 16_384
"""Size of the longest text: what speech recognition writes in some twenty minutes, and what a request may hold."""
SHORT = "ten words"
"""The text that a longer one is compared with: its recording is waited for, too."""
MOST_MS = 50.0
ANSWERED_S, PAUSE_S = 120.0, 0.3
"""Timeout of an answer, and the pause after each in which postponed work is done, seconds."""
Times = dict[str, list[float]]
Texts = Iterator[tuple[str, str]]


def run(size: str) -> list[Figure]:
    """The figures of this part."""
    turns, rounds = SIZES[size]
    base = built(Corpus(turns))
    with stack() as services, TemporaryDirectory(dir=CACHE) as scratch:
        services.start_daemon(base.copy(Path(scratch) / "data"))
        say(f"j: {rounds} contexts alone, and behind each kind of text, {turns} turns stored")
        transport = connected(services.port)
        try:
            behind, alone, took = _rounds(transport, itertools.cycle(base.questions), rounds)
        finally:
            transport.close()
    return [_figure(kind, behind, alone, took) for kind in behind]


def _rounds(transport: BenchTransport, asked: Iterator[Asked], rounds: int) -> tuple[Times, Times, Times]:
    """Milliseconds of contexts right behind a recording of each kind, of others alone, and of the recordings."""
    behind, alone, took = (defaultdict[str, list[float]](list) for _ in range(3))
    every = {kind: texts() for kind, texts in KINDS.items()}
    for number in range(rounds + 1):
        for kind, texts in every.items():
            by_itself = _context(transport, next(asked))
            recorded = _record(transport, *next(texts))
            right_behind = _context(transport, next(asked))
            recording = recorded()
            if number:  # the first round reads the languages
                alone[kind].append(by_itself)
                behind[kind].append(right_behind)
                took[kind].append(recording)
            time.sleep(PAUSE_S)
    return behind, alone, took


def _context(transport: BenchTransport, one: Asked) -> float:
    return timed_ms(transport, "context", {"utterance": one.text, **ANY_AGE}, one.session_id)


def _record(transport: BenchTransport, text: str, lang: str) -> Callable[[], float]:
    """Record a text on the same connection, so that later requests follow it; the returned function waits for the
    answer and gives the daemon's own time for it, milliseconds."""
    known, answered, took = f"long-{random.getrandbits(64)}", threading.Event(), [0.0]

    def arrived(request_id: str, answer: Mapping[str, Any]) -> None:
        if request_id == known:
            took[0] = float(answer["took_ms"])
            answered.set()

    transport.listeners.append(arrived)
    turns = [{"role": "user", "text": text, "lang": lang}]
    transport.tell("record", {"turns": turns, "request_id": known}, Scope(session_id="long"))

    def wait() -> float:
        if not answered.wait(ANSWERED_S):
            raise RuntimeError("a long text was not recorded in time")
        transport.listeners.remove(arrived)
        return took[0]

    return wait


def _figure(kind: str, behind: Times, alone: Times, took: Times) -> Figure:
    ours, other, recording = map(Spread.from_values, (behind[kind], alone[kind], took[kind]))
    note = f"recording it took {recording.p50:.0f} ms (p50), {recording.p95:.0f} ms (p95)"
    name = f"context while {kind} are recorded"
    if kind == SHORT:
        return Figure("j", name, "ms", ours, other, "the same alone", note=note)
    met = ours.p95 <= Spread.from_values(behind[SHORT]).p95 + MOST_MS
    target = f"p95 at most {MOST_MS:.0f} ms over that of {SHORT}"
    return Figure("j", name, "ms", ours, other, "the same alone", target, met, note)


def _talk(lang: str, number: int) -> Texts:
    """This many words of household talk without a full stop, each time in another order."""
    path = ROOT / "test" / "data" / f"household_{lang[:2]}.json"
    said = [one["text"].rstrip(".") for one in json.loads(path.read_text(encoding="utf-8"))["statements"]]
    order = random.Random(17)
    while True:
        words = itertools.cycle(word for text in order.sample(said, len(said)) for word in text.split())
        yield " ".join(itertools.islice(words, number))[:CHARACTERS], lang


def _unspaced(letters: str, lang: str) -> Texts:
    """Letters without a blank between them."""
    some = random.Random(19)
    while True:
        yield "".join(some.choices(letters, k=CHARACTERS)), lang


KINDS: dict[str, Callable[[], Texts]] = {
    SHORT: lambda: _talk("en-US", 10),
    "3,040 words in English": lambda: _talk("en-US", WORDS),
    "3,040 words in German": lambda: _talk("de-DE", WORDS),
    "16,384 letters without a blank": lambda: _unspaced("abcdefghijklmnopqrstuvwxyz", "en-US"),
    "16,384 characters of Thai": lambda: _unspaced("กขคงจชซญดตถทธนบปผพฟมยรลวศสหอะาิีุูเแโใไ", "th-TH"),
}
