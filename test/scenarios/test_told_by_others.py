"""What somebody else told, asked for with a time and a verb of telling: "what did ruby tell you today"."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.talking import Household, household

from ovos_persona_memory.stores.inmemory import InMemoryStore

TALKS = (
    ("en-US", "ruby", "i came in second at the spelling bee", "what did ruby tell you today"),
    ("de-DE", "ole", "ich hab eine zwei plus auf meine zinkenverbindung", "was hat ole heute von der schule erzählt"),
    ("fr-FR", "marcel", "demain je répare le bateau", "qu'est-ce que marcel a dit aujourd'hui sur le bateau"),
    ("es-ES", "maruja", "a la niña la recojo yo de natación", "qué contó maruja hoy de la natación"),
    ("it-IT", "bogdan", "ho aggiustato la recinzione", "cosa ha detto bogdan oggi della recinzione"),
    ("pt-PT", "gracinda", "a farrusca anda a coxear", "o que é que a avó disse hoje da farrusca"),
    ("nl-NL", "sjoerd", "de motor lekt olie", "wat heeft sjoerd vandaag over de motor verteld"),
    ("ca-ES", "nora", "el pou s'ha glaçat", "què ha dit la nora avui"),
    ("gl-ES", "sabela", "o veterinario vén o luns", "que dixo sabela hoxe do veterinario"),
    ("da-DK", "mette", "jeg har syltet fjorten glas rødbeder", "hvad sagde mette i dag"),
)


@pytest.fixture(name="at")
def _at(request: pytest.FixtureRequest) -> Iterator[Household]:
    yield from household(InMemoryStore(), request.param)


@pytest.mark.parametrize(("at", "teller", "told", "asked"), TALKS, indirect=["at"])
def test_what_another_told_is_read_with_their_name_and_nothing_else(
    at: Household, teller: str, told: str, asked: str
) -> None:
    at.say(told, teller)
    at.say("xylophon 12", "zoe")
    (answer,) = at.say(asked, "zoe")
    assert told in answer and teller in answer and "xylophon" not in answer


@pytest.mark.parametrize("at", ["en-US"], indirect=True)
def test_of_somebody_who_told_nothing_then_nothing_is_read(at: Household) -> None:
    at.say("my socket set is at ray's", "marcus")
    at.say("the bee was fun", "ruby")
    assert at.say("what did pops say today", "ruby") == ["I know nothing about that."]
    assert at.say("what did marcus tell you yesterday", "ruby") == ["I know nothing about that."]
    assert "socket" in at.say("what did marcus tell you today", "ruby")[0]


@pytest.mark.parametrize(
    ("at", "asked"),
    [("en-US", "what has mirja got tomorrow"), ("de-DE", "was hat mirja morgen vor")],
    indirect=["at"],
)
def test_what_another_has_on_a_coming_day_is_what_they_said_or_what_names_them(at: Household, asked: str) -> None:
    tomorrow = {"en-US": "tomorrow", "de-DE": "morgen"}[at.lang]
    at.say(f"{tomorrow} kolloquium 11", "mirja")
    at.say(f"{tomorrow} fahrstunde 5", "ole")
    (answer,) = at.say(asked, "ole")
    assert "kolloquium" in answer and "fahrstunde" not in answer


@pytest.mark.parametrize(
    ("at", "first", "second", "asked"),
    [
        # begins as a question may, and tells; begins with an exclamation, and tells
        ("es-ES", "que conste que yo pimiento no puedo", "mi dentista es don eusebio", "qué te he contado yo hoy"),
        ("ca-ES", "ah i a bàsquet m'han posat de base", "el meu aniversari és l'octubre", "què t'he explicat jo avui"),
        ("nl-NL", "ik heb maat veertig", "het zout laden we in delfzijl", "wat heb ik je vandaag allemaal verteld"),
    ],
    indirect=["at"],
)
def test_all_that_the_asker_told_is_read_however_it_begins(at: Household, first: str, second: str, asked: str) -> None:
    at.say(first, "zoe")
    at.say(second, "zoe")
    at.say("xylophon 12", "ole")
    answer = " ".join(at.say(asked, "zoe"))
    assert first in answer and second in answer and "xylophon" not in answer


@pytest.mark.parametrize(
    ("at", "told", "asked"),
    [
        ("en-US", "the chimney sweep comes on friday", "what was it i just told you"),
        ("da-DK", "jeg kan ikke tåle penicillin", "hvad var det jeg lige fortalte dig"),
        ("es-ES", "mi médico es el doctor sariego", "qué te acabo de contar yo"),
        ("es-ES", "mi médico es el doctor sariego", "qué es lo último que te he dicho yo"),
        ("nl-NL", "ik heb maat veertig", "wat heb ik je net verteld"),
        ("it-IT", "domani viene l'idraulico", "che ti ho appena detto io"),
        ("pt-PT", "o meu médico é o doutor vasques", "o que é que eu te acabei de contar"),
    ],
    indirect=["at"],
)
def test_what_was_just_told_is_asked_for_with_these_words_in_any_order(at: Household, told: str, asked: str) -> None:
    at.say(told)
    (answer,) = at.say(asked)
    assert told in answer


@pytest.mark.parametrize("at", ["en-US"], indirect=True)
def test_what_somebody_asked_to_have_remembered_is_quoted_with_their_name(at: Household) -> None:
    at.say("remember that bram is allergic to peanuts", "ineke")
    assert at.say("is bram allergic to peanuts", "henk") == ["ineke told me today: bram is allergic to peanuts."]
    assert at.say("is bram allergic to peanuts", "ineke") == ["You told me today: bram is allergic to peanuts."]
    assert "ineke told me" in " ".join(at.say("what do you know about bram", "henk"))


@pytest.mark.parametrize("at", ["en-US"], indirect=True)
def test_what_somebody_asked_to_have_remembered_of_themselves_is_not_of_who_asks(at: Household) -> None:
    at.say("remember that i am allergic to peanuts", "ineke")
    assert "You told me" not in " ".join(at.say("what am i allergic to", "henk"))


TOLD_LAST = {
    "pt-PT": ("o gato está a dormir", "fico com a gaveta dos legumes", "a minha mãe vem no domingo"),
    "en-US": ("the cat is asleep", "i take the vegetable drawer", "my mother comes on sunday"),
}
SAID = (
    # begins as "what is on {day}" does; names no time; in words that stand in no list
    ("pt-PT", "rui", "a minha mãe manda um queijo de serpa", "o que é que o rui te disse hoje sobre a mãe dele"),
    ("en-US", "pops", "the shed needs a new roof", "has pops been telling you anything about the shed"),
    ("de-DE", "ole", "die regenrinne ist undicht", "hat ole dir irgendwas von der regenrinne erzählt"),
    ("fr-FR", "marcel", "la gouttière fuit encore", "marcel t'a parlé de quoi pour la gouttière"),
    ("es-ES", "maruja", "la canaleta gotea otra vez", "qué te comentó maruja de la canaleta"),
    ("it-IT", "bogdan", "la grondaia perde ancora", "cosa ti ha raccontato bogdan della grondaia"),
    ("nl-NL", "sjoerd", "de dakgoot lekt weer", "heeft sjoerd je iets verteld over de dakgoot"),
)


@pytest.mark.parametrize(("at", "teller", "told", "asked"), SAID, indirect=["at"])
def test_what_was_said_is_asked_for_in_any_words(at: Household, teller: str, told: str, asked: str) -> None:
    at.say(told, teller)
    at.say("xylophon 12", teller)
    (answer,) = at.say(asked, "zoe")
    assert told in answer and teller in answer and "xylophon" not in answer


@pytest.mark.parametrize(
    ("at", "asked"),
    [("pt-PT", "o que é que a matilde acabou de dizer"), ("en-US", "what has matilde just said to you")],
    indirect=["at"],
)
def test_where_neither_a_time_nor_a_thing_is_named_the_last_is_meant(at: Household, asked: str) -> None:
    first, last, other = TOLD_LAST[at.lang]
    at.say(first, "matilde")
    at.say(last, "matilde")
    at.say(other, "rui")
    (answer,) = at.say(asked, "rui")
    assert last in answer and first not in answer and other not in answer


CONTINUED = [
    ("en-US", "i rang the furnace man", "he can't come before friday at nine", "when is the furnace man coming"),
    (
        "de-DE",
        "ich hab die frau gruber angerufen",
        "sie kommt erst am freitag um neun",
        "wann kommt denn die frau gruber",
    ),
    (
        "pt-PT",
        "falei com o custódio por causa do telhado",
        "ele só pode cá vir na sexta às nove da manhã",
        "quando é que o custódio cá vem",
    ),
]


@pytest.mark.parametrize(("at", "first", "then", "asked"), CONTINUED, indirect=["at"])
def test_what_only_goes_on_with_what_its_speaker_said_is_understood_with_it(
    at: Household, first: str, then: str, asked: str
) -> None:
    at.say(first, "lea")
    at.say(then, "lea")
    assert then in at.say(asked, "bo")[0]
    at.begin_anew()
    at.say(first, "lea")
    at.say(then, "bo")  # of somebody else it says nothing
    assert then not in at.say(asked, "bo")[0]


@pytest.mark.parametrize("at", ["en-US"], indirect=True)
def test_a_relation_names_nobody_who_asks(at: Household) -> None:
    at.say("i fly back on sunday at two", "dwayne")
    at.say("my lab is on tuesday", "kayla")
    assert at.say("what did dad just tell you", "kayla") == ["dwayne told me today: i fly back on sunday at two."]


@pytest.mark.parametrize("at", ["en-US"], indirect=True)
def test_of_who_is_asked_about_what_they_told_of_themselves_is_read(at: Household) -> None:
    at.say("i am allergic to nickel", "martina")
    at.say("i live in leeds", "giada")
    told = " ".join(at.say("what do you know about martina", "giada"))
    assert "nickel" in told
    assert "leeds" not in told
