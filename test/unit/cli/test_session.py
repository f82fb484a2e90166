"""summary, snapshot, put-back and trim, in this process on real folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ovos_persona_memory.cli import session as session_commands
from ovos_persona_memory.cli.program import program
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import ContextRequest, Scope, ToolCall, Turn

TRIP = Scope(session_id="trip")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A memory in which five questions were asked and answered in the session trip."""
    with PersonaMemory.open(tmp_path / "data") as memory:
        for number in range(5):
            memory.record([Turn("user", f"question {number}"), Turn("assistant", f"answer {number}")], TRIP)
    return tmp_path / "data"


def run(folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(program, ["--data", str(folder), *arguments])


def done(folder: Path, *arguments: str) -> str:
    result = run(folder, *arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def told(folder: Path, *arguments: str) -> Any:
    return json.loads(done(folder, *arguments, "--json"))


def history(folder: Path, name: str = "trip") -> list[str]:
    return [message["text"] for message in told(folder, "history", name)["messages"]]


def test_a_summary_is_set_shown_and_taken_away(folder: Path) -> None:
    assert done(folder, "summary", "trip") == ""
    shown = done(folder, "summary", "trip", "--text", "They planned\na trip.", "--description", "a trip")
    assert shown.splitlines()[1:] == ["description: a trip", "summary:     They planned", f"{'':<12} a trip."]
    assert done(folder, "summary", "trip") == shown
    with PersonaMemory.open(folder) as memory:
        assert (
            '- "They planned"\n- "a trip."'
            in memory.context(ContextRequest("and now", TRIP, recall=0)).messages[0].text
        )
    note = told(folder, "summary", "trip", "--text", "")["note"]
    assert (note["summary"], note["description"]) == ("", "a trip")
    assert done(folder, "summary", "trip", "--user", "alice") == ""


def test_a_summary_is_not_set_while_remembering_is_off_and_not_shown_while_reading_is(folder: Path) -> None:
    done(folder, "summary", "trip", "--text", "They planned a trip.")
    done(folder, "capture", "off")
    refused = run(folder, "summary", "trip", "--text", "new")
    assert (refused.exit_code, refused.stderr) == (7, "Remembering is switched off at the moment.\n")
    hidden = run(folder, "summary", "trip")
    assert (hidden.exit_code, hidden.stdout) == (0, "")
    assert "Reading is switched off" in hidden.stderr


def test_trim_leaves_the_newest_messages_and_says_where_no_summary_stands_for_the_others(folder: Path) -> None:
    first = run(folder, "trim", "trip", "--keep", "4")
    assert (first.exit_code, first.stdout) == (0, "Left 6 messages of trip to its summary.\n")
    assert "has no summary" in first.stderr
    assert history(folder) == ["question 3", "answer 3", "question 4", "answer 4"]
    done(folder, "summary", "trip", "--text", "Numbers.")
    again = run(folder, "trim", "trip", "--tokens", "6")
    assert (again.stdout, again.stderr) == ("Left 2 messages of trip to its summary.\n", "")
    assert told(folder, "trim", "trip") == {"trimmed": 0}
    assert history(folder) == ["question 4", "answer 4"]
    assert run(folder, "trim", "trip", "--keep", "1", "--tokens", "6").exit_code == 2


def test_trim_keeps_six_unless_told_otherwise(folder: Path) -> None:
    assert done(folder, "trim", "trip") == "Left 4 messages of trip to its summary.\n"


def test_a_snapshot_goes_to_standard_output_or_into_a_file_of_ones_own(folder: Path, tmp_path: Path) -> None:
    done(folder, "summary", "trip", "--text", "Numbers.")
    taken = json.loads(done(folder, "snapshot", "trip"))
    assert (len(taken["messages"]), taken["summary"]) == (10, "Numbers.")
    assert told(folder, "snapshot", "trip") == taken
    path = tmp_path / "trip.json"
    path.write_text("old")
    assert done(folder, "snapshot", "trip", "--output", str(path)) == f"Wrote 10 messages to {path}.\n"
    assert json.loads(path.read_text("utf-8")) == taken
    assert path.stat().st_mode & 0o777 == 0o600
    assert told(folder, "snapshot", "trip", "--output", str(path)) == {"file": str(path), "messages": 10}
    assert [one.name for one in tmp_path.iterdir() if one.is_file()] == ["trip.json"]


def test_where_there_is_nothing_to_copy_a_file_stays_as_it_was(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "trip.json"
    path.write_text("old")
    nothing = run(folder, "snapshot", "trap", "--output", str(path))
    assert (nothing.exit_code, nothing.stderr) == (3, "there is nothing to copy in session 'trap'\n")
    done(folder, "capture", "--no-read")
    hidden = run(folder, "snapshot", "trip", "--output", str(path))
    assert hidden.exit_code == 3
    assert "Reading is switched off" in hidden.stderr
    assert path.read_text() == "old"


def test_a_file_that_cannot_be_written_is_named(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "none" / "trip.json"
    refused = run(folder, "snapshot", "trip", "--output", str(path))
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert refused.stderr == f"{path}: cannot be written: No such file or directory\n"


def test_a_longer_session_is_said_to_be_cut(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_commands, "MOST", 4)
    cut = run(folder, "snapshot", "trip")
    assert len(json.loads(cut.stdout)["messages"]) == 4
    assert "newest 4 messages" in cut.stderr


def test_put_back_puts_a_session_back_with_its_tool_calls(folder: Path, tmp_path: Path) -> None:
    call = Turn("assistant", "", tool_calls=(ToolCall("c1", "lamp", {"on": True}),))
    lamp = Scope(session_id="lamp")
    with PersonaMemory.open(folder) as memory:
        result = Turn("tool", "done", tool_call_id="c1", name="lamp")
        memory.record([Turn("user", "lamp on"), call, result, Turn("assistant", "it is on")], lamp, as_passed=True)
        memory.update_session(lamp, summary="The lamp is on.")
    path = tmp_path / "lamp.json"
    done(folder, "snapshot", "lamp", "--output", str(path))
    assert done(folder, "put-back", "copy", str(path)) == "Put 4 messages into copy.\n"
    assert json.loads(done(folder, "snapshot", "copy")) == json.loads(path.read_text("utf-8"))


def test_put_back_asks_before_it_replaces(folder: Path, tmp_path: Path) -> None:
    done(folder, "summary", "trip", "--text", "Numbers.")
    path = tmp_path / "hello.json"
    path.write_text(json.dumps([{"role": "user", "text": "hello"}, {"role": "assistant", "text": "hi"}]))
    refused = run(folder, "put-back", "trip", str(path))
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "session 'trip': 10 turns, 1 summary of a session." in refused.stderr
    assert "--yes" in refused.stderr
    assert len(history(folder)) == 10
    assert done(folder, "put-back", "trip", str(path), "--yes") == "Put 2 messages into trip.\n"
    assert history(folder) == ["hello", "hi"]
    assert done(folder, "summary", "trip") == ""


def test_what_is_no_snapshot_is_refused_and_the_session_stays(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "trip.json"
    for content, problem in [
        ("hello", f"{path}: is no snapshot: "),
        ('{"summary": "x"}', "messages: is missing"),
        ('[{"role": "user", "text": "hello"}, {"role": "king", "text": "x"}]', "messages[1]: "),
    ]:
        path.write_text(content)
        refused = run(folder, "put-back", "trip", str(path), "--yes")
        assert (refused.exit_code, refused.stdout) == (2, ""), content
        assert refused.stderr.startswith(problem)
    missing = run(folder, "put-back", "trip", str(tmp_path / "none.json"), "--yes")
    assert missing.stderr == f"{tmp_path / 'none.json'}: there is no such file\n"
    assert len(history(folder)) == 10


@pytest.mark.parametrize("command", ["summary", "trim", "snapshot", "put-back"])
def test_the_help_shows_how_it_is_called(command: str) -> None:
    assert f"ovos-persona-memory {command} trip" in CliRunner().invoke(program, [command, "--help"]).output
