"""How the picker draws a state: everything fits, and nothing can escape from its place."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest

from navi.base.control_characters import CONTROL_CHARACTER
from navi.cli import cells
from navi.cli.recall.picker import updates, view
from navi.cli.recall.picker.preview_view import MATCH, Line, visible
from navi.cli.recall.picker.screen_text import screen_line, screen_text
from navi.cli.recall.picker.state import Item, PickerState, SessionListing
from navi.memory.read.excerpts import Excerpt, ExcerptText

NOW = datetime(2026, 3, 2, tzinfo=UTC)
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
TITLES = {
    "plain": "Fix the checkout",
    "long": "Rewrite the checkout so that two tabs don't log each other out " * 5,
    "chinese": "令牌在每次请求时都会轮换，旧的令牌会立即失效。" * 5,
    "emoji": f"{FAMILY} \U0001f44d\U0001f3fd ❤\ufe0f moon 🌙🌙🌙",
    "combining": "Cafe\u0301 an\u0303o e\u0323\u0301",
    "commands": "\x1b[31mred\x1b[0m \x1b]52;c;aGk=\x07 a\rb \x9b2J \u202eright to left",
    "lines": "one\ntwo\tthree",
    "secret": "password=hunter2hunter2",
    "nothing": "",
}


def session(**values: Any) -> dict[str, Any]:
    return {
        "id": "b7dbdb91a8d99c9f",
        "source": "claude_code",
        "source_session_id": "6f1c0d52",
        "title": "Fix the checkout",
        "project": "/srv/shop",
        "started_at": "2026-03-01T12:00:00.000Z",
        "ended_at": None,
        "is_subagent": False,
        "is_archived": False,
        "is_complete": True,
        "tags": [],
        **values,
    }


def state(columns: int = 80, lines: int = 24, *sessions: dict[str, Any]) -> PickerState:
    empty = PickerState(columns, lines)
    items = tuple(map(Item, sessions))
    listing = SessionListing(items, len(items), len(items))
    return updates.show_listing(empty, empty.list_request, listing)


def excerpt(*texts: str, match: int = 0, word: str = "token") -> Excerpt:
    rows = []
    for number, text in enumerate(texts):
        start = text.find(word)
        highlights = ((start, start + len(word)),) if start >= 0 else ()
        is_match = number == match
        rows.append(ExcerptText(number, "user", "content", None, NOW, text, highlights, is_match))
    return Excerpt("b7dbdb91a8d99c9f", tuple(rows))


def plain(line: Line) -> str:
    return "".join(text for _, text in line)


@pytest.mark.parametrize("columns", [40, 80, 200])
@pytest.mark.parametrize("title", TITLES.values(), ids=TITLES.keys())
def test_a_row_fits_its_width_and_has_no_control_characters(title: str, columns: int) -> None:
    one = session(title=title, project=f"/srv/{title}", tags=[title])
    for line in view.session_lines(state(columns, 24, one), NOW):
        text = plain(line)
        assert CONTROL_CHARACTER.search(text) is None
        assert "\n" not in text
        assert cells.width(text) <= columns
    lines, _ = view.preview_lines(state(columns, 24, one))
    assert all(cells.width(plain(line)) <= columns for line in lines)


def test_the_columns_of_wide_and_narrow_titles_begin_at_the_same_cell() -> None:
    rows = [session(title=f"|{title}", project="/店/プロジェクト") for title in TITLES.values()]
    lines = view.session_lines(state(80, 40, *rows), NOW)
    starts = {cells.width(plain(line).partition("|")[0]) for line in lines}
    assert len(starts) == 1


def test_joined_emoji_become_single_ones_of_a_certain_width() -> None:
    assert screen_line(FAMILY) == "\U0001f468\U0001f469\U0001f467"
    assert screen_line("\U0001f44d\U0001f3fd ❤\ufe0f") == "\U0001f44d ❤"
    assert screen_line("Cafe\u0301") == "Café"
    assert screen_text("a\tb\nc") == "a   b\nc"


def test_secrets_in_titles_are_masked() -> None:
    lines = view.session_lines(state(80, 24, session(title=TITLES["secret"])), NOW)
    assert "hunter2" not in plain(lines[0])
    assert "[masked: secret]" in plain(lines[0])


def test_the_selected_row_is_marked_without_colour() -> None:
    first, second = view.session_lines(state(80, 24, session(), session(id="2")), NOW)
    assert plain(first).startswith("> ")
    assert plain(second).startswith("  ")


def test_what_a_session_is_stands_before_its_title() -> None:
    row = session(is_subagent=True, is_archived=True, is_complete=False, tags=["later"])
    (line,) = view.session_lines(state(200, 24, row), NOW)
    assert "[sub-agent] [file gone] [incomplete] #later" in plain(line)


def test_the_preview_begins_near_the_match() -> None:
    texts = [f"message {number}\n" * 5 for number in range(20)]
    texts[12] = "here is the token that was meant"
    lines, _ = visible(excerpt(*texts, match=12), 80, 12, 0)
    assert any(style == MATCH and text == "token" for line in lines for style, text in line)
    assert any(plain(line).startswith("▌ here is the token") for line in lines)
    assert len(lines) == 12


def test_the_preview_begins_where_most_words_are_together() -> None:
    text = "a lawn\n" * 40 + "the tap of the lawn\n" + "more\n" * 40
    spots = tuple((each.start(), each.end()) for each in re.finditer("lawn|tap", text))
    row = ExcerptText(0, "user", "content", None, NOW, text, spots, True)
    lines, _ = visible(Excerpt("b7dbdb91a8d99c9f", (row,)), 80, 12, 0)
    assert any("the tap of the lawn" in plain(line) for line in lines)


def test_the_preview_without_a_match_shows_the_end() -> None:
    lines, _ = visible(excerpt(*[f"message {number}" for number in range(50)], match=-1), 80, 9, 0)
    assert "message 49" in plain(lines[-1])


def test_the_preview_scrolls_no_further_than_its_ends() -> None:
    text = excerpt(*[f"message {number}" for number in range(50)], match=-1)
    lines, scroll = visible(text, 80, 9, -1000)
    assert "message 0" in plain(lines[1])
    assert scroll > -1000
    assert visible(text, 80, 9, 1000)[1] == 0


def test_highlights_stay_on_their_words_after_cleaning() -> None:
    text = "\x1b[31m" + FAMILY + "\x1b[0m a\u0301 \x07the token 令牌"
    lines, _ = visible(excerpt(text), 80, 9, 0)
    assert [text for line in lines for style, text in line if style == MATCH] == ["token"]


def test_a_long_match_is_wrapped_and_highlighted_on_each_line() -> None:
    text = f"before {'token' * 60} after"
    wrapped = excerpt(text, word="token" * 60)
    lines, _ = visible(wrapped, 80, 20, 0)
    marked = [text for line in lines for style, text in line if style == MATCH]
    assert "".join(marked) == "token" * 60
    assert len(marked) > 2


def test_an_empty_list_says_why() -> None:
    assert "no sessions yet" in plain(view.session_lines(state(80, 24), NOW)[0])
    some = SessionListing((), 0, total=5)
    typed = updates.type_query(state(80, 24), "auth", 0)
    assert plain(view.session_lines(typed, NOW)[0]).strip() == ""  # still searching
    answered = updates.show_listing(typed, typed.list_request, some)
    assert "nothing matches" in plain(view.session_lines(answered, NOW)[0])


@pytest.mark.parametrize("columns", [30, 80, 200])
def test_the_last_line_has_news_or_the_keys_that_fit(columns: int) -> None:
    quiet = state(columns, 24, session())
    assert plain(view.last_line(quiet)).startswith("Enter resume")
    assert cells.width(plain(view.last_line(quiet))) <= columns
    news = updates.note(quiet, "copied \x1b[2J令牌" * 50)
    assert cells.width(plain(view.last_line(news))) <= columns
    assert "\x1b" not in plain(view.last_line(news))


def test_enter_chooses_where_the_id_is_printed() -> None:
    printing = PickerState(80, 24, prints=True)
    assert plain(view.last_line(printing)).startswith("Enter choose")
    assert any("print the session's id" in plain(line) for line in view.key_lines(printing))


def test_the_filters_name_their_keys_and_values() -> None:
    line = plain(view.filters(updates.next_period(state(80, 24)), "~/shop"))
    assert line.split("   ")[:3] == ["F2 agent: all", "F3 project: all", "F4 time: today"]
    here = view.filters(updates.toggle_project(state(80, 24)), "~/shop")
    assert ("class:filter", "~/shop") in here
