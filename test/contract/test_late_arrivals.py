"""What was forgotten on one device while another had no store: what waits there is forgotten, too."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ovos_persona_memory.config import parse
from ovos_persona_memory.errors import StoreUnavailable
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import EpisodesWanted, Heard, Request, Scope, Turn
from ovos_persona_memory.service import offline
from ovos_persona_memory.service.inbox import Arrival
from ovos_persona_memory.service.offline import Clock, Offline
from ovos_persona_memory.stores.base.facts import EVERY_STATUS

LONG_AGO = 1_700_000_000.0
HERE = Scope("s1")
SERVERS = ("postgres", "redis")


class Device:
    """A daemon's memory on a server that others share, and what takes its place while that is away."""

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        self.config = parse({"data_dir": str(folder), **settings})
        self.clock = Clock()
        self.memory = PersonaMemory.open(config=self.config, clock=self.clock)
        self._is_back, self._reached = threading.Event(), threading.Event()
        self.offline = Offline(self.config, self.clock, self._reached.set)
        self.offline.note(self.memory, [])

    def lose(self) -> None:
        """Its server cannot be reached from here."""
        self._is_back.clear()
        self.offline.begin(None, StoreUnavailable("the server is away"), self._found)

    def _found(self) -> PersonaMemory:
        if not self._is_back.is_set():
            raise StoreUnavailable("the server is away")
        return self.memory

    def find(self) -> None:
        """It is there again, and everything is delivered."""
        self._is_back.set()
        assert self._reached.wait(20)
        self._reached.clear()
        while self.offline.waiting:
            self.offline.deliver()
        self.offline.end()

    def hears(self, at: float, text: str = "", what: str = "utterance", session: str = "s1", **more: Any) -> None:
        """An event on its bus."""
        event = Heard(what, Scope(session), at, text, "en-US", session_id=session, id=uuid.uuid4().hex, **more)
        self._take(event, at)

    def asks(self, at: float, verb: str, scope: Scope = HERE, **data: Any) -> None:
        """A request of its session."""
        self._take(Request(verb, data, scope, request_id=uuid.uuid4().hex, id=uuid.uuid4().hex), at)

    def _take(self, what: Heard | Request, at: float) -> None:
        [(_, outcome)] = self.offline.take([Arrival(what, lambda _: None, False, 0.0, at)])
        assert outcome is None or outcome["ok"], outcome

    def says(self, at: float, what: str) -> None:
        """The same said in every way in which a device takes things in: each could bring it back."""
        name = f"u{at}"
        self.hears(at, f"my cat is called {what}")
        self.hears(at + 1, utterance_id=name, what="matched", intent="pets", skill_id="pet.skill",
                   detail={"name": what})  # fmt: skip
        self.hears(at + 2, f"a cat named {what}", "speech", utterance_id=name, skill_id="pet.skill")
        self.hears(at + 3, what="handled", utterance_id=name)
        self.asks(at + 4, "record", turns=[{"role": "user", "text": f"my cat {what} sleeps"}])
        self.asks(at + 5, "remember", text=f"my cat is called {what}", key="cat")
        self.asks(at + 6, "remember", text=f"the food of my cat {what}")

    def close(self) -> None:
        self.offline.close()
        self.memory.close()


@pytest.fixture(autouse=True)
def tried_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offline, "TRY_S", 0.02)


@pytest.fixture(params=[pytest.param(name, marks=pytest.mark.full) for name in SERVERS])
def settings(request: pytest.FixtureRequest) -> dict[str, Any]:
    if request.param == "postgres":
        return {"backend": "postgres", "connection": request.getfixturevalue("postgres")()}
    place = {"backend": "redis", "connection": request.getfixturevalue("redis_server").url}
    kinds = dict.fromkeys(("conversational", "facts", "episodic"), place)
    return {"kinds": {**kinds, "semantic": {"backend": "sqlite"}}}


@pytest.fixture
def devices(settings: dict[str, Any], tmp_path: Path) -> Iterator[tuple[Device, Device]]:
    both = Device(tmp_path / "kitchen", settings), Device(tmp_path / "study", settings)
    yield both
    for one in both:
        one.close()


