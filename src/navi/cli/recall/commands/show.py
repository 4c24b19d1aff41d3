"""`recall show`: a session's conversation."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from navi.base.control_characters import one_line
from navi.base.errors import NotFound, UsageError
from navi.base.secrets.masking import masked as mask
from navi.base.secrets.masking import masked_json
from navi.cli import cells, formats, output
from navi.cli.raw_option import raw_option
from navi.cli.recall.options import json_option, session_argument

if TYPE_CHECKING:
    from navi.memory.read.session_transcript import Transcript

AT_CONTEXT = 3
"""How many messages to show before and after the one that --at names."""
COLOURS = {"user": "green", "assistant": "cyan"}
MAIN_ARGUMENTS = ("file_path", "path", "notebook_path", "pattern", "url", "query", "prompt")

Entry = tuple[dict[str, Any] | None, list[dict[str, Any]]]
"""A message and its tool calls; the message is None for calls outside any message."""


@click.command(
    "show",
    help="Show a session's conversation, or part of it, with numbered messages.",
    epilog="\b\nExamples:\n"
    "  recall show 712f --tools\n"
    "  recall show 712f --at 12\n"
    "  recall show 712f --grep 'refresh token' -C 1",
)
@session_argument
@click.option("--tools", is_flag=True, help="Include tool calls.")
@click.option("--thinking", is_flag=True, help="Include the agent's thinking.")
@click.option(
    "--at",
    type=click.IntRange(min=0),
    metavar="N",
    help="Only message N and the ones around it.",
)
@click.option("--grep", metavar="WORDS", help="Only messages that match, as in `recall search`.")
@click.option("--last", type=click.IntRange(min=1), help="Only the last N messages.", metavar="N")
@click.option(
    "-C",
    "--context",
    type=click.IntRange(min=0),
    metavar="N",
    help="Show N messages before and after each match.  "
    f"[default: {AT_CONTEXT} with --at, otherwise 0]",
)
@raw_option
@json_option
def command(
    id: str,
    tools: bool,
    thinking: bool,
    at: int | None,
    grep: str | None,
    last: int | None,
    context: int | None,
    as_json: bool,
) -> None:
    from navi.memory import database
    from navi.memory.index_paths import index_paths
    from navi.memory.read.session_lookup import resolve
    from navi.memory.read.session_transcript import transcript

    if sum(each is not None for each in (at, grep, last)) > 1:
        raise UsageError("--at, --grep and --last can't be combined", hint="choose one of them")
    with database.reading(index_paths()) as connection:
        conversation = transcript(connection, resolve(connection, id))
    entries = list(conversation.with_calls())
    selection = _select(conversation.session["id"], entries, at, grep, last)
    if context is None:
        context = AT_CONTEXT if at is not None else 0
    positions = [
        position
        for position in range(len(entries))
        if any(abs(position - each) <= context for each in selection)
    ]
    if as_json:
        output.say_json(_json(conversation, entries, positions))
        return
    if not positions and grep is not None:
        output.note(f"no message in this session matches {grep}")
    # Matches of --at and --grep are shown in full: a word may be in a command or in thinking.
    in_full = set(selection) if at is not None or grep is not None else set()
    body = _body(entries, positions, in_full, tools=tools, thinking=thinking)
    output.page([*_head(conversation), *body])


def _select(
    session_id: str, entries: list[Entry], at: int | None, grep: str | None, last: int | None
) -> list[int]:
    """The positions of the requested entries."""
    with_message = [
        position for position, (message, _) in enumerate(entries) if message is not None
    ]
    if at is not None:
        by_number = {_number(entries[position]): position for position in with_message}
        if at not in by_number:
            hint = "it has no messages"
            if by_number:
                hint = f"its messages are numbered {min(by_number)} to {max(by_number)}"
            raise NotFound(f"session {session_id} has no message {at}", hint=hint)
        return [by_number[at]]
    if grep is not None:
        from navi.memory.read.query import read_query
        from navi.memory.read.snippets import matches_query

        clauses = read_query(grep)
        if not clauses:
            raise UsageError(
                f"--grep {grep!r} contains no letters or digits", hint="search for a word"
            )
        return [
            position
            for position, entry in enumerate(entries)
            if matches_query(_text(entry), clauses)
        ]
    if last is not None:
        return with_message[-last:]
    return list(range(len(entries)))


def _number(entry: Entry) -> int:
    message, _ = entry
    assert message is not None
    number: int = message["idx"]
    return number


def _text(entry: Entry) -> str:
    """Everything in the entry that a search can match."""
    message, calls = entry
    texts = [] if message is None else [message["content"], message["thinking"]]
    texts += [call[name] for call in calls for name in ("bash_command", "output")]
    return "\n".join(filter(None, texts))


def _json(transcript: Transcript, entries: list[Entry], positions: list[int]) -> dict[str, Any]:
    from navi.memory.read.json_views import transcript_json

    shape = transcript_json(transcript)
    if len(positions) < len(entries):
        messages = [entries[position][0] for position in positions]
        numbers = {message["idx"] for message in messages if message is not None}
        shape["messages"] = [each for each in shape["messages"] if each["idx"] in numbers]
    return shape


def _head(transcript: Transcript) -> list[str]:
    session = transcript.session
    started = formats.local_time(session["started_at"]) if session["started_at"] else "?"
    source = formats.source(session["source"])
    head = [
        output.styled(f"[{started}] Session {session['id']} ({source})", "bold"),
        f"Project: {one_line(formats.short_path(session['project'] or '?'))}",
        f"Duration: {formats.duration(session['duration_seconds'])} | "
        f"Messages: {session['message_count']:,} | Tools: {session['tool_count']:,}",
    ]
    if session["host"]:
        head.append(f"Host: {session['host']}")
    if session["title"]:
        head.append(f"Title: {one_line(mask(session['title']))}")
    if session["tags"]:
        head.append(f"Tags: {' '.join(f'#{tag}' for tag in session['tags'])}")
    if transcript.parent_id:
        head.append(f"Parent: {transcript.parent_id}")
    if session["is_archived"]:
        head.append(f"Its file is gone; this is what was indexed.{_restore_hint(session['id'])}")
    return [*head, ""]


def _restore_hint(id: str) -> str:
    from navi.memory.index_paths import index_paths
    from navi.memory.keep import kept_files

    kept = kept_files.load(index_paths())
    return f" `recall restore {id}` brings the file back." if id in kept.files else ""


def _body(
    entries: list[Entry], positions: list[int], in_full: set[int], *, tools: bool, thinking: bool
) -> list[str]:
    """Entries at the positions `in_full` always include their calls and thinking."""
    lines: list[str] = []
    previous = -1
    for position in positions:
        lines += _gap(position - previous - 1)
        message, calls = entries[position]
        if message is not None:
            lines += _message_lines(message, thinking=thinking or position in in_full)
        if tools or position in in_full:
            lines += [line for call in calls for line in _call_lines(call)]
        previous = position
    return lines + (_gap(len(entries) - previous - 1) if positions else [])


def _gap(count: int) -> list[str]:
    return [output.styled(f"  … {formats.count(count, 'message')} …", "dim")] if count else []


def _message_lines(message: dict[str, Any], *, thinking: bool) -> list[str]:
    number = output.styled(f"#{message['idx']}", "dim")
    lines: list[str] = []
    if thinking and message["thinking"]:
        text = output.cleaned(mask(message["thinking"]))
        lines.append(f"{number} {output.styled(f'(thinking) {text}', 'dim')}")
    if message["content"]:
        label = f"#{message['idx']} {message['role']}: "
        text = _wrapped(output.cleaned(mask(message["content"])), len(label))
        role = output.styled(f"{message['role']}:", COLOURS.get(message["role"], "yellow"), "bold")
        lines.append(f"{number} {role} {output.highlighted(text)}")
    return lines


def _wrapped(text: str, label_length: int) -> str:
    """Prose wrapped to the terminal's width, after a label; code unchanged."""
    width = output.width()
    if width is None:
        return text
    lines: list[str] = []
    is_code = False
    for line in text.split("\n"):
        is_fence = line.lstrip().startswith("```")
        is_code ^= is_fence
        if is_code or is_fence:
            lines.append(line)
        else:
            room = width - label_length if not lines else width
            spans = cells.line_spans(line, room, width)
            lines += [line[start:end].rstrip() for start, end in spans]
    return "\n".join(lines)


def _call_lines(call: dict[str, Any]) -> list[str]:
    argument = mask(call["bash_command"]) or _main_argument(call["tool_input"])
    lines = [f"  [{call['tool_name']}] {one_line(argument)}".rstrip()]
    if call["output"]:
        printed = output.cleaned(mask(call["output"])).splitlines()
        lines += [f"    {line}".rstrip() for line in printed]
    width = output.width()
    if width is not None:
        lines = [cells.cut(line, width) for line in lines]
    return [lines[0], *(output.styled(line, "dim") for line in lines[1:])]


def _main_argument(tool_input: str | None) -> str:
    """A file tool's path, a search tool's pattern, or otherwise the whole input."""
    values = masked_json(tool_input)
    if isinstance(values, dict):
        for name in MAIN_ARGUMENTS:
            if isinstance(values.get(name), str):
                return str(values[name])
        return json.dumps(values, ensure_ascii=False) if values else ""
    return "" if values is None else str(values)
