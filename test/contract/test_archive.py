"""Exports, backups and their way back: equal by digest, while recording goes on; what others have kept comes in."""

from __future__ import annotations

import json
import re
import sqlite3
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from support.filled import fill, opened
from support.servers.redis import RedisServer

from ovos_persona_memory.cli.program import program
from ovos_persona_memory.config import parse
from ovos_persona_memory.errors import InvalidRequest, StoreError
from ovos_persona_memory.memory import PersonaMemory, archive
from ovos_persona_memory.memory.importing import LONGEST, deliveries, read_foreign
from ovos_persona_memory.memory.migration import Digest, digests
from ovos_persona_memory.memory.privacy import backups
from ovos_persona_memory.records import Scope, Turn

NAMES = ["default", "own"]
OWN = ("--namespace", "own")


def run(folder: Path | str, *words: str) -> Result:
    return CliRunner().invoke(program, ["--data", str(folder), *words])


def done(folder: Path | str, *words: str) -> Result:
    result = run(folder, *words)
    assert result.exit_code == 0, result.output
    return result


def digests_of(place: Path | str) -> list[Digest]:
    store = opened(str(place))
    try:
        return digests(store, NAMES)
    finally:
        store.close()


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    fill(str(tmp_path / "one"))
    return tmp_path / "one"


@contextmanager
def recording(folder: Path) -> Iterator[PersonaMemory]:
    """A memory that goes on recording, on another thread."""
    ended, begun = threading.Event(), threading.Event()
    with PersonaMemory.open(folder) as memory:

        def record() -> None:
            number = 0
            while not ended.is_set():
                memory.record([Turn("user", f"meanwhile {number}")], Scope("meanwhile"))
                number += 1
                begun.set()

        thread = threading.Thread(target=record)
        thread.start()
        try:
            assert begun.wait(10)
            yield memory
        finally:
            ended.set()
            thread.join()


# there and back


def test_an_export_into_an_empty_memory_is_equal(filled: Path, tmp_path: Path) -> None:
    before = digests_of(filled)
    done(filled, "export", "--output", str(tmp_path / "e.jsonl"), *OWN)
    found = json.loads(done(tmp_path / "two", "import", str(tmp_path / "e.jsonl"), "--json").stdout)
    assert digests_of(tmp_path / "two") == before
    assert {one.section: one.count for one in before if one.count}.items() <= found.items()
    assert all(one.count for one in before), "a section without a record proves nothing"
    with PersonaMemory.open(tmp_path / "two") as memory:
        assert memory.recall("where is the key", Scope(user_id="ada"))[0].text == "the key is under the stone"


def test_an_export_goes_through_any_kind_of_store(filled: Path, tmp_path: Path, postgres: Callable[[], str]) -> None:
    before = digests_of(filled)
    url = postgres()
    source, target = opened(str(filled)), opened(url)
    lines = list(archive.write_lines(source, archive.Wanted(NAMES)))
    head = archive.read_head(lines[0])
    assert head is not None
    archive.Loading(target, head).run(lines[1:])
    again = list(archive.write_lines(target, archive.Wanted(NAMES)))
    assert digests(target, NAMES) == before
    assert again[-1] == lines[-1]
    source.close()
    target.close()


@pytest.mark.parametrize("way", ["export", "backup"])
def test_what_is_taken_while_recording_goes_on_is_one_moment_and_comes_back_equal(
    filled: Path, tmp_path: Path, way: str
) -> None:
    file = tmp_path / "file"
    with recording(filled):
        if way == "export":
            done(filled, "export", "--output", str(file), *OWN)
        else:
            done(filled, "backup", str(file))
    back = tmp_path / "back"
    done(back, "import" if way == "export" else "restore", str(file))
    store = opened(str(back))
    said = [int(turn.text[10:]) for turn in store.turns(Scope("meanwhile")) if isinstance(turn.text, str)]
    store.close()
    assert said == list(range(len(said)))
    assert said, "nothing was recorded before"
    if way == "export":
        tail = json.loads(file.read_bytes().splitlines()[-1])["digests"]
        assert [(one.section, one.count, one.sha256) for one in digests_of(back)] == [tuple(d.values()) for d in tail]
    else:
        done(tmp_path / "again", "restore", str(file))
        assert digests_of(tmp_path / "again") == digests_of(back)


