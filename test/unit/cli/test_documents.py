"""documents list, search, add and delete, in this process on real folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ovos_persona_memory.cli.program import program


def run(folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(program, ["--data", str(folder), "documents", *arguments])


def done(folder: Path, *arguments: str) -> str:
    result = run(folder, *arguments)
    assert result.exit_code == 0, result.output
    return result.stdout.strip()


def told(folder: Path, *arguments: str) -> Any:
    return json.loads(done(folder, *arguments, "--json"))


def test_add_prints_the_id_under_which_the_document_is_listed(tmp_path: Path) -> None:
    assert done(tmp_path, "add", "Lisbon has a castle", "--id", "lisbon", "--metadata", "from=guide") == "lisbon"
    made = done(tmp_path, "add", "Porto has bridges")
    lines = done(tmp_path, "list").splitlines()
    assert [line.split(maxsplit=2)[2] for line in lines] == [
        f"{made}  Porto has bridges",
        f"{'lisbon':<{len(made)}}  Lisbon has a castle [from=guide]",
    ]
    assert done(tmp_path, "list", "--limit", "1", "--offset", "1").endswith("castle [from=guide]")
    done(tmp_path, "add", "Lisbon has a zoo", "--id", "lisbon")
    assert [one["text"] for one in told(tmp_path, "list")["documents"]] == ["Lisbon has a zoo", "Porto has bridges"]
    assert told(tmp_path, "list")["documents"][0]["metadata"] == {"from": "guide"}


def test_search_finds_by_words_and_by_what_was_kept_beside_them(tmp_path: Path) -> None:
    done(tmp_path, "add", "Lisbon has a castle", "--id", "lisbon", "--metadata", "from=guide", "--lang", "en-US")
    done(tmp_path, "add", "Porto has castles", "--id", "porto", "--metadata", "from=friend", "--lang", "en-US")
    english = ("--lang", "en-US")
    [line] = done(tmp_path, "search", "castles", "--filter", "from=guide", *english).splitlines()
    assert line.split(maxsplit=1)[1] == "lisbon  Lisbon has a castle [from=guide]"
    assert len(told(tmp_path, "search", "castle", *english)["documents"]) == 2
    assert len(told(tmp_path, "search", "castle", "-k", "1", *english)["documents"]) == 1
    assert done(tmp_path, "search", "museum", *english) == ""
    assert run(tmp_path, "search", "castle", "--filter", "guide").exit_code == 2


def test_each_user_and_namespace_has_documents_of_its_own(tmp_path: Path) -> None:
    done(tmp_path, "add", "a castle", "--id", "d", "--namespace", "guides")
    done(tmp_path, "add", "a bridge", "--id", "d", "--user", "alice")
    assert done(tmp_path, "list") == ""
    assert done(tmp_path, "list", "--namespace", "guides").endswith("d  a castle")
    assert done(tmp_path, "list", "--user", "alice").endswith("d  a bridge")


def test_delete_shows_what_would_go_and_asks(tmp_path: Path) -> None:
    done(tmp_path, "add", "Lisbon has a castle", "--id", "lisbon")
    refused = run(tmp_path, "delete", "lisbon")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "lisbon: Lisbon has a castle" in refused.stderr
    assert "--yes" in refused.stderr
    assert done(tmp_path, "list")
    assert done(tmp_path, "delete", "lisbon", "madrid", "--yes") == "Forgot 1 document."
    assert done(tmp_path, "list") == ""
    unknown = run(tmp_path, "delete", "lisbon", "--yes")
    assert (unknown.exit_code, unknown.stderr) == (3, "there is no document with the id 'lisbon'\n")
    done(tmp_path, "add", "a zoo", "--id", "zoo")
    assert told(tmp_path, "delete", "zoo", "--yes") == {"forgotten": 1}
    assert b"Lisbon" not in b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())


def test_an_empty_answer_says_that_reading_is_off(tmp_path: Path) -> None:
    done(tmp_path, "add", "a castle", "--id", "d")
    CliRunner().invoke(program, ["--data", str(tmp_path), "capture", "--no-read"])
    for command in (("list",), ("search", "castle")):
        hidden = run(tmp_path, *command)
        assert (hidden.exit_code, hidden.stdout) == (0, "")
        assert "Reading is switched off" in hidden.stderr


@pytest.mark.parametrize("command", ["list", "search", "add", "delete"])
def test_the_help_shows_how_it_is_called(command: str) -> None:
    shown = CliRunner().invoke(program, ["documents", command, "--help"]).output
    assert f"ovos-persona-memory documents {command}" in shown.partition("Examples:")[2]
