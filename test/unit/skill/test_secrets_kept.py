"""A secret that somebody asks to have remembered: offered, kept after a yes, told to its person alone, forgotten."""

from __future__ import annotations

import random
import string
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ovos_bus_client.message import Message
from ovos_utils.fakebus import FakeBus
from support.plugins import Make, Wire
from support.servers.bus import wait_until

from ovos_persona_memory.config import IdentityConfig, MemoryConfig, SecretsConfig
from ovos_persona_memory.errors import InvalidRequest, NotAllowed, SecretRefused, UnknownEntry
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.opm.toolbox import ByKey, Listing, RecallQuery
from ovos_persona_memory.protocol import messages, topics
from ovos_persona_memory.protocol.transport import BusTransport
from ovos_persona_memory.records import ContextRequest, Heard, Scope
from ovos_persona_memory.skill import memory_skill, turn_context
from ovos_persona_memory.skill.memory_skill import PersonaMemorySkill
from ovos_persona_memory.text import languages

SKILL = "ovos-skill-persona-memory.openvoiceos"
TOLD, SECRET, QUESTION = "the guest wifi password is zyxquark", "zyxquark", "what is the guest wifi password"
ASKED = "That is a secret. Shall I keep it, for you alone?"
KEPT, NOT_KEPT = "I keep that for you alone.", "All right, I have not kept it."
HALL = "hall"


PATIENT_S = 20.0