def test_a_backup_holds_what_the_memory_holds(filled: Path, tmp_path: Path) -> None:
    before = digests_of(filled)
    told = json.loads(done(filled, "backup", str(tmp_path / "b"), "--json").stdout)
    assert (told["encrypted"], told["holds"]["turns"]) == (False, before[0].count)
    assert oct((tmp_path / "b").stat().st_mode)[-3:] == "600"
    done(tmp_path / "two", "restore", str(tmp_path / "b"))
    assert digests_of(tmp_path / "two") == before == digests_of(filled)
    assert [path.name for path in filled.glob(".*")] == [], "a copy was left behind"


def test_a_memory_on_a_server_is_backed_up_and_restored(
    tmp_path: Path, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(redis_server.url, documents=False)
    before = digests_of(redis_server.url)
    settings = {"backend": "redis", "connection": redis_server.url, "data_dir": str(tmp_path / "data")}
    settings["kinds"] = {
        name: {"backend": "redis", "connection": redis_server.url} for name in ("conversational", "facts", "episodic")
    }
    monkeypatch.setattr("ovos_persona_memory.cli.connection.config.load", lambda: parse(settings))
    result = CliRunner().invoke(program, ["backup", str(tmp_path / "b")])
    assert result.exit_code == 0, result.output
    done_there = CliRunner().invoke(program, ["restore", str(tmp_path / "b")])
    assert done_there.exit_code == 2
    assert "not empty" in done_there.stderr
    with redis_server.client() as client:
        client.flushall()
    done_there = CliRunner().invoke(program, ["restore", str(tmp_path / "b")])
    assert done_there.exit_code == 0, done_there.output
    assert digests_of(redis_server.url) == before


# what is refused


def test_restoring_asks_before_it_replaces_and_says_what_goes(filled: Path, tmp_path: Path) -> None:
    done(filled, "backup", str(tmp_path / "b"))
    with PersonaMemory.open(filled) as memory:
        memory.remember("newer than the backup", key="newer")
    refused = run(filled, "restore", str(tmp_path / "b"))
    assert (refused.exit_code, "--yes" in refused.stderr) == (2, True)
    assert "newer" in done(filled, "list").stdout
    done(filled, "restore", str(tmp_path / "b"), "--yes")
    assert "newer" not in done(filled, "list").stdout


def test_a_memory_that_is_in_use_is_not_restored_over(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ovos_persona_memory.cli.connection.BUSY_S", 0.0)
    done(filled, "backup", str(tmp_path / "b"))
    done(filled, "export", "--output", str(tmp_path / "e"), *OWN)
    before = digests_of(filled)
    with PersonaMemory.open(filled):
        for words in (["restore", str(tmp_path / "b"), "--yes"], ["import", str(tmp_path / "e")], ["decrypt", "--yes"]):
            refused = run(filled, *words)
            assert refused.exit_code == 5
            assert "end it first (systemctl --user stop ovos-persona-memory)" in refused.stderr
    assert digests_of(filled) == before


def foreign(path: Path) -> None:
    path.unlink()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE theirs (a)")
    connection.close()


def damaged(path: Path) -> None:
    held = bytearray(path.read_bytes())
    held[4096:12288] = b"\xa5" * 8192
    path.write_bytes(held)


def too_new(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 999")
    connection.close()


@pytest.mark.parametrize("spoil", [foreign, damaged, too_new])
def test_a_backup_that_cannot_be_used_changes_nothing(
    filled: Path, tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    done(filled, "backup", str(tmp_path / "b"))
    spoil(tmp_path / "b")
    before = digests_of(filled)
    refused = run(filled, "restore", str(tmp_path / "b"), "--yes")
    assert refused.exit_code == 6
    assert str(tmp_path / "b") in refused.stderr
    assert digests_of(filled) == before


def test_a_journal_of_the_old_database_is_not_read_into_the_new_one(filled: Path, tmp_path: Path) -> None:
    """As after a crash: the old database has a journal that was never written back."""
    done(filled, "backup", str(tmp_path / "b"))
    before = digests_of(filled)
    store = opened(str(filled))
    store.put_state("later", "x" * 100_000)
    held = {path.name: path.read_bytes() for path in filled.glob("memory.db*")}
    store.close()
    for name, content in held.items():
        (filled / name).write_bytes(content)
    assert (filled / "memory.db-wal").stat().st_size > 100_000
    done(filled, "restore", str(tmp_path / "b"), "--yes")
    store = opened(str(filled))
    assert (store.state("later"), store.details()["set_aside"]) == (None, [])
    store.close()
    assert digests_of(filled) == before


def test_an_export_that_was_cut_short_or_changed_is_refused(filled: Path, tmp_path: Path) -> None:
    done(filled, "export", "--output", str(tmp_path / "e"), *OWN)
    lines = (tmp_path / "e").read_bytes().splitlines(keepends=True)
    (tmp_path / "short").write_bytes(b"".join(lines[:-1]))
    assert "cut short" in run(tmp_path / "a", "import", str(tmp_path / "short")).stderr
    (tmp_path / "changed").write_bytes(
        b"".join(lines).replace(b"the key is under the stone", b"the key is under a stone")
    )
    changed = run(tmp_path / "b", "import", str(tmp_path / "changed"))
    assert (changed.exit_code, "differs from the export in memories" in changed.stderr) == (6, True)
    (tmp_path / "odd").write_bytes(lines[0] + b'{"section": "turns", "record": {"role": "user"}}\n')
    odd = run(tmp_path / "c", "import", str(tmp_path / "odd"))
    assert (odd.exit_code, "line 2 cannot be read" in odd.stderr) == (2, True)


# into a memory that holds something


def test_a_memory_that_holds_something_keeps_it_and_forgotten_stays_forgotten(filled: Path, tmp_path: Path) -> None:
    done(filled, "export", "--output", str(tmp_path / "e"), *OWN)
    with PersonaMemory.open(filled) as memory:
        memory.update("bins", text="the bins go out on Friday")
        memory.remember("here alone", key="own")
        memory.forget(Scope(user_id="ada"), query="key stone")
        assert memory.forget_by_kind(Scope(user_id="ada"), query="Bob1").turns == 1
        before = memory.status()["counts"]
    result = done(filled, "import", str(tmp_path / "e"), "--json")
    assert json.loads(result.stdout)["memories"] == 0
    with PersonaMemory.open(filled) as memory:
        assert memory.status()["counts"] == before
        entry = memory.get("bins")
        assert entry is not None and entry.text == "the bins go out on Friday"
        assert memory.get("key", Scope(user_id="ada")) is None


def test_of_two_memories_one_is_made(filled: Path, tmp_path: Path) -> None:
    with PersonaMemory.open(tmp_path / "two") as memory:
        memory.record([Turn("user", "my dog is called Rex")], Scope("elsewhere"))
    done(filled, "export", "--output", str(tmp_path / "e"), *OWN)
    for _ in range(2):
        done(tmp_path / "two", "import", str(tmp_path / "e"))
        with PersonaMemory.open(tmp_path / "two") as memory:
            counts = memory.status()["counts"]
            assert memory.recall("what is my dog called")[0].sure
            assert memory.get("key", Scope(user_id="ada")) is not None
        one = opened(str(filled))
        assert counts["turns"] == one.counts().turns + 1
        one.close()


def test_one_users_part_is_exported_alone(filled: Path, tmp_path: Path) -> None:
    done(filled, "export", "--user", "ada", "--output", str(tmp_path / "e"), *OWN)
    done(tmp_path / "two", "import", str(tmp_path / "e"))
    store, whole = opened(str(tmp_path / "two")), opened(str(filled))
    assert store.users() == ["ada"]
    assert store.counts().turns == len(whole.turns(Scope(user_id="ada"))) > 0
    assert "household" not in (tmp_path / "e").read_text()
    store.close()
    whole.close()


@pytest.mark.parametrize("with_secrets", [False, True])
def test_secrets_are_exported_where_that_is_asked_for_alone(tmp_path: Path, with_secrets: bool) -> None:
    with PersonaMemory.open(tmp_path / "one") as memory:
        memory.remember("the pin is zyxquark", key="pin", lang="en-US", secret=True)
    flag = ["--with-secrets"] if with_secrets else []
    for form in ("jsonl", "markdown"):
        shown = done(tmp_path / "one", "export", "--format", form, *flag).stdout
        assert ("zyxquark" in shown) == with_secrets


# markdown


def test_markdown_is_for_people_and_takes_no_sign_from_what_was_said(tmp_path: Path) -> None:
    with PersonaMemory.open(tmp_path) as memory:
        said = Turn("user", "<script>alert(1)</script>\n# *bold* [x](y)", at=1795298400.0, speaker="Alice")
        memory.record([said, Turn("assistant", "fine", at=1795298401.0)], Scope("kitchen", site_id="kitchen"))
        memory.remember("the bins go out on Tuesday", key="bins", lang="en-US")
    shown = done(tmp_path, "export", "--format", "markdown").stdout
    assert re.search(r"^## Saturday, 21 November 2026$|^## Sunday, 22 November 2026$", shown, re.MULTILINE)
    assert "### Session kitchen in kitchen" in shown
    assert r"**Alice**: \<script\>alert(1)\</script\> \# \*bold\* \[x\](y)" in shown
    assert "- the bins go out on Tuesday (bins, household" in shown
    refused = run(tmp_path, "export", "--json")
    assert (refused.exit_code, "--output" in refused.stderr) == (2, True)


# from others


def chatgpt(tmp_path: Path) -> Path:
    """As ChatGPT's data export has it: a tree, of which the branch up to ``current_node`` is shown."""

    def node(name: str, parent: str | None, role: str = "", text: Any = None, **more: Any) -> tuple[str, Any]:
        content = {"content_type": "text", "parts": [text]} if isinstance(text, str) else text
        message = {"author": {"role": role}, "create_time": 1700000000.0 + len(name), "content": content, **more}
        return name, {"id": name, "parent": parent, "children": [], "message": message if role else None}

    hidden = {"metadata": {"is_visually_hidden_from_conversation": True}}
    picture = {"content_type": "multimodal_text", "parts": [{"asset_pointer": "x"}, "what is this"]}
    nodes = [
        node("a", None),
        node("ab", "a", "system", "you are helpful", **hidden),
        node("abc", "ab", "user", "my cat is called Bob"),
        node("abcx", "abc", "assistant", "an answer that was made anew"),
        node("abcd", "abc", "assistant", "A fine name."),
        node("abcde", "abcd", "user", picture),
        node("abcdef", "abcde", "assistant", {"content_type": "code", "text": "print()"}),
        node("abcdefg", "abcdef", "assistant", "x" * (LONGEST + 5)),
    ]
    talk = {"title": "Cats", "create_time": 1.7e9, "conversation_id": "c1", "current_node": "abcdefg"}
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([{**talk, "mapping": dict(nodes)}]))
    return path


def test_what_was_said_to_chatgpt_comes_in_once_as_it_was_shown(tmp_path: Path) -> None:
    path = chatgpt(tmp_path)
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as packed:
        packed.write(path, "account/conversations.json")
    dry = done(tmp_path / "memory", "import", str(path), "--dry-run", "--json")
    assert json.loads(dry.stdout)["turns"] == 4
    assert not (tmp_path / "memory").exists()
    for file in (path, path, tmp_path / "export.zip"):
        done(tmp_path / "memory", "import", str(file), "--user", "alice")
    with PersonaMemory.open(tmp_path / "memory") as memory:
        history = memory.history(Scope("chatgpt-c1", "alice"), max_history=20, hanging=True)
        told = [(one.role, one.text[:20]) for one in history]
        assert told[:3] == [("user", "my cat is called Bob"), ("assistant", "A fine name."), ("user", "what is this")]
        assert (len(told), len(history[-1].text)) == (4, LONGEST)
        assert memory.facts.list(Scope(user_id="alice")) == []
        assert memory.update_session(Scope("chatgpt-c1", "alice")).description == "Cats"


def test_it_is_learned_from_where_that_is_asked_for(tmp_path: Path) -> None:
    done(tmp_path / "memory", "import", str(chatgpt(tmp_path)), "--learn")
    with PersonaMemory.open(tmp_path / "memory") as memory:
        assert [fact.slot for fact in memory.facts.list()] == ["pet"]


@pytest.mark.parametrize("wrapped", [None, "results", "memories"])
def test_memories_of_mem0_become_memories(tmp_path: Path, wrapped: str | None) -> None:
    held: Any = [
        {"id": "1", "memory": "Likes to play cricket", "user_id": "alice", "created_at": "2024-07-20T01:30:36-07:00"},
        {"id": "2", "memory": "Name is Alice", "hash": "x", "metadata": None, "categories": ["personal"]},
    ]
    (tmp_path / "mem0.json").write_text(json.dumps({wrapped: held} if wrapped else held))
    for _ in range(2):
        done(tmp_path / "memory", "import", str(tmp_path / "mem0.json"))
    with PersonaMemory.open(tmp_path / "memory") as memory:
        assert sorted(entry.text for entry in memory.list()) == ["Likes to play cricket", "Name is Alice"]


def test_what_is_nobodys_file_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as packed:
        packed.writestr("readme.txt", "hello")
    for name, content in (("a", "[]"), ("b", '[{"title": "x"}]'), ("c", '{"results": []}')):
        (tmp_path / name).write_text(content)
        if name != "c":  # an object without a session holds nothing
            with pytest.raises(InvalidRequest, match="no file of"):
                read_foreign(tmp_path / name)
    with pytest.raises(InvalidRequest, match="no file of"):
        read_foreign(tmp_path / "other.zip")


@pytest.mark.full
def test_deliveries_stay_within_what_the_daemon_takes() -> None:
    turns = [Turn("user", "x" * size, at=1.0) for size in (LONGEST * 2, *([1000] * 1200))]
    parts = list(deliveries(turns))
    assert sum(map(len, parts)) == len(turns)
    assert max(map(len, parts)) <= 500
    assert max(sum(len(turn.text) for turn in part) for part in parts) <= 400_000
    with PersonaMemory.open(config=parse({"backend": "inmemory"})) as memory:
        memory.record(parts[0], Scope("s"))


def test_a_store_that_lost_something_is_noticed(filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = opened(str(filled))
    lines = list(archive.write_lines(source, archive.Wanted(NAMES)))
    source.close()
    head = archive.read_head(lines[0])
    assert head is not None
    target = opened(str(tmp_path / "two"))
    monkeypatch.setattr(target.episode_store, "add", lambda *_: None)
    with pytest.raises(StoreError, match="differs from the export in episodes"):
        archive.Loading(target, head).run(lines[1:])
    target.close()


# what is forgotten is gone from backups, too


def test_what_is_forgotten_is_gone_from_the_backups_that_were_made(filled: Path, tmp_path: Path) -> None:
    reached, moved, detached = (tmp_path / name for name in ("reached", "moved", "detached"))
    done(filled, "backup", str(reached))
    done(filled, "backup", str(moved))
    done(filled, "backup", str(detached), "--detached")
    elsewhere = moved.rename(tmp_path / "elsewhere")
    assert all(b"Bob1" in path.read_bytes() for path in (reached, elsewhere, detached))
    done(filled, "forget", "--query", "Bob1", "--everyone", "--yes")
    held = {path.name: b"Bob1" in path.read_bytes() for path in (reached, elsewhere, detached)}
    assert held == {"reached": False, "elsewhere": True, "detached": True}
    status = json.loads(done(filled, "status", "--json").stdout)["backups"]
    assert status == [
        {"path": str(moved), "there": False, "stale": True},
        {"path": str(reached), "there": True, "stale": False},
    ]
    assert f"{moved} still holds what was forgotten since" in done(filled, "status").stdout
    elsewhere.rename(moved)
    done(filled, "remember", "something", "--key", "new")
    assert b"Bob1" not in moved.read_bytes()
    done(tmp_path / "back", "restore", str(reached))
    store, back = opened(str(filled)), opened(str(tmp_path / "back"))
    assert back.counts().turns == store.counts().turns
    store.close()
    back.close()


def test_what_is_forgotten_while_a_backup_is_renewed_makes_it_stale_again(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done(filled, "backup", str(tmp_path / "b"))
    with PersonaMemory.open(filled) as memory:
        memory.forget(Scope.everyone(), query="Bob1")
        copied = backups.copy_live

        def meanwhile(*arguments: Any) -> None:
            copied(*arguments)
            monkeypatch.setattr(backups, "copy_live", copied)
            memory.forget(Scope.everyone(), query="Bob2")

        monkeypatch.setattr(backups, "copy_live", meanwhile)
        memory.backups.renew()
        assert [one["stale"] for one in memory.status()["backups"]] == [True]
        assert b"Bob2" in (tmp_path / "b").read_bytes()
        memory.backups.renew()
        assert [one["stale"] for one in memory.status()["backups"]] == [False]
    assert b"Bob2" not in (tmp_path / "b").read_bytes()


def test_a_daemon_renews_them_in_a_quiet_moment(filled: Path, tmp_path: Path) -> None:
    done(filled, "backup", str(tmp_path / "b"))
    with PersonaMemory.open(filled) as memory:
        memory.forget(Scope.everyone(), query="Bob1")
        while memory.tidy():
            pass
        until = time.monotonic() + 20
        while memory.status()["backups"][0]["stale"] and time.monotonic() < until:
            time.sleep(0.02)
        assert b"Bob1" not in (tmp_path / "b").read_bytes()
        memory.record([Turn("user", "it goes on")], Scope("s0"))
