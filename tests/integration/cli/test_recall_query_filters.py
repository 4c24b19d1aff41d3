"""`recall search` with filters among the words."""

from __future__ import annotations

import pytest

from navi.live.model.event import TextDelta
from navi.live.model.input import Origin
from navi.live.model.turn import Ending, Outcome
from navi.memory.read.search import Filters
from tests.integration.cli.recall_runs import Recall
from tests.memory_world import World
from tests.store_world import store_world


@pytest.mark.parametrize(
    ("query", "options"),
    [
        (["auth*", "project:shop"], ["auth*", "--project", "shop"]),
        (["auth* project:garden"], ["auth*", "--project", "garden"]),
        (["auth*", "project:~/shop"], ["auth*", "--project", "~/shop"]),
        (["auth*", 'project:"shop"', "role:user"], ["auth*", "--project", "shop"]),
        (["auth*", "agent:codex"], ["auth*", "--source", "codex"]),
        (["file:a.ts"], ["--file", "a.ts"]),
        (["status", "tool:bash", "session:shop-s"], ["status", "--tool", "bash"]),
        (["auth*", "after:2026-03-01"], ["auth*", "--since", "2026-03-01"]),
        (["auth*", "before:2026-03-01"], ["auth*", "--until", "2026-02-28"]),
    ],
)
def test_a_filter_among_the_words_is_the_option_of_that_name(
    full: World, recall: Recall, berlin: None, query: list[str], options: list[str]
) -> None:
    answer = recall("search", *query, "--json")
    expected = recall("search", *options, "--json").json
    if "role:user" in query:
        expected = [hit for hit in expected if hit["role"] == "user"]
    assert [hit["snippet"] for hit in answer.json] == [hit["snippet"] for hit in expected]
    count = recall("search", *query, "--count").out
    assert count == f"{len(expected)}\n"


def test_a_project_is_that_of_the_current_folder(
    full: World, recall: Recall, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = full.home / "shop"
    shop.mkdir()
    monkeypatch.chdir(shop)
    assert len(recall("search", "auth*", "project:.", "--json").json) == 2
    assert recall("search", "water", "project:.", "--json").json == []


def test_sessions_with_some_of_the_words_still_follow_within_the_filters(
    world: World, recall: Recall
) -> None:
    world.file("all", "shop").say("fix the login page")
    world.file("some", "shop").say("the login page is slow")
    world.file("other", "garden").say("the login page of the garden")
    recall("index")
    hits = recall("search", "fix", "login", "page", "project:shop", "--json").json
    assert [(hit["source_session_id"], hit["has_all_words"]) for hit in hits] == [
        *(("all", True), ("some", False)),
    ]


def test_a_filter_that_can_not_hold_is_a_usage_error(full: World, recall: Recall) -> None:
    for query, message, hint in (
        (
            ["x", "agent:teleport"],
            "agent:teleport is not an agent",
            "agents are claude-code, codex",
        ),
        (["x", "project:a", "--project", "b"], "project:a contradicts --project", "leave one"),
        (["x", "before:1d", "before:2d"], "before:2d contradicts before:1d", "leave one"),
        (["project:shop"], "no words to search for", "recall search auth bug"),
    ):
        answer = recall("search", *query)
        assert (answer.code, answer.out) == (2, ""), query
        assert f"error: {message}" in answer.err
        assert hint in answer.err.partition("hint: ")[2]
    assert recall("search", "x", "session:zzz").code == 1
    assert recall("search", "auth", "after:30d", "--since", "30d").code == 0


def test_an_empty_search_names_the_filter_as_it_was_typed(full: World, recall: Recall) -> None:
    answer = recall("search", "auth", "project:garden", "role:user")
    assert answer.err == "no passages in project garden\n"
    answer = recall("search", "water", "role:assistant", "project:garden")
    assert answer.err == "no passages by assistant\n"
    answer = recall("search", "auth*", "role:user", "tool:Bash")
    assert answer.err == "no passages with the tool Bash by user; without tool:Bash: 1\n"
    answer = recall("search", "auth*", "role:user", "--tool", "Bash")
    assert answer.err == "no passages with the tool Bash by user; without --tool: 1\n"


def test_what_looks_like_a_filter_is_searched_as_words(world: World, recall: Recall) -> None:
    texts = ["use std::vector", "open http://x.org", "at 12:30", "error in file: a.ts", "foo:bar"]
    for number, text in enumerate(texts):
        world.file(f"s{number}").say(text)
    recall("index")
    for number, text in enumerate(texts):
        (hit,) = recall("search", text, "--json").json
        assert hit["source_session_id"] == f"s{number}", text
    assert recall("search", '"role:boss"', "--count").out == "0\n"


def test_sessions_are_found_by_how_their_turns_ended(world: World, recall: Recall) -> None:
    world.file("broken").say("deploy the shop").fail("API Error: overloaded")
    world.file("stopped").say("deploy the garden").say("[Request interrupted by user]")
    world.file("fine").say("deploy the house")
    recall("index")

    def sessions(*query: str) -> list[str]:
        return [hit["source_session_id"] for hit in recall("search", *query, "--json").json]

    assert sessions("deploy", "outcome:failed") == ["broken"]
    assert sessions("deploy", "outcome:error") == ["broken"]
    assert sessions("deploy", "outcome:stopped") == ["stopped"]
    answer = recall("search", "deploy", "origin:recall")
    assert "no passages in sessions with the origin recall" in answer.err


async def test_origin_and_outcome_are_those_of_the_same_turn(
    world: World, prepared_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NAVI_DATABASE_URL", prepared_url)
    failure = Ending(Outcome.ERROR, "no luck")
    async with store_world(prepared_url) as store:
        for words, endings in {
            "the recall failed": [(Origin.USER, Ending(Outcome.OK)), (Origin.RECALL, failure)],
            "the person failed": [(Origin.USER, failure), (Origin.RECALL, Ending(Outcome.OK))],
        }.items():
            session = await store.session(cwd="/srv")
            for origin, ending in endings:
                begun = await store.begun(session, words, origin=origin)
                await store.finish(begun.turn, TextDelta("hm"), ending=ending)
    world.index()

    def texts(origin: str | None, outcome: str | None) -> set[str]:
        return set(world.texts("failed", Filters(origin=origin, outcome=outcome)))

    assert texts("recall", "failed") == {"the recall failed"}
    assert texts("recall", "ok") == texts("user", "failed") == {"the person failed"}
    assert len(texts("recall", None)) == len(texts(None, "failed")) == 2
    assert texts("automation", None) == set()
