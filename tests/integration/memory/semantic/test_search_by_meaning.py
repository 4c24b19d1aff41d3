"""A search finds what means the same in other words, and loses nothing that words find."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from navi.memory.index_paths import IndexPaths
from navi.memory.read.search import Filters
from navi.memory.semantic.hybrid_search import NEAREST
from tests.integration.memory.semantic.semantic_world import SemanticWorld
from tests.machines import Machine, machine, sync
from tests.memory_world import START


def test_other_words_for_the_same_are_found(world: SemanticWorld) -> None:
    world.file("s1").say("my automobile is sluggish")
    world.file("s2").say("paint the garden red")
    world.index_and_embed()
    results = world.ask("slow car")
    assert world.by_words("slow car").hits == []
    assert results.goes_by_meaning
    assert not results.has_all_words
    (first, *_) = results.hits
    assert first.source_session_id == "s1"
    assert first.snippet.text == "my automobile is sluggish"
    assert (first.kind, first.role, first.idx, first.has_all_words) == ("content", "user", 0, False)


def test_sessions_with_all_words_come_first_and_others_are_marked(world: SemanticWorld) -> None:
    world.file("s1").say("my automobile is sluggish")
    world.file("s2").say("the cat is in a slow car in my garden with water and tomato")
    world.index_and_embed()
    results = world.ask("slow car")
    marks = {hit.source_session_id: hit.has_all_words for hit in results.hits}
    assert list(marks.items()) == [("s2", True), ("s1", False)]
    assert results.has_all_words


def test_look_ups_and_searches_by_date_go_by_words_alone(world: SemanticWorld) -> None:
    world.file("s1").say("my automobile is sluggish")
    world.index_and_embed()
    for text in ('"slow car"', "slow_car car", "src/car.ts slow", "slow car*", "car --slow"):
        results = world.ask(text)
        assert (results.goes_by_meaning, results.problem) == (False, None), text
        assert results.hits == world.by_words(text).hits
    assert not world.ask("slow car", by_date=True).goes_by_meaning


def test_alpha_0_is_the_order_of_words_and_alpha_1_that_of_meaning(world: SemanticWorld) -> None:
    world.file("s1").say("slow slow slow slow bread food water")
    world.file("s2").say("my automobile is sluggish")
    world.index_and_embed()
    best = [world.ask("slow car", alpha=alpha).hits[0].source_session_id for alpha in (0, 1)]
    assert best == ["s1", "s2"]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(), {"user", "agent", "other"}),
        (Filters(project="garden"), {"other"}),
        (Filters(source="claude_code"), {"user", "agent", "other"}),
        (Filters(source="codex"), set()),
        (Filters(role="assistant"), {"agent"}),
        (Filters(session="agen"), {"agent"}),
        (Filters(since=START + timedelta(seconds=3)), {"other"}),
        (Filters(until=START + timedelta(seconds=1)), {"user", "agent"}),
        (Filters(tool="Bash"), set()),
        (Filters(file="nowhere.py"), set()),
    ],
)
def test_filters_hold_for_what_is_found_by_meaning(
    world: SemanticWorld, filters: Filters, expected: set[str]
) -> None:
    world.file("user").say("my automobile is sluggish")
    world.file("agent").say("the vehicle is sluggish", role="assistant")
    file = world.file("other", project="garden")
    for _ in range(3):
        file.say("water rain tomato")
    file.say("a sluggish automobile")
    world.index_and_embed()
    session_ids = {hit.source_session_id for hit in world.ask("slow car", filters).hits}
    assert session_ids == expected


def test_a_narrow_filter_finds_what_is_less_similar_than_many_others(
    world: SemanticWorld,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    prepared_index: IndexPaths,
) -> None:
    crowd = world.file("crowd")
    for _ in range(2 * NEAREST):
        crowd.say("a sluggish vehicle")
    world.file("failed", "garden").say("my automobile is sluggish").fail("API Error: overloaded")
    world.index()
    laptop = machine(tmp_path, "lap", monkeypatch, prepared_index)
    laptop.say("elsewhere", "my automobile is sluggish in the rain", project="garden")
    sync(Machine(world.home, monkeypatch), laptop)
    world.embed()
    assert world.sessions_found("slow car") == ["crowd"]
    for filters, expected in (
        (Filters(host="lap"), ["elsewhere"]),
        (Filters(host="here", project="garden"), ["failed"]),
        (Filters(outcome="failed"), ["failed"]),
        (Filters(outcome="failed", host="lap"), []),
        (Filters(host="moon"), []),
        (Filters(origin="recall"), []),
    ):
        assert world.sessions_found("slow car", filters) == expected, filters


def test_what_has_nothing_to_do_with_the_query_is_not_found(world: SemanticWorld) -> None:
    world.file().say("water rain tomato").say("my automobile is red")
    world.index_and_embed()
    assert world.ask("broken server").hits == []


def test_thinking_commands_and_outputs_have_no_vectors(world: SemanticWorld) -> None:
    file = world.file().say("paint the garden").think("the automobile is sluggish")
    file.run("cat sluggish automobile").printed("the vehicle is sluggish")
    world.index_and_embed()
    assert [(idx, part) for _, idx, part, _ in world.live_places()] == [(0, 0)]


def test_of_a_long_message_the_best_passage_counts_and_the_message_is_shown_once(
    world: SemanticWorld,
) -> None:
    filler = "water rain tomato garden yard " * 60
    sentence = "my automobile is sluggish " * 25
    world.file("long").say(f"{filler}\n\n{sentence}\n\n{filler}")
    world.index_and_embed()
    assert len(world.live_places()) > 2
    assert [hit.idx for hit in world.ask("slow car").hits] == [0]


def test_secrets_are_masked_in_what_is_found_by_meaning(world: SemanticWorld) -> None:
    key = "sk-ant-api03-" + "a1B2" * 23 + "-abcdefAA"
    world.file().say(f"my automobile is sluggish {key}")
    world.index_and_embed()
    (hit,) = world.ask("slow car").hits
    assert key not in hit.snippet.text
    assert "[masked" in hit.snippet.text
