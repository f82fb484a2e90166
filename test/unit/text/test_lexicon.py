"""The lexicon of a language, whatever its tag is."""

from __future__ import annotations

import pytest

from ovos_persona_memory.text import lexicon


@pytest.mark.parametrize("tag", ["0" * 256, "../../etc/passwd", "../en-US", "/", "\n", "xx-XX"])
def test_a_tag_that_names_no_language_has_an_empty_lexicon(tag: str) -> None:
    made = lexicon.for_language(tag)
    assert not made.lists
    assert not lexicon.source(tag).rows


def test_a_language_has_its_own() -> None:
    assert lexicon.source("en-US").rows
    assert lexicon.source("en-GB").rows == lexicon.source("en-US").rows
