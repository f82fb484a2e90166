"""What is read before anybody speaks."""

from __future__ import annotations

import threading

import pytest

from ovos_persona_memory import language, templates
from ovos_persona_memory.gate import judge
from ovos_persona_memory.records import Turn
from ovos_persona_memory.service.warming import read_languages


def test_the_first_who_speaks_a_language_that_was_read_waits_for_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[object] = []
    parse = templates.parse
    monkeypatch.setattr(templates, "of", language.once(templates.of.__wrapped__))  # type: ignore[attr-defined]
    monkeypatch.setattr(templates, "parse", lambda lines: read.append(lines) or parse(lines))  # type: ignore[func-returns-value]
    read_languages(("de-DE",)).join()
    assert len(read) == 1
    assert judge(Turn("user", "merk dir dass meine Katze Bob heißt", lang="de-DE"))
    assert len(read) == 1
    assert judge(Turn("user", "remember that my cat is called Bob", lang="en-US"))
    assert len(read) == 2


def test_who_asks_while_something_is_read_waits_for_it() -> None:
    begun, go_on, times = threading.Event(), threading.Event(), []

    @language.once
    def slow(key: str) -> str:
        times.append(key)
        begun.set()
        assert go_on.wait(10)
        return key.upper()

    found: list[str] = []
    asking = [threading.Thread(target=lambda: found.append(slow("a"))) for _ in range(2)]
    asking[0].start()
    assert begun.wait(10)
    asking[1].start()
    go_on.set()
    for one in asking:
        one.join(10)
    assert (found, times) == (["A", "A"], ["a"])
    assert slow("b") == "B"
