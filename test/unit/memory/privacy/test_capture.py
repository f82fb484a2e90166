"""Whether memory may be written and read: pauses by place and time, and who is left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ovos_persona_memory.config import CaptureConfig, IdentityConfig, MemoryConfig
from ovos_persona_memory.errors import CapturePaused, InvalidRequest
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.memory.privacy.capture import REMEMBERED_S, CapturePolicy
from ovos_persona_memory.records import Capture, Claim, ContextRequest, Heard, Place, Scope, Turn
from ovos_persona_memory.stores.inmemory.store import InMemoryStore

HERE = Scope("s1", "alice", site_id="kitchen")
ELSEWHERE = Scope("s2", "bob", site_id="hall")
PLACES = [Place(), Place("session", "s1"), Place("site", "kitchen"), Place("user", "alice")]


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def captures(clock: Clock) -> CapturePolicy:
    return CapturePolicy(InMemoryStore(), CaptureConfig(), clock)


@pytest.mark.parametrize("place", PLACES)
def test_a_pause_holds_for_its_place_alone(captures: CapturePolicy, place: Place) -> None:
    captures.switch(place, write=False, read=None, until=None)
    assert not captures.may_write(HERE)
    assert captures.may_write(ELSEWHERE) == (place != Place())
    assert captures.may_read(HERE)
    captures.switch(place, write=None, read=False, until=None)
    assert not captures.may_read(HERE)
    assert captures.may_read(ELSEWHERE) == (place != Place())


def test_a_name_is_of_one_kind_and_as_it_is(captures: CapturePolicy) -> None:
    captures.switch(Place("session", "x"), write=False, read=False, until=None)
    for scope in (Scope("y", site_id="x"), Scope("y", "x"), Scope("X"), Scope("x "), Scope()):
        assert captures.may_write(scope)
    assert not captures.may_write(Scope("x"))


def test_everything_and_a_place_hold_together(captures: CapturePolicy, clock: Clock) -> None:
    captures.switch(Place(), write=False, read=None, until=clock.now + 10)
    captures.switch(PLACES[2], write=None, read=False, until=clock.now + 20)
    assert captures.setting_of(PLACES[2]) == Capture(False, False, clock.now + 20, site_id="kitchen")
    clock.now += 15
    assert captures.setting_of(PLACES[2]) == Capture(True, False, clock.now + 5, site_id="kitchen")
    assert captures.setting_of(Place()) == Capture()


def test_what_was_said_in_a_pause_is_not_kept_after_it_however_it_ended(captures: CapturePolicy, clock: Clock) -> None:
    captures.switch(PLACES[1], write=False, read=None, until=clock.now + 100)
    clock.now += 10
    captures.switch(PLACES[1], write=True, read=None, until=None)
    clock.now += 10
    kept = {at: captures.may_write(HERE, at) for at in (999.0, 1000.0, 1009.9, 1010.0, 1020.0, 1e9)}
    assert kept == {999.0: True, 1000.0: False, 1009.9: False, 1010.0: True, 1020.0: True, 1e9: True}
    assert captures.may_write(ELSEWHERE, 1005.0)


def test_in_a_pause_nothing_is_kept_whenever_it_was_said(captures: CapturePolicy, clock: Clock) -> None:
    clock.now += 50
    captures.switch(PLACES[1], write=False, read=None, until=None)
    assert not captures.may_write(HERE, 1000.0)


def test_a_pause_within_another_ends_with_neither_forgotten(captures: CapturePolicy, clock: Clock) -> None:
    captures.switch(Place(), write=False, read=False, until=clock.now + 100)
    clock.now += 10
    captures.switch(Place(), write=None, read=True, until=clock.now + 20)
    assert captures.setting_of(Place()) == Capture(False, True, clock.now + 20)
    clock.now += 30
    assert [captures.may_write(HERE, at) for at in (1005.0, 1015.0, 1035.0)] == [False, False, True]


def test_pauses_are_kept_over_a_restart_for_a_month_after_their_end(clock: Clock) -> None:
    store = InMemoryStore()
    captures = CapturePolicy(store, CaptureConfig(), clock)
    captures.switch(Place(), write=False, read=None, until=clock.now + 10)
    clock.now += REMEMBERED_S
    captures.switch(PLACES[1], write=False, read=None, until=None)
    again = CapturePolicy(store, CaptureConfig(), clock)
    assert not again.may_write(ELSEWHERE, 1005.0)
    assert again.setting_of(PLACES[1]).write is False
    clock.now += 20
    captures.switch(PLACES[2], write=False, read=None, until=None)
    assert [pause.place for pause in store.pauses()] == [PLACES[1], PLACES[2]]


def test_who_is_left_out_is_never_kept_and_may_read(clock: Clock) -> None:
    captures = CapturePolicy(InMemoryStore(), CaptureConfig(exclude_users=("alice",)), clock)
    assert (captures.may_write(HERE), captures.may_write(ELSEWHERE), captures.may_read(HERE)) == (False, True, True)
    assert captures.setting_of(PLACES[3]) == Capture(write=False, user_id="alice")
    with pytest.raises(CapturePaused):
        captures.refuse_while_paused(HERE)


# the verbs


class Talk:
    """A memory that hears a conversation, one event a second."""

    def __init__(self, clock: Clock, memory: PersonaMemory | None = None, **settings: Any) -> None:
        self.clock, self.store = clock, InMemoryStore()
        config = MemoryConfig(identity=IdentityConfig("session"), **settings)
        self.memory = memory or PersonaMemory(self.store, config, clock)

    def hear(self, what: str, text: str = "", scope: Scope = HERE, **fields: Any) -> None:
        self.clock.now += 1
        place = Scope(scope.session_id, site_id=scope.site_id)
        claim = Claim(scope.user_id)
        heard = Heard(what, place, self.clock.now, text, session_id=scope.session_id or "", claim=claim, **fields)
        with self.memory.transaction():
            self.memory.transcript.hear(heard)

    @property
    def log(self) -> list[str]:
        return [turn.text for turn in self.store.turns(Scope.everyone())]


@pytest.fixture
def talk(clock: Clock) -> Callable[..., Talk]:
    return lambda **settings: Talk(clock, **settings)


CHOICES: list[dict[str, bool]] = [{}, {"session": True}, {"site": True}, {"person": True}]


@pytest.mark.parametrize("about", CHOICES, ids=str)
def test_while_writing_is_paused_nothing_is_kept_and_what_is_kept_can_be_read(
    talk: Callable[..., Talk], about: dict[str, bool]
) -> None:
    memory = talk().memory
    memory.remember("the bins go out on Tuesday", HERE, "bins")
    assert not memory.capture(HERE, write=False, **about).write
    assert memory.record([Turn("user", "secret")], HERE) == []
    for refused in (
        lambda: memory.remember("secret", HERE),
        lambda: memory.update("bins", HERE, text="secret"),
        lambda: memory.update_session(HERE, "secret"),
        lambda: memory.restore([Turn("user", "secret")], HERE),
        lambda: memory.documents(HERE).upsert("secret"),
    ):
        with pytest.raises(CapturePaused):
            refused()
    assert memory.get("bins", HERE) is not None
    assert bool(memory.record([Turn("user", "public")], ELSEWHERE)) == bool(about)


@pytest.mark.parametrize("about", CHOICES, ids=str)
def test_while_reading_is_paused_nothing_is_found_and_what_is_said_is_kept(
    talk: Callable[..., Talk], about: dict[str, bool]
) -> None:
    memory = talk().memory

    def found() -> list[bool]:
        return [
            bool(memory.get("bins", HERE)),
            bool(memory.list(HERE)),
            bool(memory.recall("bins", HERE)),
            bool(memory.history(HERE, hanging=True)),
            bool(memory.sessions(HERE)),
            bool(memory.snapshot(HERE)["messages"]),
            bool(memory.to_summarise(HERE, 0)),
            bool(memory.documents(HERE).search("bins")),
            bool(memory.documents(HERE).get("d")),
            "Tuesday" in str(memory.context(ContextRequest("when do the bins go out", HERE)).messages),
        ]

    memory.remember("the bins go out on Tuesday", HERE, "bins")
    memory.documents(HERE).upsert("the bins are green", "d")
    memory.record([Turn("user", "hello bins"), Turn("assistant", "hello")], HERE)
    assert all(found())
    memory.capture(HERE, read=False, **about)
    assert not any(found())
    assert memory.record([Turn("user", "more")], HERE)
    memory.capture(HERE, read=True, **about)
    assert all(found())


def test_a_pause_is_about_one_thing_that_the_scope_names(talk: Callable[..., Talk]) -> None:
    memory = talk().memory
    for about, name in (({"session": True}, "session"), ({"site": True}, "site"), ({"person": True}, "person")):
        with pytest.raises(InvalidRequest, match=rf"^{name}: "):
            memory.capture(Scope.everyone(), write=False, **about)
    with pytest.raises(InvalidRequest, match=r"^person: "):
        memory.capture(HERE, write=False, site=True, person=True)
    assert memory.capture() == Capture()


def test_the_answer_to_what_was_said_in_a_pause_is_not_kept_after_it(talk: Callable[..., Talk], clock: Clock) -> None:
    said = talk()
    said.memory.capture(HERE, write=False, until=clock.now + 2, site=True)
    said.hear("utterance", "when is my secret appointment")
    said.hear("matched", "when is my secret appointment", utterance_id="u1")
    clock.now += 60
    said.hear("speech", "your secret appointment is at noon", Scope("s1"), utterance_id="u1")
    turns = [Turn("user", "secret?", at=clock.now), Turn("assistant", "secret at noon", at=clock.now)]
    assert said.memory.record(turns, replace(HERE, persona_id="Ada"), True, "d1", "u1") == []
    said.hear("utterance", "hello")
    said.hear("speech", "hi", utterance_id="u2")
    assert said.log == ["hello", "hi"]


def test_an_answer_without_a_room_is_given_where_its_question_was_asked(talk: Callable[..., Talk]) -> None:
    said = talk()
    said.hear("utterance", "hello")
    said.hear("matched", "hello", utterance_id="u1")
    said.memory.capture(HERE, write=False, site=True)
    said.hear("speech", "a secret", Scope("s1"), utterance_id="u1")
    assert said.log == ["hello"]


def test_a_record_of_what_was_said_in_a_pause_is_not_kept_when_it_is_delivered_later(
    talk: Callable[..., Talk], clock: Clock
) -> None:
    memory = talk().memory
    memory.capture(HERE, write=False, person=True)
    said_at = clock.now = clock.now + 5
    clock.now += 5
    memory.capture(HERE, write=True, person=True)
    turns = [Turn("user", "secret", at=said_at), Turn("assistant", "public", at=clock.now)]
    assert memory.record(turns, HERE, True, "d1") == []
    assert memory.record([Turn("user", "public", at=clock.now + 1)], HERE, True, "d2")


def test_nothing_is_kept_of_an_excluded_skill_and_of_what_was_said_to_it(talk: Callable[..., Talk]) -> None:
    said = talk(capture=CaptureConfig(exclude_skills=("bank.me",)))
    said.hear("utterance", "hello")
    said.hear("speech", "hi", utterance_id="u1", skill_id="hello.me")
    said.hear("utterance", "what is my balance")
    said.hear("matched", "what is my balance", utterance_id="u2", skill_id="bank.me")
    said.hear("speech", "ten euros", utterance_id="u2", skill_id="bank.me")
    said.hear("speech", "anything else", utterance_id="u2", skill_id="other.me")
    said.hear("speech", "your account is empty", skill_id="bank.me")
    turns = [Turn("user", "balance"), Turn("assistant", "ten euros")]
    assert said.memory.record(turns, HERE, True, "d1", "u2") == []
    assert said.log == ["hello", "hi"]


def test_an_excluded_skill_that_speaks_unmatched_takes_its_question_along(talk: Callable[..., Talk]) -> None:
    said = talk(capture=CaptureConfig(exclude_skills=("bank.me",)))
    said.hear("utterance", "what is my balance")
    said.hear("speech", "ten euros", utterance_id="u1", skill_id="bank.me")
    assert said.log == []


def test_nothing_is_kept_of_an_excluded_user_and_of_what_answers_them(talk: Callable[..., Talk]) -> None:
    said = talk(capture=CaptureConfig(exclude_users=("alice",)))
    said.hear("utterance", "a secret")
    said.hear("matched", "a secret", utterance_id="u1")
    said.hear("speech", "what a secret", Scope("s1", "bob"), utterance_id="u1")
    said.hear("utterance", "hello", Scope("s1", "bob"))
    said.hear("speech", "hi", utterance_id="u2")
    assert said.log == ["hello", "hi"]


def test_what_a_cancelled_utterance_leads_to_is_not_kept(talk: Callable[..., Talk]) -> None:
    said = talk()
    said.hear("utterance", "call my secret")
    said.hear("cancelled", utterance_id="u1")
    said.hear("speech", "calling your secret", utterance_id="u1")
    assert said.log == []


# guest mode: two hours, over a restart


def in_files(folder: Path, word: str) -> bool:
    forms = [word.encode(encoding) for encoding in ("utf-8", "utf-16-le", "utf-16-be")]
    return any(form in path.read_bytes() for path in folder.rglob("*") if path.is_file() for form in forms)


@pytest.mark.parametrize("read", [False, True])
@pytest.mark.parametrize("about", CHOICES, ids=str)
def test_two_hours_of_guest_mode_over_a_restart_leave_nothing_in_any_file(
    tmp_path: Path, clock: Clock, about: dict[str, bool], read: bool
) -> None:
    config = MemoryConfig(data_dir=str(tmp_path), identity=IdentityConfig("session"))

    def quarter_of_an_hour(memory: PersonaMemory, word: str) -> None:
        talk = Talk(clock, memory)
        talk.hear("utterance", f"my {word} is in the shed")
        talk.hear("matched", f"my {word} is in the shed", utterance_id=f"u{clock.now}")
        talk.hear("speech", f"the {word} I see", utterance_id=f"u{clock.now - 1}", skill_id="a.me")
        talk.hear("query", f"my {word}", persona_id="Ada")
        talk.hear("answer", f"your {word}", question=f"my {word}", persona_id="Ada")
        turns = [Turn("user", f"my {word}"), Turn("assistant", f"your {word}", at=clock.now)]
        memory.record(turns, HERE, True, f"d{clock.now}")
        for keep in (
            lambda: memory.remember(word, HERE),
            lambda: memory.update_session(HERE, word),
            lambda: memory.documents(HERE).upsert(word),
        ):
            with pytest.raises(CapturePaused):
                keep()
        assert bool(memory.recall("where is my lamp", HERE)) == read
        assert bool(memory.history(HERE, hanging=True)) == read

    with PersonaMemory.open(config=config, clock=clock) as memory:
        memory.record([Turn("user", "my lamp is in the attic"), Turn("assistant", "good")], HERE)
        memory.capture(HERE, write=False, read=read, until=clock.now + 7200, **about)
        for _ in range(4):
            quarter_of_an_hour(memory, "xylophone")
            clock.now += 890
    for _ in range(2):
        with PersonaMemory.open(config=config, clock=clock) as memory:
            for _ in range(2):
                quarter_of_an_hour(memory, "xylophone")
                clock.now += 800
    ended_at = clock.now = 1000.0 + 7200
    with PersonaMemory.open(config=config, clock=clock) as memory:
        late = [Turn("user", "my xylophone", at=ended_at - 60), Turn("assistant", "noted", at=ended_at - 59)]
        clock.now += 5
        assert memory.record(late, HERE, True, "late") == []
        assert not in_files(tmp_path, "xylophone"), "nothing that was said meanwhile"
        assert memory.capture(HERE, **about).write
        assert memory.recall("where is my lamp", HERE)
        assert memory.record([Turn("user", "my trombone is in the shed")], HERE)
        assert in_files(tmp_path, "trombone"), "the search would have found it"
