"""A whole assistant for a test: messagebus, daemon, ovos-core and a persona, talked with in text."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from servers import wait_until

from ovos_persona_memory.cli.conversation import Conversation, Spoken
from ovos_persona_memory.client import MemoryClient

ROOT = Path(__file__).resolve().parents[2]


class Assistant:
    """Runs while its ``with`` block does; ``kill`` ends every one of its processes with SIGKILL."""

    def __init__(self, data: Path, home: Path, port: int, *arguments: str) -> None:
        self.data, self.port = data, port
        command = [sys.executable, str(ROOT / "scripts" / "assistant.py"), "--data", str(data), "--no-chat"]
        home.mkdir(parents=True, exist_ok=True)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
        self._told = home / f"assistant-{port}.log"
        with self._told.open("wb") as told:
            self._process = subprocess.Popen(
                [*command, "--port", str(port), *arguments],
                stderr=told,
                stdin=subprocess.DEVNULL,
                env=environment | {"HOME": str(home)},
            )
        wait_until(self._is_ready, "the start of the assistant", timeout_s=90)

    def __enter__(self) -> Assistant:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def talk(self, session_id: str, *utterances: str, lang: str = "en-US") -> list[list[str]]:
        """What is spoken for each utterance, said one after the other in this session."""
        spoken: list[Spoken] = []
        conversation = Conversation(session_id, lang, spoken.append, host="127.0.0.1", port=self.port)
        replies = []
        try:
            assert conversation.start(10.0)
            for utterance in utterances:
                before = len(spoken)
                conversation.say(utterance)
                assert conversation.wait(30.0), f"no end of {utterance!r}"
                replies.append([one.text for one in spoken[before:] if one.ours])
        finally:
            conversation.close()
        return replies

    def owner(self) -> MemoryClient:
        """A client at the owner's door."""
        return MemoryClient.over_door(self.data)

    @contextlib.contextmanager
    def without_daemon(self) -> Iterator[None]:
        """While the block lasts the daemon is stopped in its tracks, and answers nobody."""
        (daemon,) = [
            pid for pid in self._services() if b"ovos_persona_memory\0run" in Path(f"/proc/{pid}/cmdline").read_bytes()
        ]
        os.kill(daemon, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(daemon, signal.SIGCONT)

    def end(self) -> None:
        """End it in order."""
        if self._process.poll() is None:
            self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(20)
        self.kill()

    def kill(self) -> None:
        """kill -9 of everything at once."""
        victims = [self._process.pid, *self._services()]
        for pid in victims:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait(10)
        wait_until(lambda: not self._services(), "the end of every process")

    def _services(self) -> list[int]:
        """The processes that live with the data folder's own settings."""
        mark = f"XDG_CONFIG_HOME={self.data / 'assistant' / 'config'}".encode()
        found = []
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                with contextlib.suppress(OSError):
                    if mark in (folder / "environ").read_bytes().split(b"\0"):
                        found.append(int(folder.name))
        return found

    def _is_ready(self) -> bool:
        told = self._told.read_text(encoding="utf-8")
        assert self._process.poll() is None, f"the assistant did not start:\n{told}"
        return "\nReady on " in "\n" + told
