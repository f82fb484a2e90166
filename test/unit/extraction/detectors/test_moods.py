"""How somebody feels, wherever an utterance says it."""

from __future__ import annotations

import pytest

from ovos_persona_memory.extraction.pipeline import extract
from ovos_persona_memory.records import Turn

EN, DE = "en-US", "de-DE"


def moods(text: str, lang: str) -> list[str | None]:
    found = extract(Turn("user", text, lang=lang))
    return [one.value for one in found if one.slot == "mood" and one.outcome == "learned"]


@pytest.mark.parametrize(
    ("lang", "text", "mood"),
    [
        (EN, "i'm knackered tonight put the heating on", "knackered"),
        (EN, "oh man i feel wrecked now where's the remote", "wrecked"),
        (EN, "you have no idea how relieved i am", "relieved"),
        (EN, "bit fed up to be honest", "fed up"),
        (EN, "knackered but cheerful", "knackered"),
        (EN, "it feels like four in the morning i'm half asleep", "half asleep"),
        (DE, "total platt heute", "platt"),
        (DE, "puh bin ich heute geschlaucht die woche war zu lang", "geschlaucht"),
        (DE, "mach das licht an mir geht es heute richtig mies", "mies"),
        (DE, "das wurde auch zeit wie froh ich bin", "froh"),
        (DE, "wie erleichtert ich bin", "erleichtert"),
    ],
)
def test_a_mood_is_taken_from_among_other_words(lang: str, text: str, mood: str) -> None:
    assert moods(text, lang) == [mood]


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        (EN, "i'm mad about jazz"),
        (EN, "when i am knackered play something slow"),
        (EN, "am i tired do you think"),
        (EN, "happy birthday"),
        (EN, "nervous"),
        (EN, "my brother says i am moody all day"),
        (DE, "wenn ich traurig bin spiel was schönes"),
        (DE, "ich bin fertig mit dem übergabezettel"),
        (DE, "bin ich müde?"),
    ],
)
def test_what_is_no_mood_of_now_is_none(lang: str, text: str) -> None:
    assert moods(text, lang) == []
