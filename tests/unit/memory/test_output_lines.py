"""The line of an output that says best what happened."""

from __future__ import annotations

from navi.memory.overview.output_lines import error_line, last_line


def test_the_line_of_an_error_is_the_last_one_that_looks_like_one() -> None:
    assert error_line("start\nKeyError: 'tax'\n…\nbye") == "KeyError: 'tax'"
    assert error_line("nothing\nspecial") == "special"
    assert error_line(None) == error_line("…") == ""
    assert last_line("== a\n==== 3 passed ====\n") == "3 passed"
