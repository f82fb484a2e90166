"""Commands about what happened and why something is known: episodes, why."""

from __future__ import annotations

import json
import time
from pathlib import Path

import rich_click as click

from ovos_persona_memory.cli.connection import open_memory
from ovos_persona_memory.cli.options import (
    data_option,
    everyone_option,
    examples,
    json_option,
    lang_option,
    persona_option,
    scope_of,
    user_option,
)
from ovos_persona_memory.cli.output import Command, answer, answer_json, answer_rows
from ovos_persona_memory.cli.time_format import as_moment, format_time
from ovos_persona_memory.config import device_language
from ovos_persona_memory.errors import InvalidRequest, UnknownEntry
from ovos_persona_memory.memory import named_time
from ovos_persona_memory.records import EPISODE_KINDS, Episode, EpisodeKind, Origin
from ovos_persona_memory.text import counted


@click.command(
    cls=Command,
    epilog=examples("episodes", 'episodes "what happened yesterday at three"', "episodes --kind intent --since 2h"),
)
@click.argument("question", required=False)
@click.option("--kind", "kinds", type=click.Choice(EPISODE_KINDS), multiple=True, help="Only these; all but recall.")
@click.option("--since", type=as_moment, metavar="TIME", help="What began then or later: 2026-11-21T18:30, or 2h.")
@click.option("--until", type=as_moment, metavar="TIME", help="What began before then.")
@click.option("--session", help="Only what happened in this session.")
@click.option("--limit", type=click.IntRange(0, 1000), default=20, show_default=True, help="Episodes at most.")
@lang_option
@user_option
@everyone_option
@data_option
@json_option
def episodes(  # one parameter an option
    question: str | None,
    kinds: tuple[EpisodeKind, ...],
    since: float | None,
    until: float | None,
    session: str | None,
    limit: int,
    lang: str | None,
    user: str | None,
    everyone: bool,
    data: Path | None,
    as_json: bool,
) -> None:
    """What happened, the newest first; of a time that a QUESTION names: "what happened yesterday at three"."""
    if question is not None:
        since, until = named_time(question, lang or device_language(), None, time.time())
    with open_memory(data) as memory:
        found = memory.episodes(scope_of(user, everyone, session), kinds or None, since, until, limit)
    if as_json:
        return answer_json({"episodes": found, "since": since, "until": until})
    none = "Nothing is known of then." if question or since or until else "Nothing is known."
    names = ["when", "what", "who", "how it ended", "took (ms)", "more"]
    return answer_rows(names, [_row(one) for one in found], none)


def _row(episode: Episode) -> list[str]:
    name = ":".join(filter(None, (episode.skill_id, episode.name)))
    took = "" if episode.latency_ms is None else f"{episode.latency_ms:.0f}"
    more = json.dumps(dict(episode.detail), ensure_ascii=False) if episode.detail else ""
    return [format_time(episode.at), episode.kind, name, episode.outcome or "", took, more]


@click.command(
    cls=Command, epilog=examples("why bins", "why --session kitchen-1", "why --id f8251a0ad58a41e39997f680ac95e79d")
)
@click.argument("key", required=False)
@click.option("--id", "record_id", help="The turn, memory or fact with this id.")
@click.option("--session", help="What the last answer of this session was made of.")
@user_option
@persona_option
@data_option
@json_option
def why(  # one parameter an option
    key: str | None,
    record_id: str | None,
    session: str | None,
    user: str | None,
    persona: str | None,
    data: Path | None,
    as_json: bool,
) -> None:
    """Where the memory with a KEY comes from: who, when, in whose words, and when it was last used."""
    if key is None and record_id is None and session is None:
        raise InvalidRequest("KEY", "or --id or --session is needed")
    with open_memory(data) as memory:
        origin = memory.why(scope_of(user, session_id=session, persona=persona), record_id, key)
    if origin is None:
        raise UnknownEntry("nothing is known of that")
    return answer_json({"origin": origin}) if as_json else answer("\n".join(_lines(origin)))


def _lines(origin: Origin) -> list[str]:
    told = [
        ("text", origin.text),
        ("said", f"{format_time(origin.at)} by {origin.speaker or f'{origin.role} of {origin.user_id}'}"),
        ("words", origin.said),
        ("session", origin.session_id),
        ("room", origin.site_id),
        ("sure", None if origin.sure is None else f"{origin.sure:.2f}"),
    ]
    if origin.used is not None:
        asked = f", asked: {origin.used.question}" if origin.used.question else ""
        told.append(("used", f"{counted(origin.used.times, 'time')}, last {format_time(origin.used.at)}{asked}"))
    return [f"{name}: {value}" for name, value in told if value]
