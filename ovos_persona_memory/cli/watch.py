"""``watch``: what is recorded, as it is spoken."""

from __future__ import annotations

import queue
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import rich_click as click
from rich.text import Text

from ovos_persona_memory.cli.connection import settings, url
from ovos_persona_memory.cli.options import (
    address_options,
    data_option,
    examples,
    json_option,
    scope_of,
    user_option,
)
from ovos_persona_memory.cli.output import Command, answer, answer_text, plain, say
from ovos_persona_memory.cli.time_format import as_span_s, format_time
from ovos_persona_memory.config import bus_address
from ovos_persona_memory.errors import NoAnswer
from ovos_persona_memory.protocol import BusConnection, MemoryClient, messages, topics
from ovos_persona_memory.records import Turn, text_of

WITHIN_S = 10.0
"""How long the messagebus is waited for, seconds."""
TOPICS = {
    topics.RECORDED: "recorded",
    topics.LEARNED: "learned",
    topics.FORGOTTEN: "forgotten",
    topics.CAPTURED: "captured",
}

Notification = tuple[str, str | None, Mapping[str, Any]]
"""Topic, session and data of an event."""


@click.command(cls=Command, epilog=examples("watch", "watch --user alice --for 10m", "watch --json | jq .turn.text"))
@click.option("--session", help="Only this session.")
@click.option("--for", "for_s", type=as_span_s, metavar="SPAN", help="How long: 30s, 10m; until Ctrl-C unless given.")
@click.option("--limit", type=click.IntRange(min=1), help="End after so many turns.")
@user_option
@data_option
@address_options
@json_option
def watch(  # one parameter an option
    session: str | None,
    for_s: float | None,
    limit: int | None,
    user: str | None,
    data: Path | None,
    host: str | None,
    port: int | None,
    as_json: bool,
) -> None:
    """Show what is recorded as it is spoken, and what is learned, forgotten and switched. Ctrl-C ends it.

    It needs the daemon and the messagebus. With --json one JSON object a line.
    """
    arrived: queue.SimpleQueue[Notification] = queue.SimpleQueue()
    address = bus_address(host, port)

    def take(frame: bytes) -> None:
        arrived.put(messages.notification(frame))

    with MemoryClient.over_door(settings(data).folder) as memory:
        bus = BusConnection(TOPICS.__contains__, take, **address)
        bus.start()
        try:
            if not bus.connected_event.wait(WITHIN_S):
                raise NoAnswer(f"no messagebus answers at {url(address)}")
            say("Watching. Ctrl-C ends it.")
            Watching(memory, user, session, as_json).go_on(arrived, for_s, limit)
        except KeyboardInterrupt:
            return
        finally:
            bus.close()


class Watching:
    """Shows events, each turn with its words."""

    def __init__(self, memory: MemoryClient, user: str | None, session: str | None, as_json: bool) -> None:
        self._memory, self._session, self._as_json = memory, session, as_json
        self._scope = scope_of(user, everyone=user is None)

    def go_on(self, arrived: queue.SimpleQueue[Notification], for_s: float | None, limit: int | None) -> None:
        """Show what arrives until the time is over or so many turns were shown."""
        until = None if for_s is None else messages.now() + for_s
        shown = 0
        while limit is None or shown < limit:
            left_s = None if until is None else until - messages.now()
            if left_s is not None and left_s <= 0:
                return
            try:
                topic, session, data = arrived.get(timeout=left_s)
            except queue.Empty:
                return
            if self._session in (None, session):
                shown += self._show(TOPICS[topic], session, data)

    def _show(self, what: str, session: str | None, data: Mapping[str, Any]) -> int:
        """Show one event; how many turns that were."""
        if what != "recorded":
            self._tell(what, session, data)
            return 0
        turns = [turn for one in data.get("ids", ()) if (turn := self._memory.turn(one, self._scope)) is not None]
        for turn in turns:
            self._tell_turn(turn)
        return len(turns)

    def _tell(self, what: str, session: str | None, data: Mapping[str, Any]) -> None:
        if self._as_json:
            return answer(msgspec.json.encode({"event": what, "session_id": session, **data}).decode())
        number = data.get("forgotten") if what == "forgotten" else len(data.get("ids", ()))
        told = "remembering was switched" if what == "captured" else f"{what} {number}"
        return answer_text(Text(f"{format_time(messages.now())}  {told}", style="dim"))

    def _tell_turn(self, turn: Turn) -> None:
        if self._as_json:
            return answer(msgspec.json.encode({"event": "recorded", "turn": turn}).decode())
        name = turn.speaker or (turn.user_id if turn.role == "user" else turn.persona_id or turn.skill_id or turn.role)
        where = f" ({turn.site_id})" if turn.site_id else ""
        words = " ".join(plain(text_of(turn.text)).split())
        style = "bold" if turn.role == "user" else ""
        said = Text.assemble(f"{format_time(turn.at)}  ", (f"{plain(name)}{plain(where)}: ", style), words)
        return answer_text(said)
