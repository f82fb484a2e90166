"""What is read before anybody speaks."""

from __future__ import annotations

from ovos_persona_memory import looks, tagging, templates
from ovos_persona_memory.gate import judge
from ovos_persona_memory.records import Turn
from ovos_persona_memory.service.warming import read_languages

CACHES = (templates.of, looks.of, tagging._in_folder)


def missed() -> list[int]:
    return [one.cache_info().misses for one in CACHES]


def test_the_first_who_speaks_a_language_that_was_read_waits_for_no_file() -> None:
    for one in CACHES:
        one.cache_clear()
    read_languages(("de-DE",)).join()
    before = missed()
    assert judge(Turn("user", "merk dir dass meine Katze Bob heißt", lang="de-DE"))
    assert missed() == before
    assert judge(Turn("user", "remember that my cat is called Bob", lang="en-US"))
    assert missed() != before
