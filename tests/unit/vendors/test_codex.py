"""Codex's rollouts, made line by line."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from navi.vendors.codex.history import CodexSource
from tests.unit.vendors.rows import Rows, rows_of, written

AT = "2026-11-15T12:00:00.000Z"
OWN = "01a1e0ae-8ec6-7621-a39a-f47a43681d80"
PARENT = "01a1e0ae-74a1-75f1-a403-8cbe9040ccb2"


def line(kind: str, payload: Any, at: str = AT) -> dict[str, Any]:
    return {"timestamp": at, "type": kind, "payload": payload}


def item(payload: Any, at: str = AT) -> dict[str, Any]:
    return line("response_item", payload, at)


def event(kind: str, at: str = AT, **fields: Any) -> dict[str, Any]:
    return line("event_msg", {"type": kind, **fields}, at)


def message(role: str, *texts: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": text} for text in texts]
    return {"type": "message", "role": role, "content": content}


def call(name: str, arguments: Any, kind: str = "function_call") -> dict[str, Any]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"type": kind, "name": name, "arguments": text, "call_id": "c"}


@pytest.fixture
def read(tmp_path: Path):
    def read(*lines: Any) -> Rows:
        return rows_of(CodexSource(), written(tmp_path / "rollout-x.jsonl", *lines))

    return read


def test_what_events_repeat_is_not_said_twice(read) -> None:
    rows = read(
        line("session_meta", {"id": OWN, "cwd": "/p", "git": {"branch": "main"}}),
        event("task_started"),
        item(message("developer", "vendor")),
        item(message("user", "<environment_context>\n  <cwd>/p</cwd>\n</environment_context>")),
        item(message("user", "go")),
        event("user_message", message="go"),
        event("agent_reasoning", text="hm"),
        item({"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}),
        event("agent_message", message="done"),
        item(message("assistant", "done")),
        event("task_complete"),
    )
    assert [(m.role, m.content, m.thinking) for m in rows.messages] == [
        ("user", "go", None),
        ("assistant", None, "hm"),
        ("assistant", "done", None),
    ]
    assert (rows.session.cwd, rows.session.git_branch) == ("/p", "main")


DESCRIBED = (
    line("session_meta", {"id": "abc123", "cwd": "/path", "git": {"branch": "main"}}),
    event("user_message", message="Help me..."),
    event("agent_message", message="I'll help..."),
    event("function_call", name="shell", parameters={"command": ["bash", "-lc", "ls"]}),
    line(
        "message",
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Look"},
                {"type": "tool_use", "name": "shell", "input": {"command": "git status"}},
                {"type": "tool_use", "name": "read", "input": {"path": "a"}},
            ],
        },
    ),
)


def test_the_format_of_the_first_description_is_read(read) -> None:
    rows = read(*DESCRIBED)
    assert rows.session.source_session_id == "abc123"
    assert rows.contents == [
        ("user", "Help me..."),
        ("assistant", "I'll help..."),
        ("assistant", "Look"),
    ]
    assert [(c.message_idx, c.idx, c.tool_name, c.command) for c in rows.tool_calls] == [
        (None, 0, "shell", "ls"),
        (2, 0, "shell", "git status"),
        (2, 1, "read", None),
    ]


BARE = (
    {"id": "f2d5", "timestamp": AT, "instructions": None, "git": {"branch": "old"}},
    {"record_type": "state"},
    message("user", "<environment_context>\n  <cwd>/bare</cwd>\n</environment_context>"),
    message("user", "bare prompt"),
    message("assistant", "bare answer"),
    call("shell", {"command": ["ls", "-l a"]}),
)


def test_items_without_an_envelope_are_read(read) -> None:
    rows = read(*BARE)
    assert rows.contents == [("user", "bare prompt"), ("assistant", "bare answer")]
    assert rows.tool_calls[0].command == "ls '-l a'"
    session = rows.session
    assert (session.source_session_id, session.cwd, session.git_branch) == ("f2d5", "/bare", "old")
    assert session.started_at == datetime(2026, 11, 15, 12, tzinfo=UTC)


def test_lines_of_all_eras_in_one_file_are_each_read_as_they_are(read) -> None:
    new = (
        event("task_started"),
        item(message("user", "new prompt")),
        event("user_message", message="new prompt"),
        item(message("assistant", "new answer")),
        event("task_complete"),
    )
    rows = read(*BARE, *new, *DESCRIBED[1:])
    assert rows.words("user") == ["bare prompt", "new prompt", "Help me..."]
    assert rows.words("assistant") == ["bare answer", "new answer", "I'll help...", "Look"]
    assert [c.idx for c in rows.tool_calls if c.message_idx is None] == [0, 1]
    rows = read(*DESCRIBED, *new, *BARE)
    assert rows.words("user") == ["Help me...", "new prompt", "bare prompt"]


def test_a_prompt_that_looks_injected_is_a_person_s_if_an_event_says_so(read) -> None:
    tag = "<div>\nwhat does this do?\n</div>"
    standing = "# AGENTS.md instructions are wrong, mend them"
    rows = read(
        item(message("user", tag)),
        item(message("user", standing)),
        event("user_message", message=standing),
        item(message("user", tag)),
        event("user_message", message=tag),
    )
    assert rows.contents == [("system", tag), ("user", standing), ("user", tag)]


def test_what_happened_to_a_turn_is_not_a_person_s(read) -> None:
    aborted = "<turn_aborted>\nThe user interrupted\n</turn_aborted>"
    rows = read(
        item(message("user", aborted)), event("turn_aborted"), event("error", message="no luck")
    )
    assert rows.contents == [("system", aborted), ("system", "no luck")]


@pytest.mark.parametrize(
    ("name", "arguments", "command"),
    [
        ("exec_command", {"cmd": "ls -l"}, "ls -l"),
        ("exec_command", {"cmd": "bash -lc 'ls && pwd'"}, "ls && pwd"),
        ("shell", {"command": ["bash", "-lc", "ls | wc"]}, "ls | wc"),
        ("shell", {"command": ["/usr/bin/zsh", "-c", "ls"]}, "ls"),
        ("shell", {"command": ["git", "commit", "-m", "a b"]}, "git commit -m 'a b'"),
        ("shell_command", {"command": "bash script.sh -c x"}, "bash script.sh -c x"),
        ("shell_command", {"command": "bash -c 'torn"}, "bash -c 'torn"),
        ("shell_command", {"command": "bash -c 'a' b c"}, "bash -c 'a' b c"),
        ("update_plan", {"cmd": "ls"}, None),
        ("shell", {"command": 5}, None),
    ],
)
def test_a_shell_command_is_found_without_the_shell_around_it(
    read, name: str, arguments: Any, command: str | None
) -> None:
    [tool_call] = read(item(call(name, arguments))).tool_calls
    assert tool_call.command == command
    assert json.loads(tool_call.tool_input or "") == arguments


def test_every_tool_s_input_is_json(read) -> None:
    rows = read(
        item(call("broken", "{not json")),
        item({"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin Patch\n"}),
        item({"type": "tool_search_call", "arguments": {"query": "recall"}}),
        item({"type": "local_shell_call", "action": {"type": "exec", "command": ["ls"]}}),
        item({"type": "web_search_call", "action": {"type": "search", "query": "q"}}),
        item({"type": "bare_call"}),
    )
    inputs = [
        (c.tool_name, json.loads(c.tool_input) if c.tool_input else None, c.command)
        for c in rows.tool_calls
    ]
    assert inputs == [
        ("broken", "{not json", None),
        ("apply_patch", "*** Begin Patch\n", None),
        ("tool_search_call", {"query": "recall"}, None),
        ("local_shell_call", {"type": "exec", "command": ["ls"]}, "ls"),
        ("web_search_call", {"type": "search", "query": "q"}, None),
        ("bare_call", None, None),
    ]


def count(total: int, last: int) -> dict[str, Any]:
    def usage(tokens: int) -> dict[str, int]:
        return {"input_tokens": tokens, "cached_input_tokens": tokens // 2, "output_tokens": 1}

    info = {"total_token_usage": usage(total), "last_token_usage": usage(last)}
    return event("token_count", info=info)


def test_a_repeated_count_is_not_a_second_answer(read) -> None:
    rows = read(
        line("turn_context", {"model": "gpt-5.5", "cwd": "/p"}),
        event("token_count", info=None),
        count(10, 10),
        count(10, 10),
        count(30, 20),
    )
    assert rows.tokens == (15, 2, 15, 0)
    assert {usage.model for usage in rows.by_key.values()} == {"gpt-5.5"}


def test_records_count_once_and_instead_of_what_follows_them(read) -> None:
    usage = {"input_tokens": 100, "cached_input_tokens": 90, "output_tokens": 5}
    record = line("token_usage_record", {"response_id": "r1", "usage": usage})
    rows = read(count(10, 10), record, record, count(110, 100))
    assert set(rows.by_key) >= {"r1"}
    assert rows.tokens == (15, 6, 95, 0)


def test_what_a_fork_copied_from_its_parent_is_not_its_own(read) -> None:
    old, new = "01a1e0ae-74ba-7730-a5fe-df2d46087acb", "01a1e0ae-b393-7f92-9009-03300bc9cc11"
    rows = read(
        line("session_meta", {"id": OWN, "forked_from_id": PARENT}),
        line("session_meta", {"id": PARENT}),
        event("task_started", turn_id=old),
        item(message("user", "of the parent")),
        item(call("shell", {"command": "ls"})),
        count(10, 10),
        event("task_started", turn_id=new),
        item(message("user", "of the fork")),
        count(10, 10),
        count(30, 20),
    )
    assert rows.session.source_session_id == OWN
    assert rows.session.parent_source_session_id == PARENT
    assert not rows.session.is_subagent
    assert rows.contents == [("user", "of the fork")]
    assert rows.tool_calls == []
    assert rows.tokens == (10, 1, 10, 0)


def test_a_copy_without_numbered_turns_ends_with_a_pause(read) -> None:
    rows = read(
        line("session_meta", {"id": OWN, "forked_from_id": PARENT}),
        line("session_meta", {"id": PARENT}),
        item(message("user", "of the parent")),
        item(message("user", "of the fork"), at="2026-11-15T12:00:09.000Z"),
    )
    assert rows.contents == [("user", "of the fork")]


@pytest.mark.parametrize(
    ("meta", "parent"),
    [
        ({"source": {"subagent": {"thread_spawn": {"parent_thread_id": PARENT}}}}, PARENT),
        ({"source": {"subagent": "review"}, "session_id": PARENT}, PARENT),
        ({"source": {"subagent": "review"}, "session_id": OWN}, None),
    ],
)
def test_a_sub_agent_belongs_to_the_session_that_started_it(
    read, meta: Any, parent: str | None
) -> None:
    session = read(line("session_meta", {"id": OWN, **meta})).session
    assert session.is_subagent
    assert session.parent_source_session_id == parent


def test_the_model_and_the_folder_are_the_newest(read) -> None:
    session = read(
        line("session_meta", {"id": OWN, "cwd": "/a"}),
        line("turn_context", {"cwd": "/b", "model": "one", "summary": "auto"}),
        line("turn_context", {"cwd": "/c", "model": "two"}),
    ).session
    assert (session.cwd, session.model) == ("/c", "two")


def test_a_name_given_later_is_found_without_a_new_process(private_home: Path) -> None:
    codex, home = CodexSource(), private_home / ".codex"
    file = home / "sessions" / "2026" / "11" / "15" / f"rollout-2026-11-15T12-00-00-{OWN}.jsonl"
    written(file, line("session_meta", {"id": OWN}))
    assert rows_of(codex, file).session.title is None
    index = home / "session_index.jsonl"
    written(index, b"{torn", {"id": OWN, "thread_name": "first"})
    assert rows_of(codex, file).session.title == "first"
    written(index, {"id": OWN, "thread_name": "first"}, {"id": OWN, "thread_name": "second"})
    assert rows_of(codex, file).session.title == "second"


def test_files_are_found_where_codex_keeps_them(
    private_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert list(CodexSource().discover()) == []
    sessions = private_home / ".codex" / "sessions"
    dated = written(sessions / "2026" / "11" / "15" / f"rollout-{OWN}.jsonl", BARE[0])
    flat = written(sessions / "abc123" / "rollout.jsonl", BARE[0])
    (sessions / "abc123" / "rollout-empty.jsonl").touch()
    written(private_home / ".codex" / "history.jsonl", {"text": "not this"})
    assert {file.path for file in CodexSource().discover()} == {str(dated), str(flat)}

    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "other"))
    other = written(tmp_path / "other" / "sessions" / "x" / "rollout.jsonl", BARE[0])
    assert [file.path for file in CodexSource().discover()] == [str(other)]


def test_a_session_is_taken_up_with_codex_s_own_command() -> None:
    assert CodexSource().resume_command("abc", "/p") == ["codex", "resume", "abc"]


def test_the_name_of_a_file_never_becomes_an_option_of_codex() -> None:
    assert CodexSource().resume_command("--dangerously-bypass-approvals-and-sandbox", "/p") is None


def test_an_event_that_stands_before_its_item_is_one_message(read) -> None:
    rows = read(
        line("session_meta", {"id": OWN, "cwd": "/p"}),
        event("user_message", message="Start"),
        event("agent_message", message="Sure."),
        line("turn_context", {"cwd": "/p", "model": "gpt-5"}),
        item(message("user", "Start")),
        item(message("assistant", "Sure.")),
        event("task_complete"),
        event("user_message", message="Start"),
        item(message("assistant", "As before.")),
    )
    assert rows.contents == [
        ("user", "Start"),
        ("assistant", "Sure."),
        ("user", "Start"),
        ("assistant", "As before."),
    ]


def test_a_prompt_that_only_an_event_has_does_not_hide_a_later_item(read) -> None:
    rows = read(
        event("user_message", message="go on"),
        item(message("assistant", "Done.")),
        item(message("user", "go on")),
    )
    assert [role for role, _ in rows.contents] == ["user", "assistant", "user"]


def test_what_agents_write_to_each_other_is_a_message(read) -> None:
    content = [
        {"type": "input_text", "text": "check the rollback"},
        {"type": "encrypted_content", "encrypted_content": "opaque"},
    ]
    letter = {"author": "/root", "recipient": "/root/reviewer", "content": content}
    rows = read(
        item({"type": "agent_message", **letter}),
        line("inter_agent_communication", letter),
        item({"type": "agent_message", "content": "plain"}),
        item({"type": "agent_message", "author": "/root", "content": []}),
    )
    assert rows.contents == [
        ("system", "/root to /root/reviewer: check the rollback"),
        ("system", "plain"),
    ]
    assert rows.session.unknown_kinds == {}
