"""`recall show`, `resume` and `export`: one session."""

from __future__ import annotations

from pathlib import Path

import pytest

from navi.base import paths
from navi.live.store.engine import schema
from navi.live.store.engine.dialects.sqlite import sqlite_url
from tests.integration.cli.recall_runs import Recall, on_terminal
from tests.memory_world import World
from tests.store_world import store_world


@pytest.fixture
def talk(world: World, recall: Recall) -> World:
    file = world.file("talk")
    for number in range(20):
        file.say(f"message {number}" + (" about plums" if number in (3, 12) else ""))
    recall("index")
    return world


def numbers(text: str) -> list[int]:
    return [int(line[1:].split()[0]) for line in text.splitlines() if line.startswith("#")]


def test_at_shows_a_message_and_those_around_it(talk: World, recall: Recall) -> None:
    output = recall("show", "talk", "--at", "12").out
    assert numbers(output) == [9, 10, 11, 12, 13, 14, 15]
    assert "… 9 messages …" in output
    assert "… 4 messages …" in output
    assert numbers(recall("show", "talk", "--at", "12", "-C", "0").out) == [12]
    missing = recall("show", "talk", "--at", "20")
    assert (missing.code, missing.out) == (1, "")
    assert missing.err.endswith("has no message 20\nhint: its messages are numbered 0 to 19\n")


def test_grep_shows_the_messages_that_match(talk: World, recall: Recall) -> None:
    assert numbers(recall("show", "talk", "--grep", "PLUMS").out) == [3, 12]
    assert numbers(recall("show", "talk", "--grep", "plum*", "-C", "1").out) == [
        2,
        3,
        4,
        11,
        12,
        13,
    ]
    none = recall("show", "talk", "--grep", "pear")
    assert (none.code, none.err) == (0, "no message in this session matches pear\n")


def test_a_thought_or_a_command_that_was_found_is_shown(full: World, recall: Recall) -> None:
    for word, text in (
        ("handler", "#2 (thinking) look at handler.ts"),
        ("git", "  [Bash] git status"),
    ):
        (hit,) = recall("search", word, "--json").json
        at = recall("show", hit["session_id"], "--at", str(hit["idx"])).out.splitlines()
        assert text in at
        assert text in recall("show", hit["session_id"], "--grep", word).out.splitlines()
        assert "  [Read] src/a.ts" not in at


def test_last_shows_the_end(talk: World, recall: Recall) -> None:
    assert numbers(recall("show", "talk", "--last", "2").out) == [18, 19]
    assert numbers(recall("show", "talk", "--last", "99").out) == list(range(20))


def test_a_part_of_a_session_as_json_has_the_same_shape(talk: World, recall: Recall) -> None:
    whole = recall("show", "talk", "--json").json
    part = recall("show", "talk", "--grep", "plums", "--json").json
    assert set(part) == set(whole)
    assert [message["idx"] for message in part["messages"]] == [3, 12]


def test_only_one_way_to_choose_a_part(talk: World, recall: Recall) -> None:
    answer = recall("show", "talk", "--at", "1", "--last", "2")
    assert (answer.code, "choose one" in answer.err) == (2, True)


def test_prose_is_wrapped_at_spaces_on_a_terminal(world: World, recall: Recall) -> None:
    world.file("prose").say("every word stays whole " * 20)
    recall("index")
    words = on_terminal(80, "show", "prose").split("user: ")[1].split()
    assert set(words) == {"every", "word", "stays", "whole"}


async def test_a_navi_session_is_resumed_by_sending_something(
    private_home: Path, recall: Recall, monkeypatch
) -> None:
    path = paths.home() / "navi.sqlite3"
    path.parent.mkdir(parents=True)
    schema.prepare(sqlite_url(path))
    async with store_world(sqlite_url(path)) as navi:
        session = await navi.session()
        await navi.turn(session, "count the quinces")

    recall("index")
    answer = recall("resume", session.id)
    assert (answer.code, answer.out) == (0, f'sm send {session.id} "…"\n')
    assert f'sm send {session.id} "…"' in recall("search", "quinces").out
    monkeypatch.setenv("NAVI_URL", "http://127.0.0.1:8499")
    monkeypatch.setenv("NAVI_TOKEN", "a-token")
    answer = recall("resume", session.id)
    assert answer.err == f"or on the page: http://127.0.0.1:8499/#/sessions/{session.id}\n"
    assert recall("resume", session.id, "--json").json["command"][:3] == ["sm", "send", session.id]
    assert f'sm send {session.id} "…"' in recall("resume", session.id, "--run").err


MARKDOWN = """\
# Plan
**Fix:** use `x < 1`, see [docs](https://example.org/a?b=1&c=2) and ![picture](https://example.org/p.png)

- one
- two

| name | count |
|---|--:|
| a | 1 |

```python
if 1 < 2: pass
```

[bad](javascript:alert(1)) [file](file:///etc/passwd) <script>alert(1)</script>
<img src=x onerror=alert(1)>
"""


def test_html_export_renders_markdown_safely(
    world: World, recall: Recall, tmp_path: Path, berlin: None
) -> None:
    world.file("page").say("do it").say(MARKDOWN, "assistant")
    recall("index")
    path = tmp_path / "page.html"
    assert recall("export", "page", "--format", "html", "-o", str(path)).code == 0
    page = path.read_text()
    for piece in (
        "<strong>Fix:</strong>",
        "<code>x &lt; 1</code>",
        '<a href="https://example.org/a?b=1&amp;c=2">docs</a>',
        "<li>one</li>",
        '<td style="text-align:right">1</td>',
        '<span class="k">if</span>',
        "#1 assistant, 2026-03-01 13:00 CET",
        "&lt;script&gt;alert(1)&lt;/script&gt;",
    ):
        assert piece in page, piece
    for piece in ("<script", "<img", 'href="javascript', 'href="file', "onerror=alert(1)>"):
        assert piece not in page.replace("&lt;img src=x onerror=alert(1)&gt;", ""), piece
