"""What tools printed is found."""

from __future__ import annotations

from navi.memory import database
from navi.memory.index_settings import full_text_format
from navi.memory.read.search import Filters
from tests.memory_world import FixedClock, World


def test_what_a_tool_printed_is_found_with_its_tool_and_its_message(world: World) -> None:
    file = world.file().run("make test", text="I run the tests")
    file.printed("E   KeyError: quince").say("thanks")
    world.index()
    (hit,) = world.find("KeyError quince")
    assert (hit.kind, hit.role, hit.tool_name, hit.idx) == ("output", None, "Bash", 0)
    assert [hit.snippet.text[start:end] for start, end in hit.snippet.highlights] == [
        *("KeyError", "quince"),
    ]
    assert world.find("quince", Filters(tool="bash"))
    assert world.find("quince", Filters(role="assistant")) == []
    (message, _) = world.transcript(hit.session_id).messages
    assert [call["output"] for call in message["tool_calls"]] == ["E   KeyError: quince"]


def test_an_output_that_comes_later_is_found_and_survives_a_kill(world: World) -> None:
    file = world.file().say("go").run("make test").say("wait")
    world.index()
    file.printed("E   KeyError: quince", call=1)
    world.index()
    assert len(world.find("quince")) == 1
    at_once = world.everything()
    with database.writing(world.paths, FixedClock().now()) as connection:
        # As after a kill between the two commits.
        connection.execute("UPDATE sessions SET texts_pending_from = 1")
    world.paths.file_list.unlink()
    world.index()
    assert world.everything() == at_once


def test_outputs_are_left_out_if_the_settings_say_so(world: World, monkeypatch) -> None:
    world.file().run("make test").printed("E   KeyError: quince")
    monkeypatch.setenv("RECALL_FTS_FIELDS", "content,bash")
    world.index()
    assert world.find("quince") == []
    monkeypatch.delenv("RECALL_FTS_FIELDS")
    world.index()
    assert len(world.find("quince")) == 1


def test_an_index_from_before_outputs_is_completed_by_itself(world: World) -> None:
    world.file().run("make test").printed("E   KeyError: quince")
    gone = world.file("gone").say("plum").run("ls").printed("pears")
    world.index()
    gone.path.unlink()
    world.index()
    with database.writing(world.paths, FixedClock().now()) as connection:
        connection.execute("DROP TABLE tool_outputs")
        connection.execute("DROP TABLE turns")
        connection.execute(
            "UPDATE facts SET value = '5 content,thinking,bash,file' WHERE name = 'texts'"
        )
        connection.execute("DELETE FROM facts WHERE name = 'readers'")
        connection.execute(
            """UPDATE sessions SET mark = replace(mark, '"version":4', '"version":2')"""
        )
    world.paths.file_list.unlink()
    assert world.refresh().rebuild_reason() == (
        "this version of recall also finds what tools printed and how turns ended"
    )
    session = world.rows("SELECT id FROM sessions WHERE NOT is_archived")[0][0]
    assert world.transcript(session).messages[0]["tool_calls"][0]["output"] is None
    world.index()
    assert world.refresh().rebuild_reason() is None
    assert len(world.find("quince")) == 1
    assert len(world.find("plum")) == 1
    (fact,) = world.rows("SELECT value FROM facts WHERE name = 'texts'")
    assert fact[0] == full_text_format(world.refresh().fields)


def test_recreating_the_index_keeps_the_outputs_of_sessions_whose_file_is_gone(
    world: World,
) -> None:
    file = world.file().run("make test").printed("E   KeyError: quince")
    world.index()
    file.path.unlink()
    world.index(recreate=True)
    assert len(world.find("quince")) == 1


def test_secrets_that_a_tool_printed_are_masked(world: World) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 4
    world.file().run("env").printed(f"quince GITHUB_TOKEN={secret}")
    world.index()
    (hit,) = world.find("quince")
    assert secret not in hit.snippet.text
