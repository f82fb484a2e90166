"""The templates of every language but English and German, on sentences that were written before they were."""

from __future__ import annotations

import pytest
from benchmarks.quality.held_out_facts import DATA, learned, measure

from ovos_persona_memory.extraction.pipeline import extract
from ovos_persona_memory.extraction.schema.slots import SLOTS
from ovos_persona_memory.extraction.templates import loader
from ovos_persona_memory.records import Turn
from ovos_persona_memory.text import languages

TAGS = sorted(path.stem for path in DATA.glob("*.json"))
PRECISION, RECALL, AT_LEAST = 0.97, 0.95, 30
SECRETS = {
    "ca-ES": "el meu codi pin és 4711",
    "da-DK": "min pinkode er 4711",
    "es-ES": "mi código pin es 4711",
    "fr-FR": "mon code pin est 4711",
    "gl-ES": "o meu código pin é 4711",
    "it-IT": "il mio codice pin è 4711",
    "nl-NL": "mijn pincode is 4711",
    "pt-PT": "o meu código pin é 4711",
}


def test_eight_languages_have_sentences() -> None:
    assert set(TAGS) == set(SECRETS)


@pytest.mark.parametrize("tag", TAGS)
def test_what_people_tell_of_themselves_is_learned_and_nothing_else(tag: str) -> None:
    found = measure(tag)
    assert found.sentences >= AT_LEAST
    assert found.silent >= AT_LEAST
    assert found.precision >= PRECISION, found.trouble
    assert found.recall >= RECALL, found.trouble


@pytest.mark.parametrize("tag", TAGS)
def test_every_slot_has_templates_and_they_can_be_read(tag: str) -> None:
    assert {one.slot for one in loader.for_language(tag).all} == set(SLOTS)


@pytest.mark.parametrize("tag", TAGS)
def test_a_secret_is_learned_in_no_language(tag: str) -> None:
    lead = languages.for_language(tag).lines("remember_that.list")[0]
    for text in (SECRETS[tag], f"{lead} {SECRETS[tag]}"):
        assert list(learned(text, tag)) == []
        assert not [one for one in extract(Turn("user", text, lang=tag)) if one.outcome in ("learned", "kept")]
