"""A session as a document to keep or share, with secrets masked."""

from __future__ import annotations

import html as escaping
import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from navi.base.control_characters import one_line
from navi.base.secrets.masking import masked as mask
from navi.base.secrets.masking import masked_json
from navi.cli import formats

if TYPE_CHECKING:
    from navi.memory.read.session_transcript import Transcript


def markdown(transcript: Transcript, *, tools: bool, thinking: bool) -> str:
    lines = [f"# {_title(transcript)}", ""]
    lines += [f"- {name}: {value}" for name, value in _facts(transcript)]
    for message, calls in transcript.with_calls():
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


def html(transcript: Transcript, *, tools: bool, thinking: bool) -> str:
    from navi.cli.recall.message_html import CONTENT_POLICY, STYLE, rendered

    title = escaping.escape(_title(transcript))
    facts = "".join(
        f"<dt>{escaping.escape(name)}</dt><dd>{escaping.escape(value)}</dd>"
        for name, value in _facts(transcript)
    )
    body = []
    for message, calls in transcript.with_calls():
        pieces = list(_pieces(message, calls if tools else [], thinking=thinking))
        if pieces:
            inner = "".join(rendered(kind, text) for kind, text in pieces)
            role = "tools" if message is None else escaping.escape(message["role"])
            anchor = "" if message is None else f' id="message-{message["idx"]}"'
            head = escaping.escape(_heading(message))
            body.append(f'<article class="{role}"{anchor}><h2>{head}</h2>{inner}</article>')
    articles = "\n".join(body)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{CONTENT_POLICY}">'
        f"<title>{title}</title>"
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head>\n'
        f"<body><h1>{title}</h1><dl>{facts}</dl>\n{articles}\n</body></html>\n"
    )


def _title(transcript: Transcript) -> str:
    return (
        one_line(mask(transcript.session["title"] or "")) or f"Session {transcript.session['id']}"
    )


def _facts(transcript: Transcript) -> Iterator[tuple[str, str]]:
    session = transcript.session
    yield "Session", session["id"]
    yield "Agent", formats.source(session["source"])
    for name, key in (("Model", "model"), ("Project", "project"), ("Branch", "git_branch")):
        if session[key]:
            yield name, one_line(session[key])
    if session["started_at"]:
        yield "Started", formats.local_time(session["started_at"])
    yield "Duration", formats.duration(session["duration_seconds"])


def _heading(message: dict[str, Any] | None) -> str:
    if message is None:
        return "tool calls"
    name = f"#{message['idx']} {message['role']}"
    at = message["timestamp"]
    return f"{name}, {formats.local_time(at)}" if at else name


def _pieces(
    message: dict[str, Any] | None, calls: list[dict[str, Any]], *, thinking: bool
) -> Iterator[tuple[str, str]]:
    """Yield (kind, text); the kind is `thinking`, `text` or `call`."""
    if message is not None:
        if thinking and message["thinking"]:
            yield "thinking", mask(message["thinking"])
        if message["content"]:
            yield "text", mask(message["content"])
    for call in calls:
        yield "call", _call_text(call)


def _call_text(call: dict[str, Any]) -> str:
    if call["bash_command"]:
        return f"[{call['tool_name']}] {mask(call['bash_command'])}"
    arguments = masked_json(call["tool_input"]) or ""
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, indent=2, ensure_ascii=False)
    return f"[{call['tool_name']}] {arguments}".rstrip()


def _fence_for(text: str) -> str:
    """A fence longer than any inside the text."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    return "`" * (longest + 1)
