"""Results that are kept until texts are forgotten."""

from __future__ import annotations

from ovos_persona_memory.text import caching, languages
from ovos_persona_memory.text.caching import NotedResults


def test_what_was_noted_is_not_computed() -> None:
    computed: list[str] = []
    results = NotedResults[str, int](lambda key: computed.append(key) or len(key), 2)
    results.note("noted", 7)
    assert [results("noted"), results("four"), results("four")] == [7, 4, 4]
    assert computed == ["four"]


def test_the_key_that_was_asked_for_longest_ago_goes_first() -> None:
    computed: list[str] = []
    results = NotedResults[str, int](lambda key: computed.append(key) or len(key), 2)
    for key in ("a", "b", "a", "c", "a", "b"):
        results(key)
    assert computed == ["a", "b", "c", "b"]


def test_nothing_is_kept_once_texts_are_forgotten() -> None:
    results = NotedResults[str, int](len, 2)
    results.note("secret", 0)
    languages.forget_texts()
    assert results("secret") == len("secret")
    assert results in caching._KEPT
