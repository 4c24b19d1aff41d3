"""The entry point of `recall`.

What people wait for is answered right here if it is asked for in a plain form: reading the command
line with click would take about as long as finding the answer.
"""

from __future__ import annotations

import gc
import os
import sys


def main() -> None:
    if not _answered(sys.argv[1:]):
        from navi.cli.recall.group import group

        group.run()


def _answered(words: list[str]) -> bool:
    from navi.cli.recall import plain

    if not words or words[0] not in plain.COMMANDS or "_RECALL_COMPLETE" in os.environ:
        return False
    given = plain.read(plain.COMMANDS[words[0]], words[1:])
    if given is None:
        return False  # click understands it, or says what is wrong with it
    # The process ends in a moment: looking for circles among what it imports is a waste.
    gc.disable()
    from navi.cli import output

    with output.ending():
        if words[0] == "index":
            from navi.cli.recall import indexed

            indexed.run(**given)
        elif words[0] == "list":
            from navi.cli.recall import listed

            listed.show(**given)
        else:
            from navi.cli.recall import found

            found.show(**given)
    return True


if __name__ == "__main__":
    main()
