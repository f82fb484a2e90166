"""What an utterance cannot tell of its speaker and theirs."""

from __future__ import annotations

import pytest

from ovos_persona_memory.extraction.pipeline import extract
from ovos_persona_memory.records import Turn

EN, DE = "en-US", "de-DE"


def learned(lang: str, text: str) -> list[tuple[str | None, str, str | None]]:
    return [
        (one.slot, one.subject, one.value) for one in extract(Turn("user", text, lang=lang)) if one.outcome == "learned"
    ]


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        (EN, "the fellow across the lane has three huskies and not one of them is trained"),
        (DE, "frau clausen hat einen hund der heißt balu"),
        (DE, "der polier bei uns hat schon wieder einen bandscheibenvorfall"),
        (DE, "das mit den äpfeln hat sich erledigt ich bin doch nicht allergisch dagegen"),
        (EN, "my brother's a monkey"),
        (DE, "meine schwester ist eine hexe"),
        (EN, "claire from work is pregnant"),
        (DE, "die frau nebenan ist krankenschwester"),
        (DE, "die hexe im hörspiel sagt meine katze heißt maunzi"),
        (DE, "meine puppe wohnt in paris und arbeitet als bäckerin"),
        (DE, "die frau meixner mag kein obst"),
        (DE, "als zahntechniker verdient man in der schweiz besser"),
        (DE, "ich bin der weltmeister im geschirrspüler einräumen"),
        (DE, "ich bin vier monate jünger als tomke"),
        (EN, "i'm the queen of naps"),
    ],
)
def test_what_is_of_others_or_denied_is_not_learned(lang: str, text: str) -> None:
    assert learned(lang, text) == []


@pytest.mark.parametrize(
    ("lang", "text", "told"),
    [
        (EN, "we have a husky", ("pet", "", "husky")),
        (EN, "my brother has a husky", ("pet", "brother", "husky")),
        (
            EN,
            "if the delivery fella rings we're at twenty seven cotter street",
            ("home", "", "twenty seven cotter street"),
        ),
        (DE, "wir haben einen hund der heißt balu", ("pet", "", "balu")),
        (DE, "oma hat einen hund der heißt balu", ("pet", "oma", "balu")),
        (DE, "meine schwester lebt in zagreb", ("home", "schwester", "zagreb")),
        (DE, "ich bin gegen äpfel allergisch", ("allergy", "", "äpfel")),
        (DE, "meine frau mag kein obst", ("dislikes", "frau", "obst")),
        (DE, "ich bin vier jahre alt", ("age", "", "vier")),
        (DE, "ich bin gelernter zahntechniker", ("work", "", "zahntechniker")),
        (EN, "i'm in fourth grade", ("detail", "", "fourth grade")),
        (EN, "i teach fourth grade", ("work", "", "fourth grade")),
        (DE, "ich gehe in die vierte klasse", ("detail", "", "vierte klasse")),
    ],
)
def test_what_is_of_the_speaker_and_theirs_is(lang: str, text: str, told: tuple[str, str, str]) -> None:
    assert learned(lang, text) == [told]


@pytest.mark.parametrize(
    ("lang", "text", "told"),
    [
        (EN, "Do you know what an axolotl is? It's my favourite animal.", ("favourite", "", "axolotl")),
        (EN, "Book a table under Baird, that's my last name.", ("name", "", "Baird")),
        (EN, "Iloilo, in the Philippines. I was born there.", ("origin", "", "Philippines")),
        (EN, "Any cheap flights to Dundee at Christmas? That's where I'm from.", ("origin", "", "Dundee")),
        (DE, "Wie ist das Wetter in Leer? Da bin ich nämlich geboren.", ("origin", "", "Leer")),
        (DE, "Zeig mir was über Seehunde. Das sind meine Lieblingstiere.", ("favourite", "", "Seehunde")),
    ],
)
def test_what_was_just_named_can_be_taken_up(lang: str, text: str, told: tuple[str, str, str]) -> None:
    assert learned(lang, text) == [told]


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        (EN, "Play Local Hero. It's my turn."),
        (EN, "Any flights to Dundee? That's where he is from."),
        (DE, "Wie ist das Wetter in Leer? Da bin ich morgen."),
        (DE, "donnerstags sing ich da bin ich nie vor zehn zu hause"),
    ],
)
def test_not_all_that_is_named_is_told(lang: str, text: str) -> None:
    assert [one for one in learned(lang, text) if one[0] in ("origin", "home", "favourite", "name")] == []


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        (EN, "the mayor is a londoner by birth"),
        (DE, "der bürgermeister ist gebürtiger schwabe"),
        (DE, "die physiotherapeutin raucht wie ein schlot"),
        (EN, "then i say you were born in may"),
        (DE, "dann sag ich du bist am ersten april geboren"),
        (DE, "der lennox aus meiner klasse hat einen husky"),
    ],
)
def test_what_is_said_of_another_is_not_the_speakers(lang: str, text: str) -> None:
    assert learned(lang, text) == []


@pytest.mark.parametrize(
    ("lang", "text", "told"),
    [
        (DE, "ich bin gebürtiger schwabe", ("origin", "", "schwabe")),
        (DE, "ich bin am ersten april geboren", ("birthday", "", "ersten april")),
        (EN, "i was born in may", ("birthday", "", "may")),
        (DE, "mein bruder lennox hat einen husky", ("pet", "bruder", "husky")),
    ],
)
def test_the_speakers_own_is_learned(lang: str, text: str, told: tuple[str, str, str]) -> None:
    assert told in learned(lang, text)
