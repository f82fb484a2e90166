"""Utterances of independent writers, some of those in test/data/utterances: scripts/utterances plays them all."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from play_utterances import Labelled, is_right, misses, played, read

from ovos_persona_memory import language

FOLDER = Path(__file__).resolve().parents[1] / "data" / "utterances"
LEAST = 0.9
"""Of so few: one that is not understood, or that a busy machine answers too late, weighs more than of them all."""
TEN = ("ca-ES", "da-DK", "de-DE", "en-US", "es-ES", "fr-FR", "gl-ES", "it-IT", "nl-NL", "pt-PT")


def some(tag: str, ours: int, others: int) -> list[Labelled]:
    """So many of the skill's own and of others', the same at each run."""
    labelled, drawn = read(FOLDER / f"{tag}.jsonl"), random.Random(5)
    own, foreign = [one for one in labelled if one.intent], [one for one in labelled if not one.intent]
    return [*drawn.sample(own, ours), *drawn.sample(foreign, others)]


def check(labelled: Sequence[Labelled]) -> None:
    rows = list(played(labelled))
    ours = [is_right(one, reached) for one, reached in rows if one.intent]
    told = "\n".join(misses(rows))
    assert sum(ours) >= LEAST * len(ours), told
    assert [one.text for one, reached in rows if not one.intent and reached.intent] == [], told


def test_what_people_say_in_english_is_done_and_what_is_for_others_is_left_to_them() -> None:
    check(some("en-US", 40, 15))


def test_what_people_say_in_another_language_is_done() -> None:
    tag = random.Random(5).choice([tag for tag in TEN if tag != "en-US"])
    check(some(tag, 10, 5))


def test_there_are_utterances_enough_in_every_language() -> None:
    for tag in TEN:
        labelled = read(FOLDER / f"{tag}.jsonl")
        assert {one.lang for one in labelled} == {tag}
        assert sum(one.intent is not None for one in labelled) >= (200 if tag == "en-US" else 60)
        known = {path.stem for path in (language.locale_folder() / tag).glob("*.intent")} | {"more"}
        assert {one.intent for one in labelled if one.intent} <= known
    assert sum(one.intent is None for tag in TEN for one in read(FOLDER / f"{tag}.jsonl")) >= 150
