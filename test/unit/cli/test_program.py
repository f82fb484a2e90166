"""The program as a whole: its groups, its examples, what a shell completes, what an exit status says."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import rich_click as click
from click.testing import CliRunner

from ovos_persona_memory import errors
from ovos_persona_memory.cli.completion import variable
from ovos_persona_memory.cli.output import EXIT_STATUS, exit_status
from ovos_persona_memory.cli.program import GROUPS, program

ROOT = Path(__file__).parents[3]


def every(group: click.Group, name: str = "") -> Iterator[tuple[str, click.Command]]:
    for short, command in group.commands.items():
        full = f"{name} {short}".strip()
        if isinstance(command, click.Group):
            yield from every(command, full)
        else:
            yield full, command


COMMANDS = dict(every(program))
NO_DOCUMENT = {"run", "chat", "completion"}
"""Commands whose answer is no data."""


def asked(*arguments: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "ovos_persona_memory", *arguments],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
        timeout=60,
        check=False,
    )
    return done.stdout


def test_each_command_is_in_one_group() -> None:
    named = [str(one.name) for commands in GROUPS.values() for one in commands]
    assert sorted(named) == sorted(program.commands)
    shown = asked("--help")
    places = [shown.index(f" {name} ─") for name in GROUPS]
    assert places == sorted(places)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_help_teaches_with_examples_that_are_commands(name: str) -> None:
    epilog = COMMANDS[name].epilog or ""
    examples = [line for line in epilog.splitlines() if line.startswith("ovos-persona-memory ")]
    assert examples, f"{name} shows no example"
    for line in examples:
        words = shlex.split(re.split(r" [|>] ", line)[0])[1:]
        parsed = program.make_context("ovos-persona-memory", words)
        rest, length = [*parsed._protected_args, *parsed.args], len(name.split())
        assert rest[:length] == name.split(), line
        COMMANDS[name].make_context(name, rest[length:])


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_answers_in_json_too(name: str) -> None:
    assert name in NO_DOCUMENT or "as_json" in {param.name for param in COMMANDS[name].params}


def test_each_kind_of_error_has_an_exit_status_of_its_own_kind() -> None:
    told = {kind.__name__: exit_status(kind.__new__(kind)) for kind in errors.BY_CODE.values()}
    assert told == {
        **{"PersonaMemoryError": 1, "UnknownVerb": 2, "ConfigError": 2, "UnknownEntry": 3, "NoAnswer": 4},
        **{"StoreBusy": 5, "StoreError": 6, "StoreFull": 6, "StoreUnavailable": 6, "StoreDamaged": 6},
        **{"NotAllowed": 7, "CapturePaused": 7, "SecretRefused": 7, "NeedsApproval": 7},
    }
    assert exit_status(errors.InvalidRequest("a", "b")) == 2
    assert [status for status, _ in EXIT_STATUS] == sorted({status for status, _ in EXIT_STATUS})


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_for_a_shell_asks_the_program(shell: str) -> None:
    script = CliRunner().invoke(program, ["completion", shell]).stdout
    assert f"{variable()}={shell}_complete" in script


@pytest.mark.full
@pytest.mark.parametrize("words", [["--help"], ["recall", "--help"], ["stats"], ["doctor"], ["status"]])
def test_there_are_no_colours_in_a_pipe(words: list[str], tmp_path: Path) -> None:
    folders = {f"XDG_{name}_HOME": str(tmp_path) for name in ("CONFIG", "DATA", "STATE", "CACHE")}
    shown = asked(*words, TERM="xterm-256color", COLORTERM="truecolor", **folders)
    assert shown
    assert "\x1b" not in shown


def test_a_shell_completes_commands_and_choices() -> None:
    found = asked(**{variable(): "bash_complete", "COMP_WORDS": "ovos-persona-memory hi", "COMP_CWORD": "1"})
    assert found == "plain,history\n"
    words = "ovos-persona-memory export --format ma"
    assert asked(**{variable(): "bash_complete", "COMP_WORDS": words, "COMP_CWORD": "3"}) == "plain,markdown\n"
