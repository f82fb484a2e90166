"""The model of what kind an utterance is: its file, what it is given, and what it gives."""

from __future__ import annotations

from dataclasses import astuple, replace
from pathlib import Path

import numpy as np
import pytest

from ovos_persona_memory.extraction.reader.kinds_model import KINDS, MARKS, REPLIES, SHARED, KindsModel
from ovos_persona_memory.extraction.reader.model import ReaderModel, Scores, Utterance
from test.unit.extraction.reader.test_encoder import SIZE
from test.unit.extraction.reader.test_model import small_model

GIVEN = Utterance(("my", "blue", "bottle"))


def deep_reader() -> ReaderModel:
    """Deep enough to have upper layers."""
    small = small_model()
    layers = (small.encoder.layers * (SHARED + 2))[: SHARED + 2]
    return replace(small, encoder=replace(small.encoder, layers=layers))


def small_kinds(reader: ReaderModel) -> KindsModel:
    """The upper layers of a reader the other way round, and numbers by chance."""
    chance = np.random.default_rng(5)
    shapes = {
        "kinds": (2 * SIZE, len(KINDS)),
        "kinds_bias": (len(KINDS),),
        "marks": (SIZE, len(MARKS)),
        "marks_bias": (len(MARKS),),
        "reply": (4 * SIZE, 3),
        "reply_bias": (3,),
        "replies": (3, len(REPLIES) + 1),
        "replies_bias": (len(REPLIES) + 1,),
    }
    weights = {name: chance.normal(0, 0.5, shape).astype(np.float32) for name, shape in shapes.items()}
    return KindsModel(reader.encoder.layers[SHARED:][::-1], weights)


def read(model: ReaderModel) -> Scores:
    found = model.read(GIVEN)
    assert found is not None
    return found


def test_it_tells_how_likely_each_kind_is_and_which_words_name_what_is_to_be_forgotten() -> None:
    reader = deep_reader()
    found, plain = read(replace(reader, kinds=small_kinds(reader))), read(reader)
    shares = astuple(found.kinds)
    assert len(set(shares)) == len(KINDS) + len(REPLIES) and all(0 < share < 1 for share in shares)
    assert found.kinds.agrees + found.kinds.refuses < 1
    assert found.marks.shape == (3, len(MARKS)) and ((found.marks > 0) & (found.marks < 1)).all()
    assert np.array_equal(found.slot, plain.slot) and np.array_equal(found.kind, plain.kind)


def test_its_own_layers_stand_in_place_of_the_upper_ones_of_the_reader() -> None:
    reader = deep_reader()
    kinds = small_kinds(reader)
    of_reader = replace(kinds, layers=reader.encoder.layers[SHARED:])
    own, other = (read(replace(reader, kinds=one)) for one in (kinds, of_reader))
    assert not np.allclose(astuple(own.kinds), astuple(other.kinds), atol=1e-2)
    assert not np.allclose(own.marks, other.marks, atol=1e-2)


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    reader, path = deep_reader(), tmp_path / "kinds.model"
    kinds = small_kinds(reader)
    kinds.save(path, reader.encoder)
    again, own = read(reader.with_kinds(path)), read(replace(reader, kinds=kinds))
    assert np.allclose(astuple(again.kinds), astuple(own.kinds), atol=2e-2)
    assert np.allclose(again.marks, own.marks, atol=2e-2)


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    reader, path = deep_reader(), tmp_path / "broken.model"
    with pytest.raises(OSError):
        reader.with_kinds(tmp_path / "missing.model")
    path.write_bytes(b"no model")
    with pytest.raises(ValueError):
        reader.with_kinds(path)
