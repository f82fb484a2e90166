"""A whole assistant for a test: messagebus, daemon, ovos-core and a persona, talked with in text."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from support.servers.bus import wait_until

from ovos_persona_memory.cli.conversation import Conversation, SpokenAnswer
from ovos_persona_memory.protocol import BusConnection, MemoryClient, messages, topics

ROOT = Path(__file__).resolve().parents[2]
OTHERS = Path(sys.prefix) / "skills"
"""Skills of others, as scripts/test installs them."""
STOP_S = 20.0
"""An assistant ends within that, seconds; each of its three services has two seconds before it is killed."""
PATIENT_S = 10.0
"""How long a persona waits for its memory where a test asks what it is told, not how soon: the machine may be busy."""


def skill_settings(data: Path) -> Path:
    """Where the memory skill of an assistant on this data folder has its settings."""
    skills = data / "assistant" / "config" / "mycroft" / "skills"
    return skills / "ovos-skill-persona-memory.openvoiceos" / "settings.json"


def without_settings(others: bool) -> dict[str, str]:
    """The environment of an assistant, without the settings of whoever runs the tests; ``others``: see Assistant."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    if others:
        assert OTHERS.is_dir(), "scripts/test installs skills of others first"
        kept["PYTHONPATH"] = os.pathsep.join(filter(None, [kept.get("PYTHONPATH"), str(OTHERS)]))
    return kept


def services(data: Path) -> list[int]:
    """The processes that live with the settings that a launcher has made in this data folder."""
    mark = f"XDG_CONFIG_HOME={data / 'assistant' / 'config'}".encode()
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                if mark in (folder / "environ").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
    return found


SPOKEN_AFTER_S = (0.1, 0.5, 2.0, 5.0, 10.0)
"""So long after it was handed over something has been spoken; told again for who was not listening yet on a busy
machine."""


class Voice:
    """In the place of an audio service: says that what was to be spoken has been spoken.

    Skills of others wait for that, 15 s where nobody says it (ovos-bus-client 2, SessionManager.wait_while_speaking).
    """

    def __init__(self, port: int) -> None:
        self._bus = BusConnection(frozenset(topics.SPEAK).__contains__, self._arrived, host="127.0.0.1", port=port)
        self._bus.start()

    def _arrived(self, frame: bytes) -> None:
        spoken = messages.encode("recognizer_loop:audio_output_end", {}, messages.decode(frame, messages.now()).context)
        for after_s in SPOKEN_AFTER_S:
            timer = threading.Timer(after_s, self._bus.send, (spoken,))
            timer.daemon = True
            timer.start()

    def close(self) -> None:
        """Close the connection."""
        self._bus.close()


class Assistant:
    """Runs while its ``with`` block does; ``kill`` ends every one of its processes with SIGKILL."""

    def __init__(self, data: Path, home: Path, port: int, *arguments: str, others: bool = False, **more: str) -> None:
        """``others``: with an alarm clock, a timer and a calendar, skills of others; else it starts much quicker.
        ``more`` is added to the environment of its processes."""
        self.data, self.port = data, port
        command = [sys.executable, str(ROOT / "scripts" / "demo" / "assistant.py"), "--data", str(data), "--no-chat"]
        home.mkdir(parents=True, exist_ok=True)
        environment = without_settings(others)
        self._told = home / f"assistant-{port}.log"
        with self._told.open("wb") as told:
            self._process = subprocess.Popen(
                [*command, "--port", str(port), *arguments],
                stderr=told,
                stdin=subprocess.DEVNULL,
                env=environment | {"HOME": str(home)} | more,
            )
        wait_until(self._is_ready, "the start of the assistant", timeout_s=240)
        self._voice = Voice(port) if others else None

    def __enter__(self) -> Assistant:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def talk(self, session_id: str, *utterances: str, lang: str = "en-US", **session: str) -> list[list[str]]:
        """What is spoken for each utterance, said one after the other in this session; more of it in ``session``."""
        with self.talking(session_id, lang, **session) as say:
            return [say(utterance) for utterance in utterances]

    @contextlib.contextmanager
    def talking(self, session_id: str, lang: str = "en-US", **session: str) -> Iterator[Callable[[str], list[str]]]:
        """Says an utterance in this session and gives what is spoken for it, while the block lasts."""
        spoken: list[SpokenAnswer] = []
        conversation = Conversation(session_id, lang, spoken.append, host="127.0.0.1", port=self.port, **session)

        def say(utterance: str) -> list[str]:
            before = len(spoken)
            conversation.say(utterance)
            assert conversation.wait(60.0), f"no end of {utterance!r}"
            return [one.text for one in spoken[before:] if one.ours]

        try:
            assert conversation.start(10.0)
            yield say
        finally:
            conversation.close()

    def owner(self) -> MemoryClient:
        """A client at the owner's door."""
        return MemoryClient.over_door(self.data)

    @contextlib.contextmanager
    def without_daemon(self) -> Iterator[None]:
        """While the block lasts the daemon is stopped in its tracks, and answers nobody."""
        daemon = self._daemon()
        os.kill(daemon, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(daemon, signal.SIGCONT)

    @contextlib.contextmanager
    def without_room(self) -> Iterator[None]:
        """While the block lasts no file of the daemon's may grow: what it wants to commit fails."""
        daemon = self._daemon()
        _, most = resource.prlimit(daemon, resource.RLIMIT_FSIZE)
        resource.prlimit(daemon, resource.RLIMIT_FSIZE, (0, most))
        try:
            yield
        finally:
            resource.prlimit(daemon, resource.RLIMIT_FSIZE, (most, most))

    def _daemon(self) -> int:
        commands = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in services(self.data)}
        (daemon,) = [pid for pid, command in commands.items() if b"ovos_persona_memory\0run" in command]
        return daemon

    def end(self) -> None:
        """End it in order, with one signal; TimeoutExpired where that is not enough."""
        if self._voice is not None:
            self._voice.close()
        try:
            if self._process.poll() is None:
                self._process.terminate()
            self._process.wait(STOP_S)
        finally:
            self.kill()

    def kill(self) -> None:
        """kill -9 of everything at once."""
        victims = [self._process.pid, *services(self.data)]
        for pid in victims:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait(10)
        wait_until(lambda: not services(self.data), "the end of every process")

    def _is_ready(self) -> bool:
        told = self._told.read_text(encoding="utf-8")
        assert self._process.poll() is None, f"the assistant did not start:\n{told}"
        return "\nReady on " in "\n" + told
