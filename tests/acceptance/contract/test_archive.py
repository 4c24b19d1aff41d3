"""The memory over HTTP has the same shapes as `recall --json`."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.acceptance.contract.command_runs import navi, recall
from tests.acceptance.contract.mcp import ask, request
from tests.memory_world import World
from tests.server import Client, ServerProcess


@pytest.fixture(scope="session")
def indexed(server: ServerProcess) -> None:
    world = World(server.home)
    shop = world.file("s1", "shop").say("why is the auth token refused?")
    shop.say("The **auth** clock is off by an hour.", "assistant").run("git status")
    shop.think("perhaps a zone").run("npm test", text="running")
    (server.home / "shed").mkdir()
    world.file("s3", "shed").say("mow the lawn")
    garden = world.file("s2", "garden").say("water the roses").run("rm -rf /tmp/roses")
    edit = {"type": "tool_use", "id": "e", "name": "Edit", "input": {"file_path": "roses.txt"}}
    garden.line("assistant", [edit])
    recall(server, "index")


async def test_without_an_index_the_next_command_is_named(tmp_path_factory: Any) -> None:
    with ServerProcess(tmp_path_factory.mktemp("empty")) as server:
        async with server.client() as client:
            error = (await client.call("GET", "/search?q=auth", expect=404))["error"]
            assert (error["kind"], error["hint"]) == ("no_index", "recall index")
            await client.call("GET", "/stats", expect=404)


@pytest.mark.usefixtures("indexed")
@pytest.mark.parametrize(
    ("path", "arguments"),
    [
        ("/archive/sessions", ["list"]),
        ("/archive/sessions?project=garden", ["list", "--project", "garden"]),
        (
            "/archive/sessions?source=claude-code&limit=1",
            ["list", "--source", "claude-code", "--limit", "1"],
        ),
        ("/stats", ["stats"]),
        ("/stats/tools", ["stats", "tools"]),
        ("/stats/tools?project=garden", ["stats", "tools", "--project", "garden"]),
        ("/stats/bash", ["stats", "bash"]),
        ("/stats/bash?suggest=true", ["stats", "bash", "--suggest"]),
        ("/stats/tokens", ["stats", "tokens"]),
        ("/stats/tokens?by=model", ["stats", "tokens", "--by", "model"]),
        ("/stats/tools?since=2026-03-02", ["stats", "tools", "--since", "2026-03-02"]),
    ],
)
async def test_a_question_has_the_same_answer_as_on_the_command_line(
    server: ServerProcess, client: Client, path: str, arguments: list[str]
) -> None:
    assert await client.call("GET", path) == json.loads(recall(server, *arguments, "--json"))


@pytest.mark.usefixtures("indexed")
@pytest.mark.parametrize("path", ["/stats", "/stats/tools", "/stats/bash", "/stats/tokens"])
async def test_statistics_refuse_a_filter_that_they_would_ignore(client: Client, path: str) -> None:
    answer = await client.call("GET", f"{path}?until=2026-03-02", expect=422)
    assert "source, project and since" in answer["error"]["message"]


@pytest.mark.usefixtures("indexed")
async def test_a_search_says_where_the_words_are_and_how_to_resume(
    server: ServerProcess, client: Client
) -> None:
    hits = await client.call("GET", "/search?q=auth+clock")
    in_terminal = json.loads(recall(server, "search", "auth clock", "--json"))
    # A score depends on all other texts, and the server may index some between the two searches.
    extra = {"highlights", "resume", "score"}
    assert [{name: value for name, value in hit.items() if name not in extra} for hit in hits] == [
        {name: value for name, value in hit.items() if name != "score"} for hit in in_terminal
    ]
    [hit] = hits
    words = [hit["snippet"][start:end] for start, end in hit["highlights"]]
    assert words == ["auth", "clock"]
    assert hit["has_all_words"] is True
    assert hit["resume"].endswith("claude --resume s1")


@pytest.mark.usefixtures("indexed")
async def test_a_file_and_an_end_narrow_a_search_down(client: Client) -> None:
    [hit] = await client.call("GET", "/search?file=garden/roses.txt")
    assert (hit["kind"], hit["tool_name"], hit["source_session_id"]) == ("file", "Edit", "s2")
    assert len(await client.call("GET", "/search?q=roses&until=2026-03-01")) == 3
    assert await client.call("GET", "/search?q=roses&until=2026-02-28") == []


@pytest.mark.usefixtures("indexed")
@pytest.mark.parametrize(
    ("query", "parameters"),
    [
        ("roses project:garden", {"project": "garden"}),
        ("roses project:shop", {"project": "shop"}),
        ('roses role:user project:"garden"', {"role": "user"}),
        ("roses tool:bash agent:claude-code", {"tool": "bash"}),
        ("roses session:s2 after:2026-03-01", {"session": "s2"}),
        ("roses before:2026-03-01", {"until": "2026-02-28"}),
        ("file:garden/roses.txt", {"file": "garden/roses.txt"}),
    ],
)
async def test_a_filter_in_the_query_is_the_filter_beside_it(
    client: Client, query: str, parameters: dict[str, str]
) -> None:
    words = "" if "file" in parameters else "roses"
    expected = await client.call("GET", f"/search?{urlencode({'q': words, **parameters})}")
    assert await client.call("GET", f"/search?{urlencode({'q': query})}") == expected
    both = urlencode({"q": query, **parameters})
    assert await client.call("GET", f"/search?{both}") == expected


@pytest.mark.usefixtures("indexed")
@pytest.mark.parametrize(
    ("path", "message", "hint"),
    [
        ("q=x+agent:teleport", "agent:teleport is not an agent", "agent:codex"),
        ("q=x+after:soon", "after:soon is not a time", "after:7d"),
        ("q=x+project:garden&project=shop", "contradicts the filter project", "leave one"),
        ("q=project:garden", "only filters and no words", "add words"),
    ],
)
async def test_a_filter_that_can_not_hold_is_refused(
    client: Client, path: str, message: str, hint: str
) -> None:
    error = (await client.call("GET", f"/search?{path}", expect=422))["error"]
    assert message in error["message"]
    assert hint in error["hint"]


@pytest.mark.usefixtures("indexed")
async def test_a_session_is_shown_as_on_the_command_line(
    server: ServerProcess, client: Client
) -> None:
    session = await client.call("GET", "/archive/sessions/s1")
    assert session.pop("resume").endswith("claude --resume s1")
    assert session == json.loads(recall(server, "show", "s1", "--json"))
    await client.call("GET", "/archive/sessions/nobody", expect=404)


@pytest.mark.usefixtures("indexed")
async def test_an_indexed_session_is_taken_in_once_if_it_can_go_on(
    server: ServerProcess, client: Client
) -> None:
    first = await client.call("POST", "/archive/sessions/s3/adopt")
    assert first["driver"] == "claude_code"
    assert first["cwd"] == str(server.home / "shed")
    assert await client.call("POST", "/archive/sessions/s3/adopt") == first

    refused = (await client.call("POST", "/archive/sessions/s1/adopt", expect=409))["error"]
    assert refused["message"].endswith("is gone")
    await client.call("POST", "/archive/sessions/nobody/adopt", expect=404)


@pytest.mark.usefixtures("indexed")
async def test_activity_and_projects_are_counted(client: Client) -> None:
    [hour] = await client.call("GET", "/stats/activity?source=claude-code")
    assert (hour["hour"], hour["source"], hour["sessions"]) == (
        "2026-03-01T12:00:00.000Z",
        "claude_code",
        3,
    )
    projects = await client.call("GET", "/stats/projects?source=claude-code")
    assert [(each["project"].split("/")[-1], each["sessions"]) for each in projects] == [
        ("garden", 1),
        ("shed", 1),
        ("shop", 1),
    ]


@pytest.mark.usefixtures("indexed")
@pytest.mark.parametrize(
    "path",
    [
        "/search?q=x&since=soon",
        "/search?q=x&until=later",
        "/search?q=x&source=teleport",
        "/search?q=x&role=boss",
        "/search?q=x&limit=some",
        "/stats/tokens?by=colour",
        "/stats/tokens?by=day,week",
    ],
)
async def test_an_invalid_question_is_refused_with_a_hint(client: Client, path: str) -> None:
    assert (await client.call("GET", path, expect=422))["error"]["hint"]


@pytest.mark.usefixtures("indexed")
async def test_agents_search_by_their_tool_if_their_session_is_an_admins(
    server: ServerProcess, client: Client
) -> None:
    called = {"name": "search_sessions", "arguments": {"query": "auth clock"}}
    session_id = await client.session()
    result = (await ask(client, request(1, "tools/call", called), session_id))["result"]
    assert not result["isError"]
    assert "The **auth** clock is off by an hour." in result["content"][0]["text"]
    assert "claude_code" in result["content"][0]["text"]
    async with Client(server.address, navi(server, "user", "add", "agents"), 30) as other:
        session_id = await other.session()
        refused = (await ask(other, request(2, "tools/call", called), session_id))["result"]
    assert refused["isError"]
    assert "admin" in refused["content"][0]["text"]


@pytest.mark.usefixtures("indexed")
async def test_a_digest_is_that_of_the_command(server: ServerProcess, client: Client) -> None:
    query = "since=2026-02-01&until=2026-03-02T00:00:00Z&project=shop"
    answer = await client.call("GET", f"/archive/digest?{query}")
    limits = ["--since", "2026-02-01", "--until", "2026-03-02T00:00:00Z", "--project", "shop"]
    assert answer == json.loads(recall(server, "digest", *limits, "--json"))
    assert [each["title"] for each in answer["projects"][0]["sessions"]] == [
        "why is the auth token refused?"
    ]
    refusal = (await client.call("GET", "/archive/digest?tool=Bash", expect=422))["error"]
    assert "limited only by" in refusal["message"]


@pytest.mark.usefixtures("indexed")
def test_the_model_that_is_set_up_writes_about_a_digest_as_quotations(
    server: ServerProcess,
) -> None:
    limits = ["--since", "2026-02-01", "--until", "2026-03-02", "--project", "shop"]
    text = recall(server, "digest", *limits, "--summarize")
    # The scripted model repeats what it was shown.
    summary, digest = text.split("made from the digest below\n")[1].split("\n\n", 1)
    assert summary.startswith("ok: Project ")
    assert "> " in summary
    assert "why is the auth token refused?" in summary
    assert "Asked" in digest


async def test_only_an_admin_looks_into_the_memory(server: ServerProcess) -> None:
    async with Client(server.address, navi(server, "user", "add", "reader"), 30) as other:
        for path in ("/search?q=x", "/stats", "/archive/sessions", "/archive/sessions/s1"):
            await other.call("GET", path, expect=403)
        await other.call("POST", "/archive/digest/summary", expect=403)
