"""The quick stemmers give the very stems of the package's own."""

from __future__ import annotations

import random
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from ovos_persona_memory.stems import quick
from ovos_persona_memory.words import STEMMERS, fold

LOCALE = Path(__file__).parents[2] / "locale"
ALGORITHMS = sorted(set(STEMMERS.values()))


def stemmer(algorithm: str) -> Any:
    name = f"{algorithm}_stemmer"
    module = import_module(f"snowballstemmer.{name}")
    return getattr(module, "".join(part.capitalize() for part in name.split("_")))


def vocabulary(algorithm: str) -> list[str]:
    """The words of all our lists, those with endings of this language put behind them, and some without sense."""
    held = {word for path in LOCALE.rglob("*.list") for word in fold(path.read_text("utf-8"))}
    known = stemmer(algorithm)
    parts = sorted({one.s for name, v in vars(known).items() if name.startswith("a_") for one in v})
    chance = random.Random(algorithm)
    words = sorted(held)
    ended = [chance.choice(words) + "".join(chance.choices(parts, k=2)) for _ in range(3000)]
    begun = [chance.choice(parts) + chance.choice(words) for _ in range(1000)]
    short = ["".join(chance.choices("abeioustylnr'é", k=n)) for n in (0, 1, 2, 3, 4, 5) for _ in range(100)]
    return [*chance.sample(words, min(len(words), 4000)), *ended, *begun, *short]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_stems_are_those_of_the_package(algorithm: str) -> None:
    plain, other = stemmer(algorithm)(), quick(stemmer(algorithm))()
    words = vocabulary(algorithm)
    assert [other.stemWord(word) for word in words] == [plain.stemWord(word) for word in words]
