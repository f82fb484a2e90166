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


WHEN = [
    ("en-US", "the rabbit needs new hay", "the choir meets at eight", "what did i tell you today"),
    ("de-DE", "der Hase braucht neues Heu", "der Chor trifft sich um acht", "was habe ich dir heute erzählt"),
    ("es-ES", "el conejo necesita heno nuevo", "el coro se reúne a las ocho", "qué te he contado hoy"),
    ("da-DK", "kaninen skal have nyt hø", "koret mødes klokken otte", "hvad har jeg fortalt dig i dag"),
]


@pytest.mark.parametrize(("lang", "hers", "his", "question"), WHEN)
def test_who_asks_what_they_told_hears_their_own_words_and_who_told_nothing_hears_all(
    home: Home, lang: str, hers: str, his: str, question: str
) -> None:
    at = home(lang)
    at.say(hers, "ines")
    at.say(his, "omar")
    answer = " ".join(at.say(question, "ines"))
    assert hers in answer and his not in answer
    assert his in " ".join(at.say(question, "omar"))
    everything = " ".join(at.say(question, "lea"))
    assert hers in everything and his in everything


def test_several_who_ask_what_they_told_hear_the_words_of_all(home: Home) -> None:
    at = home("en-US")
    at.say("the rabbit needs new hay", "ines")
    at.say("the choir meets at eight", "omar")
    answer = " ".join(at.say("what did we tell you today", "ines"))
    assert "rabbit" in answer and "choir" in answer


THAT = [
    ("en-US", "the rabbit needs new hay", "the choir meets at eight", "forget that"),
    ("de-DE", "der Hase braucht neues Heu", "der Chor trifft sich um acht", "vergiss das"),
    ("fr-FR", "le lapin a besoin de foin", "la chorale se retrouve à huit heures", "oublie ça"),
    ("it-IT", "il coniglio ha bisogno di fieno", "il coro si trova alle otto", "dimentica quello"),
]


@pytest.mark.parametrize(("lang", "hers", "his", "request_"), THAT)
def test_forget_that_means_what_its_speaker_told_last(
    home: Home, lang: str, hers: str, his: str, request_: str
) -> None:
    for name, meant, other in (("ines", hers, his), ("omar", his, hers)):
        at = home(lang)
        at.say(hers, "ines")
        at.say(his, "omar")
        asked = " ".join(at.say(request_, name))
        assert meant in asked and other not in asked
