#!/usr/bin/env python3
"""Talk for a year in one session while a model summarises it, and kill the process again and again.

A child process records exchange after exchange and has the summaries written by the real OpenAI plugin, which asks a
server on loopback that fails now and then. It is killed with SIGKILL at seeded exchanges: while the model works, right
behind its answer, or anywhere. Each summary of the server has a number, and the next request shows the summary before
it: so the requests whose answers were kept are a chain. It is good if these show every turn exactly once, in order,
together with what is still in the window. A line of JSON; status 1 where it is not good.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import re
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from itertools import pairwise
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "test")]  # a script is run where it stands

from support.model_server import Fault, ModelServer  # noqa: E402  (the line above must come first)

from ovos_persona_memory.config import parse  # noqa: E402
from ovos_persona_memory.memory import PersonaMemory  # noqa: E402
from ovos_persona_memory.records import Scope, ToolCall, Turn  # noqa: E402
from ovos_persona_memory.service.job_worker import JobWorker  # noqa: E402

HERE = Scope(session_id="year")
PLUGIN, PLUGIN_MODULE = "ovos-chat-openai-plugin", "ovos_openai_plugin.chat"
BEGUN, YEAR_S = 1_764_000_000.0, 365 * 86400.0
WINDOW, THRESHOLD = 20, 40
PAUSE_S = 0.002
"""Between two exchanges."""
PATIENCE_S = 60.0
"""So long is waited for what has to happen."""
FAULTS: tuple[Fault, ...] = ("error", "half", "dropped", "empty", "nonsense")
FAULTY = 0.1
"""So many of the requests fail."""
SAID, BEFORE = re.compile(r"turn (\d{5})"), re.compile(r"Summary (\d+)\.")


class Numbering(ModelServer):
    """Answers each request with its number, and fails now and then."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__()
        self._chance, self._mine = chance, threading.local()

    def take(self, body: dict[str, Any], headers: dict[str, str]) -> Fault:
        self._mine.number = len(self.requests)
        fault = super().take(body, headers)
        return fault or (self._chance.choice(FAULTS) if self._chance.random() < FAULTY else "")

    def reply(self) -> str:
        return f"Summary {self._mine.number}."


def exchanges(turns: int, seed: int) -> list[list[Turn]]:
    """At least so many turns, each with its number: questions with an answer, with two, and with the use of a tool."""
    chance, made, number = random.Random(seed), list[list[Turn]](), 0
    while number < turns:
        kind = chance.random()
        told = [Turn("user", ""), Turn("assistant", "")]
        if kind < 0.1:
            told.append(Turn("assistant", ""))
        elif kind < 0.2:
            call = f"call-{number}"
            used = Turn("assistant", "", tool_calls=(ToolCall(call, "look_up", {"day": "today"}),))
            told[1:1] = [used, Turn("tool", "", tool_call_id=call, name="look_up")]
        numbered = [Turn(**{**vars_of(one), "text": f"turn {number + place:05d}"}) for place, one in enumerate(told)]
        made.append(numbered)
        number += len(numbered)
    return made


def vars_of(turn: Turn) -> dict[str, Any]:
    """What is set in a turn that is made here."""
    return {"role": turn.role, "tool_calls": turn.tool_calls, "tool_call_id": turn.tool_call_id, "name": turn.name}


class Clock:
    """The year goes by with what is said."""

    def __init__(self, whole: int) -> None:
        self._step_s, self.now = YEAR_S / whole, BEGUN

    def __call__(self) -> float:
        return self.now

    def said(self, turns: int) -> None:
        """So many turns were said by now."""
        self.now = BEGUN + turns * self._step_s


def talk(folder: str, url: str, turns: int, seed: int, told: Connection) -> None:
    """Say what is not said yet, and have it summarised; the child process. It tells how many turns were said."""
    models = {
        "summary": PLUGIN,
        "plugins": {PLUGIN: {"api_url": url, "key": "none", "model": "test"}},
        **{"quiet_s": 0.0, "calls_per_day": None, "tokens_per_day": None},
    }
    history = {"strategy": "summary", "summary_threshold": THRESHOLD, "window_size": WINDOW, "max_age_s": 1e12}
    config = parse({"history": history, "models": models, "recall": {"embedder": "none"}, "data_dir": folder})
    planned = exchanges(turns, seed)
    clock = Clock(sum(map(len, planned)))
    with PersonaMemory.open(config=config, clock=clock) as memory:
        said = memory.status()["counts"]["turns"]
        clock.said(said)
        worker = JobWorker(lambda: memory, config.models)
        worker.serve(memory)
        worker.start()
        while not memory.models:
            time.sleep(PAUSE_S)
        told.send(said)
        for exchange in planned:
            if int(exchange[0].text[-5:]) >= said:
                time.sleep(PAUSE_S)
                memory.record(exchange, HERE)
                said += len(exchange)
                clock.said(said)
                told.send(said)
        while memory.jobs.waiting():  # what failed is tried again later: later comes
            clock.now += 3600.0
            worker.wake()
            time.sleep(0.02)
        worker.stop()
    told.send(None)


