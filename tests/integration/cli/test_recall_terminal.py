"""`recall` fits its output to the terminal's width; a pipe gets everything."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from navi.cli import cells, formats
from navi.cli.table import Column, fit
from tests.integration.cli.recall_runs import (
    AS_A_PROCESS,
    CODES,
    Recall,
    on_terminal,
    on_terminal_here,
)
from tests.memory_world import World

TITLE = "Rewrite the checkout so that two tabs don't log each other out"
COMMANDS = [
    ["list"],
    ["search", "token"],
    ["search", "token", "-C", "2"],
    ["search", "令牌"],
    ["stats"],
    ["stats", "tools"],
    ["stats", "bash"],
    ["stats", "tokens"],
    ["stats", "tokens", "--by", "project,day,model"],
]


@pytest.fixture(scope="module")
def busy_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("busy") / "home"


@pytest.fixture
def busy(busy_home: Path, recall: Recall, monkeypatch: pytest.MonkeyPatch) -> World:
    """Sessions with long and wide names and texts. The tests only read them, and share them."""
    monkeypatch.setenv("HOME", str(busy_home))
    monkeypatch.setenv("XDG_DATA_HOME", str(busy_home / ".local" / "share"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(busy_home / ".config"))
    world = World(busy_home)
    if not busy_home.exists():
        write_busy_sessions(world)
        recall("index")
        recall("tag", "wide-session", "important")
    return world


def write_busy_sessions(world: World) -> None:
    long = world.file("long-session")
    long.cwd = str(world.home / "a/very/long/path/to/a/project/with-a-long-name")
    long.raw(json.dumps({"type": "summary", "summary": TITLE, "leafUuid": "x"}).encode() + b"\n")
    long.say("The refresh token is rotated on every request. " * 12)
    long.run("pytest tests/auth -k 'token and not slow' " + "--verbose " * 20, text="token answer")
    wide = world.file("wide-session")
    wide.cwd = str(world.home / "店/プロジェクト")
    wide.say("令牌在每次请求时都会轮换，旧的令牌会立即失效。" * 8 + " token 🌙🌙🌙")
    wide.line("assistant", [{"type": "text", "text": "token"}], model="some-unknown-model-2099")
    for number in range(60):
        world.file(f"small-{number}").say(f"small talk {number}")


@pytest.mark.parametrize("columns", [80, 200])
def test_no_line_is_wider_than_the_terminal(busy: World, columns: int) -> None:
    for words in COMMANDS:
        lines = CODES.sub("", on_terminal_here(columns, *words)).splitlines()
        assert lines, words
        for line in lines:
            assert cells.width(line) <= columns, words


def test_a_wide_terminal_is_used(busy: World) -> None:
    narrow, wide = (on_terminal(columns, "list", "--limit", "0") for columns in (80, 200))
    assert TITLE not in narrow
    assert "Rewrite the che" in narrow
    assert "…" in narrow
    assert TITLE in wide
    assert "LATEST (UTC)" in wide
    assert "TOOLS" in wide


def test_a_pipe_gets_whole_values_without_colour(busy: World, recall: Recall) -> None:
    for words in COMMANDS:
        answer = recall(*words)
        assert answer.out
        assert "\x1b" not in answer.out
    ran = subprocess.run([*AS_A_PROCESS, "list", "--limit", "0"], capture_output=True, text=True)
    assert "\x1b" not in ran.stdout
    assert TITLE in ran.stdout
    assert "~/a/very/long/path/to/a/project/with-a-long-name" in ran.stdout
    assert not any(line.endswith(" ") for line in ran.stdout.splitlines())


def test_lists_and_stats_are_coloured_unless_no_color_is_set(busy: World) -> None:
    for words in (["list"], ["stats"], ["stats", "tools"], ["search", "token"]):
        assert "\x1b[36m" in on_terminal_here(80, *words).replace("36;1", "36")
        assert "\x1b[3" not in on_terminal_here(80, *words, NO_COLOR="1")


def test_a_cut_list_or_search_says_so(busy: World, recall: Recall) -> None:
    assert recall("list").err == "50 of 62 sessions; --limit 0 for all\n"
    assert recall("list", "--limit", "0").err == ""
    assert len(recall("list", "--limit", "0", "--json").json) == 62
    assert recall("search", "small").err == "20 of 60 passages; --limit 0 for all\n"
    assert recall("search", "small", "--limit", "0").err == ""
    assert len(recall("search", "small", "--limit", "0", "--json").json) == 60


def test_unknown_prices_are_said_plainly(busy: World, recall: Recall) -> None:
    answer = recall("stats", "tokens")
    assert "MONTH (UTC)" in answer.out
    assert "MODEL" not in answer.out
    assert answer.err.splitlines()[-1] == (
        "1 model has no known price; its cost is left out: some-unknown-model-2099"
    )


def test_numbers_stand_at_the_right(busy: World, recall: Recall) -> None:
    for words in (["list"], ["stats"], ["stats", "tools"], ["stats", "bash"], ["stats", "tokens"]):
        head, *rows = [line for line in recall(*words).out.splitlines() if "  " in line]
        for name in ("MSGS", "TOOLS", "USES", "SESSIONS", "INPUT", "CACHE READ"):
            if name in head:
                end = head.index(name) + len(name)
                assert all(row[end - 1].isdigit() for row in rows if row[:end].isascii()), words


def test_a_narrow_table_loses_columns_by_rank_and_then_cuts_the_widest() -> None:
    columns = [
        Column("ID"),
        Column("X", rank=1),
        Column("Y", rank=2),
        Column("TEXT", needed_width=6),
    ]
    row = ["12345", "xxxxx", "yyyyy", "a long text that is cut"]
    for room, heads in (
        (42, "ID X Y TEXT"),
        (27, "ID X Y TEXT"),
        (26, "ID X TEXT"),
        (13, "ID TEXT"),
    ):
        remaining, (cut,), widths = fit(columns, [row], room)
        assert " ".join(column.head for column in remaining) == heads
        assert sum(widths) + 2 * (len(widths) - 1) <= room
        assert cut[0] == "12345"


@pytest.mark.parametrize(
    ("text", "room", "cut"),
    [
        ("abcdef", 6, "abcdef"),
        ("abcdef", 5, "abcd…"),
        ("日本語", 6, "日本語"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日…"),
        ("🌙🌙", 3, "🌙…"),
    ],
)
def test_wide_characters_count_as_two_cells(text: str, room: int, cut: str) -> None:
    assert cells.cut(text, room) == cut
    assert cells.width(cut) <= room


def test_text_is_wrapped_at_spaces_or_between_wide_characters() -> None:
    def lines(text: str, first: int, room: int) -> list[str]:
        return [text[start:end] for start, end in cells.line_spans(text, first, room)]

    assert lines("one two three", 8, 5) == ["one two ", "three"]
    assert lines("one two three", 7, 5) == ["one two ", "three"]
    assert lines("日本語日本語", 6, 4) == ["日本語", "日本", "語"]
    assert lines("unbreakable", 4, 4) == ["unbr", "eaka", "ble"]
    assert lines("", 4, 4) == [""]


def test_a_transcript_cant_send_codes_to_the_terminal(world: World, recall: Recall) -> None:
    world.file("evil").say("plum \x1b[2J\x1b]0;owned\x07 \x9b31m end")
    recall("index")
    for words in (["search", "plum"], ["show", "evil"], ["show", "evil", "--at", "0"]):
        output = on_terminal(80, *words, keep_codes=True, NO_COLOR="1")
        assert "\x1b" not in output
        assert "\x07" not in output
        assert "\x9b" not in output


def test_counts_have_the_right_number() -> None:
    assert formats.count(1, "use") == "1 use"
    assert formats.count(1200, "use") == "1,200 uses"
    assert [formats.compact(each) for each in (0, 999, 1000, 12_345, 999_999, 4_500_000)] == [
        *("0", "999", "1.0K", "12.3K", "1.0M", "4.5M"),
    ]
