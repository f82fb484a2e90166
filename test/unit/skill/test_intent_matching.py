"""What is meant by what people say to their memory, and what is not for it."""

from __future__ import annotations

import re

import pytest

from ovos_persona_memory.skill.intent_matching import MatchedIntent, pattern, understood
from ovos_persona_memory.skill.intents import INTENTS
from ovos_persona_memory.text import languages

ENGLISH, GERMAN = languages.for_language("en-US"), languages.for_language("de-DE")


def test_a_line_is_one_pattern_for_all_its_wordings() -> None:
    made = re.compile(pattern("[please|can you] forget (that|this [thing]|d'you {topic})"))
    for said in ("forget that ", "please forget this thing ", "can you forget d you the old car "):
        assert made.fullmatch(said), said
    for said in ("forget ", "forget that this ", "please can you forget that ", "forgetthat "):
        assert not made.fullmatch(said), said


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("um could you remember that my Sister is at the Dentist please", "my Sister is at the Dentist"),
        ("Remember that, um, it's me.", "um, it's me"),
        ("my locker is number seven, remember that", "my locker is number seven"),
    ],
)
def test_what_is_to_be_kept_is_in_the_words_that_were_said(text: str, meant: str) -> None:
    assert understood(text, ENGLISH, INTENTS) == MatchedIntent("remember", {"text": meant})


def test_the_wording_that_says_most_is_meant() -> None:
    assert understood("forget everything about my old car", ENGLISH, INTENTS) == MatchedIntent(
        "forget_about", {"topic": "my old car"}
    )
    assert understood("forget everything about me", ENGLISH, INTENTS) == MatchedIntent("forget_me")
    assert understood("hör bitte auf dir Dinge zu merken", GERMAN, INTENTS) == MatchedIntent("quiet_on")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I can't remember that",
        "remember to buy milk",
        "please don't forget to lock the door",
        "forget it",
        "what do you know about jupiter",
        "what did I just say",
        "remember to " + "very " * 60 + "long",
        "what do you know about " + "very " * 60 + "long things",
    ],
)
def test_what_is_for_others_is_left_to_them(text: str) -> None:
    assert understood(text, ENGLISH, INTENTS) is None


@pytest.mark.parametrize(
    ("tag", "text", "intent"),
    [
        ("de-DE", "vergiss das boot vom onkel", None),
        ("it-IT", "cancella la fine del racconto", None),
        ("de-DE", "vergiss alles vom wochenende", "forget_time"),
        ("en-US", "forget the last ten minutes", "forget_time"),
    ],
)
def test_a_small_word_of_a_phrase_for_a_time_is_no_time(tag: str, text: str, intent: str | None) -> None:
    meant = understood(text, languages.for_language(tag), INTENTS)
    assert (meant and meant.intent) == intent


def test_an_intent_that_is_not_asked_for_is_not_meant() -> None:
    assert understood("forget that", ENGLISH, ["remember"]) is None


@pytest.mark.parametrize(
    ("tag", "text"),
    [
        ("fr-FR", "c'est vrai"),
        ("es-ES", "eso es verdad"),
        ("es-ES", "limpia todo"),
        ("it-IT", "come dici"),
        ("pt-PT", "isso é verdade"),
        ("nl-NL", "dat klopt"),
        ("nl-NL", "vertel het"),
        ("ca-ES", "això és veritat"),
        ("da-DK", "glem ikke at købe rugbrød"),
        ("da-DK", "glem det"),
        ("gl-ES", "iso é certo"),
        ("de-DE", "vergiss nicht den müll rauszubringen"),
    ],
)
def test_what_is_for_others_is_left_to_them_in_other_languages(tag: str, text: str) -> None:
    assert understood(text, languages.for_language(tag), INTENTS) is None


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("they have all gone home now so please end guest mode", "guest_off"),
        ("you don't need to keep that any more forget that", "forget_that"),
        ("you should never forget that", None),
        ("my wife will never forget that", None),
    ],
)
def test_a_reason_may_come_first_and_a_clause_is_no_request(text: str, intent: str | None) -> None:
    meant = understood(text, ENGLISH, INTENTS)
    assert (meant and meant.intent) == intent


def test_words_that_mean_nothing_may_stand_anywhere() -> None:
    assert understood("merk dir ab jetzt mal bitte nichts mehr", GERMAN, INTENTS) == MatchedIntent("quiet_on")
    assert understood("vergiss", GERMAN, INTENTS) is None


@pytest.mark.parametrize(
    ("tag", "text", "meant"),
    [
        (
            "en-US",
            "what did i uh what did i tell you about the warranty",
            MatchedIntent("told", {"topic": "the warranty"}),
        ),
        ("en-US", "forget the the last five minutes", MatchedIntent("forget_time", {"period": "five minutes"})),
        ("de-DE", "was hab ich was hab ich dir über inge erzählt", MatchedIntent("told", {"topic": "inge"})),
    ],
)
def test_who_stumbles_over_words_is_understood(tag: str, text: str, meant: MatchedIntent) -> None:
    assert understood(text, languages.for_language(tag), INTENTS) == meant


def test_words_said_twice_are_kept_so_in_what_is_to_be_remembered() -> None:
    assert understood("remember that that that is is fine", ENGLISH, INTENTS) == MatchedIntent(
        "remember", {"text": "that that is is fine"}
    )


@pytest.mark.parametrize(
    ("tag", "text"),
    [
        ("en-US", "turn on guest mode because my parents are coming"),
        ("de-DE", "mach den gastmodus an weil wir besuch kriegen"),
        ("es-ES", "pon el modo invitado que viene gente"),
        ("nl-NL", "zet de gastmodus aan want er komt bezoek"),
    ],
)
def test_a_reason_may_come_last(tag: str, text: str) -> None:
    assert understood(text, languages.for_language(tag), INTENTS) == MatchedIntent("guest_on")


def test_of_a_time_and_a_topic_the_time_is_meant_where_there_is_nothing_else() -> None:
    assert understood("what did i tell you on tuesday", ENGLISH, INTENTS) == MatchedIntent(
        "told_when", {"day": "tuesday"}
    )
    assert understood("what did i tell you about tuesday", ENGLISH, INTENTS) == MatchedIntent(
        "told", {"topic": "tuesday"}
    )


@pytest.mark.parametrize(
    ("tag", "text"),
    [
        ("en-US", "make a note to put eggs on the shopping list"),
        ("es-ES", "apunta leche y huevos en la lista de la compra"),
        ("de-DE", "merk dir milch für die einkaufsliste"),
        ("nl-NL", "onthoud melk voor het boodschappenlijstje"),
    ],
)
def test_a_list_is_for_others(tag: str, text: str) -> None:
    assert understood(text, languages.for_language(tag), INTENTS) is None


@pytest.mark.parametrize(
    "text", ["o que é que sabes da caldeira", "que é que sabes da caldeira", "que sabes da caldeira"]
)
def test_a_phrase_that_means_nothing_may_stand_anywhere(text: str) -> None:
    spoken = languages.for_language("pt-PT")
    assert understood(text, spoken, ["about_anything"]) == MatchedIntent("about_anything", {"topic": "caldeira"})
