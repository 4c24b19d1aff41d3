"""The picker as a person meets it: the real `recall` on a real terminal."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import pytest

from navi.cli import cells
from tests.acceptance.picker.conftest import SUMMARY, Picker
from tests.integration.memory.semantic.semantic_world import SemanticWorld
from tests.memory_world import World
from tests.tmux_screen import ENDED
from tests.waiting import eventually

HIGHLIGHT = re.compile(r"\x1b\[33m(?:\x1b\[[0-9;]*m)*rotat")
SIZES = pytest.mark.parametrize(("columns", "lines"), [(80, 24), (200, 50)])
CHECKOUT = "Customers are logged out"
EXPORT = "Why did the export stop"
HINTS = "Enter resume"


def borders(screen: str) -> list[int]:
    """The columns in which the border beside the preview is drawn, line by line."""
    return [cells.width(line.partition("│")[0]) for line in screen.splitlines() if "│" in line]


@SIZES
async def test_recall_alone_lists_all_sessions_of_all_agents(
    picker: Picker, columns: int, lines: int
) -> None:
    with picker(columns=columns, lines=lines) as screen:
        text = await screen.shows(HINTS, "3 of 3", "keep the old one")  # the end of the preview
        rows = [line for line in text.splitlines() if "ago  " in line]
        # The latest first.
        for row, facts in zip(
            rows,
            [("claude-code", "~/shop", CHECKOUT), ("garden", SUMMARY), ("codex", EXPORT)],
            strict=True,
        ):
            assert all(fact in row for fact in facts)
        assert rows[0].startswith("> ")
        assert len(screen.lines()) == lines
        screen.press("Escape")
        ended = await screen.ends()
        assert "[ended: 0]" in ended
        assert "before" in ended  # the screen from before is back
        assert CHECKOUT not in ended


@SIZES
async def test_typing_searches_contents_and_previews_the_match_with_its_neighbours(
    picker: Picker, columns: int, lines: int
) -> None:
    with picker(columns=columns, lines=lines) as screen:
        await screen.shows(HINTS)
        screen.type_text("rotat")  # not yet a whole word
        match = "▌ The refresh token is rotated"
        await screen.shows("1 of 3", match, "grep -rn refresh_token", "Then keep the old one")
        await eventually(lambda: HIGHLIGHT.search(screen.coloured()))
        screen.press("C-u")
        screen.type_text("lawn tap")
        # The match is far down in its message.
        without = "Water the plants" if lines < 40 else None
        await screen.shows("1 of 3", "The token of the tap is lost", without=without)


async def test_titles_are_searched_and_the_query_has_filters(picker: Picker) -> None:
    with picker() as screen:
        await screen.shows(HINTS)
        screen.type_text("zebra")
        await screen.shows(SUMMARY, "1 of 3")
        screen.press("C-u")
        screen.type_text("token agent:code")
        await screen.shows("agent:code is not an agent", SUMMARY)  # the last list stays
        screen.type_text("x")
        await screen.shows(EXPORT, "1 of 3")
        screen.press("C-u")
        screen.type_text("nothing like this")
        await screen.shows("nothing matches", "0 of 3")


async def test_when_typing_pauses_sessions_are_found_by_meaning_too(
    picker: Picker, world: World, tmp_path: Path
) -> None:
    world.file("slow", "shop").say("my automobile is sluggish")
    world.index()
    meaning = SemanticWorld(world.home, folder=tmp_path)
    meaning.install()
    with picker() as screen:
        await screen.shows(HINTS, "4 of 4")
        screen.type_text("slow car")
        await screen.shows("nothing matches")
        screen.press("F1")
        await screen.shows("by words alone: no passage has a vector yet")
        meaning.embed()
        screen.type_text(" ")
        await screen.shows("▌ my automobile is sluggish", "1 of 4")
        screen.press("F1")
        await screen.shows("copy the session's id", without="by words alone")


async def test_keys_filter_by_agent_project_and_time(picker: Picker, world: World) -> None:
    with picker() as screen:
        await screen.shows(HINTS, "3 of 3")
        screen.press("F2")
        await screen.shows("agent: claude-code", "2 of 3")
        screen.press("M-a")
        await screen.shows("agent: codex", "1 of 3", EXPORT)
        screen.press("F2", "F3")
        await screen.shows("agent: all", "project: ~/shop", "2 of 3", without=SUMMARY)
        screen.type_text("token project:garden")
        await screen.shows("project:garden contradicts the filter project")
        screen.press("C-u", "M-p", "F4")
        await screen.shows("time: today", "0 of 3", "no session matches these filters")
        screen.press("M-t", "F4", "F4")
        await screen.shows("time: any", "3 of 3")


async def test_enter_resumes_the_session_in_its_folder(picker: Picker, world: World) -> None:
    with picker() as screen:
        await screen.shows(HINTS, CHECKOUT)
        screen.press("Down", "PageDown", "PageUp")
        screen.type_text("rotated")
        screen.press("Enter")  # before the list has followed
        await screen.ends()
        expected = f"claude: {world.home}/shop: --resume: 6f1c0d52-58b1-4a35-9d2e-0f6f5c3f8a10: "
        assert (world.home / "resumed").read_text() == expected


async def test_a_session_that_cannot_be_resumed_keeps_the_picker_open(
    picker: Picker, world: World
) -> None:
    (world.home / "garden").rmdir()
    with picker("pick", "zebra") as screen:
        await screen.shows("1 of 3", SUMMARY)
        screen.press("Enter")
        await screen.shows("can't enter the session's folder")
        screen.press("C-u")
        await screen.shows(HINTS, "3 of 3")


async def test_print_gives_the_id_to_a_script_and_130_if_nothing_was_chosen(
    picker: Picker, world: World
) -> None:
    (codex,) = [each["id"] for each in world.sessions() if each["source"] == "codex"]
    script = 'id="$(recall pick --print agent:codex)"; code=$?; echo "id: [$id]"; exit $code'
    for key, code, answer in (("Enter", 0, codex), ("Escape", 130, ""), ("C-c", 130, "")):
        with picker(script=script) as screen:
            await screen.shows("Enter choose", "1 of 3")
            screen.press(key)
            text = await screen.ends()
            assert f"[ended: {code}]" in text
            assert f"id: [{answer}]" in text


async def test_ctrl_c_and_a_signal_leave_the_terminal_as_it_was(picker: Picker) -> None:
    for is_key in (True, False):
        with picker() as screen:
            await screen.shows(HINTS)
            if is_key:
                screen.press("C-c")
            else:
                (pid,) = screen.processes("navi.cli.recall.main")
                os.kill(pid, signal.SIGTERM)
            text = await screen.ends()
            # What `stty -g` prints before and after is all there is; it may take several lines.
            between = text.partition("before")[2].partition(ENDED)[0].replace("\n", "")
            middle = len(between) // 2
            assert between[:middle] == between[middle:]


async def test_a_key_copies_the_id(picker: Picker, world: World) -> None:
    (codex,) = [each["id"] for each in world.sessions() if each["source"] == "codex"]
    with picker("pick", "agent:codex") as screen:
        await screen.shows("1 of 3")
        screen.press("F6")
        await screen.shows(f"copied, if your terminal allows it: {codex}")
        await eventually(lambda: screen.clipboard() == codex)


async def test_without_a_server_the_last_line_says_so(picker: Picker) -> None:
    with picker(columns=200, NAVI_URL="http://127.0.0.1:9") as screen:
        await screen.shows(HINTS)
        for key in ("F5", "F7"):
            screen.press(key)
            await screen.shows("no server answers at http://127.0.0.1:9")
            screen.press("Down")
            await screen.shows(HINTS)


async def test_f1_explains_the_keys(picker: Picker) -> None:
    with picker() as screen:
        await screen.shows(HINTS)
        screen.press("?")
        await screen.shows("resume the session in its folder", "copy the session's id")
        screen.press("Escape")
        await screen.shows(CHECKOUT)
        screen.type_text("token?")
        await screen.shows("recall> token?", "3 of 3")


async def test_unicode_and_control_characters_stay_in_their_place(
    picker: Picker, world: World
) -> None:
    texts = [
        "\x1b[2J\x1b]0;taken\x07\x1b[5;5Hcleared \u202eleft",
        "令牌在每次请求时都会轮换，旧的令牌会立即失效。" * 6,
        "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f44d\U0001f3fd ❤\ufe0f 🌙" * 6,
        "Cafe\u0301 " * 20,
        "שלום עולם " * 10,
    ]
    for number, text in enumerate(texts):
        file = world.file(f"wide-{number}", "店プロジェクト")
        file.count = 200_000 + number * 60
        file.say(f"needle {text}\n{text}")
    world.index()
    with picker("pick", "needle", columns=200, lines=50) as screen:
        await screen.shows("5 of 8", HINTS)
        for _ in texts:
            await screen.becomes(
                lambda screen: "▌ needle" in screen and borders(screen) == [90] * 47,
                "47 borders in column 90",
            )
            screen.press("Down")
        screen.press("C-u")
        screen.type_text("令牌")
        await screen.shows("1 of 8", "▌ needle 令牌")
        screen.resize(80, 24)
        await screen.shows("────")
        assert all(cells.width(line) <= 80 for line in screen.lines())


async def test_a_resized_terminal_is_used_at_once(picker: Picker) -> None:
    with picker() as screen:
        await screen.shows(HINTS, "────", without="│")
        screen.resize(200, 50)
        await screen.shows("│", without="────")
        screen.resize(40, 8)
        await screen.becomes(
            lambda screen: "│" not in screen and screen.splitlines()[2].startswith("> "),
            "the list in its third line",
        )
        screen.resize(80, 24)
        await screen.shows("────", CHECKOUT, HINTS)


@pytest.mark.parametrize(("variables", "has_colour"), [({}, True), ({"NO_COLOR": "1"}, False)])
async def test_no_color_is_honoured(
    picker: Picker, variables: dict[str, str], has_colour: bool
) -> None:
    with picker("pick", "rotated", **variables) as screen:
        await screen.shows("▌ The refresh token is rotated")
        await eventually(lambda: ("\x1b[33m" in screen.coloured()) is has_colour)


async def test_what_is_new_joins_the_list_while_it_is_open(picker: Picker, world: World) -> None:
    newest = world.file("new", "shop")
    newest.count = 300_000
    newest.say("A session that nobody has indexed")
    with picker() as screen:
        await screen.shows("4 of 4", "A session that nobody has indexed")


async def test_the_first_start_reads_everything_and_an_empty_memory_says_so(
    picker: Picker, world: World
) -> None:
    with picker(RECALL_DATA_DIR=str(world.home / "elsewhere")) as screen:
        await screen.shows(CHECKOUT, "3 of 3")
    empty = {name: str(world.home / "empty") for name in ("HOME", "RECALL_DATA_DIR")}
    with picker(**empty, XDG_DATA_HOME=str(world.home / "empty")) as screen:
        await screen.shows("no sessions yet")
