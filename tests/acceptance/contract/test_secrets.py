"""No surface shows secrets from transcripts of Claude Code and Codex unmasked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.contract.command_runs import run
from tests.acceptance.contract.mcp import ask, request
from tests.memory_world import World
from tests.secret_samples import HARMLESS, SAMPLES, is_readable
from tests.server import Client, ServerProcess

MARK = "walnut"
"""In every text, so that one search finds them all."""
AGENTS = {"claude_code": "claude", "codex": "01a1e0ae-8ec6-7621-a39a-f47a43681d80"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    home = tmp_path_factory.mktemp("secrets")
    _write_claude_code(home)
    _write_codex(home)
    with ServerProcess(home, settings={"NAVI_MODEL": "scripted"}) as server:
        recall(server, "index")
        yield server


def _write_claude_code(home: Path) -> None:
    file = World(home).file(AGENTS["claude_code"], "shop")
    for number, text in enumerate([*(sample.text for sample in SAMPLES), *HARMLESS]):
        file.say(f"{MARK} {text}").say(f"{MARK}\n{text}", "assistant").think(f"{MARK} {text}")
        file.run(text)
        inputs = {"path": "notes.txt", "content": text, "nested": json.dumps({"body": text})}
        call = {"type": "tool_use", "id": f"w{number}", "name": "Write", "input": inputs}
        # Without the one argument that a list of calls would show instead of all.
        other = {
            "type": "tool_use",
            "id": f"o{number}",
            "name": "Other",
            "input": {"content": text},
        }
        file.line("assistant", [call, other])
        result = {"type": "tool_result", "tool_use_id": f"w{number}", "content": f"{MARK} {text}"}
        file.line("user", [result])


def _write_codex(home: Path) -> None:
    folder = home / ".codex" / "sessions" / "2026" / "03" / "01"
    folder.mkdir(parents=True)
    items: list[dict[str, Any]] = []
    for number, text in enumerate([*(sample.text for sample in SAMPLES), *HARMLESS]):
        run = {"cmd": text, "command": ["bash", "-lc", text], "justification": f"{MARK} {text}"}
        for name, arguments in (("shell", run), ("other_tool", {"content": text})):
            items.append(
                {
                    "type": "function_call",
                    "name": name,
                    "arguments": json.dumps(arguments),
                    "call_id": f"{name}{number}",
                }
            )
        output = {"type": "function_call_output", "call_id": f"shell{number}"}
        items += [
            {**output, "output": f"{MARK} {text}"},
            _message("user", "input_text", f"{MARK} {text}"),
            _message("assistant", "output_text", f"{MARK}\n{text}"),
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": f"{MARK} {text}"}]},
        ]
    lines = [{"type": "session_meta", "payload": {"id": AGENTS["codex"], "cwd": str(home)}}]
    lines += [{"type": "response_item", "payload": item} for item in items]
    at = "2026-03-01T12:00:00.000Z"
    written = "".join(json.dumps({"timestamp": at, **line}) + "\n" for line in lines)
    (folder / f"rollout-2026-03-01T12-00-00-{AGENTS['codex']}.jsonl").write_text(written)


def _message(role: str, kind: str, text: str) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def recall(server: ServerProcess, *arguments: str) -> str:
    """What it prints on both streams."""
    ran = run(["recall", *arguments], server.environment)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout + ran.stderr


COMMANDS = [
    ["show", "{id}", "--tools", "--thinking"],
    ["show", "{id}", "--json"],
    ["export", "{id}", "--thinking"],
    ["export", "{id}", "--thinking", "--format", "html"],
    ["export", "{id}", "--thinking", "--raw"],
    ["search", MARK, "--limit", "0", "-C", "1", "--source", "{source}"],
    ["search", MARK, "--limit", "0", "--json", "--source", "{source}"],
    ["search", MARK, "--limit", "0", "--raw", "--source", "{source}"],
    ["list", "--source", "{source}", "--json"],
    ["digest", "--source", "{source}", "--since", "2000-01-01", "--limit", "0"],
    ["digest", "--source", "{source}", "--since", "2000-01-01", "--limit", "0", "--markdown"],
    ["digest", "--source", "{source}", "--since", "2000-01-01", "--json"],
    ["diff", "{id}", "{other}", "--limit", "0"],
    ["diff", "{id}", "{other}", "--json"],
    ["stats", "bash", "--source", "{source}", "--json"],
    ["stats", "bash", "--source", "{source}", "--suggest", "--all"],
    ["stats", "bash", "--source", "{source}", "--suggest", "--json"],
    ["stats", "tools", "--source", "{source}", "--json"],
]


@pytest.mark.parametrize("source", AGENTS)
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_secret_is_printed(server: ServerProcess, command: list[str], source: str) -> None:
    [other] = [id for name, id in AGENTS.items() if name != source]
    words = [each.format(id=AGENTS[source], other=other, source=source) for each in command]
    output = re.sub(r"</?\w+[^>]*>", "", recall(server, *words))
    assert output
    assert [sample.name for sample in SAMPLES if is_readable(sample, output)] == []


@pytest.mark.parametrize("source", AGENTS)
@pytest.mark.parametrize(
    "path",
    [
        "/search?q=" + MARK + "&limit=1000&source={source}",
        "/archive/sessions/{id}",
        "/archive/sessions?source={source}",
        "/archive/digest?source={source}",
        "/stats/bash?source={source}",
        "/stats/bash?suggest=true&source={source}",
        "/stats/tools?source={source}",
    ],
)
async def test_no_answer_of_the_server_contains_a_secret(
    client: Client, path: str, source: str
) -> None:
    answer = await client.call("GET", path.format(id=AGENTS[source], source=source))
    text = json.dumps(answer, ensure_ascii=False)
    assert [sample.name for sample in SAMPLES if is_readable(sample, text)] == []


@pytest.mark.parametrize("source", AGENTS)
async def test_no_secret_reaches_an_agent(client: Client, source: str) -> None:
    session = await client.session()
    wanted = {"query": MARK, "source": source, "limit": 50}
    called = request(1, "tools/call", {"name": "search_sessions", "arguments": wanted})
    result = (await ask(client, called, session))["result"]
    assert not result["isError"], result
    text = result["content"][0]["text"]
    assert "[masked: " in text
    assert [sample.name for sample in SAMPLES if is_readable(sample, text)] == []


@pytest.mark.parametrize("source", AGENTS)
async def test_harmless_texts_are_answered_as_they_are(client: Client, source: str) -> None:
    answer = await client.call("GET", f"/archive/sessions/{AGENTS[source]}")
    contents = {message["content"] for message in answer["messages"]}
    assert [text for text in HARMLESS if f"{MARK} {text}" not in contents] == []
    calls = [call for message in answer["messages"] for call in message["tool_calls"]]
    calls += answer["orphan_tool_calls"]
    written = {
        call["tool_input"].get("content") for call in calls if isinstance(call["tool_input"], dict)
    }
    assert [text for text in HARMLESS if text not in written] == []


def test_the_transcripts_hold_every_secret(server: ServerProcess) -> None:
    """Without this, the tests above could pass because the secrets were never there."""
    for folder in (".claude", ".codex"):
        files = (server.home / folder).rglob("*.jsonl")
        written = "".join(file.read_text() for file in files)
        assert [sample.name for sample in SAMPLES if not is_readable(sample, written)] == []
