"""The quick stemmers give the very stems of the package's own."""

from __future__ import annotations

import random
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from ovos_persona_memory.text import index_terms
from ovos_persona_memory.text.index_terms import STEMMERS, fold
from ovos_persona_memory.text.stemming import quick

LOCALE = Path(__file__).parents[3] / "locale"
ALGORITHMS = sorted(set(STEMMERS.values()))
EACH = [pytest.param(one, marks=() if one in ("english", "german") else pytest.mark.full) for one in ALGORITHMS]


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
    named = sorted(held)
    ended = [chance.choice(named) + "".join(chance.choices(parts, k=2)) for _ in range(3000)]
    begun = [chance.choice(parts) + chance.choice(named) for _ in range(1000)]
    short = ["".join(chance.choices("abeioustylnr'é", k=n)) for n in (0, 1, 2, 3, 4, 5) for _ in range(100)]
    return [*chance.sample(named, min(len(named), 4000)), *ended, *begun, *short]


@pytest.mark.parametrize("algorithm", EACH)
def test_the_stems_are_those_of_the_package(algorithm: str) -> None:
    plain, other = stemmer(algorithm)(), quick(stemmer(algorithm))()
    words = vocabulary(algorithm)
    assert [other.stemWord(word) for word in words] == [plain.stemWord(word) for word in words]


@pytest.mark.parametrize("algorithm", EACH)
def test_the_compiled_stemmers_give_the_same(algorithm: str) -> None:
    plain, other = stemmer(algorithm)(), index_terms._compiled(algorithm)
    assert [word for word in vocabulary(algorithm) if plain.stemWord(word) != other.stemWord(word)] == []


def test_the_compiled_stemmers_are_those_in_use_and_keep_no_words() -> None:
    used = index_terms._stemmer("english")
    assert type(used) is type(index_terms._compiled("english"))
    assert used.maxCacheSize == 0


def test_compiled_stemmers_of_another_release_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    releases = {"PyStemmer": "3.2.0", "snowballstemmer": "3.1.1"}
    monkeypatch.setattr(index_terms, "version", releases.__getitem__)
    assert not index_terms._has_compiled.__wrapped__()
    releases["PyStemmer"] = "3.1.9"
    assert index_terms._has_compiled.__wrapped__()
    monkeypatch.setattr(index_terms, "find_spec", lambda name: None)
    assert not index_terms._has_compiled.__wrapped__()


def test_without_the_compiled_stemmers_the_package_does_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_terms, "_has_compiled", lambda: False)
    assert index_terms._stemmer.__wrapped__("english").stemWord("walnuts") == "walnut"
