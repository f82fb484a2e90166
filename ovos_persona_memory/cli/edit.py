"""Commands that change something: remember, update, forget, capture."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import rich_click as click

from ovos_persona_memory.cli.connection import open_memory
from ovos_persona_memory.cli.forget_preview import count_phrase, preview
from ovos_persona_memory.cli.options import (
    data_option,
    everyone_option,
    examples,
    json_option,
    lang_option,
    metadata_option,
    persona_option,
    scope_of,
    status_option,
    user_option,
)
from ovos_persona_memory.cli.output import Command, answer, answer_json, answer_rows, confirm, progress, say
from ovos_persona_memory.cli.time_format import as_moment, as_span_s, format_time
from ovos_persona_memory.config import device_language
from ovos_persona_memory.errors import InvalidRequest
from ovos_persona_memory.records import PRIVATE, Capture, Introspection, Status

FORGET_WITHIN_S = 600.0
"""Timeout, seconds: rewriting the files of a large memory takes its time."""


private_option = click.option(
    "--private",
    type=click.IntRange(0, 5),
    help="How surely its user must be known to whom it is given, 1 to 5; 0: it is not private.",
)


def _with_private(metadata: dict[str, str] | None, private: int | None) -> dict[str, str | int] | None:
    given: dict[str, str | int] = {**(metadata or {}), **({} if private is None else {PRIVATE: private})}
    return given or None


@click.command(
    cls=Command,
    epilog=examples(
        'remember "the bins go out on Tuesday" --key bins', 'remember "the safe is green" --user alice --private 3'
    ),
)
@click.argument("text")
@click.option("--key", help="The name to keep it under; a known one is replaced. Made up unless given.")
@metadata_option
@private_option
@click.option(
    "--secret", is_flag=True, help="Keep it though it is a secret: it is given where secrets are asked for alone."
)
@status_option("Whether it holds; accepted unless given.")
@lang_option
@user_option
@persona_option
@data_option
@json_option
def remember(  # one parameter an option
    text: str,
    key: str | None,
    metadata: dict[str, str] | None,
    private: int | None,
    secret: bool,
    status: Status | None,
    lang: str | None,
    user: str | None,
    persona: str | None,
    data: Path | None,
    as_json: bool,
) -> None:
    """Keep TEXT as a lasting memory, and print its key."""
    scope = scope_of(user, persona=persona)
    with open_memory(data) as memory:
        kept = _with_private(metadata, private)
        entry = memory.remember(text, scope, key, kept, lang or device_language(), secret=secret, status=status)
    return answer_json({"memory": entry}) if as_json else answer(entry.key)


@click.command(
    cls=Command, epilog=examples('update bins --text "the bins go out on Wednesday"', "update bins --status discard")
)
@click.argument("key")
@click.option("--text", help="The new text.")
@metadata_option
@private_option
@status_option("From draft to accepted, or from either to discard.")
@user_option
@persona_option
@data_option
@json_option
def update(  # one parameter an option
    key: str,
    text: str | None,
    metadata: dict[str, str] | None,
    private: int | None,
    status: Status | None,
    user: str | None,
    persona: str | None,
    data: Path | None,
    as_json: bool,
) -> None:
    """Change the text of a memory or its status, or add to its metadata."""
    changed = _with_private(metadata, private)
    if text is None and changed is None and status is None:
        raise InvalidRequest("--text", "or --metadata or --status is needed: there is nothing to change")
    with open_memory(data) as memory:
        entry = memory.update(key, scope_of(user, persona=persona), text, changed, status)
    return answer_json({"memory": entry}) if as_json else answer(entry.key)


@click.command(
    cls=Command,
    epilog=examples(
        "forget --since 10m",
        'forget --about "the holidays"',
        'forget --query "cat Bob"',
        "forget --session kitchen-1 --yes",
        "forget --everything --user alice",
    ),
)
@click.option("--key", help="The lasting memory with this key.")
@click.option("--query", help="What holds all of these words.")
@click.option("--about", "topic", metavar="TOPIC", help="What is about this, however it is named.")
@click.option("--id", "ids", multiple=True, help="The turn or memory with this id; may be given several times.")
@click.option("--session", help="What was said in this session.")
@click.option(
    "--since",
    type=as_moment,
    metavar="TIME",
    help="What was said then or later: 2026-11-21T18:30, or 2h (ago).",
)
@click.option("--until", type=as_moment, metavar="TIME", help="What was said before then.")
@click.option("--source", help="What this skill or persona said.")
@click.option("--everything", is_flag=True, help="Everything.")
@lang_option
@user_option
@persona_option
@everyone_option
@click.option("--yes", is_flag=True, help="Do not ask.")
@data_option
@json_option
def forget(  # one parameter an option; those that choose what to forget come in `chosen`
    session: str | None,
    user: str | None,
    persona: str | None,
    everyone: bool,
    yes: bool,
    data: Path | None,
    as_json: bool,
    **chosen: Any,
) -> None:
    """Forget what meets every condition given, for good, and print how much that was."""
    scope = scope_of(user, everyone, session, persona)
    conditions = {name: value for name, value in chosen.items() if value not in (None, (), False) and name != "lang"}
    if not conditions and session is None:
        raise InvalidRequest("--everything", "must be given to forget everything; nothing else says what to forget")
    if "ids" in conditions:
        conditions["ids"] = list(conditions["ids"])
    conditions["lang"] = chosen["lang"] or device_language()
    with open_memory(data, FORGET_WITHIN_S) as memory:
        if not yes:
            for line in preview(memory, scope, conditions):
                say(line)
            confirm("Forget it for good?")
        with progress("Forgetting"):
            forgotten = memory.forget_by_kind(scope, **conditions)
    if as_json:
        return answer_json({"forgotten": forgotten.total, "kinds": forgotten})
    return answer(f"Forgot {forgotten.total}: {count_phrase(forgotten)}.")


@click.command(cls=Command, epilog=examples("introspect", "introspect --undo 3f2a90c1d4e5"))
@click.option("--undo", metavar="ID", help="Put back what the look with this id changed.")
@click.option("--session", help="Only what was said in this session.")
@user_option
@everyone_option
@data_option
@json_option
def introspect(  # one parameter an option
    undo: str | None, session: str | None, user: str | None, everyone: bool, data: Path | None, as_json: bool
) -> None:
    """Have the language model look at what is new, as soon as nobody talks, and list its last looks."""
    with open_memory(data) as memory:
        found = memory.introspect(scope_of(user, everyone, session), undo)
    if as_json:
        return answer_json({"introspections": list(found)})
    none = "No model has looked yet; the setting introspection.model names the one that is to."
    return answer_rows(["id", "when", "session", "what"], [[*_look(one), _outcome(one)] for one in found], none)


def _look(one: Introspection) -> list[str]:
    return [one.id, format_time(one.at), one.session_id]


def _outcome(one: Introspection) -> str:
    """What became of the proposals of a look, in words."""
    numbers = {name: len(getattr(one, name)) for name in ("added", "drafted", "updated", "discarded", "refused")}
    told = ", ".join(f"{number} {name}" for name, number in numbers.items() if number) or "nothing"
    left = f" but for {one.left_alone} changed since" if one.left_alone else ""
    return f"{told}; undone{left}" if one.undone else told


@click.command(
    cls=Command, epilog=examples("capture", "capture off --for 1h", "capture --no-write --site kitchen", "capture on")
)
@click.argument("switch", type=click.Choice(["on", "off"]), required=False)
@click.option("--write/--no-write", default=None, help="Whether what is said is kept.")
@click.option("--read/--no-read", default=None, help="Whether what is kept is used.")
@click.option("--for", "for_s", type=as_span_s, metavar="SPAN", help="How long: 30m, 2h; until changed unless given.")
@click.option("--session", help="For this session alone.")
@click.option("--site", help="For this room alone.")
@click.option("--person", help="For this user alone.")
@data_option
@json_option
def capture(  # one parameter an option
    switch: str | None,
    write: bool | None,
    read: bool | None,
    for_s: float | None,
    session: str | None,
    site: str | None,
    person: str | None,
    data: Path | None,
    as_json: bool,
) -> None:
    """Switch remembering on or off, or show how it is. Off: nothing is kept, and nothing kept is used."""
    write, read = (_either(given, switch) for given in (write, read))
    if for_s is not None and write is None and read is None:
        raise InvalidRequest("--for", "needs on, off, or what to switch")
    until = None if for_s is None else time.time() + for_s
    with open_memory(data) as memory:
        scope = replace(scope_of(person, session_id=session), site_id=site)
        about = (one is not None for one in (session, site, person))
        setting = memory.capture(scope, write, read, until, *about)
    return answer_json({"capture": setting}) if as_json else answer(_sentence(setting))


def _either(given: bool | None, switch: str | None) -> bool | None:
    return given if given is not None or switch is None else switch == "on"


def _sentence(setting: Capture) -> str:
    kept = "is kept" if setting.write else "is not kept"
    used = "is used" if setting.read else "is not used"
    places = (("in session", setting.session_id), ("in room", setting.site_id), ("by", setting.user_id))
    where = "".join(f" {word} {name}" for word, name in places if name is not None)
    until = f", until {format_time(setting.until)}" if setting.until is not None else ""
    return f"What is said{where} {kept}, what was kept {used}{until}."
