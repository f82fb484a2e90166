"""Few wordings of each line, the plainest among them, for engines that are slow."""

from __future__ import annotations

from pathlib import Path

from ovos_spec_tools import expand

from ovos_persona_memory.language import locale_folder
from ovos_persona_memory.skill.wordings import expanded, few, write_few


def test_every_wording_is_found_the_plainest_first() -> None:
    line = "[please|can you] forget (that|this [thing])"
    assert sorted(expanded(line)) == sorted(" ".join(one.split()) for one in expand(line))
    assert expanded(line)[0] == "forget that"


def test_few_are_kept_of_a_line_of_many() -> None:
    kept = few(["(a|b|c|d) (a|b|c|d) {x}", "one"])
    assert len(kept) == 4
    assert kept[0] == "a a {x}"
    assert kept[-1] == "one"


def test_a_locale_with_few_wordings(tmp_path: Path) -> None:
    write_few(locale_folder(), tmp_path, ["en-US", "de-AT"])
    wordings = [
        one for path in (tmp_path / "en-US").glob("*.intent") for one in path.read_text("utf-8").splitlines() if one
    ]
    assert 200 < len(wordings) < 3_000
    assert {"remember that {text}", "what do you know about me", "forget everything about {topic}"} <= set(wordings)
    assert "merk dir {text}" in (tmp_path / "de-AT" / "remember.intent").read_text("utf-8").splitlines()
    assert (tmp_path / "de-AT" / "remember_not.voc").is_file()
    assert not (tmp_path / "fr-FR").exists()
