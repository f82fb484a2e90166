"""``preview``: exactly the messages that a persona would get, with the reasons."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import rich_click as click

from ovos_persona_memory.cli.connection import open_memory, settings
from ovos_persona_memory.cli.options import data_option, examples, json_option, lang_option, scope_of, user_option
from ovos_persona_memory.cli.output import Command, answer, answer_json, answer_rows, say
from ovos_persona_memory.cli.show import say_if_not_read
from ovos_persona_memory.cli.time_format import format_time
from ovos_persona_memory.config import device_language, persona_settings
from ovos_persona_memory.conversation import message_tokens, strategies
from ovos_persona_memory.errors import ConfigError
from ovos_persona_memory.records import Context, ContextRequest, Inject, StrategyName

PLUGIN = "ovos-persona-memory-plugin"


@click.command(
    cls=Command,
    epilog=examples(
        'preview "what is my cat called"',
        'preview "what is my cat called" --persona Ada --session kitchen-1',
        'preview "what shall I cook" --user alice --system-prompt "You are a cook." --inject user',
    ),
)
@click.argument("utterance")
@click.option("--session", help="The session in which it would be said; a fresh one unless given.")
@click.option("--persona", help="The persona; its file in OVOS's folder says how it asks.")
@click.option("--max-history", type=click.IntRange(0, 1000), help="Messages of history at most.")
@click.option("--system-prompt", help="The persona's own prompt.")
@click.option("--recall", "hits", type=click.IntRange(0, 1000), help="Remembered lines at most.")
@click.option("--inject", type=click.Choice(get_args(Inject)), help="Where what is remembered stands.")
@lang_option
@user_option
@data_option
@json_option
def preview(  # one parameter an option
    utterance: str,
    session: str | None,
    persona: str | None,
    max_history: int | None,
    system_prompt: str | None,
    hits: int | None,
    inject: Inject | None,
    lang: str | None,
    user: str | None,
    data: Path | None,
    as_json: bool,
) -> None:
    """Show exactly the messages that a persona would get for an UTTERANCE: tokens counted, each remembered line with
    its score and the reason.

    Nothing is recorded, and nothing counts as used.
    """
    given = {"max_history": max_history, "system_prompt": system_prompt, "recall": hits, "inject_mode": inject}
    block = {**block_of(persona), **{name: value for name, value in given.items() if value is not None}}
    scope = scope_of(user, session_id=session or "preview", persona=persona)
    asked: dict[str, Any] = {
        "scope": scope,
        "lang": lang or device_language(),
        "max_age_s": settings(data).history.max_age_s,
    }
    request = ContextRequest(utterance, preview=True, **asked, **wanted_of(block))
    with open_memory(data) as memory:
        known = memory.context(request)
        say_if_not_read(memory, session, known.hits)
    if as_json:
        return answer_json({"messages": known.messages, "hits": known.hits, "tokens": known.tokens})
    return _show(known)


def block_of(persona: str | None) -> Mapping[str, Any]:
    """The settings of the memory plugin in a persona's file; none where there is no such file."""
    for path in sorted(Path(persona_settings()["personas_path"]).glob("*.json")) if persona else ():
        try:
            read = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(read, dict) and persona in (read.get("name"), path.stem):
            block = read.get(PLUGIN)
            return block if isinstance(block, dict) else {}
    if persona:
        say(f"There is no file of a persona {persona}: the usual settings are shown.")
    return {}


def wanted_of(block: Mapping[str, Any]) -> dict[str, Any]:
    """What the memory plugin with these settings asks for."""
    wanted = {
        "max_history": block.get("max_history", 5),
        "max_rounds": block.get("max_rounds"),
        "max_tokens": block.get("max_tokens"),
        "context_tokens": block.get("context_tokens"),
        "system_prompt": block.get("system_prompt") or "",
        "recall": block.get("recall"),
        "session": bool(block.get("recall_session", False)),
        "inject": block.get("inject_mode") or get_args(Inject)[0],
    }
    if (name := block.get("strategy")) is not None:
        if name not in get_args(StrategyName):
            raise ConfigError(f"strategy: {name!r} is none of {', '.join(get_args(StrategyName))}")
        chosen = strategies.named(name, block.get("window_size"), wanted["max_tokens"], block.get("summary_threshold"))
        wanted |= {
            "max_history": chosen.window_size,
            "max_tokens": chosen.window.max_tokens,
            "strategy": chosen.name,
            "summary_threshold": chosen.summary_threshold,
        }
    return wanted


def _show(known: Context) -> None:
    for message in known.messages:
        called = ", ".join(call.name for call in message.tool_calls)
        name = f" ({message.name or called})" if message.name or called else ""
        answer(f"{message.role}{name}, {message_tokens(message)} tokens:")
        answer("\n".join(f"    {line}" for line in message.text.splitlines()))
    answer(f"{known.tokens} tokens in {len(known.messages)} messages; {len(known.hits)} remembered")
    rows = [
        [f"{hit.score:.2f}", format_time(hit.at), hit.speaker or hit.role, hit.text, hit.reason] for hit in known.hits
    ]
    answer_rows(["score", "when", "from", "text", "why"], rows, "Nothing is remembered for it.")
