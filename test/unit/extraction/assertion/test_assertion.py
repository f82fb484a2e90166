"""What stands before, in and behind a statement, and which of it takes the statement back."""

from __future__ import annotations

import pytest

from ovos_persona_memory.extraction.pipeline import extract
from ovos_persona_memory.records import Turn

EN, DE = "en-US", "de-DE"


def told(text: str, lang: str) -> list[tuple[str | None, str | None]]:
    return [(one.slot, one.value) for one in extract(Turn("user", text, lang=lang)) if one.outcome == "learned"]


@pytest.mark.parametrize(
    ("lang", "text", "fact"),
    [
        (EN, "i get migraines so keep the lights dim when i ask", ("health", "migraines")),
        (EN, "i work for ridgeline electric if a call comes in put it through", ("work", "ridgeline electric")),
        (EN, "you can call me dez nobody says desmond except my mother", ("name", "dez")),
        (EN, "who is all in this house my husband is desmond", ("family", "desmond")),
        (EN, "we live in lisbon would you believe it", ("home", "lisbon")),
        (EN, "my wife's a vet in omaha so no jokes", ("work", "vet")),
        (DE, "mein pass liegt im tresor falls du danach gefragt wirst", ("location", "im tresor")),
        (DE, "deshalb fahren wir jeden sommer nach skagen", ("activity", "nach skagen")),
        (DE, "rotes fleisch ess ich nicht mehr", ("dislikes", "rotes fleisch")),
        (DE, "mein bruder der carsten lebt jetzt in wien", ("home", "wien")),
        (EN, "if you want to send it my surname is pritchard", ("name", "pritchard")),
        (EN, "mum says to tell you i've got asthma", ("health", "asthma")),
        (EN, "maybe no bacon in it then i don't eat pork", ("diet", "pork")),
        (EN, "my sister lives in leeds no wait bradford", ("home", "bradford")),
        (EN, "honestly i'm vegetarian now and i mean it", ("diet", "vegetarian")),
        (EN, "i'm off to judo tonight like every friday", ("activity", "judo, like every friday")),
        (EN, "my new phone number is five five five one two", ("detail", "five five five one two")),
        (DE, "ich esse kein fleisch mehr ich mein das ernst", ("diet", "fleisch")),
        (DE, "dann geh ich heute abend rudern wie jeden mittwoch", ("activity", "rudern, jeden mittwoch")),
        (DE, "meine neue handynummer ist null eins sieben sechs", ("detail", "null eins sieben sechs")),
        (DE, "heute bin ich neun geworden", ("age", "neun")),
        (DE, "wenn du mal was bestellst mein nachname ist babic", ("name", "babic")),
        (DE, "mama sagt ich soll dir sagen ich habe asthma", ("health", "asthma")),
        (DE, "hoffentlich ohne schmalz ich esse ja kein schweinefleisch", ("diet", "schweinefleisch")),
        (DE, "wir wohnen in wien stell dir vor", ("home", "wien")),
        (DE, "mein zahnarzt ist der albers nee moment ahlers", ("detail", "ahlers")),
        (EN, "when i grow up i would fly anyway i collect stamps", ("activity", "stamps")),
        (EN, "i'm allergic to celery says the doctor", ("allergy", "celery")),
        (EN, "they always ask so here goes i'm allergic to celery", ("allergy", "celery")),
        (EN, "if anybody in this house asks i'm forty two", ("age", "forty two")),
        (DE, "wenn ich groß bin egal jedenfalls mag ich keine oliven", ("dislikes", "oliven")),
        (DE, "gegen sellerie bin ich allergisch sagt der arzt", ("allergy", "sellerie")),
        (DE, "ich bin linkshänder und die schere da ist ein witz", ("detail", "linkshänder")),
        (DE, "das war toll gestern meine lieblingsfarbe ist blau", ("favourite", "blau")),  # "war" is no "wär"
        (EN, "it says pryce on that form but i go by rhys", ("name", "rhys")),
        (EN, "if joan rings put her through my name is tom", ("name", "tom")),
        (EN, "there's oat if you like i only drink oat milk myself", ("diet", "oat milk")),
        (EN, "did you know i'm eight", ("age", "eight")),
        (EN, "can you tell them to make mac and cheese it's my favorite food", ("favourite", "mac and cheese")),
        (EN, "i should probably tell you i can't take penicillin i break out in hives", ("allergy", "penicillin")),
        (DE, "mach das licht ganz runter ich leide an migräne und es geht grad wieder los", ("health", "migräne")),
        (DE, "falls du gefragt wirst das futter steht unter der stiege", ("location", "unter der stiege")),
        (DE, "ihr könnt mich ruhig tommi nennen", ("name", "tommi")),
        (DE, "ich bin siebeneinhalb", ("age", "siebeneinhalb")),
        (DE, "wenn die anna anruft stell sie durch ich bin gegen nüsse allergisch", ("allergy", "nüsse")),
    ],
)
def test_what_stands_around_a_statement_does_not_hide_it(lang: str, text: str, fact: tuple[str, str]) -> None:
    assert fact in told(text, lang)


