"""The verbs about facts, and facts in a persona's context."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ovos_persona_memory.config import FactsConfig, IdentityConfig, MemoryConfig
from ovos_persona_memory.errors import CapturePaused, InvalidRequest, NotAllowed, SecretRefused, UnknownEntry
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import ContextRequest, Scope, Turn

DAY = 86400.0


class Clock:
    """A clock that stands."""

    now = DAY

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(clock: Clock) -> Iterator[PersonaMemory]:
    config = MemoryConfig(backend="inmemory", facts=FactsConfig(half_life_d=10.0))
    with PersonaMemory.open(config=config, clock=clock) as opened:
        yield opened


def say(memory: PersonaMemory, text: str, day: float = 1.0, user_id: str = "household", role: str = "user") -> str:
    turn = Turn("user" if role == "user" else "assistant", text, at=day * DAY, lang="en-US")
    return memory.record([turn], Scope(session_id="s", user_id=user_id))[0]


def test_facts_are_listed_as_sure_as_they_are_now(memory: PersonaMemory, clock: Clock) -> None:
    say(memory, "I like tea")
    say(memory, "I'm allergic to peanuts", 2)
    clock.now = 11 * DAY
    found = {fact.slot: fact.confidence for fact in memory.facts.list()}
    assert found == {"allergy": 0.8, "likes": 0.4}
    assert [fact.slot for fact in memory.facts.list(limit=1)] == ["allergy"]
    assert [fact.slot for fact in memory.facts.list(slot="likes")] == ["likes"]


def test_facts_are_listed_by_status_and_by_time(memory: PersonaMemory) -> None:
    say(memory, "I live in Berlin", 1)
    say(memory, "I live in Lisbon", 5)
    say(memory, "I might have put the passport in the desk", 6)
    values = {
        status: [fact.value for fact in memory.facts.list(status=status)]
        for status in ("active", "superseded", "waiting", "all")
    }
    assert values == {
        "active": ["Lisbon"],
        "superseded": ["Berlin"],
        "waiting": ["in the desk"],
        "all": ["in the desk", "Lisbon", "Berlin"],
    }
    assert [fact.value for fact in memory.facts.list(at=3 * DAY)] == ["Berlin"]
    with pytest.raises(InvalidRequest, match="status"):
        memory.facts.list(status="other")


def test_the_history_of_a_fact_tells_all_that_was_known_about_its_thing(memory: PersonaMemory) -> None:
    first = say(memory, "I live in Berlin", 1)
    second = say(memory, "I live in Lisbon", 5)
    [fact] = memory.facts.list()
    story = memory.facts.history(fact.id)
    assert [one.value for one in story.facts] == ["Berlin", "Lisbon"]
    assert [(one.what, one.turn_id) for one in story.changes] == [
        ("learned", first),
        ("learned", second),
        ("superseded", second),
    ]
    with pytest.raises(UnknownEntry):
        memory.facts.history("none")


def test_a_corrected_fact_becomes_history(memory: PersonaMemory, clock: Clock) -> None:
    say(memory, "my husband is called Bob", 1)
    [old] = memory.facts.list()
    clock.now = 3 * DAY
    entry = memory.update(old.id, text="my husband is called Tom")
    [new] = memory.facts.list()
    assert (entry.key, entry.text, entry.metadata["value"]) == (new.id, "my husband is called Tom", "Tom")
    assert (new.slot, new.thing, new.value, new.confidence) == ("family", "husband", "Tom", 0.9)
    story = memory.facts.history(new.id)
    assert [(one.text, one.status) for one in story.facts] == [
        ("my husband is called Bob", "superseded"),
        ("my husband is called Tom", "active"),
    ]
    assert ("corrected", "my husband is called Bob", "my husband is called Tom") in [
        (one.what, one.old, one.new) for one in story.changes
    ]
    hits = memory.recall("what is my husband called")
    assert [hit.text for hit in hits if hit.answers] == ["my husband is called Tom"]


def test_a_fact_is_a_memory_by_its_id(memory: PersonaMemory) -> None:
    say(memory, "my cat is called Bob", 2)
    memory.remember("the bins go out on Tuesday", key="bins")
    [fact] = memory.facts.list()
    entry = memory.get(fact.id)
    assert entry is not None
    assert (entry.text, entry.metadata) == (
        "my cat is called Bob",
        {"kind": "fact", "confidence": 0.8, "slot": "pet", "value": "Bob"},
    )
    assert [one.key for one in memory.list()] == ["bins"]
    assert [one.key for one in memory.list(kinds={"fact"})] == [fact.id]
    assert [one.key for one in memory.list(kinds={"memory", "fact"})] == [fact.id, "bins"]
    assert [one.key for one in memory.list(kinds={"memory", "fact"}, limit=1, offset=1)] == ["bins"]
    assert memory.forget(key=fact.id) == 1
    assert memory.get(fact.id) is None


def test_what_cannot_be_a_correction_is_refused(memory: PersonaMemory) -> None:
    say(memory, "my cat is called Bob")
    [fact] = memory.facts.list()
    with pytest.raises(InvalidRequest):
        memory.update(fact.id, text=" ")
    with pytest.raises(SecretRefused):
        memory.update(fact.id, text="my pin is 1234")
    with pytest.raises(UnknownEntry):
        memory.facts.correct(fact.id, "my cat is called Tom", Scope(user_id="ann"))
    assert [one.value for one in memory.facts.list()] == ["Bob"]


def test_a_fact_that_waits_is_taken_in_or_forgotten(memory: PersonaMemory) -> None:
    say(memory, "I might have put the passport in the desk")
    say(memory, "we might move to Rome", 2)
    home, place = memory.facts.list(status="waiting")
    taken = memory.facts.review(place.id, accept=True)
    assert taken is not None
    assert (taken.status, taken.confidence) == ("active", 0.7)
    assert memory.facts.review(home.id, accept=False) is None
    assert [fact.id for fact in memory.facts.list(status="all")] == [place.id]
    assert memory.recall("where is my passport", kinds={"fact"})[0].id == place.id
    for fact_id in (place.id, home.id, "none"):
        with pytest.raises(UnknownEntry):
            memory.facts.review(fact_id, accept=True)


def test_a_fact_taken_in_late_does_not_beat_a_newer_one(memory: PersonaMemory) -> None:
    say(memory, "we might move to Rome", 1)
    say(memory, "I live in Lisbon", 5)
    [waiting] = memory.facts.list(status="waiting")
    taken = memory.facts.review(waiting.id, accept=True)
    assert taken is not None
    assert taken.status == "superseded"
    assert [fact.value for fact in memory.facts.list()] == ["Lisbon"]


def test_decisions_tell_why(memory: PersonaMemory) -> None:
    say(memory, "my cat is called Bob", 1)
    turn_id = say(memory, "my cat is called Bob?", 2)
    newest = memory.facts.decisions(limit=1)
    assert [(one.outcome, one.reason, one.turn_id, one.slot) for one in newest] == [
        ("refused", "question", turn_id, "pet")
    ]
    assert len(memory.facts.decisions()) == 2
    assert memory.facts.decisions(Scope(user_id="ann")) == []


def test_others_reach_nothing(memory: PersonaMemory) -> None:
    say(memory, "my cat is called Bob", user_id="ann")
    [fact] = memory.facts.list(Scope(user_id="ann"))
    other = Scope(user_id="tom")
    assert memory.facts.list(other) == []
    assert memory.facts.get(fact.id, other) is None
    assert memory.get(fact.id, other) is None
    assert memory.forget(other, ids=[fact.id]) == 0
    for ask in (memory.facts.history, memory.facts.get):
        assert ask(fact.id, Scope(user_id="ann"))
    with pytest.raises(UnknownEntry):
        memory.facts.history(fact.id, other)


def test_while_reading_is_off_nothing_is_told(memory: PersonaMemory) -> None:
    say(memory, "my cat is called Bob")
    [fact] = memory.facts.list()
    memory.capture(read=False)
    assert (memory.facts.list(), memory.facts.get(fact.id), memory.facts.decisions()) == ([], None, [])
    assert memory.facts.audit() == []


# audit


def troubles(memory: PersonaMemory) -> dict[str, int]:
    return {one.what: one.count for one in memory.facts.audit()}


def test_an_audit_of_a_sound_memory_finds_nothing(memory: PersonaMemory) -> None:
    say(memory, "my cat is called Bob")
    memory.remember("the bins go out on Tuesday")
    found = memory.facts.audit()
    assert {one.count for one in found} == {0}
    assert {one.advice for one in found} == {""}


def test_an_audit_counts_each_kind_of_trouble(memory: PersonaMemory, clock: Clock) -> None:
    say(memory, "the paper bin is emptied on Friday", 0.5, role="assistant")
    say(memory, "I like tea", 1)
    memory.remember("I like tea", key="tea")
    memory.remember("our garden gate squeaks when it rains hard", key="g1")
    memory.remember("our garden gate squeaks when it rains", key="g2")
    memory.remember("The paper bin is emptied on Friday!", key="loop")
    say(memory, "I might have put the passport in the desk", 2)
    clock.now = 60 * DAY
    found = {one.what: one for one in memory.facts.audit()}
    assert {what: one.count for what, one in found.items()} == {
        "duplicates": 1,
        "near_duplicates": 1,
        "stale": 1,
        "secrets": 0,
        "recall_loops": 1,
        "waiting": 1,
        "refused_proposals": 0,
    }
    assert [bool(one.advice) for one in found.values()] == [one.count > 0 for one in found.values()]
    loop = memory.get("loop")
    assert loop is not None
    assert found["recall_loops"].ids == [loop.id]


def test_an_audit_finds_secrets_that_were_kept_before(memory: PersonaMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ovos_persona_memory.memory.entries.refuse_secret", lambda *_: None)
    memory.remember("my pin is 1234")
    assert troubles(memory)["secrets"] == 1


# in a persona's context


def told(memory: PersonaMemory, utterance: str, **fields: int) -> list[str]:
    request = ContextRequest(utterance, Scope(session_id="new"), lang="en-US", **fields)  # type: ignore[arg-type]  # numbers alone
    return [hit.text for hit in memory.context(request).hits]


def test_what_is_known_of_the_person_joins_where_it_matters(memory: PersonaMemory) -> None:
    texts = ("I'm allergic to peanuts", "my name is Ann", "I live in Lisbon", "my son is allergic to eggs")
    for hour, text in enumerate(texts):
        say(memory, text, hour / 24)
    assert told(memory, "suggest a recipe for tonight") == ["I'm allergic to peanuts"]
    assert told(memory, "good morning") == ["my name is Ann"]
    assert told(memory, "how is the weather") == ["I live in Lisbon"]
    assert told(memory, "tell me a joke") == []


def test_what_is_known_of_the_person_keeps_to_the_limits(memory: PersonaMemory) -> None:
    for thing in ("peanuts", "eggs", "milk", "nuts"):
        say(memory, f"I'm allergic to {thing}")
    assert len(told(memory, "what shall I cook")) == 3
    assert len(told(memory, "what shall I cook", recall=1)) == 1
    assert told(memory, "what shall I cook", recall=0) == []
    assert told(memory, "what shall I cook", recall_tokens=5) == []


def test_a_faded_fact_is_no_part_of_a_prompt(memory: PersonaMemory, clock: Clock) -> None:
    say(memory, "Hello! I like green tea. What about you?")
    asked = "what do I know about my green tea"
    assert "I like green tea" in told(memory, asked)
    clock.now = 60 * DAY
    assert "I like green tea" not in told(memory, asked)


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("my sister gets a rash from walnuts", "what is my sister allergic to"),
        ("my sister gets a rash from walnuts", "who is allergic to walnuts"),
        ("we moved to lisbon last spring", "where do we live"),
        ("our cat bob caught a mouse", "what is the name of my cat"),
        ("I'm a welder", "what is my job"),
        ("we've settled in lisbon", "where do we live"),
        ("I adore hiking", "what do I like"),
    ],
)
def test_a_fact_is_found_by_what_asks_for_its_slot(memory: PersonaMemory, said: str, question: str) -> None:
    say(memory, said, 0.5)
    say(memory, "we have a rabbit")
    hits = memory.recall(question, Scope(user_id="household"), lang="en-US")
    assert [hit.text for hit in hits if hit.answers] == [said]
    assert not any(hit.answers for hit in memory.recall("what is the name of my rabbit", Scope(user_id="household")))


def test_a_fact_that_is_asked_for_by_its_kind_alone_is_the_speakers_own(memory: PersonaMemory) -> None:
    say(memory, "my sister is a nurse", 0.5)
    assert memory.recall("what is my job", Scope(user_id="household"), lang="en-US") == []
    say(memory, "I'm a welder", user_id="anna")
    assert memory.recall("what is your job", Scope(user_id="anna"), lang="en-US") == []
    assert memory.recall("what is my job on mondays", Scope(user_id="anna"), lang="en-US") == []
    hits = memory.recall("what is my job", Scope(user_id="anna"), lang="en-US")
    assert [(hit.text, hit.sure) for hit in hits] == [("I'm a welder", True)]


@pytest.mark.parametrize(
    ("lang", "said", "mine", "yours"),
    [
        ("en-US", "my name is anna", "what is my name", "what is your name"),
        ("en-US", "I live in lisbon", "where do I live", "where do you live"),
        ("de-DE", "ich heiße anna", "wie heiße ich", "wie heißt du"),
        ("nl-NL", "mijn naam is anna", "wat is mijn naam", "wat is jouw naam"),
        ("it-IT", "il mio nome è anna", "qual è il mio nome", "qual è il tuo nome"),
    ],
)
def test_who_asks_the_assistant_about_itself_is_not_told_of_themselves(
    memory: PersonaMemory, lang: str, said: str, mine: str, yours: str
) -> None:
    memory.record([Turn("user", said, at=DAY, lang=lang)], Scope(session_id="s"))
    answering = [
        [hit.text for hit in memory.recall(asked, Scope(user_id="household"), lang=lang) if hit.answers]
        for asked in (mine, yours)
    ]
    assert answering == [[said], []]


def test_what_was_told_the_assistant_of_itself_answers(memory: PersonaMemory) -> None:
    say(memory, "your box is green")
    hits = memory.recall("what colour is your box", Scope(user_id="household"), lang="en-US")
    assert [hit.text for hit in hits if hit.answers] == ["your box is green"]


# facts from a program


def test_a_fact_that_a_program_adds_is_of_its_kind_with_topics_of_its_own(memory: PersonaMemory) -> None:
    added = memory.facts.add("I'm allergic to peanuts", Scope(session_id="s"), 0.7, ["School", " school "], "en-US")
    assert (added.slot, added.value, added.confidence, added.status) == ("allergy", "peanuts", 0.7, "active")
    assert added.topics[-1] == "school" and "food" in added.topics
    assert (added.turn_id, added.session_id, memory.facts.list()) == (None, "s", [added])
    assert [change.what for change in memory.facts.history(added.id).changes] == ["learned"]
    plain = memory.facts.add("the bins go out on Tuesday", lang="en-US")
    assert (plain.text, plain.confidence) == ("the bins go out on Tuesday", 0.9)
    assert memory.recall("when do the bins go out", kinds={"fact"})[0].id == plain.id


def test_a_text_that_is_more_than_one_fact_is_kept_as_it_is(memory: PersonaMemory) -> None:
    for text in ("my son is called Tim and my daughter is called Mia", "our two kids are called Tim and Mia"):
        both = memory.facts.add(text, lang="en-US")
        assert (both.slot, both.text) == (None, text)


def test_what_is_added_again_is_confirmed_and_gets_the_new_topics(memory: PersonaMemory, clock: Clock) -> None:
    first = memory.facts.add("I like tea", confidence=0.5, topics=["drinks"], lang="en-US")
    clock.now += 3600
    again = memory.facts.add("I like tea", confidence=0.1, topics=["breakfast"], lang="en-US")
    assert (again.id, again.confidence) == (first.id, pytest.approx(0.75, abs=0.01))
    assert again.topics[-2:] == ("drinks", "breakfast")
    say(memory, "I like tea", 3)
    assert [fact.id for fact in memory.facts.list()] == [first.id]


def test_what_is_added_takes_the_place_of_what_it_contradicts(memory: PersonaMemory, clock: Clock) -> None:
    clock.now = 9 * DAY
    say(memory, "I live in Berlin", 1)
    added = memory.facts.add("I live in Lisbon", lang="en-US")
    assert memory.facts.list() == [added]
    assert [(fact.value, fact.superseded_by) for fact in memory.facts.list(status="superseded")] == [
        ("Berlin", added.id)
    ]


def test_a_fact_belongs_to_a_persona_only_where_one_is_named(memory: PersonaMemory) -> None:
    for scope, owner in (
        (Scope(persona_id="Ada"), "Ada"),
        (Scope(persona_id="Ada", assumed_persona=True), None),
        (Scope(), None),
    ):
        assert memory.facts.add(f"a fact of {owner} {scope.assumed_persona}", scope).persona_id == owner


def test_facts_are_listed_by_topic(memory: PersonaMemory) -> None:
    for text, topic in (("one", "school"), ("two", "work"), ("three", "school")):
        memory.facts.add(f"number {text}", topics=[topic])
    assert [fact.text for fact in memory.facts.list(topic="School ", limit=1)] == ["number three"]
    assert [fact.text for fact in memory.facts.list(topic="school", offset=1)] == ["number one"]
    assert memory.facts.list(topic="scho") == memory.facts.list(topic=" ") == []


def test_how_sure_a_fact_is_can_be_set_and_fades_from_then_on(memory: PersonaMemory, clock: Clock) -> None:
    fact = memory.facts.add("I like tea", topics=["drinks"], lang="en-US")
    clock.now += 10 * DAY
    set_now = memory.facts.update(fact.id, confidence=0.6)
    assert (set_now.confidence, set_now.topics) == (0.6, fact.topics)
    clock.now += 10 * DAY
    assert memory.facts.list()[0].confidence == 0.3
    assert memory.facts.update(fact.id, topics=["Tea time"]).topics == ("tea time",)
    assert memory.facts.list()[0].confidence == 0.3
    assert [change.what for change in memory.facts.history(fact.id).changes] == ["learned", "updated", "updated"]
    with pytest.raises(UnknownEntry):
        memory.facts.update(fact.id, Scope(user_id="bob"), confidence=0.1)


@pytest.mark.parametrize("confidence", [-0.1, 1.1, float("nan"), "much", True])
def test_a_confidence_that_is_none_is_refused_by_name(memory: PersonaMemory, confidence: object) -> None:
    fact = memory.facts.add("I like tea")
    for ask in (
        lambda: memory.facts.add("I like milk", confidence=confidence),
        lambda: memory.facts.update(fact.id, confidence=confidence),
    ):
        with pytest.raises(InvalidRequest) as refused:
            ask()
        assert refused.value.field == "confidence"
    assert [one.text for one in memory.facts.list()] == ["I like tea"]


def test_what_may_not_be_kept_is_refused_from_a_program_too(memory: PersonaMemory) -> None:
    fact = memory.facts.add("I like tea")
    for text, topics in (("my pin is 4711", []), ("I like milk", ["my pin is 4711"])):
        with pytest.raises(SecretRefused):
            memory.facts.add(text, topics=topics, lang="en-US")
    with pytest.raises(SecretRefused):
        memory.facts.update(fact.id, topics=["my pin is 4711"])
    with pytest.raises(NotAllowed):
        memory.facts.add("I like milk", Scope(user_id="guest"))
    with pytest.raises(InvalidRequest, match="empty"):
        memory.facts.add(" ")
    memory.capture(write=False)
    for ask in (lambda: memory.facts.add("I like milk"), lambda: memory.facts.update(fact.id, confidence=0.1)):
        with pytest.raises(CapturePaused):
            ask()
    assert memory.facts.list() == [fact]


def test_what_is_added_for_a_child_waits_for_review(clock: Clock) -> None:
    config = MemoryConfig(backend="inmemory", identity=IdentityConfig(children={"tim": ("ann",)}))
    tim = Scope(user_id="tim")
    with PersonaMemory.open(config=config, clock=clock) as memory:
        added = memory.facts.add("I like tea", tim, 0.9, ["drinks"], "en-US")
        assert added.status == "waiting"
        assert memory.facts.add("I like tea", tim, lang="en-US").id == added.id
        assert memory.facts.list(tim) == []
        accepted = memory.facts.review(added.id, True, tim)
        assert accepted is not None and memory.facts.list(tim)[0].id == accepted.id


def test_what_was_forgotten_may_be_added_anew(memory: PersonaMemory, clock: Clock) -> None:
    added = memory.facts.add("I like tea", lang="en-US")
    assert memory.forget(ids=[added.id]) == 1
    assert memory.facts.list(status="all") == []
    clock.now += 1
    anew = memory.facts.add("I like tea", lang="en-US")
    assert anew.id != added.id
    say(memory, "I like tea", 0.5)
    assert [fact.id for fact in memory.facts.list()] == [anew.id]
    assert [one.reason for one in memory.facts.decisions()] == ["stated"], "it is no longer what was forgotten"
