"""Moves many turns from each durable store into the next, killing the command three times on each way.

test/durability/migrate_killed.py [TURNS]: 100,000 unless given. Prints for each way the seconds, the restarts among
them, after how many turns it was killed, and whether the ends are equal; ends with status 1 where some are not.
"""

from __future__ import annotations

import os
import pty
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "test")]  # a script is run where it stands

from support.servers.postgres import FAST, Databases, running  # noqa: E402  (the line above must come first)
from support.servers.redis import RedisServer  # noqa: E402

from ovos_persona_memory.memory.migration import digests  # noqa: E402
from ovos_persona_memory.records import Turn  # noqa: E402
from ovos_persona_memory.search.record_terms import index_words  # noqa: E402
from ovos_persona_memory.stores import open_store, parse_location  # noqa: E402

SHARES = ((0.1, 0.3), (0.4, 0.6), (0.7, 0.9))
"""Between which parts of the way each kill comes."""
PART_S = 0.2
"""What shares a commit takes about so long, seconds: it is killed somewhere within."""
PROGRESS = re.compile(rb"turns: (\d+) of \d+")
WORDS = ("kitchen", "lamp", "garden", "bins", "cat", "parrot", "tuesday", "window", "cellar", "ladder", "soup", "music")
COMMAND = [sys.executable, "-c", "from ovos_persona_memory.cli import main; main()", "migrate"]


def fill(place: str, turns: int) -> None:
    """So many turns of three people in many sessions."""
    chance = random.Random(11)
    store = open_store(parse_location(place).backend, None, place=parse_location(place))
    for start in range(0, turns, 500):
        given = []
        for number in range(start, min(start + 500, turns)):
            text = " ".join(chance.choices(WORDS, k=8)) + f" {number}"
            session, user = f"session {number // 20 % 900}", ("household", "ada", "bob")[number % 3]
            turn = Turn("user", text, float(number), id=f"turn-{number}", session_id=session, user_id=user)
            given.append((turn, index_words(turn)))
        store.add_turns(given)
    store.close()


def told(place: str) -> list[str]:
    """The digests of a store."""
    store = open_store(parse_location(place).backend, None, place=parse_location(place))
    try:
        return [f"{one.section} {one.count} {one.sha256}" for one in digests(store)]
    finally:
        store.close()


def killed(source: str, target: str, after: int) -> int:
    """Begin or go on, and kill it when it says that so many turns are done; how many were."""
    ours, theirs = pty.openpty()  # it tells how far it is to a terminal alone
    with subprocess.Popen([*COMMAND, source, target], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=theirs) as child:
        os.close(theirs)
        said, done = b"", 0
        while done < after:
            try:
                said = said[-1000:] + os.read(ours, 4096)
            except OSError:
                break  # it has ended
            done = max([done, *map(int, PROGRESS.findall(said))])
        time.sleep(random.uniform(0, PART_S))
        child.send_signal(signal.SIGKILL)
    os.close(ours)
    if child.returncode != -signal.SIGKILL:
        raise SystemExit(f"it could not be killed, and ended with {child.returncode}: {said!r}")
    return done


def move(source: str, target: str, turns: int) -> list[int]:
    """Move, killed on the way; after how many turns each time."""
    chance = random.Random(f"{source} {target}")
    kills = [killed(source, target, round(chance.uniform(*share) * turns)) for share in SHARES]
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run([*COMMAND, source, target], cwd=ROOT, check=True, **silent)
    return kills


def main() -> int:
    """Around all stores."""
    turns, equal = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000, True
    with running(**FAST) as server, RedisServer() as redis, tempfile.TemporaryDirectory() as folder:
        databases = Databases(server)
        first, last = f"{folder}/one", f"{folder}/last"
        way = [first, databases.fresh(), f"{folder}/two", redis.url, databases.fresh(), f"{redis.url}#b", last]
        fill(first, turns)
        wanted = told(first)
        for source, target in pairwise(way):
            began = time.monotonic()
            kills = move(source, target, turns)
            took = time.monotonic() - began
            same = told(target) == wanted
            equal = equal and same
            names = " to ".join(parse_location(one).backend for one in (source, target))
            print(f"{names}: {turns} turns, {took:.0f} s, killed after {kills}, equal: {same}", flush=True)
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
