"""The daemon as a process, from its start to a signal that ends it."""

from __future__ import annotations

import gc
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any

from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.service.daemon import Daemon

ENDING = (signal.SIGTERM, signal.SIGINT)
SWITCH_S = 0.0002  # switch interval of busy threads, seconds


def run(config: MemoryConfig, ready: Callable[[], None] = lambda: None, **address: Any) -> None:
    """Run until SIGTERM or SIGINT; ``ready`` is called once, when store and bus are reached."""
    reader, writer = socket.socketpair()
    with reader, writer:
        writer.setblocking(False)
        # A signal may reach another thread, and python's handler then waits for the main one to move:
        # the byte that arrives here moves it. First of all: a signal that came between would be lost.
        signal.set_wakeup_fd(writer.fileno())
        for number in ENDING:
            signal.signal(number, lambda *_: None)
        # the worker releases the GIL at each statement, and would wait python's own 5 ms for it each time
        sys.setswitchinterval(SWITCH_S)
        daemon = Daemon(config, ready, **address)
        daemon.start()
        # objects made at the start live as long as the process: the collector would scan them for 30 ms at a time
        gc.collect()
        gc.freeze()
        gc.enable()
        reader.recv(1)
        signal.set_wakeup_fd(-1)
        for number in ENDING:
            # at the very end python puts its own handlers back: a second signal would kill what is ending well
            signal.signal(number, signal.SIG_IGN)
        daemon.stop()
