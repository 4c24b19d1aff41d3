"""What macOS's commands print, read from samples: no test here runs on a Mac."""

from __future__ import annotations

from navi.base.platform import macos
from navi.base.platform.process import Process

PROCESSES = """\
    1     0     1 Ss   Mon Nov  2 08:00:01 2026 /sbin/launchd
  812     1   812 S    Wed Nov 18 15:47:43 2026 /Applications/Some App.app/Contents/MacOS/Some App
 4031   812  4031 S+   Wed Nov 18 16:02:00 2026 /opt/homebrew/bin/codex
 4032  4031  4031 Z    Wed Nov 18 16:02:01 2026 (node)
"""
ENVIRONMENTS = """\
    1 /sbin/launchd
 4031 /opt/homebrew/bin/codex exec TERM=xterm NAVI_TURN_ID=abc SHELL=/bin/zsh
 4032 sleep 600 NAVI_TURN_ID=abcd
 4033 sleep 600 OLD_NAVI_TURN_ID=abc
 4034 sleep 600 NAVI_TURN_ID=abc
"""
OPEN_FILES = """\
p4031
fcwd
n/Volumes/work/shop
f3
n/Volumes/ada/.codex/locks/0199.lock
f4
n127.0.0.1:52011->127.0.0.1:8420
p4040
f5
n/Volumes/ada/Library/My Files/a b.txt
"""


def test_living_processes_are_listed_with_their_names_and_starts() -> None:
    processes = macos.parse_processes(PROCESSES)
    assert processes == {
        1: Process(1, "Mon Nov 2 08:00:01 2026", 0, 1, "launchd"),
        812: Process(812, "Wed Nov 18 15:47:43 2026", 1, 812, "Some App"),
        4031: Process(4031, "Wed Nov 18 16:02:00 2026", 812, 4031, "codex"),
    }
    assert [(each.parent, each.group, each.name) for each in processes.values()] == [
        (0, 1, "launchd"),
        (1, 812, "Some App"),
        (812, 4031, "codex"),
    ]


def test_a_process_that_nobody_waited_for_is_not_alive() -> None:
    assert 4032 not in macos.parse_processes(PROCESSES)


def test_a_process_is_recognised_by_exactly_its_variable() -> None:
    assert macos.parse_environments(ENVIRONMENTS, "NAVI_TURN_ID=abc") == {4031, 4034}
    assert macos.parse_environments(ENVIRONMENTS, "NAVI_TURN_ID=.*") == set()


def test_open_files_belong_to_the_process_named_before_them_and_sockets_are_left_out() -> None:
    assert macos.parse_open_files(OPEN_FILES) == [
        (4031, "/Volumes/work/shop"),
        (4031, "/Volumes/ada/.codex/locks/0199.lock"),
        (4040, "/Volumes/ada/Library/My Files/a b.txt"),
    ]


def test_a_notification_passes_its_text_as_arguments_and_not_as_a_script() -> None:
    text = 'done" with title "x'
    *script, title, message = macos.notification_command("Navi", text)
    assert (title, message) == ("Navi", text)
    assert not any(text in part for part in script)


def test_nobody_sees_a_browser_that_is_opened_over_ssh() -> None:
    assert macos.has_desktop({})
    assert not macos.has_desktop({"SSH_CONNECTION": "192.0.2.1 50000 192.0.2.2 22"})
