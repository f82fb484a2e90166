"""What of a turn is learned, kept, put up for review or refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ovos_persona_memory.extraction.pipeline import ExtractionContext, extract, is_echo
from ovos_persona_memory.extraction.schema.candidate import Candidate
from ovos_persona_memory.records import GUEST, Turn

EN, DE = "en-US", "de-DE"


def verdicts(text: str, lang: str = EN) -> list[Candidate]:
    return extract(Turn("user", text, lang=lang))


def learned(text: str, lang: str = EN) -> list[tuple[str | None, str | None]]:
    return [(one.slot, one.value) for one in verdicts(text, lang) if one.outcome == "learned"]


STATED = [
    (EN, "my cat is called Bob", "pet", "Bob"),
    (EN, "I'm allergic to peanuts", "allergy", "peanuts"),
    (EN, "I put the keys in the drawer", "location", "in the drawer"),
    (EN, "my wife's birthday is on 3 May", "birthday", "3 May"),
    (EN, "i don't like coriander any more", "dislikes", "coriander"),
    (EN, "my name is anna", "name", "anna"),
    (EN, "im a software engineer", "work", "software engineer"),
    (EN, "we moved to porto last year", "home", "porto"),
    (EN, "well you know what my favourite colour is blue by the way", "favourite", "blue"),
    (EN, "I was born on 12 June 1980.", "birthday", "12 June 1980"),
    (EN, "i was born in lisbon", "origin", "lisbon"),
    (EN, "my older sister's name is Marie", "family", "Marie"),
    (EN, "i'm vegetarian", "diet", "vegetarian"),
    (EN, "my shoe size is 43", "detail", "43"),
    (EN, "i feel so sad today", "mood", "sad"),
    (EN, "i am forty two years old", "age", "forty two"),
    (EN, "we have a dog", "pet", "a dog"),
    (EN, "i just moved to Dublin from London", "home", "Dublin"),
    (EN, "I prefer coffee over tea", "likes", "coffee"),
    (EN, "i've moved the keys to the hook by the door", "location", "the hook by the door"),
    (EN, "i go swimming every tuesday", "activity", "swimming every tuesday"),
    (EN, "my favorite colour's green", "favourite", "green"),
    (DE, "wir haben eine katze", "pet", "katze"),
    (DE, "ich hab zwei schwestern", "family", "zwei"),
    (DE, "ich hab an heiligabend geburtstag", "birthday", "heiligabend"),
    (EN, "i was born on halloween", "birthday", "halloween"),
    (EN, "my birthday's boxing day", "birthday", "boxing day"),
    (EN, "fergal is the name", "name", "fergal"),
    (EN, "and i'm idris her husband", "name", "idris"),
    (DE, "ich lerne französisch seit januar mit so einer app", "activity", "französisch"),
    (DE, "wie ist der pollenflug mein heuschnupfen bringt mich um", "health", "heuschnupfen"),
    (EN, "i've been learning the cornet since september", "activity", "learning the cornet"),
    (EN, "remind me to take my naproxen at eight in the morning", "health", "naproxen"),
    (EN, "i'm just saying because i'm allergic to kiwi", "allergy", "kiwi"),
    (DE, "ich bin letztes jahr nach dublin gezogen", "home", "dublin"),
    (DE, "die weihnachtsdeko ist auf dem dachboden", "location", "auf dem dachboden"),
    (DE, "jeden dienstag gehe ich schwimmen", "activity", "schwimmen, jeden dienstag"),
    (DE, "meine Katze heißt Bob", "pet", "Bob"),
    (DE, "ich bin allergisch gegen Erdnüsse", "allergy", "Erdnüsse"),
    (DE, "ich habe die schlüssel in die schublade gelegt", "location", "in die schublade"),
    (DE, "meine Frau hat am 3. Mai Geburtstag", "birthday", "3. Mai"),
    (DE, "ich mag koriander nicht mehr", "dislikes", "koriander"),
    (DE, "ich mag den zwiebelsaft nicht der ist eklig", "dislikes", "zwiebelsaft"),
    (DE, "rosenkohl mag ich nie", "dislikes", "rosenkohl"),
    (DE, "ich wohn in berlin", "home", "berlin"),
    (DE, "ich arbeite als Krankenschwester", "work", "Krankenschwester"),
    (DE, "meine lieblingsfarbe ist blau", "favourite", "blau"),
    (DE, "mein pass liegt im tresor", "location", "im tresor"),
    (DE, "ich esse gerne pizza", "likes", "pizza"),
]


@pytest.mark.parametrize(("lang", "text", "slot", "value"), STATED)
def test_a_statement_about_oneself_is_learned_in_its_own_words(lang: str, text: str, slot: str, value: str) -> None:
    assert learned(text, lang) == [(slot, value)]


REFUSED = [
    (EN, "is my cat called Bob", None),
    (EN, "my cat is called Bob?", "question"),
    (EN, "she said my cat is called Bob", None),
    (EN, 'and then "my name is Bond and nothing else" he sang, my name is Tom', "quotation"),
    (EN, "he told me i am allergic to peanuts, i am allergic to nuts", "quotation"),
    (EN, "if i win, i live in Berlin", "supposed"),
    (EN, "i am allergic to mondays", "joke"),
    (EN, "i used to live in Berlin", None),
    (EN, "as a kid, i lived in Berlin and my cat was called Bob", None),
    (EN, "my name is not important", None),
    (EN, "call me later", None),
    (EN, "remind me to call mum", None),
    (EN, "set a timer called Bob", None),
    (EN, "i love it", None),
    (EN, "i put my heart in this", None),
    (EN, "i left the party in a hurry", None),
    (EN, "my birthday is next week", None),
    (EN, "my favourite song is playing", None),
    (EN, "my car is broken", None),
    (EN, "my doctor is late", None),
    (EN, "my wife is at home", None),
    (EN, "i love this song", None),
    (EN, "i'm working from home today", None),
    (DE, "mein auto ist kaputt", None),
    (DE, "ich liebe dieses lied", None),
    (DE, "mein lieblingslied läuft gerade", None),
    (EN, "remember to buy milk", "command"),
    (EN, "remember nothing of what he says", "command"),
    (DE, "merk dir bloß nicht alles was der erzählt", "command"),
    (EN, "remember that my pin is 1234", "secret"),
    (EN, "my card number is 4111 1111 1111 1111 and my name is Anna", "secret"),
    (DE, "heißt meine katze Bob", None),
    (DE, "früher habe ich in berlin gewohnt", None),
    (DE, "wenn ich in berlin wohnen würde", None),
    (DE, "sie hat gesagt meine katze heißt bob", None),
    (DE, "merk dir meine pin ist 1234", "secret"),
    (DE, "erinnere mich daran den müll rauszubringen", None),
]


@pytest.mark.parametrize(("lang", "text", "reason"), REFUSED)
def test_what_is_no_statement_about_oneself_is_not_learned(lang: str, text: str, reason: str | None) -> None:
    found = verdicts(text, lang)
    assert {one.outcome for one in found} <= {"refused"}
    if reason is not None:
        assert [one.reason for one in found] == [reason]


def test_what_somebody_asks_to_remember_is_kept_as_it_was_said() -> None:
    [one] = verdicts("remember that the bins go out on Tuesday")
    assert (one.outcome, one.reason, one.slot, one.text) == ("kept", "asked", None, "the bins go out on Tuesday")
    [one] = verdicts("bitte merk dir dass die mülltonnen am dienstag rauskommen", DE)
    assert (one.outcome, one.slot, one.text) == ("kept", None, "die mülltonnen am dienstag rauskommen")


def test_what_follows_remember_that_is_kept_whatever_it_is() -> None:
    for text in ("you have to jiggle the telly plug", "when it rains the gutter drips"):
        assert [(one.outcome, one.text) for one in verdicts(f"remember that {text}")] == [("kept", text)]
    [one] = verdicts("merk dir dass du am stecker wackeln musst", DE)
    assert (one.outcome, one.text) == ("kept", "du am stecker wackeln musst")
    for text in ("remember you have to be quiet", "remember that time in spain", "remember that we eat when?"):
        assert {one.outcome for one in verdicts(text)} == {"refused"}, text


def test_what_somebody_asks_to_remember_fills_a_slot_where_a_template_knows_it() -> None:
    for text, lang in (("remember that my shoe size is 43", EN), ("merk dir, dass ich Schuhgröße 43 habe", DE)):
        assert {one.outcome for one in verdicts(text, lang)} == {"learned"}
    [one] = verdicts("remember my passport is in the safe")
    assert (one.reason, one.slot, one.thing, one.value) == ("asked", "location", "passport", "in the safe")


def test_each_clause_of_a_sentence_is_judged_by_itself() -> None:
    assert learned("my name is anna and i live in lisbon and work as a nurse") == [
        ("name", "anna"),
        ("home", "lisbon"),
        ("work", "nurse"),
    ]
    assert learned("ich heiße Anna und wohne in Lissabon", DE) == [("name", "Anna"), ("home", "Lissabon")]


def test_each_sentence_of_a_turn_is_judged_by_itself() -> None:
    text = "Hi there! My brother is called Tim. Do you live in Berlin? If I could choose, my name is Bob."
    assert learned(text) == [("family", "Tim")]


def test_things_in_a_list_are_facts_of_their_own() -> None:
    assert learned("I am allergic to peanuts, shellfish and cats") == [
        ("allergy", "peanuts"),
        ("allergy", "shellfish"),
        ("allergy", "cats"),
    ]


def test_what_is_said_of_the_family_has_a_subject() -> None:
    [one] = verdicts("my wifes birthday is on may third")
    assert (one.slot, one.subject, one.value) == ("birthday", "wife", "may third")
    [one] = verdicts("mein sohn ist allergisch gegen eier", DE)
    assert (one.slot, one.subject, one.value) == ("allergy", "sohn", "eier")


def test_a_thing_is_known_by_its_stem_without_articles() -> None:
    for text in ("I put my key in the drawer", "i put the keys under the mat"):
        assert [one.thing for one in verdicts(text)] == ["key"]


def test_what_is_taken_back_ends_a_fact_and_starts_none() -> None:
    for text, lang in (("i'm not allergic to peanuts", EN), ("ich bin nicht mehr allergisch gegen nüsse", DE)):
        assert [(one.outcome, one.slot) for one in verdicts(text, lang)] == [("ended", "allergy")]


@pytest.mark.parametrize(
    ("lang", "text", "slot", "value"),
    [
        (EN, "i don't do gymnastics any more", "activity", "gymnastics"),
        (EN, "i've stopped playing chess", "activity", "chess"),
        (EN, "i no longer take metformin", "health", "metformin"),
        (DE, "ich mache kein yoga mehr", "activity", "yoga"),
        (DE, "mit dem klavier hab ich aufgehört", "activity", "klavier"),
        (DE, "gitarre spiel ich nicht mehr", "activity", "gitarre"),
        (DE, "das cortison hab ich abgesetzt", "health", "cortison"),
        (DE, "bei der bank arbeite ich nicht mehr", "work", "der bank"),
    ],
)
def test_what_somebody_has_given_up_ends(lang: str, text: str, slot: str, value: str) -> None:
    assert [(one.outcome, one.slot, one.value) for one in verdicts(text, lang)] == [("ended", slot, value)]


@pytest.mark.parametrize(
    ("lang", "text", "slot"),
    [
        (EN, "my dentist is called grant", "detail"),
        (EN, "my best friend is called zainab", "detail"),
        (EN, "my sister is called orla", "family"),
        (DE, "der nachbar unter uns heißt herr kruse", "detail"),
        (DE, "mein azubi heißt jannis", "detail"),
        (DE, "meine schwester heißt lea", "family"),
    ],
)
def test_who_is_of_no_family_is_a_detail(lang: str, text: str, slot: str) -> None:
    assert [one.slot for one in verdicts(text, lang)] == [slot]


def test_what_somebody_eats_no_more_is_their_diet() -> None:
    for text, lang in (("i gave up sugar", EN), ("ich esse kein fleisch mehr", DE)):
        assert [(one.outcome, one.slot) for one in verdicts(text, lang)] == [("learned", "diet")]


def test_what_somebody_is_unsure_of_waits_for_review() -> None:
    for text, lang in (("i think i put my passport in the desk", EN), ("ich glaube ich wohne in berlin", DE)):
        assert [(one.outcome, one.reason) for one in verdicts(text, lang)] == [("waiting", "unsure")]


TURN = Turn("user", "my cat is called Bob", lang=EN)


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


def test_an_echo_is_what_the_assistant_said_in_these_very_words() -> None:
    told = ["I'll remember: my cat is called Bob."]
    assert is_echo("My cat is called Bob", told)
    assert not is_echo("my cat is called Bo", told)
    assert not is_echo("my cat is called Bob", [])


def test_a_language_without_templates_keeps_what_is_asked_alone() -> None:
    assert verdicts("моего кота зовут Боб", "ru-RU") == []
    assert [one.outcome for one in verdicts("запомни что моего кота зовут Боб", "ru-RU")] == ["kept"]


@pytest.mark.parametrize(
    ("lang", "text", "kept"),
    [
        (EN, "keep it in mind the big ladder is lent to dwight", "the big ladder is lent to dwight"),
        (EN, "don't let me forget we owe dwight two dozen eggs", "we owe dwight two dozen eggs"),
        (EN, "can you put down that the play's on friday evening", "the play's on friday evening"),
        (EN, "you will please remember the car takes only premium", "the car takes only premium"),
        (
            DE,
            "schreib mir auf die bretter dürfen nie in die spülmaschine",
            "die bretter dürfen nie in die spülmaschine",
        ),
        (DE, "erinner dich bitte dran dass die heizung klopft", "die heizung klopft"),
    ],
)
def test_there_are_many_ways_to_ask(lang: str, text: str, kept: str) -> None:
    assert [(one.outcome, one.text) for one in verdicts(text, lang)] == [("kept", kept)]


@pytest.mark.parametrize("text", ["don't let me forget to buy milk", "can you remember my birthday", "remember me"])
def test_what_only_sounds_like_asking_keeps_nothing(text: str) -> None:
    assert [one for one in verdicts(text) if one.outcome == "kept"] == []


@pytest.mark.parametrize(
    ("lang", "text", "value"),
    [
        (EN, "i suppose we ought to be introduced my name's nadia", "nadia"),
        (EN, "my job if you want to know is engineer", "engineer"),
        (EN, "if you were a cat my name would be nadia", None),
        (EN, "suppose my name's nadia", None),
    ],
)
def test_courtesy_supposes_nothing(lang: str, text: str, value: str | None) -> None:
    assert [one.value for one in verdicts(text, lang) if one.outcome == "learned"] == ([value] if value else [])
