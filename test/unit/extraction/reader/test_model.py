"""The model of the reader: its file, what it is given, and what it gives."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ovos_persona_memory.extraction.reader.encoder import LONGEST
from ovos_persona_memory.extraction.reader.kinds_model import Kinds
from ovos_persona_memory.extraction.reader.labels import KINDS, NEAR, SAYINGS, SLOT_LABELS
from ovos_persona_memory.extraction.reader.model import HEADS, POINTERS, ReaderModel, Scores, Utterance
from test.unit.extraction.reader.test_encoder import SIZE, small_encoder

WIDTHS = {"slot": SLOT_LABELS, "saying": len(SAYINGS), "who": 3, "thing": 3, "kind": len(KINDS)}


def small_model() -> ReaderModel:
    """Numbers by chance."""
    chance = np.random.default_rng(11)

    def numbers(*shape: int) -> np.ndarray:  # type: ignore[type-arg]  # of float32
        return chance.normal(0, 0.5, shape).astype(np.float16).astype(np.float32)

    weights = {"parts": numbers(4, SIZE), "known": numbers(2, SIZE)}
    for name in HEADS:
        weights |= {name: numbers(SIZE, WIDTHS[name]), f"{name}_bias": numbers(WIDTHS[name])}
    for name in POINTERS:
        for part in ("asks", "answers"):
            weights |= {f"{name}_{part}": numbers(SIZE, 8), f"{name}_{part}_bias": numbers(8)}
        weights |= {f"{name}_nobody": numbers(8), f"{name}_nobody_bias": numbers(1)[0]}
        weights[f"{name}_distance"] = numbers(2 * NEAR + 1)
    weights |= {"early": numbers(SIZE, 1), "early_bias": numbers(1), "early_least": np.array([-1e4], np.float32)}
    weights |= {"deep": numbers(SIZE, SIZE), "deep_bias": numbers(SIZE)}
    weights |= {"asks": numbers(SIZE, 1), "asks_bias": numbers(1)}
    weights |= {"answer": numbers(SIZE, 1), "answer_bias": numbers(1)}
    return ReaderModel(small_encoder(), weights)


def read(model: ReaderModel, given: Utterance) -> Scores:
    found = model.read(given)
    assert found is not None
    return found


def test_what_the_first_layers_see_nothing_in_is_not_read_to_the_end() -> None:
    model, given = small_model(), Utterance(("my", "blue"))
    seen = model.first_look(given)
    for least, is_read in ((seen - 0.1, True), (seen + 0.1, False)):
        other = replace(model, weights={**model.weights, "early_least": np.array([least], np.float32)})
        assert (other.read(given) is not None) is is_read
        assert other.read(given, always=True) is not None


def test_every_score_is_a_probability_and_has_its_shape() -> None:
    found = read(small_model(), Utterance(("my", "blue", "bottle")))
    assert found.slot.shape == (3, SLOT_LABELS) and found.kind.shape == (len(KINDS),)
    assert found.to_who.shape == found.to_thing.shape == (3, 4)
    for rows in (found.slot, found.saying, found.who, found.thing, found.kind[None], found.to_who, found.to_thing):
        assert np.allclose(rows.sum(axis=1), 1.0, atol=1e-5) and (rows >= 0).all()
    assert found.kinds == Kinds() and not found.marks.any()


def test_what_was_said_before_and_who_is_known_change_what_is_read() -> None:
    model = small_model()
    plain = read(model, Utterance(("blue",)))
    for other in (
        Utterance(("blue",), ("my",)),
        Utterance(("blue",), ("my",), by_assistant=True),
        Utterance(("blue",), known=frozenset({0})),
    ):
        assert not np.allclose(plain.slot, read(model, other).slot, atol=1e-3)


def test_of_an_utterance_that_is_too_long_as_many_words_are_read_as_fit() -> None:
    found = read(small_model(), Utterance(("my",) * 2 * LONGEST))
    assert len(found.slot) == LONGEST - 1
    assert len(read(small_model(), Utterance(("z" * 9999,))).slot) == 1


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    model, path = small_model(), tmp_path / "reader.model"
    model.save(path)
    again = ReaderModel.load(path)
    given = Utterance(("my", "blue"), ("blue",), known=frozenset({1}))
    assert np.allclose(read(again, given).slot, read(model, given).slot, atol=1e-2)
    assert again.weights.keys() == model.weights.keys()


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        ReaderModel.load(tmp_path / "missing.model")
    path = tmp_path / "broken.model"
    path.write_bytes(b"no model")
    with pytest.raises(ValueError):
        ReaderModel.load(path)
