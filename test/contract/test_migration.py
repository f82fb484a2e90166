"""Everything of one store comes over into another, wherever it is cut short; real servers all of them."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.filled import TURNS, fill, opened
from support.letters import Letters
from support.servers.chroma import ChromaServer
from support.servers.redis import RedisServer

from ovos_persona_memory.cli.program import program
from ovos_persona_memory.config import parse
from ovos_persona_memory.errors import ConfigError, InvalidRequest, StoreError
from ovos_persona_memory.memory import Migration, PersonaMemory
from ovos_persona_memory.memory.importing import read_foreign
from ovos_persona_memory.memory.migration import digests
from ovos_persona_memory.records import Scope
from ovos_persona_memory.stores import open_stores
from ovos_persona_memory.stores.base.folder_lock import FolderLock

Python = Callable[..., subprocess.Popen[str]]


CUT = """
import os, signal, sys
from ovos_persona_memory.memory import migration as migrating
from ovos_persona_memory.stores import open_store, parse_location
from ovos_persona_memory.stores.redis import connection as redis_database

migrating.TOGETHER = 40
redis_database.LOCK_MS = 1500
words, count = migrating.index_words, 0

def cut(record):
    global count
    count += 1
    if count == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)
    return words(record)

migrating.index_words = cut
source, target = (open_store(parse_location(one).backend, None, place=parse_location(one)) for one in sys.argv[1:3])
for one in migrating.Migration(source, target, ["default", "own"]).run():
    print(one.section, one.count, one.sha256)
"""


UNAPPLIED = """
def unapplied(self, record):
    if record.commit == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)
    return applied(self, record)

