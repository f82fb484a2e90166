"""The page's texts: whole in every language with spoken sentences, with the slots of English; times in words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from ovos_persona_memory import web
from ovos_persona_memory.text import languages
from ovos_persona_memory.web import texts
from ovos_persona_memory.web.texts import Texts, chosen

WEB = Path(web.__file__).parent
DAY_S = 86400.0


def texts_of(tag: str) -> Mapping[str, str]:
    return msgspec.json.decode((languages.locale_folder() / tag / texts.FILE).read_bytes(), type=dict[str, str])


ENGLISH = texts_of("en-US")


def slots(text: str) -> set[str]:
    return set(re.findall(r"{(\w*)}", text))


def test_the_page_speaks_every_language_that_has_spoken_sentences() -> None:
    assert list(texts.offered()) == languages.shipped()


@pytest.mark.parametrize("tag", languages.shipped())
def test_a_language_has_every_text_with_the_slots_of_english(tag: str) -> None:
    own = texts_of(tag)
    assert own.keys() == ENGLISH.keys()
    for key, text in own.items():
        assert text.strip() == text != "", key
        assert slots(text) == slots(ENGLISH[key]), key


@pytest.mark.parametrize("tag", [tag for tag in languages.shipped() if tag != "en-US"])
def test_a_language_is_no_copy_of_english(tag: str) -> None:
    own = texts_of(tag)
    same = [key for key, text in own.items() if text == ENGLISH[key] and len(text.split()) > 1]
    assert same == []


def test_every_text_that_is_asked_for_is_there() -> None:
    asked: set[str] = set()
    for path in WEB.glob("templates/*.html"):
        asked |= set(re.findall(r"\bt\('(\w+)'[,)]", path.read_text("utf-8")))
    for path in WEB.rglob("*.py"):
        asked |= set(re.findall(r"(?:texts|spoken)\(\"(\w+)\"", path.read_text("utf-8")))
        asked |= {f"notice_{one}" for one in re.findall(r"\.back\(\"[^\"]*\", \"(\w+)\"", path.read_text("utf-8"))}
    assert len(asked) > 100
    assert asked - ENGLISH.keys() == set()


def test_a_language_is_chosen_by_hand_then_by_the_browser() -> None:
    assert chosen("de-DE", "fr-FR").tag == "de-DE"
    assert chosen(None, "xx, fr;q=0.5, da-DK;q=0.9").tag == "da-DK"
    assert chosen(None, "de-AT").tag == "de-DE"
    assert chosen("../../etc", "pt-BR;q=x, pt").tag == "pt-PT"


def test_a_text_falls_back_to_english_and_at_last_to_its_name() -> None:
    assert Texts("xx-XX")("undo") == ENGLISH["undo"]
    assert Texts("en-US")("no_such_text") == "no_such_text"
    assert Texts("de-DE")("until", when="morgen") == "bis morgen"


def test_scripts_run_either_way(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Texts("de-DE").direction == "ltr"
    monkeypatch.setattr(texts, "_texts_of", lambda _: {"name": "«זיכרון»"})
    assert Texts("he-IL").direction == "rtl"


def test_times_are_told_in_words() -> None:
    now = 1_790_000_000.0
    assert Texts("en-US").moment(now, now).startswith("Today, ")
    assert Texts("en-US").day(now - DAY_S, now) == "Yesterday"
    assert Texts("de-DE").day(now - DAY_S, now) == "Gestern"


def test_a_day_begins_and_ends_where_the_device_is() -> None:
    bounds = texts.day_bounds("2026-11-21")
    assert bounds is not None
    since, until = bounds
    assert until - since in (DAY_S, DAY_S - 3600, DAY_S + 3600)
    assert texts.day_of(since) == texts.day_of(until - 1) == "2026-11-21"
    assert [texts.day_bounds(one) for one in ("", "yesterday", "2026-02-30", "0001-01-01", "9999-12-31x")] == [None] * 5
