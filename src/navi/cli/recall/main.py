"""The entry point of `recall`.

What people wait for is answered right here if it is asked for in a plain form: reading the command
line with click would take longer than finding the answer. For the same reason all that `list` and
`search` import does without `typing`, `pathlib`, `re`, `json` and the like, which take longer to
load than an answer to find. A test holds them to it.
"""

from __future__ import annotations

import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

OFTEN = ("index", "list", "search")
ONLY_READ = ("list", "search")


def command() -> None:
    """`main` as a process of its own."""
    main()
    if sys.argv[1] in ONLY_READ:
        # All is written: `output` holds nothing back. Taking Python down in order takes 2 ms more.
        os._exit(0)


def main() -> None:
    if not _answered(sys.argv[1:]):
        from navi.cli.recall.group import group

        group.run()


def _answered(words: list[str]) -> bool:
    if not words or words[0] not in OFTEN or "_RECALL_COMPLETE" in os.environ:
        return False
    from navi.cli.recall import plain

    given = plain.read(plain.COMMANDS[words[0]], words[1:])
    if given is None:
        return False  # click understands it, or says what is wrong with it
    # The process ends in a moment: looking for circles among what it imports is a waste.
    gc.disable()
    if words[0] in ONLY_READ and sys.version_info < (3, 12):
        # `datetime` makes all its classes in Python, 3 ms, and then takes those in C instead.
        import _datetime  # type: ignore[import-not-found]

        sys.modules.setdefault("datetime", _datetime)
    try:
        _answer(words[0], given)
    finally:
        gc.enable()
    return True


def _answer(command: str, given: dict[str, Any]) -> None:
    from navi.cli import output

    with output.ending():
        if command == "index":
            from navi.cli.recall import indexed

            indexed.run(**given)
        elif command == "list":
            from navi.cli.recall import listed

            listed.show(**given)
        else:
            from navi.cli.recall import found

            found.show(**given)


if __name__ == "__main__":
    command()
