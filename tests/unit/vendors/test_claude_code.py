"""Claude Code's transcripts, made line by line."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from navi.memory.model import PastUsage
from navi.vendors.claude_code.history import MAX_OPEN_ANSWERS, ClaudeCodeSource
from tests.rights import rights_that_files_give
from tests.unit.vendors.rows import Rows, rows_of, written

AT = "2026-11-15T12:00:00.000Z"
NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)


def user(content: Any, **fields: Any) -> dict[str, Any]:
    return {
        "type": "user",
        "message": {"role": "user", "content": content},
        "timestamp": AT,
        "sessionId": "s",
        "cwd": "/home/ada/p",
        **fields,
    }


def answer(id: str | None, *blocks: Any, usage: Any = None, **fields: Any) -> dict[str, Any]:
    message = {"id": id, "role": "assistant", "model": "claude-opus-5-5", "content": list(blocks)}
    if usage is not None:
        message["usage"] = usage
    return {"type": "assistant", "message": message, "timestamp": AT, **fields}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def thinking(words: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": words, "signature": "x"}


def bash(command: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": command}}


@pytest.fixture
def read(tmp_path: Path):
    def read(*lines: Any, name: str = "s.jsonl") -> Rows:
        return rows_of(ClaudeCodeSource(), written(tmp_path / name, *lines))

    return read


def test_the_lines_of_one_answer_are_one_message(read) -> None:
    rows = read(
        user("go"),
        answer("m1", thinking("hm")),
        answer("m1", text("I look.")),
        answer("m1", bash("ls")),
        user([{"type": "tool_result", "tool_use_id": "t", "content": "README.md"}]),
        answer("m1", bash("pwd")),
        answer("m2", text("Done.")),
    )
    assert [(m.role, m.content, m.thinking) for m in rows.messages] == [
        ("user", "go", None),
        ("assistant", "I look.", "hm"),
        ("assistant", "Done.", None),
    ]
    assert [(c.message_idx, c.idx, c.command) for c in rows.tool_calls] == [
        (1, 0, "ls"),
        (1, 1, "pwd"),
    ]
    assert json.loads(rows.tool_calls[0].tool_input or "") == {"command": "ls"}


def test_answers_written_at_the_same_time_stay_apart(read) -> None:
    ids = [f"m{number}" for number in range(MAX_OPEN_ANSWERS)]
    rows = read(
        *(answer(id, text(f"{id} begins.")) for id in ids),
        *(answer(id, text(f"{id} ends.")) for id in ids),
    )
    assert rows.words("assistant") == [f"{id} begins.\n\n{id} ends." for id in ids]


def test_an_answer_only_of_calls_is_a_message_without_words(read) -> None:
    rows = read(answer("m", bash("ls")))
    assert rows.contents == [("assistant", None)]
    assert rows.tool_calls[0].message_idx == 0


def test_an_answer_costs_the_most_that_any_of_its_lines_says(read) -> None:
    rows = read(
        answer("m", text("a"), usage={"input_tokens": 5, "output_tokens": 1}),
        answer("m", text("b"), usage={"input_tokens": 3, "output_tokens": 9}),
        answer("m", text("c"), usage={"cache_read_input_tokens": 7}),
    )
    assert rows.by_key == {"m": PastUsage("m", "claude-opus-5-5", NOON, 5, 9, 7, 0)}


def test_what_the_client_says_itself_is_not_the_model_s(read) -> None:
    notice = answer("x", text("API Error"), usage={"input_tokens": 0, "output_tokens": 0})
    notice["message"]["model"] = "<synthetic>"
    rows = read(answer("m", text("hello")), notice)
    assert rows.contents == [("assistant", "hello"), ("system", "API Error")]
    assert rows.session.model == "claude-opus-5-5"
    assert rows.by_key == {}


@pytest.mark.parametrize(
    "words",
    [
        "<command-name>/compact</command-name>",
        "<local-command-stdout>done</local-command-stdout>",
        "<task-notification>\n<task-id>1",
        "<bash-input>ls</bash-input>",
        "[Request interrupted by user]",
        "[Request interrupted by user for tool use]",
    ],
)
def test_what_a_client_writes_under_the_user_s_name_is_not_a_person_s(read, words: str) -> None:
    assert read(user(words)).contents == [("system", words)]


def test_summaries_and_notes_are_not_a_person_s(read) -> None:
    rows = read(user("as before", isCompactSummary=True), user("note", isMeta=True), user("me"))
    assert rows.words("system") == ["as before", "note"]
    assert rows.words("user") == ["me"]


def test_what_a_client_puts_beside_a_prompt_is_kept_apart(read) -> None:
    reminder = text("<system-reminder>be kind</system-reminder>")
    opened = text("<ide_opened_file>a.py</ide_opened_file>")
    rows = read(user([reminder, opened, text("fix it"), text("please")]))
    assert rows.contents == [
        ("system", "<ide_opened_file>a.py</ide_opened_file>"),
        ("user", "fix it\n\nplease"),
    ]


def test_words_beside_a_tool_s_result_are_found(read) -> None:
    result = {"type": "tool_result", "tool_use_id": "t", "content": [text("output")]}
    assert read(user([result, text("and now stop")])).contents == [("user", "and now stop")]


def queued(prompt: Any, **fields: Any) -> dict[str, Any]:
    attachment = {"type": "queued_command", "prompt": prompt, **fields}
    return {"parentUuid": "u", "attachment": attachment, "type": "attachment", "timestamp": AT}


def test_a_prompt_typed_while_the_agent_was_busy_is_found(read) -> None:
    human = {"commandMode": "prompt", "origin": {"kind": "human"}}
    rows = read(
        {**queued("vendor"), "attachment": {"type": "skill_listing", "content": "vendor"}},
        queued("and this", **human),
        queued([text("in blocks")]),
        queued("<task-notification>done", commandMode="task-notification"),
    )
    assert rows.words("user") == ["and this", "in blocks"]
    assert rows.words("system") == ["<task-notification>done"]
    assert rows.session.unknown_kinds == {}


def test_an_attachment_is_known_wherever_its_line_says_so(read) -> None:
    line = {"pad": "x" * 500, **queued("late")}
    other = {"pad": "x" * 500, "attachment": {"type": "file"}, "type": "attachment"}
    rows = read(line, other)
    assert rows.contents == [("user", "late")]
    assert rows.session.unknown_kinds == {}


def test_the_format_of_the_first_description_is_read(read) -> None:
    rows = read(
        {"type": "user", "message": {"role": "user", "content": "Help me"}, "costUSD": 0},
        {
            "type": "assistant",
            "message": {"role": "assistant", "content": [text("I will"), bash("git status")]},
            "costUSD": 0.01,
            "inputTokens": 12,
            "outputTokens": 34,
        },
        {
            "type": "assistant",
            "message": {"role": "assistant", "content": "Done"},
            "inputTokens": 1,
            "outputTokens": 2,
        },
    )
    assert rows.contents == [("user", "Help me"), ("assistant", "I will"), ("assistant", "Done")]
    assert [call.command for call in rows.tool_calls] == ["git status"]
    assert rows.tokens == (13, 36, 0, 0)
    assert rows.session.source_session_id == "s"


def test_old_and_new_lines_in_one_file_are_each_read_as_they_are(read) -> None:
    rows = read(
        {"type": "user", "message": {"role": "user", "content": "old"}},
        user("new"),
        {"type": "assistant", "message": {"content": "old answer"}, "inputTokens": 1},
        answer("m", text("new answer"), usage={"input_tokens": 2}),
    )
    assert rows.contents == [
        ("user", "old"),
        ("user", "new"),
        ("assistant", "old answer"),
        ("assistant", "new answer"),
    ]
    assert rows.tokens[0] == 3


def test_the_name_a_person_gave_wins_over_made_ones(read) -> None:
    made = {"type": "summary", "summary": "first"}, {"type": "summary", "summary": "second"}
    assert read(*made).session.title == "first"
    named = {"type": "custom-title", "customTitle": "mine"}
    guessed = {"type": "ai-title", "aiTitle": "guessed"}
    assert read(*made, guessed).session.title == "guessed"
    assert read(named, *made, guessed).session.title == "mine"


def test_a_session_is_where_it_began_and_ended_with_its_last_line(read) -> None:
    later = "2026-11-15T13:00:00.000Z"
    rows = read(
        {"type": "mode", "mode": "normal"},
        user("a", gitBranch="main"),
        user("b", cwd="/elsewhere", gitBranch="other"),
        {"type": "queue-operation", "timestamp": later},
        {"type": "last-prompt"},
    )
    session = rows.session
    assert (session.cwd, session.git_branch) == ("/home/ada/p", "main")
    assert (session.started_at, session.ended_at) == (NOON, NOON.replace(hour=13))


def test_a_sub_agent_belongs_to_the_session_that_started_it(read) -> None:
    beside = read(user("count", isSidechain=True), name="agent-1.jsonl").session
    assert (beside.source_session_id, beside.parent_source_session_id) == ("agent-1", "s")
    below = read(answer("m", text("a")), name="parent/subagents/agent-2.jsonl").session
    assert (below.source_session_id, below.parent_source_session_id) == ("agent-2", "parent")
    assert beside.is_subagent
    assert below.is_subagent


def test_a_warm_up_is_recognised(read) -> None:
    rows = read(user("Warmup"), answer("m", text("I am ready.")), name="agent-1.jsonl")
    assert rows.session.is_warmup
    assert rows.words("user") == []
    assert not read(user("Warmup")).session.is_warmup
    assert not read(user("Count"), name="agent-1.jsonl").session.is_warmup


def test_a_fork_names_the_session_it_came_from(read) -> None:
    session = read(user("a", forkedFrom={"sessionId": "other"})).session
    assert (session.parent_source_session_id, session.is_subagent) == ("other", False)


def test_files_are_found_where_claude_code_keeps_them(
    private_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert list(ClaudeCodeSource().discover()) == []
    projects = private_home / ".claude" / "projects"
    main = written(projects / "-p" / "a.jsonl", user("a"))
    agent = written(projects / "-p" / "a" / "subagents" / "agent-1.jsonl", user("b"))
    (projects / "-p" / "empty.jsonl").touch()
    (projects / "-p" / "folder.jsonl").mkdir()
    written(projects / "-p" / "a" / "tool-results" / "x.jsonl", user("c"))
    written(projects / "-p" / "sessions-index.json", {})
    files = {file.path: file for file in ClaudeCodeSource().discover()}
    assert set(files) == {str(main), str(agent)}
    assert files[str(main)].size == main.stat().st_size
    assert files[str(main)].mtime == main.stat().st_mtime

    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "other"))
    assert list(ClaudeCodeSource().discover()) == []
    other = written(tmp_path / "other" / "projects" / "-q" / "b.jsonl", user("d"))
    assert [file.path for file in ClaudeCodeSource().discover()] == [str(other)]


def test_a_session_is_taken_up_with_claude_s_own_command() -> None:
    assert ClaudeCodeSource().resume_command("abc", "/p") == ["claude", "--resume", "abc"]
    assert ClaudeCodeSource().resume_command("agent-1", "/p") is None


@pytest.mark.parametrize("name", ["--dangerously-skip-permissions", "-c", "", "a b", "a\n", "ä"])
def test_the_name_of_a_file_never_becomes_an_option_of_claude(name: str) -> None:
    assert ClaudeCodeSource().resume_command(name, "/p") is None


def at(second: int) -> str:
    return f"2026-11-15T12:00:{second:02}.000Z"


def history(prefix: str) -> list[dict[str, Any]]:
    """A session with more answers than the reader keeps open; uuids start with `prefix`."""
    lines: list[dict[str, Any]] = []
    for turn in range(MAX_OPEN_ANSWERS + 4):
        call = {"type": "tool_use", "id": f"t{turn}", "name": "Bash", "input": {"command": "ls"}}
        usage = {"input_tokens": 10, "output_tokens": turn}
        lines += [
            user("again, please", uuid=f"{prefix}{turn}", timestamp=at(3 * turn)),
            answer(f"m{turn}", text("Done."), timestamp=at(3 * turn + 1), usage=usage),
            answer(f"m{turn}", call, timestamp=at(3 * turn + 1), usage=usage),
            {
                "type": "system",
                "content": "a hook ran",
                "uuid": f"{prefix}s{turn}",
                "timestamp": at(3 * turn + 2),
            },
        ]
    return lines


def facts(rows: Rows) -> Any:
    return rows.messages, rows.tool_calls, rows.by_key


@pytest.mark.parametrize("prefix", ["old", "new"])
def test_a_history_written_again_counts_once(prefix: str, tmp_path: Path) -> None:
    """With the same uuids or new ones, wherever reading stopped in between."""
    once = rows_of(ClaudeCodeSource(), written(tmp_path / "s.jsonl", *history("old")))
    assert len(once.words("user")) == MAX_OPEN_ANSWERS + 4
    assert len(once.tool_calls) == MAX_OPEN_ANSWERS + 4
    more = user("something new", uuid="n", timestamp=at(59))
    alone = rows_of(ClaudeCodeSource(), written(tmp_path / "s.jsonl", *history("old"), more))
    again = [*history("old"), *history(prefix), more]
    twice = rows_of(ClaudeCodeSource(), written(tmp_path / "s.jsonl", *again))
    assert facts(twice) == facts(alone)
    for stop in range(1, len(again), 5):
        first = rows_of(ClaudeCodeSource(), written(tmp_path / "s.jsonl", *again[:stop]))
        rest = first.read(ClaudeCodeSource(), written(tmp_path / "s.jsonl", *again), first.mark)
        assert facts(rest) == facts(alone)


def test_a_line_written_twice_counts_once(read) -> None:
    prompt = user("go", uuid="u")
    reply = answer("m", text("answer once"), bash("git status"), uuid="a")
    rows = read(prompt, prompt, reply, reply)
    assert rows.contents == [("user", "go"), ("assistant", "answer once")]
    assert [call.command for call in rows.tool_calls] == ["git status"]


def test_a_block_that_an_answer_repeats_counts_once(read) -> None:
    rows = read(
        answer("m", text("lol"), timestamp=at(1), uuid="a"),
        answer("m", text("lol"), timestamp=at(2), uuid="b"),
        answer("m", thinking("hm"), timestamp=at(3), uuid="c"),
        answer("m", thinking("hm"), timestamp=at(4), uuid="d"),
    )
    assert [(m.content, m.thinking) for m in rows.messages] == [("lol", "hm")]


def test_the_same_words_at_another_time_are_said_again(read) -> None:
    rows = read(
        user("go on", uuid="a", timestamp=at(1)),
        answer("m1", text("Done."), timestamp=at(2)),
        user("go on", uuid="b", timestamp=at(3)),
        answer("m2", text("Done."), timestamp=at(4)),
        user("late", uuid="c", timestamp=at(2)),
    )
    assert rows.words("user") == ["go on", "go on", "late"]
    assert rows.words("assistant") == ["Done.", "Done."]


def test_a_mark_stays_small_however_long_the_session_is(tmp_path: Path) -> None:
    lines = [
        line
        for number in range(2_000)
        for line in (
            user(f"prompt {number}", uuid=f"u{number}"),
            answer(f"m{number}", text(f"answer {number}"), bash("ls")),
        )
    ]
    assert len(rows_of(ClaudeCodeSource(), written(tmp_path / "s.jsonl", *lines)).mark) < 3_000


def test_a_folder_that_may_not_be_read_is_named(private_home: Path) -> None:
    projects = private_home / ".claude" / "projects"
    written(projects / "-open" / "a.jsonl", user("pear"))
    written(projects / "-closed" / "b.jsonl", user("plum"))
    (projects / "-closed").chmod(0)
    source = ClaudeCodeSource()
    try:
        with rights_that_files_give():
            assert [Path(file.path).name for file in source.discover()] == ["a.jsonl"]
            assert source.unreadable == [str(projects / "-closed")]
    finally:
        (projects / "-closed").chmod(0o700)
    assert len(list(source.discover())) == 2
    assert source.unreadable == []
