"""Each kind of memory in a place of its own, or off."""

from __future__ import annotations

import json
import sys
import threading
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ovos_persona_memory import config, stores
from ovos_persona_memory.cli import doctor
from ovos_persona_memory.config import KindConfig, parse, secret, settled
from ovos_persona_memory.errors import ConfigError, NotAllowed, StoreBusy
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import ContextRequest, Heard, Scope, Turn
from ovos_persona_memory.stores.chroma.http_client import settings_of
from ovos_persona_memory.stores.composite.store import ComposedStore
from ovos_persona_memory.stores.sqlite.store import SqliteStore

SCOPE = Scope("s")
EVERY = ("conversational", "semantic", "episodic", "facts")
PASSWORD = "hunter2secret"


def sqlite(folder: Path, *names: str, **more: Any) -> dict[str, Any]:
    return {name: {"backend": "sqlite", "connection": str(folder / name), **more} for name in names}


def beside_chroma(**chroma: Any) -> dict[str, Any]:
    return {"facts": {"backend": "inmemory"}, "semantic": {"backend": "chroma", **chroma}}


def opened(folder: Path, kinds: dict[str, Any], **more: Any) -> PersonaMemory:
    return PersonaMemory.open(config=parse({"data_dir": str(folder), "kinds": kinds, **more}))


def say(memory: PersonaMemory, text: str, number: int = 0) -> None:
    heard = Heard("utterance", scope=Scope("s"), session_id="s", text=text, at=1000.0 + number, lang="en-US")
    memory.hear(heard)


def said(memory: PersonaMemory) -> list[str]:
    return [turn.text for turn in memory._store.turns(Scope())]


def test_nothing_configured_is_one_sqlite_store_without_anything_around_it(tmp_path: Path) -> None:
    with PersonaMemory.open(tmp_path) as memory:
        assert type(memory._store) is SqliteStore


def test_four_kinds_at_one_place_are_one_store(tmp_path: Path) -> None:
    with opened(tmp_path, {name: {"backend": "sqlite"} for name in EVERY}) as memory:
        assert type(memory._store) is SqliteStore


def test_each_kind_is_kept_where_the_settings_say(tmp_path: Path) -> None:
    with opened(tmp_path, sqlite(tmp_path, *EVERY)) as memory:
        say(memory, "my cat is called Bob")
        memory.remember("the bins go out on Tuesday", SCOPE, key="bins")
        memory.documents().upsert("a recipe", id="r")
    found = {
        name: [word for word in (b"called Bob", b"bins go out", b"recipe") if word in _bytes(tmp_path / name)]
        for name in EVERY
    }
    assert found == {
        "conversational": [b"called Bob"],
        "facts": [b"called Bob", b"bins go out"],
        "semantic": [b"recipe"],
        "episodic": [],
    }
    with opened(tmp_path, sqlite(tmp_path, *EVERY)) as memory:
        hits = memory.recall("what is my cat called", SCOPE)
        assert (hits[0].text, hits[0].sure) == ("my cat is called Bob", True)
        assert memory.recall("when do the bins go out", SCOPE)[0].key == "bins"
        assert memory.forget(Scope(), everything=True) >= 3
    assert all(b"Bob" not in _bytes(tmp_path / name) and b"bins" not in _bytes(tmp_path / name) for name in EVERY)


