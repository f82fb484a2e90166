"""Part k: how long contexts take while language models work in the background, beside the same without any."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from support.model_server import ModelServer

from benchmarks.asking import PATIENCE, BenchTransport, connected, timed_ms
from benchmarks.corpus import CACHE, Asked, Corpus, Talk, built
from benchmarks.figures import Figure, Spread
from benchmarks.progress import say
from benchmarks.requests import ANY_AGE
from benchmarks.services import BY_WORDS, stack
from ovos_persona_memory.records import Scope

SIZES = {"quick": (5_000, 15), "full": (100_000, 200)}
"""Turns stored, and rounds: in each an exchange is recorded, and contexts are asked for."""
ASKED = 4
"""Contexts in a round, of each daemon, in turns."""
QUIET_S, PAUSE_S = 0.25, 0.5
"""``models.quiet_s``, and the pause before each round, seconds: jobs begin in it, and are under way in the round."""
MODEL_S = 0.6
"""A model answers after any time up to this, seconds."""
SHARE = 1.1
PLUGIN = "ovos-chat-openai-plugin"
TALK = Scope(session_id="talk")
THRESHOLD = 30
NEVER = 1_000_000


class _Model(ModelServer):
    """Answers whatever it is asked, some time later."""

    def __init__(self) -> None:
        super().__init__()
        self._chance = random.Random(31)

    def reply(self) -> str:
        time.sleep(self._chance.random() * MODEL_S)
        return '[{"tool": "memory_add", "content": "the user has a parrot", "turns": [1]}]'


def run(size: str) -> list[Figure]:
    """The figures of this part."""
    turns, rounds = SIZES[size]
    base, model = built(Corpus(turns)), _Model()
    kinds = {
        "quiet": _with_jobs(model.url, QUIET_S),
        "busy": _with_jobs(model.url, 0.0),
        "none": {"history": _history(NEVER)},
    }
    transports: dict[str, BenchTransport] = {}
    with ExitStack() as opened, TemporaryDirectory(dir=CACHE) as scratch:
        for name, settings in kinds.items():
            services = opened.enter_context(stack({**BY_WORDS, **settings}))
            services.start_daemon(base.copy(Path(scratch) / name))
            transports[name] = connected(services.port)
            opened.callback(transports[name].close)
        say(f"k: {rounds * ASKED} contexts with jobs under way, and as many without, {turns} turns stored")
        took = _rounds(transports, itertools.cycle(base.questions), rounds)
        calls = {name: one.ask("status", {}, Scope(), PATIENCE)["models"]["calls"] for name, one in transports.items()}
    model.close()
    spread = {name: Spread.from_values(values) for name, values in took.items()}
    return [_figure(name, spread, calls[name], rounds) for name in ("quiet", "busy")]


def _figure(name: str, spread: Mapping[str, Spread], calls: int, rounds: int) -> Figure:
    ours, other, note = spread[name], spread["none"], f"{calls} calls of a model in {rounds} rounds"
    if name == "busy":
        return Figure("k", "context, jobs pause for nobody", "ms", ours, other, "no jobs", note=note)
    met = ours.p95 <= other.p95 * SHARE and calls > rounds / 10
    target = f"p95 at most {SHARE:.1f} x that without"
    return Figure("k", "context while jobs are done", "ms", ours, other, "no jobs", target, met, note)


def _with_jobs(url: str, quiet_s: float) -> Mapping[str, Any]:
    limits = {"quiet_s": quiet_s, "calls_per_day": None, "tokens_per_day": None}
    plugins = {PLUGIN: {"api_url": url, "key": "none", "model": "bench"}}
    return {
        "history": _history(THRESHOLD),
        "models": {"summary": PLUGIN, "facts": PLUGIN, "plugins": plugins, **limits},
        "introspection": {"model": PLUGIN, "turn_interval": 2},
    }


def _history(threshold: int) -> Mapping[str, Any]:
    return {"strategy": "summary", "window_size": 20, "summary_threshold": threshold}


def _rounds(transports: Mapping[str, BenchTransport], asked: Iterator[Asked], rounds: int) -> dict[str, list[float]]:
    """Milliseconds of each context, by the kind of daemon."""
    took: dict[str, list[float]] = {name: [] for name in transports}
    said = Talk(seed=23)
    for number in range(rounds + 1):
        exchange = [{"role": role, "text": said.sentence()[0]} for role in ("user", "assistant")]
        time.sleep(PAUSE_S)
        for place in range(ASKED):
            one = next(asked)
            for name in rotated(list(transports), number + place):
                fields = {"utterance": one.text, **ANY_AGE}
                values = timed_ms(transports[name], "context", fields, one.session_id)
                took[name] += [values] if number else []  # the first round warms everything up
        for transport in transports.values():
            transport.ask("record", {"turns": exchange}, TALK, PATIENCE)
    return took


def rotated(names: list[str], by: int) -> list[str]:
    """The same in the same order, from another one on."""
    return names[by % len(names) :] + names[: by % len(names)]
