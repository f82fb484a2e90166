"""A text handed in as content blocks."""

from __future__ import annotations

from typing import Any

import pytest

from ovos_persona_memory.records import Unfit, text_of

PICTURE = {"type": "image_url", "image_url": {"url": "data:"}}


def text(words: str, kind: str = "text") -> dict[str, str]:
    return {"type": kind, "text": words}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("as it is", "as it is"),
        ([], ""),
        ([text("one")], "one"),
        ([text("one"), text("two")], "one\ntwo"),
        ((text("one", "input_text"), text("two", "output_text"), "three", {"text": "four"}), "one\ntwo\nthree\nfour"),
        ([text("what is this"), PICTURE], "what is this"),
        ([PICTURE, {"type": "input_audio"}], "[image_url] [input_audio]"),
    ],
)
def test_the_text_of_blocks_is_that_of_each_a_line(given: Any, expected: str) -> None:
    assert text_of(given) == expected


@pytest.mark.parametrize(
    ("given", "place"),
    [
        (None, ""),
        (5, ""),
        ({"type": "text", "text": "one"}, ""),
        ([text("one"), 5], "[1]"),
        ([{"type": 5}], "[0]"),
        ([{"type": "text"}], "[0].text"),
        ([{"type": "text", "text": ["one"]}], "[0].text"),
    ],
)
def test_what_is_no_block_is_refused_by_its_place(given: Any, place: str) -> None:
    with pytest.raises(Unfit) as refused:
        text_of(given)
    assert refused.value.place == place
