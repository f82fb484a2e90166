"""Which addresses are this device's own."""

from __future__ import annotations

import pytest

from ovos_persona_memory.web.network import is_loopback, url_of


@pytest.mark.parametrize(
    ("host", "own"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("192.168.1.5", False),
        ("::", False),
        ("kitchen.local", False),
        ("", False),
    ],
)
def test_only_this_devices_own_addresses_are_loopback(host: str, own: bool) -> None:
    assert is_loopback(host) is own


def test_a_page_on_every_address_is_opened_at_this_device() -> None:
    assert url_of("0.0.0.0", 8188) == url_of("127.0.0.1", 8188) == "http://127.0.0.1:8188"
    assert url_of("::1", 8188) == url_of("::", 8188) == "http://[::1]:8188"
