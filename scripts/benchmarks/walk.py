"""Which files one utterance and one context request enter, inside a real daemon: ``python scripts/benchmarks/walk.py``.

``extraction`` counts as one: what happens inside it is left out. Comprehensions and lambdas are no calls.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "test")]

from support.servers.bus import HOST, Bus, Wire, wait_until  # noqa: E402  (the line above must come first)
from support.servers.ports import free_port  # noqa: E402  (the line above must come first)

from ovos_persona_memory.config import MemoryConfig, RecallConfig  # noqa: E402
from ovos_persona_memory.protocol import topics  # noqa: E402
from ovos_persona_memory.service.daemon import Daemon  # noqa: E402

PACKAGE = str(ROOT / "ovos_persona_memory") + "/"
INSIDE = "extraction/"
Calls = list[tuple[str, str]]
"""File and function of each call, in order."""
SESSION = {"session": {"session_id": "walk", "lang": "en-US"}}
TELLS_NOTHING, TELLS, ASKS = "what time is it", "my brother tom works as a baker in leeds", "what is my cat called"


class CallTrace:
    """The calls of the worker, while recording is on."""

    def __init__(self) -> None:
        self.calls: Calls = []
        self.counts = False
        self._inside = 0

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """The hook for ``sys.setprofile``."""
        path, name = frame.f_code.co_filename, frame.f_code.co_name
        if not self.counts or event not in ("call", "return") or not path.startswith(PACKAGE) or name[0] == "<":
            return
        is_inside = path.startswith(PACKAGE + INSIDE)
        if event == "return":
            self._inside -= is_inside
        elif is_inside:
            self._inside += 1
        elif not self._inside:
            self.calls.append((path.removeprefix(PACKAGE), name))

    def taken(self) -> Calls:
        """The calls since the last time."""
        taken, self.calls = self.calls, []
        return taken


def show(title: str, calls: Calls, every: bool) -> None:
    """Print a line, and with ``every`` the number of calls of each function."""
    print(f"{title}: {len(calls)} calls of {len(set(calls))} functions in {len({path for path, _ in calls})} files")
    for (path, name), times in Counter(calls).items() if every else ():
        print(f"    {times:4} {path}:{name}")


def main() -> None:
    """Start bus and daemon, say and ask everything once, and show the files that the second time enters."""
    every = "--every" in sys.argv
    walk = CallTrace()
    with tempfile.TemporaryDirectory() as folder:
        bus = Bus(Path(folder), free_port())
        config = MemoryConfig(data_dir=f"{folder}/memory", announce=False, recall=RecallConfig(embedder="none"))
        daemon = Daemon(config, host=HOST, port=bus.port, route="/core", ssl=False)
        threading.setprofile(lambda *of: walk(*of) if threading.current_thread().name == "worker" else None)
        daemon.start()
        threading.setprofile(None)
        try:
            wait_until(lambda: daemon.bus.connected and not daemon._languages.busy, "the daemon")
            with Wire(bus.port) as wire:
                wire.ask("record", {"turns": [{"role": "user", "text": "my cat is called Bob"}]}, "walk")
                for text in (TELLS_NOTHING, TELLS, ASKS):
                    for _ in range(2):
                        handled, later = _walked(walk, daemon, wire, text)
                    show(text, handled, every)
                    show("    and in the next quiet moment", later, every)
        finally:
            daemon.stop()
            bus.end()


def _walked(walk: CallTrace, daemon: Daemon, wire: Wire, text: str) -> tuple[Calls, Calls]:
    """The calls until an utterance is acknowledged, or a context request is answered, and the calls after that."""
    walk.taken()
    walk.counts = True
    if text == ASKS:
        wire.ask("context", {"utterance": text}, "walk")
    else:
        wire.send(topics.UTTERANCE[0], {"utterances": [text], "lang": "en-US"}, SESSION)
    time.sleep(1.0)
    walk.counts = False
    taken = walk.taken()
    end = next((at for at, (_, name) in enumerate(taken) if name == "_tell"), len(taken))
    return taken[:end], taken[end:]


if __name__ == "__main__":
    main()
