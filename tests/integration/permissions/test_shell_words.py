"""The words of a shell line, compared with what a real shell hands over."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from navi.permissions.shell.shell_line import read_command

argument = st.text(st.sampled_from("ab '\"\\$`*é-\t{}[],=#!\n"), max_size=8)


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@settings(max_examples=80, deadline=None)
@given(argument)
@example("\\ -")
@example("}\\/")
@example("]\t{")
@example("a\\\n!!")
@example("\n\\:")
def test_words_are_those_that_bash_itself_hands_over(arguments: str) -> None:
    text = f"printf '%s\\0' {arguments}"
    line = read_command(text)
    commands = line.commands
    if not line.is_understood or len(commands) != 1 or commands[0].dynamic:
        return
    ran = subprocess.run(["bash", "-fc", text], capture_output=True, check=False)
    if ran.returncode == 0:
        assert ran.stdout.decode().split("\0")[:-1] == list(commands[0].words[2:] or [""])
