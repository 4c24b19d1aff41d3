from __future__ import annotations

import asyncio
import os
import tracemalloc
from pathlib import Path
from typing import Any

import psutil
import pytest

from navi.base.errors import InvalidInput, NotFound, TooLarge
from navi.base.platform import CAN_READ_ALL_ENVIRONMENTS, Process
from navi.live.model.tool import ToolContext, ToolResult
from navi.live.tools.processes import terminal as terminal_module
from navi.live.tools.processes.terminal import MAXIMUM_TIMEOUT_SECONDS, Terminal
from tests.integration.tools.calls import run_tool
from tests.waiting import eventually

# Three generations that ignore SIGTERM, each with its pid in its own file.
STUBBORN = """
trap '' TERM
(trap '' TERM; (trap '' TERM; echo $BASHPID >grandchild; while :; do sleep 1; done) &
 echo $BASHPID >child; while :; do sleep 1; done) &
echo $$ >shell
while :; do sleep 1; done
"""
GENERATIONS = ("shell", "child", "grandchild")


@pytest.fixture
def terminal() -> Terminal:
    return Terminal(grace_seconds=0.1)


async def run(tool: Terminal, context: ToolContext, command: str, **more: Any) -> ToolResult:
    return await run_tool(tool, context, {"command": command, **more})


