"""How the page is served."""

from __future__ import annotations

import socket
from dataclasses import replace
from pathlib import Path

from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.web.server import PageServer


def test_no_answer_waits_for_what_was_sent_before_it(tmp_path: Path) -> None:
    config = MemoryConfig(data_dir=tmp_path)
    server = PageServer(replace(config, web=replace(config.web, port=0)), lambda *_: None)
    with server._listening() as listening, socket.create_connection(listening.getsockname()[:2]):
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
