"""preview: the messages of a persona, as its memory plugin asks for them."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from support.plugins import Make

from ovos_persona_memory.cli import preview as preview_command
from ovos_persona_memory.cli.program import program
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import Context, ContextRequest, Scope, Turn

BLOCKS: list[dict[str, Any]] = [
    {},
    {"max_history": 2, "system_prompt": "You are Ada.", "recall": 1},
    {"max_rounds": 1, "max_tokens": 40, "context_tokens": 200, "inject_mode": "user", "recall_session": True},
    {"strategy": "sliding_window", "window_size": 2},
    {"strategy": "token_budget", "max_tokens": 12},
    {"strategy": "summary", "window_size": 4, "summary_threshold": 20},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with PersonaMemory.open(tmp_path / "data") as memory:
        memory.record([Turn("user", "my cat is called Bob"), Turn("assistant", "a fine name")], Scope("old"))
        for number in range(4):
            memory.record([Turn("user", f"question {number}"), Turn("assistant", f"answer {number}")], Scope("s1"))
    return tmp_path / "data"


def run(folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(program, ["--data", str(folder), "preview", "what is my cat called", *arguments])


def persona(block: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "Ada.json").write_text(json.dumps({"name": "Ada", preview_command.PLUGIN: block}))
    monkeypatch.setattr(preview_command, "persona_settings", lambda: {"personas_path": str(tmp_path)})


@pytest.mark.parametrize("block", BLOCKS)
def test_a_preview_asks_for_what_the_persona_would_ask(
    block: dict[str, Any], folder: Path, plugin: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[ContextRequest] = []
    with PersonaMemory.open(folder) as memory:
        ada = plugin("memory", memory, **block)

    def context(request: ContextRequest) -> Context:
        asked.append(request)
        return Context([], [], 0)

    monkeypatch.setattr(ada._link, "ask", lambda question: question())
    monkeypatch.setattr(ada._link.client, "context", context)
    ada.build_conversation_context("what is my cat called", "s1")
    wanted = preview_command.wanted_of(block)
    told = {one.name: getattr(asked[0], one.name) for one in fields(ContextRequest) if one.name in wanted}
    assert told == wanted

    persona(block, tmp_path, monkeypatch)
    shown = json.loads(run(folder, "--session", "s1", "--persona", "Ada", "--json").stdout)
    with PersonaMemory.open(folder) as memory:
        known = memory.context(
            ContextRequest("what is my cat called", Scope("s1", persona_id="Ada"), lang="en-US", **wanted)
        )
    assert [one["text"] for one in shown["messages"]] == [one.text for one in known.messages]
    assert (shown["tokens"], len(shown["hits"])) == (known.tokens, len(known.hits))


def test_it_shows_roles_tokens_scores_and_reasons(folder: Path) -> None:
    shown = run(folder, "--system-prompt", "You are Ada.").stdout.splitlines()
    assert shown[0].startswith("system, ")
    assert "    You are Ada." in shown
    assert "    what is my cat called" in shown
    assert any(line.endswith("has all that was asked for: cat, call") for line in shown)
    assert any("1 remembered" in line for line in shown)


def test_looking_does_not_count_as_using(folder: Path) -> None:
    with PersonaMemory.open(folder) as memory:
        [hit] = memory.recall("what is my cat called", k=1)
        for preview, times in ((True, 0), (False, 1), (True, 1)):
            known = memory.context(ContextRequest("what is my cat called", Scope("s1"), preview=preview))
            assert [one.id for one in known.hits] == [hit.id]
            memory.remember("something", key="written")  # what is kept in mind is written with the next change
            origin = memory.why(id=hit.id)
            assert origin is not None
            assert (origin.used.times if origin.used else 0) == times


def test_the_command_only_looks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[ContextRequest] = []
    context = PersonaMemory.context

    def noted(memory: PersonaMemory, request: ContextRequest) -> Context:
        asked.append(request)
        return context(memory, request)

    monkeypatch.setattr(PersonaMemory, "context", noted)
    run(folder)
    assert [request.preview for request in asked] == [True]


def test_a_persona_without_a_file_is_said_to_have_none(folder: Path, tmp_path: Path, monkeypatch: Any) -> None:
    persona({}, tmp_path, monkeypatch)
    assert "no file of a persona Eve" in run(folder, "--persona", "Eve").stderr
    assert run(folder, "--persona", "Ada").stderr == ""
