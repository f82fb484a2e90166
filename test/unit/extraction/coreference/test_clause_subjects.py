"""Whom and what a clause speaks of: people of the family, known names, and what "she" and "mine" stand for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ovos_persona_memory.extraction.coreference.person_mentions import DialogueContext, PersonRef
from ovos_persona_memory.extraction.pipeline import ExtractionContext, extract
from ovos_persona_memory.records import Turn

EN, DE = "en-US", "de-DE"
NAMES = {
    "oscar": PersonRef("husband", relation="husband"),
    "tilda": PersonRef("schwester", relation="schwester"),
    "ann": PersonRef("ann"),
    "rex": PersonRef("dog", relation="dog", pet=True),
}
BEFORE = DialogueContext(names=NAMES)


def told(text: str, lang: str = EN, before: DialogueContext = BEFORE) -> list[tuple[str | None, str, str | None]]:
    found = extract(Turn("user", text, lang=lang), ExtractionContext(before=before))
    return [(one.slot, one.subject, one.value) for one in found if one.outcome == "learned"]


OF_OTHERS = [
    (EN, "oscar works as a plumber", ("work", "husband", "plumber")),
    (EN, "oscar's allergic to wasps", ("allergy", "husband", "wasps")),
    (EN, "oscars middle name is jude", ("name", "husband", "jude")),
    (EN, "grandma's birthday is on the sixth of june", ("birthday", "grandma", "sixth of june")),
    (EN, "ann lives in porto", ("home", "ann", "porto")),
    (EN, "rex hates the vacuum", ("dislikes", "dog", "the vacuum")),
    (EN, "my parents live in faro", ("home", "parents", "faro")),
    (EN, "i put oscar's scarf in the hall closet", ("location", "husband", "in the hall closet")),
    (EN, "my mum she drives a tram", ("work", "mum", "tram")),
    (DE, "tilda arbeitet als gärtnerin", ("work", "schwester", "gärtnerin")),
    (DE, "die tilda mag kein lakritz", ("dislikes", "schwester", "lakritz")),
    (DE, "tildas lieblingsfarbe ist grün", ("favourite", "schwester", "grün")),
    (DE, "am sechsten juni hat tilda geburtstag", ("birthday", "schwester", "sechsten juni")),
    (DE, "jetzt wohnen meine eltern in kassel", ("home", "eltern", "kassel")),
    (DE, "oma verträgt keine nüsse", ("allergy", "oma", "nüsse")),
]


@pytest.mark.parametrize(("lang", "text", "fact"), OF_OTHERS)
def test_what_is_said_of_people_who_are_known_is_theirs(lang: str, text: str, fact: tuple[str, str, str]) -> None:
    assert told(text, lang) == [fact]


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        (EN, "my boss lives in porto"),
        (EN, "my neighbour is allergic to wasps"),
        (EN, "is oscar allergic to wasps"),
        (EN, "tell ann i live in porto"),
        (EN, "oscar is here"),
        (EN, "oscar is tired"),
        (EN, "rex works as a plumber"),
        (EN, "oscar said i work as a plumber"),
        (EN, "she works as a plumber"),
        (EN, "mine is green"),
        (EN, "our dog walker has a key"),
        (EN, "my best friend lives in porto"),
        (DE, "mein bester freund wohnt in kassel"),
        (DE, "und mag ich pilze"),
        (DE, "wohnt tilda in kassel"),
        (DE, "mein chef wohnt in kassel"),
        (DE, "sie wohnt in kassel"),
    ],
)
def test_nothing_is_learned_of_people_who_are_not_known_or_not_told_of(lang: str, text: str) -> None:
    assert told(text, lang) == []


def test_of_a_name_that_nobody_introduced_nothing_is_learned() -> None:
    viktor = DialogueContext(names={"viktor": PersonRef("viktor"), "victor": PersonRef("victor")})
    assert told("viktor wohnt in bremen", DE) == []
    assert told("viktor wohnt in bremen", DE, before=viktor) == [("home", "viktor", "bremen")]
    assert told("victor loves cheese") == []
    assert told("victor loves cheese", before=viktor) == [("likes", "victor", "cheese")]


def test_a_name_beside_a_relation_is_learned_with_what_is_told() -> None:
    assert told("my cousin felix is allergic to wasps") == [("family", "", "felix"), ("allergy", "cousin", "wasps")]
    assert told("my cousin felix comes on sunday") == [("family", "", "felix")]
    assert told("meine tante jutta kommt am sonntag", DE) == [("family", "", "jutta")]
    assert told("my mother tongue is welsh") == [("detail", "", "welsh")]


def test_two_of_one_relation_are_told_apart_by_name() -> None:
    names = {"tom": PersonRef("tom", relation="cousin"), "ben": PersonRef("ben", relation="cousin")}
    assert told("tom is allergic to wasps", before=DialogueContext(names=names)) == [("allergy", "tom", "wasps")]
    assert told("my cousin lisa is allergic to wasps", before=DialogueContext(names=names))[1] == (
        "allergy",
        "lisa",
        "wasps",
    )


def test_a_pronoun_stands_for_whom_was_spoken_of() -> None:
    sister = DialogueContext(person=PersonRef("sister", "my sister", "sister"))
    assert told("she lives in porto", before=sister) == [("home", "sister", "porto")]
    assert told("her birthday is on the first of may", before=sister) == [("birthday", "sister", "first of may")]
    assert told("he lives in porto", before=sister) == []
    assert (
        told("she lives in porto", before=DialogueContext(person=PersonRef("brother", "my brother", "brother"))) == []
    )
    assert told("my brother is called tom and he's a baker", before=sister) == [
        ("family", "", "tom"),
        ("work", "brother", "baker"),
    ]
    assert told("oscar lives in porto and works at a bank", before=BEFORE) == [
        ("home", "husband", "porto"),
        ("work", "husband", "a bank"),
    ]
    assert told("wir haben eine katze die heißt mina", DE) == [("pet", "", "mina")]


def test_a_fact_of_a_pronoun_can_be_understood_alone() -> None:
    sister = ExtractionContext(before=DialogueContext(person=PersonRef("sister", "my sister", "sister")))
    [fact] = extract(Turn("user", "she lives in porto", lang=EN), sister)
    assert fact.text == "my sister: she lives in porto"


def test_mine_is_what_was_named_before() -> None:
    asked = DialogueContext(asked=("favourite", "colour"))
    assert told("mine is dark green", before=asked) == [("favourite", "", "dark green")]
    assert told("it's green", before=asked) == []
    assert told("it's green", before=replace(asked, question=True)) == [("favourite", "", "green")]
    assert told("meiner ist hering", DE, DialogueContext(asked=("lieblingsfisch",))) == [("favourite", "", "hering")]
    assert told("never mind", before=replace(asked, question=True)) == []


RUN_ON = [
    (EN, "my favourite snack is popcorn it's so good", [("favourite", "", "popcorn")]),
    (EN, "i love figs they remind me of home", [("likes", "", "figs")]),
    (EN, "the ladder it's behind the shed", [("location", "", "behind the shed")]),
    (EN, "the umbrella's in the hall closet", [("location", "", "in the hall closet")]),
    (EN, "turns out i'm allergic to figs", [("allergy", "", "figs")]),
    (EN, "my dad is george", [("family", "", "george")]),
    (EN, "lena is our daughter", [("family", "", "lena")]),
    (EN, "i'm allergic to figs just in case", [("allergy", "", "figs")]),
    (DE, "mein lieblingstier ist der igel den find ich so süß", [("favourite", "", "igel")]),
    (DE, "meine trompete hab ich unter mein bett gelegt", [("location", "", "unter mein bett")]),
    (DE, "mein opa ist der klaus", [("family", "", "klaus")]),
    (DE, "ich mag mathe aber nicht", [("dislikes", "", "mathe")]),
]


@pytest.mark.parametrize(("lang", "text", "facts"), RUN_ON)
def test_speech_without_marks_is_understood(lang: str, text: str, facts: list[tuple[str, str, str]]) -> None:
    assert told(text, lang) == facts


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        (EN, "translate i live in porto into german"),
        (EN, "text ann i put the keys under the mat"),
        (EN, "the towels are in the hall closet right now"),
        (EN, "my keys are in your bag"),
        (EN, "i'm tired of explaining it"),
        (EN, "i like most in the whole world"),
        (EN, "my name is batman"),
        (EN, "the next line is i have a dog"),
        (DE, "schreib tilda der schlüssel liegt unter der matte"),
        (DE, "die handtücher sind gerade im schrank"),
        (DE, "nenn mich prinzessin"),
    ],
)
def test_what_is_dictated_played_or_passing_is_not_learned(lang: str, text: str) -> None:
    assert told(text, lang) == []


def test_a_request_to_remember_may_come_last() -> None:
    for text, lang in (("the bins go out on friday don't forget", EN), ("die tonne kommt freitags merk dir das", DE)):
        [one] = extract(Turn("user", text, lang=lang))
        assert (one.outcome in ("kept", "learned"), one.reason) == (True, "asked")
    assert extract(Turn("user", "please do not save that", lang=EN)) == []
    [secret] = extract(Turn("user", "merk dir meine pin vier vier eins neun", lang=DE))
    assert secret.reason == "secret"


OWN = DialogueContext(names={"wren": PersonRef(""), "imogen": PersonRef("imogen")})


def test_who_is_known_by_a_name_can_say_it_and_others_speak_of_them() -> None:
    assert told("i am wren", before=OWN) == [("name", "", "wren")]
    assert told("i am imogen", before=DialogueContext()) == [("name", "", "imogen")]
    assert told("i am starving", before=OWN) == []
    assert told("imogen is allergic to bee stings", before=OWN) == [("allergy", "imogen", "bee stings")]


@pytest.mark.parametrize(
    ("lang", "text", "name"),
    [
        (EN, "hello i am quillon and i'm eight years old", "quillon"),
        (DE, "ich bin der quillon und bin acht", "quillon"),
    ],
)
def test_an_age_behind_an_unusual_word_makes_a_name_of_it(lang: str, text: str, name: str) -> None:
    assert ("name", "", name) in told(text, lang)


def test_who_plays_teaches_nothing_until_a_while_later() -> None:
    text = "my dog is called rex"
    assert told(text) == [("pet", "", "rex")]
    assert told(text, before=replace(BEFORE, playing=True)) == []
    assert told("pretend i'm a pirate and i live in lisbon") == []
    assert told("ich bin jetzt ein polizist", DE) == []


def test_it_stands_for_what_was_named_and_is_nothing_otherwise() -> None:
    def things(text: str, lang: str, before: DialogueContext) -> list[str]:
        found = extract(Turn("user", text, lang=lang), ExtractionContext(before=before))
        return [one.thing for one in found if one.outcome == "learned"]

    for text, lang in (("they're in the blue folder", EN), ("die liegen in der schublade", DE)):
        assert things(text, lang, BEFORE) == []
        assert things(text, lang, replace(BEFORE, thing=("spare", "key"))) != []
    assert things("it's in the drawer", EN, replace(BEFORE, thing=("umbrella",))) == ["umbrella"]


def test_a_name_stands_behind_a_relation_and_before_a_verb() -> None:
    assert told("my aunt thessaly lives in porto") == [("family", "", "thessaly"), ("home", "aunt", "porto")]
    assert told("meine tante almut wohnt in flensburg", DE)[0] == ("family", "", "almut")
    assert ("family", "", "really") not in told("my aunt really lives in porto")


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        (EN, "have i told you my brother is a nurse"),
        (EN, "have i told you where i live"),
        (DE, "hab ich dir schon erzählt dass mein bruder krankenpfleger ist"),
        (DE, "hab ich dir gesagt wo ich wohne"),
    ],
)
def test_who_asks_whether_they_told_something_is_answered_from_what_was_known_before(lang: str, text: str) -> None:
    assert told(text, lang) == []


def test_whom_nobody_believes_is_not_quoted() -> None:
    assert told("ich bin schon achtunddreißig mir glaubt das keiner", DE) == [("age", "", "achtunddreißig")]
