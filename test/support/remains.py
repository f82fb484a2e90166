"""What is left of words in a folder, in any form in which they could be read there."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from ovos_persona_memory.text import languages

SPOKEN = ("en-US", "de-DE")


def forms(words: Iterable[str], tags: Iterable[str] = SPOKEN) -> set[bytes]:
    """Each word as it is, folded and stemmed; in UTF-8, in UTF-16, and as JSON writes it."""
    held, spoken = tuple(words), [languages.for_language(tag) for tag in tags]
    shapes = set(held) | {word.lower() for word in held} | {f for word in held for f in languages.fold(word)}
    shapes |= {stem for word in held for one in spoken for stem in one.words(word)}
    escaped = {json.dumps(shape)[1:-1].encode() for shape in shapes}
    return {shape.encode(name) for shape in shapes for name in ("utf-8", "utf-16-le", "utf-16-be")} | escaped


def left(folder: Path, words: Iterable[str], tags: Iterable[str] = SPOKEN) -> list[str]:
    """The forms of the words that can be read in the files of the folder, each with its file."""
    wanted = forms(words, tags)
    held = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert any(path.name == "memory.db" for path in held)
    return [
        f"{form!r} in {path.relative_to(folder)}"
        for path, content in held.items()
        for form in wanted
        if form in content
    ]
