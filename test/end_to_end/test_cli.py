"""The command line as people run it: processes on a real messagebus."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ovos_bus_client import Message, MessageBusClient

from .conftest import Address, Daemon, free_port, own_environment, wait_until

Handler = Callable[[Message], None]


class Assistant:
    """Answers utterances on the bus as ovos-core does: ids, speech under both names, an end to each."""

    def __init__(self, address: Address) -> None:
        host, port = address
        self.bus = MessageBusClient(host=host, port=port)
        self.heard: list[Message] = []
        self.asking: Message | None = None
        self.bus.on("recognizer_loop:utterance", self._answer)
        self.bus.run_in_thread()
        assert self.bus.connected_event.wait(10)

    def _answer(self, message: Message) -> None:
        self.heard.append(message)
        said = message.data["utterances"][0]
        message.context["utterance_id"] = f"u{len(self.heard)}"
        if said == "speak thrice":
            self._speak(message, "one")
            self._speak(message, "two\nlines")
            self._speak(message, "three")
        elif said == "ask me":
            message.context["session"]["response_mode"] = {"skill_id": "asker", "expires_at": 9e9}
            self._speak(message, "which city?", expect_response=True)
            self.asking = message
            return  # its handler waits for the reply
        elif said == "be late":
            self.bus.emit(message.forward("ovos.utterance.handled"))
            self._speak(message, "late")
            return
        elif said != "be silent":
            if said == "announce":
                self.bus.emit(Message("speak", {"utterance": "dinner"}, {"session": {"session_id": "kitchen"}}))
                scheduled = message.forward("speak", {"utterance": "timer over"})
                scheduled.context["scheduler"] = {"event": "timer"}
                self.bus.emit(scheduled)
            self._speak(message, f"you said {said}")
        self.bus.emit(message.forward("ovos.utterance.handled"))
        if self.asking is not None:
            self._speak(self.asking, f"so, {said}")
            self.bus.emit(self.asking.forward("ovos.utterance.handled"))
            self.asking = None

    def _speak(self, message: Message, text: str, **more: Any) -> None:
        self.bus.emit(message.reply("ovos.utterance.speak", {"utterance": text, "lang": "en-US", "meta": {}, **more}))


@pytest.fixture(scope="module")
def assistant(bus_address: Address) -> Iterator[Assistant]:
    one = Assistant(bus_address)
    yield one
    one.bus.close()


def run_program(folder: Path, *arguments: str, lines: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ovos_persona_memory", *arguments],
        input=lines,
        capture_output=True,
        text=True,
        cwd=folder,
        env=own_environment(folder),
        timeout=60,
        check=False,
    )


def chat(folder: Path, address: Address, *said: str, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    host, port = address
    lines = "".join(f"{line}\n" for line in said)
    return run_program(folder, "chat", "--host", host, "--port", str(port), *options, lines=lines)


def test_each_reply_is_printed_once_on_a_line_of_its_own(
    assistant: Assistant, bus_address: Address, tmp_path: Path
) -> None:
    done = chat(tmp_path, bus_address, "hello", "", "speak thrice", "be silent", "be late", "grüße")
    assert done.stdout.splitlines() == ["you said hello", "one", "two lines", "three", "late", "you said grüße"]
    assert (done.returncode, done.stderr) == (0, "")


def test_announcements_are_no_replies(assistant: Assistant, bus_address: Address, tmp_path: Path) -> None:
    done = chat(tmp_path, bus_address, "announce")
    assert done.stdout.splitlines() == ["you said announce"]
    assert done.stderr.splitlines() == ["(announcement) dinner", "(announcement) timer over"]


def test_a_question_of_the_assistant_is_answered_by_the_next_line_in_the_session_that_it_left(
    assistant: Assistant, bus_address: Address, tmp_path: Path
) -> None:
    done = chat(tmp_path, bus_address, "ask me", "Lisbon", options=("--session", "mine", "--lang", "de-DE"))
    asked, replied = assistant.heard[-2:]
    assert done.stdout.splitlines() == ["which city?", "you said Lisbon", "so, Lisbon"]
    assert asked.context["session"]["session_id"] == "mine" == replied.context["session"]["session_id"]
    assert replied.context["session"]["response_mode"]["skill_id"] == "asker"
    assert replied.data["lang"] == "de-DE" == replied.context["session"]["lang"]