def _bytes(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("off", EVERY)
def test_a_kind_without_a_backend_is_off_and_the_others_work(tmp_path: Path, off: str) -> None:
    on = [name for name in EVERY if name != off]
    with opened(tmp_path, sqlite(tmp_path, *on)) as memory:
        say(memory, "my cat is called Bob")
        memory.hear(Heard("speech", scope=Scope("s"), session_id="s", text="nice", at=1001.0, utterance_id="u"))
        status = memory.status()
        assert status["backend"] == "kinds"
        assert sorted(status["store"]["kinds"]) == sorted(on)
        assert bool(said(memory)) == (off != "conversational")
        assert bool(memory.facts.list(SCOPE)) == (off != "facts")
        if off == "facts":
            with pytest.raises(NotAllowed, match=r"kinds\.facts"):
                memory.remember("x", SCOPE)
        else:
            assert memory.remember("the bins go out on Tuesday", SCOPE).text
        if off == "semantic":
            assert status["meaning"]["embedder"] == "none"
            with pytest.raises(NotAllowed, match=r"kinds\.semantic"):
                memory.documents().upsert("a recipe")
        memory.capture(write=False)
    with opened(tmp_path, sqlite(tmp_path, *on)) as memory:
        assert not memory.capture().write
    files = (
        _bytes(tmp_path / "conversational") if off != "conversational" else b"".join(map(_bytes, [tmp_path / "facts"]))
    )
    assert (b"called Bob" in files) or off == "conversational"


def test_what_is_refused_leaves_the_rest_of_a_shared_commit(tmp_path: Path) -> None:
    with opened(tmp_path, sqlite(tmp_path, "conversational")) as memory:
        with pytest.raises(NotAllowed):
            memory.remember("x", SCOPE)
        say(memory, "hello")
        assert said(memory) == ["hello"]


@pytest.mark.parametrize(
    ("section", "named"),
    [
        ({"backend": "oracle"}, "'oracle'; choose one of"),
        ({"kinds": {"facts": {"backend": "oracle"}}}, "'oracle'; choose one of"),
        ({"kinds": {"procedural": {}}}, "kinds.procedural: there is no such setting"),
        ({"kinds": {"facts": {"bakcend": "sqlite"}}}, "kinds.facts.bakcend: there is no such setting"),
        ({"kinds": {"facts": {"backend": "sqlite", "ttl": 5}}}, "kinds.facts.ttl: what is known of people"),
        ({"kinds": {"conversational": {"ttl": 0}}}, "kinds.conversational: ttl must be above 0"),
        ({"kinds": {"facts": {"connection": "x"}}}, "kinds.facts.backend: is missing"),
        ({"kinds": {"facts": {"backend": "sqlite", "collection": "x"}}}, "sqlite backend knows no collections"),
        ({"backend": "chroma", "connection": "http://h:1"}, "chroma backend keeps vectors alone"),
        ({"kinds": {"facts": {"backend": "chroma", "connection": "http://h:1"}}}, "chroma backend keeps vectors alone"),
        ({"kinds": {"semantic": {"backend": "chroma", "connection": "http://h:1"}}}, "backends for the other kinds"),
        ({"kinds": beside_chroma()}, "chroma backend needs a connection"),
        ({"kinds": beside_chroma(connection="localhost:8000")}, "such as http://host:8000"),
        ({"kinds": beside_chroma(connection="http://h:port")}, "such as http://host:8000"),
        ({"kinds": beside_chroma(connection="http://h:1", collection="a/b")}, "collection: Chroma takes letters"),
        ({"connection": "env:NO_SUCH_VARIABLE"}, "environment variable NO_SUCH_VARIABLE"),
        ({"connection": "file:/no/such/file"}, "a setting is to be read from, is missing"),
    ],
)
def test_what_cannot_be_used_is_named_in_one_sentence(tmp_path: Path, section: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigError) as caught:
        PersonaMemory.open(config=parse({"data_dir": str(tmp_path), **section}))
    assert named in caught.value.reason
    assert "\n" not in caught.value.reason


@pytest.mark.parametrize(("backend", "driver"), [("redis", "redis"), ("postgres", "psycopg")])
def test_a_missing_driver_is_named_with_the_command_that_installs_it(
    tmp_path: Path, backend: str, driver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith((driver, f"{stores.__name__}.{backend}"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, driver, None)
    given = parse({"data_dir": str(tmp_path), "kinds": {"facts": {"backend": backend, "connection": "unix:///x"}}})
    with pytest.raises(ConfigError) as caught:
        PersonaMemory.open(config=given)
    assert f"needs {driver}" in caught.value.reason
    assert f"pip install 'ovos-persona-memory[{backend}]'" in caught.value.reason
    (told,) = doctor.check_stores(given, in_use=False)
    assert (told.state, "pip install" in told.found) == ("problem", True)


def test_a_secret_comes_from_the_environment_or_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "url").write_text(f"redis://me:{PASSWORD}@there:7/1\n")
    monkeypatch.setenv("MEMORY_URL", "redis://other")
    assert secret(f"file:{tmp_path}/url") == f"redis://me:{PASSWORD}@there:7/1"
    assert secret("env:MEMORY_URL") == "redis://other"
    assert (secret("redis://plain"), secret(None)) == ("redis://plain", None)


def test_who_asks_chroma_is_said_in_its_headers_and_nowhere_else() -> None:
    told = settings_of(f"https://me:{PASSWORD}@there/vectors/?tenant=t&database=d")
    assert (told.host, told.port, told.path) == ("there", 443, "/vectors")
    assert told.space == "/api/v2/tenants/t/databases/d/collections"
    assert told.headers == {"Authorization": f"Basic {b64encode(f'me:{PASSWORD}'.encode()).decode()}"}
    assert settings_of(f"http://:{PASSWORD}@there").headers["X-Chroma-Token"] == PASSWORD
    assert settings_of("http://there").port == 8000
    place = stores.store_locations(parse({"kinds": beside_chroma(connection=f"http://:{PASSWORD}@there")}))["semantic"]
    assert PASSWORD not in repr(told) + repr(place) + str(place)


def test_a_secret_is_in_nothing_that_is_shown(tmp_path: Path) -> None:
    given = parse({"kinds": {"facts": {"backend": "postgres", "connection": f"postgresql://me:{PASSWORD}@h:5/db"}}})
    place = stores.store_locations(given)["facts"]
    assert str(place) == "postgres at h:5/db"
    assert PASSWORD not in repr(given) + repr(place) + str(place)
    assert PASSWORD not in json.dumps([one.found + one.mend for one in doctor.check_stores(given, in_use=False)])


def test_a_time_to_live_is_a_retention_and_the_shorter_holds() -> None:
    kinds = {"conversational": {"ttl": 3600}, "episodic": {"ttl": 2 * 86400}}
    got = settled(parse({"kinds": kinds, "retention": {"episodes_days": 1}})).retention
    assert (got.turns_days, got.episodes_days) == (pytest.approx(1 / 24), 1)
    assert settled(parse({})) == parse({})


def test_what_has_lived_its_time_is_removed_in_time(tmp_path: Path) -> None:
    now = [1000.0]
    given = parse({"data_dir": str(tmp_path), "kinds": {"conversational": {"ttl": 3600}}})
    with PersonaMemory.open(config=given, clock=lambda: now[0]) as memory:
        say(memory, "hello")
        for _ in range(50):
            while memory.tidy():
                continue
            now[0] += 65.0
        assert said(memory) == ["hello"]
        now[0] = 1000.0 + 3600 + 150
        while memory.tidy():
            continue
        assert said(memory) == []


def test_of_each_kind_so_many_hits_reach_a_persona(tmp_path: Path) -> None:
    def told(kinds: dict[str, Any]) -> list[str]:
        folder = tmp_path / f"{len(list(tmp_path.iterdir()))}"
        settings = parse({"data_dir": str(folder), "kinds": kinds, "facts": {"learn": False}})
        with PersonaMemory.open(config=settings) as memory:
            for number in range(3):
                memory.record(
                    [Turn("user", f"the parrot eats seeds number {number}", at=1000.0 + number)], Scope("old")
                )
                memory.remember(f"the parrot eats seeds from shop {number}", Scope("old"))
            hits = memory.context(ContextRequest("what does the parrot eat", Scope("new"))).hits
            return [hit.kind for hit in hits]

    assert len(told({"semantic": {"top_k": 4}})) == 4
    assert sorted(told({"semantic": {"top_k": 6}, "conversational": {"top_k": 1}})) == ["memory"] * 3 + ["turn"]
    assert set(told({"facts": {"top_k": 0}})) == {"turn"}
    assert told({"conversational": {"top_k": 0}, "facts": {"top_k": 0}}) == []


@pytest.mark.full
def test_what_the_semantic_kind_keeps_on_a_server_is_in_its_collection(
    tmp_path: Path, postgres: Callable[[], str]
) -> None:
    semantic = {"backend": "pgvector", "connection": postgres()}
    others = sqlite(tmp_path, "conversational", "facts", "episodic")
    found: dict[str, list[str]] = {}
    for round_, names in enumerate((("one", "two"), ("one", "two", "three"))):
        for name in names:
            with opened(tmp_path, {**others, "semantic": {**semantic, "collection": name}}) as memory:
                if not round_:
                    memory.documents().upsert(f"the parrot of {name}", id=name)
                found[name] = [one.id for one in memory.documents().search("parrot")]
                assert f"{name}" in memory.status()["store"]["kinds"]["semantic"]
    assert found == {"one": ["one"], "two": ["two"], "three": []}


def test_a_folder_has_one_owner_wherever_the_records_are(tmp_path: Path) -> None:
    kinds = sqlite(tmp_path / "elsewhere", *EVERY)
    with opened(tmp_path / "mine", kinds):
        assert (tmp_path / "mine").stat().st_mode & 0o777 == 0o700
        with pytest.raises(StoreBusy):
            stores.own(parse({"data_dir": str(tmp_path / "mine"), "kinds": kinds}))
    with opened(tmp_path / "mine", kinds) as memory:
        assert isinstance(memory._store, ComposedStore)


def test_what_was_opened_is_let_go_where_another_cannot_be(tmp_path: Path) -> None:
    kinds = sqlite(tmp_path, "conversational", "facts")
    with pytest.raises(ConfigError):
        opened(tmp_path, kinds | {"episodic": {"backend": "oracle"}})
    with opened(tmp_path, kinds) as memory:
        say(memory, "hello")


def test_a_failure_in_one_store_undoes_the_others(tmp_path: Path) -> None:
    with opened(tmp_path, sqlite(tmp_path, *EVERY)) as memory:
        with pytest.raises(ZeroDivisionError), memory.transaction():
            say(memory, "my cat is called Bob")
            memory.remember("a", SCOPE, key="k")
            assert 1 // 0
        assert (said(memory), memory.get("k", SCOPE), memory.facts.list(SCOPE)) == ([], None, [])


@pytest.mark.full
def test_threads_that_write_to_several_stores_do_not_stop_each_other(tmp_path: Path) -> None:
    with opened(tmp_path, sqlite(tmp_path, *EVERY)) as memory:

        def work(number: int) -> None:
            for turn in range(20):
                say(memory, f"my cat {number} is called Bob{turn}", number)
                memory.remember(f"thing {number} {turn}", SCOPE)
                memory.recall("what is my cat called", SCOPE)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert not any(thread.is_alive() for thread in threads)
        assert (memory.status()["counts"]["turns"], memory.status()["counts"]["entries"]) == (80, 80)


def test_the_doctor_looks_at_each_place_once(tmp_path: Path) -> None:
    kinds = sqlite(tmp_path / "a", "facts") | {
        "conversational": {"backend": "sqlite"},
        "episodic": {"backend": "sqlite"},
    }
    given = parse({"data_dir": str(tmp_path), "kinds": kinds})
    found = [one.check for one in doctor.check_stores(given, in_use=False)]
    assert found == ["database", "set aside"] * 2
    broken = config.MemoryConfig(kinds=config.KindsConfig(facts=KindConfig(backend="oracle")))
    (told,) = doctor.check_stores(broken, in_use=False)
    assert (told.state, "choose one of" in told.found) == ("problem", True)