class Home:
    """The skill on a bus, and a memory in a folder that hears what is on it, as the daemon does."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, **settings: Any) -> None:
        self.folder, self.count, self.session = folder, 0, "s1"
        self.memory = PersonaMemory.open(folder, MemoryConfig(**settings))
        transport = BusTransport(host="127.0.0.1", port=1, route="/core", ssl=False)
        self.wire = Wire(self.memory, transport._arrived)
        transport.bus = self.wire  # type: ignore[assignment]  # never started: nothing is sent anywhere
        patch.setattr(memory_skill, "shared_transport", lambda **_: transport)
        for name in ("GLANCE_WITHIN_S", "SECRETS_WITHIN_S"):  # on a busy machine nothing is found out in time
            patch.setattr(memory_skill, name, PATIENT_S)
        self.bus, self.spoken = FakeBus(modernize=False, emit_legacy=False), list[tuple[str, str]]()
        self.skill = PersonaMemorySkill(bus=self.bus, skill_id=SKILL)
        self.skill.settings["shared_rooms"] = HALL
        self.bus.on("message", self._on_the_bus)

    def _on_the_bus(self, frame: str) -> None:
        heard = messages.from_the_bus(messages.decode(frame.encode(), time.time()))
        if isinstance(heard, Heard):
            self.memory.hear(heard)
        spoken = Message.deserialize(frame)
        if spoken.msg_type in topics.SPEAK:
            self.spoken.append((spoken.data["utterance"], spoken.data["meta"]["dialog"]))

    def say(self, text: str, lang: str = "en-US", room: str = "kitchen", session: str | None = None) -> list[str]:
        """What is said to an utterance that no intent engine knows; nothing where it is left to others."""
        self.spoken.clear()
        self.count += 1
        context = {
            "session": {"session_id": session or self.session, "lang": lang, "site_id": room},
            "utterance_id": f"u{self.count}",
        }
        said = {"utterances": [text], "lang": lang}
        self.bus.emit(Message("recognizer_loop:utterance", said, {"session": context["session"]}))
        message = Message("ovos.skills.fallback", {**said, "utterance": text}, context)
        if self.skill.can_converse(message):
            self.skill.converse(message)
        elif self.skill.can_answer(message):
            self.skill.handle_otherwise(message)
        self.bus.emit(Message("ovos.utterance.handled", {}, context))
        wait_until(lambda: self.dialogs[-1:] != ["forget_slowly"], "the end of a deletion")
        return [text for text, _ in self.spoken]

    @property
    def dialogs(self) -> list[str]:
        return [dialog for _, dialog in self.spoken]

    def close(self) -> None:
        self.skill.shutdown()  # no question waits any more
        self.skill.default_shutdown()
        self.memory.close()


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Home]]:
    """Opens homes, each with its settings."""
    with pytest.MonkeyPatch.context() as patch:
        made: list[Home] = []

        def make(**settings: Any) -> Home:
            made.append(Home(tmp_path_factory.mktemp("home"), patch, **settings))
            return made[-1]

        yield make
        for home in made:
            home.close()


@pytest.fixture(scope="module")
def shared(opened: Callable[..., Home]) -> Home:
    made: Home = opened()
    return made


@pytest.fixture
def home(shared: Home) -> Home:
    """The one of all tests that need no settings, with an empty memory and in a session of its own."""
    shared.skill.shutdown()
    shared.memory.forget(everything=True)
    shared.session, shared.wire.away = uuid.uuid4().hex, False
    shared.wire.asked.clear()
    return shared


def left(home: Home, secret: str = SECRET) -> list[str]:
    """Files of the memory in which a secret can be read."""
    forms = {form.encode(name) for form in {secret, secret.lower()} for name in ("utf-8", "utf-16-le", "utf-16-be")}
    held = {path: path.read_bytes() for path in home.folder.rglob("*") if path.is_file()}
    assert held
    return [path.name for path, content in held.items() if any(form in content for form in forms)]


# offered


def test_a_secret_is_kept_after_a_question_and_a_yes_and_then_told(home: Home) -> None:
    assert home.say(f"remember that {TOLD}") == [ASKED]
    assert left(home) == []
    assert home.say("yes please") == [KEPT]
    [kept] = home.memory.list(secrets=True)
    assert (kept.text, kept.metadata) == (TOLD, {"secret": True})
    assert home.say(QUESTION) == [f"You asked me to keep this: {TOLD}."]


def test_what_tells_it_and_what_tells_it_back_is_in_the_log_without_it(opened: Callable[..., Home]) -> None:
    home = opened()
    for said in (f"remember that {TOLD}", "yes", QUESTION):
        home.say(said)
    logged = [turn.text for turn in home.memory._store.turns(Scope())]
    assert len(logged) == 6
    assert QUESTION in logged
    assert not [text for text in logged if SECRET in text]
    assert not [one for one in home.memory.episodes() if SECRET in str(one)]


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("no", [NOT_KEPT]),
        ("forget it", [NOT_KEPT]),
        ("maybe later", ["That was neither yes nor no, so I have not kept it."]),
        ("what time is it", ["That was neither yes nor no, so I have not kept it."]),
    ],
)
def test_without_a_clear_yes_it_is_not_kept_and_that_is_said(home: Home, reply: str, answer: list[str]) -> None:
    home.say(f"remember that {TOLD}")
    assert home.say(reply) == answer
    assert home.say("yes") == []
    assert home.memory.list(secrets=True) == []
    assert left(home) == []


def test_after_a_stop_it_is_not_kept_and_that_is_said(home: Home) -> None:
    home.say(f"remember that {TOLD}")
    home.spoken.clear()
    assert home.skill.stop_session(messages.Session(home.session))
    assert [text for text, _ in home.spoken] == [NOT_KEPT]
    assert home.say("yes") == []


def test_after_a_silence_it_is_not_kept_and_that_is_said(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn_context, "ANSWER_S", 0.01)
    home.say(f"remember that {TOLD}")
    pending = home.skill._moments.existing_state(home.session)
    assert pending is not None
    wait_until(lambda: home.dialogs[-1:] == ["secret_silence"], "the end of patience")
    assert pending.pending is None
    assert home.spoken[-1] == ("I heard no answer, so I have not kept it.", "secret_silence")
    assert home.memory.list(secrets=True) == []


def test_what_is_offered_waits_in_no_request_to_the_memory(home: Home) -> None:
    home.say(f"remember that {TOLD}")
    first = [asked.verb for asked in home.wire.asked]
    assert first == ["remember", "status"]  # refused, and asked whether it may be offered
    home.say("no")
    assert len(home.wire.asked) == 2


def test_where_the_setting_says_so_it_is_refused_as_before(opened: Callable[..., Home]) -> None:
    home = opened(secrets=SecretsConfig(offer=False))
    assert home.say(f"remember that {TOLD}") == ["I do not keep that: it is a secret."]
    assert home.memory.status()["secrets"] == {"offer": False}
    with pytest.raises(SecretRefused):
        home.memory.remember(TOLD, secret=True)


@pytest.mark.parametrize("tag", languages.shipped())
def test_every_language_offers_keeps_and_answers(home: Home, tag: str) -> None:
    told, question, lead, yes, forget = SPOKEN[tag]
    home.say(f"{lead} {told}", tag)
    assert home.dialogs == ["secret_ask"]
    home.say(yes, tag)
    assert home.dialogs == ["secret_kept"]
    [answer] = home.say(question, tag)
    assert told in answer
    home.say(forget, tag)
    assert home.dialogs[0].startswith("forget_about_ask")
    assert SECRET not in home.spoken[0][0]
    home.say(yes, tag)
    assert home.memory.list(secrets=True) == []
    assert left(home) == []


SPOKEN = {
    "en-US": (TOLD, QUESTION, "remember that", "yes", "forget the guest wifi password"),
    "de-DE": ("das WLAN-Passwort ist zyxquark", "wie lautet das WLAN-Passwort", "merk dir dass", "ja",
              "vergiss das WLAN-Passwort"),
    "fr-FR": ("le mot de passe du wifi est zyxquark", "quel est le mot de passe du wifi", "retiens que", "oui",
              "oublie le mot de passe du wifi"),
    "es-ES": ("la contraseña del wifi es zyxquark", "cuál es la contraseña del wifi", "recuerda que", "sí",
              "olvida la contraseña del wifi"),
    "it-IT": ("la password del wifi è zyxquark", "qual è la password del wifi", "ricorda che", "sì",
              "dimentica la password del wifi"),
    "nl-NL": ("het wachtwoord van de wifi is zyxquark", "wat is het wachtwoord van de wifi", "onthoud dat", "ja",
              "vergeet het wachtwoord van de wifi"),
    "pt-PT": ("a palavra-passe do wifi é zyxquark", "qual é a palavra-passe do wifi", "lembra-te que", "sim",
              "esquece a palavra-passe do wifi"),
    "da-DK": ("adgangskoden til wifi er zyxquark", "hvad er adgangskoden til wifi", "husk at", "ja",
              "glem adgangskoden til wifi"),
    "ca-ES": ("la contrasenya del wifi és zyxquark", "quina és la contrasenya del wifi", "recorda que", "sí",
              "oblida la contrasenya del wifi"),
    "gl-ES": ("o contrasinal da wifi é zyxquark", "cal é o contrasinal da wifi", "lembra que", "si",
              "esquece o contrasinal da wifi"),
}  # fmt: skip


# told


def test_where_others_may_hear_it_is_not_said_nor_are_its_words_asked_for(home: Home) -> None:
    home.memory.remember(TOLD, lang="en-US", secret=True)
    home.wire.asked.clear()
    assert home.say(QUESTION, room=HALL) == ["I will not say that aloud here, because others may hear."]
    recalls = [asked.data for asked in home.wire.asked if asked.verb == "recall"]
    assert recalls
    assert not [data for data in recalls if data.get("secrets")]


@pytest.mark.parametrize(
    ("told", "question"),
    [
        ("the alarm code is 4711", "what is the alarm code"),
        ("the alarm code is 4711", "can you tell me the alarm code please"),
        ("the alarm code is 4711", "do you remember the alarm code"),
        ("my bike lock opens with 8822", "how do I open my bike lock"),
        ("my bike lock opens with 8822", "what is the code for my bike lock"),
    ],
)
def test_it_is_told_however_the_question_is_put(home: Home, told: str, question: str) -> None:
    home.memory.remember(told, lang="en-US", secret=True)
    assert home.say(question) == [f"You asked me to keep this: {told}."]


@pytest.mark.parametrize(
    "said", ["the guest wifi password is long", "turn on the wifi", "where is the router", "what is the time", "wifi"]
)
def test_what_asks_for_none_is_left_to_others(home: Home, said: str) -> None:
    home.memory.remember(TOLD, lang="en-US", secret=True)
    assert home.say(said) == []


def test_a_request_to_delete_what_is_no_secret_is_left_to_others_though_a_secret_has_its_words(home: Home) -> None:
    home.memory.remember("the alarm code is 4711", lang="en-US", secret=True)
    assert home.say("delete the alarm") == []
    assert home.say("delete the alarm code")[0].startswith("I'll forget one thing about the alarm code.")


def test_what_is_no_secret_and_answers_better_is_left_to_who_answers_from_memory(home: Home) -> None:
    home.memory.remember("the lock of the boat is 8822", lang="en-US", secret=True)
    home.memory.remember("the boat is in the harbour", lang="en-US")
    assert home.say("where is the boat") == []
    assert home.say("what is the lock of the boat") == ["You asked me to keep this: the lock of the boat is 8822."]


def test_a_memory_that_does_not_answer_holds_nobody_up(
    opened: Callable[..., Home], monkeypatch: pytest.MonkeyPatch
) -> None:
    home = opened()
    for name in ("GLANCE_WITHIN_S", "SECRETS_WITHIN_S"):
        monkeypatch.setattr(memory_skill, name, 0.15)
    home.wire.away = True
    assert home.say(QUESTION) == []
    asked_at = time.monotonic()
    for _ in range(20):
        assert home.say(QUESTION) == []
    assert time.monotonic() - asked_at < 20 * memory_skill.GLANCE_WITHIN_S


def test_it_belongs_to_its_person(opened: Callable[..., Home]) -> None:
    home = opened(identity=IdentityConfig("configured", {"her session": "ada", "his session": "bob"}))
    home.say(f"remember that {TOLD}", session="her session")
    assert home.say("yes", session="her session") == [KEPT]
    assert home.say(QUESTION, session="his session") == []
    assert home.say(QUESTION, session="nobody's") == []
    assert home.say(QUESTION, session="her session") == [f"You asked me to keep this: {TOLD}."]
    assert home.say(f"remember that {TOLD}", session="nobody's") != [ASKED]


def test_a_new_one_takes_the_place_of_the_old_one(home: Home) -> None:
    home.memory.remember(TOLD, lang="en-US", secret=True)
    home.say("remember that the guest wifi password is tulip")
    home.say("yes")
    assert home.say(QUESTION) == ["You asked me to keep this: the guest wifi password is tulip."]
    assert left(home) == []


# and nowhere else


@pytest.mark.parametrize("secret", [True, False])
def test_nothing_gives_it_that_does_not_ask_for_secrets(plugin: Make, secret: bool) -> None:
    told, question = "my parrot is called zyxquark", "what is my parrot called"
    memory = PersonaMemory.open(config=MemoryConfig(backend="inmemory"))
    kept = memory.remember(told, Scope("s1"), key="parrot", lang="en-US", secret=secret)
    tools = plugin("toolbox", memory)
    given = {
        "recall": memory.recall(question, Scope(secrets=True), lang="en-US"),
        "recall of memories": memory.recall(question, kinds={"memory"}, lang="en-US"),
        "list": memory.list(Scope(secrets=True)),
        "list of everybody": memory.list(Scope.everyone(), kinds={"memory", "fact"}),
        "get": memory.get("parrot", Scope(secrets=True)),
        "why by id": memory.why(Scope(secrets=True), id=kept.id),
        "why by key": memory.why(Scope(secrets=True), key="parrot"),
        "context": memory.context(ContextRequest(question, Scope("s1", secrets=True), lang="en-US", recall=99)),
        "retrieval": plugin("retrieval", memory, sure_only=False).query(question, lang="en-US", k=9),
        "tool to recall": tools.memory_recall(RecallQuery(query=question), Scope("s1")),
        "tool to list": tools.memory_list(Listing(), Scope("s1")),
        "Scribe": plugin("chat", memory)._reply(question, Scope("s1"), languages.for_language("en-US")),
    }
    gives = {name for name, one in given.items() if SECRET in str(one)}
    assert gives == (set() if secret else set(given))
    assert SECRET not in str([memory.facts.list(), memory.facts.audit(), memory.episodes(), memory.status()])
    if secret:
        with pytest.raises(UnknownEntry):
            tools.memory_get(ByKey(key="parrot"), Scope("s1"))
        with pytest.raises(UnknownEntry):
            memory.update("parrot", Scope(secrets=True), text="it has none")
        with pytest.raises(NotAllowed):
            memory.remember("it has none", key="parrot")


def test_it_is_given_to_who_asks_for_secrets_and_withheld_without_its_words() -> None:
    memory = PersonaMemory.open(config=MemoryConfig(backend="inmemory"))
    memory.remember(TOLD, key="wifi", lang="en-US", secret=True)
    memory.remember("the guest wifi is slow", lang="en-US")
    [hit, *_] = memory.recall(QUESTION, lang="en-US", secrets=True)
    assert (hit.text, hit.secret, hit.answers) == (TOLD, True, True)
    withheld = memory.recall(QUESTION, lang="en-US", withheld=True)
    assert [(one.text, one.reason, one.secret) for one in withheld if one.secret] == [("", "", True)]
    assert SECRET not in str(withheld)
    assert memory.get("wifi", secrets=True) in memory.list(secrets=True)


def test_what_is_plain_is_refused_as_ever_and_nobody_marks_it_by_hand() -> None:
    memory = PersonaMemory.open(config=MemoryConfig(backend="inmemory"))
    with pytest.raises(SecretRefused):
        memory.remember(TOLD, lang="en-US")
    with pytest.raises(InvalidRequest):
        memory.remember("the bins", metadata={"secret": True})
    assert memory.list(secrets=True) == []


# generated ones


def generated() -> Iterator[tuple[str, str]]:
    """Secrets, each with the sentence that tells it."""
    rng = random.Random(17)
    for number in range(12):
        name = rng.choice(("guest wifi password", "alarm code", "door code", "pin"))
        letters = "".join(rng.choices(string.ascii_lowercase, k=9))
        value = "".join(rng.choices(string.digits, k=8)) if number % 2 else letters
        if not (value.isalpha() and "password" not in name):
            yield value, f"the {name} is {value}"
        else:
            yield value, f"the guest wifi password is {value}"


@pytest.mark.full
def test_of_no_secret_a_byte_is_left_before_a_yes_after_a_no_and_after_it_is_forgotten(home: Home) -> None:
    for value, told in generated():
        topic = told.removesuffix(f" is {value}")
        home.say(f"we are at grandma's on Sunday and {told}")
        assert left(home, value) == [], told
        assert home.say(f"remember that {told}") == [ASKED]
        assert left(home, value) == [], told
        assert home.say("no") == [NOT_KEPT]
        assert left(home, value) == [], told
        home.say(f"remember that {told}")
        assert home.say("yes") == [KEPT]
        assert left(home, value), told
        assert home.say(f"what is {topic}") == [f"You asked me to keep this: {told}."]
        home.say(f"forget {topic}")
        home.say("yes")
        assert home.memory.list(secrets=True) == []
        assert left(home, value) == [], told


def test_what_was_forgotten_of_a_secret_is_known_by_no_hash(home: Home) -> None:
    home.memory.remember("the alarm code is 4711", key="alarm", lang="en-US", secret=True)
    home.memory.forget(key="alarm")
    assert not home.memory.transcript.ledger.was_forgotten("household", "the alarm code is 4711", "en-US")
