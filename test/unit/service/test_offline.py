"""A device without its store: what is answered, what waits, and that it is delivered once."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ovos_persona_memory.config import MemoryConfig, parse
from ovos_persona_memory.errors import StoreUnavailable
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import Claim, Heard, Request, Scope, Selection, Turn
from ovos_persona_memory.service import offline
from ovos_persona_memory.service.daemon import Daemon
from ovos_persona_memory.service.inbox import Arrival
from ovos_persona_memory.service.offline import Clock, Offline
from ovos_persona_memory.stores.inmemory.store import InMemoryStore
from ovos_persona_memory.text import languages

SESSION = Scope("s1")
LONG_AGO = 1_700_000_000.0


class Server(InMemoryStore):
    """A store that others share, and that may be away, or be lost at the end of a commit."""

    shared = True

    def __init__(self) -> None:
        self.is_away = self.loses_answers = False
        super().__init__()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self._check()
        with super().transaction():
            yield
        if self.loses_answers and not self._depth:
            self.is_away = True
            self._check()

    @contextmanager
    def _reading(self) -> Iterator[None]:
        self._check()
        with super()._reading():
            yield

    def _check(self) -> None:
        if self.is_away:
            raise StoreUnavailable("the server is away")


class Device:
    """One daemon's worth of it, without the daemon."""

    def __init__(self, folder: Path, server: Server, config: MemoryConfig | None = None) -> None:
        self.config = config or parse({"data_dir": str(folder)})
        self.server, self.clock = server, Clock()
        self.back = threading.Event()
        self.offline = Offline(self.config, self.clock, self.back.set)
        self.memory = PersonaMemory(server, self.config, self.clock)

    def lose(self) -> None:
        """The store is found to be away."""
        self.server.is_away = True
        self.offline.begin(self.memory, StoreUnavailable("the server is away"), lambda: self.memory)

    def find(self) -> None:
        """It is there again, and everything is delivered."""
        self.server.is_away = False
        assert self.back.wait(10)
        while self.offline.waiting:
            self.offline.deliver()
        self.offline.end()


