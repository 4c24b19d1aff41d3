"""A session as a document to keep or send. Secrets are masked."""

from __future__ import annotations

import html as escaping
import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from navi.cli import formats
from navi.cli.recall.masking import mask

if TYPE_CHECKING:
    from navi.index.transcript import Transcript

_FENCES = re.compile(r"^```([\w+#.-]*)[^\n]*\n(.*?)^```[ \t]*$", re.DOTALL | re.MULTILINE)

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem }
body { color: #1a1a1a; background: #fff }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; color: #555 }
dd { margin: 0 }
article { border-left: 3px solid #ccc; padding: .1rem 1rem; margin: 1.2rem 0 }
article.user { border-color: #2a7d4f } article.assistant { border-color: #2b6cb0 }
h2 { font-size: .8rem; margin: .3rem 0; color: #555 }
p { white-space: pre-wrap; overflow-wrap: anywhere }
pre { background: #f4f4f4; padding: .6rem; overflow-x: auto; font-size: .85rem }
.thinking { color: #777; font-style: italic }
@media (prefers-color-scheme: dark) {
  body { color: #ddd; background: #181818 } pre { background: #262626 } dl, h2 { color: #aaa }
}
"""


def markdown(found: Transcript, *, tools: bool, thinking: bool) -> str:
    lines = [f"# {_one_line(_title(found))}", ""]
    lines += [f"- {name}: {value}" for name, value in _facts(found)]
    for message, calls in found.with_calls():
        pieces = list(_pieces(message, calls if tools else [], thinking=thinking))
        if pieces:
            lines += ["", f"## {_heading(message)}"]
        for kind, text in pieces:
            if kind == "thinking":
                quoted = text.replace("\n", "\n> ")
                lines += ["", f"> {quoted}"]
            elif kind == "call":
                fence = _fence_for(text)
                lines += ["", fence, text, fence]
            else:
                lines += ["", text]
    return "\n".join(lines) + "\n"


def html(found: Transcript, *, tools: bool, thinking: bool) -> str:
    title = escaping.escape(_one_line(_title(found)))
    facts = "".join(
        f"<dt>{escaping.escape(name)}</dt><dd>{escaping.escape(value)}</dd>"
        for name, value in _facts(found)
    )
    body = []
    for message, calls in found.with_calls():
        pieces = list(_pieces(message, calls if tools else [], thinking=thinking))
        if pieces:
            inner = "".join(_html_piece(kind, text) for kind, text in pieces)
            role = "tools" if message is None else escaping.escape(message["role"])
            head = escaping.escape(_heading(message))
            body.append(f'<article class="{role}"><h2>{head}</h2>{inner}</article>')
    articles = "\n".join(body)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{STYLE}</style></head>\n<body><h1>{title}</h1><dl>{facts}</dl>\n{articles}\n"
        "</body></html>\n"
    )


def _title(found: Transcript) -> str:
    return mask(found.session["title"]) or f"Session {found.session['id']}"


def _facts(found: Transcript) -> Iterator[tuple[str, str]]:
    session = found.session
    yield "Session", session["id"]
    yield "Agent", formats.source(session["source"])
    for name, key in (("Model", "model"), ("Project", "project"), ("Branch", "git_branch")):
        if session[key]:
            yield name, session[key]
    if session["started_at"]:
        yield "Started", f"{session['started_at']:%Y-%m-%d %H:%M} UTC"
    yield "Duration", formats.duration(session["duration_seconds"])


def _heading(message: dict[str, Any] | None) -> str:
    if message is None:
        return "tool calls"
    at = message["timestamp"]
    return f"{message['role']}, {at:%Y-%m-%d %H:%M:%S} UTC" if at else str(message["role"])


def _pieces(
    message: dict[str, Any] | None, calls: list[dict[str, Any]], *, thinking: bool
) -> Iterator[tuple[str, str]]:
    if message is not None:
        if thinking and message["thinking"]:
            yield "thinking", mask(message["thinking"])
        if message["content"]:
            yield "text", mask(message["content"])
    for call in calls:
        yield "call", _call(call)


def _call(call: dict[str, Any]) -> str:
    if call["bash_command"]:
        return f"[{call['tool_name']}] {mask(call['bash_command'])}"
    given = call["tool_input"] or ""
    try:
        given = json.dumps(json.loads(given), indent=2, ensure_ascii=False)
    except ValueError:
        pass
    return f"[{call['tool_name']}] {mask(given)}".rstrip()


def _html_piece(kind: str, text: str) -> str:
    if kind == "call":
        return f"<pre>{escaping.escape(text)}</pre>"
    made, position = [], 0
    for fence in _FENCES.finditer(text):
        made.append(_paragraph(text[position : fence.start()], kind))
        made.append(f"<pre>{escaping.escape(fence[2])}</pre>")
        position = fence.end()
    made.append(_paragraph(text[position:], kind))
    return "".join(made)


def _paragraph(text: str, kind: str) -> str:
    if not text.strip():
        return ""
    style = ' class="thinking"' if kind == "thinking" else ""
    return f"<p{style}>{escaping.escape(text.strip())}</p>"


def _fence_for(text: str) -> str:
    """Longer than any fence inside."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    return "`" * (longest + 1)


def _one_line(text: str) -> str:
    return " ".join(text.split())
