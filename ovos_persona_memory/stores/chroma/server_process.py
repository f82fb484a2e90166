"""The program that is a Chroma server over a folder: run by ``own_server`` in a process of its own.

Its arguments: the number of a socket, host, port, folder. It sends a byte over the socket once it listens itself, not
somebody else at its port, and ends as soon as the other end of the socket is gone, however its starter ended.
"""

from __future__ import annotations

import os
import select
import socket
import sys
import threading
from pathlib import Path

LOOK_S = 0.02


def listens(host: str, port: int) -> bool:
    """Whether one of the sockets of this process listens there."""
    return any(_is_at(int(number.name), host, port) for number in Path("/dev/fd").iterdir())


def _is_at(number: int, host: str, port: int) -> bool:
    try:
        copy = os.dup(number)
    except OSError:  # it is closed by now
        return False
    try:
        one = socket.socket(fileno=copy)
    except OSError:  # it is no socket
        os.close(copy)
        return False
    with one:
        try:
            return one.getsockname() == (host, port) and bool(one.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
        except OSError:
            return False


def watch(link: socket.socket, host: str, port: int) -> None:
    """Tell that the server listens, and end with the starter."""
    told = False
    while not select.select([link], [], [], None if told else LOOK_S)[0]:
        if listens(host, port):
            link.send(b"1")
            told = True
    os._exit(0)


def main() -> None:
    """Serve until the end."""
    number, host, port, folder = sys.argv[1:]
    link = socket.socket(fileno=int(number))
    threading.Thread(target=watch, args=(link, host, int(port)), daemon=True).start()
    # its Python part, chromadb itself, is not needed
    import chromadb_rust_bindings

    chromadb_rust_bindings.cli(["chroma", "run", "--path", folder, "--host", host, "--port", port])
    sys.stdout.flush()
    os._exit(1)  # it came back, since it could not serve


if __name__ == "__main__":
    main()
