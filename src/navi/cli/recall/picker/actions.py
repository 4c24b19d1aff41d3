"""Actions outside the picker: copy, open, wake. They return texts for the last line."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from navi.base.errors import NaviError
from navi.cli import formats

if TYPE_CHECKING:
    from prompt_toolkit.output import Output

    from navi.cli.recall.picker.state import Item, Session
    from navi.client import Client


def copy(output: Output, text: str) -> str:
    """Ask the terminal to copy the text. Terminals don't report whether they did."""
    code = base64.b64encode(text.encode()).decode()
    output.write_raw(f"\x1b]52;c;{code}\x07")
    output.flush()
    return f"copied, if your terminal allows it: {text}"


def why_not_resumable(session: Session) -> str:
    """Why Enter can't resume the session here; empty if it can."""
    from navi.cli.recall.agent_process import note_about_lost_file, require_startable

    if session["source"] == "navi":
        return ""  # `recall resume` prints how to continue it
    command = session["resume_command"]
    if command is None:
        return f"{formats.source(session['source'])} can't resume this session"
    if session["is_archived"]:
        return note_about_lost_file(session["id"])
    try:
        require_startable(command, session["cwd"])
    except NaviError as error:
        return error.sentence
    return ""


def open_page(item: Item) -> str:
    """Show the session on Navi's page, at the match if there is one."""
    from navi.base import platform

    client, address = _client()
    client.health()  # fails if no server runs
    link = f"{address}/{_page_fragment(item)}"
    if not platform.has_desktop():
        return link
    platform.open_page(link)
    return f"opened {link}"


def require_server() -> None:
    """Raise an error if no server can wake sessions."""
    client, _ = _client()
    client.health()


def wake(session: Session, when: str, task: str) -> str:
    """Schedule a recall of the session. Navi adopts another agent's session first."""
    from navi.base.timezone import zone_name
    from navi.cli.sm import lines
    from navi.cli.sm.timezone import own_timezone
    from navi.live.model.scheduling.recall import CallType
    from navi.live.model.scheduling.recall_request import RecallRequest

    client, _ = _client()
    id = session["source_session_id"]
    if session["source"] != "navi":
        id = client.adopt(session["id"])["id"]
    request = RecallRequest(
        call_type=CallType.ONCE,
        when=when,
        tz=zone_name(own_timezone()),
        additional_context_message=task,
    )
    recall = client.schedule_recall(id, request)
    warning = f"; {recall['warning']}" if recall["warning"] else ""
    return f"{lines.title_and_id(client.session(id))} wakes {recall['reading']}{warning}"


def _page_fragment(item: Item) -> str:
    session, hit = item.session, item.hit
    if session["source"] == "navi":
        return f"#/sessions/{session['source_session_id']}"
    message = None if hit is None else hit.tool_call_id or hit.message_id
    return f"#/archive/{session['id']}" + (f"?message={message}" if message else "")


def _client() -> tuple[Client, str]:
    from navi.client import Client, find_server

    server = find_server()
    return Client(server), server.address