def everything(memory: PersonaMemory) -> str:
    """All that is kept, in one text."""
    store, of_all = memory._store, Scope.everyone()
    return repr(
        [
            store.turns(of_all),
            store.entries(of_all),
            store.fact_store.held(None, EVERY_STATUS),
            store.episode_store.episodes(EpisodesWanted(of_all)),
            [store.state(name) for name in ("swept", "forgotten_wholly")],
        ]
    )


def clears(*what: str) -> Callable[[PersonaMemory], object]:
    return lambda memory: memory.users.clear(
        Heard("clear_data", HERE, memory._clock(), session_id="s1", clears=what, names_user="local")
    )


FORGETTINGS: dict[str, Callable[[PersonaMemory], object]] = {
    "everything": lambda memory: memory.forget(Scope(), everything=True),
    "everybody": lambda memory: memory.forget(Scope.everyone(), everything=True),
    "session": lambda memory: memory.forget(HERE),
    "time": lambda memory: memory.forget(Scope(), since=LONG_AGO - 50, until=LONG_AGO + 50),
    "words": lambda memory: memory.forget(Scope(), query="the cats", lang="en-US"),
    "neon": clears("ALL_DATA"),
}


@pytest.mark.parametrize("how", FORGETTINGS)
def test_what_was_forgotten_meanwhile_does_not_come_back_with_what_waits(
    devices: tuple[Device, Device], how: str
) -> None:
    kitchen, study = devices
    kitchen.lose()
    kitchen.says(LONG_AGO, "Bob")
    with study.clock.stands(LONG_AGO + 100):
        FORGETTINGS[how](study.memory)
    kitchen.says(LONG_AGO + 200, "Rex")
    kitchen.find()
    kept = everything(study.memory)
    assert "Bob" not in kept
    assert "bob" not in kept
    said = [turn.text for turn in study.memory._store.turns(HERE)]
    assert [text for text in said if text] == ["my cat is called Rex", "a cat named Rex", "my cat Rex sleeps"]
    assert {entry.text for entry in study.memory.list(Scope())} == {"my cat is called Rex", "the food of my cat Rex"}
    assert [fact.value for fact in study.memory.facts.list(Scope())] == ["Rex"]
    assert [one.detail for one in study.memory.episodes(Scope(), {"intent"})] == [{"name": "Rex"}, {}]


def test_what_tells_a_memory_that_was_forgotten_meanwhile_does_not_come_back(devices: tuple[Device, Device]) -> None:
    kitchen, study = devices
    study.memory.remember("the safe opens with the blue fish", key="safe")
    by_id = study.memory.remember("the tent is under the stairs")
    study.memory.remember("milk", key="buy")
    kitchen.lose()
    for number, text in enumerate(
        [
            "the blue fish opens the safe, as I said",
            "blue fish in the safe",
            "under the stairs is the tent",
            "we drank milk",
        ]
    ):
        kitchen.hears(LONG_AGO + number, text)
    kitchen.asks(LONG_AGO, "remember", text="with the blue fish the safe opens")
    kitchen.asks(LONG_AGO, "remember", text="it opens with the red bird", key="safe")
    kitchen.asks(LONG_AGO, "remember", text="the tent is new and stands under the stairs")
    with study.clock.stands(LONG_AGO + 100):
        study.memory.forget(Scope(), key="safe")
        study.memory.forget(Scope(), key="buy")
        study.memory.forget(Scope(), ids=[by_id.id])
    kitchen.hears(LONG_AGO + 200, "the blue fish opens the safe again")
    kitchen.find()
    said = [turn.text for turn in study.memory._store.turns(HERE)]
    assert said == ["", "blue fish in the safe", "", "we drank milk", "the blue fish opens the safe again"]
    assert [entry.text for entry in study.memory.list(Scope())] == ["the tent is new and stands under the stairs"]


def test_a_key_that_was_forgotten_meanwhile_takes_what_waits_of_the_same_persona_alone(
    devices: tuple[Device, Device],
) -> None:
    kitchen, study = devices
    study.memory.remember("the neighbour has it", key="safe")
    study.memory.remember("under the stairs", Scope(persona_id="Ada"), key="boat")
    kitchen.lose()
    for persona in (None, "Ada", "Bob"):
        for key in ("safe", "boat"):
            text = f"it is where {persona} put the {key}"
            kitchen.asks(LONG_AGO, "remember", replace(HERE, persona_id=persona), text=text, key=key)
    with study.clock.stands(LONG_AGO + 100):
        study.memory.forget(Scope(), key="safe")
        study.memory.forget(Scope(persona_id="Ada"), key="boat")
    kitchen.find()
    kept = {(entry.key, entry.persona_id) for entry in study.memory.list(Scope())}
    assert kept == {("safe", "Ada"), ("safe", "Bob"), ("boat", None), ("boat", "Bob")}


