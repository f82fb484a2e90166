"""install-service and uninstall-service: reversible, checked by systemd, and the data stays."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ovos_persona_memory.cli import service_unit
from ovos_persona_memory.cli.program import program
from ovos_persona_memory.config import parse
from ovos_persona_memory.memory import PersonaMemory

ROOT = Path(__file__).parents[3]
VERIFIES = shutil.which("systemd-analyze") is not None
Install = Callable[..., Result]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a systemctl that only writes down what it is asked for."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "systemctl").write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\n')
    (tools / "systemctl").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "config").mkdir()
    return tmp_path


def run(home: Path, *words: str) -> Result:
    return CliRunner().invoke(program, ["--data", str(home / "data"), *words])


def tree(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def asked(home: Path) -> list[str]:
    log = home / "asked"
    return log.read_text().splitlines() if log.exists() else []


def unit(home: Path) -> Path:
    return home / "config" / "systemd" / "user" / service_unit.UNIT_NAME


def test_first_it_only_shows_what_it_would_do(home: Path) -> None:
    for words in (["install-service", "--dry-run"], ["install-service"], ["uninstall-service", "--dry-run"]):
        before = tree(home)
        shown = run(home, *words)
        assert tree(home) == before, words
    assert shown.exit_code == 0
    shown = run(home, "install-service", "--dry-run")
    assert str(unit(home)) in shown.stdout
    assert "$ systemctl --user enable --now ovos-persona-memory.service" in shown.stdout
    refused = run(home, "install-service")
    assert (refused.exit_code, "--yes" in refused.stderr) == (2, True)


@pytest.mark.parametrize("before", [None, "[Unit]\nDescription=my own\n"])
def test_uninstalling_takes_back_all_that_installing_did_and_leaves_the_memory(home: Path, before: str | None) -> None:
    if before is not None:
        unit(home).parent.mkdir(parents=True)
        unit(home).write_text(before)
    with PersonaMemory.open(home / "data") as memory:
        memory.remember("the bins go out on Tuesday", key="bins")
    held = tree(home / "config")
    for _ in range(2):
        assert run(home, "install-service", "--yes").exit_code == 0
    assert f"--data {home / 'data'}" in unit(home).read_text()
    assert asked(home)[-2:] == ["--user daemon-reload", "--user enable --now ovos-persona-memory.service"]
    left = run(home, "uninstall-service", "--yes")
    assert tree(home / "config") == held
    assert asked(home)[-2:] == ["--user disable --now ovos-persona-memory.service", "--user daemon-reload"]
    assert f"The memory stays in {home / 'data'} (" in left.stdout
    assert "pip uninstall ovos-persona-memory" in left.stdout
    with PersonaMemory.open(home / "data") as memory:
        assert memory.get("bins") is not None


def test_a_unit_that_somebody_else_wrote_is_not_taken_away(home: Path) -> None:
    unit(home).parent.mkdir(parents=True)
    unit(home).write_text("[Unit]\nDescription=my own\n")
    refused = run(home, "uninstall-service", "--yes")
    assert (refused.exit_code, asked(home)) == (2, [])
    assert unit(home).exists()


def test_it_starts_with_the_assistant_where_that_has_a_unit(home: Path) -> None:
    alone = json.loads(run(home, "install-service", "--dry-run", "--json").stdout)["text"]
    unit(home).parent.mkdir(parents=True)
    (unit(home).parent / "ovos.service").write_text("[Unit]\nDescription=OVOS\n")
    beside = json.loads(run(home, "install-service", "--dry-run", "--json").stdout)["text"]
    assert "WantedBy=default.target" in alone
    assert "ovos.service" not in alone
    assert "WantedBy=ovos.service" in beside
    assert "PartOf=ovos.service" in beside


def test_the_unit_in_the_repository_is_the_one_that_is_written() -> None:
    written = service_unit.unit_text(["PROGRAM", "run"], with_assistant=True).replace(
        "PROGRAM", "%h/.venvs/ovos/bin/ovos-persona-memory"
    )
    theirs = (ROOT / "systemd" / service_unit.UNIT_NAME).read_text("utf-8")
    assert [line for line in theirs.splitlines() if not line.startswith("#")] == written.splitlines()[1:]


@pytest.mark.skipif(not VERIFIES, reason="there is no systemd-analyze")
@pytest.mark.parametrize("name", ["plain", "with space", "100%", "a$HOME", "semi;colon"])
def test_systemd_reads_a_path_as_it_is(tmp_path: Path, name: str) -> None:
    there = tmp_path / name / "program"
    there.parent.mkdir()
    there.write_text("#!/bin/sh\n")
    there.chmod(0o755)
    for with_assistant in (True, False):
        assert service_unit.verified(service_unit.unit_text([str(there), "run"], with_assistant)) == []
    assert service_unit.verified(service_unit.unit_text([f"{there}-missing", "run"], False)) != []


def test_an_argument_is_read_as_it_is() -> None:
    line = service_unit.unit_text(["/bin/x", "run", "--data", '/srv/my "$HOME" \\ 100%'], False)
    assert r'ExecStart=/bin/x run --data "/srv/my \"$$HOME\" \\ 100%%"' in line


@pytest.mark.skipif(not VERIFIES, reason="there is no systemd-analyze")
def test_a_unit_that_systemd_would_not_start_is_not_written(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_unit, "UNIT", service_unit.UNIT.replace("Type=notify", "Type=nonsense"))
    refused = run(home, "install-service", "--yes")
    assert (refused.exit_code, asked(home), unit(home).exists()) == (2, [], False)
    assert "nonsense" in refused.stderr


def test_a_key_that_has_to_be_typed_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = parse({"encryption": {"key": "prompt"}})
    monkeypatch.setattr("ovos_persona_memory.cli.connection.config.load", lambda: settings)
    refused = run(home, "install-service", "--yes")
    assert (refused.exit_code, "systemd cannot ask" in refused.stderr) == (2, True)


def manager_runs() -> bool:
    """Whether systemd runs for this user."""
    if shutil.which("systemctl") is None:
        return False
    done = subprocess.run(["systemctl", "--user", "is-system-running"], capture_output=True, text=True, check=False)
    return done.stdout.strip() in ("running", "degraded")


@pytest.mark.full
@pytest.mark.skipif(not manager_runs(), reason="systemd does not run for this user: the unit is only verified")
def test_a_real_systemd_starts_and_ends_the_daemon(tmp_path: Path) -> None:
    """With the user's own units: it is left out where one of this name is there."""
    path = Path.home() / ".config" / "systemd" / "user" / service_unit.UNIT_NAME
    if path.exists():
        pytest.skip("this user has the service already")
    try:
        done = run(tmp_path, "install-service", "--yes")
        assert (done.exit_code, "and the daemon runs" in done.stdout) == (0, True), done.output
        assert json.loads(run(tmp_path, "status", "--json").stdout)["daemon"] is True
    finally:
        run(tmp_path, "uninstall-service", "--yes")
    assert not path.exists()
    assert json.loads(run(tmp_path, "status", "--json").stdout)["daemon"] is False
