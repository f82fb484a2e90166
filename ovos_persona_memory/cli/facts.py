"""Commands about facts: facts, review, audit."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from ovos_persona_memory.cli.connection import Memory, open_memory
from ovos_persona_memory.cli.options import data_option, everyone_option, examples, json_option, scope_of, user_option
from ovos_persona_memory.cli.output import Command, answer, answer_json, answer_rows
from ovos_persona_memory.cli.time_format import as_moment, format_time
from ovos_persona_memory.errors import InvalidRequest
from ovos_persona_memory.records import Fact, ListedStatus, Scope

AUDIT_WITHIN_S = 600.0
"""Timeout, seconds: an audit reads all records."""
STATUSES = ("active", "superseded", "waiting", "all")


@click.command(
    cls=Command,
    epilog=examples(
        "facts", "facts --slot allergy --everyone", "facts --at 2026-11-21", "facts --decisions --limit 10"
    ),
)
@click.option("--slot", help="Only facts of this slot: name, pet, allergy, ...")
@click.option(
    "--status", type=click.Choice(STATUSES), default="active", show_default=True, help="Only facts like this."
)
@click.option("--at", type=as_moment, metavar="TIME", help="What held then.")
@click.option("--history", metavar="ID", help="How the fact with this id came about.")
@click.option("--decisions", is_flag=True, help="What was decided about words that could be a fact, and why.")
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="Lines at most.")
@user_option
@everyone_option
@data_option
@json_option
def facts(  # one parameter an option
    slot: str | None,
    status: ListedStatus,
    at: float | None,
    history: str | None,
    decisions: bool,
    limit: int,
    user: str | None,
    everyone: bool,
    data: Path | None,
    as_json: bool,
) -> None:
    """What people said about themselves, the last said first."""
    scope = scope_of(user, everyone)
    with open_memory(data) as memory:
        if history is not None:
            return _story(memory, history, scope, as_json)
        if decisions:
            return _decisions(memory, scope, limit, as_json)
        found = memory.facts.list(scope, status, slot, at, limit)
    return answer_json({"facts": found}) if as_json else _rows(found, "No such fact is known.")


def _rows(found: list[Fact], none: str) -> None:
    rows = [
        [format_time(one.last_seen_at), one.user_id, _about(one), f"{one.confidence:.2f}", one.status, one.id, one.text]
        for one in found
    ]
    answer_rows(["said", "user", "about", "sure", "status", "id", "text"], rows, none)


def _about(fact: Fact) -> str:
    return " ".join(part for part in (fact.subject, fact.slot or "asked") if part)


def _story(memory: Memory, fact_id: str, scope: Scope, as_json: bool) -> None:
    story = memory.facts.history(fact_id, scope)
    if as_json:
        return answer_json(story)
    texts = {fact.id: fact.text for fact in story.facts}
    rows = [[format_time(one.at), one.what, one.turn_id or "", texts.get(one.fact_id, "")] for one in story.changes]
    return answer_rows(["when", "what", "turn", "fact"], rows, "It never changed.")


def _decisions(memory: Memory, scope: Scope, limit: int, as_json: bool) -> None:
    found = memory.facts.decisions(scope, limit)
    if as_json:
        return answer_json({"decisions": found})
    rows = [
        [format_time(one.at), one.user_id, one.outcome, one.reason, one.slot or "", one.turn_id or ""] for one in found
    ]
    return answer_rows(["when", "user", "outcome", "reason", "slot", "turn"], rows, "Nothing was decided about yet.")


@click.command(cls=Command, epilog=examples("review", "review --accept 3f2a90c1d4e5", "review --reject 3f2a90c1d4e5"))
@click.option("--accept", metavar="ID", help="Take in the fact with this id.")
@click.option("--reject", metavar="ID", help="Forget the fact with this id.")
@user_option
@everyone_option
@data_option
@json_option
def review(  # one parameter an option
    accept: str | None, reject: str | None, user: str | None, everyone: bool, data: Path | None, as_json: bool
) -> None:
    """The facts that wait because somebody was not sure; take one in, or forget it."""
    if accept and reject:
        raise InvalidRequest("--accept", "cannot be given together with --reject")
    scope = scope_of(user, everyone)
    with open_memory(data) as memory:
        if accept or reject:
            kept = memory.facts.review(accept or reject or "", accept is not None, scope)
            return answer_json({"fact": kept}) if as_json else answer("Taken in." if kept else "Forgotten.")
        found = memory.facts.list(scope, "waiting", limit=1000)
    return answer_json({"facts": found}) if as_json else _rows(found, "No fact waits for review.")


@click.command(cls=Command, epilog=examples("audit", "audit --everyone --json"))
@user_option
@everyone_option
@data_option
@json_option
def audit(user: str | None, everyone: bool, data: Path | None, as_json: bool) -> None:
    """What is wrong with facts and memories, and what to do about it."""
    with open_memory(data, AUDIT_WITHIN_S) as memory:
        found = memory.facts.audit(scope_of(user, everyone))
    if as_json:
        return answer_json({"troubles": found})
    for one in found:
        answer(f"{one.what}: {one.count}")
        if one.count:
            answer(f"  {one.advice}")
            answer(f"  {' '.join(one.ids)}")
    return None
