"""Talks of a household with the skill and Scribe: what is said back, and what is taken by a spoken name."""

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


def tell(at: Household, *said: str) -> None:
    for text in said:
        at.say(text)


# forgetting by a spoken name

GARDENER = ("the gardener comes on alternate mondays", "the garden hose leaks at the faucet")


def test_a_name_takes_no_other_word_of_the_same_stem(home: Home) -> None:
    at = home("en-US")
    tell(at, *GARDENER)
    asked = at.say("you don't need to remember the gardener any more")
    assert asked == [f"I'll forget this: {GARDENER[0]}. Say yes to delete it, no to keep it."]
    assert at.say("yes") == ["I have forgotten everything about the gardener."]
    assert at.holds("hose", "leaks")
    assert not at.holds("alternate", "mondays")
    assert at.say("forget the gardener") == ["I know nothing about the gardener, so there is nothing to forget."]
    assert at.say("what did I tell you about the gardener") == ["I know nothing about the gardener."]


def test_a_name_takes_its_other_forms_and_compounds(home: Home) -> None:
    at = home("de-DE")
    tell(at, "der Zahnarzttermin ist am Montag", "unsere Zahnärzte sind beide im Urlaub")
    assert "und: " in at.say("vergiss alles über den Zahnarzt")[0]
    at.say("ja")
    assert not any("ahn" in text for text in at.told())


def test_who_names_a_statement_is_told_of_it_and_of_no_topic(home: Home) -> None:
    at = home("en-US")
    at.say("I like tea")
    assert at.say("forget that I like tea") == ["I'll forget this: I like tea. Say yes to delete it, no to keep it."]
    assert at.say("yes") == ["I have forgotten this: I like tea."]
    assert at.say("forget that I like coffee") == ["There is nothing that I could forget."]


ARTICLES = [
    ("en-US", "the old boiler is in the cellar", "forget the old boiler", "yes", "the old boiler"),
    ("de-DE", "der alte Kessel ist im Keller", "vergiss den alten Kessel", "ja", "über den alten Kessel"),
    ("fr-FR", "la vieille chaudière est à la cave", "oublie la vieille chaudière", "oui", "la vieille chaudière"),
    ("es-ES", "la caldera vieja está en el sótano", "olvida la caldera vieja", "sí", "la caldera vieja"),
]


@pytest.mark.parametrize(("lang", "told", "asked", "yes", "named"), ARTICLES)
def test_the_article_stays_with_its_name(home: Home, lang: str, told: str, asked: str, yes: str, named: str) -> None:
    at = home(lang)
    tell(at, told, asked)
    assert named in at.say(yes)[0]


# what is said back


def test_a_remark_of_sixty_words_is_not_echoed(home: Home) -> None:
    at = home("en-US")
    said = "the man from the boiler company came and looked at everything in the cellar " * 4
    assert at.say(said) == ["Noted."]
    assert at.say(f"remember that {said}") == ["I have noted all of that."]


def test_the_cat_of_a_german_is_no_correction_of_her_daughter(home: Home) -> None:
    at = home("de-DE")
    at.say("meine Tochter heißt Emma")
    assert at.say("meine Katze heißt Minka") == ["Ich merke mir: meine Katze heißt Minka."]
    assert at.say("nein ich meine Susi") == ["Ich habe das berichtigt: meine Katze heißt Susi."]
    assert at.say("was weißt du über meine Katze") == ["Du hast mir heute gesagt: meine Katze heißt Susi."]