@pytest.fixture(autouse=True)
def tried_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the store is there again is found out sooner than in a house."""
    monkeypatch.setattr(offline, "TRY_S", 0.02)


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def device(tmp_path: Path, server: Server) -> Iterator[Device]:
    found = Device(tmp_path, server)
    found.offline.note(found.memory, [])
    yield found
    found.offline.close()


NUMBERS = iter(range(10**6))


def heard(text: str, what: str = "utterance", at: float | None = None, **more: Any) -> Arrival:
    at = time.time() if at is None else at
    event = Heard(what, SESSION, at, text, "en-US", session_id="s1", id=f"h{next(NUMBERS)}", **more)
    return Arrival(event, lambda _: None, False, 0.0, at)


def request(verb: str, at: float | None = None, **data: Any) -> Arrival:
    asked = Request(verb, data, SESSION, request_id="r", id=f"r{next(NUMBERS)}")
    return Arrival(asked, lambda _: None, False, 0.0, time.time() if at is None else at)


def recorded(text: str, **more: Any) -> Arrival:
    return request("record", turns=[{"role": "user", "text": text}], **more)


def answers(device: Device, *arrivals: Arrival) -> list[Any]:
    return [outcome for _, outcome in device.offline.take(arrivals)]


def log(server: Server) -> list[str]:
    return [turn.text for turn in server.turns(Scope.everyone())]


def on_disk(folder: Path, words: bytes) -> bool:
    return any(words in path.read_bytes() for path in folder.iterdir() if path.is_file())


def test_what_waits_is_delivered_in_order_at_its_time(device: Device, server: Server) -> None:
    device.lose()
    answered = answers(device, heard("one", at=LONG_AGO), recorded("two", at=LONG_AGO + 5), heard("three"))
    assert (answered[0], answered[1]["ok"], answered[1]["degraded"], answered[2]) == (None, True, True, None)
    assert device.offline.waiting == 3
    device.find()
    turns = server.turns(SESSION)
    assert [turn.text for turn in turns] == ["one", "two", "three"]
    assert [turn.at for turn in turns[:2]] == [LONG_AGO, LONG_AGO + 5]
    assert answered[1]["ids"] == [turns[1].id]


def test_what_cannot_be_done_alone_is_refused_with_the_code_of_the_failure(device: Device) -> None:
    device.lose()
    verbs = ("forget", "update", "session.clear", "session.snapshot", "document.search", "users.list", "facts.audit")
    refused = [outcome["error"] for verb in verbs for outcome in answers(device, request(verb, key="k"))]
    assert refused == ["store_unavailable"] * len(verbs)
    assert device.offline.waiting == 0


def test_what_the_device_knows_is_answered_and_marked(device: Device) -> None:
    before = heard("my cat is called Bob")
    device.memory.hear(before.what)  # type: ignore[arg-type]  # it is an event
    device.offline.note(device.memory, [before])
    device.lose()
    answers(device, heard("my dog is called Rex"))
    for question, name in (("what is my cat called", "Bob"), ("what is my dog called", "Rex")):
        [found] = answers(device, request("recall", question=question))
        assert found["degraded"]
        assert name in found["hits"][0]["text"]
    device.find()
    assert log(device.server) == ["my cat is called Bob", "my dog is called Rex"]


def test_what_was_forgotten_is_not_known_on_the_device_any_more(device: Device) -> None:
    before = heard("my cat is called Bob")
    device.memory.hear(before.what)  # type: ignore[arg-type]  # it is an event
    device.offline.note(device.memory, [before])
    other = PersonaMemory(device.server, device.config)
    other.forget(Scope(), query="cat")
    languages.spelled("my cat is called Bob")  # as this device would have it in mind: the other is another process
    device.offline._looked_at = 0.0
    device.offline.note(device.memory, [])
    assert languages.spelled.cache_info().currsize == 0
    device.lose()
    assert answers(device, request("recall", question="what is my cat called"))[0]["hits"] == []


def test_a_crash_between_the_delivery_and_the_emptying_delivers_nothing_twice(
    device: Device, tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    device.lose()
    answers(device, heard("one"), recorded("two"), heard("three"))
    server.is_away = False
    assert device.back.wait(10)
    with monkeypatch.context() as crash:
        crash.setattr(device.offline._file, "empty", lambda _: None)
        device.offline.deliver()
    device.offline.close()
    gone = server.turns(SESSION)[0]
    server.delete(Selection(Scope(), ids=(gone.id,)))  # what was delivered may be gone since
    again = Device(tmp_path, server)
    assert again.offline.waiting == 3
    again.lose()
    answers(again, heard("four"))
    again.find()
    assert log(server) == ["two", "three", "four"]
    again.offline.close()


def test_a_commit_of_which_nobody_knows_whether_it_was_one_is_not_done_twice(device: Device, server: Server) -> None:
    arrivals = [heard("one"), recorded("two"), heard("three")]
    server.loses_answers = True
    with pytest.raises(StoreUnavailable), device.memory.transcript.undoing(), device.memory.transaction():
        device.memory.hear(arrivals[0].what)  # type: ignore[arg-type]  # it is an event
    server.loses_answers = False
    device.lose()
    device.offline.take(arrivals, tried=True)
    device.find()
    assert log(server) == ["one", "two", "three"]


def lost(device: Device, *arrivals: Arrival) -> None:
    """The server is lost when these are to be committed."""
    with (
        pytest.raises(StoreUnavailable),
        device.memory.transcript.undoing(),
        device.memory.transaction(),
    ):
        for arrival in arrivals:
            device.memory.hear(arrival.what)  # type: ignore[arg-type]  # it is an event
        raise StoreUnavailable("the server is away")
    device.lose()
    device.offline.take(arrivals, tried=True)


def test_what_followed_an_utterance_when_the_store_was_lost_belongs_to_it(device: Device, server: Server) -> None:
    device.memory.hear(heard("one").what)  # type: ignore[arg-type]  # it is an event
    lost(device, heard("one", "matched", utterance_id="u1"), heard("so one", "speech", utterance_id="u1"))
    device.find()
    assert [(turn.text, turn.utterance_id) for turn in server.turns(SESSION)] == [("one", "u1"), ("so one", "u1")]


def test_whose_words_they_were_is_known_of_what_came_when_the_store_was_lost(tmp_path: Path, server: Server) -> None:
    config = parse({"data_dir": str(tmp_path), "identity": {"trust": "session"}})
    device = Device(tmp_path, server, config)
    device.offline.note(device.memory, [])
    lost(device, heard("one", claim=Claim("ann", 3)))
    later = [heard("so one", "speech", utterance_id="u1"), heard("two", claim=Claim("bob", 3))]
    answers(device, *later, heard("so two", "speech", utterance_id="u2"))
    device.find()
    said = [(turn.text, turn.user_id) for turn in server.turns(Scope.everyone())]
    assert said == [("one", "ann"), ("so one", "ann"), ("two", "bob"), ("so two", "bob")]
    device.offline.close()


def test_what_is_refused_for_what_it_is_stops_nothing(device: Device, server: Server) -> None:
    device.lose()
    spoiled = recorded("never")
    answers(device, heard("one"), spoiled, heard("three"))
    body = b'{"verb": "record", "data": {"turns": 5}, "scope": {}}'
    device.offline._file._sql.execute("UPDATE waiting SET body = ? WHERE num = 2", (body,))
    device.find()
    assert log(server) == ["one", "three"]


def test_a_secret_is_on_no_disk_and_its_turn_keeps_its_place(device: Device, tmp_path: Path, server: Server) -> None:
    device.lose()
    answers(device, heard("one"), heard("my pin is 47110815"), recorded("the wifi password is hunter2"), heard("three"))
    assert not on_disk(tmp_path, b"47110815")
    assert not on_disk(tmp_path, b"hunter2")
    device.find()
    assert log(server) == ["one", "", "", "three"]
    assert [turn.redacted for turn in server.turns(SESSION)][:2] == [False, True]


def test_of_a_secret_that_is_mentioned_the_rest_waits_and_is_delivered(
    device: Device, tmp_path: Path, server: Server
) -> None:
    device.lose()
    told = "we are at home and my pin is 47110815"
    slots = {"text": told}
    answers(device, heard(told), heard(told, "matched", utterance_id="u1", detail=slots), recorded(told))
    answers(device, heard("47110815, noted", "speech", utterance_id="u1"))
    assert not on_disk(tmp_path, b"47110815")
    device.find()
    assert log(server) == ["we are at home", "we are at home", ""]


def test_a_secret_that_is_to_be_kept_waits_for_no_store(device: Device, tmp_path: Path, server: Server) -> None:
    device.lose()
    [refused] = answers(device, request("remember", text="my pin is 47110815", secret=True))
    assert (refused["ok"], refused["error"]) == (False, "store_unavailable")
    assert not on_disk(tmp_path, b"47110815")
    device.find()
    assert server.entries(Scope.whole()) == []


def test_what_is_paused_is_not_kept_and_what_was_never_known_neither(
    device: Device, tmp_path: Path, server: Server
) -> None:
    device.memory.capture(SESSION, write=False, session=True)
    device.offline.note(device.memory, [])
    device.lose()
    answers(device, heard("while paused"))
    assert answers(device, recorded("while paused"))[0]["ids"] == []
    answers(device, request("capture", write=True, session=True))
    answers(device, heard("and again"))
    assert not on_disk(tmp_path, b"while paused")
    device.find()
    assert log(server) == ["and again"]
    unknown = Device(tmp_path / "new", Server())
    unknown.lose()
    answers(unknown, heard("is this kept"))
    assert unknown.offline.waiting == 0
    unknown.offline.close()


def test_what_was_paused_or_forgotten_elsewhere_meanwhile_does_not_come_back(device: Device, server: Server) -> None:
    other = PersonaMemory(server, device.config)
    other.record([Turn("user", "my cat is called Bob")], SESSION)
    device.lose()
    began = time.time()
    answers(device, heard("my cat is called Bob"), recorded("my cat is called Bob"), heard("the gate is blue"))
    answers(device, heard("this was a guest", at=began + 200))
    server.is_away = False
    other.forget(Scope(), query="cat")
    held = Clock()
    with held.stands(began + 100):
        PersonaMemory(server, device.config, held).capture(write=False)
    device.find()
    assert [text for text in log(server) if text] == ["the gate is blue"]


@pytest.mark.parametrize(
    ("scope", "wanted", "left"),
    [
        (SESSION, {}, ["elsewhere", "after it"]),
        (Scope(), {"since": LONG_AGO + 50, "until": LONG_AGO + 150}, ["early", "elsewhere", "after it"]),
        (Scope(), {"everything": True}, ["after it"]),
        (Scope(user_id="ann"), {"everything": True}, ["early", "late", "elsewhere", "after it"]),
    ],
)
def test_what_was_forgotten_wholly_elsewhere_is_forgotten_of_what_waits(
    device: Device, server: Server, scope: Scope, wanted: dict[str, Any], left: list[str]
) -> None:
    device.lose()
    answers(device, heard("early", at=LONG_AGO), recorded("late", at=LONG_AGO + 100))
    elsewhere = heard("elsewhere", at=LONG_AGO + 20)
    answers(device, replace(elsewhere, what=replace(elsewhere.what, session_id="s2", scope=Scope("s2"))))
    server.is_away = False
    held = Clock()
    with held.stands(LONG_AGO + 200):
        PersonaMemory(server, device.config, held).forget(scope, **wanted)
    answers(device, heard("after it", at=LONG_AGO + 210))
    device.find()
    assert [text for text in log(server) if text] == left


def test_what_was_forgotten_by_a_clock_that_ran_ahead_takes_nothing_that_was_said_since(
    device: Device, server: Server
) -> None:
    held = Clock()
    with held.stands(time.time() + 5 * 365 * 86400.0):
        PersonaMemory(server, device.config, held).forget(Scope(), everything=True)
    device.lose()
    answers(device, heard("said since"))
    device.find()
    assert log(server) == ["said since"]


def test_what_is_said_offline_supersedes_what_a_clock_that_ran_ahead_had_told(device: Device, server: Server) -> None:
    held = Clock()
    with held.stands(time.time() + 5 * 365 * 86400.0):
        PersonaMemory(server, device.config, held).record([Turn("user", "I live in Berlin", lang="en-US")], SESSION)
    device.lose()
    answers(device, heard("I live in Porto"))
    device.find()
    assert [one.value for one in PersonaMemory(server, device.config).facts.list()] == ["Porto"]


def test_a_memory_whose_key_is_that_of_something_private_gets_another(device: Device, server: Server) -> None:
    other = PersonaMemory(server, device.config)
    other.remember("a surprise party", Scope(), key="party", metadata={"private": 3})
    device.lose()
    assert answers(device, request("remember", text="the bins go out on Tuesday", key="party"))[0]["ok"]
    device.find()
    kept = {entry.text for entry in server.entries(Scope())}
    assert kept == {"a surprise party", "the bins go out on Tuesday"}


def test_without_room_on_this_device_nothing_is_acknowledged(device: Device) -> None:
    device.lose()
    device.offline._file._sql.execute("PRAGMA max_page_count = 12")
    outcomes = [answers(device, recorded("x" * 9000))[0] for _ in range(20)]
    refused = [outcome["error"] for outcome in outcomes if not outcome["ok"]]
    assert refused
    assert set(refused) == {"store_full"}
    assert device.offline.waiting == 20 - len(refused)


def test_status_says_that_the_store_is_away(device: Device) -> None:
    device.lose()
    [status] = answers(device, request("status"))
    assert status["degraded"]
    assert status["store"] == {"away": "the server is away"}


def test_what_needs_the_store_once_it_is_back_is_noted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    device = Device(tmp_path, Server())
    device.lose()
    device.server.is_away = False
    assert device.back.wait(10)
    noted: list[list[Arrival]] = []
    monkeypatch.setattr(device.offline, "note", lambda _, group: noted.append([*group]))
    daemon = Daemon(parse({"data_dir": str(tmp_path / "daemon"), "backend": "redis"}), port=1)
    its_own, daemon._offline = daemon._offline, device.offline
    assert its_own is not None
    its_own.close()
    group = [Arrival(Request("forget", {"query": "cat"}, SESSION), lambda _: None, True, time.perf_counter())]
    daemon._handle(group)
    assert noted == [group]
    assert not device.offline.active
