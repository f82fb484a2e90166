"""What is never kept: by its form, or because the sentence says so."""

from __future__ import annotations

import pytest

from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.errors import SecretRefused
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import Scope, Turn
from ovos_persona_memory.text.secret_detection import contains_secret, spots, tells_secret

SECRETS = [
    ("my card number is 4111 1111 1111 1111", "en-US"),
    ("it is 5500-0000-0000-0004", "en-US"),
    ("four one one one one one one one one one one one one one one one", "en-US"),
    ("GB82 WEST 1234 5698 7654 32", "en-US"),
    ("meine iban ist DE89370400440532013000", "de-DE"),
    ("my pin is 1234", "en-US"),
    ("my locker combination is forty two right six left", "en-US"),
    ("the number on my debit card is six oh seven one", "en-US"),
    ("meine ec karte hat die nummer sechs null sieben eins und so weiter", "de-DE"),
    ("the wifi password is swordfish", "en-US"),
    ("the code for the alarm is four seven one one", "en-US"),
    ("the token is ghp_abcdefghijklmnop1234", "en-US"),
    ("mein passwort lautet schwertfisch", "de-DE"),
    ("die geheimzahl ist 4711", "de-DE"),
    ("and the safe's four eight two six don't let me forget", "en-US"),
    ("the padlock is 4711", "en-US"),
    ("der tresor ist vier sieben eins eins", "de-DE"),
    ("la caja fuerte es 4711", "es-ES"),
    ("le coffre c'est 4711", "fr-FR"),
    ("la cassaforte è 4711", "it-IT"),
    ("o cofre é 4711", "pt-PT"),
    ("de kluis is 4711", "nl-NL"),
    ("hængelåsen er 4711", "da-DK"),
    ("la caixa forta és 4711", "ca-ES"),
    ("a caixa forte é 4711", "gl-ES"),
    ("the code for the burglar alarm is one nine four four", "en-US"),
    ("the combination of my suitcase is 4 5 9", "en-US"),
    ("die alarmanlage hat den code eins neun vier vier", "de-DE"),
    ("el código de la alarma es uno nueve cuatro cuatro", "es-ES"),
    ("el codi de la porta és 4711", "ca-ES"),
    ("le code du portail est 4711", "fr-FR"),
    ("il codice del cancello è 4711", "it-IT"),
    ("o código do portão é 4711", "pt-PT"),
    ("o código da porta é 4711", "gl-ES"),
    ("de code van het alarm is 4711", "nl-NL"),
    ("koden til alarmen er 4711", "da-DK"),
    ("adgangskoden til wifi er solsikke", "da-DK"),
    ("dass das wlan passwort sonnenblume ist", "de-DE"),
    ("dass das wlan passwort für gäste sonnenblume ist und wir am sonntag kommen", "de-DE"),
    ("dat het wachtwoord van de wifi zonnebloem is", "nl-NL"),
]
HARMLESS = [
    ("my shoe size is 43", "en-US"),
    ("my locker is number forty two", "en-US"),
    ("meine bibliothekskarte hat die nummer sieben", "de-DE"),
    ("I was born on 12 06 1980", "en-US"),
    ("the password is on the note under the keyboard", "en-US"),
    ("I forgot my password", "en-US"),
    ("my password is not important", "en-US"),
    ("call 0123 456 789", "en-US"),
    ("13/52 and 4/52 and 1/52 make 16/52", "en-US"),
    ("4111 1111 1111 1112", "en-US"),
    ("0000 0000 0000 0000", "en-US"),
    ("das passwort liegt im tresor", "de-DE"),
    ("dass das passwort auf dem zettel am kühlschrank ist", "de-DE"),
    ("weißt du was das passwort noch mal ist", "de-DE"),
    ("dass die pin nicht richtig ist", "de-DE"),
    ("dat het wachtwoord op de koelkast is", "nl-NL"),
    ("adgangskoden er glemt", "da-DK"),
    ("the safe is in the cellar", "en-US"),
    ("the gate is two metres wide", "en-US"),
    ("der tresor ist grau", "de-DE"),
    ("my zip code is nine four one one four", "en-US"),
    ("the code is on the fridge and we need three eggs", "en-US"),
    ("der qr code hat drei drei drei punkte", "de-DE"),
    ("mi código postal es 28013", "es-ES"),
    ("mon code postal est 75011", "fr-FR"),
    ("il mio codice postale è 20121", "it-IT"),
]


