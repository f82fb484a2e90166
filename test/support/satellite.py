"""A HiveMind satellite without a microphone, run by the Python of HiveMind's own environment.

It says what stands in each line of its standard input, and prints every message that its hub sends it, one a line.
"""

from __future__ import annotations

import argparse
import json
import sys

from hivemind_bus_client.client import HiveMessageBusClient
from hivemind_bus_client.fakebus import FakeBus
from hivemind_bus_client.message import HiveMessage, HiveMessageType
from ovos_bus_client.message import Message
from ovos_bus_client.session import Session


def _tell(**message: object) -> None:
    print(json.dumps(message), flush=True)


def _came(message: HiveMessage) -> None:
    heard = message.payload
    _tell(type=heard.msg_type, data=heard.data, session=heard.context.get("session"))


def main() -> None:
    parser = argparse.ArgumentParser()
    for name in ("key", "password", "site", "session"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--claims", default="{}", help="fields of the session that each utterance carries")
    told = parser.parse_args()
    client = HiveMessageBusClient(
        key=told.key,
        password=told.password,
        host="ws://127.0.0.1",
        port=told.port,
        useragent="test-satellite",
        internal_bus=FakeBus(session=Session(session_id=told.session)),
    )
    client.on(HiveMessageType.BUS, _came)
    client.connect(FakeBus(), site_id=told.site, handshake_max_retries=3)
    _tell(type="connected")
    for line in sys.stdin:
        claims = json.loads(told.claims)
        context = {"session": {"session_id": told.session, "site_id": told.site, **claims}} if claims else {}
        data = {"utterances": [line.rstrip("\n")], "lang": "en-US"}
        client.emit_mycroft(Message("recognizer_loop:utterance", data, context))
    client.close()


if __name__ == "__main__":
    main()
