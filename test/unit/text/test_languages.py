"""Words, question forms and sentences of the shipped languages."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest

from ovos_persona_memory.text import languages

ENGLISH, GERMAN = languages.for_language("en-US"), languages.for_language("de-DE")
DATA = Path(__file__).parents[2] / "data"
HOUSEHOLDS = [json.loads((DATA / f"household_{tag}.json").read_text(encoding="utf-8")) for tag in ("en", "de")]


def test_words_lose_case_accents_and_endings() -> None:
    assert ENGLISH.words("The CATS' Café") == ["the", "cat", "cafe"]
    assert GERMAN.words("Die Katzen, größer") == ["die", "katz", "gross"]


def test_stop_words_are_dropped_from_a_question() -> None:
    assert ENGLISH.content_words("what is my cat called") == ["cat", "call"]


def test_a_question_of_stop_words_alone_keeps_them_all() -> None:
    assert ENGLISH.content_words("who am I") == ["who", "am", "i"]


def test_an_unshipped_language_has_its_stems_and_speaks_english() -> None:
    finnish = languages.for_language("fi-FI")
    assert finnish.words("kissat") == finnish.words("kissa")
    assert finnish.say("nothing_known") == ENGLISH.say("nothing_known")
    assert finnish.content_words("missä on kissa")


@pytest.mark.parametrize(("tag", "found"), [("en", "en-US"), ("EN-us", "en-US"), ("en-GB", "en-US"), ("de", "de-DE")])
def test_the_nearest_shipped_language_is_taken(tag: str, found: str) -> None:
    assert languages.for_language(tag).tag == found


@pytest.mark.parametrize("household", HOUSEHOLDS, ids=lambda household: household["language"])
def test_statements_questions_and_chatter_of_a_household_are_told_apart(household: dict) -> None:
    spoken = languages.for_language(household["language"])
    asked = [entry["question"] for entry in household["questions"] + household["unanswerable"]]
    told = [entry["text"] for entry in household["statements"]]
    assert [text for text in asked if not spoken.is_question(text)] == []
    assert [text for text in told if spoken.is_question(text)] == []
    assert [text for text in told if not spoken.is_statement(text)] == []
    taken_for_statements = [text for text in household["chatter"] if spoken.is_statement(text)]
    assert len(taken_for_statements) <= len(household["chatter"]) // 10


def test_a_question_mark_makes_a_question_of_anything() -> None:
    assert ENGLISH.is_question("my cat?")


def test_the_lead_of_a_request_to_remember_is_taken_off() -> None:
    assert ENGLISH.without_lead("Remember that the bins go out on Tuesday") == "the bins go out on Tuesday"
    assert ENGLISH.without_lead("I remember that well") == "I remember that well"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (datetime(2026, 5, 10, 8), "today"),
        (datetime(2026, 5, 9, 23), "yesterday"),
        (datetime(2026, 5, 6, 9), "4 days ago"),
        (datetime(2026, 5, 3, 9), "on 3 May 2026"),
    ],
)
def test_when_something_was_said_is_put_in_words(said: datetime, words: str) -> None:
    assert ENGLISH.when(said, datetime(2026, 5, 10, 21)) == words


def test_a_language_is_known_by_its_word_lists_before_it_has_sentences() -> None:
    assert {"ca-ES", "da-DK", "gl-ES", "zh-CN", "th-TH"} <= set(languages.known())
    assert set(languages.shipped()) <= set(languages.known())


@pytest.mark.parametrize(
    ("tag", "found"), [("fr", "fr-FR"), ("fr-BE", "fr-FR"), ("pt-BR", "pt-PT"), ("zh_TW", "zh-CN"), ("ja", "ja-JP")]
)
def test_the_nearest_known_language_is_taken(tag: str, found: str) -> None:
    assert languages.for_language(tag).tag == found


def test_every_known_language_has_the_same_lists() -> None:
    folder = languages.locale_folder()
    of_the_skill = {"ends.list", "memory_words.list", "numbers.list", "swapped.list", "units.list"}
    of_the_skill |= {"articles.list", "inflections.list", "joining.list", "kinds.list"}
    of_the_skill |= {"coming_days.list", "weekly.list", "day_parts.list", "past_days.list"}
    of_the_skill |= {"asking.list"}
    extra = {"question_end.list", "lexicon.list", "people.list", *of_the_skill}
    lists = {tag: {path.name for path in (folder / tag).glob("*.list")} - extra for tag in languages.known()}
    assert len(lists) >= 15
    assert [tag for tag, names in lists.items() if names != lists["en-US"]] == []


@pytest.mark.parametrize("tag", languages.known())
def test_the_lists_of_a_language_can_be_used(tag: str) -> None:
    spoken = languages.for_language(tag)
    assert len(set(spoken.months.values())) == 12
    assert len(spoken.stop_words) > 40
    assert spoken.time_words


@pytest.mark.parametrize(
    ("tag", "question", "words"),
    [
        ("fr-FR", "où sont les clés de la cave", ["cle", "cav"]),
        ("it-IT", "dov'è la chiave", ["chiav"]),
        ("zh-CN", "家里的猫一般在哪儿睡觉", ["猫", "睡觉"]),
        ("ja-JP", "猫はどこで寝ますか", ["猫", "寝"]),
        ("ko-KR", "고양이는 어디에 있어", ["고양", "양이"]),
    ],
)
def test_a_question_is_searched_without_stop_words_in_every_kind_of_script(
    tag: str, question: str, words: list[str]
) -> None:
    assert languages.for_language(tag).content_words(question) == words


@pytest.mark.parametrize(
    ("tag", "text"),
    [
        ("fr-FR", "dans quel placard est l'aspirateur"),
        ("es-ES", "a quién le presté el taladro"),
        ("pt-PT", "onde é que o gato dorme"),
        ("zh-CN", "妈妈早上吃的是什么药"),
        ("zh-CN", "你去过成都吗"),
        ("ja-JP", "掃除機はどこにあるの"),
        ("ko-KR", "열쇠는 어디에 있어"),
        ("th-TH", "แมวนอนที่ไหน"),
        ("ru-RU", "в каком шкафу пылесос"),
    ],
)
def test_questions_are_known_by_their_words(tag: str, text: str) -> None:
    assert languages.for_language(tag).is_question(text)


@pytest.mark.parametrize(
    ("tag", "text"),
    [
        ("fr-FR", "les clés sont derrière la porte"),
        ("nl-NL", "de stofzuiger staat in de gangkast"),
        ("da-DK", "støvsugeren står i skabet"),
        ("zh-CN", "我对花生过敏"),
        ("ja-JP", "掃除機は廊下の棚にあります"),
        ("ko-KR", "열쇠는 문 뒤에 걸려 있어"),
    ],
)
def test_statements_are_known_in_every_language(tag: str, text: str) -> None:
    assert languages.for_language(tag).is_statement(text)


def test_the_language_of_a_text_follows_its_script() -> None:
    assert languages.for_text(None, "猫在哪儿").tag == "zh-CN"
    assert languages.for_text("en-US", "my cat").tag == "en-US"
    assert languages.for_text(None, "où est le chat").tag == "en-US"


def test_the_lead_is_taken_off_where_no_blank_follows_it() -> None:
    assert languages.for_language("zh-CN").without_lead("请记住，我对花生过敏") == "我对花生过敏"


def test_every_shipped_language_has_the_same_files() -> None:
    folder = languages.locale_folder()
    # which languages can tell facts is said in docs/facts.md
    own = (".templates", ".kinds", ".model", ".network", ".belief")
    files = {
        tag: sorted(path.name for path in (folder / tag).iterdir() if path.suffix not in own)
        for tag in languages.shipped()
    }
    assert len(files) >= 10
    assert all(names == files["en-US"] for names in files.values())


def test_every_sentence_has_the_same_slots_in_every_language() -> None:
    for dialog in sorted(path.stem for path in (languages.locale_folder() / "en-US").glob("*.dialog")):
        slots = {
            tag: {
                part.split("}")[0]
                for line in languages.for_language(tag).sentences(dialog)
                for part in line.split("{")[1:]
            }
            for tag in languages.shipped()
        }
        assert all(found == slots["en-US"] for found in slots.values()), dialog


@pytest.mark.parametrize("tag", ["../en-US", "../../locale/en-US", "..", "/", "en\0US", "xx", "a" * 5000])
def test_a_tag_that_is_no_language_names_no_folder(tag: str) -> None:
    spoken = languages.for_language(tag)
    assert not spoken.stop_words
    assert spoken.content_words("where is the cat") and spoken.say("nothing_known")


# how many


@pytest.mark.parametrize(
    ("tag", "number", "other"),
    [
        ("en-US", "how many hens do we have", "how much is the hen"),
        ("de-DE", "wie viele hennen haben wir", "was haben wir für hennen"),
        ("nl-NL", "hoeveel kippen hebben we", "welke kippen hebben we"),
        ("da-DK", "hvor mange høns har vi", "hvor er hønsene"),
        ("fr-FR", "on a combien de poules", "où sont les poules"),
        ("es-ES", "cuántas gallinas tenemos", "cuánto cuesta la gallina"),
        ("it-IT", "quante galline abbiamo", "quanto costa la gallina"),
        ("pt-PT", "quantas galinhas temos", "quanto custa a galinha"),
        ("ca-ES", "quantes gallines tenim", "on són les gallines"),
        ("gl-ES", "cantas galiñas temos", "onde están as galiñas"),
    ],
)
def test_who_asks_how_many_is_told_all_that_was_told_one_by_one(tag: str, number: str, other: str) -> None:
    spoken = languages.for_language(tag)
    assert spoken.asks_how_many(number)
    assert not spoken.asks_how_many(other)
