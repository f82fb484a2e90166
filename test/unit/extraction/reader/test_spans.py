"""From scores to values."""

from __future__ import annotations

import numpy as np

from ovos_persona_memory.extraction.reader.kinds_model import Kinds
from ovos_persona_memory.extraction.reader.labels import SAYINGS, SLOT_LABELS, SLOT_NAMES
from ovos_persona_memory.extraction.reader.model import Scores
from ovos_persona_memory.extraction.reader.spans import values_in

Vectors = np.ndarray


def scores(
    words: int, *values: tuple[str, int, int], who: tuple[int, int] | None = None, saying: str = "stated"
) -> Scores:
    """Scores that are sure of these values, slot, first word and word behind the last; ``who``: of the first value."""

    def sure(size: int) -> Vectors:  # type: ignore[type-arg]  # of float32
        rows = np.full((words, size), 0.02 / max(size - 1, 1), np.float32)
        rows[:, 0] = 0.98
        return rows

    slot, whom, thing, to_who, to_thing = sure(SLOT_LABELS), sure(3), sure(3), sure(words + 1), sure(words + 1)
    sayings = np.full((words, len(SAYINGS)), 0.01, np.float32)
    sayings[:, SAYINGS.index(saying)] = 0.94
    for name, first, last in values:
        for place in range(first, last):
            slot[place] = 0.0
            slot[place, 1 + 2 * SLOT_NAMES.index(name) + (place > first)] = 0.9
            slot[place, 0] = 0.1
    if who is not None:
        for place in range(*who):
            whom[place] = [0.05, 0.9, 0.05] if place == who[0] else [0.05, 0.05, 0.9]
        to_who[values[0][1]] = 0.0
        to_who[values[0][1], 1 + who[0]] = 1.0
    kind, marks = np.array([0.1, 0.8, 0.1], np.float32), np.zeros((words, 2), np.float32)
    return Scores(slot, sayings, whom, thing, kind, Kinds(), marks, to_who, to_thing)


def test_words_of_one_slot_side_by_side_are_one_value() -> None:
    [one] = values_in(scores(6, ("home", 2, 4)))
    assert (one.slot, one.span, one.who, one.thing, one.saying) == ("home", (2, 4), None, None, "stated")
    assert one.probability > 0.85


def test_a_new_value_begins_where_the_model_says_so() -> None:
    assert [one.span for one in values_in(scores(4, ("likes", 1, 2), ("likes", 2, 4)))] == [(1, 2), (2, 4)]


def test_whom_a_value_is_about_are_all_words_labelled_together() -> None:
    [one] = values_in(scores(6, ("home", 4, 5), who=(0, 2)))
    assert one.who == (0, 2)


def test_each_kind_of_saying_is_told() -> None:
    for saying in SAYINGS:
        assert values_in(scores(3, ("work", 1, 2), saying=saying))[0].saying == saying


def test_of_nothing_said_there_is_no_value() -> None:
    assert values_in(scores(5)) == []


def test_the_signs_of_a_value_are_finite_numbers_and_as_many_for_every_value() -> None:
    every = [*values_in(scores(1, ("mood", 0, 1))), *values_in(scores(6, ("home", 2, 4), who=(0, 1)))]
    assert {one.signs.shape for one in every} == {every[0].signs.shape}
    assert all(np.isfinite(one.signs).all() for one in every)


def test_an_unlikely_word_before_the_beginning_of_a_value_is_no_value_of_its_own() -> None:
    made = scores(4, ("location", 2, 3), ("location", 3, 4))
    place = 1 + 2 * SLOT_NAMES.index("location")
    made.slot[2] *= 0.5 / 0.9
    made.slot[2, place] = 0.45
    assert [one.span for one in values_in(made)] == [(3, 4)]
    made.slot[2, place] = 0.55
    assert [one.span for one in values_in(made)] == [(2, 3), (3, 4)]