def kill_at(kills: int, turns: int, seed: int) -> list[tuple[int, str]]:
    """After how many turns it is killed, and how."""
    chance = random.Random(seed + 1)
    return [
        (at, chance.choice(("asking", "answered", "anywhere"))) for at in sorted(chance.sample(range(1, turns), kills))
    ]


def run(folder: str, server: ModelServer, turns: int, kills: int, seed: int) -> int:
    """Talk to the end; how often it was killed."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["__main__", PLUGIN_MODULE])
    chance, planned, killed = random.Random(seed + 2), kill_at(kills, turns, seed), 0
    while True:
        heard, tells = context.Pipe(duplex=False)
        child = context.Process(target=talk, args=(folder, server.url, turns, seed, tells), daemon=True)
        child.start()
        tells.close()
        at, how = planned.pop(0) if planned else (None, "")
        while True:
            said = heard.recv()
            if said is None:
                child.join(PATIENCE_S)
                return killed
            if at is not None and said >= at:
                break
        wait_for_the_moment(server, how, chance)
        child.kill()
        child.join()
        killed += 1


def wait_for_the_moment(server: ModelServer, how: str, chance: random.Random) -> None:
    """Return when the child is to be killed."""
    while server.arrived.acquire(blocking=False):
        pass
    if how == "asking":
        server.faults.append("slow")
    if how == "anywhere" or not server.arrived.acquire(timeout=2.0):
        server.faults.clear()
    time.sleep(chance.random() * 0.03)


def kept(server: ModelServer, last: str) -> list[int]:
    """The numbers of the requests whose answers were kept, in order, by what each was told of the one before."""
    chain = list[int]()
    found = BEFORE.search(last)
    while found is not None:
        chain.append(int(found[1]))
        found = BEFORE.search(asked(server, chain[-1]))
    return chain[::-1]


def asked(server: ModelServer, number: int) -> str:
    """The text of a request."""
    return "\n".join(text for _, text in server.messages(number))


def shown_in(text: str) -> list[int]:
    return [int(number) for number in SAID.findall(text)]


def wrong_with(shown: Sequence[int], whole: int) -> dict[str, list[int]]:
    """Which turns are missing, shown twice, or not in their place."""
    times = [0] * whole
    for number in shown:
        times[number] += 1
    return {
        "missing": [number for number, often in enumerate(times) if not often],
        "double": [number for number, often in enumerate(times) if often > 1],
        "misplaced": [later for earlier, later in pairwise(shown) if later < earlier],
    }


def main() -> int:
    """Run it, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=5000)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=29)
    given = parser.parse_args()
    server, begun = Numbering(random.Random(given.seed)), time.monotonic()
    whole = sum(map(len, exchanges(given.turns, given.seed)))
    with tempfile.TemporaryDirectory() as folder:
        killed = run(folder, server, given.turns, given.kills, given.seed)
        settings = {"data_dir": folder, "recall": {"embedder": "none"}, "history": {"max_age_s": 1e12}}
        with PersonaMemory.open(config=parse(settings)) as memory:
            left = [message.text for message in memory.history(HERE, max_history=None)]
            last = memory.snapshot(HERE)["summary"] or ""
            logged = memory.status()["counts"]["turns"]
            jobs = len(memory.jobs.waiting())
    chain = kept(server, last)
    server.close()
    summarised = [number for request in chain for number in shown_in(asked(server, request))]
    wrong = wrong_with([*summarised, *shown_in("\n".join(left))], whole)
    found = {
        "ok": not any(wrong.values()) and logged == whole and jobs == 0 and killed == given.kills,
        **{"turns": whole, "logged": logged, "kills": killed, "requests": len(server.requests)},
        **{"kept": len(chain), "summarised": len(summarised), "in_window": whole - len(set(summarised))},
        **wrong,
        "took_s": round(time.monotonic() - begun, 1),
    }
    print(json.dumps(found))
    return 0 if found["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
