"""What the recall chat engine makes of hits."""

from __future__ import annotations

from ovos_persona_memory.opm.chat import _each_once
from ovos_persona_memory.records import Hit
from ovos_persona_memory.text import languages

ENGLISH = languages.for_language("en-US")


def hit(text: str, number: int) -> Hit:
    return Hit(id=f"h{number}", kind="turn", text=text, score=1.0, sure=True, reason="", at=0.0, role="user")


def test_of_several_answers_none_is_told_that_stands_in_another_one() -> None:
    said = [
        "Jule eats no meat",
        "well Jule eats no meat and no fish",
        "Oscar drinks no milk",
        "oscar drinks no milk.",
        "no fish for Oscar",
    ]
    told = _each_once([hit(text, number) for number, text in enumerate(said)], ENGLISH)
    assert [one.text for one in told] == [said[1], said[2], said[4]]
    assert _each_once([], ENGLISH) == []
