"""Commands about one session as a whole: summary, snapshot, put-back, trim."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import rich_click as click

from ovos_persona_memory.cli.connection import Memory, open_memory
from ovos_persona_memory.cli.files import output_option, write_whole
from ovos_persona_memory.cli.options import InputFile, data_option, examples, json_option, scope_of, user_option
from ovos_persona_memory.cli.output import Command, answer, answer_json, confirm, progress, say
from ovos_persona_memory.cli.show import say_if_not_read
from ovos_persona_memory.cli.time_format import format_time
from ovos_persona_memory.conversation import turns_of
from ovos_persona_memory.errors import InvalidRequest, UnknownEntry
from ovos_persona_memory.records import Scope
from ovos_persona_memory.text import counted, counted_kinds

RESTORE_WITHIN_S = 600.0
"""What was there is gone from the files of a large memory only after its time."""
MOST = 1000
"""Messages of a snapshot at most, as many as can be put back through the owner's door."""


@click.command(
    cls=Command,
    epilog=examples(
        "summary trip",
        'summary trip --text "They planned a trip to Lisbon." --description "a trip"',
        'summary trip --text ""',
    ),
)
@click.argument("session")
@click.option("--text", help="The new summary; an empty one takes it away.")
@click.option("--description", help="What the session is about; an empty one takes it away.")
@user_option
@data_option
@json_option
def summary(  # one parameter an option
    session: str, text: str | None, description: str | None, user: str | None, data: Path | None, as_json: bool
) -> None:
    """The summary of a SESSION and its description, after setting what is given."""
    with open_memory(data) as memory:
        note = memory.update_session(scope_of(user, session_id=session), text, description)
        known = [told for told in (note.summary, note.description) if told]
        say_if_not_read(memory, session, known)
    if as_json:
        return answer_json({"note": note})
    if not known:
        say(f"Session {session} has no summary yet.")
    written_at = note.summary_at if note.summary else note.updated_at
    rows = [("written", format_time(written_at)), ("description", note.description), ("summary", note.summary)]
    for name, told in rows if known else ():
        if told:
            answer(f"{name + ':':<12} " + f"\n{'':<13}".join(told.splitlines()))
    return None


@click.command(cls=Command, epilog=examples("snapshot trip", "snapshot trip --output trip.json"))
@click.argument("session")
@output_option
@user_option
@data_option
@json_option
def snapshot(session: str, output: Path | None, user: str | None, data: Path | None, as_json: bool) -> None:
    """A copy of a SESSION as JSON, for put-back: its newest 1000 messages and its summary."""
    with open_memory(data) as memory:
        taken = memory.snapshot(scope_of(user, session_id=session), MOST)
        if not taken["messages"] and not taken["summary"]:
            say_if_not_read(memory, session, ())
            raise UnknownEntry(f"there is nothing to copy in session {session!r}")
    if len(taken["messages"]) == MOST:
        say(f"These are the newest {MOST} messages; older ones are left out.")
    if output is None:
        return answer_json(taken)
    write_whole(output, [msgspec.json.format(msgspec.json.encode(taken), indent=2) + b"\n"])
    written = len(taken["messages"])
    if as_json:
        return answer_json({"file": str(output), "messages": written})
    return answer(f"Wrote {counted(written, 'message')} to {output}.")


@click.command("put-back", cls=Command, epilog=examples("put-back trip trip.json", "put-back trip-2 trip.json --yes"))
@click.argument("session")
@click.argument("file", type=InputFile())
@user_option
@click.option("--yes", is_flag=True, help="Do not ask.")
@data_option
@json_option
def put_back(  # one parameter an option
    session: str, file: Path, user: str | None, yes: bool, data: Path | None, as_json: bool
) -> None:
    """Put the snapshot in FILE in place of a SESSION, of which everything that was in it is forgotten."""
    taken = _read(file)
    messages, _ = turns_of(taken)
    scope = scope_of(user, session_id=session)
    with open_memory(data, RESTORE_WITHIN_S) as memory:
        if not yes:
            _ask_before_replacing(memory, scope, len(messages))
        with progress("Putting it back"):
            ids = memory.restore(taken, scope)
    return answer_json({"ids": ids}) if as_json else answer(f"Put {counted(len(ids), 'message')} into {session}.")


def _read(path: Path) -> Any:
    try:
        return msgspec.json.decode(path.read_bytes())
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidRequest(str(path), f"is no snapshot: {error}") from None


def _ask_before_replacing(memory: Memory, scope: Scope, messages: int) -> None:
    """Only where something would go."""
    going = memory.forget_by_kind(scope, preview=True)
    if going.turns or going.notes:
        held = {kind: number for kind, number in (("turns", going.turns), ("notes", going.notes)) if number}
        say(f"To be forgotten, of {scope.user_id}, session {scope.session_id!r}: {counted_kinds(held)}.")
        confirm(f"Put {counted(messages, 'message')} in its place?")


@click.command(cls=Command, epilog=examples("trim trip --keep 10", "trim trip --tokens 2000"))
@click.argument("session")
@click.option("--keep", type=click.IntRange(0, 1000), help="So many of the newest messages stay; 6 unless given.")
@click.option("--tokens", type=click.IntRange(0, 1_000_000), help="As many as fit into so many tokens stay, instead.")
@user_option
@data_option
@json_option
def trim(  # one parameter an option
    session: str, keep: int | None, tokens: int | None, user: str | None, data: Path | None, as_json: bool
) -> None:
    """Leave the older messages of a SESSION to its summary: personas are handed them no more, recall finds them."""
    if keep is not None and tokens is not None:
        raise InvalidRequest("--keep", "cannot be given together with --tokens")
    scope = scope_of(user, session_id=session)
    with open_memory(data) as memory:
        trimmed = _trimmed(memory, scope, keep, tokens)
        say_if_not_read(memory, session, [trimmed] if trimmed else [])
        if trimmed and not memory.update_session(scope).summary:
            say(f"Session {session!r} has no summary that stands for them; the command summary sets one.")
    if as_json:
        return answer_json({"trimmed": trimmed})
    return answer(f"Left {counted(trimmed, 'message')} of {session} to its summary.")


def _trimmed(memory: Memory, scope: Scope, keep: int | None, tokens: int | None) -> int:
    if tokens is not None:
        return memory.trim_to_fit(scope, tokens)
    return memory.trim(scope) if keep is None else memory.trim(scope, keep)
