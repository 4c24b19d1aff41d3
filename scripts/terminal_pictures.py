"""Draws the terminals in docs/images/*.svg. `make pictures` runs this.

Each shows a real run of a command in a small invented home. Paths are fixed, and times are shifted
as if every run happened at `SHOWN_NOW`, so the same code always draws the same picture.
"""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import escape, quoteattr

IMAGES = Path(__file__).parents[1] / "docs" / "images"
RECALL = Path(sys.executable).with_name("recall")
COLUMNS = 100
QUERY = ["search", "refresh", "token"]

SIZE, CHARACTER, LINE, MARGIN, BAR = 14, 8.4, 20, 20, 36
BACKGROUND, FOREGROUND, FAINT = "#16181d", "#d8dce4", "#868d9b"
COLOURS = {"33": "#f2c14e", "31": "#e5534b", "36": "#56b6c2"}
NO_BREAK = "\N{NO-BREAK SPACE}"
"""SVG merges ordinary spaces into one, and drops them at the ends of a text."""
_CODE = re.compile(r"\x1b\[([0-9;]*)m")
_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d(?= UTC)")
_FORMAT = "%Y-%m-%d %H:%M"

STARTED = datetime.now(UTC).replace(second=0, microsecond=0)
SHOWN_NOW = datetime(2026, 11, 18, 10, 30, tzinfo=UTC)

HOME = "/srv/ada"
SHOP, BILLING = f"{HOME}/shop", f"{HOME}/billing"


class Run(NamedTuple):
    """A stretch of a line in one style."""

    text: str
    is_bold: bool
    is_faint: bool
    colour: str | None


def main() -> None:
    for name, picture in pictures().items():
        (IMAGES / name).write_text(picture)


def pictures() -> dict[str, str]:
    """The pictures by file name."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        write_past_sessions(home)
        recall(home, ["index"])
        output = recall(home, QUERY)
    return {"search.svg": svg([(f"recall {' '.join(QUERY)}", output)])}


def write_past_sessions(home: Path) -> None:
    """Write invented sessions of Claude Code and Codex."""
    _claude(home, "6f1c0d52-58b1-4a35-9d2e-0f6f5c3f8a10", SHOP, 3, CHECKOUT)
    _codex(home, "019a52c4-7f0e-7d13-8a55-3b1f6f2f9c21", BILLING, 21, LEDGER)
    _claude(home, "b2a9e0c7-1d44-4f0b-8f64-2f4f0b7a6e55", SHOP, 40, TESTS)


CHECKOUT = [
    ("user", "Customers are logged out in the middle of the checkout. Find out why."),
    ("bash", "grep -rn 'refresh_token' src/auth"),
    (
        "assistant",
        "The refresh token is rotated on every request, but the old one is dropped at once. Two "
        "tabs that refresh at the same time log each other out. I keep the old token valid for "
        "30 seconds.",
    ),
    ("bash", "pytest tests/auth -k refresh -q"),
]
LEDGER = [
    ("user", "The nightly export stopped with a 401. What has changed?"),
    (
        "assistant",
        "The export still used the personal token of a colleague who left. It now has a service "
        "account, and the job will refresh its token before it expires.",
    ),
]
TESTS = [
    ("user", "Write tests for the login page."),
    (
        "assistant",
        "Seven tests: good and bad passwords, a locked account, and a session that ends.",
    ),
]


def svg(steps: Sequence[tuple[str, str]]) -> str:
    """A terminal in which each of the commands has printed its output."""
    lines: list[list[Run]] = []
    for command, output in steps:
        prompt = [Run("$ ", False, True, None), Run(command, True, False, None)]
        lines += [*([[]] if lines else []), prompt, *_lines(output)]
    width = round(COLUMNS * CHARACTER + 2 * MARGIN)
    height = BAR + len(lines) * LINE + MARGIN
    dots = "".join(
        f'<circle cx="{MARGIN + 18 * number}" cy="18" r="6" fill="{colour}"/>'
        for number, colour in enumerate(("#e5534b", "#f2c14e", "#57ab5a"))
    )
    rows = "\n".join(
        _row(runs, BAR + LINE * number + SIZE) for number, runs in enumerate(lines) if runs
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-label={quoteattr(steps[0][0])}>\n'
        f'<rect width="{width}" height="{height}" rx="8" fill="{BACKGROUND}"/>\n{dots}\n'
        f'<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" '
        f'font-size="{SIZE}">\n{rows}\n</g>\n</svg>\n'
    )


def _row(runs: list[Run], y: int) -> str:
    pieces, column = [], 0
    for run in runs:
        fill = COLOURS[run.colour] if run.colour else FAINT if run.is_faint else FOREGROUND
        weight = ' font-weight="bold"' if run.is_bold else ""
        # textLength keeps the columns aligned in every font.
        pieces.append(
            f'<text x="{MARGIN + column * CHARACTER:.1f}" y="{y}" fill="{fill}"{weight} '
            f'textLength="{len(run.text) * CHARACTER:.1f}" lengthAdjust="spacingAndGlyphs">'
            f"{escape(run.text).replace(' ', NO_BREAK)}</text>"
        )
        column += len(run.text)
    return "".join(pieces)


def _lines(output: str) -> Iterator[list[Run]]:
    """Wrap lines as a terminal does."""
    for line in output.rstrip().splitlines():
        runs: list[Run] = []
        column = 0
        for run in _runs(line):
            text = run.text
            while text:
                room = COLUMNS - column
                runs.append(run._replace(text=text[:room]))
                text, column = text[room:], column + len(text[:room])
                if column == COLUMNS and text:
                    yield runs
                    runs, column = [], 0
        yield runs


def _runs(line: str) -> Iterator[Run]:
    style: set[str] = set()
    for index, piece in enumerate(_CODE.split(line)):
        if index % 2:
            codes = set(piece.split(";")) - {""}
            style = set() if codes <= {"0"} else style | codes
        elif piece:
            colour = next(iter(style & set(COLOURS)), None)
            yield Run(piece, "1" in style, "2" in style, colour)


def recall(home: Path, words: list[str]) -> str:
    """The output of `recall` on a terminal."""
    return with_shown_times(run_in_terminal([str(RECALL), *words], home, environment_of(home)))


def environment_of(home: Path) -> dict[str, str]:
    """The environment variables for this home."""
    # Relative paths, because sessions' ids are hashes of them and must not change with the folder.
    return {
        "HOME": HOME,
        "CLAUDE_CONFIG_DIR": ".claude",
        "CODEX_HOME": ".codex",
        "NAVI_HOME": str(home / "navi"),
        "NAVI_CONFIG": str(home / "config.toml"),
        "RECALL_DATA_DIR": str(home / "data"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "LC_ALL": "C.UTF-8",
    }


def with_shown_times(text: str) -> str:
    """The text with its times shifted as if it were `SHOWN_NOW`."""
    return _TIME.sub(_shown_time, text)


def run_in_terminal(command: list[str], folder: Path, environment: Mapping[str, str]) -> str:
    """What a command prints on a terminal, without its progress on standard error."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**environment, "COLUMNS": str(COLUMNS), "TERM": "xterm-256color", "TZ": "UTC"},
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.PIPE,
    )
    os.close(theirs)
    output = b"".join(_read(ours))
    os.close(ours)
    _, errors = process.communicate()
    if process.returncode:
        raise RuntimeError(errors.decode())
    return output.decode().replace("\r\n", "\n")


