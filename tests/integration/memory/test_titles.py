"""Every session has a title, however its file was read."""

from __future__ import annotations

from tests.memory_world import World


def titles(world: World) -> list[str | None]:
    return [each["title"] for each in world.sessions()]


def test_the_first_prompt_is_the_title_everywhere(world: World) -> None:
    world.file().say("Fix the login\nplease").say("Sure.", "assistant")
    world.index()
    (session,) = world.sessions()
    assert session["title"] == "Fix the login"
    assert world.find("sure")[0].title == "Fix the login"
    assert world.transcript(session["id"]).session["title"] == "Fix the login"


def test_the_agent_s_own_title_wins(world: World) -> None:
    file = world.file().say("Fix the login")
    file.raw(b'{"type":"summary","summary":"Login\\n repaired"}\n')
    world.index()
    assert titles(world) == ["Login repaired"]


def test_a_session_that_grows_gets_the_title_it_would_have_had_at_once(world: World) -> None:
    file = world.file().say("I looked around.", "assistant")
    world.index()
    assert titles(world) == ["I looked around."]
    file.say("Fix the login")
    world.index()
    assert titles(world) == ["Fix the login"]
    file.say("And the logout")
    world.index()
    assert titles(world) == ["Fix the login"]
    grown = world.everything()
    world.index(recreate=True)
    assert world.everything() == grown


def test_a_session_of_calls_alone_is_named_by_the_first(world: World) -> None:
    world.file().run("make cake").run("make tea")
    world.index()
    assert titles(world) == ["Bash: make cake"]
