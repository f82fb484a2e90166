"""A small HTTP server on loopback that speaks the OpenAI protocol and keeps what it was sent."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class ModelServer:
    """Answers every chat request with the next of its replies (the last one again and again)."""

    def __init__(self, *replies: str) -> None:
        self.requests: list[dict[str, Any]] = []
        self._replies = list(replies) or ["Understood."]
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append(body)
                reply = outer._replies.pop(0) if len(outer._replies) > 1 else outer._replies[0]
                self._answer(body, reply)

            def _answer(self, body: dict[str, Any], reply: str) -> None:
                streamed = bool(body.get("stream"))
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream" if streamed else "application/json")
                self.end_headers()
                choice = {"index": 0, "finish_reason": "stop", "delta": {"role": "assistant", "content": reply}}
                if streamed:
                    # as the real ones do it: what ends the answer says nothing more
                    for one in (choice | {"finish_reason": None}, choice | {"delta": {}}):
                        self.wfile.write(b"data: " + json.dumps({"choices": [one]}).encode() + b"\n\n")
                    self.wfile.write(b"data: [DONE]\n\n")
                else:
                    choice["message"] = choice.pop("delta")
                    self.wfile.write(json.dumps({"choices": [choice]}).encode())

            def log_message(self, *_: Any) -> None:
                """Stay quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def messages(self, number: int = -1) -> list[tuple[str, str]]:
        """Role and text of the messages of one request, the newest by default."""
        return [(message["role"], message["content"]) for message in self.requests[number]["messages"]]

    def close(self) -> None:
        """End the server."""
        self._server.shutdown()
        self._server.server_close()
