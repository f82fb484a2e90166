"""The processes of a benchmark, each on a bus of its own with settings of their own."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from demo.assistant import MEMORY, SKILLS, Address, Bus, Ending, Services, bus_address, wait_for, write_settings

from benchmarks.asking import ECHO_TOPICS
from benchmarks.corpus import ROOT

DAEMON, CORE = "memory daemon", "ovos-core"
PERSONA = "Bench"
BY_WORDS = {"announce": False, "recall": {"embedder": "none"}}
START_TIMEOUT_S = 60.0


class Stack:
    """A messagebus and the services started on it."""

    def __init__(self, folder: Path, settings: Mapping[str, Any] = BY_WORDS) -> None:
        for name in ("logs", "personas", "plugins"):
            (folder / name).mkdir(parents=True)
        self.folder = folder
        self.address: Address = bus_address({}, 0)
        self.services = Services(folder, Ending())
        self.services.environment["PYTHONPATH"] = f"{ROOT / 'scripts'}:{ROOT / 'test'}:{ROOT}:{folder / 'plugins'}"
        write_settings(folder, {"lang": "en-US", "persona_memory": dict(settings)}, self.address, PERSONA)
        self.services.start("messagebus", "ovos_messagebus")
        wait_for("messagebus", self.address.answers, self.services)

    @property
    def port(self) -> int:
        """The port of the bus."""
        return self.address.port

    def start_daemon(self, data: Path, module: str = "ovos_persona_memory") -> float:
        """Start our daemon on a data folder; seconds until it reported that it is ready."""
        self.services.start(DAEMON, module, "run", "--data", str(data))
        return self._wait_for(DAEMON, lambda bus: bus.readiness([MEMORY], 0.02).get(MEMORY, False))

    def start_echo(self, kind: str) -> float:
        """Start a bare responder; seconds until it answered."""
        topic = ECHO_TOPICS[kind]
        self.services.start(f"{kind} echo", "benchmarks.echo", str(self.port), kind)
        return self._wait_for(f"{kind} echo", lambda bus: bool(bus.ask({topic: f"{topic}.response"}, 0.02)))

    def start_core(self) -> None:
        """Start ovos-core with a persona that uses the plugins of the benchmarks."""
        persona = {"name": PERSONA, "handlers": ["bench-chat"], "memory_module": "bench-memory"}
        (self.folder / "personas" / f"{PERSONA}.json").write_text(json.dumps(persona), encoding="utf-8")
        install_plugins(self.folder / "plugins")
        self.services.start(CORE, "ovos_core", "--disable-installer", "--disable-file-watcher")
        self._wait_for(CORE, lambda bus: bus.is_ready(SKILLS) and PERSONA in bus.personas())

    def _wait_for(self, name: str, condition: Callable[[Bus], bool]) -> float:
        """Seconds until the condition held, to some 25 ms."""
        began = time.perf_counter()
        bus = Bus(self.address, self.services.ending)
        try:
            while not condition(bus):
                self.services.check()
                if time.perf_counter() - began > START_TIMEOUT_S:
                    raise RuntimeError(f"{name} was not ready in time. {self.services.tail(name)}")
        finally:
            # a connection that nobody reads from makes the bus keep every message for it
            bus.close()
        return time.perf_counter() - began

    def pid(self, name: str) -> int:
        """The process of a service."""
        return self.services.running[name].pid

    def end(self, name: str) -> None:
        """End one service."""
        process = self.services.running.pop(name)
        process.terminate()
        process.wait(10)


@contextmanager
def stack(settings: Mapping[str, Any] = BY_WORDS) -> Iterator[Stack]:
    """A messagebus on a free port, ended with everything else that was started on it; ``settings`` are the daemon's."""
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        made: Stack | None = None
        try:
            made = Stack(Path(scratch) / "services", settings)
            yield made
        finally:
            if made is not None:
                made.services.end()


def install_plugins(folder: Path) -> None:
    """Make the benchmarks' plugins known to entry points, without installing anything."""
    info = folder / "bench_plugins-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bench-plugins\nVersion: 0\n", encoding="utf-8")
    groups: dict[str, Any] = {
        "opm.agents.memory": "bench-memory = benchmarks.plugins:BenchMemory",
        "opm.agents.chat": "bench-chat = benchmarks.plugins:BenchChat",
    }
    text = "\n".join(f"[{group}]\n{entry}\n" for group, entry in groups.items())
    (info / "entry_points.txt").write_text(text, encoding="utf-8")
