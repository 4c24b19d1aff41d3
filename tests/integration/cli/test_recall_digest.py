"""`recall digest` on a real index."""

from __future__ import annotations

import pytest

from tests.integration.cli.recall_runs import Recall, on_terminal
from tests.memory_world import World

SINCE = ("--since", "2026-02-01")


@pytest.fixture
def work(world: World, recall: Recall) -> World:
    shop = world.file("shop-session", "shop").say("fix the total in the cart")
    cart = f"{world.home}/shop/src/cart.ts"
    shop.edit(cart).printed("ok")
    shop.run("pytest -q").printed("1 failed, 3 passed in 0.2s", is_error=True)
    shop.edit(cart).printed("ok").edit("broken.ts").printed("no such file", is_error=True)
    shop.run("pytest -q").printed("4 passed in 0.2s")
    shop.run("git commit -am 'cart: add tax once'").printed("[main 1] cart: add tax once")
    shop.run("curl https://x").printed("curl: (6) Could not resolve host: x", is_error=True)
    shop.say("Tax is added once now.", "assistant")
    world.file("limited", "shop").say("deploy").fail("API Error: overloaded")
    world.file("garden-session", "garden").say("water the plants\x1b[2J").say("and the roses?")
    assert recall("index").code == 0
    return world


def test_a_digest_shows_what_was_asked_done_and_failed(work: World, recall: Recall) -> None:
    shop, garden = recall("digest", *SINCE, "--json").json["projects"]
    assert shop["project"] == f"{work.home}/shop"
    assert [each["title"] for each in shop["sessions"]] == ["fix the total in the cart", "deploy"]
    assert [each["text"] for each in shop["commits"]] == ["cart: add tax once"]
    [tests] = shop["tests"]
    assert (tests["command"], tests["runs"], tests["failures"]) == ("pytest -q", 2, 1)
    assert (tests["last_has_failed"], tests["last_line"]) == (False, "4 passed in 0.2s")
    assert shop["files_changed"] == [{"path": "src/cart.ts", "changes": 2}]
    assert {(each["what"], each["error"]) for each in shop["failures"]} == {
        ("Edit", "no such file"),
        ("curl https://x", "curl: (6) Could not resolve host: x"),
        ("turn", "API Error: overloaded"),
    }
    assert shop["cost_usd"] > 0
    assert [each["is_unanswered"] for each in garden["sessions"]] == [True]


def test_it_is_readable_as_text_and_as_markdown(work: World, recall: Recall) -> None:
    text = recall("digest", *SINCE).out
    assert "~/shop  2 sessions, 11 messages, $0.00" in text
    assert "    pytest -q: 2 runs, 1 failed; the last one passed; 4 passed in 0.2s\n" in text
    assert "\x1b" not in text
    markdown = recall("digest", *SINCE, "--markdown").out
    assert markdown.startswith("# What agents did since 2026-02-01")
    assert "\n### Commits\n\n- cart: add tax once\n" in markdown


def test_a_digest_is_limited_to_a_time_a_project_and_an_agent(work: World, recall: Recall) -> None:
    def projects(*options: str) -> list[str]:
        projects = recall("digest", *options, "--json").json["projects"]
        return [each["project"].rpartition("/")[2] for each in projects]

    assert projects(*SINCE) == ["shop", "garden"]
    assert projects(*SINCE, "--project", "garden") == ["garden"]
    assert projects(*SINCE, "--agent", "codex") == projects(*SINCE, "--source", "codex") == []
    assert projects(*SINCE, "--until", "2026-02-20") == []
    assert projects("--until", "2026-03-02") == ["shop", "garden"]
    assert "no sessions since" in recall("digest").err


def test_it_fits_the_terminal(work: World, recall: Recall) -> None:
    lines = on_terminal(50, "digest", *SINCE).splitlines()
    assert max(map(len, lines)) <= 50
    assert "    pytest -q: 2 runs, 1 failed; the last one pas…" in lines


def test_copies_in_a_resumed_session_count_once(work: World, recall: Recall) -> None:
    original = work.home / ".claude" / "projects" / "-shop" / "shop-session.jsonl"
    copy = work.file("resumed", "shop").raw(original.read_bytes())
    copy.count = 100
    copy.say("and now the shipping").fail("API Error: overloaded")
    recall("index")
    [shop] = recall("digest", *SINCE, "--project", "shop", "--json").json["projects"]
    assert [each["runs"] for each in shop["tests"]] == [2]
    assert shop["files_changed"] == [{"path": "src/cart.ts", "changes": 2}]
    assert len([each for each in shop["failures"] if each["what"] == "curl https://x"]) == 1
    assert sum(each["count"] for each in shop["failures"] if each["what"] == "turn") == 2


def test_without_a_server_the_digest_is_shown_and_the_missing_summary_reported(
    work: World, recall: Recall
) -> None:
    answer = recall("digest", *SINCE, "--summarize")
    assert answer.code == 2
    assert "no server answers" in answer.err
    assert "cart: add tax once" in answer.out


def test_json_and_markdown_exclude_each_other(world: World, recall: Recall) -> None:
    answer = recall("digest", "--json", "--markdown")
    assert answer.code == 2
    assert "can't be combined" in answer.err
