"""A stand-in for the model providers, on 127.0.0.1, that the real Claude Code and Codex accept."""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.acceptance.clients import anthropic_api, openai_api
from tests.acceptance.clients.script import ScriptedError, Step, response

PATIENCE_SECONDS = 60


class ModelStandIn(ThreadingHTTPServer):
    """`gates` are what scripts wait for; `prompts` are the scripts to play;
    `requests` is everything received; `otherwise` is the script for prompts without one;
    `limit_of` says for an API (`anthropic_api`, `openai_api`) what `[[limited]]` stands for."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.gates: defaultdict[str, threading.Event] = defaultdict(threading.Event)
        self.reached: defaultdict[str, threading.Event] = defaultdict(threading.Event)
        self.prompts: list[str] = []
        self.requests: list[str] = []
        self.otherwise = ""
        self.limit_of: Callable[[str], str | None] = lambda api: None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Interrupted clients hang up in mid-response, which is not an error."""


@contextmanager
def running_stand_in() -> Iterator[ModelStandIn]:
    stand_in = ModelStandIn()
    thread = threading.Thread(target=stand_in.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield stand_in
    finally:
        for gate in list(stand_in.gates.values()):
            gate.set()
        stand_in.shutdown()
        stand_in.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: ModelStandIn

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        is_known = "/models" in self.path
        self._answer({"object": "list", "data": [], "models": []}, 200 if is_known else 404)

    def do_HEAD(self) -> None:
        self._answer({}, 200)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        path = self.path.partition("?")[0]
        if path.endswith("/count_tokens"):
            self._answer({"input_tokens": 100})
        elif path.endswith("/messages"):
            self._play(body, anthropic_api)
        elif path.endswith("/responses"):
            self._play(body, openai_api)
        else:
            self._answer({}, 404)

    def _play(self, body: dict[str, Any], api: Any) -> None:
        self.server.requests.append(json.dumps(body))
        prompt, calls_made = api.plan(body)
        if calls_made == 0:
            self.server.prompts.append(prompt)
        try:
            limit = self.server.limit_of(api.__name__.rpartition(".")[2])
            steps = response(prompt, calls_made, self.server.otherwise, limit)
        except ScriptedError as error:
            self._answer(error.body, error.status, error.headers)
            return
        stream = api.events(body, steps)
        if api is anthropic_api and not body.get("stream"):
            self._answer(anthropic_api.whole(stream))
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for number, event in enumerate(stream):
            if isinstance(event, Step):
                self.server.reached[event.argument].set()
                self.server.gates[event.argument].wait(PATIENCE_SECONDS)
                continue
            name, data = event
            line = json.dumps({"type": name, "sequence_number": number, **data})
            self.wfile.write(f"event: {name}\ndata: {line}\n\n".encode())
            self.wfile.flush()

    def _answer(
        self, value: object, status: int = 200, headers: Mapping[str, str] | None = None
    ) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        for name, text in (headers or {}).items():
            self.send_header(name, text)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)
