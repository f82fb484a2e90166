"""Weeks of households: how their files are read, and the table of what was judged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.quality.weeks import MONDAY, Verdict, WeekError, by_language, moment, read, table, verdicts_of

WEEK = """\
# anna: mother, 41
# great aunt: comes on sundays
== monday morning
anna: the bins: blue on tuesday
Anna?same_words: when does the blue bin go => on tuesday

== Tuesday, late evening
great aunt?never_said: where is the ladder => nothing
"""


def written(folder: Path, text: str = WEEK, name: str = "en-US.week") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def judged(folder: Path, *verdicts: tuple[int, str]) -> Path:
    path = folder / "verdicts.jsonl"
    lines = [{"file": "en-US.week", "number": number, "verdict": verdict} for number, verdict in verdicts]
    path.write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    return path


def test_a_week_is_read_line_by_line(tmp_path: Path) -> None:
    week = read(written(tmp_path))
    assert week.lang == "en-US"
    assert week.people == {"anna": "mother, 41", "great aunt": "comes on sundays"}
    said = [(one.number, one.person, one.kind, one.words, one.expected) for one in week.lines]
    assert said == [
        (4, "anna", None, "the bins: blue on tuesday", None),
        (5, "anna", "same_words", "when does the blue bin go", "on tuesday"),
        (8, "great aunt", "never_said", "where is the ladder", "nothing"),
    ]


def test_a_heading_lets_time_go_by(tmp_path: Path) -> None:
    first, second, third = read(written(tmp_path)).lines
    assert first.heading == "monday morning"
    assert (first.at - MONDAY).total_seconds() == 8 * 3600
    assert second.at == first.at
    assert (third.at - MONDAY).total_seconds() == (24 + 19) * 3600


def test_a_weekday_that_is_past_is_that_of_the_next_week() -> None:
    sunday = moment("sunday evening", MONDAY)
    assert (moment("monday morning", sunday) - MONDAY).days == 7


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (WEEK + "tom: hello\n", "line 9: 'tom: hello': nobody of anna, great aunt"),
        (WEEK + "anna?time: when\n", "line 9.*a question has a kind, words and an answer"),
        (WEEK + "anna: when => today\n", "line 9.*a question has a kind, words and an answer"),
        (WEEK + "anna?time: when =>\n", "line 9.*a question has a kind, words and an answer"),
        (WEEK + "== tuesday noon\n", "line 9.*before the heading above"),
        (WEEK + "== someday noon\n", "line 9.*names a day"),
        (WEEK.replace("== monday morning\n", ""), "line 3: something is said before the first heading"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(WeekError, match=why):
        read(written(tmp_path, text))


def test_a_file_is_named_by_its_language(tmp_path: Path) -> None:
    assert read(written(tmp_path, name="pt-PT-2.week")).lang == "pt-PT"
    with pytest.raises(WeekError, match="language"):
        read(written(tmp_path, name="english.week"))


def test_verdicts_find_the_kind_of_their_question(tmp_path: Path) -> None:
    written(tmp_path)
    found = verdicts_of(judged(tmp_path, (5, "right"), (8, "invented")))
    assert found == [Verdict("en-US", "same_words", "right"), Verdict("en-US", "never_said", "invented")]


@pytest.mark.parametrize(
    ("verdicts", "why"),
    [
        ([(5, "right")], "not both: 8"),
        ([(5, "right"), (8, "right"), (4, "right")], "not both: 4"),
        ([(5, "right"), (8, "right"), (8, "wrong")], "judged once"),
        ([(5, "right"), (8, "fine")], "judged once"),
    ],
)
def test_every_question_is_judged_exactly_once(tmp_path: Path, verdicts: list[tuple[int, str]], why: str) -> None:
    written(tmp_path)
    with pytest.raises(WeekError, match=why):
        verdicts_of(judged(tmp_path, *verdicts))


VERDICTS = [
    *[Verdict("en-US", "lists", "right")] * 3,
    Verdict("en-US", "lists", "silent"),
    *[Verdict("fr-FR", "lists", "outdated")] * 2,
    *[Verdict("fr-FR", "time", "right")] * 2,
]


def test_shares_are_percent_of_a_languages_questions() -> None:
    found = by_language(VERDICTS)
    assert list(found) == ["en-US", "fr-FR", "all"]
    assert (found["en-US"]["right"], found["en-US"]["silent"], found["en-US"]["questions"]) == (75.0, 25.0, 4)
    assert (found["fr-FR"]["kinds"]["lists"]["right"], found["fr-FR"]["kinds"]["time"]["right"]) == (0.0, 100.0)
    assert (found["all"]["right"], found["all"]["outdated"]) == (62.5, 25.0)


def test_the_table_has_a_column_for_each_language_and_leaves_open_what_was_not_asked() -> None:
    rows = [row.split() for row in table(VERDICTS)]
    assert rows[0] == ["right,", "%", "en-US", "fr-FR", "all"]
    assert ["lists", "75", "0", "50"] in rows
    assert ["time", "100", "100"] in rows
    assert ["outdated", "0.0", "50.0", "25.0"] in rows
    assert rows[-1] == ["questions", "4", "4", "8"]
