"""Shortens a tool's output to its beginning, its end and the lines that look like errors.

Outputs are several times as long as all messages together. Most of it is files and listings that
nobody searches for; people remember how an output began, how it ended and what went wrong.

Half a secret can't be recognised and masked later, so text is masked before it is cut within a line
or a key.
"""

from __future__ import annotations

from navi.base.secrets.masking import mask

WHOLE = 400
"""Outputs of up to this many characters are kept as they are."""
HEAD, TAIL = 160, 160
MOST_ERRORS = 4
LONGEST_LINE = 160
MARGIN = 1024
"""How far beyond a cut to look for the rest of a secret."""
MULTILINE_SECRETS = ("PRIVATE KEY", "\ndata:", "\nstringData:", "not shown again")
"""Text that marks the lines below it as secret. A cut could separate it from them."""
SEARCH_LENGTH = 16 * 1024
"""How many characters after the head, and before the tail, are searched for errors."""
ERROR_WORDS = (
    *("error", "err ", "err!", "fail", "exception", "panic", "fatal", "abort", "killed"),
    *("denied", "refused", "rejected", "not found", "no such", "cannot", "can't", "could not"),
    *("couldn't", "unable to", "undefined", "unknown", "invalid", "not supported", "unsupported"),
    *("missing", "timed out", "timeout", "conflict", "warning", "deadlock", "duplicate"),
)
"""A line with one of these words is taken for an error. All are in lower case."""
GAP = "\n…\n"


def excerpt(output: str) -> str:
    text = output.strip()
    if len(text) <= WHOLE:
        return text
    if any(marker in text for marker in MULTILINE_SECRETS):
        text = mask(text)
    end = text.rfind("\n", HEAD // 2, HEAD)
    start = text.find("\n", len(text) - TAIL, len(text) - TAIL // 2)
    # Whole lines, unless most of the text would be lost.
    head = text[:end] if end >= 0 else mask(text[: HEAD + MARGIN])[:HEAD]
    tail = text[start:] if start >= 0 else mask(text[-TAIL - MARGIN :])[-TAIL:]
    middle = text[end if end >= 0 else HEAD : start if start >= 0 else len(text) - TAIL]
    if len(middle) > 2 * SEARCH_LENGTH:
        middle = f"{middle[:SEARCH_LENGTH]}\n{middle[-SEARCH_LENGTH:]}"
    return GAP.join([head.strip(), *_error_lines(middle), tail.strip()])


def _error_lines(text: str) -> list[str]:
    """The last few different lines that look like errors, in order, each with the line after it.
    The last ones matter most."""
    lowered = text.lower()
    if len(lowered) != len(text):  # a few letters get longer in lower case
        text = lowered
    starts = set()
    for word in ERROR_WORDS:
        if word not in lowered:  # several times as fast as searching backwards
            continue
        end = len(lowered)
        for _ in range(MOST_ERRORS):
            position = lowered.rfind(word, 0, end)
            if position < 0:
                break
            end = lowered.rfind("\n", 0, position) + 1
            starts.add(end)
    lines: dict[str, None] = {}
    for start in sorted(starts, reverse=True)[:MOST_ERRORS]:
        for line in reversed(text[start : start + MARGIN].split("\n", 2)[:2]):
            line = line.strip()
            lines[line if len(line) <= LONGEST_LINE else mask(line)[:LONGEST_LINE]] = None
    return list(lines)[::-1]
