"""The skill beside the stable ovos-core: it is found, and its intent engine understands what people say most."""

from __future__ import annotations

from pathlib import Path

import pytest
from ovos_plugin_manager.skills import find_skill_plugins
from padacioso import IntentContainer

from ovos_persona_memory.language import locale_folder
from ovos_persona_memory.skill.wordings import engines_are_slow, write_few

SKILL = "ovos-skill-persona-memory.openvoiceos"


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> IntentContainer:
    """The engine of the stable line with the intents as the skill gives them to it."""
    folder: Path = tmp_path_factory.mktemp("locale")
    write_few(locale_folder(), folder)
    container = IntentContainer(fuzz=False)
    for path in sorted((folder / "en-US").glob("*.intent")):
        container.add_intent(path.stem, path.read_text("utf-8").splitlines())
    return container


def test_the_plugin_manager_finds_the_skill() -> None:
    assert find_skill_plugins()[SKILL].__name__ == "PersonaMemorySkill"


def test_few_wordings_are_given_to_its_engine() -> None:
    assert engines_are_slow()


@pytest.mark.parametrize(
    ("utterance", "intent", "slots"),
    [
        ("remember that my gnu is called Berta", "remember", {"text": "my gnu is called Berta"}),
        ("what do you know about me", "about_me", {}),
        ("forget that", "forget_that", {}),
        ("forget everything about my gnu", "forget_about", {"topic": "my gnu"}),
        ("what time is it", None, {}),
    ],
)
def test_what_people_say_most_is_understood(
    engine: IntentContainer, utterance: str, intent: str | None, slots: dict[str, str]
) -> None:
    found = engine.calc_intent(utterance)
    assert (found["name"], found["entities"]) == (intent, slots)