applied, redis_database.RedisDatabase._apply = redis_database.RedisDatabase._apply, unapplied
"""


@pytest.fixture
def places(tmp_path: Path, postgres: Callable[[], str], redis_server: RedisServer) -> dict[str, str]:
    """A place of each durable backend, and a second one of some."""
    found = {"sqlite": str(tmp_path / "one"), "other sqlite": str(tmp_path / "two"), "redis": redis_server.url}
    return {
        **found,
        "postgres": f"{postgres()}",
        "other postgres": f"{postgres()}",
        "other redis": f"{redis_server.url}#b",
    }


def finished(python: Python, source: str, target: str) -> str:
    """The digests, after the migration was killed three times on its way."""
    for after in (37, 45, 41):
        with python(CUT, source, target, after) as child:
            child.communicate(timeout=120)
        assert child.returncode == -signal.SIGKILL
    with python(CUT, source, target, 0) as child:
        out, err = child.communicate(timeout=120)
    assert not child.returncode, err
    return out


@pytest.mark.full
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("sqlite", "postgres"),
        ("postgres", "sqlite"),
        ("sqlite", "redis"),
        ("redis", "postgres"),
        ("postgres", "redis"),
        ("redis", "sqlite"),
    ],
)
def test_a_migration_killed_three_times_ends_equal(
    one: str, other: str, places: dict[str, str], python: Python
) -> None:
    fill(places[one], documents="redis" not in one + other)
    source = opened(places[one])
    before = digests(source, ["default", "own"])
    source.close()
    told = finished(python, places[one], places[other])
    source, target = opened(places[one]), opened(places[other])
    try:
        assert digests(source, ["default", "own"]) == before
        assert digests(target, ["default", "own"]) == before
        assert told.splitlines()[: len(before) - 1] == [f"{d.section} {d.count} {d.sha256}" for d in before[:-1]]
        counts = {digest.section: digest.count for digest in before}
        assert {name for name, count in counts.items() if count == 0} <= {"documents"}
        assert counts["turns"] > TURNS - 8
        assert target.search(["talk"], Scope(), frozenset({"turn"}), 5)
        note = target.note("ada", "session 1")
        assert note is not None
        assert target.turns(Scope("session 1", "ada"))[3].seq == note.trimmed_to
        memory = PersonaMemory(target, parse({}))
        ledger = memory.transcript.ledger
        assert ledger.was_forgotten("household", "my cat is called Bob0", None)
        assert not ledger.was_forgotten("household", "my cat is called Bob2", None)
    finally:
        source.close()
        target.close()


@pytest.mark.full
def test_a_target_whose_last_commit_was_cut_short_takes_up_behind_it(
    tmp_path: Path, redis_server: RedisServer, python: Python
) -> None:
    fill(str(tmp_path / "one"), documents=False)
    with python(CUT.replace("migrating.index_words = cut", UNAPPLIED), tmp_path / "one", redis_server.url, 3) as child:
        child.communicate(timeout=120)
    assert child.returncode == -signal.SIGKILL
    with python(CUT, tmp_path / "one", redis_server.url, 0) as child:
        out, err = child.communicate(timeout=120)
    assert not child.returncode, err
    assert out.startswith("turns 159 ")


@pytest.mark.full
def test_what_has_its_vectors_on_chroma_comes_over_and_gets_them_anew(
    tmp_path: Path, chroma_server: ChromaServer
) -> None:
    kinds = {name: {"backend": "sqlite"} for name in ("conversational", "facts", "episodic")}
    kinds["semantic"] = {"backend": "chroma", "connection": chroma_server.url}
    settings = {"data_dir": str(tmp_path / "beside"), "kinds": kinds, "recall": {"embedder": "letters"}}
    fill(str(tmp_path / "one"))
    source, beside = opened(str(tmp_path / "one")), open_stores(parse(settings))
    before = digests(source, ["default", "own"])
    Migration(source, beside, ["default", "own"]).run()
    source.close()
    beside.close()
    assert sum(map(len, chroma_server.everything().values())) == 0
    with PersonaMemory.open(config=parse(settings), opener=lambda _: Letters()) as memory:
        until = time.monotonic() + 60
        while (lag := memory.status()["index_lag"]) and time.monotonic() < until:
            time.sleep(0.05)
        counts = memory.status()["counts"]
        assert lag == 0
        assert sum(map(len, chroma_server.everything().values())) == counts["turns"] + counts["entries"]
    beside, back = open_stores(parse(settings)), opened(str(tmp_path / "back"))
    Migration(beside, back, ["default", "own"]).run()
    assert digests(back, ["default", "own"]) == before
    beside.close()
    back.close()


def test_a_target_that_holds_something_else_is_refused(tmp_path: Path) -> None:
    one, other = str(tmp_path / "one"), str(tmp_path / "other")
    fill(one)
    fill(other)
    source, target = opened(one), opened(other)
    with pytest.raises(ConfigError, match="not empty"):
        Migration(source, target, ["default", "own"]).run()
    with pytest.raises(ConfigError, match="1 document is in another namespace: name it with"):
        Migration(source, target).run()
    source.close()
    target.close()


def test_what_is_changed_meanwhile_is_noticed(tmp_path: Path) -> None:
    fill(str(tmp_path / "one"))
    source, target = opened(str(tmp_path / "one")), opened(str(tmp_path / "other"))

    def meddle(section: str, done: int, total: int) -> None:
        if (section, done) == ("documents", total):
            turn = target.turn("turn-5")
            assert turn is not None
            target.change_turn(replace(turn, text="something else"), "")

    with pytest.raises(StoreError, match="differ in turns"):
        Migration(source, target, ["default", "own"]).run(meddle)
    source.close()
    target.close()


# the command line


def run(*words: str) -> Any:
    return CliRunner().invoke(program, list(words))


def test_the_command_migrates_and_says_what_came_over(tmp_path: Path, postgres: Callable[[], str]) -> None:
    one, url = tmp_path / "one", postgres()
    fill(str(one))
    (tmp_path / "url").write_text(f"{url}#attic")
    done = run("--data", str(one), "migrate", str(one), f"file:{tmp_path}/url", "--namespace", "own", "--json")
    assert done.exit_code == 0, done.output
    found = {row["section"]: row["count"] for row in json.loads(done.stdout)}
    assert (found["memories"], found["documents"], found["turns"] > 150) == (5, 2, True)
    back = run("migrate", f"file:{tmp_path}/url", str(tmp_path / "two"), "--namespace", "own")
    assert back.exit_code == 0, back.output
    assert "turns" in back.stdout
    again = run("migrate", str(one), str(tmp_path / "two"), "--namespace", "own")
    assert again.exit_code != 0
    assert "not empty" in again.output
    assert run("migrate", str(one), str(one)).exit_code != 0
    assert "is the beginning of no place" in run("migrate", str(one), "mysql://x").output


# from the neighbour


def test_what_the_neighbour_kept_is_taken_in_once(tmp_path: Path) -> None:
    """Files as ovos-memory-plugins 1.2.3a1 writes them."""
    recent = [{"role": "user", "content": "my dog is called Rex"}, {"role": "assistant", "content": "what a name"}]
    record = {"summary": "they talked of Rex", "recent": recent, "exchange_count": 1, "updated_at": 1795000000.0}
    (tmp_path / "longterm.json").write_text(json.dumps({"s1": record}, indent=2))
    (tmp_path / "entity.json").write_text(json.dumps({"s1": {"facts": ["The user lives in Porto", "my pin is 4711"]}}))
    longterm = sqlite3.connect(tmp_path / "longterm.db")
    longterm.execute(
        "CREATE TABLE IF NOT EXISTS sessions "
        "(session_id TEXT PRIMARY KEY, summary TEXT, recent TEXT, exchange_count INTEGER, updated_at REAL)"
    )
    longterm.execute("INSERT INTO sessions VALUES ('s2', '', ?, 1, 1795000100.0)", (json.dumps(recent),))
    longterm.commit()
    longterm.close()
    lexical = sqlite3.connect(tmp_path / "lexical.db")
    lexical.execute("CREATE VIRTUAL TABLE lexical_memory USING fts5(doc_id UNINDEXED, session_id UNINDEXED, content)")
    lexical.execute(
        "INSERT INTO lexical_memory VALUES ('d1', 's3', 'Q: where is the ladder\nA: in the barn\nbehind it')"
    )
    lexical.commit()
    lexical.close()
    files = [str(tmp_path / name) for name in ("longterm.json", "entity.json", "longterm.db", "lexical.db")]
    before = {path: Path(path).read_bytes() for path in files}
    for _ in range(2):
        done = run("--data", str(tmp_path / "memory"), "import", *files, "--json")
        assert done.exit_code == 0, done.output
        told = json.loads(done.stdout)
        assert told == {"sessions": 4, "turns": 6, "memories": 1, "summaries": 1, "refused": 1}
    assert {path: Path(path).read_bytes() for path in files} == before
    with PersonaMemory.open(tmp_path / "memory") as memory:
        counts = memory.status()["counts"]
        assert (counts["turns"], counts["entries"]) == (6, 1)
        assert "in the barn\nbehind it" in [hit.text for hit in memory.recall("where did I put the ladder", Scope())]
        assert memory.recall("what is my dog called", Scope())[0].sure
        messages = memory.history(Scope("s2"), hanging=True)
        assert [(one.role, one.text) for one in messages] == [(one["role"], one["content"]) for one in recent]


def test_nothing_is_taken_in_where_a_file_is_missing(tmp_path: Path) -> None:
    there, missing = tmp_path / "longterm.json", tmp_path / "no such file.json"
    there.write_text(json.dumps({"s1": {"summary": "a talk", "recent": []}}))
    done = run("--data", str(tmp_path / "memory"), "import", str(there), str(missing))
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", f"{missing}: there is no such file\n")
    assert not (tmp_path / "memory").exists()
    with pytest.raises(InvalidRequest, match=r"no such file\.json: cannot be read: No such file"):
        read_foreign(missing)


def test_a_folder_without_a_memory_cannot_be_migrated_and_gets_none(tmp_path: Path) -> None:
    done = run("migrate", str(tmp_path / "from"), str(tmp_path / "to"))
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", f"there is no memory in {tmp_path / 'from'}\n")
    assert list(tmp_path.iterdir()) == []


def test_migrating_waits_for_whoever_has_the_memory_open(tmp_path: Path) -> None:
    fill(str(tmp_path / "one"))
    lock = FolderLock(tmp_path / "one")
    release = threading.Timer(0.3, lock.release)
    release.start()
    done = run("migrate", str(tmp_path / "one"), str(tmp_path / "other"), "--namespace", "own")
    release.join()
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize("content", [b"", b"[1]", b'{"s": 5}', b"SQLite format 3\0rest"])
def test_a_file_of_somebody_else_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(InvalidRequest, match="no file of ovos-memory-plugins"):
        read_foreign(path)


@pytest.mark.parametrize("with_secrets", [False, True])
def test_secrets_come_along_where_that_is_asked_for_alone(tmp_path: Path, with_secrets: bool) -> None:
    one, other = str(tmp_path / "one"), str(tmp_path / "two")
    with PersonaMemory.open(one) as memory:
        memory.remember("the pin is zyxquark", key="pin", lang="en-US", secret=True)
        memory.remember("the bins go out on Tuesday", key="bins", lang="en-US")
    flag = ["--with-secrets"] if with_secrets else []
    done = CliRunner().invoke(program, ["migrate", one, other, *flag])
    assert done.exit_code == 0, done.output
    assert ("Secrets left out: 1." in done.stderr) != with_secrets
    with PersonaMemory.open(other) as memory:
        assert [entry.key for entry in memory.list(secrets=True)] == (["bins", "pin"] if with_secrets else ["bins"])
    held = b"".join(path.read_bytes() for path in Path(other).iterdir() if path.is_file())
    assert (b"zyxquark" in held) == with_secrets
