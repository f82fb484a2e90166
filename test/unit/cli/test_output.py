"""What commands say."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from ovos_persona_memory.cli.program import program
from ovos_persona_memory.config import MemoryConfig, RecallConfig
from ovos_persona_memory.memory import PersonaMemory

LISTING = (
    *("sessions", "history trip", "history --all-sessions", "recall cat", "list", "list --offset 3", "facts"),
    *("facts --decisions", "episodes", "users list", "review", "introspect", "summary trip"),
    *("documents list", "documents search cat"),
)


@pytest.mark.parametrize("command", LISTING)
def test_where_there_is_nothing_a_sentence_says_so(tmp_path: Path, command: str) -> None:
    PersonaMemory.open(tmp_path, MemoryConfig(recall=RecallConfig(embedder="none"))).close()
    result = CliRunner().invoke(program, ["--data", str(tmp_path), *command.split()])
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.strip().endswith(".")
