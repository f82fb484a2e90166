"""Part g: the cost that facts, their extraction and forgetting add to recording an utterance, in one run with and
without."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.corpus import BY_WORDS, CACHE, ROOT, Built, Corpus, built
from benchmarks.figures import Figure, Spread
from benchmarks.progress import say
from ovos_persona_memory.config import FactsConfig
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import Scope, Turn

SIZES = {"quick": (20_000, 400), "full": (100_000, 3000)}
FORGOTTEN = 50
"""Sessions of 20 turns that are forgotten before forgetting is measured."""
MOST_MS = 2.0
TOLD = ROOT / "test" / "data" / "household_en.json"
ASKED = (
    *("set a timer for ten minutes", "turn off the light in the kitchen", "what is the weather like tomorrow"),
    *("play some music", "add milk to the shopping list", "is it going to rain", "stop", "turn it up a bit"),
)
KINDS = ("what asks or orders something", "what tells something")
Times = tuple[list[float], list[float]]
"""Milliseconds with and without, of the same utterances."""


def run(size: str) -> list[Figure]:
    """The figures of this part."""
    turns, utterances = SIZES[size]
    base = built(Corpus(turns))
    say(f"g: {utterances} utterances behind {turns} turns, each with and without learning and forgetting")
    took: dict[str, Times] = {kind: ([], []) for kind in KINDS}
    with TemporaryDirectory(dir=CACHE) as scratch, ExitStack() as opened:
        both = [opened.enter_context(_memory(base, Path(scratch), learn)) for learn in (True, False)]
        for number in range(FORGOTTEN):
            both[0].forget(Scope(session_id=f"talk-{number}"))
        for number, (kind, turn) in enumerate(islice(_said(), utterances)):
            for place in (0, 1) if number % 2 else (1, 0):
                took[kind][place].append(_record_ms(both[place], turn))
        learned = both[0].status()["counts"]["facts"]
    every: Times = ([*took[KINDS[0]][0], *took[KINDS[1]][0]], [*took[KINDS[0]][1], *took[KINDS[1]][1]])
    note = f"{learned} facts were learned; {FORGOTTEN} sessions had been forgotten"
    return [_figure("any utterance", every, note), *(_figure(kind, times, "") for kind, times in took.items())]


def _memory(base: Built, scratch: Path, learn: bool) -> PersonaMemory:
    data = base.copy(scratch / ("with" if learn else "without"))
    return PersonaMemory.open(data, replace(BY_WORDS, facts=FactsConfig(learn=learn)))


def _said() -> Iterator[tuple[str, Turn]]:
    """What is said to an assistant: three orders and questions for each statement, a minute after one another."""
    told = [one["text"] for one in json.loads(TOLD.read_text(encoding="utf-8"))["statements"]]
    at, asked = time.time(), cycle(ASKED)
    for number, text in enumerate(cycle(told)):
        for place, (kind, one) in enumerate([*((KINDS[0], next(asked)) for _ in range(3)), (KINDS[1], text)]):
            yield kind, Turn("user", one, at=at + 60.0 * (4 * number + place), lang="en-US")


def _record_ms(memory: PersonaMemory, turn: Turn) -> float:
    began = time.perf_counter()
    memory.record([turn], Scope(session_id="bench"))
    return (time.perf_counter() - began) * 1000


def _figure(name: str, times: Times, note: str) -> Figure:
    ours, other = map(Spread.from_values, times)
    met = ours.p50 - other.p50 <= MOST_MS if name == "any utterance" else None
    target = f"at most {MOST_MS:.0f} ms more" if met is not None else ""
    return Figure("g", f"recording {name}", "ms", ours, other, "without learning", target, met, note)
