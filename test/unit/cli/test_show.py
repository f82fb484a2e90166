"""status, history, sessions, recall, list and get, in this process on real folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ovos_persona_memory.cli.program import program
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import Scope, Turn


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A memory in which two people talked."""
    with PersonaMemory.open(tmp_path / "data") as memory:
        turns = [Turn("user", "my cat is called Bob"), Turn("assistant", "a fine\nname")]
        memory.record(turns, Scope(session_id="s1"))
        memory.record([Turn("user", "hello"), Turn("assistant", "hi")], Scope(session_id="s2", user_id="alice"))
        memory.remember("the bins go out on Tuesday", key="bins", lang="en-US")
        memory.remember("beep \x1b[31mred", Scope(user_id="alice"), key="odd")
    return tmp_path / "data"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(program, arguments)


def told(*arguments: str) -> Any:
    result = run(*arguments, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    return json.loads(result.stdout)


def test_the_data_folder_may_be_named_before_or_after_the_command(folder: Path) -> None:
    assert run("--data", str(folder), "list").stdout == run("list", "--data", str(folder)).stdout != ""


def test_status_says_what_is_held_and_that_no_daemon_runs(folder: Path) -> None:
    status = told("status", "--data", str(folder))
    assert (status["daemon"], status["counts"]["turns"], status["counts"]["entries"]) == (False, 4, 2)
    lines = run("status", "--data", str(folder)).stdout
    assert "4 turns" in lines
    assert "not running" in lines


def test_what_there_is_one_of_is_counted_as_one(tmp_path: Path) -> None:
    with PersonaMemory.open(tmp_path) as memory:
        memory.record([Turn("user", "my cat is called Bob")], Scope(session_id="s1"))
        memory.remember("the bins go out on Tuesday", key="bins", lang="en-US")
    lines = run("status", "--data", str(tmp_path)).stdout.splitlines()
    assert "holds:       1 turn, 1 entry, 1 session, 1 user, 1 fact" in lines
    run("recall", "when do the bins go out", "--data", str(tmp_path))
    merged = run("users", "merge", "household", "alice", "--yes", "--data", str(tmp_path)).stdout
    assert merged == "Moved 1 turn, 1 memory, 0 documents, 0 summaries of sessions, 1 fact to alice.\n"


def test_status_tells_what_was_set_aside(folder: Path) -> None:
    (folder / "memory.db").write_bytes(b"not a database" * 100)
    lines = run("status", "--data", str(folder)).stdout
    assert "set aside" in lines
    assert "memory.db.damaged-" in lines


def test_history_comes_oldest_first(folder: Path) -> None:
    assert run("history", "s1", "--data", str(folder)).stdout == "user: my cat is called Bob\nassistant: a fine\nname\n"
    messages = told("history", "--session", "s1", "--data", str(folder))["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant"]
    assert run("history", "--data", str(folder)).exit_code == 2


def test_history_can_be_of_all_sessions_and_of_some_roles(folder: Path) -> None:
    def texts(*options: str) -> list[str]:
        return [message["text"] for message in told("history", *options, "--data", str(folder))["messages"]]

    with PersonaMemory.open(folder) as memory:
        memory.record([Turn("user", "good night"), Turn("assistant", "sleep well")], Scope(session_id="s3"))
    assert texts("--all-sessions") == ["my cat is called Bob", "a fine\nname", "good night", "sleep well"]
    assert texts("--all-sessions", "--role", "user") == ["my cat is called Bob", "good night"]
    assert texts("s1", "--role", "assistant", "--role", "tool") == ["a fine\nname"]
    assert run("history", "s1", "--all-sessions", "--data", str(folder)).exit_code == 2


def test_a_turn_is_shown_by_its_id(folder: Path) -> None:
    [hit] = told("recall", "what is my cat called", "-k", "1", "--data", str(folder))["hits"]
    turn = told("turn", hit["id"], "--data", str(folder))["turn"] if hit["kind"] == "turn" else None
    ids = [turn["id"]] if turn else [told("why", hit["id"], "--data", str(folder))["origin"]["turn_id"]]
    assert "my cat is called Bob" in run("turn", ids[0], "--data", str(folder)).stdout
    assert run("turn", ids[0], "--user", "alice", "--data", str(folder)).exit_code == 3
    assert run("turn", ids[0], "--everyone", "--data", str(folder)).exit_code == 0


def test_sessions_are_the_users_own_unless_everyones_are_wanted(folder: Path) -> None:
    def names(*options: str) -> list[str]:
        return [one["session_id"] for one in told("sessions", "--data", str(folder), *options)["sessions"]]

    assert names() == ["s1"]
    assert names("--user", "alice") == ["s2"]
    assert names("--everyone") == ["s2", "s1"]


def test_recall_gives_the_best_hit_first_with_its_reason(folder: Path) -> None:
    hits = told("recall", "what is my cat called", "-k", "1", "--data", str(folder))["hits"]
    assert [(hit["text"], hit["sure"]) for hit in hits] == [("my cat is called Bob", True)]
    line = run("recall", "when do the bins go out", "--data", str(folder)).stdout
    assert "the bins go out on Tuesday" in line
    assert "memory bins" in line


def test_list_and_get_show_lasting_memories(folder: Path) -> None:
    assert [entry["key"] for entry in told("list", "--data", str(folder))["memories"]] == ["bins"]
    assert run("get", "bins", "--data", str(folder)).stdout == "the bins go out on Tuesday\n"
    assert told("list", "--offset", "1", "--data", str(folder)) == {"memories": []}


def test_control_characters_do_not_reach_the_terminal(folder: Path) -> None:
    assert run("get", "odd", "--user", "alice", "--data", str(folder)).stdout == "beep [31mred\n"


def test_in_a_document_control_characters_are_escaped_and_not_lost(folder: Path) -> None:
    text = "a\x1b[31mb\x7fc\x85d\x9be"
    with PersonaMemory.open(folder) as memory:
        memory.remember(text, key="controls")
    written = run("get", "controls", "--json", "--data", str(folder)).stdout
    assert json.loads(written)["memory"]["text"] == text
    assert not {"\x1b", "\x7f", "\x85", "\x9b"} & set(written)


def test_a_failure_is_one_sentence_and_no_document(folder: Path) -> None:
    result = run("get", "nope", "--json", "--data", str(folder))
    assert (result.exit_code, result.stdout, result.stderr) == (3, "", "there is no memory with the key 'nope'\n")


def test_a_secret_is_shown_to_who_asks_for_secrets_alone(folder: Path) -> None:
    data = ("--data", str(folder))
    refused = run("remember", "my pin is 47110815", *data)
    assert (refused.exit_code, refused.stdout) == (7, "")
    key = run("remember", "my pin is 47110815", "--secret", "--lang", "en-US", *data).stdout.strip()
    for looked in (("list",), ("list", "--everyone"), ("recall", "pin"), ("get", key), ("why", key)):
        assert "47110815" not in run(*looked, *data).output, looked
    shown = told("list", "--with-secrets", *data)["memories"]
    assert [one["text"] for one in shown if one["metadata"] == {"secret": True}] == ["my pin is 47110815"]
    assert run("get", key, "--with-secrets", *data).stdout == "my pin is 47110815 [secret=True]\n"
    gone = run("forget", "--query", "pin", "--yes", "--lang", "en-US", *data)
    assert gone.stdout == "Forgot 1: 1 memory.\n"
    assert b"47110815" not in b"".join(path.read_bytes() for path in folder.iterdir() if path.is_file())


def test_what_a_secret_says_is_in_no_preview_of_its_forgetting(folder: Path) -> None:
    data = ("--data", str(folder))
    key = run("remember", "my pin is 4711", "--secret", "--lang", "en-US", *data).stdout.strip()
    for condition in (("--key", key), ("--query", "pin")):
        preview = run("forget", *condition, "--lang", "en-US", *data)
        assert "4711" not in preview.output
        assert "1 memory" in preview.output
