"""`recall search` and `recall list`: results, and messages when there are none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.cli.recall_runs import Recall
from tests.memory_world import World


def test_a_hit_names_its_message_and_its_local_time_and_show_goes_there(
    full: World, recall: Recall, berlin: None
) -> None:
    output = recall("search", "investigate").out
    assert "  #1  2026-03-01 13:00 CET  assistant: I'll investigate the authentication" in output
    (hit,) = recall("search", "investigate", "--json").json
    assert hit["idx"] == 1
    assert hit["timestamp"] == "2026-03-01T12:00:01.000Z"
    lines = recall("show", hit["session_id"], "--at", "1", "-C", "0").out.splitlines()
    assert [line for line in lines if line.startswith("#")] == [
        "#1 assistant: I'll investigate the authentication"
    ]


def test_a_command_outside_every_message_names_the_message_before_it(
    private_home: Path, recall: Recall
) -> None:
    folder = private_home / ".codex" / "sessions" / "2026" / "01" / "01"
    folder.mkdir(parents=True)
    started = "2026-01-01T12:00:0"
    text = '{"type":"message","role":"%s","content":[{"type":"%s","text":"%s"}]}'
    call = '{"type":"local_shell_call","call_id":"c","action":{"type":"exec","command":["ls"]}}'
    rows = [
        ("session_meta", '{"id":"019a52c4-7f0e-7d13-8a55-3b1f6f2f9c21","cwd":"/shop"}'),
        ("response_item", text % ("user", "input_text", "list the quinces")),
        ("response_item", text % ("assistant", "output_text", "I look")),
        ("response_item", call),
    ]
    (folder / "rollout-2026-01-01T12-00-00-019a52c4-7f0e-7d13-8a55-3b1f6f2f9c21.jsonl").write_text(
        "".join(
            f'{{"timestamp":"{started}{second}Z","type":"{kind}","payload":{payload}}}\n'
            for second, (kind, payload) in enumerate(rows)
        )
    )
    recall("index")
    (hit,) = recall("search", "ls", "--json").json
    assert (hit["message_id"], hit["idx"]) == (None, 1)


def test_context_shows_the_messages_around_a_hit(world: World, recall: Recall) -> None:
    file = world.file()
    for number in range(5):
        file.say(f"message {number} " + ("plum" if number == 2 else ""))
    recall("index")
    output = recall("search", "plum", "-C", "1").out
    assert "#1  user: message 1" in output
    assert "#3  user: message 3" in output
    assert "#0" not in output
    (hit,) = recall("search", "plum", "-C", "9", "--json").json
    assert [each["idx"] for each in hit["context"]] == [0, 1, 3, 4]


def test_hits_are_sorted_by_date_if_asked(world: World, recall: Recall) -> None:
    world.file("old").say("pancake pancake pancake")
    world.file("new").say("x").say("y").say("one pancake among many other words")
    recall("index")
    by_relevance = recall("search", "pancake", "--json").json
    assert [each["source_session_id"] for each in by_relevance] == ["old", "new"]
    by_date = recall("search", "pancake", "--sort", "date", "--json").json
    assert [each["source_session_id"] for each in by_date] == ["new", "old"]


def test_count_prints_only_the_number(full: World, recall: Recall) -> None:
    assert recall("search", "auth*", "--count").out == "2\n"
    assert recall("search", "nowhere", "--count").out == "0\n"
    assert recall("list", "--count").out == "2\n"
    assert recall("list", "--count", "--project", "garden").out == "1\n"


def test_since_and_until_limit_lists_and_searches(
    full: World, recall: Recall, berlin: None
) -> None:
    # The sessions are from 13:00 in Berlin.
    for words in (["list"], ["search", "auth"]):
        for option, finds in (
            (["--since", "2026-03-01"], True),
            (["--since", "2026-03-01T12:59"], True),
            (["--since", "2026-03-01T13:01"], False),
            (["--until", "2026-03-01"], True),
            (["--until", "2026-02-28"], False),
            (["--until", "2026-03-01T12:59"], False),
            (["--until", "yesterday"], True),
            (["--since", "monday", "--until", "today"], False),
        ):
            assert bool(recall(*words, *option, "--json").json) == finds, (words, option)


@pytest.mark.parametrize("words", [["list"], ["search", "auth"], ["stats", "tools"]])
def test_a_project_is_named_by_folder_or_by_part_of_its_path(
    full: World, recall: Recall, words: list[str], monkeypatch
) -> None:
    shop = full.home / "shop"
    (shop / "src").mkdir(parents=True)
    full.file("other", "shop-old").say("auth").run("ls")
    recall("index")
    everything = len(recall(*words, "--project", "shop", "--json").json)
    monkeypatch.chdir(shop)
    here = recall(*words, "--project", ".", "--json").json
    assert len(here) > 0
    if words[0] != "stats":
        assert len(here) == everything - 1  # not shop-old
    for name in ("~/shop", "~/shop/", str(shop), "../shop", "./"):
        assert recall(*words, "--project", name, "--json").json == here, name
    monkeypatch.chdir(full.home)
    assert recall(*words, "--project", "./shop", "--json").json == here


def test_a_folder_inside_a_repository_means_the_repository(world: World, recall: Recall) -> None:
    repository = world.home / "shop"
    (repository / "src").mkdir(parents=True)
    subprocess.run(["git", "init", "--quiet", repository], check=True)
    file = world.file("one")
    file.cwd = str(repository / "src")
    file.say("pear")
    recall("index")
    (session,) = recall("list", "--project", str(repository / "src"), "--json").json
    assert session["project"] == str(repository)


def test_an_empty_list_names_the_filter_that_left_nothing(
    full: World, recall: Recall, berlin: None
) -> None:
    recall("tag", "shop-session", "good")

    def reason(*words: str) -> str:
        answer = recall("list", *words)
        assert (answer.code, answer.out) == (0, ""), words
        return answer.err.strip()

    assert reason("--since", "2030-01-01") == "no sessions since 2030-01-01 00:00 CET"
    assert reason("--until", "2020-01-01") == "no sessions before 2020-01-02 00:00 CET"
    assert reason("--source", "codex") == "no sessions of codex"
    assert reason("--project", "Gardn") == "no session in project Gardn; similar projects: ~/garden"
    assert reason("--project", "SHOP") == "no session in project SHOP; similar projects: ~/shop"
    both = reason("--tag", "good", "--project", "garden")
    assert both == "no sessions in project garden with the tag good; without --project: 1"


def test_an_empty_search_names_the_filter_that_left_nothing(full: World, recall: Recall) -> None:
    def reason(*words: str) -> str:
        answer = recall("search", *words)
        assert (answer.code, answer.out) == (0, ""), words
        return answer.err.strip()

    assert reason("zebra") == "no passage has zebra"
    assert reason("zebra", "--role", "user") == "no passage has zebra"
    assert reason("auth", "--role", "system") == "no passages by system"
    assert reason("auth", "--project", "garden") == "no passages in project garden"
    assert reason("auth", "--tool", "Bsh") == "no tool called Bsh was used; did you mean Bash?"
    assert reason("auth", "--session", "garden-session") == "no passages in session garden-session"


def test_only_an_empty_index_points_to_the_doctor(world: World, recall: Recall) -> None:
    recall("index")
    assert "`recall doctor`" in recall("list").err
    assert "`recall doctor`" in recall("search", "x").err
    world.file().say("pear")
    recall("index")
    assert "recall index" not in recall("list", "--since", "2030-01-01").err
    assert "recall index" not in recall("search", "plum").err


def test_empty_stats_say_why(full: World, recall: Recall, berlin: None) -> None:
    for command in ([], ["tools"], ["bash"], ["tokens"]):
        answer = recall("stats", *command, "--since", "2030-01-01")
        assert (answer.code, answer.out) == (0, "")
        assert answer.err == "no sessions since 2030-01-01 00:00 CET\n"
    assert (
        recall("stats", "tools", "--project", "garden").err == "no tool calls in these sessions\n"
    )


@pytest.mark.parametrize("subcommand", ["tools", "bash", "tokens"])
def test_options_of_stats_may_stand_before_its_subcommand(
    full: World, recall: Recall, berlin: None, subcommand: str
) -> None:
    """They were dropped without a word."""
    after = recall("stats", subcommand, "--json")
    assert recall("stats", "--json", subcommand).json == after.json
    for option, value in [
        ("--since", "2030-01-01"),
        ("--project", "nowhere"),
        ("--project", "garden"),
        ("--source", "codex"),
    ]:
        before = recall("stats", option, value, subcommand)
        assert (before.code, before.err) == (0, recall("stats", subcommand, option, value).err)
    assert "2030" in recall("stats", "--since", "2030-01-01", subcommand).err
    later = recall("stats", "--since", "2030-01-01", subcommand, "--since", "2000-01-01", "--json")
    assert later.json == after.json


def test_an_unknown_session_or_tag_is_an_error_with_a_hint(full: World, recall: Recall) -> None:
    recall("tag", "shop-session", "important")
    answer = recall("list", "--tag", "importent")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.splitlines() == [
        "error: no session has the tag importent",
        "hint: did you mean important?",
    ]
    id = recall("list", "--json").json[0]["id"]
    wrong = id[:-1] + ("0" if id[-1] != "0" else "1")
    answer = recall("search", "auth", "--session", wrong)
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.splitlines() == [
        f"error: there is no indexed session {wrong}",
        f"hint: did you mean {id}?",
    ]


def test_a_session_is_named_by_the_beginning_of_its_agents_id(full: World, recall: Recall) -> None:
    assert len(recall("search", "auth", "--session", "shop-s", "--json").json) == 1


@pytest.mark.parametrize("query", ["", "  ", '"', '""', "-", "*", "((", "—"])
def test_a_search_for_nothing_says_what_to_do(full: World, recall: Recall, query: str) -> None:
    answer = recall("search", "--", query)
    assert (answer.code, answer.out) == (2, "")
    assert "hint: try `recall search auth bug`" in answer.err


def test_a_word_that_looks_like_an_option_is_explained(full: World, recall: Recall) -> None:
    answer = recall("search", "-foo")
    assert answer.code == 2
    assert "`--`: recall search WORDS -- -foo" in answer.err
    assert "did you mean --limit" in recall("search", "x", "--limt", "3").err
    assert len(recall("search", "--json", "--", "-auth").json) == 5


def test_more_hits_of_a_session_are_counted_and_one_command_away(
    world: World, recall: Recall
) -> None:
    file = world.file()
    for number in range(5):
        file.say(f"red plum {number}")
    recall("index")
    lines = recall("search", "red", "plum").out.splitlines()
    session = lines[0].split()[0]
    assert f"  … and 2 more: recall show {session} --grep 'red plum'" in lines
    assert recall("show", session, "--grep", "red plum").out.count("user: red plum") == 5


def test_other_sessions_with_some_of_the_words_follow_under_a_line_of_their_own(
    world: World, recall: Recall
) -> None:
    world.file("all").say("fix the login page")
    world.file("some").say("the login page is slow")
    recall("index")
    answer = recall("search", "fix", "login", "page")
    assert answer.out.index("fix the login") < answer.out.index("is slow")
    assert answer.err == "other sessions, with only some of these words:\n"
    views = recall("search", "fix", "login", "page", "--json").json
    assert [view["has_all_words"] for view in views] == [True, False]


def test_what_a_tool_printed_is_found_and_shown_in_its_place(world: World, recall: Recall) -> None:
    world.file().say("go").run("make test").printed("E   KeyError: quince\nfailed")
    recall("index")
    answer = recall("search", "quince")
    assert "  #1  2026-03-01" in answer.out
    assert "Bash printed: E KeyError: quince failed" in answer.out
    session = answer.out.split()[0]
    for how in (("--at", "1"), ("--grep", "KeyError"), ("--tools",)):
        lines = recall("show", session, *how).out.splitlines()
        assert lines[-3:] == ["  [Bash] make test", "    E   KeyError: quince", "    failed"]


def test_a_mistyped_command_is_suggested(recall: Recall) -> None:
    answer = recall("serch", "x")
    assert answer.code == 2
    assert answer.err == "error: recall has no command 'serch'\nhint: did you mean `search`?\n"
    answer = recall("automation")
    assert answer.err.endswith("hint: did you mean `sm automation`?\n")
    assert "hint: did you mean `tokens`" in recall("stats", "tokns").err
    assert recall("dance").err.endswith("hint: recall --help\n")


@pytest.mark.parametrize(
    ("program", "typed", "suggestion"), [("sm", "staus", "status"), ("navi", "serv", "serve")]
)
def test_the_other_programs_suggest_commands_too(program: str, typed: str, suggestion: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", f"navi.cli.{program}.main", typed],
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 2
    assert f"did you mean `{suggestion}`" in ran.stderr
