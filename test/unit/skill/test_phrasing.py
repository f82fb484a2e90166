"""What is spoken of memories, what counts as a yes, and what a correction makes of a sentence."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from ovos_persona_memory.skill.guest_mode import lasting
from ovos_persona_memory.skill.phrasing import agrees, distinct, own_words, speakable, time_words, turned, whole_topic
from ovos_persona_memory.skill.spoken_numbers import number_in_words
from ovos_persona_memory.skill.tell import without_courtesy
from ovos_persona_memory.text import languages
from ovos_persona_memory.text.time_expressions import duration_s, ends_at, parse_time_span

ENGLISH, GERMAN = languages.for_language("en-US"), languages.for_language("de-DE")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("the code (for the shed) is [4411] {x} | y", "the code for the shed is 4411 x y"),
        ('she said "hello"\nand **left**', "she said hello and left"),
        ("a\u200bb\x00c", "a b c"),
        ("it ends here.", "it ends here"),
    ],
)
def test_what_no_voice_can_read_is_left_out(text: str, said: str) -> None:
    assert speakable(text) == said


def test_a_long_memory_is_cut_after_a_whole_word() -> None:
    said = speakable("word " * 100)
    assert len(said) <= 240
    assert set(said.split()) == {"word"}
    assert len(speakable("x" * 500)) == 240


def test_the_lead_of_a_memory_is_not_spoken() -> None:
    assert own_words("remember that the shed is red.", ENGLISH) == "the shed is red"


@pytest.mark.parametrize(
    ("spoken", "phrase", "back"),
    [
        (ENGLISH, "my old car", "your old car"),
        (GERMAN, "meinen Wagen", "deinen Wagen"),
        (ENGLISH, "the boat", "the boat"),
    ],
)
def test_mine_is_said_back_as_yours(spoken: languages.Language, phrase: str, back: str) -> None:
    assert turned(phrase, spoken) == back


def test_the_topic_takes_the_word_of_ownership_before_it() -> None:
    assert whole_topic("car", "what do you know about my car", ENGLISH) == "my car"
    assert whole_topic("car", "what do you know about the car", ENGLISH) == "the car"
    assert whole_topic("cars", "what do you know about cars", ENGLISH) == "cars"


def test_the_same_words_are_one_thing() -> None:
    assert distinct(["remember that my car is red", "My car is red."], ENGLISH) == ["remember that my car is red"]


@pytest.mark.parametrize("reply", ["yes", "Yes please", "yeah", "sure", "go ahead", "okay do it", "sounds good yes"])
def test_a_yes(reply: str) -> None:
    assert agrees(reply, ENGLISH) is True


@pytest.mark.parametrize("reply", ["no", "no thanks", "forget it", "never mind", "yes but keep one", "don't", "wait"])
def test_a_no(reply: str) -> None:
    assert agrees(reply, ENGLISH) is False


@pytest.mark.parametrize("reply", ["what", "I would say that it depends on you", "seven", "", "the yes man"])
def test_neither(reply: str) -> None:
    assert agrees(reply, ENGLISH) is None


def test_please_at_the_end_is_not_kept() -> None:
    assert without_courtesy("the shed is red, please.", ENGLISH) == "the shed is red"


NOW = datetime(2026, 11, 25, 10, 30, tzinfo=timezone.utc)  # a Wednesday


@pytest.mark.parametrize(
    ("spoken", "phrase", "since", "until"),
    [
        (ENGLISH, "the last five minutes", datetime(2026, 11, 25, 10, 25), datetime(2026, 11, 25, 10, 30)),
        (ENGLISH, "forget the last hour", datetime(2026, 11, 25, 9, 30), datetime(2026, 11, 25, 10, 30)),
        (ENGLISH, "today", datetime(2026, 11, 25), datetime(2026, 11, 25, 10, 30)),
        (ENGLISH, "on Tuesday", datetime(2026, 11, 24), datetime(2026, 11, 25)),
        (ENGLISH, "last Wednesday", datetime(2026, 11, 18), datetime(2026, 11, 19)),
        (ENGLISH, "last week", datetime(2026, 11, 16), datetime(2026, 11, 23)),
        (ENGLISH, "last month", datetime(2026, 10, 1), datetime(2026, 11, 1)),
        (GERMAN, "die letzten zwei Stunden", datetime(2026, 11, 25, 8, 30), datetime(2026, 11, 25, 10, 30)),
        (GERMAN, "vorgestern", datetime(2026, 11, 23), datetime(2026, 11, 24)),
    ],
)
def test_a_time_that_is_named(spoken: languages.Language, phrase: str, since: datetime, until: datetime) -> None:
    found = parse_time_span(phrase, spoken, NOW)
    assert found is not None
    assert datetime.fromtimestamp(found.since, timezone.utc) == since.replace(tzinfo=timezone.utc)
    assert datetime.fromtimestamp(found.until, timezone.utc) == until.replace(tzinfo=timezone.utc)


def test_words_that_name_no_time() -> None:
    assert parse_time_span("my car", ENGLISH, NOW) is None


@pytest.mark.parametrize(
    ("tag", "phrase", "minutes"),
    [
        ("en-US", "two hours", 120),
        ("en-US", "half an hour", 30),
        ("en-US", "the past half hour", 30),
        ("en-US", "forty five minutes", 45),
        ("en-US", "an hour and a half", 90),
        ("en-US", "two and a half hours", 150),
        ("en-US", "three quarters of an hour", 45),
        ("en-US", "an hour and twenty minutes", 80),
        ("en-US", "the last hour for the five minutes that we had", 60),
        ("de-DE", "eine halbe Stunde", 30),
        ("de-DE", "die letzte Viertelstunde", 15),
        ("nl-NL", "het laatste kwartier", 15),
        ("nl-NL", "anderhalf uur", 90),
        ("da-DK", "tre kvarter", 45),
        ("da-DK", "to en halv time", 150),
        ("fr-FR", "un quart d'heure", 15),
        ("fr-FR", "une heure et demie", 90),
        ("it-IT", "tre quarti d'ora", 45),
        ("it-IT", "mezz'ora", 30),
        ("es-ES", "una hora y media", 90),
        ("pt-PT", "um quarto de hora", 15),
        ("gl-ES", "tres cuartos de hora", 45),
        ("ca-ES", "una hora i mitja", 90),
    ],
)
def test_how_long(tag: str, phrase: str, minutes: float) -> None:
    assert duration_s(phrase, languages.for_language(tag)) == minutes * 60


def test_what_says_no_time_has_no_length() -> None:
    assert duration_s("a while", ENGLISH) is None
    assert duration_s("forty five", ENGLISH) is None


@pytest.mark.parametrize(
    "tag", ["ca-ES", "da-DK", "de-DE", "en-US", "es-ES", "fr-FR", "gl-ES", "it-IT", "nl-NL", "pt-PT"]
)
def test_every_number_of_minutes_is_understood_as_it_is_said(tag: str) -> None:
    spoken = languages.for_language(tag)
    minutes = max((word for word, seconds in spoken.table("units.list").items() if seconds == 60), key=len)
    wrong = [n for n in range(1, 101) if duration_s(f"{number_in_words(n, tag)} {minutes}", spoken) != n * 60]
    assert wrong == []


@pytest.mark.parametrize(
    ("tag", "phrase", "end"),
    [
        ("en-US", "two hours", datetime(2026, 11, 25, 12, 30)),
        ("en-US", "midnight", datetime(2026, 11, 26)),
        ("en-US", "the rest of the evening", datetime(2026, 11, 26)),
        ("en-US", "tomorrow morning", datetime(2026, 11, 26, 8)),
        ("en-US", "noon", datetime(2026, 11, 25, 12)),
        ("en-US", "eleven", datetime(2026, 11, 25, 11)),
        ("en-US", "nine o'clock", datetime(2026, 11, 25, 21)),
        ("de-DE", "den Rest des Abends", datetime(2026, 11, 26)),
        ("fr-FR", "demain matin", datetime(2026, 11, 26, 8)),
    ],
)
def test_when_a_time_ends_that_begins_now(tag: str, phrase: str, end: datetime) -> None:
    assert ends_at(phrase, languages.for_language(tag), NOW) == end.replace(tzinfo=timezone.utc).timestamp()


def test_what_names_no_end_has_none() -> None:
    assert ends_at("the party", ENGLISH, NOW) is None


@pytest.mark.parametrize(
    ("seconds", "words"), [(40, "one minute"), (1800, "thirty minutes"), (3600, "one hour"), (7190, "two hours")]
)
def test_a_span_in_words(seconds: float, words: str) -> None:
    assert lasting(seconds, ENGLISH) == words


@pytest.mark.parametrize(
    ("tag", "utterance", "words"),
    [
        ("en-US", "please forget the last five minutes", "the last five minutes"),
        ("en-US", "forget today", "today"),
        ("en-US", "forget everything I said yesterday please", "yesterday"),
        ("de-DE", "vergiss die letzten zwei Stunden", "die letzten zwei Stunden"),
        ("fr-FR", "oublie la dernière heure", "la dernière heure"),
        ("en-US", "forget my car", "forget my car"),
    ],
)
def test_the_words_that_name_a_time(tag: str, utterance: str, words: str) -> None:
    assert time_words(utterance, languages.for_language(tag), NOW) == words
