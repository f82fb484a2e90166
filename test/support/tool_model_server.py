"""A small HTTP server on loopback that speaks the OpenAI protocol and asks for tools as it was told to."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Call:
    """A tool that the model wants called."""

    tool: str
    arguments: dict[str, Any]


class ToolModelServer:
    """Answers each chat request with the next of its replies: words, or calls; "Understood." when there is none."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self._replies: list[str | Call | list[Call]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                outer.requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                reply = outer._replies.pop(0) if outer._replies else "Understood."
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(json.dumps({"choices": [_choice(reply, len(outer.requests))]}).encode())

            def log_message(self, *_: Any) -> None:
                """Stay quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def will(self, *replies: str | Call | list[Call]) -> None:
        """What it answers next, one after the other."""
        self._replies = list(replies)

    def results(self) -> list[dict[str, Any]]:
        """What the tools gave in the conversation that was sent last."""
        return [
            json.loads(message["content"]) for message in self.requests[-1]["messages"] if message["role"] == "tool"
        ]

    def tools(self) -> dict[str, dict[str, Any]]:
        """Name and definition of each tool offered with the last request."""
        return {tool["function"]["name"]: tool["function"] for tool in self.requests[-1]["tools"]}

    def close(self) -> None:
        """End the server."""
        self._server.shutdown()
        self._server.server_close()


def _choice(reply: str | Call | list[Call], number: int) -> dict[str, Any]:
    if isinstance(reply, str):
        return {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": reply}}
    wanted = reply if isinstance(reply, list) else [reply]
    functions = [{"name": call.tool, "arguments": json.dumps(call.arguments)} for call in wanted]
    calls = [
        {"id": f"call-{number}" + (f"-{place}" if place else ""), "type": "function", "function": function}
        for place, function in enumerate(functions)
    ]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    return {"index": 0, "finish_reason": "tool_calls", "message": message}
