"""Sessions that people have open in terminals of their own."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from navi.live.agents.driver import Driver
from navi.live.model.access.caller import Caller
from navi.live.model.tool import ToolContext
from navi.live.model.tool_call import call
from navi.live.tools.schedule_recall import OPEN_IN_TERMINAL
from tests.hook_reports import hook_report
from tests.live_world import LOCAL, NOW, Start, World

ME = Caller(LOCAL)


class AlwaysOpen(Driver):
    def is_open_elsewhere(self, agent_session_id: str) -> bool:
        return True


async def schedule_by_tool(world: World) -> str:
    """What the tool answers in the only session."""
    [session] = await world.navi.sessions.list_sessions(LOCAL)
    tool = world.navi.tools["schedule_recall"]
    context = ToolContext(session.id, world.folder, LOCAL.id, LOCAL.role, LOCAL.info)
    values = {"call_type": "once", "when": "1h", "additional_context_message": "Read b.log"}
    return (await call(tool, context, values)).text


async def test_an_agent_in_a_terminal_hears_that_its_wake_up_waits_for_it(start: Start) -> None:
    async with start(drivers={"claude_code": AlwaysOpen()}) as world:
        await world.navi.terminals.report(ME, hook_report("SessionStart", "abc", NOW))
        assert OPEN_IN_TERMINAL in await schedule_by_tool(world)


async def test_an_agent_whose_terminal_is_closed_hears_nothing_of_it(start: Start) -> None:
    async with start(drivers={"claude_code": AlwaysOpen()}) as world:
        for second, event in enumerate(("SessionStart", "SessionEnd")):
            at = NOW + timedelta(seconds=second)
            await world.navi.terminals.report(ME, hook_report(event, "abc", at))
        answer = await schedule_by_tool(world)
        assert "Scheduled: " in answer
        assert OPEN_IN_TERMINAL not in answer


async def test_a_command_of_claude_code_that_is_no_session_adds_none(
    world: World, tmp_path: Path
) -> None:
    """`claude mcp list` reports the end of a session whose transcript was never written."""
    transcript = tmp_path / "abc.jsonl"
    end = hook_report("SessionEnd", "abc", NOW, transcript_path=str(transcript))

    await world.navi.terminals.report(ME, end)
    assert await world.navi.sessions.list_sessions(LOCAL) == []

    transcript.touch()
    await world.navi.terminals.report(ME, end)
    assert len(await world.navi.sessions.list_sessions(LOCAL)) == 1
