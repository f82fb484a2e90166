"""What of a turn is learned, kept, put up for review or refused, by the model that is shipped."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ovos_persona_memory.extraction import (
    Candidate,
    DialogueContext,
    ExtractionContext,
    asked_in,
    asks,
    asks_about_something,
    asks_several,
    asks_what_was_said,
    extract,
    is_echo,
    pipeline,
    reply_in,
    surely_asks,
    to_forget,
    wants_all,
)
from ovos_persona_memory.extraction.reader.reader import read
from ovos_persona_memory.records import GUEST, Turn

EN, DE = "en-US", "de-DE"


def verdicts(text: str, lang: str = EN) -> list[Candidate]:
    return extract(Turn("user", text, lang=lang))


def learned(text: str, lang: str = EN) -> set[tuple[str | None, str, str | None]]:
    return {(one.slot, one.subject, one.value) for one in verdicts(text, lang) if one.outcome == "learned"}


@pytest.mark.parametrize(
    ("lang", "text", "slot", "subject", "value"),
    [
        (EN, "my cat is called Bob", "pet", "", "Bob"),
        (EN, "I'm allergic to peanuts", "allergy", "", "peanuts"),
        (EN, "my name is anna", "name", "", "anna"),
        (EN, "my wife is allergic to nuts", "allergy", "wife", "nuts"),
        (DE, "ich wohne in Bremen", "home", "", "Bremen"),
        (DE, "meine frau ist lehrerin", "work", "frau", "lehrerin"),
        ("fr-FR", "j'habite maintenant à lyon", "home", "", "lyon"),
        ("fr-FR", "nous habitons à strasbourg", "home", "", "strasbourg"),
        ("fr-FR", "ma femme est infirmière", "work", "femme", "infirmière"),
        ("es-ES", "mi perro se llama trueno", "pet", "", "trueno"),
        ("it-IT", "sono allergica alle noci", "allergy", "", "noci"),
        ("it-IT", "il mio gatto si chiama micio", "pet", "", "micio"),
        ("it-IT", "il mio colore preferito è il verde", "favourite", "", "verde"),
        ("pt-PT", "a minha cor favorita é o verde", "favourite", "", "verde"),
        ("nl-NL", "ik woon in utrecht", "home", "", "utrecht"),
        ("da-DK", "min hund hedder balder", "pet", "", "balder"),
        ("ca-ES", "el meu gat es diu mixa", "pet", "", "mixa"),
        ("gl-ES", "o meu can chámase loira", "pet", "", "loira"),
    ],
)
def test_a_statement_is_learned_in_its_own_words(lang: str, text: str, slot: str, subject: str, value: str) -> None:
    assert (slot, subject, value) in learned(text, lang)


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        (EN, "what is the weather like"),
        (EN, "set a timer for ten minutes"),
        (EN, "is tom a vegetarian"),
        (EN, "i bought a thermometer"),
        (EN, "i work with tom"),
        (EN, "translate i live in rome"),
        (EN, "a colleague of mine lives in bristol"),
        (DE, "wie wird das wetter morgen"),
        (DE, "mag paul brokkoli"),
        ("fr-FR", "mets un minuteur de dix minutes"),
        ("es-ES", "es tomás vegetariano"),
        ("nl-NL", "zet de lampen uit"),
    ],
)
def test_what_states_nothing_teaches_nothing(lang: str, text: str) -> None:
    assert learned(text, lang) == set()


def test_a_question_behind_a_statement_makes_no_question_of_it() -> None:
    for text in ("My cat is called Bob. What about you?", "My cat is called Bob. Is the heating on?"):
        assert ("pet", "", "Bob") in learned(text)
    assert learned("My cat is called Bob?") == set()
    assert learned("It is cold. My cat is called Bob?") == set()


def test_an_employer_behind_an_article_stands_beside_an_occupation() -> None:
    things = [verdicts(text)[0].thing for text in ("I work at the bakery", "I work at Siemens", "I work as a nurse")]
    assert things[0] == things[1] != things[2]


def test_what_is_over_ends_a_fact_and_starts_none() -> None:
    assert [(one.slot, one.outcome) for one in verdicts("my cat bob died last week")] == [("pet", "ended")]


def test_what_somebody_asks_to_remember_is_kept_as_it_was_said() -> None:
    (kept,) = verdicts("remember that the box in the hall is for charity")
    assert (kept.outcome, kept.text, kept.slot) == ("kept", "the box in the hall is for charity", None)


def test_what_is_asked_to_be_kept_and_fills_a_slot_is_a_fact() -> None:
    assert [(one.outcome, one.reason, one.slot) for one in verdicts("remember that i'm allergic to peanuts")] == [
        ("learned", "asked", "allergy")
    ]


TURN = Turn("user", "my cat is called Bob", lang=EN)


@pytest.mark.parametrize(
    ("lang", "text", "quoted"),
    [
        (EN, "forget the cormorant because he is listening", "my cormorant is called Grim"),
        (EN, "please delete my cat is called Bob", "my cat is called Bob"),
        (DE, "vergiss dass ich in Bremen wohne", "du wohnst in Bremen"),
        ("fr-FR", "oublie que mon chat s'appelle Minou", "mon chat s'appelle Minou"),
    ],
)
def test_what_somebody_asks_to_forget_teaches_nothing(lang: str, text: str, quoted: str) -> None:
    said = DialogueContext(said=f"I'll remember: {quoted}.", by_assistant=True)
    assert extract(Turn("user", text, lang=lang), ExtractionContext(before=said)) == []


def test_what_must_not_be_forgotten_is_kept() -> None:
    (kept,) = verdicts("don't forget that the box is in the hall")
    assert kept.outcome in ("kept", "learned")


@pytest.mark.parametrize(
    "turn",
    [
        replace(TURN, role="assistant"),
        replace(TURN, role="system"),
        replace(TURN, role="tool"),
        replace(TURN, redacted=True, text=""),
        replace(TURN, machine=True),
        replace(TURN, announcement=True),
    ],
)
def test_only_what_a_person_said_is_judged(turn: Turn) -> None:
    assert extract(TURN)
    assert extract(turn) == []


def test_nothing_is_learned_of_guests_of_nobody_and_past_the_pipeline() -> None:
    found = [
        extract(replace(TURN, user_id=GUEST)),
        extract(TURN, ExtractionContext(person=False)),
        extract(replace(TURN, source="query")),
    ]
    assert [[(one.outcome, one.reason) for one in each] for each in found] == [
        [("refused", "guest")],
        [("refused", "unattributed")],
        [("refused", "out_of_band")],
    ]


def test_a_secret_is_refused_whatever_it_is_told_with() -> None:
    (refused,) = verdicts("my cat is called bob and my password is hunter2")
    assert (refused.outcome, refused.reason) == ("refused", "secret")


def test_an_echo_is_what_the_assistant_said_in_these_very_words() -> None:
    told = ["I'll remember: my cat is called Bob."]
    assert is_echo("My cat is called Bob", told)
    assert not is_echo("my cat is called Bo", told)
    assert not is_echo("my cat is called Bob", [])


@pytest.mark.parametrize(
    ("lang", "text", "kept"),
    [
        (EN, "keep it in mind the big ladder is lent to dwight", "the big ladder is lent to dwight"),
        (EN, "can you put down that the play's on friday evening", "the play's on friday evening"),
        (DE, "erinner dich bitte dran dass die heizung klopft", "die heizung klopft"),
        ("ru-RU", "запомни что ключи под ковриком", "ключи под ковриком"),
    ],
)
def test_there_are_many_ways_to_ask(lang: str, text: str, kept: str) -> None:
    found = verdicts(text, lang)
    assert [one.text for one in found] == [kept] and found[0].outcome in ("kept", "learned")


@pytest.mark.parametrize("text", ["can you remember my birthday", "remember me"])
def test_what_only_sounds_like_asking_keeps_nothing(text: str) -> None:
    assert [one for one in verdicts(text) if one.outcome == "kept"] == []


def test_whether_a_turn_asks_is_known_once_it_was_learned_from(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, told = "has the boiler been serviced", "my sister is a vegetarian"
    for text in (asked, told):
        extract(Turn("user", text, lang=EN))
    monkeypatch.setattr(pipeline, "read", None)
    assert [asks(asked, EN), asks(told, EN)] == [True, False]


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        (EN, "rats forget that my cat is called Bob"),
        (DE, "verflixt vergiss dass ich in Bremen wohne"),
        ("fr-FR", "punaise oublie que mon chat s'appelle Minou"),
    ],
)
def test_a_request_to_forget_behind_an_exclamation_teaches_nothing(lang: str, text: str) -> None:
    assert extract(Turn("user", text, lang=lang), ExtractionContext()) == []


def test_what_is_told_before_a_request_to_forget_is_learned_without_it() -> None:
    (told,) = verdicts("my cat is called Bob so forget the other name")
    assert told.text == "my cat is called Bob"


def test_whether_something_asks_does_not_depend_on_what_was_said_before() -> None:
    text, lang = "ist ole heute abend da", "de-DE"
    said = DialogueContext(said="licht in der küche aus", by_assistant=True)
    assert extract(Turn("user", text, lang=lang), ExtractionContext(before=said)) == []
    assert read(text, said.said, by_assistant=True).kinds.asks < 0.4, "behind these words it is taken for an answer"
    assert asks(text, lang) and surely_asks(text, lang)


@pytest.mark.parametrize(
    ("lang", "text", "is_sure"),
    [
        ("en-US", "is the boat still in the harbour", True),
        ("de-DE", "kommt der Onkel am Sonntag", True),
        ("nl-NL", "staat de fiets nog buiten", True),
        ("fr-FR", "il coûte combien ton vélo", True),
        ("fr-FR", "Paul chante bien", False),
        ("es-ES", "Ana vive en Burgos", False),
        ("it-IT", "la farmacista apre domani alle dieci", False),
        ("de-DE", "der Onkel kommt am Sonntag", False),
        (
            "pt-PT",
            "há quarenta e seis enguias no tanque grande do laboratório",
            False,
        ),  # it begins with a word that asks
        ("es-ES", "qué come Ana", True),
    ],
)
def test_only_what_certainly_asks_is_left_out(lang: str, text: str, is_sure: bool) -> None:
    assert surely_asks(text, lang) is is_sure


@pytest.mark.parametrize(
    ("lang", "several", "one"),
    [
        (EN, "who lent us what", "who lent us the drill"),
        (EN, "which of us takes what", "which of us takes the drill"),
        (EN, "who took things of ours", "who took the ladder of ours"),
        (DE, "wem haben wir was geliehen", "wem haben wir die bohrmaschine geliehen"),
        (DE, "was haben wir alles verliehen", "wo haben wir das rad verliehen"),
        ("nl-NL", "wie heeft wat geleend", "wie heeft de boor geleend"),
        ("da-DK", "hvem har lånt hvad", "hvem har lånt boremaskinen"),
        ("fr-FR", "qui nous doit de l'argent", "qui a emprunté la perceuse"),
        ("es-ES", "qué hay que comprar", "quién dijo que se llevó el taladro"),
        ("it-IT", "chi ha preso che cosa", "chi ha preso il trapano"),
        ("pt-PT", "quem levou o quê", "quem levou o berbequim"),
        ("ca-ES", "qui té coses nostres", "qui ha dit que s'ha endut el trepant"),
        ("gl-ES", "que levaron todos", "quen levou o trade"),
    ],
)
def test_what_asks_for_several_things_is_told_from_what_asks_for_one(lang: str, several: str, one: str) -> None:
    assert asks_several(several, lang)
    assert not asks_several(one, lang)


BEHIND_A_CLAUSE = [
    (EN, "i'm at the ironmonger's", "what do we need from there"),
    (DE, "ich steh grad im baumarkt", "was brauchen wir da alles"),
    ("nl-NL", "ik sta bij de poort", "wat moet ik allemaal halen bij de bakker"),
    ("fr-FR", "je suis chez le boulanger", "qu'est-ce qu'il faut prendre"),
    ("es-ES", "me voy a la ferretería", "qué hace falta traer"),
    ("da-DK", "jeg står hos bageren", "hvad skal vi have med hjem"),
]


@pytest.mark.parametrize(("lang", "clause", "asked"), BEHIND_A_CLAUSE)
def test_a_question_behind_a_clause_is_what_is_asked(lang: str, clause: str, asked: str) -> None:
    assert asked_in(f"{clause} {asked}", lang) == asked
    assert asks(f"{clause} {asked}", lang)
    assert asked_in(asked, lang) == asked
    assert asked_in(clause, lang) == clause
    assert not asks(clause, lang)


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("fr-FR", "je fais le plan de table qui on attend demain"),
        ("it-IT", "sto uscendo a fare la spesa che cosa devo comprare"),
        ("pt-PT", "vou agora à padaria o que é que é preciso trazer"),
    ],
)
def test_a_clause_and_a_question_ask(lang: str, text: str) -> None:
    assert asks(text, lang) and extract(Turn("user", text, lang=lang)) == []


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        (EN, "the baker knows what i like to eat"),
        (EN, "i told him where the ladder is"),
        (DE, "der bäcker weiß was ich gern esse"),
        (DE, "hat der bäcker schon was gekauft für den ofen"),
        ("nl-NL", "de bakker weet wat ik graag eet"),
        ("fr-FR", "le boulanger sait ce que j'aime"),
    ],
)
def test_a_clause_within_a_sentence_is_no_question_of_its_own(lang: str, text: str) -> None:
    assert asked_in(text, lang) == text


KINDS_OF_QUESTIONS = [
    (
        EN,
        "what do you know about the gutter",
        "what did olga tell you on tuesday",
        "where is the key of the shed door",
    ),
    (
        DE,
        "was weißt du alles über die regenrinne",
        "was hat olga dir am dienstag gesagt",
        "wo ist der schuppenschlüssel",
    ),
    ("nl-NL", "wat weet je allemaal over de dakgoot", "wat heeft olga je dinsdag verteld", "waar is de sleutel"),
    ("da-DK", "hvad ved du om tagrenden", "hvad sagde olga til dig i tirsdags", "hvor er nøglen til skuret"),
    (
        "fr-FR",
        "qu'est-ce que tu sais sur la gouttière",
        "qu'est-ce qu'olga t'a dit mardi",
        "où est la clé de la remise",
    ),
    ("es-ES", "qué sabes de la canaleta", "qué te dijo olga el martes", "dónde está la llave del cobertizo"),
    ("it-IT", "dimmi tutto quello che sai della grondaia", "cosa ti ha detto olga martedì", "dov'è la chiave"),
    ("pt-PT", "o que é que sabes sobre a caleira", "o que é que a olga te disse na terça", "onde está a chave"),
    ("ca-ES", "què saps de la canal de la teulada", "què t'ha dit l'olga dimarts", "on és la clau del cobert"),
    ("gl-ES", "que sabes do canlón", "que che dixo olga o martes", "onde está a chave do alpendre"),
]
"""Of each language a question for all about something, one for what was said, and another."""


@pytest.mark.parametrize(("lang", "about", "said", "other"), KINDS_OF_QUESTIONS)
def test_what_asks_for_all_about_something_or_for_what_was_said_is_told_from_other_questions(
    lang: str, about: str, said: str, other: str
) -> None:
    assert [asks_about_something(one, lang) for one in (about, said, other)] == [True, False, False]
    assert [asks_what_was_said(one, lang) for one in (about, said, other)] == [False, True, False]


@pytest.mark.parametrize("text", ["i told olga about the shed", "you know the shed is open", "i know all that"])
def test_a_remark_about_telling_and_knowing_asks_for_neither(text: str) -> None:
    assert not asks_about_something(text, EN) and not asks_what_was_said(text, EN)


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("it-IT", "dimmi tutto quello che c'è da comprare"),
        ("fr-FR", "donne-moi tout ce que tu as sur monsieur escoubet"),
        ("en-US", "give me everything on the lodger"),
    ],
)
def test_an_order_to_tell_all_of_something_asks(lang: str, text: str) -> None:
    assert wants_all(text, lang) and asks(text, lang)


@pytest.mark.parametrize(
    ("lang", "text"),
    [("it-IT", "raccontami una barzelletta"), ("nl-NL", "vertel eens iets geks over haaien"), (EN, "where is the key")],
)
def test_another_order_and_a_question_for_one_thing_do_not_want_all(lang: str, text: str) -> None:
    assert not wants_all(text, lang)


def test_in_a_language_that_the_reader_has_not_learned_nothing_asks_for_several_things() -> None:
    assert not asks_several("ktoś pożyczył co od nas", "pl-PL")


TO_FORGET = [
    ("en-US", "nobody has to know the business with the tattoo so out of your head with it", "tattoo"),
    ("de-DE", "die sache mit dem strafzettel geht keinen was an nimm die wieder raus", "strafzettel"),
    ("fr-FR", "l'histoire du tatouage t'as jamais entendu ça d'accord enlève la", "tatouage"),
    ("es-ES", "lo del tatuaje haz como si nunca te lo hubiera contado", "tatuaje"),
    ("it-IT", "la faccenda della multa levala dalla tua memoria per favore", "multa"),
    ("nl-NL", "dat gedoe met die boete hoeft niemand te weten haal het er maar weer uit", "boete"),
    ("pt-PT", "aquilo da multa tira lá da tua memória que ninguém precisa de saber", "multa"),
    ("da-DK", "det med bøden skal ingen vide så få det ud af hukommelsen igen", "bøden"),
]


@pytest.mark.parametrize(("lang", "text", "named"), TO_FORGET)
def test_what_is_to_be_forgotten_is_told_from_the_request_around_it(lang: str, text: str, named: str) -> None:
    found = to_forget(text, lang)
    assert found is not None and named in found and len(found.split()) <= 5
    assert extract(Turn("user", text, lang=lang), ExtractionContext()) == []


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("en-US", "i forgot my umbrella at the dentist's"),
        ("en-US", "don't forget that nan comes on friday"),
        ("en-US", "take the milk off the list"),
        ("de-DE", "vergiss nicht dass oma am freitag kommt"),
        ("es-ES", "borra la alarma de las siete"),
        ("nl-NL", "ik ben mijn paraplu vergeten"),
    ],
)
def test_what_is_near_a_request_to_forget_wants_nothing_forgotten(lang: str, text: str) -> None:
    assert to_forget(text, lang) is None


def test_what_is_to_be_forgotten_may_only_be_pointed_at() -> None:
    assert to_forget("das hast du jetzt nicht gehört streich das", "de-DE") == ""


def test_a_remark_that_names_something_asks_for_nothing_about_it() -> None:
    assert not asks_about_something("the baker owes me five pounds", EN)


@pytest.mark.parametrize(
    ("lang", "text", "reply"),
    [
        ("en-US", "aye go on get rid", "yes"),
        ("en-US", "wrong one mate", "no"),
        ("en-US", "delete bananas from the shopping list", "neither"),
        ("es-ES", "que sí mujer que lo quites", "yes"),
        ("de-DE", "das braucht kein mensch mehr", "yes"),
        ("de-DE", "klar ist der himmel heute", "neither"),
        ("pl-PL", "tak usuń to", None),
    ],
)
def test_what_is_said_to_whether_something_is_to_be_deleted(lang: str, text: str, reply: str | None) -> None:
    assert reply_in(text, lang) == reply
