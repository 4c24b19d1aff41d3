"""Lines for a shell."""

from __future__ import annotations

import shlex

from hypothesis import given
from hypothesis import strategies as st

from navi.cli.formats import shell_line

WORDS = st.text() | st.text("aZ09_@%+=:,./-", max_size=5) | st.text("a'\" $é", max_size=5)


@given(st.lists(WORDS, min_size=1, max_size=4), WORDS)
def test_a_line_for_a_shell_is_quoted_as_shlex_does(words: list[str], folder: str) -> None:
    assert shell_line(words, None) == shlex.join(words)
    if folder:
        assert shell_line(words, folder) == f"cd {shlex.quote(folder)} && {shlex.join(words)}"
