"""The command users: list the users, and merge two of them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import rich_click as click

from ovos_persona_memory.cli.connection import open_memory
from ovos_persona_memory.cli.options import data_option, examples, json_option
from ovos_persona_memory.cli.output import Command, answer, answer_json, answer_rows, confirm, progress
from ovos_persona_memory.cli.time_format import format_time
from ovos_persona_memory.text import counted_kinds

MERGE_WITHIN_S = 600.0
"""Timeout, seconds: moving and rewriting a large memory takes its time."""


@click.group()
def users() -> None:
    """Whose memory there is, and to make two users one."""


@users.command("list", cls=Command, epilog=examples("users list"))
@data_option
@json_option
def list_users(data: Path | None, as_json: bool) -> None:
    """Everybody of whom anything is kept, whoever talked last first."""
    with open_memory(data) as memory:
        found = memory.users.list()
    if as_json:
        return answer_json({"users": found})
    rows = [
        [
            format_time(one.last_at) if one.last_at else "never",
            str(one.turns),
            str(one.memories),
            str(one.documents),
            one.user_id,
        ]
        for one in found
    ]
    return answer_rows(["last", "turns", "memories", "documents", "user"], rows, "Nobody has talked yet.")


@users.command(cls=Command, epilog=examples("users merge alicia alice"))
@click.argument("user")
@click.argument("into")
@click.option("--yes", is_flag=True, help="Do not ask.")
@data_option
@json_option
def merge(user: str, into: str, yes: bool, data: Path | None, as_json: bool) -> None:
    """Make everything of USER the memory of INTO, for good; nothing of USER is left."""
    if not yes:
        confirm(f"Make everything of {user} the memory of {into}, for good?")
    with open_memory(data, MERGE_WITHIN_S) as memory, progress("Moving"):
        moved = memory.users.merge(user, into)
    if as_json:
        return answer_json({"moved": moved})
    return answer(f"Moved {counted_kinds(asdict(moved))} to {into}.")