@pytest.mark.parametrize(("text", "lang"), SECRETS)
def test_a_secret_is_known(text: str, lang: str) -> None:
    assert contains_secret(text, lang)
    assert tells_secret(text, lang)


@pytest.mark.parametrize(("text", "lang"), HARMLESS)
def test_what_is_no_secret_is_not_taken_for_one(text: str, lang: str) -> None:
    assert not contains_secret(text, lang)


@pytest.fixture
def memory() -> PersonaMemory:
    return PersonaMemory.open(config=MemoryConfig(backend="inmemory"))


def test_a_turn_that_tells_a_secret_is_logged_without_its_words(memory: PersonaMemory) -> None:
    scope = Scope(session_id="s")
    memory.record([Turn("user", "remember that my pin is 1234", lang="en-US")], scope)
    [turn] = memory._store.turns(scope)
    assert (turn.text, turn.redacted) == ("", True)
    assert [(one.outcome, one.reason) for one in memory.facts.decisions()] == [("refused", "secret")]
    assert memory.recall("what is my pin") == []


def test_a_secret_is_refused_where_somebody_asks_to_remember_it(memory: PersonaMemory) -> None:
    with pytest.raises(SecretRefused):
        memory.remember("my card number is 4111 1111 1111 1111")
    kept = memory.remember("the passport is in the safe", key="p")
    with pytest.raises(SecretRefused):
        memory.update(kept.key, text="the code for the safe is 1234")
    assert [entry.text for entry in memory.list()] == ["the passport is in the safe"]


@pytest.mark.parametrize(
    ("lang", "text", "secret"),
    [
        ("en-US", "the alarm code is nineteen forty four", True),
        ("en-US", "my pin for the phone is six six oh two", True),
        ("en-US", "my credit card number starts with five four two zero", True),
        ("en-US", "the storage unit gate is pound six six two", True),
        ("en-US", "the alarm code changes every twenty four hours", False),
        ("en-US", "the safe is eighty three inches tall", False),
        ("de-DE", "merk dir den code von der alarmanlage null acht fünfzehn", True),
        ("de-DE", "meine pin fürs handy sechs sechs null zwei", True),
        ("de-DE", "mein bankkonto hat die nummer sieben eins null vier", True),
        ("de-DE", "meine pin liegt in der schublade", False),
        ("de-DE", "mein passwort is schwertfisch", True),
        ("de-DE", "der code von der alarmanlage ist vier zwo acht", True),
        ("de-DE", "das passwort ist aufm zettel", False),
        ("it-IT", "il codice del cancello è novantuno novantadue", True),
        ("nl-NL", "de code van het alarm is achtentachtig eenentachtig", True),
    ],
)
def test_a_code_is_one_however_its_digits_are_said(lang: str, text: str, secret: bool) -> None:
    assert tells_secret(text, lang) is secret


@pytest.mark.parametrize("lang", ["en-US", "de-DE", "pt-PT", "da-DK"])
@pytest.mark.parametrize("numbers", [range(1, 400), range(3000, 3400), range(900, 20, -3), range(0, 4000, 50)])
def test_who_counts_tells_no_secret(lang: str, numbers: range) -> None:
    counted = " ".join(map(str, numbers))
    assert not tells_secret(counted, lang)
    assert not spots(counted, lang)
    assert not tells_secret(" ".join("1234567890" * 30), lang)
    assert tells_secret(f"{counted} is the count 4012 8888 8888 1881", lang)


@pytest.mark.parametrize(
    ("lang", "text", "value"),
    [
        ("da-DK", "koden til sommerhuset er fyrtaarn7", "fyrtaarn7"),
        ("en-US", "the code for the boat house is lantern7", "lantern7"),
        ("de-DE", "der code vom ferienhaus ist laterne7", "laterne7"),
        ("es-ES", "el código del trastero es farol7", "farol7"),
        ("it-IT", "il codice della cantina è lanterna7", "lanterna7"),
        ("nl-NL", "de code van het tuinhuis is lantaarn7", "lantaarn7"),
    ],
)
def test_a_code_of_letters_and_digits_is_one(lang: str, text: str, value: str) -> None:
    assert tells_secret(text, lang)
    assert [text[one.value :] for one in spots(text, lang)] == [value]
    assert not tells_secret(text.removesuffix("7"), lang)
