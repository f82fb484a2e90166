"""``completion``: the shell completes commands, options and the names of sessions, users and memories."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import rich_click as click
from click.shell_completion import CompletionItem, get_completion_class

from ovos_persona_memory.cli.connection import settings
from ovos_persona_memory.cli.options import NAME, examples
from ovos_persona_memory.cli.output import Command, answer
from ovos_persona_memory.errors import PersonaMemoryError
from ovos_persona_memory.protocol import MemoryClient
from ovos_persona_memory.records import Scope

WITHIN_S = 1.0
"""Whoever presses Tab waits no longer for the daemon, seconds."""
MOST = 50


@click.command(
    cls=Command,
    epilog=examples(
        "completion bash > ~/.local/share/bash-completion/completions/ovos-persona-memory",
        "completion zsh > ~/.zfunc/_ovos-persona-memory",
        "completion fish > ~/.config/fish/completions/ovos-persona-memory.fish",
    ),
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script by which SHELL completes commands, options and the names of sessions, users and memories."""
    program = click.get_current_context().find_root().command  # type: ignore[union-attr]  # a command runs
    made = get_completion_class(shell)
    if made is not None:
        answer(made(program, {}, NAME, variable()).source())


def variable() -> str:
    """The environment variable by which the script asks the program."""
    return f"_{NAME.upper().replace('-', '_')}_COMPLETE"


def complete_names(program: click.Group) -> None:
    """Have the arguments and options that name a session, a user or a memory completed by what there is."""
    named: dict[str, Callable[[MemoryClient], Sequence[str]]] = {
        "session": lambda memory: [one.session_id for one in memory.sessions(Scope.everyone(), MOST)],
        "user": lambda memory: [one.user_id for one in memory.users.list()],
        "key": lambda memory: [one.key for one in memory.list(limit=MOST)],
    }
    for command in program.commands.values():
        for param in command.params:
            if param.name in named and param.type.name == "text":
                param._custom_shell_complete = _completing(named[param.name])


def _completing(names: Callable[[MemoryClient], Sequence[str]]) -> Callable[..., list[CompletionItem]]:
    def completed(ctx: click.Context, _: click.Parameter, begun: str) -> list[CompletionItem]:
        found: list[str] = []
        with contextlib.suppress(PersonaMemoryError, OSError):
            folder: Any = ctx.params.get("data") or ctx.find_root().params.get("data")
            with MemoryClient.over_door(settings(Path(folder) if folder else None).folder, WITHIN_S) as memory:
                found = list(names(memory))
        return [CompletionItem(name) for name in found if name.startswith(begun)]

    return completed
