"""Moves many turns from each durable store into the next, killing the command three times on each way.

scripts/migrate_killed.py [TURNS]: 100,000 unless given. Prints for each way the seconds and whether the ends are equal.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # a script is run where it stands

from postgres_server import FAST, Databases, running  # noqa: E402  (the line above must come first)
from redis_server import RedisServer  # noqa: E402

from ovos_persona_memory.migrating import digests  # noqa: E402
from ovos_persona_memory.records import Turn  # noqa: E402
from ovos_persona_memory.stores import open_store, place_of  # noqa: E402
from ovos_persona_memory.wording import index_words  # noqa: E402

KILLS = 3
WORDS = ("kitchen", "lamp", "garden", "bins", "cat", "parrot", "tuesday", "window", "cellar", "ladder", "soup", "music")
COMMAND = [sys.executable, "-c", "from ovos_persona_memory.cli import main; main()", "migrate"]


def fill(place: str, turns: int) -> None:
    """So many turns of three people in many sessions."""
    chance = random.Random(11)
    store = open_store(place_of(place).backend, None, place=place_of(place))
    for start in range(0, turns, 500):
        with store.transaction():
            for number in range(start, min(start + 500, turns)):
                text = " ".join(chance.choices(WORDS, k=8)) + f" {number}"
                session, user = f"session {number // 20 % 900}", ("household", "ada", "bob")[number % 3]
                turn = Turn("user", text, float(number), id=f"turn-{number}", session_id=session, user_id=user)
                store.add_turn(turn, index_words(turn))
    store.close()


def told(place: str) -> list[str]:
    """The digests of a store."""
    store = open_store(place_of(place).backend, None, place=place_of(place))
    try:
        return [f"{one.section} {one.count} {one.sha256}" for one in digests(store)]
    finally:
        store.close()


def move(source: str, target: str, after_s: float) -> None:
    """Move, killed three times so long after each start."""
    for _ in range(KILLS):
        with subprocess.Popen([*COMMAND, source, target], cwd=ROOT, stdout=subprocess.DEVNULL) as child:
            try:
                child.wait(after_s)
                raise SystemExit("it was done before it could be killed: name more turns")
            except subprocess.TimeoutExpired:
                child.send_signal(signal.SIGKILL)
    subprocess.run([*COMMAND, source, target], cwd=ROOT, check=True)


def main() -> None:
    """Around all stores."""
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    after_s = 2.0 + turns / 10_000
    with running(**FAST) as server, RedisServer() as redis, tempfile.TemporaryDirectory() as folder:
        databases = Databases(server)
        first, last = f"{folder}/one", f"{folder}/last"
        way = [first, databases.fresh(), f"{folder}/two", redis.url, databases.fresh(), f"{redis.url}#b", last]
        fill(first, turns)
        wanted = told(first)
        for source, target in pairwise(way):
            began = time.monotonic()
            move(source, target, after_s)
            names = " to ".join(place_of(one).backend for one in (source, target))
            print(f"{names}: {time.monotonic() - began:.0f} s, equal: {told(target) == wanted}", flush=True)


if __name__ == "__main__":
    main()
