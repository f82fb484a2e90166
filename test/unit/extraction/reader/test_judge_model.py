"""The model of the judge: its file, what it is given, and what it gives."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ovos_persona_memory.extraction.reader.judge_model import HEADS, PIECES, SHARED, JudgeModel, pieces_of
from ovos_persona_memory.extraction.reader.model import ASKED, ITSELF
from test.unit.extraction.reader.test_model import small_model


def small_judge() -> JudgeModel:
    """Numbers by chance: the layers and the head of a small reader."""
    reader = small_model()
    names = [name for head in HEADS for name in (head, f"{head}_bias")]
    return JudgeModel(reader, reader.encoder.layers[1:], {name: reader.weights[name] for name in names})


def deep_judge() -> JudgeModel:
    """A judge upon a reader that is deep enough to have upper layers, which it has the other way round."""
    small = small_judge()
    layers = (small.reader.encoder.layers * (SHARED + 2))[: SHARED + 2]
    reader = replace(small.reader, encoder=replace(small.reader.encoder, layers=layers))
    return JudgeModel(reader, layers[SHARED:][::-1], small.weights)


def test_remarks_are_judged_alike_alone_and_together() -> None:
    model, remarks = small_judge(), [("my", "blue"), ("blue", "bottle", "my"), ()]
    together = model.answers(["blue"], remarks)
    alone = [model.answers(["blue"], [remark])[0] for remark in remarks]
    assert np.allclose(together, alone, atol=1e-5) and len(set(together)) == len(remarks)
    assert all(0 < share < 1 for share in together)
    assert not np.allclose(together, model.answers(["my"], remarks), atol=1e-4)


def test_its_own_layers_are_above_those_of_the_reader() -> None:
    model = small_judge()
    without = JudgeModel(model.reader, (), model.weights)
    assert model.layers and not np.allclose(
        model.answers(["blue"], [("my",)]), without.answers(["blue"], [("my",)]), atol=1e-4
    )


def test_of_a_question_and_a_remark_that_are_too_long_as_many_words_are_read_as_fit() -> None:
    (share,) = small_judge().answers(["blue"] * 300, [("my",) * 300])
    assert 0 < share < 1
    rows, parts = pieces_of(small_judge().reader.encoder, ["blue"] * 300, ["my"] * 300)
    assert len(rows) == len(parts) == PIECES


def test_a_question_is_told_from_the_remark_behind_it() -> None:
    rows, parts = pieces_of(small_judge().reader.encoder, ["blue"], ["my"])
    asked = parts.count(ASKED)
    assert parts == [ITSELF, *[ASKED] * asked, *[ITSELF] * (len(rows) - 1 - asked)] and asked >= 2


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    model, path = deep_judge(), tmp_path / "judge.model"
    model.save(path)
    again = JudgeModel.load(path, model.reader)
    given = (["blue"], [("my", "blue"), ("bottle",)])
    assert np.allclose(again.answers(*given), model.answers(*given), atol=2e-2)
    of_reader = JudgeModel(model.reader, model.reader.encoder.layers[SHARED:], model.weights)
    assert not np.allclose(of_reader.answers(*given), model.answers(*given), atol=5e-2)
    assert len(again.layers) == len(model.layers) and again.weights.keys() == model.weights.keys()


def test_layers_above_those_of_the_reader_are_saved_too(tmp_path: Path) -> None:
    model, path = deep_judge(), tmp_path / "judge.model"
    deeper = replace(model, layers=(*model.layers, model.layers[0]))
    deeper.save(path)
    again = JudgeModel.load(path, model.reader)
    given = (["blue"], [("my", "blue"), ("bottle",)])
    assert len(again.layers) == len(model.layers) + 1
    assert np.allclose(again.answers(*given), deeper.answers(*given), atol=2e-2)
    assert not np.allclose(again.answers(*given), model.answers(*given), atol=2e-2)


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        JudgeModel.load(tmp_path / "missing.model", small_model())
    path = tmp_path / "broken.model"
    path.write_bytes(b"no model")
    with pytest.raises(ValueError):
        JudgeModel.load(path, small_model())
