"""The encrypted database: keys that fit and keys that do not, and from one form into the other."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from support.filled import fill

from ovos_persona_memory.cli.program import program
from ovos_persona_memory.config import encryption_key, parse
from ovos_persona_memory.errors import ConfigError, StoreDamaged, WrongKey
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.memory.migration import Digest, digests
from ovos_persona_memory.records import Scope, Turn
from ovos_persona_memory.stores.sqlite import database_file, driver
from ovos_persona_memory.stores.sqlite.offline_queue import OfflineQueue, QueuedArrival
from ovos_persona_memory.stores.sqlite.store import SqliteStore

pytestmark = pytest.mark.full

pytest.importorskip("sqlcipher3", reason="the extra encryption is not installed")

KEY = 'it\'s a "long" key ✓'
SAID = b"my cat is called Zyxquark"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "memory"


def say(store: SqliteStore, text: str = SAID.decode()) -> None:
    store.add_turn(Turn("user", text, at=1.0, id=text), text.lower())


def encrypted(home: Path) -> None:
    store = SqliteStore(home, key=KEY)
    say(store)
    store.close()


def contents(home: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in home.iterdir() if not path.name.endswith(".lock")}


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "key"
    path.write_text(f"{KEY}\n")
    path.chmod(0o600)
    return path


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Sets the settings of the command line."""

    def set_to(**section: object) -> None:
        monkeypatch.setattr("ovos_persona_memory.cli.connection.config.load", lambda: parse(dict(section)))

    set_to()
    return set_to


def run(folder: Path, *words: str) -> Result:
    return CliRunner().invoke(program, ["--data", str(folder), *words])


def done(folder: Path, *words: str) -> Result:
    result = run(folder, *words)
    assert result.exit_code == 0, result.output
    return result


def digests_of(folder: Path, key: str | None) -> list[Digest]:
    store = SqliteStore(folder, key=key)
    try:
        return digests(store, ["default", "own"])
    finally:
        store.close()


# keys


def test_with_the_key_it_is_a_store_like_any_other(home: Path) -> None:
    encrypted(home)
    store = SqliteStore(home, key=KEY)
    assert [turn.text for turn in store.turns(Scope())] == [SAID.decode()]
    assert store.search(["zyxquark"], Scope(), frozenset({"turn"}), 5)
    assert store.details()["encrypted"] is True
    store.close()


@pytest.mark.parametrize(
    ("key", "words"),
    [("another", "cannot be read with this key"), (None, "is encrypted: name its key")],
)
def test_a_key_that_does_not_fit_is_refused_and_nothing_is_changed(home: Path, key: str | None, words: str) -> None:
    encrypted(home)
    before = contents(home)
    with pytest.raises(WrongKey, match=words):
        SqliteStore(home, key=key)
    assert contents(home) == before
    SqliteStore(home, key=KEY).close()


def test_a_key_for_a_database_that_is_not_encrypted_is_refused(home: Path) -> None:
    store = SqliteStore(home)
    say(store)
    store.close()
    before = contents(home)
    with pytest.raises(WrongKey, match="is not encrypted"):
        SqliteStore(home, key=KEY)
    assert contents(home) == before


def test_damage_behind_the_first_page_is_set_aside_as_damage_is(home: Path) -> None:
    store = SqliteStore(home, key=KEY)
    for number in range(200):
        say(store, f"{number} {'words ' * 50}")
    store.close()
    held = bytearray((home / "memory.db").read_bytes())
    held[3 * 4096 : 9 * 4096] = os.urandom(6 * 4096)
    (home / "memory.db").write_bytes(held)
    store = SqliteStore(home, key=KEY)
    [aside] = store.details()["set_aside"]
    assert "damaged" in aside["reason"]
    assert Path(aside["path"]).read_bytes() == bytes(held)
    store.close()


