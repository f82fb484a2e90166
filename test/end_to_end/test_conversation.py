"""One long conversation in text with the whole assistant, restarted in the middle; its transcript is in the docs."""

from __future__ import annotations

import json
import os
import queue
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from support.assistants import Voice, without_settings
from support.servers.bus import Wire, wait_until
from support.servers.ports import free_port

from .conftest import ROOT

PAGE = ROOT / "docs" / "conversation.md"
QUIET_S = 0.6
"""Nothing more is printed for so long after an utterance was handled."""
FIRST = [
    "remember that the bins go out on Tuesday",
    "that's wrong it's Wednesday",
    "my cat is called Minka",
    "I'm allergic to peanuts",
    "I put the passport in the desk drawer",
    "where did I put my passport",
    "what is my cat called",
    "why do you know that",
    "set a timer for twenty minutes",
    "what do you know about me",
    "go on",
    "how much do you remember",
    "who am I to you",
    "guest mode on for two hours",
    "what do you know about me",
    "remember that my shoe size is forty three",
    "is guest mode on",
    "guest mode off",
]
LATER = [
    "what is my cat called",
    "when do the bins go out",
    "why do you know that",
    "remember that my sister is planning a surprise party",
    "this is private",
    "what did I tell you about the passport",
    "forget that",
    "no",
    "forget everything about my passport",
    "yes",
    "where did I put my passport",
    "what happened today",
    "forget the last five minutes",
    "forget it",
]


class Chat:
    """``scripts/run`` without a terminal: a line in, the lines of the reply out."""

    def __init__(self, home: Path, data: Path) -> None:
        self.port = free_port()
        command = [sys.executable, str(ROOT / "scripts" / "demo" / "assistant.py"), "--data", str(data)]
        environment = without_settings(others=True)
        self._told = home / f"told-{self.port}.log"
        with self._told.open("wb") as told:
            self._process = subprocess.Popen(
                [*command, "--port", str(self.port)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=told,
                env=environment | {"HOME": str(home)},
                text=True,
                bufsize=1,
            )
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True)
        self._reader.start()
        wait_until(lambda: "\nReady on " in "\n" + self._told.read_text(), "the start of the assistant", 240)
        self._wire, self._voice = Wire(self.port), Voice(self.port)

    def _read(self, output: IO[str]) -> None:
        for line in output:
            self._lines.put(line.rstrip("\n"))

    def say(self, utterance: str) -> list[str]:
        """What is printed for an utterance."""
        assert self._process.stdin is not None
        self._process.stdin.write(utterance + "\n")
        while (heard := self._wire.receive(30.0)) is not None:
            if heard.get("type") == "ovos.utterance.handled":
                return list(self._printed())
        raise AssertionError(f"no end of {utterance!r}")

    def _printed(self) -> Iterator[str]:
        while True:
            try:
                yield self._lines.get(timeout=QUIET_S)
            except queue.Empty:
                return

    def end(self) -> int:
        """Close its input; its status."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self._process.wait(30)

    def kill(self) -> None:
        """End it, whatever it does."""
        self._wire.socket.close()
        self._voice.close()
        self._process.terminate()
        self._process.wait(20)
        self._reader.join(5)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()


@contextmanager
def running(home: Path, data: Path) -> Iterator[Chat]:
    chat = Chat(home, data)
    try:
        yield chat
        assert chat.end() == 0
    finally:
        chat.kill()


def transcript(parts: list[list[tuple[str, list[str]]]]) -> str:
    """The talk as the page shows it: what was said behind a mark, what was answered below."""
    blocks = ["\n".join(line for said, replies in part for line in (f"> {said}", *replies)) for part in parts]
    return "\n".join(f"```text\n{block}\n```\n" for block in blocks)


def settled(talk: str) -> str:
    """The talk without what may differ: how many records there are in all, and the alerts skill's choice of words."""
    counted = re.sub(r"(I know|I'll forget) [a-z -]+ (sentences|things)", r"\1 many \2", talk)
    return re.sub(r"(> set a timer for twenty minutes\n)[^>\n]*twenty minutes[^>\n]*\n", r"\1It is set.\n", counted)


def test_a_long_talk_goes_as_the_page_says(tmp_path: Path) -> None:
    home, data = tmp_path / "home", tmp_path / "data"
    settings = home / ".config" / "mycroft" / "mycroft.conf"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"lang": "en-US", "persona_memory": {"announce": False}}))
    parts = []
    for utterances in (FIRST, LATER):
        with running(home, data) as chat:
            parts.append([(said, chat.say(said)) for said in utterances])
    spoken = transcript(parts)
    if os.environ.get("WRITE_CONVERSATION"):
        heading = PAGE.read_text().partition("```text")[0]
        PAGE.write_text(heading + spoken)
    shown = PAGE.read_text()
    assert sum(map(len, parts)) >= 30
    assert settled(shown[shown.index("```text") :]) == settled(spoken)
