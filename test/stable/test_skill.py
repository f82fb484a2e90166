"""The skill in the stable ovos-core, with its own pipeline: what people say most to their memory is done."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from ovos_plugin_manager.skills import find_skill_plugins
from support.servers.bus import HOST, Bus, Core, Daemon, Wire, wait_until

from ovos_persona_memory.cli.conversation import Conversation, SpokenAnswer

SKILL = "ovos-skill-persona-memory.openvoiceos"


@pytest.fixture(scope="module")
def core(bus: Bus, daemon: Daemon, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Core]:
    """An ovos-core that has loaded the skill."""
    running = Core(tmp_path_factory.mktemp("core"), bus.port)
    try:
        wait_until(lambda: running.check() or _answers(running), "the loading of the skill")
        yield running
    finally:
        running.end()


@pytest.fixture(autouse=True)
def nothing_is_left(daemon: Daemon) -> Iterator[None]:
    """Each test begins with an empty memory."""
    with daemon.door() as owner:
        owner.forget(everything=True)
    yield


def _answers(core: Core) -> bool:
    """Whether anything is said to a first question; nobody answers until core has loaded the skill."""
    with Wire(core.port) as wire:
        context = {"session": {"session_id": "early", "lang": "en-US"}}
        wire.send("recognizer_loop:utterance", {"utterances": ["what do you know about me"]}, context)
        while (message := wire.receive(0.5)) is not None:
            if message.get("type") == "speak":
                return True
    return False


def talk(core: Core, session_id: str, *utterances: str) -> list[str]:
    """What is said to each utterance in this session, its sentences with a blank between them."""
    spoken: list[SpokenAnswer] = []
    conversation = Conversation(session_id, "en-US", spoken.append, host=HOST, port=core.port)
    replies = []
    try:
        assert conversation.start(10.0)
        for utterance in utterances:
            before = len(spoken)
            conversation.say(utterance)
            assert conversation.wait(30.0), f"no end of {utterance!r}"
            replies.append(" ".join(one.text for one in spoken[before:] if one.ours))
    finally:
        conversation.close()
    return replies


def test_the_plugin_manager_finds_the_skill() -> None:
    assert find_skill_plugins()[SKILL].__name__ == "PersonaMemorySkill"


def test_what_is_told_is_kept_read_and_forgotten(core: Core, daemon: Daemon) -> None:
    replies = talk(
        core,
        "stable",
        "remember that my gnu is called Berta",
        "what do you know about me",
        "forget everything about my gnu",
        "yes",
        "what do you know about me",
    )
    assert replies == [
        "I'll remember: my gnu is called Berta.",
        "You told me today: my gnu is called Berta.",
        "I'll forget this: my gnu is called Berta. Say yes to delete it, no to keep it.",
        "I have forgotten everything about your gnu.",
        "You have not asked me to remember anything yet.",
    ]
    with daemon.door() as owner:
        assert owner.list() == []
    left = b"".join(path.read_bytes() for path in daemon.data.iterdir() if path.is_file())
    assert b"Berta" not in left


def test_a_no_keeps_it(core: Core, daemon: Daemon) -> None:
    replies = talk(core, "stable-no", "remember that my gnu is called Berta", "forget that", "no")
    assert replies[1:] == [
        "I'll forget this: my gnu is called Berta. Say yes to delete it, no to keep it.",
        "All right, I have kept everything.",
    ]
    with daemon.door() as owner:
        assert [entry.text for entry in owner.list()] == ["my gnu is called Berta"]


def test_what_is_for_others_is_left_to_them(core: Core) -> None:
    assert talk(core, "stable-others", "what is the capital of mongolia") == [""]
