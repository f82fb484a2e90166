"""Ports for servers that tests and figures start."""

from __future__ import annotations

import contextlib
import random
import socket

OWN_PORTS = (12_000, 32_000)
"""Linux gives outgoing connections ports from 32,768 on."""

_random = random.Random()  # of its own: a test may have seeded the common one
_given: set[int] = set()


def free_port(beside: int = 0) -> int:
    """A port of 127.0.0.1 that nobody uses, another one each time, and so is the one that is ``beside`` above it.

    It lies below those that the system gives to outgoing connections, so that none of them takes it before the
    server does; and a process keeps one connection to a bus by its address, which must not be that of an older bus.
    """
    first, behind = OWN_PORTS
    while True:
        port = _random.randrange(first, behind - beside)
        both = {port, port + beside}
        if both.isdisjoint(_given) and all(map(_is_free, both)):
            _given.update(both)
            return port


def _is_free(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
        return True
    return False
