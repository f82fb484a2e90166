"""Talks of a household with the skill and Scribe: what is said back, and what is taken by a spoken name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest
from support.talking import Household, household

from ovos_persona_memory.skill import intents
from ovos_persona_memory.skill.acts import requested
from ovos_persona_memory.skill.intent_matching import understood
from ovos_persona_memory.stores.inmemory import InMemoryStore
from ovos_persona_memory.text import languages

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


def test_a_name_takes_no_word_that_another_language_would_take_for_it(home: Home) -> None:
    at = home("fr-FR")
    tell(at, "le jardinier vient lundi", "le tuyau du jardin fuit")
    assert at.say("oublie le jardinier") == [
        "Je vais oublier ceci : le jardinier vient lundi. Dis oui pour l'effacer, non pour le garder."
    ]


def test_a_name_takes_its_other_forms_and_compounds(home: Home) -> None:
    at = home("de-DE")
    tell(at, "der Zahnarzttermin ist am Montag", "unsere Zahnärzte sind beide im Urlaub")
    assert "und: " in at.say("vergiss alles über den Zahnarzt")[0]
    at.say("ja")
    assert not any("ahn" in text for text in at.told())


@pytest.mark.parametrize(
    ("lang", "compound", "other", "asked"),
    [
        ("da-DK", "hundesengen står i gangen", "hunden hedder balder", "glem sengen til hunden"),
        ("da-DK", "skoletiden er klokken otte", "skolen ligger ved åen", "glem tiden i skolen"),
        ("nl-NL", "de autosleutel ligt in de lade", "de auto is blauw", "vergeet de sleutel van de auto"),
        ("de-DE", "der arzttermin ist am montag", "der arzt heißt bert", "vergiss den termin beim arzt"),
    ],
)
def test_two_names_take_the_compound_that_they_make(
    home: Home, lang: str, compound: str, other: str, asked: str
) -> None:
    at = home(lang)
    tell(at, compound, other)
    question = at.say(asked)[0]
    assert compound in question
    assert other not in question


def test_who_names_a_statement_is_told_of_it_and_of_no_topic(home: Home) -> None:
    at = home("en-US")
    at.say("I like tea")
    assert at.say("forget that I like tea") == ["I'll forget this: I like tea. Say yes to delete it, no to keep it."]
    assert at.say("yes") == ["I have forgotten this: I like tea."]
    assert at.say("forget that I like coffee") == ["There is nothing that I could forget."]


ARTICLES = [
    ("en-US", "the old boiler is in the cellar", "forget the old boiler", "yes", "the old boiler"),
    ("de-DE", "der alte Kessel ist im Keller", "vergiss den alten Kessel", "ja", "dazu vergessen: den alten Kessel"),
    ("fr-FR", "la vieille chaudière est à la cave", "oublie la vieille chaudière", "oui", "la vieille chaudière"),
    ("es-ES", "la caldera vieja está en el sótano", "olvida la caldera vieja", "sí", "la caldera vieja"),
    ("es-ES", "el jardinero viene el lunes", "olvida al jardinero", "sí", "todo sobre esto: el jardinero"),
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


# lists

DAY_S = 86_400.0
LISTS = [
    (
        "en-US",
        ("Emma is seven", "Emma likes horses", "Emma is allergic to nuts", "Emma goes to ballet", "Ben likes ships"),
        "what do you know about Emma",
        "say more",
    ),
    (
        "de-DE",
        ("Emma ist sieben", "Emma mag Pferde", "Emma isst keine Nüsse", "Emma geht zum Ballett", "Ben mag Schiffe"),
        "was weißt du über Emma",
        "weiter",
    ),
    (
        "fr-FR",
        ("Emma a sept ans", "Emma aime les chevaux", "Emma ne mange pas de noix", "Emma danse bien", "Luc aime Lyon"),
        "que sais-tu d'Emma",
        "continue",
    ),
    (
        "es-ES",
        (
            "Emma tiene siete años",
            "Emma no come nueces",
            "Emma baila muy bien",
            "Emma vive en Vigo",
            "Luis vive en Lugo",
        ),
        "qué sabes de Emma",
        "sigue",
    ),
]


@pytest.mark.parametrize(("lang", "told", "asked", "more"), LISTS)
def test_all_that_is_known_of_somebody_is_told_three_at_a_time(
    home: Home, lang: str, told: tuple[str, ...], asked: str, more: str
) -> None:
    at = home(lang)
    tell(at, *told)
    first, rest = at.say(asked), at.say(more)
    assert len(first) == 4, "three things, and that there is more"
    assert len(rest) == 1
    assert all(any(text in said for said in (*first, *rest)) for text in told[:4])
    assert not any(told[4] in said for said in (*first, *rest))


def test_what_is_known_of_a_relation_is_known_of_its_name(home: Home) -> None:
    at = home("en-US")
    tell(at, "my daughter is called Emma", "my daughter likes horses")
    said = " ".join(at.say("what do you know about Emma"))
    assert "called Emma" in said
    assert "likes horses" in said


def test_what_was_asked_to_be_kept_is_told_once_and_so_is_a_fact_beside_its_statement(home: Home) -> None:
    at = home("en-US")
    tell(at, "remember that Emma is allergic to nuts please", "my wife Sara is a nurse")
    assert at.say("what do you know about Emma") == ["You told me today: Emma is allergic to nuts."]
    assert at.say("what do you know about Sara") == ["You told me today: my wife Sara is a nurse."]
    assert at.say("what do you know about my wife") == ["You told me today: my wife Sara is a nurse."]


def test_of_what_is_unknown_others_may_tell(home: Home) -> None:
    at = home("en-US")
    tell(at, "Emma likes horses")
    assert at.say("what do you know about jupiter") == ["I know nothing about that."]
    assert at.say("how many moons does jupiter have") == ["I know nothing about that."]


# how many

COUNTS = [
    ("en-US", "we have three kids", "my sister has four kids", "how many kids do I have"),
    ("en-US", "we've got three children", "my sister has four children", "how many kids do we have"),
    ("en-US", "I have 4 goldfish", "Ben has two goldfish", "how many goldfish"),
    ("de-DE", "wir haben drei Kinder", "meine Schwester hat vier Kinder", "wie viele Kinder habe ich"),
    ("fr-FR", "nous avons trois enfants", "ma sœur a quatre enfants", "j'ai combien d'enfants"),
    ("es-ES", "tenemos tres hijos", "mi hermana tiene cuatro hijos", "cuántos hijos tengo"),
    ("it-IT", "abbiamo tre figli", "mia sorella ha quattro figli", "quanti figli ho"),
    ("pt-PT", "temos três filhos", "a minha irmã tem quatro filhos", "quantos filhos tenho"),
    ("gl-ES", "temos tres fillos", "a miña irmá ten catro fillos", "cantos fillos teño"),
    ("ca-ES", "tenim tres fills", "la meva germana té quatre fills", "quants fills tinc"),
    ("nl-NL", "we hebben drie kinderen", "mijn zus heeft vier kinderen", "hoeveel kinderen heb ik"),
    ("da-DK", "vi har tre børn", "min søster har fire børn", "hvor mange børn har jeg"),
]


@pytest.mark.parametrize(("lang", "own", "of_another", "asked"), COUNTS)
def test_a_count_that_was_told_of_oneself_answers(home: Home, lang: str, own: str, of_another: str, asked: str) -> None:
    at = home(lang)
    tell(at, of_another)
    assert of_another not in " ".join(at.say(asked))
    tell(at, own, of_another)
    answered = at.say(asked)
    assert len(answered) == 1
    assert own in answered[0]


BIT_BY_BIT = [
    ("en-US", "i lost a glove at the market", "i lost another glove on the bus", "how many gloves have i lost"),
    ("en-US", "the miller owes me ten pounds", "the baker owes me five pounds", "who all owes me money"),
    ("de-DE", "der müller schuldet mir zehn euro", "der bäcker schuldet mir fünf euro", "wer schuldet mir alles was"),
    ("nl-NL", "ik moet melk kopen", "we moeten ook brood kopen", "wat moet ik allemaal kopen"),
]


@pytest.mark.parametrize(("lang", "first", "second", "asked"), BIT_BY_BIT)
def test_what_was_told_bit_by_bit_is_told_whole(home: Home, lang: str, first: str, second: str, asked: str) -> None:
    at = home(lang)
    tell(at, first, second)
    answered = " ".join(at.say(asked))
    assert first in answered
    assert second in answered


def test_what_was_put_on_a_list_is_told_and_not_what_asked_for_it(home: Home) -> None:
    at = home("en-US")
    for text in ("the miller owes me ten pounds", "put soap on the shopping list", "put rice on the shopping list"):
        at.say(text, "Ann")
    for _ in range(2):
        answered = " ".join(at.say("i'm at the shop what do we need from the shopping list", "Ann"))
        assert "put soap" in answered
        assert "put rice" in answered
        assert "at the shop" not in answered
        assert "miller" not in answered


@pytest.mark.parametrize(
    ("lang", "told", "clause", "asked"),
    [
        ("en-US", "the ladder is behind the shed", "i can't reach the gutter", "where did we put the ladder"),
        ("de-DE", "die leiter steht hinterm schuppen", "ich komm nicht an die regenrinne", "wo steht denn die leiter"),
        ("fr-FR", "l'échelle est derrière la cabane", "je range le jardin", "qu'est-ce qu'il y a derrière la cabane"),
        ("nl-NL", "de ladder staat achter de schuur", "ik kan niet bij de dakgoot", "waar staat de ladder"),
    ],
)
def test_a_question_behind_a_clause_is_answered(home: Home, lang: str, told: str, clause: str, asked: str) -> None:
    at = home(lang)
    tell(at, told)
    assert told in " ".join(at.say(f"{clause} {asked}"))


def test_the_newest_count_of_whoever_is_named_answers(home: Home) -> None:
    at = home("en-US")
    tell(at, "we have six goldfish", "my sister has four kids")
    tell(at, "two of our goldfish died so we have four goldfish now")
    assert at.say("how many goldfish do we have") == [
        "You told me today: two of our goldfish died so we have four goldfish now."
    ]
    assert at.say("how many kids does my sister have") == ["You told me today: my sister has four kids."]


def test_what_was_told_one_by_one_is_told_so_the_newest_first(home: Home) -> None:
    at = home("en-US")
    tell(
        at, "I counted four seals on the rocks", "I counted two more seals at the ledge", "there is a boat on the rocks"
    )
    assert at.say("how many seals did I count") == [
        "You told me today: I counted two more seals at the ledge.",
        "Also: I counted four seals on the rocks.",
    ]


def test_without_a_count_those_are_counted_that_are_known_by_name(home: Home) -> None:
    at = home("en-US")
    tell(at, "my son is called Ben")
    assert at.say("how many kids do I have") == ["I only know of Ben."]
    tell(at, "my daughter is called Emma", "my daughter is called Emma", "my cat is called Minka")
    assert at.say("how many kids do I have") == ["I know of two: Ben, Emma."]
    assert at.say("how many cats do I have") == ["I only know of Minka."]
    assert at.say("how many days do I have") == ["I know nothing about that."]


# about the talk

# fmt: off
TALKS = [
    ("en-US", "what did we talk about today", "what did I just tell you", "what did I say yesterday evening"),
    ("de-DE", "worüber haben wir heute gesprochen", "was habe ich dir gerade gesagt",
     "was habe ich gestern Abend gesagt"),
    ("fr-FR", "de quoi avons-nous parlé aujourd'hui", "qu'est-ce que je viens de te dire",
     "qu'est-ce que j'ai dit hier soir"),
    ("es-ES", "de qué hemos hablado hoy", "qué te acabo de decir", "qué dije ayer por la noche"),
    ("it-IT", "di cosa abbiamo parlato oggi", "cosa ti ho appena detto", "cosa ho detto ieri sera"),
    ("pt-PT", "de que falámos hoje", "o que te acabei de dizer", "o que disse ontem à noite"),
    ("gl-ES", "de que falamos hoxe", "que che acabo de dicir", "que dixen onte á noite"),
    ("ca-ES", "de què hem parlat avui", "què t'acabo de dir", "què vaig dir ahir al vespre"),
    ("nl-NL", "waar hebben we het vandaag over gehad", "wat heb ik je net verteld", "wat zei ik gisteravond"),
    ("da-DK", "hvad har vi talt om i dag", "hvad har jeg lige fortalt dig", "hvad sagde jeg i går aftes"),
]
# fmt: on


@pytest.mark.parametrize(("lang", "today", "just", "evening"), TALKS)
def test_what_was_said_is_told_by_its_time(home: Home, lang: str, today: str, just: str, evening: str) -> None:
    at = home(lang)  # it is eight in the morning, by the clock of this device
    tell(at, "Zenzi ronka zulu", "Babette ronka kiwi")
    assert "Babette ronka kiwi" in at.say(just)[0]
    assert [any(name in said for said in at.say(today)) for name in ("Zenzi", "Babette")] == [True, True]
    at.now += 12 * 3600
    tell(at, "Corina ronka pizza")
    at.now += DAY_S - 6 * 3600
    told = " ".join(at.say(evening))
    assert "Corina" in told
    assert "Zenzi" not in told


def test_where_nothing_was_told_the_questions_are(home: Home) -> None:
    at = home("en-US")
    at.say("where do penguins sleep")
    assert at.say("what did we talk about today") == ["You asked me today: where do penguins sleep."]


# coming days

PLANS = [
    ("en-US", "I have a dentist appointment tomorrow", "what do I have tomorrow", "what do I have today"),
    ("de-DE", "morgen habe ich einen Zahnarzttermin", "was habe ich morgen vor", "was habe ich heute vor"),
    ("fr-FR", "le plombier vient demain", "qu'est-ce que j'ai demain", "qu'est-ce que j'ai aujourd'hui"),
    ("es-ES", "mañana viene el fontanero", "qué tengo mañana", "qué tengo hoy"),
    ("it-IT", "domani viene l'idraulico", "cosa ho domani", "cosa ho oggi"),
    ("pt-PT", "amanhã vem o canalizador", "o que tenho amanhã", "o que tenho hoje"),
    ("gl-ES", "mañá vén o fontaneiro", "que teño mañá", "que teño hoxe"),
    ("ca-ES", "demà ve el lampista", "què tinc demà", "què tinc avui"),
    ("nl-NL", "morgen komt de loodgieter", "wat heb ik morgen", "wat heb ik vandaag"),
    ("da-DK", "i morgen kommer blikkenslageren", "hvad skal jeg i morgen", "hvad skal jeg i dag"),
]


@pytest.mark.parametrize(("lang", "told", "tomorrow", "today"), PLANS)
def test_tomorrow_is_seen_from_the_day_on_which_it_was_said(
    home: Home, lang: str, told: str, tomorrow: str, today: str
) -> None:
    at = home(lang)
    tell(at, told)
    assert told in at.say(tomorrow)[0]
    at.now += DAY_S
    assert told in at.say(today)[0]
    assert told not in " ".join(at.say(tomorrow))
    at.now += 25 * DAY_S
    assert told not in " ".join(at.say(tomorrow))


def test_what_comes_every_week_comes_again(home: Home) -> None:
    at = home("en-US")
    tell(at, "the bins go out on tuesdays", "the plumber comes on tuesday")
    assert len(at.say("what do I have on tuesday")) == 2
    at.now += 21 * DAY_S
    assert "bins" in " ".join(at.say("what do I have on tuesday"))
    assert "plumber" not in " ".join(at.say("what do I have on tuesday"))


# help

HELP = [
    ("en-US", "what can you do", "help"),
    ("de-DE", "was kannst du", "hilfe"),
    ("fr-FR", "que sais-tu faire", "aide-moi"),
    ("es-ES", "qué puedes hacer", "ayuda"),
    ("it-IT", "cosa sai fare", "aiuto"),
    ("pt-PT", "o que sabes fazer", "ajuda"),
    ("gl-ES", "que podes facer", "axuda"),
    ("ca-ES", "què pots fer", "ajuda"),
    ("nl-NL", "wat kun je", "hulp"),
    ("da-DK", "hvad kan du", "hjælp"),
]


@pytest.mark.parametrize(("lang", "asked", "called"), HELP)
def test_help_is_one_sentence_with_what_can_be_said(home: Home, lang: str, asked: str, called: str) -> None:
    at = home(lang)
    said = at.say(asked)
    assert said == at.say(called)
    ways = said[0].rstrip(".").split(": ")[1:]
    requests = [way.rpartition(",")[0] or way for way in ways]
    spoken = languages.for_language(lang)
    meant = [understood(one, spoken, intents.HANDLERS) or requested(one, spoken) for one in requests]
    assert [one.intent for one in meant if one] == ["about_me", "forget_that"]
