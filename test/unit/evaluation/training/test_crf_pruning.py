"""A model without its weakest weights is the same model otherwise, as CRFsuite itself reads it."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import pycrfsuite
import pytest

from ovos_persona_memory.evaluation.training.crf_pruning import lighten, lookup3, model_from_bytes

WORDS = ["a", "the", "extraordinarily", "zwölf", "long-winded-attribute-of-many-letters", *map(str, range(300))]


def sentence(chance: random.Random) -> tuple[list[list[str]], list[str]]:
    words = chance.choices(WORDS, k=6)
    return [[f"word={word}", f"size={len(word)}"] for word in words], [
        "LONG" if len(word) > 2 else "O" for word in words
    ]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model of some hundred attributes."""
    chance, path = random.Random(3), tmp_path / "a.model"
    trainer = pycrfsuite.Trainer(verbose=False)
    for _ in range(200):
        trainer.append(*sentence(chance))
    trainer.train(str(path))
    return path


def opened(path: Path) -> Any:
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    return tagger


def test_what_is_strong_enough_stays_and_the_rest_goes_with_its_attributes(model: Path) -> None:
    before, old_size = opened(model).info(), model.stat().st_size
    weights = sorted(map(abs, before.state_features.values()))
    gaps = [(other - one, one, other) for one, other in pairwise(weights[len(weights) // 3 :])]
    weakest = sum(max(gaps)[1:]) / 2  # CRFsuite shows rounded weights
    lighten(model, weakest)
    after = opened(model).info()
    strong = {key: weight for key, weight in before.state_features.items() if abs(weight) >= weakest}
    assert after.state_features == strong and 0 < len(strong) < len(before.state_features)
    assert set(after.attributes) == {attribute for attribute, _ in strong} < set(before.attributes)
    assert after.transitions == before.transitions and after.labels == before.labels
    assert model.stat().st_size < old_size


def test_a_model_that_loses_nothing_labels_as_before(model: Path) -> None:
    before = opened(model)
    said = [sentence(random.Random(seed))[0] for seed in range(20)]
    labels = [before.tag(one) for one in said]
    sure = before.probability(labels[-1])
    lighten(model, 0.0)
    after = opened(model)
    assert [after.tag(one) for one in said] == labels
    assert after.probability(labels[-1]) == sure < 1.0
    assert model_from_bytes(model.read_bytes()).attributes[0].endswith(b"\0")


@pytest.mark.parametrize("data", [b"", b"no model at all, but long enough to hold a header of one"])
def test_what_is_no_model_is_left_as_it_is(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "other"
    path.write_bytes(data)
    with pytest.raises(ValueError, match="no model"):
        lighten(path, 0.1)
    assert path.read_bytes() == data


def test_the_hash_is_that_of_its_author() -> None:
    # lookup3.c's own driver5(): "Four score and seven years ago" with 0 is 17770551, with nothing deadbeef
    assert lookup3(b"Four score and seven years ago") == 0x17770551
    assert lookup3(b"") == 0xDEADBEEF
