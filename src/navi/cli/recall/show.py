"""`recall show`: a session's conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from navi.cli import formats, output
from navi.cli.recall.masking import mask
from navi.cli.recall.options import json_option

if TYPE_CHECKING:
    from navi.index.transcript import Transcript

SHOWN_INPUT = 200


@click.command("show", help="Show a session's conversation.")
@click.argument("id")
@click.option("--tools", is_flag=True, help="With the tool calls.")
@click.option("--thinking", is_flag=True, help="With what the agent thought.")
@json_option
def command(id: str, tools: bool, thinking: bool, as_json: bool) -> None:
    from navi.index import database
    from navi.index.listing import resolve
    from navi.index.places import places
    from navi.index.transcript import transcript

    with database.reading(places()) as connection:
        found = transcript(connection, resolve(connection, id))
    if as_json:
        from navi.index.shapes import transcript_json

        output.say_json(transcript_json(found))
        return
    output.page(_lines(found, tools=tools, thinking=thinking))


def _lines(found: Transcript, *, tools: bool, thinking: bool) -> list[str]:
    session = found.session
    started = session["started_at"]
    shown_at = f"{started:%Y-%m-%d %H:%M}" if started else "?"
    head = [
        click.style(f"[{shown_at}] Session {session['id']} ({session['source']})", bold=True),
        f"Project: {session['project'] or '?'}",
        f"Duration: {formats.duration(session['duration_seconds'])} | "
        f"Messages: {session['message_count']} | Tools: {session['tool_count']}",
    ]
    if session["title"]:
        head.append(f"Title: {mask(session['title'])}")
    if found.parent_id:
        head.append(f"Parent: {found.parent_id}")
    if session["is_archived"]:
        head.append("Its file is gone; this is what was indexed.")
    lines = [*head, ""]
    for message, calls in found.with_calls():
        if message is not None:
            lines += _message_lines(message, thinking=thinking)
        if tools:
            lines += [_call_line(call) for call in calls]
    return lines


def _message_lines(message: dict[str, Any], *, thinking: bool) -> list[str]:
    lines: list[str] = []
    if thinking and message["thinking"]:
        lines.append(click.style(f"  (thinking) {mask(message['thinking'])}", dim=True))
    if message["content"]:
        colour = {"user": "green", "assistant": "cyan"}.get(message["role"])
        name = click.style(f"{message['role']}:", fg=colour, bold=True)
        lines.append(f"{name} {output.highlighted(mask(message['content']))}")
    return lines


def _call_line(call: dict[str, Any]) -> str:
    given = call["bash_command"] or _main_argument(call["tool_input"])
    return f"  [{call['tool_name']}] {formats.shortened(mask(given), SHOWN_INPUT)}"


def _main_argument(given: str | None) -> str:
    """The path of a file tool, the pattern of a search; else the whole input."""
    import json

    try:
        values = json.loads(given or "null")
    except ValueError:
        return given or ""
    if isinstance(values, dict):
        for name in ("file_path", "path", "notebook_path", "pattern", "url", "query", "prompt"):
            if isinstance(values.get(name), str):
                return str(values[name])
        return json.dumps(values, ensure_ascii=False) if values else ""
    return "" if values is None else str(values)
