"""How well facts are learned, on labelled talk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ovos_persona_memory.cli.program import program
from ovos_persona_memory.errors import InvalidRequest
from ovos_persona_memory.evaluation.fact_scores import measure_learning
from ovos_persona_memory.evaluation.labelled_talk import LabelledFact, LabelledTalk, TalkTurn, read_talks

TALK: dict[str, Any] = {
    "language": "en-US",
    "turns": [
        {"id": "a", "role": "user", "text": "my cat is called Bob", "person": "ann"},
        {"id": "b", "role": "assistant", "text": "my cat is called Rex", "person": "ann"},
        {"id": "c", "role": "user", "text": "I like tea", "person": "ann"},
        {"id": "d", "role": "user", "text": "I like beer", "person": "guest"},
        {"id": "e", "role": "user", "text": "I live in Rome", "person": None},
        {"id": "f", "role": "user", "text": "remember that the bins go out on Tuesday"},
        {"id": "g", "role": "user", "text": "he says the other one is tom"},
        {"id": "h", "role": "user", "text": "I hate rain"},
        {"id": "i", "role": "user", "text": "ich wohne in Berlin", "language": "de-DE"},
    ],
    "facts": [
        {"turn": "a", "slot": "pet", "value": "bob"},
        {"turn": "c", "slot": "favourite", "value": "tea"},
        {"turn": "f", "slot": None, "value": "bins go out Tuesday"},
        {"turn": "g", "slot": "pet", "value": "Tom"},
        {"turn": "i", "slot": "home", "value": "Berlin", "person": "household", "subject": ""},
    ],
    "nothing": ["b", "d", "e", "h"],
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "talk.jsonl"
    path.write_text(json.dumps(TALK) + "\n", encoding="utf-8")
    return path


def test_a_label_may_name_several_slots() -> None:
    turns = [TalkTurn("a", "user", "I like tea"), TalkTurn("b", "user", "my cat is called Bob")]
    labels = [LabelledFact("a", "favourite|likes", "tea"), LabelledFact("b", "likes|family", "Bob")]
    figures = measure_learning([LabelledTalk("en-US", turns, labels)])
    assert [(one.turn, one.right) for one in figures.learned] == [("a", True), ("b", False)]
    assert (figures.slots["favourite"]["recall"].share, figures.slots["likes"]["recall"].share) == (1.0, 0.0)


def test_what_is_learned_is_compared_with_the_labels(file: Path) -> None:
    figures = measure_learning(read_talks(file))
    assert [(one.turn, one.right, one.why) for one in figures.learned] == [
        ("a", True, ""),
        ("c", False, "differs"),
        ("f", True, ""),
        ("h", False, "nothing"),
        ("i", True, ""),
    ]
    assert (figures.precision.number, figures.precision.of) == (3, 5)
    assert (figures.recall_typed.number, figures.recall_typed.of) == (2, 4)
    assert figures.recall_asked.share == 1.0
    assert figures.from_nothing == 1
    assert [label.turn for label in figures.missed] == ["c", "g"]
    assert figures.slots["pet"]["recall"].share == 0.5


def test_what_is_confirmed_counts_as_learned_again(tmp_path: Path) -> None:
    turns = [{"id": name, "role": "user", "text": "my name is Ann"} for name in ("a", "b")]
    labels = [{"turn": name, "slot": "name", "value": "Ann"} for name in ("a", "b")]
    path = tmp_path / "talk.jsonl"
    path.write_text(json.dumps({"language": "en", "turns": turns, "facts": labels}), encoding="utf-8")
    assert measure_learning(read_talks(path)).recall_typed.share == 1.0


def test_named_speakers_can_count_as_persons(tmp_path: Path) -> None:
    turn = {"id": "a", "role": "assistant", "text": "my name is Ann", "speaker": "Ann"}
    path = tmp_path / "talk.jsonl"
    path.write_text(json.dumps({"language": "en", "turns": [turn]}), encoding="utf-8")
    assert [measure_learning(read_talks(path), speakers).precision.of for speakers in (False, True)] == [0, 1]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"turns": [{"id": "a", "role": "user"}]}, "turns"),
        ({"facts": [{"turn": "z", "slot": "pet"}]}, r"facts\[0\].turn"),
        ({"implied": [{"turn": "z", "slot": "pet"}]}, r"implied\[0\].turn"),
        ({"nothing": ["a", "z"]}, r"nothing\[1\]"),
        ({"turns": [*TALK["turns"], TALK["turns"][0]]}, "turns"),
    ],
)
def test_a_file_that_is_not_as_documented_is_refused_by_field(file: Path, change: dict[str, Any], named: str) -> None:
    file.write_text(json.dumps({**TALK, **change}), encoding="utf-8")
    with pytest.raises(InvalidRequest, match=named):
        read_talks(file)


def test_the_command_prints_precision_and_recall(file: Path) -> None:
    run = CliRunner().invoke(program, ["bench", "facts", str(file), "--list"])
    assert run.exit_code == 0, run.output
    row = next(line for line in run.output.splitlines() if line.startswith(str(file)))
    assert row.split("  ")[1:3] == ["9", "5"] and "60.0 % (3 of 5)" in row and "50.0 % (2 of 4)" in row
    assert row.split()[-1] == "1", "learned of nothing"
    assert "nothing: h household dislikes" in run.output
    assert "missed: g pet: Tom" in run.output


def test_the_command_answers_in_json(file: Path) -> None:
    run = CliRunner().invoke(program, ["bench", "facts", str(file), "--json"])
    [figures] = json.loads(run.stdout)["files"]
    assert (figures["precision"], figures["from_nothing"]) == ({"number": 3, "of": 5}, 1)


def test_moods_count_where_the_talk_labels_any() -> None:
    said = [TalkTurn("a", "user", "i feel so tired"), TalkTurn("b", "user", "i'm sad")]
    tired = LabelledFact("a", "mood", "tired")
    assert measure_learning([LabelledTalk("en-US", said)]).precision.of == 0
    assert measure_learning([LabelledTalk("en-US", said, nothing=["b"])]).from_nothing == 1
    assert measure_learning([LabelledTalk("en-US", said, [tired])]).precision.share == 0.5


def test_what_is_only_implied_is_neither_right_nor_wrong() -> None:
    said = [TalkTurn("a", "user", "I like tea"), TalkTurn("b", "user", "my cat is called Bob")]
    tea, bob = LabelledFact("a", "likes", "tea"), LabelledFact("b", "pet", "Bob")
    figures = measure_learning([LabelledTalk("en-US", said, [bob], implied=[tea])])
    assert [(one.turn, one.right) for one in figures.learned] == [("b", True)]
    assert (figures.recall_typed.number, figures.recall_typed.of) == (1, 1)
    assert measure_learning([LabelledTalk("en-US", said, [tea, bob], implied=[tea])]).precision.number == 2
    assert measure_learning([LabelledTalk("en-US", said, implied=[tea], nothing=["a"])]).from_nothing == 1
