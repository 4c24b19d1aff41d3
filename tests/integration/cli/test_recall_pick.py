"""What the picker lists for a query, and `recall` where there is no terminal."""

from __future__ import annotations

import json
import subprocess
from datetime import datetime
from pathlib import Path

import pytest

from navi.cli.recall.picker.meaning_search import MeaningSearch, remark
from navi.cli.recall.picker.session_reader import SessionReader
from navi.cli.recall.picker.state import ListRequest, Narrowing, SessionListing
from tests.integration.cli.recall_runs import AS_A_PROCESS, Recall
from tests.integration.memory.semantic.semantic_world import SemanticWorld
from tests.many_sessions import write_codex
from tests.memory_world import World


@pytest.fixture
def some(world: World) -> World:
    """Sessions whose titles and passages have the same words in different places."""
    for number, (title, text) in enumerate(
        [
            ("Handle refunds", "the authorisation header is wrong"),
            ("Authorise the refund", "done"),
            ("Nothing special", "auth is only mentioned beside a refund here"),
        ]
    ):
        file = world.file(f"s{number}", "shop")
        file.count = number * 100
        summary = {"type": "summary", "summary": title, "leafUuid": "x"}
        file.raw(json.dumps(summary).encode() + b"\n")
        file.say(text)
    write_codex(world, 7, ["Where is the refund of Müller?"], "garden")
    world.index()
    return world


def listing(world: World, query: str, limit: int = 100, **narrowing: object) -> SessionListing:
    reader = SessionReader(world.paths)
    reader.load(0)
    return reader.listing(ListRequest(query, Narrowing(**narrowing), limit, 0))  # type: ignore[arg-type]


def remark_on(search: MeaningSearch, request: ListRequest) -> str:
    problem = search.find(request).problem
    assert problem is not None
    return remark(problem)


def titles(answer: SessionListing) -> list[str]:
    return [item.session["title"] for item in answer.items]


def test_without_words_the_latest_come_first_and_are_counted(some: World) -> None:
    answer = listing(some, "", limit=2)
    assert len(answer.items) == 2
    assert (answer.count, answer.total, answer.has_more) == (4, 4, True)
    times = [datetime.fromisoformat(item.session["ended_at"]) for item in answer.items]
    assert times == sorted(times, reverse=True)
    assert answer.agents == ("claude_code", "codex")


def test_the_last_word_may_be_unfinished(some: World) -> None:
    assert titles(listing(some, "authorisat")) == ["Handle refunds"]
    assert titles(listing(some, "authorisat ")) == []  # a space ends the word
    # Whole words first, then longer ones, then titles.
    assert titles(listing(some, "auth")) == [
        "Nothing special",
        "Handle refunds",
        "Authorise the refund",
    ]


def test_titles_with_all_words_come_before_passages_with_some(some: World) -> None:
    assert titles(listing(some, "authorise refund"))[0] == "Authorise the refund"
    assert titles(listing(some, "refund -special"))[-1] != "Nothing special"


def test_a_title_is_found_without_its_accents(some: World) -> None:
    assert titles(listing(some, "muller")) == ["Where is the refund of Müller?"]


def test_filters_in_the_query_and_keys_hold_together(some: World) -> None:
    assert len(listing(some, "refund agent:codex").items) == 1
    assert len(listing(some, "refund", agent="codex").items) == 1
    assert listing(some, "refund agent:codex", agent="claude_code").problem.startswith(
        "agent:codex contradicts the filter source below the query"
    )
    assert len(listing(some, "project:garden").items) == 1
    assert listing(some, "refund", period="today").items == ()
    (session,) = [each for each in some.sessions() if each["source"] == "codex"]
    assert [item.id for item in listing(some, f"session:{session['id'][:6]}").items] == [
        session["id"]
    ]


def test_filters_of_passages_need_words(some: World) -> None:
    assert "add words" in listing(some, "role:user").problem
    assert len(listing(some, "authorisation role:user").items) == 1
    assert listing(some, "refunds role:user").items == ()  # only a title has it


def test_what_means_the_same_is_listed_after_what_has_the_words(
    private_home: Path, tmp_path: Path
) -> None:
    world = SemanticWorld(private_home, folder=tmp_path)
    world.file("same").say("my automobile is sluggish")
    world.file("garden").say("paint the garden red")
    world.file("words").say("a slow car in the garden")
    world.index()
    reader, search = SessionReader(world.paths), MeaningSearch(world.paths)
    request = ListRequest("slow car", Narrowing(), 100, 0)
    assert remark_on(search, request) == ""  # nobody has asked for a model
    world.install()
    assert remark_on(search, request).startswith("no passage has a vector yet; recall index --")
    world.embed()
    result = search.find(request)
    assert result.problem is None
    assert titles(reader.listing(request)) == ["a slow car in the garden"]
    answer = reader.listing(request, result)
    assert titles(answer) == ["a slow car in the garden", "my automobile is sluggish"]
    assert (answer.count, answer.total, answer.has_more) == (2, 3, False)


def test_any_query_has_an_answer(some: World) -> None:
    for query in (
        '"',
        '"open phrase',
        "-",
        "-refund",
        "*",
        "***",
        "a" * 5000,
        "\x00",
        "令",
        "🌙",
        "a:",
    ):
        listing(some, query)


def test_without_a_terminal_recall_prints_its_help(recall: Recall) -> None:
    answer = recall()
    assert answer.code == 2
    assert answer.err.startswith("Usage: recall")


def test_the_picker_says_that_it_needs_a_terminal(some: World) -> None:
    done = subprocess.run(
        [*AS_A_PROCESS, "pick", "--print"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        start_new_session=True,  # without the terminal of whoever runs the tests
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "the picker needs a terminal" in done.stderr
