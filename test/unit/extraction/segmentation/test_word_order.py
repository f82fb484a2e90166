"""German as it is spoken: other orders of words, names in passing, what is left out, what stands behind a statement."""

from __future__ import annotations

import pytest

from ovos_persona_memory.extraction.coreference.person_mentions import DialogueContext, PersonRef
from ovos_persona_memory.extraction.pipeline import ExtractionContext, extract
from ovos_persona_memory.extraction.segmentation.word_order import plain_orders
from ovos_persona_memory.extraction.templates.loader import for_language
from ovos_persona_memory.records import Turn
from ovos_persona_memory.text import languages

DE = "de-DE"


def told(text: str, before: DialogueContext | None = None) -> list[tuple[str | None, str | None]]:
    known = ExtractionContext(before=before or DialogueContext())
    return [(one.slot, one.value) for one in extract(Turn("user", text, lang=DE), known) if one.outcome == "learned"]


@pytest.mark.parametrize(
    ("said", "plain"),
    [
        ("der ben der wohnt in wien", "der ben wohnt in wien"),
        ("ich im klinikum arbeite", "ich arbeite im klinikum"),
        ("ich zucker weglasse", "ich lasse zucker weg"),
        ("geboren bin ich in görlitz", "ich bin in gorlitz geboren"),
        ("frühstücken tue ich nie", "ich fruhstucke nie"),
        ("ich esse unter der woche kein fleisch", "ich esse kein fleisch"),
        ("meine farbe ist nicht mehr blau sondern rot", "meine farbe ist rot"),
    ],
)
def test_a_clause_is_put_into_the_plain_order(said: str, plain: str) -> None:
    known = for_language(DE)
    assert plain in [" ".join(one.folded) for one in plain_orders(known, known.words_of(said))]


def test_no_order_is_given_twice_and_none_in_other_languages() -> None:
    known = for_language(DE)
    said = known.words_of("geboren bin ich in görlitz")
    orders = [one.folded for one in plain_orders(known, said)]
    assert len(set(orders)) == len(orders) and said.folded not in orders
    english = for_language("en-US")
    assert list(plain_orders(english, english.words_of("born am i in rome"))) == []


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("lakritz das hass ich ja so was von", ("dislikes", "lakritz")),
        ("die winterreifen die hab ich auf den dachboden geschafft", ("location", "auf den dachboden")),
        ("zucker lass ich komplett weg", ("diet", "zucker")),
        ("geburtstag hab ich am zwölften februar", ("birthday", "zwölften februar")),
        ("meine lieblingsfarbe ist nicht mehr blau sondern türkis", ("favourite", "türkis")),
        ("in moers hat mein onkel ismet eine bäckerei", ("family", "ismet")),
        ("meine mutter die nurten ruft sonntags immer an", ("family", "nurten")),
        ("demnächst kommt mein alter kumpel torben der bleibt ein paar tage", ("detail", "torben")),
        ("alle zwei wochen samstags helf ich im weltladen", ("activity", "helf samstags im weltladen")),
        ("ich bin mittwochs kegeln mit den kollegen", ("activity", "kegeln, mittwochs")),
        ("irgendwas von querbeat das ist nämlich meine lieblingsband", ("favourite", "querbeat")),
        ("ich bin in halle geboren im krankenhaus", ("origin", "halle")),
        ("mein lieblingsbuch ist der medicus hab ich viermal gelesen", ("favourite", "der medicus")),
        ("rosinen sind das ekligste was es gibt", ("dislikes", "rosinen")),
        ("hier im haus sagen alle omi zu mir", ("name", "omi")),
        ("eigentlich stamm ich ja aus dem erzgebirge", ("origin", "erzgebirge")),
        ("mir wird von knoblauch ganz schlecht", ("dislikes", "knoblauch")),
        ("unser sohn der till spielt jeden samstag handball", ("family", "till")),
    ],
)
def test_what_is_said_as_people_speak_is_understood(text: str, fact: tuple[str, str]) -> None:
    assert fact in told(text)


@pytest.mark.parametrize(
    "text",
    [
        "ich hab zwei hunde im park gesehen",
        "heute mag ich keinen kaffee",
        "hab ich dienstags immer judo",
        "ich brauch einen timer zwanzig minuten",
        "der jürgen hasst computer und isst jeden tag bockwurst",
        "schreib ihm ich wohne in wien",
        "arrr ich bin der wirt und mein papagei heißt rüdiger",
        "heut nacht hab ich geträumt ich bin pilot",
        "ich les dir was vor ich heiße anton",
        "der nachbar hat einen papagei der heißt rio",
    ],
)
def test_what_only_sounds_like_it_is_not_learned(text: str) -> None:
    assert told(text) == []


HILDE = PersonRef("mutter", "meine mutter die hilde", "mutter", called="hilde")


@pytest.mark.parametrize(
    ("text", "before", "fact"),
    [
        ("bei mir ist das spinat", DialogueContext(told="dislikes"), ("dislikes", "spinat")),
        ("und ich zweiundvierzig", DialogueContext(told="age"), ("age", "zweiundvierzig")),
        ("herr schmitz", DialogueContext(head=("ich", "heisse"), question=True), ("name", "herr schmitz")),
        ("meins steht im hof", DialogueContext(thing=("fahrrad",)), ("location", "im hof")),
        ("und geboren ist die in monschau", DialogueContext(person=HILDE), ("origin", "monschau")),
    ],
)
def test_what_is_left_out_is_taken_from_before(text: str, before: DialogueContext, fact: tuple[str, str]) -> None:
    assert fact in told(text, before)


def test_the_words_of_texts_are_kept_until_texts_are_forgotten() -> None:
    known = for_language(DE)
    said = known.words_of("der geheime satz")
    assert known.words_of("der geheime satz") is said
    languages.forget_texts()
    assert known.words_of("der geheime satz") is not said