def test_what_is_told_of_oneself_and_another_is_ones_own() -> None:
    found = extract(Turn("user", "me and aisha both hate peas", lang=EN))
    assert [(one.slot, one.subject, one.value) for one in found] == [("dislikes", "", "peas")]


@pytest.mark.parametrize(
    ("lang", "text", "subject", "day"),
    [
        (EN, "mum's birthday is the twenty second so i need to post something today", "mum", "twenty second"),
        (DE, "am dreißigsten november ist mamas geburtstag", "mutter", "dreißigsten november"),
        (DE, "ich hab mich vertan meine schwester hat am vierten november geburtstag nicht am dritten",
         "schwester", "vierten november"),
    ],
)  # fmt: skip
def test_a_birthday_is_of_whom_the_utterance_names(lang: str, text: str, subject: str, day: str) -> None:
    found = [one for one in extract(Turn("user", text, lang=lang)) if one.outcome == "learned"]
    assert [(one.slot, one.subject, one.value) for one in found] == [("birthday", subject, day)]


def test_two_statements_in_one_breath_are_two() -> None:
    text = "i still get hay fever every fall the pills are in the spice cabinet"
    assert told(text, EN) == [("health", "hay fever"), ("location", "in the spice cabinet")]


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        (EN, "if i was rich i would say i live in rome"),
        (EN, "she says i get migraines"),
        (EN, "i get migraines she says"),
        (EN, "i'm a cow and i live in ohio"),
        (EN, "a vampire i drink blood and i live in a coffin"),
        (EN, "do you think my husband is desmond"),
        (EN, "i live in the attic just kidding"),
        (EN, "i used to say my cat is called bob"),
        (DE, "ich bin ein gefährlicher drache und wohne im vulkan"),
        (DE, "mama sagt ich wohne in wien"),
        (DE, "hab ich heute termine"),
        (EN, "if you were my dog i would say my name is rex"),
        (EN, "maybe i live in rome"),
        (DE, "wenn du rufst bin ich der könig und wohne im schloss"),
        (DE, "vielleicht wohne ich in rom"),
        (EN, "when i grow up i will collect stones"),
        (EN, "i'm allergic to celery says the king"),
        (EN, "i'm four hundred years old and i'm allergic to cold water"),
        (DE, "auf katzen soll er allergisch sein"),
        (DE, "ich bin ein drache das war nur ein witz"),
    ],
)
def test_what_takes_a_statement_back_does(lang: str, text: str) -> None:
    assert told(text, lang) == []


@pytest.mark.parametrize(
    ("lang", "text", "pet"), [(EN, "we have a dog", "a dog"), (DE, "wir haben einen hund", "hund")]
)
def test_who_has_an_animal_is_none(lang: str, text: str, pet: str) -> None:
    assert told(text, lang) == [("pet", pet)]
