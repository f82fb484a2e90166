"""``web``: a link that lets a browser in."""

from __future__ import annotations

import time
from pathlib import Path

import rich_click as click

from ovos_persona_memory import web as page
from ovos_persona_memory.cli.connection import settings
from ovos_persona_memory.cli.options import data_option, examples, json_option
from ovos_persona_memory.cli.output import Command, answer, answer_json, say
from ovos_persona_memory.errors import ConfigError, NoAnswer
from ovos_persona_memory.protocol import MemoryClient


@click.command(cls=Command, epilog=examples("web", "web --token", "web --json"))
@click.option("--token", "as_token", is_flag=True, help="Print the token instead, for programs that use the API.")
@data_option
@json_option
def web(as_token: bool, data: Path | None, as_json: bool) -> None:
    """Print a link that opens the owner's page in one browser, once, within ten minutes."""
    config = settings(data)
    if not config.web.enabled:
        raise ConfigError("the page is switched off (web.enabled)")
    with MemoryClient.over_door(config.folder) as memory:
        url = memory.status().get("web")
    if not url:
        needed = "" if page.is_installed() else ": pip install ovos-persona-memory[web]"
        raise NoAnswer(f"the daemon serves no page{needed}")
    token = page.token_of(config.folder)
    if as_token:
        return answer_json({"url": url, "token": token}) if as_json else answer(token)
    link = page.entry_link(url, token, time.time())
    if as_json:
        return answer_json({"url": url, "link": link})
    say("Open this in a browser on this device; it works once, within ten minutes:")
    return answer(link)
