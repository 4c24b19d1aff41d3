"""An endpoint that speaks OpenAI's API makes the vectors instead of the model."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from navi.memory.index_paths import IndexPaths
from navi.memory.semantic.semantic_errors import ModelUnusable
from tests.integration.memory.semantic.semantic_world import SemanticWorld
from tests.memory_world import copy_index

DIMENSIONS = 8
KEY = "sk-ant-api03-" + "a1B2" * 23 + "-abcdefAA"


class Endpoint(BaseHTTPRequestHandler):
    """Makes vectors from a few words. What it is asked is in `requests`."""

    requests: ClassVar[list[tuple[str, dict[str, str], Any]]] = []
    status = 200
    dimensions = DIMENSIONS

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.requests.append((self.path, dict(self.headers), body))
        data = [
            {"index": index, "embedding": self.vector(text)}
            for index, text in enumerate(body["input"])
        ]
        answer = json.dumps({"data": data[::-1]}).encode()  # in any order
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def vector(self, text: str) -> list[float]:
        groups = ("car automobile", "slow sluggish", "paint", "garden")
        values = [float(any(word in text for word in group.split())) for group in groups]
        return [*values, 0.1, *[0.0] * (self.dimensions - 5)]

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Endpoint]]:
    class Handler(Endpoint):
        requests: ClassVar[list[tuple[str, dict[str, str], Any]]] = []

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    monkeypatch.setenv("RECALL_SEMANTIC_URL", f"http://127.0.0.1:{server.server_port}/v1")
    monkeypatch.setenv("RECALL_SEMANTIC_DIMENSIONS", str(DIMENSIONS))
    monkeypatch.setenv("RECALL_SEMANTIC_MODEL", "local-model")
    yield Handler
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def world(private_home: Path, tmp_path: Path, prepared_index: IndexPaths) -> SemanticWorld:
    """Without a model."""
    world = SemanticWorld(private_home, folder=tmp_path)
    copy_index(prepared_index, world.paths)
    return world


def test_texts_and_queries_go_there_masked_with_the_key_from_the_environment(
    world: SemanticWorld, endpoint: type[Endpoint], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECALL_SEMANTIC_KEY_ENV", "MY_KEY")
    monkeypatch.setenv("MY_KEY", "secret")
    world.file("s1").say(f"my automobile is sluggish {KEY}")
    world.file("s2").say("paint the garden")
    assert world.index_and_embed().passages == 2
    assert world.sessions_found(f"slow car {KEY}") == ["s1"]
    paths = {path for path, _, _ in endpoint.requests}
    assert paths == {"/v1/embeddings"}
    assert {headers["Authorization"] for _, headers, _ in endpoint.requests} == {"Bearer secret"}
    assert {(body["model"], body["dimensions"]) for _, _, body in endpoint.requests} == {
        ("local-model", DIMENSIONS)
    }
    assert KEY not in json.dumps([body for _, _, body in endpoint.requests])


def test_an_endpoint_that_is_down_or_refuses_leaves_the_words_and_the_reason(
    world: SemanticWorld, endpoint: type[Endpoint]
) -> None:
    world.file("s1").say("my automobile is slow")
    world.index_and_embed()
    endpoint.status = 401
    results = world.ask("slow car")
    assert [hit.source_session_id for hit in results.hits] == ["s1"]
    assert not results.goes_by_meaning
    assert isinstance(results.problem, ModelUnusable)
    assert "answered with 401; is the key in OPENAI_API_KEY right?" in results.problem.sentence


def test_vectors_of_another_size_say_what_to_set(
    world: SemanticWorld, endpoint: type[Endpoint]
) -> None:
    endpoint.dimensions = 16
    world.file().say("my automobile is slow")
    world.index()
    with pytest.raises(ModelUnusable) as refused:
        world.embed()
    assert refused.value.hint == "set `dimensions = 16` under [semantic]"


def test_nothing_is_sent_unless_an_address_is_set(
    world: SemanticWorld, endpoint: type[Endpoint], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RECALL_SEMANTIC_URL")
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    world.file("s1").say("my automobile is slow")
    world.index()
    assert world.ask("slow automobile").hits
    assert endpoint.requests == []
