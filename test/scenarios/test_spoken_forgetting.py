"""Requests to forget however they are worded: what is read back, what goes after a yes, and what nobody asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import pytest
from support.talking import Household, household

from ovos_persona_memory.stores.inmemory import InMemoryStore
from ovos_persona_memory.text import languages

Home = Callable[[str], Household]


@pytest.fixture
def home() -> Iterator[Home]:
    """A household of this language, with an empty memory."""
    with ExitStack() as stack:
        yield lambda lang: stack.enter_context(contextmanager(household)(InMemoryStore(), lang))


@dataclass(frozen=True)
class Worded:
    """Something told, a request to forget it, a yes, a word of it, and a question about it with its answer."""

    lang: str
    told: str
    said: str
    yes: str
    word: str
    question: str
    nothing: str


BEHIND = [
    Worded(
        "en-US",
        "the canoe is hidden at uncle walter's barn",
        "rats forget what i said about the canoe",
        "yes please do",
        "barn",
        "where is the canoe",
        "I know nothing about that.",
    ),
    Worded(
        "en-US",
        "walter's locker number is four seven seven two",
        "no that's the old one forget walter's locker number",
        "yes go ahead",
        "locker",
        "what is walter's locker number",
        "I know nothing about that.",
    ),
    Worded(
        "de-DE",
        "das Ruderboot liegt bei Onkel Walter in der Scheune",
        "das haben wir verkauft vergiss das Ruderboot",
        "ja löschen",
        "scheune",
        "wo liegt das Ruderboot",
        "Darüber weiß ich nichts.",
    ),
    Worded(
        "fr-FR",
        "la barque est cachée dans la grange de luc",
        "punaise oublie ce que j'ai dit sur la barque",
        "oui efface",
        "grange",
        "où est la barque",
        "Je ne sais rien à ce sujet.",
    ),
    Worded(
        "it-IT",
        "la barca è nascosta nel fienile di luca",
        "l'abbiamo venduta dimentica la barca",
        "sì cancella",
        "fienile",
        "dove è la barca",
        "Non ne so nulla.",
    ),
    Worded(
        "nl-NL",
        "de roeiboot ligt in de schuur van piet",
        "verdikkeme vergeet de roeiboot",
        "ja vergeet maar",
        "schuur",
        "waar ligt de roeiboot",
        "Daar weet ik niets over.",
    ),
]
OTHER_WORDS = [
    Worded(
        "de-DE",
        "Dieter ist uns noch siebzig Euro schuldig",
        "der hat alles bezahlt vergiss die Schuld von Dieter",
        "ja vergiss das",
        "siebzig",
        "wie viel ist Dieter schuldig",
        "Darüber weiß ich nichts.",
    ),
    Worded(
        "en-US",
        "the lady from dover bid four thousand for our canoe",
        "forget the offer from dover",
        "yes",
        "thousand",
        "what did the lady from dover bid",
        "I know nothing about that.",
    ),
    Worded(
        "fr-FR",
        "j'ai avancé trois cents euros à ma voisine yolande",
        "oublie les sous de yolande",
        "oui supprime",
        "euros",
        "j'ai avancé combien à yolande",
        "Je ne sais rien à ce sujet.",
    ),
    Worded(
        "es-ES",
        "le presté trescientos euros a mi vecina yolanda",
        "olvida el dinero de yolanda",
        "sí bórralo",
        "trescientos",
        "cuánto le presté a yolanda",
        "No sé nada de eso.",
    ),
    Worded(
        "it-IT",
        "ho prestato trecento euro alla mia vicina iolanda",
        "dimentica i soldi di iolanda",
        "sì cancella",
        "trecento",
        "quanto ho prestato a iolanda",
        "Non ne so nulla.",
    ),
    Worded(
        "nl-NL",
        "een mevrouw uit zwolle heeft vierduizend geboden",
        "ach vergeet dat bod uit zwolle maar",
        "ja wissen",
        "vierduizend",
        "wat heeft die mevrouw uit zwolle geboden",
        "Daar weet ik niets over.",
    ),
]

OWN_WORDS = [
    Worded(
        "en-US",
        "i got a parking fine of ninety pounds",
        "lose that bit about the parking fine it was only a joke",
        "yes",
        "ninety",
        "what was the parking fine",
        "I know nothing about that.",
    ),
    Worded(
        "de-DE",
        "ich hab einen strafzettel über neunzig euro bekommen",
        "die sache mit dem strafzettel geht keinen was an nimm die wieder raus",
        "ja",
        "neunzig",
        "wie hoch war der strafzettel",
        "Darüber weiß ich nichts.",
    ),
    Worded(
        "fr-FR",
        "le tatouage m'a coûté trois cents euros",
        "l'histoire du tatouage t'as jamais entendu ça d'accord enlève la",
        "oui",
        "euros",
        "combien a coûté le tatouage",
        "Je ne sais rien à ce sujet.",
    ),
    Worded(
        "es-ES",
        "el tatuaje me costó trescientos euros",
        "lo del tatuaje haz como si nunca te lo hubiera contado",
        "sí",
        "trescientos",
        "cuánto me costó el tatuaje",
        "No sé nada de eso.",
    ),
    Worded(
        "it-IT",
        "la multa era di novanta euro",
        "la faccenda della multa levala dalla tua memoria per favore",
        "sì",
        "novanta",
        "di quanto era la multa",
        "Non ne so nulla.",
    ),
    Worded(
        "nl-NL",
        "de boete was negentig euro",
        "dat gedoe met die boete hoeft niemand te weten haal het er maar weer uit",
        "ja",
        "negentig",
        "hoe hoog was de boete",
        "Daar weet ik niets over.",
    ),
    Worded(
        "pt-PT",
        "a multa foi de noventa euros",
        "aquilo da multa tira lá da tua memória que ninguém precisa de saber",
        "sim",
        "noventa",
        "de quanto foi a multa",
        "Não sei nada sobre isso.",
    ),
    Worded(
        "ca-ES",
        "la multa era de noranta euros",
        "allò de la multa treu-ho de la memòria que no ho ha de saber ningú",
        "sí",
        "noranta",
        "de quant era la multa",
        "No en sé res.",
    ),
    Worded(
        "da-DK",
        "bøden var på halvfems kroner",
        "det med bøden skal ingen vide så få det ud af hukommelsen igen",
        "ja",
        "halvfems",
        "hvor stor var bøden",
        "Det ved jeg ikke noget om.",
    ),
]
"""No verb says "forget"."""


@pytest.mark.parametrize("one", [*BEHIND, *OTHER_WORDS, *OWN_WORDS], ids=lambda one: one.said)
def test_it_is_read_back_and_after_a_yes_nothing_of_it_is_left(home: Home, one: Worded) -> None:
    at = home(one.lang)
    at.say(one.told)
    at.say(one.question)  # an answer may quote it
    (asked,) = at.say(one.said)
    assert one.told in asked
    at.say(one.yes)
    assert not at.holds(one.word)
    assert at.say(one.question) == [one.nothing]


@pytest.mark.parametrize("one", OTHER_WORDS, ids=lambda one: one.said)
def test_only_what_was_read_back_goes_and_after_a_no_nothing_does(home: Home, one: Worded) -> None:
    at = home(one.lang)
    others = ["walter wohnt in Kiel", "the hamster sleeps in the attic"]
    for text in (*others, one.told):
        at.say(text)
    (asked,) = at.say(one.said)
    assert one.told in asked
    kept = at.texts()
    at.say(
        "no" if one.lang in ("en-US", "es-ES", "it-IT") else {"fr-FR": "non", "nl-NL": "nee", "de-DE": "nein"}[one.lang]
    )
    assert set(kept) <= set(at.texts())
    at.say(one.said)
    at.say(one.yes)
    assert not at.holds(one.word)
    assert set(others) <= set(at.texts())


def test_who_names_nothing_that_is_known_behind_a_clause_asks_for_nothing(home: Home) -> None:
    at = home("en-US")
    at.say("the hamster sleeps in the attic")
    assert "forget" not in " ".join(at.say("children of that age forget umbrellas"))
    assert at.say("rats forget everything about the canoe") == [
        "I know nothing about the canoe, so there is nothing to forget."
    ]


NO_REQUESTS = [
    ("en-US", "the paddle is in the shed", "my cousin tends to forget the paddle"),
    ("en-US", "the paddle is in the shed", "i don't want you to forget the paddle"),
    ("fr-FR", "la pagaie est dans la cabane", "claire a oublié la pagaie"),
    ("es-ES", "el remo está en el cobertizo", "ayer olvidé el remo"),
    ("es-ES", "el remo está en el cobertizo", "no quiero que olvides el remo"),
    ("en-US", "the paddle is in the shed", "did my cousin forget the paddle"),
    ("de-DE", "das Paddel liegt im Schuppen", "mensch vergiss das Paddel morgen bloß nicht"),
    ("fr-FR", "la pagaie est dans la cabane", "cousine claire oublie toujours la pagaie"),
    ("es-ES", "el remo está en el cobertizo", "a mi primo se le olvida el remo"),
    ("it-IT", "il remo è nel capanno", "cugino luca dimentica sempre il remo"),
    ("pt-PT", "o remo está no barracão", "não te esqueças do remo"),
    ("nl-NL", "de peddel ligt in de schuur", "neef piet vergeet de peddel nooit"),
    ("da-DK", "åren ligger i skuret", "glem nu ikke åren"),
    ("ca-ES", "el rem és al cobert", "el meu cosí oblida el rem"),
    ("gl-ES", "o remo está no alpendre", "non esquezas o remo"),
]


@pytest.mark.parametrize(("lang", "told", "said"), NO_REQUESTS)
def test_what_only_speaks_of_forgetting_is_no_request(home: Home, lang: str, told: str, said: str) -> None:
    at = home(lang)
    at.say(told)
    asks = languages.for_language(lang).say("forget_that_ask", text=told)
    assert asks not in at.say(said)
    at.say(a_yes(lang))
    assert told in at.texts()


def a_yes(lang: str) -> str:
    """A yes in this language."""
    return {"fr-FR": "oui", "es-ES": "sí", "it-IT": "sì", "pt-PT": "sim", "ca-ES": "sí", "gl-ES": "si"}.get(
        lang, "yes" if lang == "en-US" else "ja"
    )


def test_a_request_that_nobody_carried_out_is_not_the_last_thing_told(home: Home) -> None:
    at = home("nl-NL")
    at.say("de hamster slaapt op zolder")
    at.say("ach vergeet de offerte van die schilder uit assen maar")
    (asked,) = at.say("vergeet dat")
    assert "de hamster slaapt op zolder" in asked


def test_who_must_not_forget_is_told_that_all_is_kept(home: Home) -> None:
    at = home("de-DE")
    at.say("mein Paddel liegt im Schuppen")
    assert at.say("vergiss mein Paddel bloß nicht") == ["Gut, ich habe alles behalten."]
    assert at.holds("paddel", "schuppen")


ANSWERS = {
    "en-US": ("the paddle is in the shed", "forget the paddle", ("yes please do", "yes delete it", "ok erase it")),
    "de-DE": ("das Paddel liegt im Schuppen", "vergiss das Paddel", ("ja löschen", "ja weg damit", "bitte löschen")),
    "fr-FR": ("la pagaie est dans la cabane", "oublie la pagaie", ("oui efface", "oui oublie", "vas-y efface")),
    "es-ES": ("el remo está en el cobertizo", "olvida el remo", ("sí borra", "sí olvida", "venga bórralo")),
    "it-IT": ("il remo è nel capanno", "dimentica il remo", ("sì cancella", "sì dimentica", "va bene cancellalo")),
    "pt-PT": ("o remo está no barracão", "esquece o remo", ("sim apaga", "sim esquece", "pode ser apaga")),
    "nl-NL": ("de peddel ligt in de schuur", "vergeet de peddel", ("ja vergeet maar", "ja wissen", "ja weg ermee")),
    "da-DK": ("åren ligger i skuret", "glem åren", ("ja slet", "ja glem det", "ja bare slet det")),
    "ca-ES": ("el rem és al cobert", "oblida el rem", ("sí esborra", "sí oblida", "d'acord esborra-ho")),
    "gl-ES": ("o remo está no alpendre", "esquece o remo", ("si borra", "si esquece", "vale bórrao")),
}


@pytest.mark.parametrize(("lang", "yes"), [(lang, yes) for lang, (_, _, answers) in ANSWERS.items() for yes in answers])
def test_a_yes_that_repeats_the_verb_is_a_yes(home: Home, lang: str, yes: str) -> None:
    at = home(lang)
    told, said, _ = ANSWERS[lang]
    at.say(told)
    (asked,) = at.say(said)
    assert told in asked
    at.say(yes)
    assert told not in at.texts()


OWN_WORDS = {  # what agrees, what refuses, and what does neither: by a writer from whom the model has not learned
    "en-US": (
        "no need to have it any longer erase it",
        "actually let it stay",
        "yes darling the towels are in the cupboard",
    ),
    "de-DE": (
        "nein das brauchen wir nicht mehr lösch es",
        "das muss drin bleiben",
        "ja schatz das essen steht im ofen",
    ),
    "fr-FR": ("j'en ai plus besoin", "touche à rien", "bien sûr qu'il est beau ton dessin"),
    "es-ES": ("no ya no sirve puedes tirarlo", "que se quede como está", "claro como hoy es fiesta está todo cerrado"),
    "it-IT": ("d'accordo non serve più", "è ancora giusto ricordatelo", "certo che è cara la benzina"),
    "pt-PT": ("não preciso mais disso pode tirar", "isso fica", "claro que o benfica vai ganhar"),
    "nl-NL": ("hoeft niet meer dus haal maar weg", "het moet blijven", "zeker twintig man op het feest gisteren"),
    "da-DK": ("det passer jo ikke længere", "på ingen måde", "fint nok så kører vi klokken otte"),
    "ca-ES": ("a les escombraries", "m'he equivocat volia dir el del dentista", "d'acord nens a dormir"),
    "gl-ES": ("non xa non vale podes tiralo", "de ningunha maneira", "vale rapaces á cama"),
}


@pytest.mark.parametrize("lang", OWN_WORDS)
def test_a_yes_and_a_no_are_understood_in_any_words(home: Home, lang: str) -> None:
    told, said, _ = ANSWERS[lang]
    for reply, is_kept in zip(OWN_WORDS[lang], (False, True, True), strict=True):
        at = home(lang)
        at.say(told)
        (asked,) = at.say(said)
        assert told in asked
        replies, spoken = at.say(reply), languages.for_language(lang)
        kept = [*spoken.phrases("forget_kept.dialog"), *spoken.phrases("forget_unclear.dialog")]
        assert (told in at.texts()) == is_kept == (replies[0] in kept), (reply, replies)


NAMED_OTHERWISE = [
    (
        "en-US",
        "the alarm number for the clinic is nine three one six",
        "the alarm number i gave you for the clinic you have to forget it i was not supposed to say it",
    ),
    ("nl-NL", "ik had een drie voor wiskunde echt drama", "wil je dat wiskundecijfer van mij uit je geheugen gooien"),
    ("de-DE", "in latein hab ich eine fünf", "das mit der lateinnote löschst du bitte sofort wieder"),
]


@pytest.mark.parametrize(("lang", "told", "request_"), NAMED_OTHERWISE)
def test_what_is_named_by_a_compound_or_beside_what_others_delete_is_found(
    home: Home, lang: str, told: str, request_: str
) -> None:
    at = home(lang)
    at.say(told)
    (asked,) = at.say(request_)
    assert told in asked
    (done,) = at.say(ANSWERS[lang][2][0])
    assert told in done or len(done.split()) < 10
    assert told not in at.texts()


def test_who_asks_again_is_not_asked_whether_to_forget_the_request(home: Home) -> None:
    at = home("en-US")
    at.say("the gate code is seven")
    (first,) = at.say("nobody needs to know that thing with the zeppelin so out with it")
    assert first == "I know nothing about that thing with the zeppelin, so there is nothing to forget."
    (reply,) = at.say("get rid of it")
    assert "nobody needs" not in reply and "gate" not in reply


SAID_BEFORE = (
    ("en-US", "the tailor has ben's jacket", "forget that thing i told you about ben's jacket"),
    ("de-DE", "bens jacke ist beim schneider", "vergiss das was ich dir über bens jacke erzählt hab"),
    ("es-ES", "la chaqueta de ben está en la tintorería", "olvida eso que te dije de la chaqueta"),
    ("it-IT", "la giacca di ben è in tintoria", "dimentica quella cosa che ti ho detto della giacca"),
    ("pt-PT", "o casaco do ben está na lavandaria", "apaga isso que te contei do casaco"),
    ("ca-ES", "la jaqueta d'en ben és a la tintoreria", "oblida això que et vaig dir de la jaqueta"),
    ("gl-ES", "a chaqueta do ben está na tinturaría", "esquece iso que che dixen da chaqueta"),
)


@pytest.mark.parametrize(("tag", "told", "request_"), SAID_BEFORE)
def test_what_was_told_of_something_is_no_reason_and_names_what_is_forgotten(
    home: Home, tag: str, told: str, request_: str
) -> None:
    at = home(tag)
    at.say(told)
    at.say("zwei 2 tauben")
    asked = at.say(request_)[0]
    assert told in asked and "tauben" not in asked


def test_what_was_told_of_something_is_said_back_as_that_thing(home: Home) -> None:
    at = home("en-US")
    at.say("i stopped taking the blue pill")
    at.say("forget that thing i told you about the pill")
    assert at.say("yes") == ["I have forgotten everything about the pill."]


@pytest.mark.parametrize(
    ("lang", "told", "said", "word"),
    [
        (
            "en-US",
            "i offered smith eight thousand for the tractor",
            "forget what i offered smith nobody needs to know",
            "tractor",
        ),
        (
            "de-DE",
            "ich hab dem schmitz achttausend euro geboten",
            "vergiss bitte was ich dem schmitz geboten hab das braucht keiner zu wissen",
            "achttausend",
        ),
        ("fr-FR", "j'ai mis cinquante euros au pmu", "oublie ce que j'ai mis au pmu ça regarde personne", "cinquante"),
        (
            "es-ES",
            "le he ofrecido a paco ocho mil euros",
            "olvida lo que le he ofrecido a paco que no hace falta que lo sepa nadie",
            "ocho",
        ),
    ],
)
def test_why_it_is_to_be_forgotten_may_stand_behind_it(home: Home, lang: str, told: str, said: str, word: str) -> None:
    at = home(lang)
    at.say(told)
    at.say("xylophon 12")
    (asked,) = at.say(said)
    assert told in asked and "xylophon" not in asked
    at.say({"en-US": "yes", "de-DE": "ja", "fr-FR": "oui", "es-ES": "sí"}[lang])
    assert not at.memory.recall(word)


def test_of_what_nothing_is_known_about_nobody_is_asked_whether_to_forget_it(home: Home) -> None:
    at = home("en-US")
    at.say("i offered smith eight thousand for the tractor")
    assert "smith" not in " ".join(at.say("forget what i promised jones nobody needs to know"))


def test_what_stands_behind_a_preposition_is_no_reason_but_names_what_goes(home: Home) -> None:
    at = home("en-US")
    for told in (
        "the car is going in to the shop on monday",
        "arvo is going to town",
        "i went out with a guy named travis",
    ):
        at.say(told)
    asked = " ".join(at.say("hey um forget what i told you about going out with travis"))
    assert "travis" in asked
    assert "shop" not in asked and "arvo" not in asked


def test_what_is_named_before_a_request_is_what_it_points_at(home: Home) -> None:
    at = home("de-DE")
    at.say("ich bau ihr ein regal aus mahagoni")
    at.say("die vordere bremse an meinem rad quietscht wie sonst was")
    asked = " ".join(
        at.say("du das mit dem regal für swantje vergiss das mal lieber wieder sonst plapperst du das noch aus")
    )
    assert "mahagoni" in asked
    assert "bremse" not in asked


@pytest.mark.parametrize(
    ("lang", "told", "said", "yes"),
    [
        ("de-DE", "ich hab in Mathe eine Fünf", "das hast du jetzt nicht gehört streich das", "ja"),
        ("nl-NL", "ik had een onvoldoende voor wiskunde", "doe maar alsof ik niks gezegd heb", "ja"),
        ("pt-PT", "tive negativa a matemática", "faz de conta que não ouviste nada", "sim"),
    ],
)
def test_who_only_points_in_words_of_their_own_means_what_they_told_last(
    home: Home, lang: str, told: str, said: str, yes: str
) -> None:
    at = home(lang)
    at.say(told)
    (asked,) = at.say(said)
    assert told in asked
    at.say(yes)
    assert not at.holds(told.split()[-1])


@pytest.mark.parametrize(
    "said",
    ["don't tell mia but i got her a bike", "take the milk off the list", "i forgot my umbrella at the dentist's"],
)
def test_what_is_near_a_request_to_forget_is_none(home: Home, said: str) -> None:
    at = home("en-US")
    at.say("mia's bike and the umbrella and the milk are in the shed")
    at.say(said)
    assert at.holds("shed")
    at.say("yes")
    assert at.holds("shed")


@pytest.mark.parametrize(
    ("lang", "told", "other", "said"),
    [
        (
            "en-US",
            "there's this girl odette at the club and i reckon i like her",
            "the ferret weighs one kilo",
            "hey that stuff i said about odette can you get rid of it",
        ),
        (
            "fr-FR",
            "j'ai eu un quatre sur vingt en allemand la honte",
            "papi m'a appris à coudre une peau de chevreau",
            "le truc de l'allemand que je t'ai raconté hier ma note tu l'oublies",
        ),
    ],
)
def test_what_is_named_goes_though_the_request_ends_as_if_it_only_pointed(
    home: Home, lang: str, told: str, other: str, said: str
) -> None:
    at = home(lang)
    at.say(told)
    at.say(other)
    (asked,) = at.say(said)
    assert told in asked and other not in asked


NAMED_BY_TIME_TOO = [
    (
        "en-US",
        "i applied for that job in the signal box",
        "the eels are smoked",
        "forget what i said today about that job",
    ),
    (
        "es-ES",
        "me presenté a la plaza de jefa de estación",
        "las alubias están a remojo",
        "olvídate de lo que te conté hoy de la plaza esa",
    ),
    (
        "de-DE",
        "ich hab mich im stellwerk beworben um die stelle",
        "die aale sind geräuchert",
        "vergiss was ich dir heute über die stelle gesagt hab",
    ),
]


@pytest.mark.parametrize(("lang", "told", "other", "said"), NAMED_BY_TIME_TOO)
def test_who_names_a_thing_and_a_time_means_what_was_said_then_of_that_thing(
    home: Home, lang: str, told: str, other: str, said: str
) -> None:
    at = home(lang)
    at.say(told)
    at.say(other)
    asked = " ".join(at.say(said))
    assert told.split()[-1] in asked and other.split()[-1] not in asked
    at.say(languages.for_language(lang).phrases("yes.voc")[0])
    assert any(other.split()[-1] in text for text in at.told())
    assert not any(told.split()[-1] in text for text in at.told())


def test_who_names_only_a_time_means_all_that_was_said_then(home: Home) -> None:
    at = home("en-US")
    at.say("i applied for that job in the signal box")
    at.say("the eels are smoked")
    assert "job" not in " ".join(at.say("forget everything i said today"))
    at.say("yes")
    assert not at.told()


def test_what_stands_before_a_request_that_names_something_is_not_what_it_means(home: Home) -> None:
    at = home("pt-PT")
    at.say("os de são pedro largaram-me cá quatro clarinetes para mudar as sapatilhas")
    (reply,) = at.say("mudei de ideias esquece o código do cadeado da arrecadação")
    assert "clarinetes" not in reply


def test_who_tells_it_to_delete_that_agrees(home: Home) -> None:
    at = home("es-ES")
    for reply, is_kept in (("no quítalo de la mesa", True), ("venga sí quítalo", False)):
        at.say("la llave de la verja está en la maceta")
        assert "verja" in " ".join(at.say("olvida lo que te dije de la llave de la verja"))
        at.say(reply)
        assert at.holds("verja", "maceta") == is_kept


def test_a_request_that_names_it_by_no_word_of_what_was_told_is_answered(home: Home) -> None:
    at = home("en-US")
    at.say("i've got four hundred dollars in a hills brothers can behind the furnace")
    (reply,) = at.say("now scratch that business about my money and the coffee can from your memory")
    assert "hills brothers" in reply or reply.startswith("I know nothing about")
