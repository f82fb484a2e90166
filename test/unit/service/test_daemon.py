"""The one worker: what shares a commit, and what becomes of it when one part fails; and whether a page is served."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ovos_persona_memory import web
from ovos_persona_memory.config import FactsConfig, MemoryConfig, WebConfig
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.memory.episodes import Episodes
from ovos_persona_memory.records import Scope
from ovos_persona_memory.service.daemon import Daemon, page_of


@pytest.fixture(params=["inmemory", "sqlite"])
def daemon(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Daemon]:
    """One that was never started: no bus, no thread; the test is its worker."""
    config = MemoryConfig(data_dir=str(tmp_path), backend=request.param, announce=False, facts=FactsConfig(learn=False))
    daemon = Daemon(config, host="127.0.0.1", port=1, route="/core", ssl=False)
    with PersonaMemory.open(config=config) as memory:
        memory.learns_later = True
        daemon._memory = memory
        yield daemon


def hear_together(daemon: Daemon, *texts: str) -> None:
    for text in texts:
        message = {"type": "recognizer_loop:utterance", "data": {"utterances": [text]}}
        daemon._arrivals.put(
            json.dumps({**message, "context": {"session": {"session_id": "s"}}}).encode(), print, False
        )
    daemon._handle(daemon._arrivals.take(0.0, lambda: False) or [])


def kept(daemon: Daemon) -> list[str]:
    return [turn.text for turn in daemon._opened().turns(Scope(session_id="s"))]


def test_an_event_that_fails_midway_leaves_nothing_and_those_beside_it_are_kept(
    daemon: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = Episodes.hear

    def fails(self: Episodes, heard: Any, added: Any) -> None:
        if heard.text == "a teapot":
            raise ValueError("nobody expects a teapot")
        note(self, heard, added)

    monkeypatch.setattr(Episodes, "hear", fails)
    hear_together(daemon, "one cup", "a teapot", "two cups")
    assert kept(daemon) == ["one cup", "two cups"]
    hear_together(daemon, "a teapot")
    hear_together(daemon, "three cups")
    assert kept(daemon) == ["one cup", "two cups", "three cups"]


def test_no_page_is_served_where_it_is_not_wanted_or_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "is_installed", lambda: True)
    assert page_of(MemoryConfig(web=WebConfig(enabled=False)), lambda *_: None, lambda _: None) is None
    monkeypatch.setattr(web, "is_installed", lambda: False)
    assert page_of(MemoryConfig(), lambda *_: None, lambda _: None) is None


def test_a_page_that_is_wanted_and_installed_is_not_served_before_it_is_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(web, "is_installed", lambda: True)
    page = page_of(MemoryConfig(), lambda *_: None, lambda _: None)
    assert page is not None
    assert page.url is None
    page.stop()
