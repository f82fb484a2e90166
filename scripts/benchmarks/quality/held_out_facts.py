"""Sentences that tell a fact, and sentences that must not: how many the gate takes rightly, for each language."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT), str(ROOT / "test")]  # a script is run where it stands

from ovos_persona_memory.extraction.pipeline import extract  # noqa: E402  (the line above must come first)
from ovos_persona_memory.records import Turn  # noqa: E402
from ovos_persona_memory.text import languages  # noqa: E402

DATA = ROOT / "test" / "data" / "facts"


@dataclass(frozen=True)
class LanguageScores:
    """The learner's results on one language's sentences."""

    tag: str
    sentences: int
    silent: int
    """Sentences that must teach nothing."""
    right: int
    learned: int
    trouble: tuple[str, ...]

    @property
    def recall(self) -> float:
        """The share of the stated facts that were learned correctly."""
        return self.right / self.sentences

    @property
    def precision(self) -> float:
        """The share of the learned facts that had been stated."""
        return self.right / self.learned if self.learned else 0.0


def learned(text: str, tag: str) -> Iterator[tuple[str, str]]:
    """Slots and values of the facts learned from a sentence."""
    for one in extract(Turn("user", text, lang=tag)):
        if one.outcome == "learned" and one.slot is not None:
            yield one.slot, one.value or ""


def measure(tag: str) -> LanguageScores:
    """The scores of the learner on the sentences of a language."""
    held = json.loads((DATA / f"{tag}.json").read_text(encoding="utf-8"))
    right, count, trouble = 0, 0, []
    for told in held["tells"]:
        found = list(learned(told["text"], tag))
        fits = [one for one in found if one[0] == told["slot"] and same(tag, one[1], told["value"])]
        right, count = right + bool(fits), count + len(found)
        if not fits or len(found) > 1:
            trouble.append(f"{told['text']}: {told['slot']} {told['value']!r}, learned {found or 'nothing'}")
    for text in held["tells_nothing"]:
        found = list(learned(text, tag))
        count += len(found)
        trouble += [f"{text}: nothing, learned {found}"] if found else []
    return LanguageScores(tag, len(held["tells"]), len(held["tells_nothing"]), right, count, tuple(trouble))


def same(tag: str, one: str, other: str) -> bool:
    """Whether the words of one value are all in the other."""
    left, right = set(languages.for_language(tag).words(one)), set(languages.for_language(tag).words(other))
    return bool(left and right) and (left <= right or right <= left)


def main() -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tags", nargs="*", default=sorted(path.stem for path in DATA.glob("*.json")))
    for tag in parser.parse_args().tags:
        found = measure(tag)
        print(f"{tag}: precision {found.precision:.3f}, recall {found.recall:.3f} of {found.sentences} facts")
        print(*(f"  {one}" for one in found.trouble), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
