"""`recall init`: a key of the shell that opens the picker."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.acceptance.picker.conftest import RECALL, Picker
from tests.memory_world import World

SHELLS = {
    "bash": ["bash", "--norc", "-i"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "--no-config", "-i"],
}
CHECKS = {"bash": ["bash", "-n"], "zsh": ["zsh", "-n"], "fish": ["fish", "--no-execute"]}
SET_UP = {
    "bash": 'eval "$(recall init bash)"',
    "zsh": 'eval "$(recall init zsh)"',
    "fish": "recall init fish | source",
}


def is_installed(shell: str) -> bool:
    return shutil.which(shell) is not None


def snippet(*words: str) -> str:
    return subprocess.run([*RECALL, "init", *words], capture_output=True, text=True).stdout


@pytest.mark.parametrize("shell", CHECKS)
def test_the_snippet_is_valid_in_its_shell(shell: str, tmp_path) -> None:
    if not is_installed(shell):
        pytest.skip(f"{shell} is not installed")
    script = tmp_path / "snippet"
    script.write_text(snippet(shell))
    done = subprocess.run([*CHECKS[shell], str(script)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("shell", SHELLS)
async def test_the_key_searches_for_the_line_and_puts_the_command_on_it(
    picker: Picker, world: World, shell: str
) -> None:
    if not is_installed(shell):
        pytest.skip(f"{shell} is not installed")
    resume = f"cd {world.home}/shop && claude --resume 6f1c0d52-58b1-4a35-9d2e-0f6f5c3f8a10"
    with picker(script=" ".join(SHELLS[shell]), columns=300) as screen:  # prompts are long
        screen.type_text(f"{SET_UP[shell]}; echo READ''Y")
        screen.press("Enter")
        await screen.shows("READY")
        screen.type_text("refresh token rotated")
        screen.press("M-r")
        await screen.shows("recall> refresh token rotated", "1 of 3", "Enter choose")
        screen.press("Escape")
        await screen.shows("READY", "refresh token rotated")  # as before
        screen.press("M-r")
        await screen.shows("Enter choose", "1 of 3")
        screen.press("Enter")
        await screen.shows(resume)
        assert not (world.home / "resumed").exists()  # nothing runs by itself
        screen.press("Enter")
        await screen.shows("claude: ", "--resume: 6f1c0d52")


@pytest.mark.parametrize(
    ("shell", "code"), [("bash", r'"\C-g"'), ("zsh", "'^g'"), ("fish", r"bind \cg ")]
)
def test_another_key_can_be_chosen(shell: str, code: str) -> None:
    assert code in snippet(shell, "--key", "Ctrl-G")


def test_a_key_that_no_shell_has_is_refused() -> None:
    done = subprocess.run(
        [*RECALL, "init", "bash", "--key", "f25; rm -rf /"], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert "is not a key" in done.stderr
