"""Everything that the skill says, in every language: as a voice gets it, and as it sounds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

import pytest
from support.espeak import VOICES, Voice, voice

from ovos_persona_memory.skill.guest_mode import lasting
from ovos_persona_memory.skill.phrasing import own_words
from ovos_persona_memory.skill.spoken_numbers import day_in_words, number_in_words, sentence
from ovos_persona_memory.text import languages
from ovos_persona_memory.text.languages import Language

LOCALE = languages.locale_folder()
NOT_SPOKEN = ("recalled_heading", "recalled_line", "summary_heading", "recall_request")
"""Dialogs that stand in a prompt, and are never said aloud."""
FORBIDDEN = re.compile(r"[()\[\]{}|<>*_`~^\\#\"„“”«»…]|\d")
NOW = datetime(2026, 11, 22, 18, 30, tzinfo=timezone.utc)
TOLD = 'she said: "the **shed** (the red one) is [locked] | closed"\nuntil {May} <soon>\u200b'
"""A memory with all that no voice can read; it has no number, which is the speaker's own."""
DAYS = (datetime(2026, 11, 22), datetime(2026, 11, 21), datetime(2026, 11, 19), datetime(2025, 3, 31))
NUMBERS = {"count": 3, "memories": 21, "turns": 1234, "days": 5}


def spoken_dialogs(tag: str) -> list[Path]:
    return [path for path in sorted((LOCALE / tag).glob("*.dialog")) if path.stem not in NOT_SPOKEN]


def rendered(tag: str) -> Iterator[tuple[str, str]]:
    """Every sentence that can be said, with slots filled as the skill fills them, by dialog."""
    spoken = languages.for_language(tag)
    for path in spoken_dialogs(tag):
        for when in whens(spoken):
            texts = {
                "when": when,
                "text": own_words(TOLD, spoken),
                "other": own_words(TOLD, spoken),
                "topic": "your shed",
                "thing": "your shed",
                "name": "Ada",
                "speaker": "Ada",
            }
            times = {"period": lasting(7200, spoken), "day": day_in_words(31, tag), "month": months(spoken)[2]}
            slots = {**texts, **times, "year": number_in_words(2025, tag), **NUMBERS}
            yield path.stem, sentence(spoken, path.stem, **slots)


def months(spoken: Language) -> list[str]:
    return list(spoken.lines("months.list"))


def whens(spoken: Language) -> list[str]:
    def number(one: int) -> str:
        return number_in_words(one, spoken.tag)

    def day(one: int) -> str:
        return day_in_words(one, spoken.tag)

    return [spoken.when(said.replace(tzinfo=timezone.utc), NOW, number, day) for said in DAYS]


@pytest.fixture(scope="module")
def aloud() -> Iterator[Voice]:
    with voice() as one:
        yield one


@pytest.mark.parametrize("tag", VOICES)
def test_no_digit_no_mark_and_no_empty_slot_is_left_in_what_is_said(tag: str) -> None:
    for dialog, said in rendered(tag):
        assert not FORBIDDEN.search(said), f"{dialog}: {said}"
        assert "  " not in said, f"{dialog}: {said}"


@pytest.mark.parametrize("tag", VOICES)
def test_every_sentence_can_be_pronounced(aloud: Voice, tag: str) -> None:
    aloud.use(tag)
    for dialog, said in dict(rendered(tag)).items():
        sounds = aloud.phonemes_of(said)
        assert len(sounds.split()) >= len(said.split()) / 3, f"{dialog}: {said!r} sounds {sounds!r}"


FIVE = [
    ("en-US", "I'll forget three things about your car. Say yes to delete them, no to keep them."),
    ("en-US", "You told me on the first of May two thousand twenty six: the bins go out on Wednesday."),
    ("de-DE", "Ich merke mir: die Tonnen müssen am Dienstag raus."),
    ("fr-FR", "Je vais oublier ce dont on vient de parler. Dis oui pour l'effacer, non pour le garder."),
    ("da-DK", "Jeg har glemt det, der sidst blev talt om."),
]


@pytest.mark.parametrize(("tag", "said"), FIVE)
def test_a_voice_speaks_it(aloud: Voice, tag: str, said: str) -> None:
    aloud.use(tag)
    seconds, loudest = aloud.sound_of(said)
    assert 0.03 < seconds / len(said) < 0.15, "a voice reads some ten to thirty characters a second"
    assert loudest > 1000


@pytest.mark.parametrize("said", ["I'll forget 3 things", 'You told me: "hello"', "You told me {when}", "a | b"])
def test_what_no_voice_can_read_would_be_noticed(said: str) -> None:
    assert FORBIDDEN.search(said)
