"""Excerpts: the messages around a match, or the last ones of a session."""

from __future__ import annotations

from navi.memory.read.excerpts import LONGEST_TEXT, Excerpt, Excerpts
from tests.many_sessions import write_codex
from tests.memory_world import World


def around(world: World, query: str) -> Excerpt:
    (hit, *_) = world.find(query)
    return Excerpts(world.paths).around(hit, query)


def texts(excerpt: Excerpt) -> list[str]:
    return [each.text for each in excerpt.texts]


def match(excerpt: Excerpt) -> str:
    (text,) = [each.text for each in excerpt.texts if each.is_match]
    return text


def highlighted(excerpt: Excerpt) -> list[str]:
    return [each.text[start:end] for each in excerpt.texts for start, end in each.highlights]


def test_a_message_stands_among_its_neighbours_and_commands(world: World) -> None:
    file = world.file()
    for number in range(30):
        file.say(f"message {number}")
    file.run("grep -rn needle", text="I look for it").say("The Needle is here").say("thanks")
    world.index()
    excerpt = around(world, "the needle")
    assert match(excerpt) == "The Needle is here"
    assert texts(excerpt)[-4:] == [
        "I look for it",
        "grep -rn needle",
        "The Needle is here",
        "thanks",
    ]
    assert highlighted(excerpt) == ["needle", "The", "Needle"]
    assert "message 0" not in texts(excerpt)


def test_a_command_is_the_match_where_it_matches(world: World) -> None:
    world.file().say("begin").run("kubectl rollout needle", text="rolling").say("end")
    world.index()
    excerpt = around(world, "rollout")
    assert match(excerpt) == "kubectl rollout needle"
    assert texts(excerpt) == ["begin", "rolling", "kubectl rollout needle", "end"]


def test_what_a_tool_printed_is_shown_only_as_the_match(world: World) -> None:
    world.file().say("begin").run("make").printed("error: needle is missing").say("end")
    world.index()
    assert match(around(world, "missing")).endswith("needle is missing")
    assert "error: needle is missing" not in texts(around(world, "begin"))


def test_a_long_match_is_cut_around_its_words(world: World) -> None:
    world.file().say("before " * 3000 + "the needle " + "after " * 3000)
    world.index()
    excerpt = around(world, "needle")
    assert highlighted(excerpt) == ["needle"]
    assert len(match(excerpt)) <= LONGEST_TEXT + 4
    assert match(excerpt).startswith("… ")
    assert match(excerpt).endswith(" …")


def test_secrets_are_masked(world: World) -> None:
    world.file().say("the needle is password=hunter2hunter2")
    world.index()
    assert "hunter2" not in match(around(world, "needle"))


def test_without_a_match_the_last_messages_come_in_their_order(world: World) -> None:
    file = world.file()
    for number in range(100):
        file.say(f"message {number}")
    world.index()
    (session,) = world.sessions()
    excerpt = Excerpts(world.paths).last(session["id"])
    assert texts(excerpt) == [f"message {number}" for number in range(40, 100)]


def test_sessions_of_codex_have_excerpts_too(world: World) -> None:
    write_codex(world, 1, ["Where is the needle?", "In the haystack"])
    world.index()
    assert texts(around(world, "haystack")) == ["Where is the needle?", "In the haystack"]
