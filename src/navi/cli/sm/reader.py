"""Marks a session as read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from navi.cli.sm import target
from navi.client import Client

if TYPE_CHECKING:
    from navi.live.model.wire_format import SessionJson


def mark_read(client: Client, session: SessionJson) -> None:
    """Mark the session as read, unless an agent runs this command."""
    if target.own_id_or_none() is None and session["unread"]:
        client.mark_read(session["id"])
