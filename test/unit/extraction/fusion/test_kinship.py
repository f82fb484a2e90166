"""Who somebody is whose relation is said behind the name."""

from __future__ import annotations

import pytest

from ovos_persona_memory.extraction.pipeline import extract
from ovos_persona_memory.records import Turn

EN, DE = "en-US", "de-DE"


def family(text: str, lang: str) -> list[tuple[str, str | None]]:
    found = extract(Turn("user", text, lang=lang))
    return [(one.thing, one.value) for one in found if one.slot == "family" and one.outcome == "learned"]


@pytest.mark.parametrize(
    ("lang", "text", "told"),
    [
        (EN, "that was gethin on the phone that's my little brother", ("littl brother", "gethin")),
        (EN, "if joan rings put her through that's my sister", ("sister", "joan")),
        (DE, "ruf finn an das ist mein neffe", ("neff", "finn")),
        (EN, "remind me to ring lewis my big brother tonight", ("big brother", "lewis")),
        (EN, "bernadette that's mam", ("mam", "bernadette")),
        (DE, "gleich ruft die roswitha an also meine mama heb bitte nicht für mich ab", ("mama", "roswitha")),
        (DE, "schick das an lukas der ist ja mein bruder", ("brud", "lukas")),
    ],
)
def test_a_name_has_the_relation_that_is_said_behind_it(lang: str, text: str, told: tuple[str, str]) -> None:
    assert family(text, lang) == [told]


def test_those_who_are_named_side_by_side_have_the_same_relation() -> None:
    found = extract(Turn("user", "ich hab zwei brüder den stefan und den uwe", lang=DE))
    assert [(one.thing, one.value) for one in found] == [("brud", "stefan"), ("brud", "uwe")]
    assert len({one.outcome for one in found}) == 1  # who believes one of them believes the other


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        (EN, "katrin rang that's my sister's friend"),
        (EN, "put her through that's my sister"),
        (EN, "tell lewis my brother is ill"),
        (DE, "ruf die praxis an das ist mein bruder"),
        (DE, "gleich kommt jasna also mein schwager heißt anders"),
    ],
)
def test_who_is_not_that_relation_is_none(lang: str, text: str) -> None:
    assert family(text, lang) == []