def test_the_offline_queue_is_encrypted_too(home: Path) -> None:
    queue = OfflineQueue(home, key=KEY)
    queue.add([QueuedArrival("i", "heard", 1.0, SAID)])
    assert all(SAID not in content for content in contents(home).values())
    queue.close()
    with pytest.raises(WrongKey):
        OfflineQueue(home, key="another")
    with pytest.raises(WrongKey):
        OfflineQueue(home)
    again = OfflineQueue(home, key=KEY)
    assert [one.body for one in again.oldest(5)] == [SAID]
    again.close()


def test_without_the_extra_it_says_what_to_install(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "CIPHER", "sqlcipher3_is_missing")
    with pytest.raises(ConfigError, match=r"pip install 'ovos-persona-memory\[encryption\]'"):
        SqliteStore(home, key=KEY)


def test_keys_come_from_a_file_the_environment_the_keyring_or_a_prompt(
    key_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPM_KEY", "from the environment")
    assert encryption_key(None) is None
    assert encryption_key(f"file:{key_file}") == KEY
    assert encryption_key("env:OPM_KEY") == "from the environment"
    key_file.chmod(0o644)
    with pytest.raises(ConfigError, match=f"chmod 600 {key_file}"):
        encryption_key(f"file:{key_file}")
    key_file.chmod(0o600)
    key_file.write_text("\n")
    for setting, words in (
        (f"file:{key_file}", "is empty"),
        ("file:/nowhere/key", "is missing"),
        ("env:OPM_NO_KEY", "is not set"),
        ("my secret", "a key is not written here"),
        ("prompt", "nobody can be asked here"),
    ):
        with pytest.raises(ConfigError, match=words) as refused:
            encryption_key(setting, "anew")
        assert "my secret" not in refused.value.reason


def test_the_keyring_holds_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    keyring = pytest.importorskip("keyring")
    backend = pytest.importorskip("keyring.backend")

    class Held(backend.KeyringBackend):  # type: ignore[misc, name-defined]  # keyring is an extra
        priority = 1

        def get_password(self, service: str, user: str) -> str | None:
            return {("ovos-persona-memory", "encryption"): KEY}.get((service, user))

        def set_password(self, service: str, user: str, password: str) -> None:
            raise NotImplementedError

        def delete_password(self, service: str, user: str) -> None:
            raise NotImplementedError

    before = keyring.get_keyring()
    keyring.set_keyring(Held())
    try:
        assert encryption_key("keyring") == KEY
        with pytest.raises(ConfigError, match="keyring set attic encryption"):
            encryption_key("keyring:attic")
    finally:
        keyring.set_keyring(before)


# from one form into the other


def test_there_and_back_it_holds_the_same(home: Path, key_file: Path, settings: Callable[..., None]) -> None:
    fill(str(home))
    before = digests_of(home, None)
    told = done(home, "encrypt", f"file:{key_file}", "--yes")
    assert f'"encryption": {{"key": "file:{key_file}"}}' in told.stderr
    assert digests_of(home, KEY) == before
    assert all(b"cat is called" not in content for content in contents(home).values())
    settings(encryption={"key": f"file:{key_file}"})
    assert "bins" in done(home, "list").stdout
    done(home, "decrypt", "--yes")
    settings()
    assert digests_of(home, None) == before
    assert not database_file.marker(home / "memory.db").exists()


def test_the_key_is_changed(home: Path, key_file: Path, settings: Callable[..., None], tmp_path: Path) -> None:
    fill(str(home))
    before = digests_of(home, None)
    done(home, "encrypt", f"file:{key_file}", "--yes")
    settings(encryption={"key": f"file:{key_file}"})
    other = tmp_path / "other"
    other.write_text("a new key")
    other.chmod(0o600)
    done(home, "encrypt", f"file:{other}", "--yes")
    with pytest.raises(WrongKey):
        SqliteStore(home, key=KEY)
    assert digests_of(home, "a new key") == before


def test_where_it_is_cut_short_the_database_is_the_old_one(
    home: Path, key_file: Path, settings: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(str(home))
    before = digests_of(home, None)

    def cut(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", cut)
        assert run(home, "encrypt", f"file:{key_file}", "--yes").exit_code == 6
    assert digests_of(home, None) == before
    done(home, "encrypt", f"file:{key_file}", "--yes")
    assert digests_of(home, KEY) == before


def test_nobody_is_asked_without_a_terminal_and_a_folder_without_a_memory_is_named(
    home: Path, key_file: Path, settings: Callable[..., None]
) -> None:
    assert run(home, "encrypt", f"file:{key_file}").exit_code == 2
    nothing = run(home, "encrypt", f"file:{key_file}", "--yes")
    assert (nothing.exit_code, nothing.stderr) == (2, f"there is no memory in {home}\n")


# what leaves the folder


def test_backups_and_exports_are_encrypted_and_come_back(
    home: Path, key_file: Path, settings: Callable[..., None], tmp_path: Path
) -> None:
    fill(str(home))
    before = digests_of(home, None)
    key = f"file:{key_file}"
    done(home, "encrypt", key, "--yes")
    settings(encryption={"key": key})
    done(home, "backup", str(tmp_path / "backup"))
    done(home, "backup", str(tmp_path / "plain"), "--plain")
    done(home, "export", "--output", str(tmp_path / "sealed"), "--key", key, "--namespace", "own")
    held = {name: (tmp_path / name).read_bytes() for name in ("backup", "plain", "sealed")}
    assert {name: b"cat is called" in content for name, content in held.items()} == {
        "backup": False,
        "plain": True,
        "sealed": False,
    }
    for place, words in (("a", ["restore", "backup"]), ("b", ["restore", "plain"]), ("c", ["import", "sealed"])):
        keyed = ["--key", key] if words[1] == "sealed" else []
        done(tmp_path / place, words[0], str(tmp_path / words[1]), *keyed)
        assert digests_of(tmp_path / place, KEY) == before
    settings()
    refused = run(tmp_path / "d", "restore", str(tmp_path / "backup"))
    assert (refused.exit_code, "--key: is needed" in refused.stderr) == (2, True)
    (tmp_path / "wrong").write_text("another")
    (tmp_path / "wrong").chmod(0o600)
    for words in (["restore", "backup"], ["import", "sealed"]):
        refused = run(tmp_path / "d", words[0], str(tmp_path / words[1]), "--key", f"file:{tmp_path / 'wrong'}")
        assert (refused.exit_code, "cannot be read with this key" in refused.stderr) == (6, True), refused.output
    assert not (tmp_path / "d" / "memory.db").exists()


def test_an_encrypted_folder_is_migrated_with_the_key_of_the_settings(
    home: Path, key_file: Path, settings: Callable[..., None], tmp_path: Path
) -> None:
    fill(str(home))
    before = digests_of(home, None)
    done(home, "encrypt", f"file:{key_file}", "--yes")
    settings(encryption={"key": f"file:{key_file}"})
    done(home, "migrate", str(home), str(tmp_path / "other"), "--namespace", "own")
    assert digests_of(tmp_path / "other", KEY) == before


def test_a_daemons_memory_opens_with_the_key_of_the_settings(home: Path, key_file: Path) -> None:
    config = parse({"data_dir": str(home), "encryption": {"key": f"file:{key_file}"}, "recall": {"embedder": "none"}})
    with PersonaMemory.open(config=config) as memory:
        memory.record([Turn("user", SAID.decode())], Scope("s"))
    assert database_file.marker(home / "memory.db").exists()
    with PersonaMemory.open(config=config) as memory:
        assert memory.recall("what is my cat called", Scope())[0].sure
    key_file.write_text("another")
    with pytest.raises(WrongKey):
        PersonaMemory.open(config=config)


def test_a_first_page_that_is_damaged_is_not_taken_for_nothing(home: Path) -> None:
    encrypted(home)
    held = bytearray((home / "memory.db").read_bytes())
    held[100:200] = os.urandom(100)
    (home / "memory.db").write_bytes(held)
    with pytest.raises((WrongKey, StoreDamaged), match="or the file is damaged"):
        SqliteStore(home, key=KEY)
    assert (home / "memory.db").read_bytes() == bytes(held)
