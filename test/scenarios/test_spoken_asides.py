"""Talks in which somebody says thanks, okay or no before "that": what counts as told, and what as a remark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from ovos_bus_client.message import Message
from support.talking import SESSION, Household, household

from ovos_persona_memory.errors import NoAnswer
from ovos_persona_memory.skill import intents
from ovos_persona_memory.skill.intent_matching import MatchedIntent
from ovos_persona_memory.skill.turn_context import TurnContext
from ovos_persona_memory.stores.inmemory import InMemoryStore
from ovos_persona_memory.text import languages

Home = Callable[[str], Household]


@pytest.fixture
def home() -> Iterator[Home]:
    """A household of this language, with an empty memory."""
    with ExitStack() as stack:
        yield lambda lang: stack.enter_context(contextmanager(household)(InMemoryStore(), lang))


# "that" behind small talk: what was told, an aside, "forget that", the same for "remember this"

ASIDES = [
    ("en-US", "the heron nests by the weir", "oh lovely thanks", "forget that", "remember this"),
    ("en-US", "that's my uncle's rowing boat", "no thanks", "forget that", "remember this as a note"),
    ("de-DE", "der reiher brütet am wehr", "alles klar danke dir", "vergiss das", "merk dir das als notiz"),
    ("fr-FR", "le héron niche près du barrage", "très bien merci", "oublie ça", "note ça comme souvenir"),
    ("es-ES", "la garza anida junto a la presa", "muy bien gracias", "olvida eso", "guarda eso como recuerdo"),
    ("es-ES", "no ronco", "vale", "olvida eso", "recuerda esto"),
    ("it-IT", "l'airone nidifica alla diga", "ok perfetto", "dimentica questo", "salvalo come promemoria"),
    ("nl-NL", "de reiger broedt bij de stuw", "fijn dank je", "vergeet dat", "sla dat op als herinnering"),
    ("pt-PT", "a garça faz ninho na represa", "está bem obrigado", "esquece isso", "guarda isso na tua memória"),
    ("ca-ES", "el bernat pescaire nia a la resclosa", "molt bé gràcies", "oblida això", "desa això com a nota"),
    ("da-DK", "hejren ruger ved dæmningen", "fint tak", "glem det der", "gem det i din hukommelse"),
    ("gl-ES", "a garza aniña na presa", "moi ben grazas", "esquece iso", "garda iso como nota"),
]


@pytest.mark.parametrize(("lang", "told", "aside", "forget", "keep"), ASIDES)
def test_small_talk_is_not_what_was_told_last(
    home: Home, lang: str, told: str, aside: str, forget: str, keep: str
) -> None:
    at = home(lang)
    at.say(told)
    at.say(aside)
    assert told in at.say(keep)[0]
    assert at.notes() == [told]
    assert {one.text for one in at.memory.facts.list(limit=100)} <= {told}
    at.begin_anew()
    at.say(told)
    at.say(aside)
    assert told in at.say(forget)[0]


DENIED = [
    ("en-US", "the heron nests by the weir", "forget everything about the heron", "no", "forget that"),
    ("de-DE", "der reiher brütet am wehr", "vergiss alles über den reiher", "nein danke", "vergiss das"),
    ("fr-FR", "le héron niche près du barrage", "oublie tout sur le héron", "non merci", "oublie ça"),
    ("it-IT", "l'airone nidifica alla diga", "dimentica tutto sull'airone", "no grazie", "dimentica questo"),
    ("nl-NL", "de reiger broedt bij de stuw", "vergeet alles over de reiger", "nee", "vergeet dat"),
]


@pytest.mark.parametrize(("lang", "told", "about", "no", "forget"), DENIED)
def test_the_answer_to_a_question_of_the_memory_was_not_told(
    home: Home, lang: str, told: str, about: str, no: str, forget: str
) -> None:
    at = home(lang)
    for text in (told, about, no):
        at.say(text)
    assert told in at.say(forget)[0]


def test_what_was_quoted_stays_what_that_means_behind_thanks(home: Home) -> None:
    at = home("en-US")
    for text in ("the heron is called Gustav", "we bought new oars", "what is the heron called", "thanks a lot"):
        at.say(text)
    assert "the heron is called Gustav" in at.say("forget that")[0]


# a phrase that cancels elsewhere: told, the phrase, yes

CANCELLING = [
    ("it-IT", "l'airone nidifica alla diga", "dimenticalo", "sì"),
    ("ca-ES", "el bernat pescaire nia a la resclosa", "oblida-ho", "sí"),
    ("da-DK", "hejren ruger ved dæmningen", "glem det", "ja"),
    ("gl-ES", "a garza aniña na presa", "esquéceo", "si"),
    ("de-DE", "der reiher brütet am wehr", "vergiss es", "ja"),
]


@pytest.mark.parametrize(("lang", "told", "phrase", "yes"), CANCELLING)
def test_forget_it_means_what_was_just_told_and_else_is_left_to_others(
    home: Home, lang: str, told: str, phrase: str, yes: str
) -> None:
    at = home(lang)
    assert _meant(at, phrase) is None
    at.say(told)
    assert told in at.say(phrase)[0]
    at.say(phrase)  # it cancels the question
    assert told in at.told()
    at.say(told)
    at.say(phrase)
    at.say(yes)
    assert told not in at.told()


@pytest.mark.parametrize(("skill", "is_ours"), [("ovos-skill-radio", False), ("persona.openvoiceos", True)])
def test_what_another_skill_took_was_not_told_to_the_memory(home: Home, skill: str, is_ours: bool) -> None:
    at = home("it-IT")
    said = "il volume in cucina è troppo alto"
    at.utterance_id = "u-radio"
    at._hear("utterance", said)
    at._matched(said, "play", skill)
    assert (_meant(at, "dimenticalo") is not None) == is_ours


@pytest.mark.parametrize(("lang", "text"), [("en-US", "never mind"), ("it-IT", "lascia perdere"), ("ca-ES", "tant és")])
def test_never_mind_forgets_nothing(home: Home, lang: str, text: str) -> None:
    at = home(lang)
    at.say(CANCELLING[0][1])
    assert _meant(at, text) is None


def _meant(at: Household, text: str, by: Callable[[TurnContext], Any] = intents.meant) -> Any:
    """The intent of an utterance that is not said."""
    at.utterance_id = "u-next"
    session = {"session_id": SESSION, "lang": at.lang}
    said = {"utterance": text, "utterances": [text], "lang": at.lang}
    return by(TurnContext(Message("said", said, {"session": session}), at._means))


# a memory that does not answer in time


@pytest.mark.parametrize(
    ("lang", "text", "others"),
    [
        ("de-DE", "lösch bitte die nummer vom schornsteinfeger", "lösch bitte den wecker"),
        ("en-US", "could you delete the chimney sweep's number", "could you delete the alarm"),
        ("fr-FR", "efface le numéro du ramoneur", "efface le réveil"),
        ("nl-NL", "wis het nummer van de schoorsteenveger", "wis de wekker"),
    ],
)
def test_a_request_to_delete_is_not_left_to_others_because_the_memory_is_slow(
    home: Home, monkeypatch: pytest.MonkeyPatch, lang: str, text: str, others: str
) -> None:
    at = home(lang)
    assert _meant(at, text) is None  # nothing is known of it: another skill may know it

    def late(*_: Any, **__: Any) -> None:
        raise NoAnswer

    monkeypatch.setattr(type(at.memory), "would_forget", late)
    meant = _meant(at, text)
    assert meant is not None
    assert meant.intent == "forget_about"
    assert _meant(at, others) is None


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("es-ES", "lo del candado del taller no quiero que lo guardes quítalo de tu memoria"),
        ("de-DE", "die sache mit dem strafzettel geht keinen was an nimm die wieder raus"),
    ],
)
def test_a_request_to_forget_in_any_words_is_taken_though_nobody_could_look_up_what_it_names(
    home: Home, monkeypatch: pytest.MonkeyPatch, lang: str, text: str
) -> None:
    at = home(lang)

    def late(*_: Any, **__: Any) -> None:
        raise NoAnswer

    monkeypatch.setattr(type(at.memory), "would_forget", late)
    meant = _meant(at, text)
    assert meant is not None and meant.intent == "forget_about"


@pytest.mark.parametrize(
    ("lang", "told", "asked", "slots"),
    [
        ("en-US", "dave has to bring the long ladder", "what does dave have to bring today", {"whom": "bring"}),
        ("de-DE", "dave muss die lange leiter mitbringen", "was muss dave heute mitbringen", {"whom": "mitbringen"}),
    ],
)
def test_what_its_words_alone_made_a_question_about_a_time_is_answered_where_nothing_was_told_of_that_time(
    home: Home, monkeypatch: pytest.MonkeyPatch, lang: str, told: str, asked: str, slots: dict[str, str]
) -> None:
    at = home(lang)
    at.say(told)
    intent = MatchedIntent("planned_of" if slots else "told_by", slots)
    monkeypatch.setattr(intents, "meant", lambda _: intent)
    assert told in at.say(asked)[0]


@pytest.mark.parametrize(
    ("lang", "text", "intent"),
    [
        ("en-US", "no that was the old bird forget the name Grimaldur", "forget_about"),
        ("de-DE", "nein das war der alte vogel vergiss den namen Grimaldur", "forget_about"),
        ("en-US", "what do i have tomorrow", "planned"),
        ("de-DE", "was hab ich morgen für einen termin", "planned"),
        ("nl-NL", "wat vertelde truus je gisteren", "told_by"),
    ],
)
def test_what_a_hurried_look_cannot_tell_is_left_to_a_patient_one(
    home: Home, monkeypatch: pytest.MonkeyPatch, lang: str, text: str, intent: str
) -> None:
    at = home(lang)
    assert _meant(at, text, intents.possibly_meant) is None  # in time it is known that nothing is

    def late(*_: Any, **__: Any) -> None:
        raise NoAnswer

    monkeypatch.setattr("support.talking.answer", late)
    assert _meant(at, text, intents.possibly_meant).intent == intent
    assert _meant(at, text) is None  # the memory is away: it is nobody's but another skill's
    for others in (
        "turn the kitchen light off",
        "what do you know about napoleon",
        "how many seals has norway",
    ):
        assert _meant(at, others, intents.possibly_meant) is None


@pytest.mark.parametrize(
    ("lang", "text", "is_question"),
    [
        ("es-ES", "y para qué día era el trabajo del doctor", True),
        ("pt-PT", "para que horas é o jantar", True),
        ("en-US", "where does the bus stop", True),
        ("es-ES", "para la música por favor", False),
        ("en-US", "could you please stop", False),
        ("en-US", "why don't you stop", False),
        ("nl-NL", "kan je de muziek stop zetten", False),
    ],
)
def test_a_question_is_the_memorys_where_its_words_would_be_taken_for_a_request_to_stop(
    home: Home, monkeypatch: pytest.MonkeyPatch, lang: str, text: str, is_question: bool
) -> None:
    wanted = MatchedIntent("question") if is_question else None
    at = home(lang)
    assert _meant(at, text) == wanted

    def late(*_: Any, **__: Any) -> None:
        raise NoAnswer

    monkeypatch.setattr("support.talking.answer", late)
    assert _meant(at, text, intents.possibly_meant) == wanted


# what asks in the words of a statement

REMARKS = [
    ("fr-FR", "le facteur passe vers midi"),
    ("it-IT", "il postino passa verso mezzogiorno"),
    ("es-ES", "el cartero pasa hacia mediodía"),
    ("pt-PT", "o carteiro passa por volta do meio-dia"),
    ("ca-ES", "el carter passa cap al migdia"),
    ("gl-ES", "o carteiro pasa cara ao mediodía"),
    ("nl-NL", "de postbode komt rond de middag"),
    ("da-DK", "postbuddet kommer ved middagstid"),
]


@pytest.mark.parametrize(("lang", "told"), REMARKS)
def test_a_statement_of_which_nothing_is_known_is_a_remark(home: Home, lang: str, told: str) -> None:
    at = home(lang)
    answered = at.say(told)
    assert told in at.told()
    assert answered[0] not in _nothing_known(lang)


QUESTIONS = [
    ("fr-FR", "le facteur passe à quelle heure"),
    ("fr-FR", "le facteur passe-t-il vers midi"),
    ("es-ES", "el cartero a qué hora pasa"),
    ("pt-PT", "o carteiro passa a que horas"),
    ("de-DE", "kommt der briefträger mittags"),
    ("nl-NL", "komt de postbode rond de middag"),
    ("da-DK", "kommer postbuddet ved middagstid"),
    ("en-US", "is the postman here by noon"),
]


@pytest.mark.parametrize(("lang", "asked"), QUESTIONS)
def test_a_question_word_or_its_verb_in_front_makes_a_question(home: Home, lang: str, asked: str) -> None:
    assert home(lang).say(asked)[0] in _nothing_known(lang)


def test_a_remark_is_not_answered_with_another_thing_of_the_same_person(home: Home) -> None:
    at = home("pt-PT")
    at.say("o carro da sílvia é o cinzento")
    (reply,) = at.say("a sílvia gosta de ópera")
    assert reply.startswith("Anotado.") and "cinzento" not in reply


def _nothing_known(lang: str) -> tuple[str, ...]:
    return languages.for_language(lang).sentences("nothing_known")