class TestWhatACommandGets:
    async def test_it_runs_with_bash_in_the_folder_of_the_session(
        self, terminal: Terminal, context: ToolContext
    ) -> None:
        result = await run(terminal, context, "words=(a b); pwd; echo ${words[1]}")
        assert result == ToolResult(f"{context.cwd}\nb\n")

    async def test_it_has_the_environment_of_its_session_and_nothing_of_the_servers(
        self, context: ToolContext, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def environment(session_id: str) -> dict[str, str]:
            return {"COLOUR": "blue", "NAVI_SESSION_ID": session_id}

        monkeypatch.setenv("SECRET", "of the server")
        command = "echo $COLOUR $NAVI_SESSION_ID $SECRET"
        result = await run(Terminal(environment=environment), context, command)
        assert result.text == "blue ses_test\n"

    async def test_what_it_makes_has_the_modes_that_the_person_is_used_to(
        self, terminal: Terminal, context: ToolContext, private_umask: None
    ) -> None:
        result = await run(terminal, context, "umask; touch a; stat -c %a a")
        assert result.text == "0027\n640\n"

    async def test_its_input_is_empty(self, terminal: Terminal, context: ToolContext) -> None:
        assert await run(terminal, context, "cat; echo done") == ToolResult("done\n")

    async def test_it_leads_a_process_group_of_its_own(
        self, terminal: Terminal, context: ToolContext
    ) -> None:
        assert await run(terminal, context, "kill -0 -$$") == ToolResult("(no output)")


class TestWhatComesBack:
    async def test_both_outputs_come_in_the_order_they_were_printed(
        self, terminal: Terminal, context: ToolContext
    ) -> None:
        result = await run(terminal, context, "echo 1; echo 2 >&2; echo 3; echo 4 >&2")
        assert result == ToolResult("1\n2\n3\n4\n")

    async def test_a_failure_ends_with_its_exit_code(
        self, terminal: Terminal, context: ToolContext
    ) -> None:
        result = await run(terminal, context, "printf oops; exit 3")
        assert result == ToolResult("oops\nexit code 3", is_error=True)

    async def test_a_failure_without_output_is_only_its_exit_code(
        self, terminal: Terminal, context: ToolContext
    ) -> None:
        assert await run(terminal, context, "false") == ToolResult("exit code 1", is_error=True)

    @pytest.mark.parametrize(("number", "name"), [("KILL", "SIGKILL"), ("40", "signal 40")])
    async def test_death_by_a_signal_is_named(
        self, terminal: Terminal, context: ToolContext, number: str, name: str
    ) -> None:
        result = await run(terminal, context, f"kill -{number} $$")
        code = 137 if number == "KILL" else 168
        assert result == ToolResult(f"ended by {name}\nexit code {code}", is_error=True)

    async def test_silence_is_said_to_be_silence(
        self, terminal: Terminal, context: ToolContext
    ) -> None:
        assert await run(terminal, context, "true") == ToolResult("(no output)")

    async def test_a_command_that_closes_its_output_is_still_waited_for(
        self, terminal: Terminal, context: ToolContext
    ) -> None:
        result = await run(terminal, context, "exec >&- 2>&-; sleep 0.2; touch late; exit 4")
        assert result == ToolResult("exit code 4", is_error=True)
        assert os.listdir(context.cwd) == ["late"]

    async def test_characters_that_arrive_in_two_parts_are_put_together(
        self, context: ToolContext
    ) -> None:
        # A pipe holds 65,536 bytes, which is no multiple of three.
        terminal = Terminal(output_limit_characters=1_000_000)
        result = await run(terminal, context, "printf '€%.0s' {1..100000}")
        assert result.text == "€" * 100_000

    async def test_bytes_that_no_store_would_keep_become_marks(
        self, terminal: Terminal, context: ToolContext
    ) -> None:
        result = await run(terminal, context, r"printf 'a\0b\377c\342\202'")
        assert result.text == "a\ufffdb\ufffdc\ufffd"

    async def test_of_a_long_output_the_beginning_and_the_end_are_kept(
        self, context: ToolContext
    ) -> None:
        terminal = Terminal(output_limit_characters=20)
        result = await run(terminal, context, "seq -w 0 9999")
        assert result.text == "0000\n0001\n\n[49,980 characters left out]\n9998\n9999\n"

    async def test_an_output_of_just_the_limit_is_whole(self, context: ToolContext) -> None:
        terminal = Terminal(output_limit_characters=7)
        assert (await run(terminal, context, "printf 1234567")).text == "1234567"
        assert "[1 characters left out]" in (await run(terminal, context, "printf 12345678")).text

    async def test_a_huge_output_is_never_held_in_memory(
        self, terminal: Terminal, context: ToolContext
    ) -> None:
        tracemalloc.start()
        try:
            result = await run(terminal, context, "head -c 100000000 /dev/zero | tr '\\0' x")
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert "[99,970,000 characters left out]" in result.text
        assert peak < 10_000_000


class TestWhatIsRefused:
    async def test_a_command_that_is_too_long_for_the_system(
        self, terminal: Terminal, context: ToolContext
    ) -> None:
        with pytest.raises(TooLarge, match="too long"):
            await run(terminal, context, "true " + "x" * 5_000_000)

    async def test_a_missing_folder_is_reported(
        self, terminal: Terminal, context: ToolContext
    ) -> None:
        os.rmdir(context.cwd)
        with pytest.raises(NotFound, match="does not exist"):
            await run(terminal, context, "true")

    @pytest.mark.parametrize("command", ["", " \n", "echo a\0b"])
    async def test_a_blank_command_is_refused(
        self, terminal: Terminal, context: ToolContext, command: str
    ) -> None:
        with pytest.raises(InvalidInput):
            await run(terminal, context, command)

    async def test_a_timeout_above_the_maximum_is_refused(self, context: ToolContext) -> None:
        with pytest.raises(InvalidInput, match="timeout_seconds is 601") as refusal:
            await run(Terminal(), context, "true", timeout_seconds=601)
        assert refusal.value.hint == "it must be more than 0 and at most 600"

    async def test_a_default_above_the_maximum_is_the_owners_choice(
        self, context: ToolContext
    ) -> None:
        terminal = Terminal(default_timeout_seconds=MAXIMUM_TIMEOUT_SECONDS + 1)
        assert (await run(terminal, context, "echo done")).text == "done\n"


class TestTheEnd:
    async def test_a_background_process_does_not_keep_the_call_from_returning(
        self, terminal: Terminal, context: ToolContext
    ) -> None:
        result = await run(terminal, context, "sleep 1000 & echo $!", timeout_seconds=60)
        number, note = result.text.split("\n", 1)
        background = psutil.Process(int(number))
        try:
            assert not result.is_error
            assert "a background process is still running" in note
            assert background.is_running()
        finally:
            background.kill()

    async def test_a_background_process_with_its_own_output_needs_no_note(
        self, terminal: Terminal, context: ToolContext
    ) -> None:
        result = await run(terminal, context, "sleep 1000 >log 2>&1 & echo $!")
        background = psutil.Process(int(result.text))
        assert background.is_running()
        background.kill()

    async def test_a_timeout_ends_every_process_and_keeps_the_output(
        self, terminal: Terminal, context: ToolContext
    ) -> None:
        result = await run(terminal, context, f"echo begun\n{STUBBORN}", timeout_seconds=3)
        assert result.is_error
        assert result.text.startswith("begun\nended because it ran longer than 3 seconds")
        await eventually(lambda: all(is_dead(context.cwd / name) for name in GENERATIONS))

    async def test_an_endless_output_ends_with_the_timeout(self, context: ToolContext) -> None:
        terminal = Terminal(default_timeout_seconds=2, output_limit_characters=100)
        result = await run(terminal, context, "yes")
        assert "characters left out" in result.text
        assert len(result.text) < 400

    async def test_a_cancelled_call_leaves_no_process(
        self, terminal: Terminal, context: ToolContext
    ) -> None:
        call = asyncio.create_task(run(terminal, context, STUBBORN))
        await eventually(lambda: all(has_number(context.cwd / name) for name in GENERATIONS))
        assert not any(is_dead(context.cwd / name) for name in GENERATIONS)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await eventually(lambda: all(is_dead(context.cwd / name) for name in GENERATIONS))

    async def test_a_call_cancelled_at_once_leaves_no_process(
        self, terminal: Terminal, context: ToolContext
    ) -> None:
        # A number no other command line contains, so that orphans are seen too.
        command = f"sleep 1000.{os.getpid()} & sleep 1000.{os.getpid()}"
        for turns in range(10):
            call = asyncio.create_task(run(terminal, context, command))
            for _ in range(turns):
                await asyncio.sleep(0)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
        await eventually(lambda: not is_named_by_a_process(f"sleep 1000.{os.getpid()}"))

    async def test_a_cancelled_command_has_time_to_clean_up(self, context: ToolContext) -> None:
        terminal = Terminal(grace_seconds=60)
        command = "trap 'echo tidy >note; exit' TERM; echo $$ >shell; while :; do sleep 0.05; done"
        call = asyncio.create_task(run(terminal, context, command))
        await eventually(lambda: has_number(context.cwd / "shell"))
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert (context.cwd / "note").read_text() == "tidy\n"
        assert is_dead(context.cwd / "shell")

    async def test_a_second_cancellation_ends_the_patience(self, context: ToolContext) -> None:
        terminal = Terminal(grace_seconds=3600)
        command = (
            f"(trap 'echo 1 >asked' TERM; echo 1 >armed; while :; do sleep 0.05; done) &{STUBBORN}"
        )
        call = asyncio.create_task(run(terminal, context, command))
        await eventually(
            lambda: all(has_number(context.cwd / name) for name in ("armed", *GENERATIONS))
        )
        call.cancel()
        await eventually(lambda: has_number(context.cwd / "asked"))
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await eventually(lambda: all(is_dead(context.cwd / name) for name in GENERATIONS))

    async def test_calls_run_side_by_side(self, terminal: Terminal, context: ToolContext) -> None:
        os.mkfifo(context.cwd / "pipe")
        results = await asyncio.gather(
            run(terminal, context, "cat pipe"), run(terminal, context, "echo hello >pipe")
        )
        assert [result.text for result in results] == ["hello\n", "(no output)"]


# A process that prints its pid, and one that also ignores SIGTERM.
SLEEPER = """
echo $$ >pid.new; mv pid.new pid
exec sleep 1000
"""
DEAF_SLEEPER = """
trap '' TERM
echo $$ >pid.new; mv pid.new pid
while :; do sleep 1; done
"""


@pytest.mark.skipif(not CAN_READ_ALL_ENVIRONMENTS, reason="environments are hidden here")
class TestProcessesThatLeaveTheGroup:
    @pytest.fixture
    def scripts(self, folder: Path) -> None:
        (folder / "sleeper").write_text(SLEEPER)
        (folder / "deaf-sleeper").write_text(DEAF_SLEEPER)

    @pytest.mark.parametrize(
        "command",
        [
            "setsid sh sleeper & wait",
            "setsid sh deaf-sleeper & wait",
            "env -i setsid sh sleeper & wait",
            "(setsid sh sleeper &); sleep 1000",
            "(setsid sh deaf-sleeper >log 2>&1 &); sleep 1000",
            "setsid sh -c '(env -i setsid sh sleeper & wait) & wait' & exec sleep 1000",
        ],
    )
    async def test_they_end_with_a_cancelled_call(
        self, terminal: Terminal, context: ToolContext, scripts: None, command: str
    ) -> None:
        call = asyncio.create_task(run(terminal, context, command))
        await eventually(lambda: has_number(context.cwd / "pid"))
        assert not is_dead(context.cwd / "pid")
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert is_dead(context.cwd / "pid")

    async def test_they_end_with_a_call_that_times_out(
        self, terminal: Terminal, context: ToolContext, scripts: None
    ) -> None:
        command = "(setsid sh deaf-sleeper &); sleep 1000"
        result = await run(terminal, context, command, timeout_seconds=3)
        assert "ended because it ran longer than 3 seconds; raise" in result.text
        assert is_dead(context.cwd / "pid")

    async def test_those_of_an_earlier_call_go_on(
        self, terminal: Terminal, context: ToolContext, scripts: None
    ) -> None:
        await run(terminal, context, "setsid sh sleeper >log 2>&1 &")
        await eventually(lambda: has_number(context.cwd / "pid"))
        background = psutil.Process(int((context.cwd / "pid").read_text()))
        try:
            await run(terminal, context, "sleep 1000", timeout_seconds=0.1)
            assert background.is_running()
            assert background.status() != psutil.STATUS_ZOMBIE
        finally:
            background.kill()

    def test_those_that_cannot_be_ended_are_named(self) -> None:
        left = {Process(pid, "0", 1, pid, name) for pid, name in ((20, "sudo"), (3, "mount"))}
        text = terminal_module._timeout_result("", 3, left).text
        assert "these processes could not be ended: mount (3), sudo (20);" in text


def is_named_by_a_process(words: str) -> bool:
    """Whether a living process has these words on its command line; a zombie has none."""
    lines = (each.info["cmdline"] or [] for each in psutil.process_iter(["cmdline"]))
    return any(words in " ".join(line) for line in lines)


def has_number(path: Path) -> bool:
    return path.exists() and path.read_text().strip().isdigit()


def is_dead(path: Path) -> bool:
    if not has_number(path):
        return True  # it ended before it printed its pid
    try:
        return psutil.Process(int(path.read_text())).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
