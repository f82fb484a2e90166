"""Fewer wordings for intent engines that look at each of them anew: those of the stable line."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

EACH = 3
"""Wordings that are kept of one line of an intent file."""
_GROUP = re.compile(r"\[([^\[\]()]*)\]|\(([^\[\]()]*)\)")


def engines_are_slow() -> bool:
    """Whether this is the stable line, whose padacioso builds every pattern anew at every utterance.

    Ten thousand wordings took 77 s there, with padacioso 1.0.0 on a busy machine (2026-11-22), where the
    current line takes 15 ms.
    """
    return find_spec("ovos_spec_tools") is None


def expanded(line: str) -> list[str]:
    """Every wording of a line with (a | b) and [a], the plainest first."""
    inner = _GROUP.search(line)
    if inner is None:
        return [" ".join(line.split())]
    optional, choice = inner.groups()
    branches = ["", *optional.split("|")] if optional is not None else choice.split("|")
    wordings = (f"{line[: inner.start()]}{branch}{line[inner.end() :]}" for branch in branches)
    return list(dict.fromkeys(one for wording in wordings for one in expanded(wording)))


def few(lines: list[str], each: int = EACH) -> list[str]:
    """The plainest wording of each line, and some spread over the rest."""
    kept: list[str] = []
    for line in lines:
        wordings = expanded(line)
        kept += wordings[:: max(1, -(-len(wordings) // each))]
    return list(dict.fromkeys(kept))


def write_few(locale: Path, target: Path) -> None:
    """A copy of a locale folder with few wordings in each intent file."""
    for source in locale.rglob("*"):
        copy = target / source.relative_to(locale)
        if source.is_dir():
            copy.mkdir(parents=True, exist_ok=True)
        elif source.suffix in (".intent", ".voc", ".dialog", ".json"):
            copy.parent.mkdir(parents=True, exist_ok=True)
            text = source.read_text(encoding="utf-8")
            if source.suffix == ".intent":
                text = "\n".join(few([line for line in text.splitlines() if line and line[0] != "#"])) + "\n"
            copy.write_text(text, encoding="utf-8")
