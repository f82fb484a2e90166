"""The files of every shipped language: the locale rules of OVOS, and what people can say to the skill."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from ovos_spec_tools import expand, lint

from ovos_persona_memory.skill import open_questions
from ovos_persona_memory.skill.intent_matching import pattern
from ovos_persona_memory.skill.intents import ROOMS
from ovos_persona_memory.text import languages

LOCALE = languages.locale_folder()
TAGS = languages.shipped()
TEN = {"ca-ES", "da-DK", "de-DE", "en-US", "es-ES", "fr-FR", "gl-ES", "it-IT", "nl-NL", "pt-PT"}
INTENTS = {name for room in ROOMS for name in room.INTENTS}
UNSPOKEN = re.compile(r"[()\[\]|<>*_`#\"„“”«»…]|\d")
NOT_SPOKEN = ("recalled_heading", "recalled_line", "summary_heading", "recall_request")
"""Dialogs that stand in a prompt, and are never said aloud."""


def lines(path: Path) -> list[str]:
    return [line for line in path.read_text("utf-8").splitlines() if line.strip() and not line.startswith("#")]


def test_ten_languages_are_shipped() -> None:
    assert set(TAGS) >= TEN


@pytest.mark.parametrize("tag", TAGS)
def test_the_linter_of_ovos_finds_no_error(tag: str) -> None:
    found = lint.lint_locale(str(LOCALE / tag))
    assert [str(one) for one in found if one.severity == "error"] == []


@pytest.mark.parametrize("tag", TAGS)
def test_every_intent_has_several_wordings_and_the_slots_of_english(tag: str) -> None:
    for name in set(INTENTS) - {"question"}:  # any question is one
        wordings = lines(LOCALE / tag / f"{name}.intent")
        assert len(wordings) >= 4, name
        slots = set(re.findall(r"{(\w+)}", " ".join(wordings)))
        assert slots == set(re.findall(r"{(\w+)}", " ".join(lines(LOCALE / "en-US" / f"{name}.intent")))), name


@pytest.mark.parametrize("tag", TAGS)
def test_what_is_taken_only_where_it_is_answered_has_wordings_for_no_engine(tag: str) -> None:
    for name in open_questions.WORDED:
        assert not (LOCALE / tag / f"{name}.intent").exists(), name
        assert lines(LOCALE / tag / f"{name}.patterns"), name


@pytest.mark.parametrize("tag", TAGS)
def test_no_wording_is_a_slot_alone_or_has_two(tag: str) -> None:
    # a match with two slots is less sure than one with one, and then a persona answers before us
    for path in (LOCALE / tag).glob("*.intent"):
        for wording in lines(path):
            assert wording.count("{") <= 1, wording
            assert re.sub(r"{\w+}", "", wording).strip(), wording


@pytest.mark.parametrize("tag", TAGS)
def test_each_pattern_belongs_to_an_intent_and_needs_words_of_its_own(tag: str) -> None:
    for path in (LOCALE / tag).glob("*.patterns"):
        given = LOCALE / tag / f"{path.stem}.intent"
        read = given if given.exists() else LOCALE / "en-US" / path.name  # none is given to an engine
        slots = set(re.findall(r"{(\w+)}", read.read_text("utf-8")))
        for line in lines(path):
            made = re.compile(pattern(line))
            assert set(made.groupindex) <= slots, f"{path.name}: {line}"
            assert not any(made.fullmatch(said) for said in ("", "velvet ", "velvet cormorants of the sea ")), line


@pytest.mark.parametrize("tag", TAGS)
def test_what_is_spoken_has_no_digit_and_no_mark_that_a_voice_would_read(tag: str) -> None:
    for path in (LOCALE / tag).glob("*.dialog"):
        if path.stem not in NOT_SPOKEN:
            for sentence in lines(path):
                assert not UNSPOKEN.search(re.sub(r"{\w+}", "", sentence)), f"{path.name}: {sentence}"


@pytest.mark.parametrize("tag", TAGS)
def test_a_question_before_deleting_names_both_answers(tag: str) -> None:
    spoken = languages.for_language(tag)
    folded = (
        [" ".join(languages.fold(p)) for p in spoken.phrases("yes.voc")],
        [" ".join(languages.fold(p)) for p in spoken.phrases("no.voc")],
    )
    for path in (LOCALE / tag).glob("forget_*_ask*.dialog"):
        said = f" {' '.join(languages.fold(lines(path)[0]))} "
        assert all(any(f" {phrase} " in said for phrase in phrases) for phrases in folded), path.name


@pytest.mark.parametrize("tag", TAGS)
def test_yes_and_no_share_no_phrase(tag: str) -> None:
    spoken = languages.for_language(tag)
    refusals = {*spoken.phrases("no.voc"), *spoken.phrases("cancel.voc")}
    assert not refusals & set(spoken.phrases("yes.voc"))


@pytest.mark.parametrize("tag", TAGS)
def test_the_wordings_are_few_enough_for_a_small_device(tag: str) -> None:
    # each wording is a pattern that is tried on every utterance: 1,000 of them take about a millisecond on a PC
    counts = {p.stem: sum(len(expand(w)) for w in lines(p)) for p in (LOCALE / tag).glob("*.intent")}
    assert sum(counts.values()) < 20_000
    assert max(counts.values()) < 3_000, max(counts, key=lambda name: counts[name])


@pytest.mark.parametrize("tag", sorted(TEN))
def test_an_offer_to_tell_more_names_words_that_go_on(tag: str) -> None:
    """Not "say more": ovos-skill-parrot repeats what stands behind "say"."""
    spoken = languages.for_language(tag)
    words = spoken.phrases("more.voc")[0]
    for dialog in ("say_more", "say_more_perhaps"):
        assert all(f": {words}," in offer for offer in spoken.sentences(dialog))
