"""The launcher behind scripts/run: one signal ends it and all that it started, at whatever moment it comes."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.assistants import ROOT, STOP_S, services, without_settings
from support.servers.ports import free_port

from ovos_persona_memory.cli.conversation import Conversation

from .conftest import is_open, own_environment, wait_until

LAUNCHER = str(ROOT / "scripts" / "demo" / "assistant.py")
ENDS_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
SIGNALLED_ITSELF = """
import os, runpy, signal, sys

def signal_once():
    if not sent:
        sent.append(os.kill(os.getpid(), signal.SIGTERM))

sent = []
{when}
sys.argv = sys.argv[1:]
runpy.run_path({launcher!r}, run_name="__main__")
"""
"""The launcher, with a signal that arrives where an exception is lost."""
NOHUP = "signal.signal(signal.SIGHUP, signal.SIG_IGN)"
LOSING = {
    "a hook that runs after a fork": "os.register_at_fork(after_in_parent=signal_once)",
    "an except clause of somebody else's": """
class Finder:
    def find_spec(self, name, *_):
        try:
            if name == "ovos_config.config": signal_once()
        except BaseException: pass

sys.meta_path.insert(0, Finder())
""",
}

SIGNALLED_WHILE_PREPARING = """
import os, signal, sys

def signal_at_once(frame, event, _):
    if (event, frame.f_code) == ("return", signal.signal.__code__):
        if signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
            sys.setprofile(None)
            os.kill(os.getpid(), signal.SIGTERM)

from ovos_persona_memory.cli import main
sys.setprofile(signal_at_once)
main()
"""
"""The command line, with a signal that arrives as soon as it does not simply end the process."""


class Launcher:
    """The launcher of an assistant without a chat, from its first moment on."""

    def __init__(self, folder: Path, *python: str) -> None:
        self.data, self.port = folder / "data", free_port()
        self._told = folder / "told.log"
        with self._told.open("wb") as told:
            self.process = subprocess.Popen(
                [sys.executable, *python, "--no-chat", "--data", str(self.data), "--port", str(self.port)],
                stdin=subprocess.DEVNULL,
                stdout=told,
                stderr=told,
                env=without_settings(others=False) | {"HOME": str(folder)},
            )

    def told(self) -> str:
        """What it wrote so far."""
        return self._told.read_text(encoding="utf-8")

    def status(self) -> int:
        """Its status at its end; TimeoutExpired where it goes on."""
        return self.process.wait(STOP_S)

    def listens_to_signals(self) -> bool:
        """Whether it has its own way with SIGTERM already."""
        return self._is_in("SigCgt:", signal.SIGTERM)

    def ignores(self, number: signal.Signals) -> bool:
        """Whether a signal does nothing to it."""
        return self._is_in("SigIgn:", number)

    def _is_in(self, mask: str, number: signal.Signals) -> bool:
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        (numbers,) = (line.split()[1] for line in status.splitlines() if line.startswith(mask))
        return bool(int(numbers, 16) >> (number - 1) & 1)

    def runs(self, module: str) -> bool:
        """Whether it has started this service."""
        for pid in services(self.data):
            with contextlib.suppress(OSError):
                if module in Path(f"/proc/{pid}/cmdline").read_text().split("\0"):
                    return True
        return False

    def sockets(self) -> list[str]:
        """Its open connections."""
        opened = (str(one.readlink()) for one in Path(f"/proc/{self.process.pid}/fd").iterdir())
        return [name for name in opened if name.startswith("socket:")]

    def is_ready(self) -> bool:
        """Whether it has said so."""
        return "\nReady on " in "\n" + self.told()

    def is_asked(self) -> bool:
        """Whether it is ready and has heard something that it is busy with."""
        if not self.is_ready():
            return False
        conversation = Conversation("s1", "en-US", lambda _: None, host="127.0.0.1", port=self.port)
        try:
            assert conversation.start(10)
            conversation.say("what do you know about me")
        finally:
            conversation.close()
        return True


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Callable[..., Launcher]]:
    """Starts a launcher; what is left of it at the end of the test is killed."""
    started: list[Launcher] = []

    def start(*python: str) -> Launcher:
        started.append(Launcher(tmp_path, *python))
        return started[-1]

    yield start
    for one in started:
        for pid in (one.process.pid, *services(one.data)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        one.process.wait(10)


MOMENTS: dict[str, Callable[[Launcher], bool]] = {
    "when it begins": Launcher.listens_to_signals,
    "when it starts the messagebus": lambda one: one.runs("ovos_messagebus"),
    "when the messagebus answers": lambda one: is_open(("127.0.0.1", one.port)),
    "when it starts the daemon": lambda one: one.runs("ovos_persona_memory"),
    "when it starts ovos-core": lambda one: one.runs("ovos_core"),
    "when it is ready": Launcher.is_ready,
    "when it is busy": Launcher.is_asked,
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_one_signal_ends_it_and_all_that_it_started(launch: Callable[..., Launcher], moment: str) -> None:
    one = launch(LAUNCHER)
    wait_until(lambda: MOMENTS[moment](one), moment, timeout_s=240)
    one.process.send_signal(signal.SIGTERM)
    assert (one.status(), services(one.data)) == (0, []), one.told()


@pytest.mark.parametrize("number", ENDS_ON, ids=lambda number: number.name)
def test_each_signal_that_asks_it_to_end_does(launch: Callable[..., Launcher], number: signal.Signals) -> None:
    one = launch(LAUNCHER)
    wait_until(lambda: one.runs("ovos_messagebus"), "the start of the messagebus")
    one.process.send_signal(number)
    assert (one.status(), services(one.data)) == (0, []), one.told()


def test_what_its_parent_has_it_ignore_as_nohup_does_stays_ignored(launch: Callable[..., Launcher]) -> None:
    one = launch("-c", SIGNALLED_ITSELF.format(when=NOHUP, launcher=LAUNCHER), LAUNCHER)
    wait_until(lambda: one.runs("ovos_messagebus"), "the start of the messagebus")
    assert one.ignores(signal.SIGHUP)


@pytest.mark.parametrize("when", LOSING)
def test_a_signal_counts_where_an_exception_would_be_lost(launch: Callable[..., Launcher], when: str) -> None:
    one = launch("-c", SIGNALLED_ITSELF.format(when=LOSING[when], launcher=LAUNCHER), LAUNCHER)
    assert (one.status(), services(one.data)) == (0, []), one.told()


def test_a_daemon_hears_a_signal_that_comes_while_it_prepares_for_signals(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SIGNALLED_WHILE_PREPARING, "run", "--data", "data", "--port", str(free_port())]
    assert (
        subprocess.run(command, cwd=tmp_path, env=own_environment(tmp_path), timeout=STOP_S, check=False).returncode
        == 0
    )


def test_the_bus_keeps_nothing_for_a_launcher_that_no_longer_reads(launch: Callable[..., Launcher]) -> None:
    one = launch(LAUNCHER)
    wait_until(one.is_ready, "its start", timeout_s=240)
    assert one.sockets() == []
