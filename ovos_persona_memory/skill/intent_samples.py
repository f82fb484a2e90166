"""Few wordings for the intent engines, which expand each of them and learn or compile what comes of it.

All 12,000 wordings of English took ovos-core 5 s of its start with padacioso 2.4, and one utterance 77 s with the 1.0
of the stable line (2026-11-22). What is left out here is understood by ``understanding``, unless another skill takes it
first: one that cancels alarms takes whatever stands behind "delete the". Against that a file ``<intent>.claims`` has
beginnings of what is said to the memory alone. Whatever intent the engine then chooses, the skill looks again at what
was meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from ovos_persona_memory.text import languages

EACH = 3
"""Wordings kept of each line of an intent file with a slot."""
PLAIN = 24
"""Wordings kept of each line without a slot: such a wording comes before the slot of another skill that would take all
of it."""
_GROUP = re.compile(r"\[([^\[\]()]*)\]|\(([^\[\]()]*)\)")


def expanded(line: str) -> list[str]:
    """Every wording of a line with (a | b) and [a], the plainest first."""
    inner = _GROUP.search(line)
    if inner is None:
        return [" ".join(line.split())]
    optional, choice = inner.groups()
    branches = ["", *optional.split("|")] if optional is not None else choice.split("|")
    wordings = (f"{line[: inner.start()]}{branch}{line[inner.end() :]}" for branch in branches)
    return list(dict.fromkeys(one for wording in wordings for one in expanded(wording)))


def few(lines: list[str], each: int = EACH, plain: int = PLAIN) -> list[str]:
    """The plainest wording of each line, and some of the rest, evenly spread."""
    kept: list[str] = []
    for line in lines:
        wordings = expanded(line)
        kept += wordings[:: max(1, -(-len(wordings) // (each if "{" in line else plain)))]
    return list(dict.fromkeys(kept))


def wordings(folder: Path, intent: str) -> list[str]:
    """The wordings of an intent for an engine: a few of each line, and every one that another skill would claim."""
    given = few(_lines(folder / f"{intent}.intent"))
    claimed = (one for line in _lines(folder / f"{intent}.claims") for one in expanded(line))
    return list(dict.fromkeys([*given, *claimed]))


def _lines(path: Path) -> list[str]:
    """The lines of a file that are no comments; none where there is no such file."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return [line for line in text.splitlines() if line and line[0] != "#"]


def write_few(locale: Path, target: Path, langs: Iterable[str]) -> None:
    """Write a copy of the files that an engine needs of these languages, with few wordings in each intent file.

    The folder of a language that is not shipped holds the files of the nearest one.
    """
    for lang in langs:
        folder = target / lang
        folder.mkdir(parents=True, exist_ok=True)
        shipped = locale / languages.for_language(lang).tag
        for source in shipped.glob("*.voc"):
            (folder / source.name).write_text(source.read_text(encoding="utf-8"), encoding="utf-8")
        for intent in {source.stem for ending in ("intent", "claims") for source in shipped.glob(f"*.{ending}")}:
            lines = "\n".join(wordings(shipped, intent))
            (folder / f"{intent}.intent").write_text(f"{lines}\n", encoding="utf-8")
