"""The doctor's single checks, on real folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ovos_persona_memory import config
from ovos_persona_memory.cli import doctor
from ovos_persona_memory.cli.program import program
from ovos_persona_memory.memory import PersonaMemory

REMEMBERS = {"memory_module": doctor.PLUGIN, "handlers": [doctor.OPENAI]}


def states(persona: dict[str, Any]) -> list[str]:
    return [one.state for one in doctor.check_persona("P", persona, Path("p.json"))]


def test_a_persona_that_remembers_is_well() -> None:
    assert states(REMEMBERS | {doctor.OPENAI: {"allow_system_prompts": True}}) == ["ok"]
    assert states({"memory_module": doctor.PLUGIN, "handlers": ["other"]}) == ["ok"]


@pytest.mark.parametrize("module", [None, doctor.PLUGIN])
@pytest.mark.parametrize(("allowed", "state"), [(True, "ok"), (False, "problem")])
def test_a_persona_whose_engine_remembers_is_well_where_the_engine_takes_system_messages(
    module: str | None, allowed: bool, state: str
) -> None:
    brain = {"brain": doctor.OPENAI, doctor.OPENAI: {"allow_system_prompts": allowed}}
    persona = {"memory_module": module, "handlers": [doctor.WRAPPER], doctor.WRAPPER: brain}
    assert set(states(persona)) == {state}


@pytest.mark.parametrize("module", [None, "ovos-agents-short-term-memory-plugin"])
def test_a_persona_with_another_memory_is_told_how_to_set_ours(module: str | None) -> None:
    (found,) = doctor.check_persona("P", {"memory_module": module, "system_prompt": "x"}, Path("p.json"))
    assert found.state == "warning"
    assert f'"memory_module": "{doctor.PLUGIN}"' in found.mend


@pytest.mark.parametrize("order", ["handlers", "solvers"])
def test_a_chat_engine_that_drops_system_messages_is_a_problem(order: str) -> None:
    persona = {"memory_module": doctor.PLUGIN, order: [doctor.OPENAI], doctor.OPENAI: {"allow_system_prompts": False}}
    (found,) = doctor.check_persona("P", persona, Path("p.json"))
    assert (found.state, '"allow_system_prompts": true' in found.mend) == ("problem", True)


@pytest.mark.parametrize("mode", ["user", "tool", "developer"])
def test_where_what_is_remembered_is_in_no_system_message_nothing_has_to_be_allowed(mode: str) -> None:
    assert states(REMEMBERS | {doctor.PLUGIN: {"inject_mode": mode}}) == ["ok"]


@pytest.mark.parametrize("mode", [None, "system", "system_prompt"])
def test_where_it_is_in_the_system_message_another_mode_is_a_way_out(mode: str | None) -> None:
    (found,) = doctor.check_persona("P", REMEMBERS | {doctor.PLUGIN: {"inject_mode": mode}}, Path("p.json"))
    assert (found.state, '"inject_mode": "user"' in found.mend) == ("problem", True)


def test_in_another_mode_a_system_prompt_is_dropped_all_the_same() -> None:
    block = {"inject_mode": "user", "system_prompt": "be kind"}
    (found,) = doctor.check_persona("P", REMEMBERS | {doctor.PLUGIN: block}, Path("p.json"))
    assert (found.state, "drops the system_prompt" in found.found) == ("warning", True)
    assert states(REMEMBERS | {doctor.PLUGIN: block, doctor.OPENAI: {"allow_system_prompts": True}}) == ["ok"]


def test_an_unknown_mode_is_a_problem() -> None:
    (found,) = doctor.check_persona("P", {"memory_module": doctor.PLUGIN, doctor.PLUGIN: {"inject_mode": "x"}}, Path())
    assert (found.state, "'x'" in found.found) == ("problem", True)


def test_the_brain_of_an_agent_loop_is_looked_at_too() -> None:
    loop = {"brain": doctor.OPENAI, doctor.OPENAI: {"allow_system_prompts": False}}
    persona = {"memory_module": doctor.PLUGIN, "handlers": ["loop"], "loop": loop}
    assert states(persona) == ["problem"]
    assert states(persona | {"loop": loop | {doctor.OPENAI: {"allow_system_prompts": True}}}) == ["ok"]


HIGH, LOW = f"{doctor.STAGE}-high", f"{doctor.STAGE}-low"
SCRIBE = {"default_persona": "Scribe", "handle_fallback": True}


@pytest.mark.parametrize(
    ("stages", "section", "wanted", "state", "mend"),
    [
        (["ovos-stop-pipeline-plugin-high"], SCRIBE, True, "problem", HIGH),
        (["ovos-stop-pipeline-plugin-high"], {}, False, "warning", LOW),
        ([HIGH, LOW], SCRIBE, True, "ok", ""),
        ([HIGH], {}, True, "ok", ""),
        ([HIGH], SCRIBE, True, "warning", LOW),
        ([HIGH, LOW], {"default_persona": "Scribe"}, True, "warning", "handle_fallback"),
    ],
)
def test_whether_utterances_reach_a_persona(
    stages: list[str], section: dict[str, Any], wanted: bool, state: str, mend: str
) -> None:
    found = doctor.check_pipeline(stages, section, wanted)
    assert (found.state, mend in found.mend, bool(found.mend)) == (state, True, bool(mend))


def test_the_pipeline_of_the_settings_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for stages, state in ([HIGH], "ok"), (["ovos-stop-pipeline-plugin-high"], "warning"), (None, "warning"):
        monkeypatch.setattr(config, "Configuration", lambda stages=stages: {"intents": {"pipeline": stages}})
        assert [one.state for one in doctor.check_personas(current=True) if one.check == "pipeline"] == [state]


def test_a_system_prompt_that_the_plugin_never_sees_is_a_warning() -> None:
    persona = {"memory_module": doctor.PLUGIN, "handlers": [], "system_prompt": "be kind"}
    assert states(persona) == ["warning"]
    assert states(persona | {doctor.PLUGIN: {"system_prompt": "be kind"}}) == ["ok"]


def test_a_persona_file_that_is_no_persona_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    folder = tmp_path / "ovos_persona"
    folder.mkdir()
    (folder / "broken.json").write_text("{")
    (folder / "list.json").write_text("[]")
    (folder / "well.json").write_text(json.dumps({"name": "Well", **REMEMBERS, "handlers": []}))
    section = {"intents": {"pipeline": ["ovos-stop-pipeline-plugin-high"]}}
    monkeypatch.setattr(config, "Configuration", lambda: section)
    found = {one.check: one.state for one in doctor.check_personas(current=True)}
    assert found.pop("pipeline") == "problem", "a persona was set up, and no utterance reaches it"
    assert found == {"persona broken": "problem", "persona list": "problem", "persona Well": "ok"}


def test_a_link_to_a_persona_that_is_missing_is_said_to_be_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "Configuration", lambda: {"intents": {"persona": {"personas_path": str(tmp_path)}}})
    (tmp_path / "gone.json").symlink_to(tmp_path / "elsewhere.json")
    found = next(one for one in doctor.check_personas(True) if one.check == "persona gone")
    assert (found.state, f"{tmp_path / 'elsewhere.json'}: missing" in found.found) == ("problem", True)


def test_a_folder_or_database_that_others_may_read_is_a_problem(tmp_path: Path) -> None:
    PersonaMemory.open(tmp_path / "data").close()
    folder, database = tmp_path / "data", tmp_path / "data" / "memory.db"
    assert doctor.check_folder(folder).state == "ok" == doctor.check_database(database, in_use=False).state
    folder.chmod(0o755)
    database.chmod(0o644)
    assert "chmod 700" in doctor.check_folder(folder).mend
    assert "chmod 600" in doctor.check_database(database, in_use=False).mend


def test_a_missing_folder_is_made_by_the_daemon_and_not_by_the_doctor(tmp_path: Path) -> None:
    assert doctor.check_folder(tmp_path / "data").state == "warning"
    assert doctor.check_database(tmp_path / "data" / "memory.db", in_use=False).state == "ok"
    assert not (tmp_path / "data").exists()


def test_a_damaged_database_is_found_before_and_after_it_is_set_aside(tmp_path: Path) -> None:
    PersonaMemory.open(tmp_path).close()
    database = tmp_path / "memory.db"
    database.write_bytes(b"no database" * 1000)
    assert doctor.check_set_aside(tmp_path).state == "ok"
    assert doctor.check_database(database, in_use=False).state == "problem"
    PersonaMemory.open(tmp_path).close()
    assert doctor.check_database(database, in_use=False).state == "ok"
    assert doctor.check_set_aside(tmp_path).state == "warning"


def test_sqlite_and_the_disk_are_fit_for_use(tmp_path: Path) -> None:
    assert "FTS5" in doctor.check_sqlite().found
    assert "MB free" in doctor.check_disk(tmp_path / "not" / "there").found


def test_on_the_stable_line_scribe_is_said_not_to_be_offered() -> None:
    assert "Scribe" in doctor.check_line(current=False).found
    assert doctor.check_line(current=True).state == "ok"


def test_where_nothing_runs_the_doctor_ends_with_1_and_says_how_to_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "BUS_WITHIN_S", 0.1)
    result = CliRunner().invoke(program, ["doctor", "--data", str(tmp_path), "--port", "1", "--json"])
    found = {one["check"]: one for one in json.loads(result.stdout)}
    assert result.exit_code == 1
    assert found["messagebus"]["state"] == "problem" == found["daemon at the owner's door"]["state"]
    assert "ovos-persona-memory run" in found["daemon at the owner's door"]["mend"]
