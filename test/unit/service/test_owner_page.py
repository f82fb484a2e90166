"""Whether the owner's page is served at all."""

from __future__ import annotations

import pytest

from ovos_persona_memory import web
from ovos_persona_memory.config import MemoryConfig, WebConfig
from ovos_persona_memory.service import owner_page


def test_no_page_is_served_where_it_is_not_wanted_or_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "is_installed", lambda: True)
    assert owner_page.page_of(MemoryConfig(web=WebConfig(enabled=False)), lambda *_: None, lambda _: None) is None
    monkeypatch.setattr(web, "is_installed", lambda: False)
    assert owner_page.page_of(MemoryConfig(), lambda *_: None, lambda _: None) is None


def test_a_page_that_is_wanted_and_installed_is_not_served_before_it_is_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(web, "is_installed", lambda: True)
    page = owner_page.page_of(MemoryConfig(), lambda *_: None, lambda _: None)
    assert page is not None
    assert page.url is None
    page.stop()
