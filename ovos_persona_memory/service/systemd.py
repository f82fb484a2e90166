"""Notification of systemd that the daemon is ready."""

from __future__ import annotations

import os
import socket

from ovos_utils.log import LOG


def tell_ready() -> None:
    """Send READY=1 where systemd asks for it (sd_notify(3))."""
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        return
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
            notify.connect("\0" + address[1:] if address.startswith("@") else address)
            notify.sendall(b"READY=1")
    except OSError as error:
        LOG.warning("systemd could not be told: %s", error)
