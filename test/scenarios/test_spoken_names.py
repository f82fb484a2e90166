"""Several people who share one memory, whom a recogniser of voices names: whoever asks hears who told it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest
from support.talking import Household, household

from ovos_persona_memory.stores.inmemory import InMemoryStore

Home = Callable[[str], Household]


@pytest.fixture
def home() -> Iterator[Home]:
    """A household of this language, with an empty memory."""
    with ExitStack() as stack:
        yield lambda lang: stack.enter_context(contextmanager(household)(InMemoryStore(), lang))


TOLD = [
    ("en-US", "the canoe is at the mill", "what did i tell you about the canoe", "You told me", "ines told me"),
    ("de-DE", "das Kanu liegt an der Mühle", "was habe ich dir über das Kanu gesagt", "Du hast mir", "ines hat mir"),
    ("fr-FR", "le canoë est au moulin", "qu'est-ce que je t'ai dit sur le canoë", "Tu m'as dit", "ines m'a dit"),
    ("nl-NL", "de kano ligt bij de molen", "wat heb ik je over de kano verteld", "Je vertelde me", "ines vertelde me"),
]


@pytest.mark.parametrize(("lang", "said", "question", "yours", "hers"), TOLD)
def test_the_own_words_were_told_by_you_and_those_of_another_by_name(
    home: Home, lang: str, said: str, question: str, yours: str, hers: str
) -> None:
    at = home(lang)
    at.say(said, "ines")
    assert yours in " ".join(at.say(question, "ines"))
    assert hers in " ".join(at.say(question, "omar"))
    assert hers in " ".join(at.say(question))


def test_whose_words_something_is_known_from_is_told_likewise(home: Home) -> None:
    at = home("en-US")
    at.say("the canoe is at the mill", "ines")
    for name, told in (("ines", "ines"), ("omar", "ines")):
        at.say("what did i tell you about the canoe", name)
        answer = " ".join(at.say("how do you know that", name))
        assert "mill" in answer and (told in answer) == (name == "omar")
