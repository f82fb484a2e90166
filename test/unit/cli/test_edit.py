"""remember, update, forget and capture, in this process on real folders."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ovos_persona_memory.cli import connection
from ovos_persona_memory.cli.program import program
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import Scope, Turn
from ovos_persona_memory.stores.base.folder_lock import FolderLock


def run(folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(program, ["--data", str(folder), *arguments])


def done(folder: Path, *arguments: str) -> str:
    result = run(folder, *arguments)
    assert result.exit_code == 0, result.output
    return result.stdout.strip()


def talk(folder: Path, session_id: str, *texts: str, user_id: str = "household") -> None:
    with PersonaMemory.open(folder) as memory:
        roles = ("user", "assistant")
        turns = [Turn(roles[i % 2], text) for i, text in enumerate(texts)]  # type: ignore[arg-type]  # two of the roles
        memory.record(turns, Scope(session_id=session_id, user_id=user_id))


def test_remember_prints_the_key_under_which_get_finds_the_text(tmp_path: Path) -> None:
    key = done(tmp_path, "remember", "the bins go out on Tuesday", "--metadata", "room=kitchen", "--metadata", "a=b=c")
    assert done(tmp_path, "get", key) == "the bins go out on Tuesday [room=kitchen a=b=c]"


def test_update_changes_the_text_and_adds_metadata(tmp_path: Path) -> None:
    done(tmp_path, "remember", "bins on Tuesday", "--key", "bins", "--metadata", "a=1")
    done(tmp_path, "update", "bins", "--text", "bins on Friday", "--metadata", "b=2")
    memory = json.loads(done(tmp_path, "get", "bins", "--json"))["memory"]
    assert (memory["text"], memory["metadata"]) == ("bins on Friday", {"a": "1", "b": "2"})


def test_update_of_nothing_and_of_an_unknown_key_are_refused(tmp_path: Path) -> None:
    assert run(tmp_path, "update", "bins").exit_code == 2
    unknown = run(tmp_path, "update", "bins", "--text", "x")
    assert (unknown.exit_code, unknown.stdout) == (3, "")
    assert unknown.stderr == "there is no memory with the key 'bins'\n"


def test_each_persona_has_its_own_memory_under_a_key(tmp_path: Path) -> None:
    done(tmp_path, "remember", "the neighbour has it", "--key", "safe")
    done(tmp_path, "remember", "behind the picture", "--key", "safe", "--persona", "Ada")
    assert done(tmp_path, "get", "safe") == "the neighbour has it"
    assert done(tmp_path, "get", "safe", "--persona", "Ada") == "behind the picture [persona=Ada]"
    done(tmp_path, "update", "safe", "--persona", "Ada", "--text", "behind the clock")
    assert json.loads(done(tmp_path, "list", "--json", "--persona", "Eve"))["memories"][0]["persona_id"] is None
    done(tmp_path, "forget", "--key", "safe", "--persona", "Ada", "--yes")
    assert [line.split("  ")[-1] for line in done(tmp_path, "list").splitlines()] == ["the neighbour has it"]


def test_a_memory_is_kept_as_a_draft_and_accepted(tmp_path: Path) -> None:
    done(tmp_path, "remember", "the lamp is red", "--key", "lamp", "--status", "draft", "--lang", "en-US")
    done(tmp_path, "remember", "the rope is long", "--key", "rope")

    def listed(*options: str) -> list[str]:
        return [one["key"] for one in json.loads(done(tmp_path, "list", "--json", *options))["memories"]]

    assert (listed(), listed("--status", "draft"), listed("--status", "accepted")) == (
        ["rope", "lamp"], ["lamp"], ["rope"],
    )  # fmt: skip
    assert done(tmp_path, "get", "lamp") == "the lamp is red [status=draft]"
    question = ("recall", "what is the lamp", "--lang", "en-US")
    assert done(tmp_path, *question) == ""
    assert "the lamp is red" in done(tmp_path, *question, "--status", "draft")
    done(tmp_path, "update", "lamp", "--status", "accepted")
    assert "the lamp is red" in done(tmp_path, *question)
    refused = run(tmp_path, "update", "lamp", "--status", "draft")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "cannot become draft" in refused.stderr


def test_metadata_without_a_value_is_refused(tmp_path: Path) -> None:
    assert run(tmp_path, "remember", "x", "--metadata", "room").exit_code == 2


def test_forget_needs_a_condition(tmp_path: Path) -> None:
    result = run(tmp_path, "forget", "--yes")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--everything" in result.stderr


def test_forget_shows_what_it_would_do_and_needs_a_yes_where_nobody_can_be_asked(tmp_path: Path) -> None:
    done(tmp_path, "remember", "the bins go out on Tuesday", "--key", "bins")
    result = run(tmp_path, "forget", "--query", "bins Tuesday")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "the bins go out on Tuesday" in result.stderr
    assert "--yes" in result.stderr
    assert done(tmp_path, "get", "bins")


def test_the_preview_counts_what_a_session_and_a_time_reach(tmp_path: Path) -> None:
    talk(tmp_path, "s1", "hello", "hi")
    talk(tmp_path, "s2", "lights on", "done")
    assert "\n  2 turns.\n" in run(tmp_path, "forget", "--session", "s1").stderr
    assert "\n  4 turns.\n" in run(tmp_path, "forget", "--since", "1h").stderr
    assert "\n  nothing.\n" in run(tmp_path, "forget", "--until", "1h").stderr


def test_what_is_about_something_is_shown_and_forgotten(tmp_path: Path) -> None:
    with PersonaMemory.open(tmp_path) as memory:
        memory.record([Turn("user", "we fly to Porto for our holidays", lang="en-US")], Scope("s1"))
        memory.record([Turn("user", "the bins go out on Tuesday", lang="en-US")], Scope("s2"))
    shown = run(tmp_path, "forget", "--about", "the holiday")
    assert shown.stderr.splitlines()[0] == "To be forgotten, of household: what is about 'the holiday'."
    assert shown.stderr.splitlines()[2:4] == ["  That is:", "  we fly to Porto for our holidays"]
    done(tmp_path, "forget", "--about", "the holiday", "--yes")
    assert "Porto" not in done(tmp_path, "history", "--all-sessions")
    assert "bins" in done(tmp_path, "history", "--all-sessions")
    assert "  the bins go out on Tuesday" in run(tmp_path, "forget", "--since", "1h").stderr.splitlines()


def test_the_preview_does_not_say_that_there_is_nothing_where_reading_is_off(tmp_path: Path) -> None:
    done(tmp_path, "remember", "the bins go out on Tuesday", "--key", "bins")
    done(tmp_path, "capture", "--no-read")
    shown = run(tmp_path, "forget", "--key", "bins").stderr
    assert "cannot be shown" in shown
    assert "no memory" not in shown


def test_forget_prints_how_much_was_forgotten(tmp_path: Path) -> None:
    talk(tmp_path, "s1", "my cat is called Bob", "noted")
    done(tmp_path, "remember", "the bins go out on Tuesday", "--key", "bins")
    assert done(tmp_path, "forget", "--key", "bins", "--yes") == "Forgot 1: 1 memory."
    assert json.loads(done(tmp_path, "forget", "--session", "s1", "--yes", "--json"))["kinds"]["turns"] == 2
    assert json.loads(done(tmp_path, "forget", "--everything", "--yes", "--json"))["forgotten"] == 0
    assert done(tmp_path, "forget", "--everything", "--yes") == "Forgot 0: nothing."


def test_forget_by_id_takes_that_record_alone(tmp_path: Path) -> None:
    done(tmp_path, "remember", "one", "--key", "one")
    done(tmp_path, "remember", "two", "--key", "two")
    chosen = json.loads(done(tmp_path, "get", "one", "--json"))["memory"]["id"]
    done(tmp_path, "forget", "--id", chosen, "--yes")
    assert [m["key"] for m in json.loads(done(tmp_path, "list", "--json"))["memories"]] == ["two"]


def test_forget_keeps_to_the_user_unless_everyone_is_meant(tmp_path: Path) -> None:
    done(tmp_path, "remember", "the code is 1", "--key", "code", "--user", "alice")
    done(tmp_path, "remember", "the code is 2", "--key", "code", "--user", "bob")
    assert done(tmp_path, "forget", "--everything", "--user", "alice", "--yes") == "Forgot 1: 1 memory."
    assert done(tmp_path, "get", "code", "--user", "bob")
    assert run(tmp_path, "forget", "--everything", "--user", "bob", "--everyone", "--yes").exit_code == 2
    assert done(tmp_path, "forget", "--everything", "--everyone", "--yes") == "Forgot 1: 1 memory."


def test_capture_off_keeps_nothing_and_uses_nothing_until_it_is_on_again(tmp_path: Path) -> None:
    done(tmp_path, "remember", "before", "--key", "before")
    assert done(tmp_path, "capture", "off") == "What is said is not kept, what was kept is not used."
    refused = run(tmp_path, "remember", "meanwhile")
    assert (refused.exit_code, refused.stderr) == (7, "Remembering is switched off at the moment.\n")
    empty = run(tmp_path, "list")
    assert (empty.exit_code, empty.stdout) == (0, "")
    assert "Reading is switched off" in empty.stderr
    done(tmp_path, "capture", "on")
    assert "before" in done(tmp_path, "list")


def test_capture_takes_each_switch_alone_for_a_time_and_for_a_session(tmp_path: Path) -> None:
    told = json.loads(done(tmp_path, "capture", "--no-write", "--for", "2h", "--session", "s1", "--json"))["capture"]
    assert (told["write"], told["read"], told["session_id"]) == (False, True, "s1")
    assert told["until"] is not None
    assert json.loads(done(tmp_path, "capture", "--json"))["capture"]["write"] is True
    assert run(tmp_path, "capture", "--for", "2h").exit_code == 2


def test_a_memory_that_another_process_holds_is_said_to_be_busy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "BUSY_S", 0.0)
    with PersonaMemory.open(tmp_path):
        result = run(tmp_path, "list")
    assert (result.exit_code, result.stdout) == (5, "")
    assert result.stderr == f"process {os.getpid()} has the memory in {tmp_path} open\n"


def test_a_command_waits_for_whoever_has_the_memory_open(tmp_path: Path) -> None:
    lock = FolderLock(tmp_path)
    release = threading.Timer(0.3, lock.release)
    release.start()
    assert done(tmp_path, "remember", "the bins go out on Tuesday", "--key", "bins") == "bins"
    release.join()


def test_what_is_kept_as_private_says_so_until_it_is_opened(tmp_path: Path) -> None:
    done(tmp_path, "remember", "the safe is green", "--key", "safe", "--private", "3")
    assert done(tmp_path, "get", "safe") == "the safe is green [private=3]"
    done(tmp_path, "update", "safe", "--private", "0")
    assert done(tmp_path, "get", "safe") == "the safe is green [private=0]"


def test_capture_can_be_about_a_room_or_a_person(tmp_path: Path) -> None:
    said = done(tmp_path, "capture", "--no-write", "--site", "kitchen")
    assert said == "What is said in room kitchen is not kept, what was kept is used."
    said = done(tmp_path, "capture", "off", "--person", "alice")
    assert said == "What is said by alice is not kept, what was kept is not used."
    assert done(tmp_path, "capture") == "What is said is kept, what was kept is used."
    assert run(tmp_path, "remember", "x", "--user", "alice").exit_code == 7
    assert run(tmp_path, "capture", "off", "--site", "kitchen", "--person", "alice").exit_code == 2
