"""Options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, get_args

import rich_click as click

from ovos_persona_memory.errors import InvalidRequest
from ovos_persona_memory.records import HOUSEHOLD, Scope, Status

NAME = "ovos-persona-memory"
HELP = {"help_option_names": ["-h", "--help"]}

F = TypeVar("F", bound=Callable[..., Any])


class InputFile(click.Path):
    """A file that a command reads; ``Command`` checks all of them before it runs."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)
        self.name = "file"

    def refuse_unreadable(self, path: Path) -> None:
        """InvalidRequest that names the file where it is missing or cannot be read."""
        try:
            path.stat()
        except (FileNotFoundError, NotADirectoryError):
            raise InvalidRequest(str(path), "there is no such file") from None
        except OSError as error:
            raise InvalidRequest(str(path), f"cannot be read: {error.strerror}") from None
        if path.is_dir():
            raise InvalidRequest(str(path), "is a folder, not a file")
        if not os.access(path, os.R_OK):
            raise InvalidRequest(str(path), "this user may not read it")


def _or_the_programs(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    """The value of an option, which may also stand before the command."""
    return ctx.find_root().params.get(param.name or "") if value is None else value


data_option = click.option(
    "--data",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    callback=_or_the_programs,
    help="The data folder, where the settings do not name the right one.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Answer with one JSON document, for programs.")


def address_options(command: F) -> F:
    """``--host`` and ``--port`` of the messagebus."""
    host = click.option("--host", callback=_or_the_programs, help="Host of the messagebus.")
    port = click.option("--port", type=click.IntRange(1, 65535), callback=_or_the_programs, help="Port of it.")
    return host(port(command))


user_option = click.option("--user", help="Whose memory; the household's unless given.")
persona_option = click.option("--persona", help="Whose among the personas; whichever unless given.")
everyone_option = click.option("--everyone", is_flag=True, help="Everybody's memory.")
secrets_option = click.option(
    "--with-secrets", is_flag=True, help="Also the secrets that somebody asked to keep, in plain words."
)
lang_option = click.option("--lang", help="The language of the words, en-US for example; the device's unless given.")


def pairs(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> dict[str, str] | None:
    """Values of an option that may be given several times, each NAME=VALUE; None for none."""
    parts = [text.partition("=") for text in given]
    for name, equals, _value in parts:
        if not name or not equals:
            raise click.BadParameter("write it as name=value")
    return {name: value for name, _, value in parts} or None


metadata_option = click.option(
    "--metadata", multiple=True, metavar="NAME=VALUE", callback=pairs, help="May be given several times."
)


def examples(*commands: str) -> str:
    """How a command is called, for the end of its help."""
    return "\n\n".join(["Examples:", *(f"{NAME} {command}" for command in commands)])


def status_option(meaning: str) -> Callable[[F], F]:
    """``--status`` of a lasting memory."""
    return click.option("--status", type=click.Choice(get_args(Status)), help=meaning)


def scope_of(
    user: str | None, everyone: bool = False, session_id: str | None = None, persona: str | None = None
) -> Scope:
    """The scope that the options name; InvalidRequest where they name both one user and everyone."""
    if user and everyone:
        raise InvalidRequest("--user", "cannot be given together with --everyone")
    scope = Scope.everyone() if everyone else Scope(user_id=user or HOUSEHOLD)
    return replace(scope, session_id=session_id, persona_id=persona)
