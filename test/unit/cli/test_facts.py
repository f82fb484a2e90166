"""The commands about facts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ovos_persona_memory.cli.program import program
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import Scope, Turn

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    with PersonaMemory.open(tmp_path) as memory:
        for at, text in enumerate(("my cat is called Bob", "I live in Berlin", "I live in Porto"), 1):
            memory.record([Turn("user", text, at=at * 86400.0, lang="en-US")], Scope(session_id="s"))
        memory.record([Turn("user", "I think I put my keys in the desk", at=5.0, lang="en-US")], Scope(session_id="s"))

    def run_it(*arguments: str) -> Result:
        found = CliRunner().invoke(program, [*arguments, "--data", str(tmp_path)])
        assert found.exit_code == 0, found.output
        return found

    return run_it


def test_facts_are_listed(run: Run) -> None:
    lines = run("facts").stdout.splitlines()
    assert [line.split("  ")[-1] for line in lines] == ["I live in Porto", "my cat is called Bob"]
    assert "I live in Berlin" in run("facts", "--status", "superseded").stdout
    assert "cat" not in run("facts", "--slot", "home").stdout
    [fact] = json.loads(run("facts", "--slot", "pet", "--json").stdout)["facts"]
    assert fact["value"] == "Bob"


def test_the_history_of_a_fact_and_the_decisions_are_shown(run: Run) -> None:
    [fact] = json.loads(run("facts", "--slot", "home", "--json").stdout)["facts"]
    lines = run("facts", "--history", fact["id"]).stdout.splitlines()
    assert [line.split()[2] for line in lines] == ["learned", "learned", "superseded"]
    assert len(json.loads(run("facts", "--history", fact["id"], "--json").stdout)["facts"]) == 2
    assert run("facts", "--decisions").stdout.count("stated") == 3
    assert len(json.loads(run("facts", "--decisions", "--json").stdout)["decisions"]) == 4


def test_what_waits_is_taken_in_or_forgotten(run: Run) -> None:
    [waiting] = json.loads(run("review", "--json").stdout)["facts"]
    assert run("review", "--accept", waiting["id"]).stdout == "Taken in.\n"
    assert "put my keys" in run("facts").stdout
    assert run("review").stdout == ""


def test_what_waits_is_forgotten(run: Run) -> None:
    [waiting] = json.loads(run("review", "--json").stdout)["facts"]
    assert run("review", "--reject", waiting["id"]).stdout == "Forgotten.\n"
    assert json.loads(run("facts", "--status", "all", "--json").stdout)["facts"][-1]["id"] != waiting["id"]
    assert run("review").stdout == ""


def test_an_audit_says_what_to_do(run: Run) -> None:
    text = run("audit").stdout
    assert "duplicates: 0" in text
    assert "waiting: 1" in text
    assert "with the command review" in text
    assert len(json.loads(run("audit", "--json").stdout)["troubles"]) == 7
