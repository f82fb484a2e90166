"""What becomes of what the reader found."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ovos_persona_memory.extraction.candidate import Candidate
from ovos_persona_memory.extraction.reader import Reading, Statement
from ovos_persona_memory.extraction.reader.kinds_model import Kinds
from ovos_persona_memory.extraction.statements import DialogueContext, candidates
from ovos_persona_memory.text import languages

NOBODY = DialogueContext()
ENGLISH = languages.for_language("en-US")


def said(
    text: str, slot: str, value: str, who: str = "", thing: str = "", saying: str = "stated", sure: float = 0.9
) -> Statement:
    """A statement as the reader makes it of these words of a text."""

    def span(words: str) -> tuple[int, int] | None:
        return (text.index(words), text.index(words) + len(words)) if words else None

    place = span(value)
    assert place is not None
    return Statement(slot, place, saying, sure if saying in ("stated", "asked") else 0.1, sure, span(who), span(thing))


def made(text: str, *statements: Statement, known: DialogueContext = NOBODY, question: float = 0.0) -> list[Candidate]:
    return candidates(text, ENGLISH, Reading(tuple(statements), Kinds(asks=question)), known)


CAT = "my cat is called bob"


def test_a_sure_value_is_learned_one_less_sure_waits_and_a_guess_is_nothing() -> None:
    for sure, outcomes in ((0.9, ["learned"]), (0.55, ["learned"]), (0.5, ["waiting"]), (0.2, [])):
        assert [one.outcome for one in made(CAT, said(CAT, "pet", "bob", thing="cat", sure=sure))] == outcomes


@pytest.mark.parametrize(
    ("saying", "outcome", "reason"),
    [
        ("asked", "learned", "asked"),
        ("over", "ended", "taken_back"),
        ("denied", "ended", "taken_back"),
        ("unsure", "waiting", "unsure"),
        ("quoted", "refused", "quotation"),
        ("other", "refused", "other_person"),
    ],
)
def test_the_kind_of_saying_decides_what_becomes_of_a_value(saying: str, outcome: str, reason: str) -> None:
    [one] = made(CAT, said(CAT, "pet", "bob", saying=saying))
    assert (one.outcome, one.reason) == (outcome, reason)


def test_the_parts_of_what_is_to_be_remembered_are_one_note_within_a_sentence() -> None:
    text = "don't let me forget the gate at the cabin sticks and the hinge. keep this: ask bob"
    parts = (said(text, "note", "the gate", sure=0.4), said(text, "note", "sticks and the hinge"))
    one, other = made(text, *parts, said(text, "note", "ask bob"))
    assert (one.outcome, one.text) == ("kept", "the gate at the cabin sticks and the hinge")
    assert other.text == "ask bob"


@pytest.mark.parametrize(
    ("text", "slot", "value", "spoken_of", "ended"),
    [
        ("i retired last year", "work", "retired", None, None),
        ("i left the bakery", "work", "bakery", None, "bakery"),
        ("i gave up my job", "work", "job", None, None),
        ("i sold the golf", "detail", "golf", None, "golf"),
        ("he died in march", "pet", "he", "rex", "rex"),
        ("rex died in march", "pet", "rex", "lola", "rex"),
    ],
)
def test_what_is_over_is_what_is_named_or_was_spoken_of(
    text: str, slot: str, value: str, spoken_of: str | None, ended: str | None
) -> None:
    statement = said(text, slot, value, thing="golf" if slot == "detail" else "", saying="over")
    [one] = made(text, statement, known=DialogueContext(spoken_of=spoken_of))
    assert (one.outcome, one.value) == ("ended", ended)


@pytest.mark.parametrize(
    ("text", "slot", "value", "values"),
    [
        ("i'm allergic to nuts and eggs", "allergy", "nuts and eggs", ["nuts", "eggs"]),
        ("no pork, shellfish and eel for me", "diet", "pork, shellfish and eel", ["pork", "shellfish", "eel"]),
        ("i love rock and roll", "likes", "rock and roll", ["rock and roll"]),
        ("i can't have nuts and", "allergy", "nuts and", ["nuts and"]),
    ],
)
def test_of_a_list_each_is_a_fact_where_values_are_listed(text: str, slot: str, value: str, values: list[str]) -> None:
    assert [one.value for one in made(text, said(text, slot, value))] == values


def test_a_question_states_nothing_however_sure_its_words_are() -> None:
    assert [one.reason for one in made(CAT, said(CAT, "pet", "bob"), question=0.9)] == ["question"]
    assert [one.reason for one in made(f"{CAT}?", said(CAT, "pet", "bob"))] == ["question"]
    assert [one.outcome for one in made(CAT, said(CAT, "pet", "bob"), question=0.7)] == ["learned"]


def test_of_a_language_that_was_not_learned_more_is_asked() -> None:
    statement = said(CAT, "pet", "bob", sure=0.6)
    russian = languages.for_language("ru-RU")
    assert [one.outcome for one in candidates(CAT, russian, Reading((statement,)), DialogueContext())] == ["waiting"]
    assert [one.outcome for one in candidates(CAT, ENGLISH, Reading((statement,)), DialogueContext())] == ["learned"]


def test_the_sister_s_name_is_a_fact_of_the_family() -> None:
    text = "my sister's name is ana"
    [one] = made(text, said(text, "name", "ana", who="my sister"))
    assert (one.slot, one.subject, one.value, one.thing) == ("family", "", "ana", "sister ana")


def test_sisters_stand_side_by_side_and_a_mother_is_one() -> None:
    def thing(text: str, name: str, relation: str) -> str:
        return made(text, said(text, "family", name, thing=relation))[0].thing

    assert thing("my sister is ana", "ana", "sister") != thing("my sister is eva", "eva", "sister")
    assert thing("my mum is ana", "ana", "mum") == thing("my mother is eva", "eva", "mother")


def test_a_place_near_the_home_and_an_employer_stand_beside_home_and_occupation() -> None:
    def thing(text: str, slot: str, value: str) -> str:
        return made(text, said(text, slot, value))[0].thing

    assert thing("we live in lisbon", "home", "lisbon") == thing("i moved to porto", "home", "porto")
    assert thing("we live near the station", "home", "the station") != thing("we live in lisbon", "home", "lisbon")
    assert thing("i'm a nurse", "work", "a nurse") != thing("i work at the hospital", "work", "the hospital")


def test_the_key_is_one_thing_wherever_it_hangs() -> None:
    first, second = "the spare key is in the hall", "i moved my spare key to the drawer"
    [one] = made(first, said(first, "location", "in the hall", thing="the spare key"))
    [other] = made(second, said(second, "location", "the drawer", thing="my spare key"))
    assert one.thing == other.thing and one.subject == other.subject == ""


def test_what_pronouns_mean_comes_from_the_talk_and_nobody_is_guessed() -> None:
    text = "she lives in rome"
    statement = said(text, "home", "rome", who="she")
    assert [one.subject for one in made(text, statement, known=DialogueContext(spoken_of="sister"))] == ["sister"]
    assert [(one.outcome, one.reason) for one in made(text, statement)] == [("refused", "unknown_person")]


def test_a_pronoun_means_who_was_named_before_it_in_the_same_breath() -> None:
    text = "so my brother mike he is a plumber"
    named = said(text, "family", "mike", thing="brother")
    found = made(text, named, said(text, "work", "a plumber", who="he"))
    assert [(one.outcome, one.slot, one.subject) for one in found][1] == ("learned", "work", "brother")
    assert made(text, said(text, "work", "a plumber", who="he"))[0].reason == "unknown_person"


def test_what_stands_behind_an_i_is_the_speakers_whoever_was_named_before() -> None:
    text = "my sister was born in bath and i was born in york"
    born = [said(text, "origin", "bath", who="my sister"), said(text, "origin", "york", who="my sister")]
    assert [(one.subject, one.value) for one in made(text, *born)] == [("sister", "bath"), ("", "york")]


def test_a_short_answer_is_about_whom_the_question_named() -> None:
    known = DialogueContext(said="how old is lena", asked_of="sister")
    assert [one.subject for one in made("nine", said("nine", "age", "nine"), known=known)] == ["sister"]
    assert [one.subject for one in made("nine", said("nine", "age", "nine"))] == [""]


def test_somebody_whom_nobody_introduced_waits_for_review() -> None:
    text = "oscar loves cheese"
    statement = said(text, "likes", "cheese", who="oscar")
    assert [(one.outcome, one.reason) for one in made(text, statement)] == [("waiting", "unknown_person")]
    known = DialogueContext(names={"oscar": "husband"})
    assert [(one.outcome, one.subject) for one in made(text, statement, known=known)] == [("learned", "husband")]


def test_each_statement_has_its_own_words() -> None:
    text = "my name is anna and i live in lisbon. it is late"
    first, second = made(text, said(text, "name", "anna"), said(text, "home", "lisbon"))
    assert (first.text, second.text) == ("my name is anna", "and i live in lisbon")
    only = made(text, replace(said(text, "home", "lisbon")))
    assert [one.text for one in only] == ["my name is anna and i live in lisbon"]


def test_an_animal_that_is_named_is_not_kept_a_second_time() -> None:
    text = "we have a cat called bob"
    found = made(text, said(text, "pet", "bob", thing="cat"), said(text, "pet", "a cat"))
    assert [one.value for one in found] == ["bob"]
