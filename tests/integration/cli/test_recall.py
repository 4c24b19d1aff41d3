"""`recall`, the whole command line, on a real index in a private home."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from navi.cli.recall.main import COMMANDS
from tests.integration.cli.recall_runs import AS_A_PROCESS, Recall
from tests.memory_world import World


def test_help_imports_no_engine() -> None:
    script = (
        "import sys; sys.argv = ['recall', '--help']\n"
        "from navi.cli.recall.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'duckdb', 'tantivy', 'msgspec', 'rich', 'navi.memory', 'pydantic', 'asyncio'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert lines[-1] == "[]"
    assert all(any(name in line for line in lines) for name in COMMANDS)


def test_searching_imports_no_database(full: World) -> None:
    script = (
        "import sys; sys.argv = ['recall', 'search', 'auth']\n"
        "from navi.cli.recall.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'duckdb', 'rich', 'pydantic'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    "words", [["list", "--json"], ["search", "auth", "--json"], ["stats", "--json"]]
)
def test_a_process_says_all_that_there_is_to_say(
    full: World, recall: Recall, words: list[str]
) -> None:
    ran = subprocess.run([*AS_A_PROCESS, *words], capture_output=True, text=True)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, recall(*words).out, "")


@pytest.mark.parametrize("words", [["list", "--json"], ["search", "auth"]])
def test_an_answer_that_could_not_be_written_is_a_failure(full: World, words: list[str]) -> None:
    with open("/dev/full", "w") as disk:
        ran = subprocess.run(
            [*AS_A_PROCESS, *words], stdout=disk, stderr=subprocess.PIPE, text=True
        )
    assert ran.returncode == 1
    assert ran.stderr.splitlines() == [
        "error: can't write the output: No space left on device",
        "hint: is the disk full?",
    ]


def test_a_run_with_nothing_to_do_opens_no_engine_and_sees_every_change(
    full: World, recall: Recall
) -> None:
    script = (
        "import sys; sys.argv = ['recall', 'index', '--json']\n"
        "from navi.cli.recall.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'duckdb', 'tantivy', 'rich'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert '"skipped": 2' in done.stdout
    full.file("new").say("pear")
    assert recall("index", "--json").json["indexed"] == 1
    full.file("new").path.unlink()
    assert recall("index", "--json").json["total"] == 2
    assert sum(each["is_archived"] for each in recall("list", "--json").json) == 1
    assert recall("index", "--full", "--json").json["indexed"] == 2
    full.paths.database.write_bytes(b"broken")
    assert recall("index").code == 1


def test_an_empty_home_gives_zeros_and_exit_code_0(recall: Recall) -> None:
    answer = recall("index", "--json")
    assert (answer.code, answer.json["total"], answer.json["indexed"]) == (0, 0, 0)
    assert set(answer.json) == {
        *("indexed", "skipped", "failed", "total", "messages", "tool_calls", "bytes"),
        *("seconds", "warnings"),
    }
    assert recall("search", "x", "--json").json == []
    assert recall("list", "--json").json == []
    assert recall("stats", "--json").json["sessions"] == 0
    assert recall("stats", "tools", "--json").json == []
    assert recall("stats", "bash", "--json").json == []
    assert recall("stats", "tokens", "--json").json == []
    suggested = recall("stats", "bash", "--suggest", "--json").json
    assert suggested == {"suggestions": [], "skipped": []}


def test_before_the_first_index_the_next_command_is_named(recall: Recall) -> None:
    for arguments in (["show", "abcd"], ["stats"], ["tag", "abcd"]):
        answer = recall(*arguments)
        assert (answer.code, answer.out) == (1, "")
        assert answer.err.splitlines()[-1] == "hint: recall index"


def test_search_as_json_has_the_fields_of_the_contract(full: World, recall: Recall) -> None:
    (hit,) = recall("search", "status", "--json").json
    assert {
        *("session_id", "source", "source_session_id", "message_id", "tool_call_id", "kind"),
        *("role", "tool_name", "timestamp", "project", "score", "snippet"),
    } <= set(hit)
    assert (hit["kind"], hit["tool_name"], hit["source"]) == ("bash", "Bash", "claude_code")
    assert hit["snippet"] == "git status"
    assert hit["timestamp"].endswith("Z")


def test_search_shows_sessions_with_their_project_age_and_how_to_resume(
    full: World, recall: Recall
) -> None:
    output = recall("search", "auth*").out
    assert "user: Help me fix the auth bug" in output
    assert "assistant: I'll investigate the authentication" in output
    assert "~/shop" in output
    assert "ago" in output or "just now" in output
    assert "claude --resume shop-session" in output
    assert output.count("claude --resume") == 1


def test_filters_reach_the_search(full: World, recall: Recall) -> None:
    assert recall("search", "fix OR auth", "--source", "codex", "--json").json == []
    assert len(recall("search", "auth", "--source", "claude-code", "--json").json) == 1
    assert recall("search", "auth", "--project", "garden", "--json").json == []
    assert recall("search", "auth", "--role", "assistant", "--json").json == []
    assert len(recall("search", "auth", "--since", "2026-01-01", "--json").json) == 1
    assert recall("search", "auth", "--since", "2026-03-02T00:00:00", "--json").json == []
    assert len(recall("search", "status", "--tool", "bash", "--json").json) == 1
    assert recall("search", "--json", "--", "auth", "-bug").json == []


def test_odd_queries_find_nothing_and_fail_not(full: World, recall: Recall) -> None:
    for query in ("AND OR NOT", "x" * 10_000, "a:b^2~", "a\udcff", '"a', "a*b", "-a"):
        answer = recall("search", "--json", "--", query)
        assert answer.code == 0
        assert isinstance(answer.json, list)


def test_list_as_json_has_the_documents_columns_newest_first(full: World, recall: Recall) -> None:
    sessions = recall("list", "--json").json
    assert {
        *("id", "source", "source_path", "source_session_id", "started_at", "ended_at"),
        *("duration_seconds", "model", "cwd", "git_repo", "git_branch", "message_count"),
        *("tool_count", "input_tokens", "output_tokens", "is_complete", "file_mtime"),
        *("file_size", "indexed_at"),
    } <= set(sessions[0])
    assert [each["source_session_id"] for each in sessions] == ["shop-session", "garden-session"]
    assert sessions[0]["ended_at"] >= sessions[1]["ended_at"]
    assert [each["tool_count"] for each in sessions] == [2, 0]
    assert sessions[1]["input_tokens"] is None
    by_project = recall("list", "--project", "garden", "--json").json
    assert [each["source_session_id"] for each in by_project] == ["garden-session"]
    assert recall("list", "--source", "codex", "--json").json == []
    assert recall("list", "--since", "2026-03-05", "--json").json == []
    assert len(recall("list", "--limit", "1", "--json").json) == 1


def test_show_reads_like_a_conversation(full: World, recall: Recall, berlin: None) -> None:
    session = recall("list", "--json").json[0]["id"]
    lines = recall("show", session).out.splitlines()
    assert lines[0] == f"[2026-03-01 13:00 CET] Session {session} (claude-code)"
    assert lines[1] == "Project: ~/shop"
    assert lines[2] == "Duration: 3s | Messages: 4 | Tools: 2"
    assert "#0 user: Help me fix the auth bug" in lines
    assert not any("[Bash]" in line or "handler.ts" in line for line in lines)
    more = recall("show", session, "--tools", "--thinking").out
    assert "  [Bash] git status" in more
    assert "  [Read] src/a.ts" in more
    assert "handler.ts" in more


def test_show_as_json_is_the_session_with_its_messages_and_calls(
    full: World, recall: Recall
) -> None:
    session = recall("list", "--json").json[0]["id"]
    details = recall("show", session, "--json").json
    assert details["id"] == session
    assert [message["role"] for message in details["messages"]] == ["user", *["assistant"] * 3]
    call = details["messages"][1]["tool_calls"][0]
    assert (call["bash_base"], call["bash_sub"], call["is_compound"]) == ("git", "status", False)
    assert call["tool_input"] == {"command": "git status"}
    assert details["orphan_tool_calls"] == []


def test_a_session_is_found_by_id_beginning_or_its_agents_id(full: World, recall: Recall) -> None:
    session = recall("list", "--json").json[0]["id"]
    for name in (session, session[:4], session.upper()[:8], "shop-session", "shop-s"):
        assert recall("show", name, "--json").json["id"] == session
    assert "too short" in recall("show", session[:3]).err
    missing = recall("show", "ffffffffffff")
    assert (missing.code, missing.out) == (1, "")
    assert "hint: " in missing.err


def test_an_ambiguous_id_lists_the_candidates(world: World, recall: Recall) -> None:
    for number in range(3):
        world.file(f"same-{number}").say("x")
    recall("index")
    answer = recall("show", "same-")
    assert answer.code == 1
    ids = [each["id"] for each in recall("list", "--json").json]
    assert all(id in answer.err for id in ids)


def test_wrong_usage_is_exit_code_2_with_a_hint(recall: Recall) -> None:
    for arguments in (
        ["dance"],
        ["search"],
        ["list", "--since", "soon"],
        ["list", "--source", "emacs"],
        ["stats", "tokens", "--by", "moon"],
        ["stats", "tokens", "--by", "day,week"],
        ["export", "x", "--format", "pdf"],
    ):
        answer = recall(*arguments)
        assert (answer.code, answer.out) == (2, ""), arguments
        assert answer.err.startswith("error: ")


def test_a_bad_setting_is_named(world: World, recall: Recall, monkeypatch) -> None:
    monkeypatch.setenv("RECALL_FTS_FIELDS", "content,smell")
    answer = recall("index")
    assert answer.code == 2
    assert "RECALL_FTS_FIELDS" in answer.err


def test_resume_prints_the_agents_own_command(full: World, recall: Recall) -> None:
    answer = recall("resume", "shop-session")
    assert answer.out == f"cd {full.home / 'shop'} && claude --resume shop-session\n"
    resumption = recall("resume", "shop-session", "--json").json
    assert resumption["command"] == ["claude", "--resume", "shop-session"]
    gone = recall("resume", "shop-session", "--run")
    assert (gone.code, "can't enter" in gone.err) == (1, True)


def test_a_file_named_like_an_option_is_not_resumed(world: World, recall: Recall) -> None:
    world.file("--dangerously-skip-permissions").say("plum")
    recall("index")
    [hit] = recall("search", "plum", "--json").json
    assert hit["resume_command"] is None
    for more in ([], ["--run"], ["--json"]):
        refused = recall("resume", hit["session_id"], *more)
        assert (refused.code, refused.out) == (1, "")
        assert "can't resume" in refused.err


def test_export_writes_markdown_and_html(full: World, recall: Recall, tmp_path: Path) -> None:
    full.file("odd").say("a <script>alert(1)</script> and\n```python\nif 1 < 2: pass\n```\nend")
    recall("index")
    output = recall("export", "shop-session").out
    assert "Help me fix the auth bug" in output
    assert "[Bash] git status" in output
    page = tmp_path / "page.html"
    assert recall("export", "odd", "--format", "html", "-o", str(page)).code == 0
    written = page.read_text()
    assert "<script>" not in written
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in written
    assert "Content-Security-Policy\" content=\"default-src 'none';" in written


@pytest.mark.proof
@pytest.mark.parametrize(
    "piece", ["```x\n", "````x\n```\n", "[a](", "*a **b ", "|a|b\n|-|-\n", "> "]
)
def test_an_export_takes_linear_time(world: World, recall: Recall, piece: str) -> None:
    """Quadratic time would run into the test's timeout."""
    world.file("long").say(piece * (200_000 // len(piece)))
    recall("index")
    assert recall("export", "long", "--format", "html").code == 0


def test_tags_are_given_listed_and_taken(full: World, recall: Recall) -> None:
    assert recall("tag", "shop-session", "good", "#auth", "--json").json["tags"] == ["auth", "good"]
    assert recall("tag", "shop-session", "good").code == 0
    (tagged,) = recall("list", "--tag", "auth", "--json").json
    assert tagged["tags"] == ["auth", "good"]
    assert recall("untag", "shop-session", "auth", "--json").json["tags"] == ["good"]
    assert recall("list", "--tag", "auth", "--json").code == 1
    assert recall("tag", "shop-session", "two words").code == 1


def test_suggestions_are_shown_applied_and_undone(world: World, recall: Recall) -> None:
    file = world.file()
    for number in range(60):
        file.run("git status")
        file.run(f"rm -rf build{number}")
    recall("index")
    advice = recall("stats", "bash", "--suggest", "--json").json
    assert [(each["pattern"], each["confidence"]) for each in advice["suggestions"]] != []
    assert all("rm" not in each["pattern"].split() for each in advice["suggestions"])
    assert any(each["pattern"].startswith("rm") for each in advice["skipped"])
    assert "Suggested Bash Permissions" in recall("stats", "bash", "--suggest").out

    settings = world.home / ".claude" / "settings.json"
    before = '{\n  "model": "opus",\n  "permissions": {"deny": ["Bash(rm:*)"]}\n}\n'
    settings.write_text(before)
    answer = recall("stats", "bash", "--suggest", "--apply", "--yes")
    assert "+" in answer.out
    allowed = json.loads(settings.read_text())["permissions"]["allow"]
    assert any("git status" in rule for rule in allowed)
    assert recall("stats", "bash", "--undo", "--yes").code == 0
    assert settings.read_text() == before


def test_many_suggestions_fit_on_a_screen_and_all_are_there_on_demand(
    world: World, recall: Recall
) -> None:
    file = world.file()
    file.run("pwd")
    for number in range(60):
        file.run(f"git -C repo{number} log | frobnicate{number} x{number}")
        file.run(f"rm -r{number} x")
    for number in range(100):
        file.run(f"git log -{number}")
    recall("index")
    short = recall("stats", "bash", "--suggest").out
    assert len(short.splitlines()) <= 40
    assert "more; --all shows everything" in short
    assert "git log *" in short
    everything = recall("stats", "bash", "--suggest", "--all").out
    assert "Not shown" not in everything
    assert "pwd                            (1 use)\n" in everything
    assert "(1 uses)" not in everything
    assert "asks: Bash(git* --ou*)" in everything
    advice = recall("stats", "bash", "--suggest", "--json").json
    assert len(advice["suggestions"]) + len(advice["skipped"]) > 120
    (log,) = [each for each in advice["suggestions"] if each["pattern"] == "git log *"]
    assert log["rule"] == "Bash(git log:*)"
    assert "Bash(git* --ou*)" in log["guards"]

    settings = world.home / ".claude" / "settings.json"
    recall("stats", "bash", "--suggest", "--apply", "--yes")
    written = json.loads(settings.read_text())["permissions"]
    assert "Bash(git log:*)" in written["allow"]
    assert written["ask"] == log["guards"]
    assert recall("stats", "bash", "--undo", "--yes").code == 0
    assert not settings.exists()


def test_a_read_only_settings_file_is_an_error_with_a_hint(world: World, recall: Recall) -> None:
    file = world.file("x")
    for _ in range(60):
        file.run("git status")
    recall("index")
    settings = world.home / ".claude" / "settings.json"
    settings.write_text("{}")
    settings.chmod(0o444)
    answer = recall("stats", "bash", "--suggest", "--apply", "--yes")
    assert answer.code == 1
    assert "it is read-only" in answer.err
    assert "chmod u+w" in answer.err
    assert settings.read_text() == "{}"


def test_nothing_is_applied_without_a_yes(world: World, recall: Recall, monkeypatch) -> None:
    import io

    for _ in range(60):
        world.file("x").run("git status")
    recall("index")
    monkeypatch.setattr(sys, "stdin", io.StringIO("n\n"))
    recall("stats", "bash", "--suggest", "--apply")
    assert not (world.home / ".claude" / "settings.json").exists()


def test_secrets_are_masked_everywhere(world: World, recall: Recall) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 4
    file = world.file("leak").say(f"use {secret} as token").think(f"the {secret} again")
    file.run(f"curl -H 'Authorization: Bearer {secret}' example.org")
    recall("index")
    for arguments in (
        ["search", "token"],
        ["search", "token", "--json"],
        ["search", "curl"],
        ["show", "leak", "--tools", "--thinking"],
        ["show", "leak", "--json"],
        ["export", "leak", "--thinking"],
        ["export", "leak", "--thinking", "--format", "html"],
        ["stats", "bash", "--suggest"],
        ["stats", "bash", "--suggest", "--json"],
    ):
        answer = recall(*arguments)
        assert answer.code == 0
        assert secret not in answer.out + answer.err, arguments


def test_doctor_says_what_is_there(full: World, recall: Recall) -> None:
    answer = recall("doctor", "--json")
    assert answer.code == 0
    findings = {each["name"]: each for each in answer.json}
    assert findings["claude-code"]["detail"].startswith("2 session files")
    assert "2 sessions" in findings["index"]["detail"]
    assert findings["full-text"]["status"] == "ok"
    full.paths.database.write_bytes(b"broken")
    broken = recall("doctor")
    assert broken.code == 1
    assert "--recreate" in broken.out


def test_completions_are_printed(recall: Recall) -> None:
    for shell in ("bash", "zsh", "fish"):
        assert "_RECALL_COMPLETE" in recall("completions", shell).out


def test_json_is_one_value_on_stdout_and_talk_is_on_stderr(world: World, recall: Recall) -> None:
    world.file().say("pear").raw(b"{broken\n")
    answer = recall("index", "--json", "-v")
    assert answer.json["indexed"] == 1
    assert "s1.jsonl" in answer.err
    assert len(answer.json["warnings"]) == 1


def test_everything_works_without_a_network(full: World) -> None:
    script = (
        "import socket, sys\n"
        "def refused(*a, **k): raise AssertionError('the network was used')\n"
        "socket.socket.connect = refused\n"
        "socket.getaddrinfo = refused\n"
        "from navi.cli.recall.main import group\n"
        "for words in (['index', '--full'], ['search', 'auth'], ['list'], ['stats'],\n"
        "              ['stats', 'tokens'], ['stats', 'bash', '--suggest'], ['doctor']):\n"
        "    sys.argv = ['recall', *words]\n"
        "    try: group.run()\n"
        "    except SystemExit as end: assert not end.code, words\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr.count("Traceback")) == (0, 0), ran.stderr