def test_what_a_skill_said_and_what_was_learned_is_not_brought_back(devices: tuple[Device, Device]) -> None:
    kitchen, study = devices
    kitchen.lose()
    kitchen.hears(LONG_AGO, "I love liquorice")
    kitchen.hears(LONG_AGO + 1, "it rains", "speech", utterance_id="u1", skill_id="weather.skill")
    kitchen.hears(LONG_AGO + 2, "my sister is called Ada")
    kitchen.hears(LONG_AGO + 3, "feed him")
    fed = {"what": "matched", "intent": "feed", "skill_id": "pet.skill"}
    kitchen.hears(LONG_AGO + 4, utterance_id="u2", detail={"name": "the cat Bob"}, **fed)
    kitchen.hears(LONG_AGO + 5, "milk, please")
    kitchen.hears(LONG_AGO + 6, utterance_id="u3", detail={"what": "milk"}, **fed)
    with study.clock.stands(LONG_AGO + 100):
        study.memory.forget(Scope(), source="weather.skill")
        study.memory.forget(Scope(), query="the cats", lang="en-US")
        clears("CONF_LIKES")(study.memory)
    kitchen.hears(LONG_AGO + 200, "I love marzipan")
    kitchen.find()
    said = [turn.text for turn in study.memory._store.turns(HERE)]
    assert said == ["I love liquorice", "", "my sister is called Ada", "feed him", "milk, please", "I love marzipan"]
    assert {fact.value for fact in study.memory.facts.list(Scope())} == {"Ada", "marzipan"}
    assert [one.detail for one in study.memory.episodes(Scope(), {"intent"})] == [{"what": "milk"}, {}]


def test_a_clearing_that_waited_takes_only_what_was_said_before_it(devices: tuple[Device, Device]) -> None:
    kitchen, study = devices
    kitchen.lose()
    kitchen.says(LONG_AGO, "Bob")
    kitchen.hears(LONG_AGO + 100, what="clear_data", clears=("ALL_DATA",), names_user="local")
    with study.clock.stands(LONG_AGO + 150):
        study.memory.record([Turn("user", "my dog is called Ida")], HERE)
        study.memory.remember("the bins go out on Tuesday")
    study.lose()
    study.says(LONG_AGO + 20, "Bob")
    study.says(LONG_AGO + 200, "Rex")
    with kitchen.clock.stands(LONG_AGO + 50):
        kitchen.memory.documents(Scope()).upsert("the vet of Bob", "d")
    kitchen.find()
    study.find()
    kept = everything(study.memory)
    assert "Bob" not in kept
    assert kitchen.memory.documents(Scope()).get("d") is None
    assert {fact.value for fact in study.memory.facts.list(Scope())} == {"Ida", "Rex"}
    kept_on = {"the bins go out on Tuesday", "my cat is called Rex", "the food of my cat Rex"}
    assert {entry.text for entry in study.memory.list(Scope())} == kept_on
    assert "my dog is called Ida" in [turn.text for turn in study.memory._store.turns(HERE)]


def test_what_was_cleared_is_not_known_on_another_device_any_more(devices: tuple[Device, Device]) -> None:
    kitchen, study = devices
    now = time.time()
    heard = Heard("utterance", HERE, now, "my cat is called Bob", "en-US", session_id="s1", id="h")
    kitchen.memory.hear(heard)
    kitchen.offline.note(kitchen.memory, [Arrival(heard, lambda _: None, False, 0.0, now)])
    clears("ALL_DATA")(study.memory)
    kitchen.offline._looked_at = 0.0
    kitchen.offline.note(kitchen.memory, [])
    kitchen.lose()
    asked = Request("recall", {"question": "what is my cat called"}, HERE)
    [(_, told)] = kitchen.offline.take([Arrival(asked, lambda _: None, False, 0.0, now)])
    assert told is not None
    assert told["hits"] == []
    kitchen.find()