def _shown_time(match: re.Match[str]) -> str:
    moment = datetime.strptime(match[0], _FORMAT).replace(tzinfo=UTC)
    return f"{moment - STARTED + SHOWN_NOW:{_FORMAT}}"


def _read(terminal: int) -> Iterator[bytes]:
    while True:
        try:
            yield os.read(terminal, 65_536)
        except OSError:  # the command has ended
            return


def _claude(home: Path, id: str, cwd: str, days: int, messages: list[tuple[str, str]]) -> None:
    rows = []
    for number, (kind, text) in enumerate(messages):
        content: Any = text
        if kind != "user":
            call = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": text}}
            content = [call if kind == "bash" else {"type": "text", "text": text}]
        role = "user" if kind == "user" else "assistant"
        message = {"id": f"msg_{number}", "role": role, "content": content}
        rows.append(
            {
                "type": role,
                "uuid": f"{id}-{number}",
                "sessionId": id,
                "cwd": cwd,
                "timestamp": _moment(days, number),
                "message": message,
            }
        )
    folder = cwd.replace("/", "-")
    _write(home / ".claude" / "projects" / folder / f"{id}.jsonl", rows)


def _codex(home: Path, id: str, cwd: str, days: int, messages: list[tuple[str, str]]) -> None:
    rows: list[dict[str, Any]] = [
        {
            "timestamp": _moment(days, 0),
            "type": "session_meta",
            "payload": {"id": id, "timestamp": _moment(days, 0), "cwd": cwd},
        }
    ]
    for number, (role, text) in enumerate(messages):
        kind = "input_text" if role == "user" else "output_text"
        content = [{"type": kind, "text": text}]
        payload = {"type": "message", "role": role, "content": content}
        rows.append(
            {"timestamp": _moment(days, number), "type": "response_item", "payload": payload}
        )
    folder = home / ".codex" / "sessions" / "2026" / "01" / "01"
    _write(folder / f"rollout-2026-01-01T12-00-00-{id}.jsonl", rows)


def _moment(days: int, minutes: int) -> str:
    then = STARTED - timedelta(days=days, hours=1) + timedelta(minutes=minutes)
    return then.isoformat()


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


if __name__ == "__main__":
    main()
