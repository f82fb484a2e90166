"""Talk whose facts are marked in the text."""

from __future__ import annotations

from pathlib import Path

import pytest

from ovos_persona_memory.errors import InvalidRequest
from ovos_persona_memory.evaluation.talk_markup import MarkedTalk, read_marked

TALK = """\
@kitchen
Anna: my [cat]{thing} is called [bob]{pet} and [my sister]{who} likes [jazz]{likes|favourite}
> bob sounds lovely
tv: i grew up in [chicago]{origin}
guest: i'm [joe]{name}
anna!: is bob still outside

@hall
tom: remember that the [blue bin]{asked} is ours
"""


@pytest.fixture
def talk(tmp_path: Path) -> MarkedTalk:
    return read_marked(_written(tmp_path, TALK))


def _written(tmp_path: Path, text: str) -> Path:
    (tmp_path / "en-US").mkdir()
    path = tmp_path / "en-US" / "house.talk"
    path.write_text(text, encoding="utf-8")
    return path


def test_marks_are_taken_out_and_say_where_values_stand(talk: MarkedTalk) -> None:
    said = talk.talk.turns[0]
    assert said.text == "my cat is called bob and my sister likes jazz"
    found = [(mark.kinds, said.text[mark.first : mark.last]) for mark in talk.marks["t1"]]
    assert found == [(("thing",), "cat"), (("pet",), "bob"), (("who",), "my sister"), (("likes", "favourite"), "jazz")]


def test_values_are_labels_and_what_they_belong_to_is_not(talk: MarkedTalk) -> None:
    labels = [(one.turn, one.slot, one.value, one.person) for one in talk.talk.facts]
    assert labels == [
        ("t1", "pet", "bob", "anna"),
        ("t1", "likes|favourite", "jazz", "anna"),
        ("t6", None, "blue bin", "tom"),
    ]


def test_the_television_a_guest_and_marked_lines_teach_nothing(talk: MarkedTalk) -> None:
    assert talk.talk.nothing == ["t3", "t4", "t5"]
    assert [turn.person for turn in talk.talk.turns] == ["anna", None, None, "guest", "anna", "tom"]
    assert [turn.role for turn in talk.talk.turns][:2] == ["user", "assistant"]


def test_rooms_are_sessions_and_blocks_half_an_hour_apart(talk: MarkedTalk) -> None:
    turns = talk.talk.turns
    assert [turn.session for turn in turns] == ["kitchen"] * 5 + ["hall"]
    assert turns[1].at is not None and turns[0].at is not None and turns[5].at is not None
    assert turns[1].at - turns[0].at < 60 < 1800 <= turns[5].at - turns[1].at


def test_a_line_of_no_form_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="line 2"):
        read_marked(_written(tmp_path, "@kitchen\nno speaker here\n"))


def test_a_folder_names_the_language(tmp_path: Path) -> None:
    path = tmp_path / "house.talk"
    path.write_text(TALK, encoding="utf-8")
    with pytest.raises(InvalidRequest, match="language"):
        read_marked(path)


SAYINGS = """\
@kitchen
anna: we sold [the golf]{detail:over} and drive [a skoda]{detail} now
anna: i'm not allergic to [nuts]{allergy:denied}
anna?: has tom got a car
anna: remember [the bins]{thing} go out on [monday]{detail:asked}
"""


def test_a_mark_says_whether_its_value_holds(tmp_path: Path) -> None:
    talk = read_marked(_written(tmp_path, SAYINGS))
    assert [mark.saying for mark in talk.marks["t1"]] == ["over", "stated"]
    assert [(one.turn, one.slot, one.value) for one in talk.talk.facts] == [
        ("t1", "detail", "a skoda"),
        ("t4", "detail", "monday"),
    ]


def test_what_is_denied_or_asked_teaches_nothing(tmp_path: Path) -> None:
    talk = read_marked(_written(tmp_path, SAYINGS))
    assert talk.talk.nothing == ["t2", "t3"]
    assert talk.questions == {"t3"}


def test_a_saying_that_is_not_known_is_named_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match=r"line 2.*'sold' is none of"):
        read_marked(_written(tmp_path, "@kitchen\nanna: we sold [the golf]{detail:sold}\n"))
