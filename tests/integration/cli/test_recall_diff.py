"""`recall diff` on a real index."""

from __future__ import annotations

import pytest

from navi.memory import database
from tests.integration.cli.recall_runs import Recall, offered, on_terminal
from tests.memory_world import FixedClock, World


@pytest.fixture
def pair(world: World, recall: Recall) -> World:
    one = world.file("first-try", "shop").say("fix the cart").run("ls").printed("src")
    one.edit(f"{world.home}/shop/src/cart.ts").printed("ok")
    one.edit(f"{world.home}/shop/src/tax.ts", "Read").printed("…")
    one.run("curl -H 'Authorization: Bearer abcdefghijklmnopqrstuvwx1' x").printed("ok")
    one.say("Done, tax is added once.", "assistant")
    other = world.file("second-try", "shop").say("fix  the cart").say("faster\x1b[2J!").run("ls")
    other.fail("API Error: overloaded")
    assert recall("index").code == 0
    return world


def test_a_diff_says_what_both_have_and_what_only_one_has(pair: World, recall: Recall) -> None:
    diff = recall("diff", "first-try", "second-try", "--json").json
    assert diff["prompts"]["both"] == ["fix the cart"]
    assert diff["prompts"]["only_second"] == ["faster\x1b[2J!"]
    assert diff["commands"]["both"] == ["ls"]
    assert diff["commands"]["only_first"] == [
        "curl -H 'Authorization: Bearer [masked: authorization]' x"
    ]
    assert diff["files_changed"]["only_first"] == ["src/cart.ts"]
    assert diff["files_read"]["only_first"] == ["src/tax.ts"]
    assert {each["tool_name"]: (each["first"], each["second"]) for each in diff["tools"]} == {
        "Bash": (2, 1),
        "Edit": (1, 0),
        "Read": (1, 0),
    }
    assert (diff["first"]["outcome"], diff["first"]["ending"]) == (None, "Done, tax is added once.")
    assert (diff["second"]["outcome"], diff["second"]["ending"]) == (
        "error",
        "API Error: overloaded",
    )
    assert diff["first"]["cost_usd"] > diff["second"]["cost_usd"] > 0


def test_sessions_are_named_as_elsewhere(pair: World, recall: Recall) -> None:
    ids = [each["id"] for each in recall("list", "--json").json]
    diff = recall("diff", "first", "second-t", "--json").json
    assert {diff["first"]["id"], diff["second"]["id"]} == set(ids)
    assert sorted(offered("diff", "")) == sorted(ids)
    assert sorted(offered("diff", ids[0], "")) == sorted(ids)
    unknown = recall("diff", ids[0], "nobody")
    assert (unknown.code, "no indexed session nobody" in unknown.err) == (1, True)
    same = recall("diff", ids[0], ids[0])
    assert (same.code, "the same session" in same.err) == (2, True)


def test_a_wide_terminal_shows_them_side_by_side(pair: World, recall: Recall) -> None:
    lines = on_terminal(120, "diff", "first-try", "second-try").splitlines()
    assert max(map(len, lines)) <= 120
    [head] = [line for line in lines if line.startswith("only A: 1") and "faster" not in line][:1]
    assert "│ only B: " in head
    assert any(line.startswith("A  ") and "│ B  " in line for line in lines)


def test_a_narrow_terminal_shows_one_after_the_other(pair: World, recall: Recall) -> None:
    lines = on_terminal(60, "diff", "first-try", "second-try").splitlines()
    assert max(map(len, lines)) <= 60
    assert not any("│" in line for line in lines)
    assert "B: its last turn failed" in lines


def test_control_characters_and_secrets_are_not_printed(pair: World, recall: Recall) -> None:
    text = recall("diff", "first-try", "second-try").out
    assert "\x1b" not in text
    assert "abcdefghijklmnopqrstuvwx1" not in text
    assert "  faster!\n" in text


def test_long_parts_are_cut_and_say_so(world: World, recall: Recall) -> None:
    busy = world.file("busy")
    for number in range(30):
        busy.run(f"echo {number}")
    world.file("calm").say("hello")
    recall("index")
    assert "  … and 10 more\n" in recall("diff", "busy", "calm").out
    assert "more" not in recall("diff", "busy", "calm", "--limit", "0").out


def test_an_index_of_an_earlier_version_is_compared_as_far_as_it_goes(
    pair: World, recall: Recall
) -> None:
    with database.writing(pair.paths, FixedClock().now()) as connection:
        connection.execute("DROP TABLE turns")
        connection.execute("DROP TABLE tool_outputs")
    diff = recall("diff", "first-try", "second-try", "--json").json
    assert (diff["prompts"]["both"], diff["second"]["outcome"]) == (["fix the cart"], None)
