"""Random talks against what must be there: nothing goes that was not read back, nothing that was read back stays."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from support.talking import Household, household

from ovos_persona_memory.stores.base.store import Store
from ovos_persona_memory.text import languages

SPOKEN = languages.for_language("en-US")
THINGS = ("ladder", "spare key", "drill", "blue tent", "tent", "passport")
PLACES = ("cellar", "attic", "shed behind the house", "shed", "kitchen drawer")
PEOPLE = ("Greta", "Tom", "Greta's brother")
FOODS = ("plums", "plums and pears", "garlic bread", "garlic")
ASKED = re.compile(
    r"I'll forget (?:this: (?P<one>.+?)|these two: (?P<first>.+?); and: (?P<second>.+?)"
    r"|this: (?P<of>.+?); and: (?P<many>.+?); and (?P<more>\w+) more)\. Say yes"
)
NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}

PHASES = (Phase.explicit, Phase.generate)
"""A failing talk is short enough to read; making it shorter takes minutes on a disk."""

put = st.builds("the {} is in the {}".format, st.sampled_from(THINGS), st.sampled_from(PLACES))
liked = st.builds("{} likes {} for breakfast".format, st.sampled_from(PEOPLE), st.sampled_from(FOODS))
steps = st.one_of(
    st.tuples(st.just("tell"), st.one_of(put, liked)),
    st.tuples(st.just("keep"), put.map("remember that {}".format)),
    st.tuples(st.just("ask"), st.sampled_from(THINGS).map("where is the {}".format)),
    st.tuples(st.just("ask"), st.sampled_from(PEOPLE).map("what does {} like for breakfast".format)),
    st.tuples(st.just("correct"), st.sampled_from(PLACES).map("no it's in the {}".format)),
    st.tuples(st.just("forget"), st.sampled_from(["forget that", "delete what i just said"])),
    st.tuples(st.just("forget"), st.sampled_from((*THINGS, *PEOPLE)).map("forget the {}".format)),
    st.tuples(st.just("forget"), st.one_of(put, liked).map("forget that {}".format)),
    st.tuples(st.just("yes"), st.sampled_from(["yes", "yes please"])),
    st.tuples(st.just("no"), st.just("no keep it")),
    st.tuples(st.just("note"), st.just("remember this")),
)


def said(text: str) -> tuple[str, ...]:
    """The words of a statement, as they are compared."""
    return tuple(languages.fold(SPOKEN.without_lead(text)))


class Model:
    """Follows a talk: what is told at each moment, and what was read back."""

    def __init__(self, home: Household) -> None:
        self.home = home
        self.read_back: list[tuple[str, ...]] = []
        self.more = 0
        home.begin_anew()

    def told(self) -> set[tuple[str, ...]]:
        """Every statement that is kept of the person, in whatever record."""
        return {said(text) for text in self.home.told() if not SPOKEN.is_question(text) and not _is_request(text)}

    def step(self, kind: str, text: str) -> None:
        before, asked = self.told(), bool(self.read_back)
        reply = " ".join(self.home.say(text))
        gone = before - self.told()
        if asked and kind == "yes":
            self.check_deletion(gone)
        elif asked and kind == "forget":  # a request that is said again confirms what was read back
            assert gone <= set(self.read_back), f"{text!r} took {gone}"
        elif kind not in ("correct", "keep"):  # a lasting memory that is put right has other words from then on
            assert not gone, f"{text!r} took {gone}"
        if kind == "tell":
            assert said(text) in self.told(), f"{text!r} was answered with {reply!r}, and is not kept"
        self.note(reply)

    def check_deletion(self, gone: set[tuple[str, ...]]) -> None:
        left = [words for words in self.read_back if any(said(text) == words for text in self.home.texts())]
        assert not left, f"read back, and still there: {left}"
        beyond = gone - set(self.read_back)
        assert len(beyond) <= self.more, f"not read back, and gone: {beyond}"

    def note(self, reply: str) -> None:
        found = ASKED.search(reply)
        texts = [one for one in found.groups()[:-1] if one] if found else []
        self.read_back = [said(text) for text in texts]
        self.more = NUMBERS[found["more"]] if found and found["more"] else 0


def _is_request(text: str) -> bool:
    return languages.fold(text)[:1] in (["no"], ["yes"]) or text in ("remember this", "forget that")


@pytest.fixture
def home(store: Store) -> Iterator[Household]:
    yield from household(store)


@pytest.mark.full
@pytest.mark.parametrize(
    "backend", ["inmemory", "sqlite", pytest.param("postgres", marks=pytest.mark.full)], indirect=True
)
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, phases=PHASES)
@given(talk=st.lists(steps, min_size=4, max_size=14))
def test_nothing_goes_that_was_not_read_back(home: Household, talk: list[tuple[str, str]]) -> None:
    model = Model(home)
    for kind, text in talk:
        model.step(kind, text)


@pytest.mark.parametrize("backend", ["inmemory"], indirect=True)
def test_the_model_sees_a_deletion_that_takes_too_much(home: Household) -> None:
    """The looking itself is proved: who deletes by words takes more than was read back."""
    model = Model(home)
    for text in ("the tent is in the shed", "the blue tent is in the attic"):
        model.step("tell", text)
    model.step("forget", "forget that the tent is in the shed")
    before = model.told()
    home.memory.forget(query="tent")
    with pytest.raises(AssertionError, match="not read back"):
        model.check_deletion(before - model.told())


TALKS = {
    "what the last answer quoted": (
        [
            "my cat is called Bob",
            "I called the vet about the cat and she said ten drops a day",
            "what is my cat called",
        ],
        "forget that",
        "my cat is called Bob",
        ["I called the vet about the cat and she said ten drops a day"],
    ),
    "the last thing told": (
        ["I like tea in the morning with a drop of milk", "I like tea"],
        "forget that",
        "I like tea",
        ["I like tea in the morning with a drop of milk"],
    ),
    "a statement that is named": (
        ["I like tea in the morning with a drop of milk", "I like tea", "the kettle is new and very loud"],
        "forget that I like tea",
        "I like tea",
        ["I like tea in the morning with a drop of milk", "the kettle is new and very loud"],
    ),
    "a thing that is named": (
        ["the spare cash is in the blue teapot", "the teapot came from aunt May"],
        "forget the spare cash",
        "the spare cash is in the blue teapot",
        ["the teapot came from aunt May"],
    ),
    "never the question": (
        ["the plumber comes on friday", "where do penguins sleep at night"],
        "forget what i just told you",
        "the plumber comes on friday",
        [],
    ),
}


@pytest.mark.parametrize("backend", ["inmemory"], indirect=True)
@pytest.mark.parametrize("name", TALKS)
def test_exactly_what_was_spoken_of_is_read_back_and_goes(home: Household, name: str) -> None:
    told, asked, goes, stays = TALKS[name]
    for text in told:
        home.say(text)
    assert home.say(asked) == [f"I'll forget this: {goes}. Say yes to delete it, no to keep it."]
    assert home.say("yes please")[0].startswith("I have forgotten")
    assert said(goes) not in {said(text) for text in home.texts()}
    assert {said(text) for text in stays} <= {said(text) for text in home.told()}


@pytest.mark.parametrize("backend", ["inmemory"], indirect=True)
def test_of_many_things_the_first_two_are_read_and_how_many_more(home: Household) -> None:
    for text in ("the boat is in the harbour", "the boat needs paint in spring", "the boat is called Hilda"):
        home.say(text)
    [asked] = home.say("forget everything about the boat")
    assert asked.startswith(
        "I'll forget this: the boat is called Hilda; and: the boat needs paint in spring; and one more."
    )
    home.say("yes")
    assert not home.holds("boat")


@pytest.mark.parametrize("backend", ["inmemory"], indirect=True)
def test_what_is_told_again_after_forgetting_is_kept(home: Household) -> None:
    for text in ("the hamster is called professor nibbles", "forget everything about the hamster", "yes"):
        home.say(text)
    assert not home.holds("nibbles")
    assert home.say("the hamster is called professor nibbles") == [
        "I'll remember: the hamster is called professor nibbles."
    ]
    assert "the hamster is called professor nibbles" in home.told()
    assert home.say("what is the hamster called") == ["You told me today: the hamster is called professor nibbles."]
    facts = [fact.text for fact in home.memory.facts.list()]
    assert facts == ["the hamster is called professor nibbles"]


CORRECTIONS = {
    "what was quoted": (
        ["remember that the bins go out on tuesday", "the exam is on monday", "when is the exam"],
        "that's wrong it's on friday",
        "when is the exam",
        "the exam is on friday",
    ),
    "one value, named": (
        ["greta is allergic to soy"],
        "no greta is allergic to eggs not soy",
        "what is greta allergic to",
        "greta is allergic to eggs",
    ),
    "a bare value": (
        ["the dentist is on tuesday at ten"],
        "no sorry monday",
        "when is the dentist",
        "the dentist is on monday at ten",
    ),
    "a place": (
        ["the drill is in the shed", "the saw is in the attic"],
        "oops no it's in the cellar",
        "where is the saw",
        "the saw is in the cellar",
    ),
    "what is denied": (
        ["we are going to Venice in June"],
        "we're not going to Venice, we go to Porto",
        "where are we going in June",
        "we are going to Porto in June",
    ),
    "not this but that": (
        ["we fly to Oslo in May"],
        "no not to Oslo but to Bergen",
        "where do we fly to in May",
        "we fly to Bergen in May",
    ),
}


@pytest.mark.parametrize("backend", ["inmemory"], indirect=True)
@pytest.mark.parametrize("name", CORRECTIONS)
def test_a_correction_changes_what_was_just_spoken_of(home: Household, name: str) -> None:
    told, corrected, question, right = CORRECTIONS[name]
    for text in told:
        home.say(text)
    assert home.say(corrected) == [f"I have corrected that: {right}."]
    assert home.say(question) == [f"You told me today: {right}."]
    untouched = {said(text) for text in told[:-1] if not SPOKEN.is_question(text)} - {said("the exam is on monday")}
    assert untouched <= {said(text) for text in home.told()}


@pytest.mark.parametrize("backend", ["inmemory"], indirect=True)
@pytest.mark.parametrize(
    ("told", "called_off", "question"),
    [
        ("the meeting is on thursday at ten", "the meeting is cancelled", "when is the meeting"),
        ("the swimming lesson is on monday", "the swimming lesson was moved to friday", "when is the swimming lesson"),
    ],
)
def test_what_was_called_off_is_not_quoted_as_valid_any_more(
    home: Household, told: str, called_off: str, question: str
) -> None:
    home.say(told)
    assert told in " ".join(home.say(question))
    home.say(called_off)
    answer = " ".join(home.say(question))
    assert told not in answer
    assert called_off.rstrip(".") in answer
    assert told in home.told(), "it stays in the log as it was said"


@pytest.mark.parametrize("backend", ["inmemory"], indirect=True)
def test_this_is_what_was_just_said_and_nothing_is_made_of_a_pronoun(home: Household) -> None:
    assert home.say("remember this") == ["What shall I remember?"]
    assert home.say("oh nothing") == ["All right, there is nothing new to remember."]
    home.say("the vet is called doctor Okafor")
    assert home.say("write that down please") == ["I'll remember: the vet is called doctor Okafor."]
    home.say("what is the vet called")
    assert home.say("keep that in mind") == ["I'll remember: the vet is called doctor Okafor."]
    assert set(home.notes()) == {"the vet is called doctor Okafor"}
    assert home.say("remember this") == ["I'll remember: the vet is called doctor Okafor."]


@pytest.mark.parametrize("backend", ["inmemory"], indirect=True)
@pytest.mark.parametrize(
    "text", ["turn the volume up please", "forget the milk in the fridge of the neighbours tomorrow"]
)
def test_what_is_not_understood_is_not_said_to_be_kept(home: Household, text: str) -> None:
    assert "kept" not in " ".join(home.say(text))
