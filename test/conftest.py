"""What holds for all tests."""

from __future__ import annotations

import pytest

from ovos_persona_memory import embedder


@pytest.fixture(autouse=True)
def no_default_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    """``auto`` finds nothing here: a test that wants an embedder names it, and the others need not load one."""
    monkeypatch.setattr(embedder, "DEFAULT", (*embedder.DEFAULT, "left_out_by_the_tests"))
