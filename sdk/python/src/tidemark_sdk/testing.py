"""A monitor for tests: in this process, over a real socket, with the answers you give it.

    with StubMonitor(refuse={"send_email": "not to strangers"}) as stub:
        session = stub.monitor().session("t", User("test", "anna", owner=True))

It judges nothing by itself. What was asked and told is in `asked`, `told` and `begun`.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from .monitor import API, Monitor

TOKEN = "stub-token-0123456789"


class StubMonitor:
    """refuse and hide name tools; every other call is let through. refuse may be changed while it runs."""

    def __init__(self, refuse: Mapping[str, str] | None = None, hide: tuple[str, ...] = ()) -> None:
        self.refuse: dict[str, str] = dict(refuse or {})
        self.hide = set(hide)
        self.begun: list[dict[str, Any]] = []
        self.asked: list[dict[str, Any]] = []
        self.told: list[dict[str, Any]] = []
        self.fail: tuple[int, bytes] | None = None  # answers every hook
        stub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                if self.path == "/v1/proof":
                    self._answer(200, stub._proof(self.headers["X-Tidemark-Nonce"]))
                elif self.path == "/v1/version":
                    self._answer(200, {"api": f"{API[0]}.{API[1]}", "version": "stub"})
                else:
                    self._answer(404, {"detail": "there is nothing at this path"})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if self.headers["Authorization"] != "Bearer " + TOKEN:
                    self._answer(401, {"detail": "nobody has this token"})
                elif stub.fail is not None:
                    self._send(*stub.fail)
                else:
                    self._answer(200, stub._hook(self.path.rpartition("/")[2], body["event"], body["ctx"]))

            def _answer(self, status: int, body: Mapping[str, Any]) -> None:
                self._send(status, json.dumps(body).encode())

            def _send(self, status: int, raw: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

            def log_message(self, format: str, *args: Any) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def monitor(self, **options: Any) -> Monitor:
        """A client of this stub."""
        return Monitor(self.url, TOKEN, **options)

    def __enter__(self) -> StubMonitor:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _proof(self, nonce: str) -> dict[str, str]:
        own, key = secrets.token_hex(32), hashlib.sha256(TOKEN.encode()).digest()
        proof = hmac.new(key, f"tidemark server proof 1\n{nonce}{own}{self.url}".encode(), "sha256").hexdigest()
        return {"nonce": own, "at": self.url, "proof": proof}

    def _hook(self, hook: str, event: dict[str, Any], ctx: dict[str, Any]) -> dict[str, Any]:
        note: dict[str, Any] = {"taint": "owner"}
        seen = event | {"ctx": ctx}
        if hook == "message_received":
            self.begun.append(seen)
        elif hook == "before_llm_call":
            note["hidden"] = [t["name"] for t in event["tools"] if t["name"] in self.hide]
        elif hook == "after_tool_call":
            self.told.append(seen)
        elif hook == "before_tool_call":
            self.asked.append(seen)
            why = self.refuse.get(event["toolName"])
            note["verdict"] = "allow" if why is None else "deny"
            if why is not None:
                return {"block": True, "blockReason": why, "tidemark": note}
        return {"tidemark": note}
