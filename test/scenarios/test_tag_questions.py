"""What is asked in the words of a statement teaches nothing."""

from __future__ import annotations

import pytest

from ovos_persona_memory.extraction import extract
from ovos_persona_memory.records import Turn

EN, DE = "en-US", "de-DE"


def learned(lang: str, text: str) -> list[tuple[str | None, str | None]]:
    told = extract(Turn("user", text, at=1.0, lang=lang))
    return [(one.slot, one.value) for one in told if one.outcome in ("learned", "kept")]


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        (EN, "I don't eat pork, do I?"),
        (EN, "My favourite film is Casablanca, is that what I told you?"),
        (EN, "Siri, have you stored that my home is in Chester?"),
        (EN, "i live in rome isn't that right"),
        (EN, "siri have you stored that my home is in chester"),
        (EN, "what's my favourite film casablanca or psycho"),
        (EN, "do i live in rome or in milan"),
        (EN, "i play the violin do i or am i mixing that up with someone else"),
        (EN, "did i tell you that my sister is a nurse"),
        (EN, "is it true that i'm allergic to peanuts"),
        (DE, "Ich bin in Würzburg geboren, steht das so bei dir?"),
        (DE, "Ich arbeite bei der Sparkasse, ja oder nein?"),
        (DE, "Bin ich müde oder nur hungrig, was meinst du?"),
        (DE, "bin ich müde oder nur hungrig was meinst du"),
        (DE, "ich arbeite bei der sparkasse ja oder nein"),
        (DE, "arbeite ich eigentlich bei der sparkasse"),
        (DE, "könnte es sein dass ich gegen pollen allergisch bin"),
        (DE, "mein arzt heißt doktor böhm oder irre ich mich"),
        (DE, "habe ich bei dir hinterlegt dass ich schwerhörig bin"),
    ],
)
def test_what_is_asked_is_not_learned(lang: str, text: str) -> None:
    assert learned(lang, text) == []


@pytest.mark.parametrize(
    ("lang", "text", "told"),
    [
        (EN, "i don't eat pork", ("diet", "pork")),
        (EN, "my wife loves jazz and i do too", ("likes", "jazz")),
        (EN, "i'm allergic to peanuts can you check what is in it", ("allergy", "peanuts")),
        (DE, "ich mag spinat nicht", ("dislikes", "spinat")),
        (DE, "ich bin in würzburg geboren", ("origin", "würzburg")),
    ],
)
def test_what_is_stated_is(lang: str, text: str, told: tuple[str, str]) -> None:
    assert told in learned(lang, text)
