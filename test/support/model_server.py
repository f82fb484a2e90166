"""A small HTTP server on loopback that speaks the OpenAI protocol, keeps what it was sent, and misbehaves on demand."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

Fault = Literal["", "error", "half", "dropped", "slow", "empty", "nonsense", "calls", "odd calls"]
"""What happens to one request: nothing bad; status 500; half an answer; none at all, the connection ends; an answer
when ``go_on`` is set; an empty text; no JSON; a call of a tool, always with the same id; one without an id, and with a
list for its arguments. Of a stream half of the words come before the connection ends, or before ``go_on`` is set."""
PATIENCE_S = 60.0
CALL = {"id": "call-1", "type": "function", "function": {"name": "look_up", "arguments": '{"word": "cat"}'}}
ODD_CALL = {"type": "function", "function": {"name": "no such tool", "arguments": '["cat"]'}}


DONE = b"data: [DONE]\n\n"


def _event(choice: dict[str, Any]) -> bytes:
    """An event of a stream."""
    return b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n"


def _delta(words: str) -> dict[str, Any]:
    return {"index": 0, "finish_reason": None, "delta": {"role": "assistant", "content": words}}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    model: ModelServer

    def handle_error(self, *_: Any) -> None:
        """Who asked may have gone meanwhile."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.model.paths.append(self.path)
        fault = self.server.model.take(body, dict(self.headers))
        if body.get("stream") and fault in ("slow", "half"):
            self._stream_half(self.server.model.reply(), goes_on=fault == "slow")
        elif fault in ("", "slow", "empty"):
            if fault == "slow":
                self.server.model.go_on.wait(PATIENCE_S)
            self._answer(body, {"content": "" if fault == "empty" else self.server.model.reply()})
        elif fault in ("calls", "odd calls"):
            self._answer(body, {"content": None, "tool_calls": [CALL if fault == "calls" else ODD_CALL]})
        elif fault == "error":
            self.send_error(500)
        elif fault != "dropped":
            self._begin(fault)

    def _stream_half(self, reply: str, goes_on: bool) -> None:
        """Half of the words in a chunk of its own; then the rest when ``go_on`` is set, or the connection ends."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        half = reply.index(" ", len(reply) // 2) + 1
        self._send_chunk(_event(_delta(reply[:half])))
        if goes_on:
            self.server.model.go_on.wait(PATIENCE_S)
            self._send_chunk(_event(_delta(reply[half:])) + DONE)
            self._send_chunk(b"")

    def _send_chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def _begin(self, fault: Fault) -> None:
        self.send_response(200)
        if fault == "half":
            self.send_header("Content-Length", "5000")
        self.end_headers()
        self.wfile.write(b'{"choices": [{"message": {"content": "half' if fault == "half" else b"<html>hello</html>")

    def _answer(self, body: dict[str, Any], message: dict[str, Any]) -> None:
        streamed = bool(body.get("stream"))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if streamed else "application/json")
        self.end_headers()
        choice = {"index": 0, "finish_reason": "stop", "delta": {"role": "assistant", **message}}
        if streamed:
            # as the real ones do it: what ends the answer says nothing more
            for one in (choice | {"finish_reason": None}, choice | {"delta": {}}):
                self.wfile.write(_event(one))
            self.wfile.write(DONE)
        else:
            choice["message"] = choice.pop("delta")
            self.wfile.write(json.dumps({**self.server.model.envelope, "choices": [choice]}).encode())

    def log_message(self, *_: Any) -> None:
        """Stay quiet."""


class ModelServer:
    """Answers every chat request with the next of its replies (the last one again and again)."""

    def __init__(self, *replies: str) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        """Which paths were asked, in order."""
        self.envelope: dict[str, Any] = {}
        """What else stands in each answer, as this kind of server writes it."""
        self.faults: list[Fault] = []
        """What happens to the next requests, in order; nothing bad where none is left."""
        self.arrived = threading.Semaphore(0)
        """Released with each request."""
        self.go_on = threading.Event()
        """Set: slow requests are answered."""
        self._replies = list(replies) or ["Understood."]
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.model = self
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def take(self, body: dict[str, Any], headers: dict[str, str]) -> Fault:
        """Keep a request, and say what happens to it."""
        self.requests.append(body)
        self.headers.append(headers)
        fault = self.faults.pop(0) if self.faults else ""
        self.arrived.release()
        return fault

    def reply(self) -> str:
        """The next reply."""
        return self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]

    def messages(self, number: int = -1) -> list[tuple[str, str]]:
        """Role and text of the messages of one request, the newest by default."""
        return [(message["role"], message["content"]) for message in self.requests[number]["messages"]]

    def close(self) -> None:
        """End the server."""
        self.go_on.set()
        self._server.shutdown()
        self._server.server_close()
