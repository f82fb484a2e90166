"""No word of what was said can be read in any file that the daemon or a command of an encrypted memory wrote."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support import remains

from ovos_persona_memory.protocol import MemoryClient
from ovos_persona_memory.records import Scope, Turn

from .conftest import Daemon, own_environment, wait_until, write_settings

pytest.importorskip("sqlcipher3", reason="the extra encryption is not installed")

SAID = (
    "my zebrafinch is called Quillfeather",
    "meine Schwester wohnt in Würzgarten",
    "the marmalade cupboard key hangs behind Brunhilda's portrait",
)
WORDS = sorted({word for text in SAID for word in text.replace("'s", "").split() if len(word) > 4})


def command(home: Path, *arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ovos_persona_memory", *arguments],
        cwd=home,
        env=own_environment(home),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def lived_in(daemon: Callable[..., Daemon], key: Path | None) -> Path:
    """The folder of a memory that was talked to, asked, backed up and exported, and whose daemon was then killed.

    It holds a journal, the backup, the export and the daemon's own log.
    """
    settings = {} if key is None else {"encryption": {"key": f"file:{key}"}}
    one = daemon(settings=settings)
    home = one.log.parent
    with MemoryClient.over_door(one.data) as memory:
        for number, text in enumerate(SAID):
            memory.record([Turn("user", text, lang="en-US"), Turn("assistant", "fine")], Scope(f"s{number}"))
        memory.remember(SAID[2], key="cupboard", lang="en-US")
        memory.update_session(Scope("s0"), summary=SAID[0], description=SAID[1])
        memory.documents(Scope()).upsert(SAID[1], "doc")
        assert memory.recall("what is my zebrafinch called", Scope())[0].text == SAID[0]
        wait_until(lambda: bool(memory.facts.list()), "learning")
    (one.data / "files").mkdir()
    command(home, "backup", str(one.data / "files" / "backup"), "--data", str(one.data))
    export = ["export", "--output", str(one.data / "files" / "export"), "--data", str(one.data)]
    command(home, *export, *(() if key is None else ("--key", f"file:{key}")))
    with MemoryClient.over_door(one.data) as memory:
        memory.record([Turn("user", text, lang="en-US") for text in SAID], Scope("last"))
    one.end(signal.SIGKILL)
    (one.data / "files" / "daemon.log").write_bytes(one.log.read_bytes())
    for log in home.rglob("*.log"):
        if log != one.log:
            (one.data / "files" / log.name).write_bytes(log.read_bytes())
    names = {path.name for path in one.data.rglob("*") if path.is_file() and path.stat().st_size}
    assert {"memory.db", "memory.db-wal", "backup", "export"} <= names
    return one.data


def test_the_search_finds_every_word_where_nothing_is_encrypted(daemon: Callable[..., Daemon]) -> None:
    data = lived_in(daemon, None)
    for word in WORDS:
        assert remains.left(data, [word]), word
    for name in ("memory.db-wal", "files/backup", "files/export"):
        assert any(word.encode() in (data / name).read_bytes() for word in WORDS), name


def test_no_word_can_be_read_where_everything_is_encrypted(daemon: Callable[..., Daemon], tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("correct horse battery")
    key.chmod(0o600)
    data = lived_in(daemon, key)
    assert remains.left(data, [*WORDS, "correct horse battery"]) == []
    again = daemon(data=data, settings={"encryption": {"key": f"file:{key}"}})
    with MemoryClient.over_door(again.data) as memory:
        assert memory.status()["counts"]["turns"] == 3 * len(SAID)
        assert memory.recall("what is my zebrafinch called", Scope())[0].sure


def test_a_daemon_with_the_wrong_key_says_so_and_ends_and_changes_nothing(
    daemon: Callable[..., Daemon], tmp_path: Path, bus_address: tuple[str, int]
) -> None:
    key = tmp_path / "key"
    key.write_text("the right one")
    key.chmod(0o600)
    first = daemon(settings={"encryption": {"key": f"file:{key}"}})
    first.end()
    before = (first.data / "memory.db").read_bytes()
    key.write_text("a wrong one")
    for settings, words in (
        ({"encryption": {"key": f"file:{key}"}}, "cannot be read with this key"),
        ({}, "is encrypted: name its key"),
    ):
        home = tmp_path / f"wrong{len(settings)}"
        write_settings(home, persona_memory={"announce": False, **settings})
        wrong = Daemon(home, first.data, bus_address)
        wait_until(lambda wrong=wrong: wrong.has_ended, "its end")
        assert (wrong.end(), words in wrong.said()) == (6, True), wrong.said()
        assert (first.data / "memory.db").read_bytes() == before
