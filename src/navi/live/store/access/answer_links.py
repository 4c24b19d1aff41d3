"""Links that answer one question as one user, stored only as digests."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import Connection, insert, select

from navi.base.errors import NotFound
from navi.live.store.engine.tables import answer_links


class LinkNotFound(NotFound):
    kind = "link_not_found"

    def __init__(self) -> None:
        super().__init__("this link is not valid", hint="answer on Navi's page")


def add(
    connection: Connection, question_ids: Mapping[str, str], user_id: str, now: datetime
) -> None:
    """Store links to questions, by the digests of their tokens."""
    for token_sha256, question_id in question_ids.items():
        query = select(answer_links.c.user_id).where(answer_links.c.token_sha256 == token_sha256)
        if connection.execute(query).one_or_none() is None:
            connection.execute(
                insert(answer_links).values(
                    token_sha256=token_sha256,
                    question_id=question_id,
                    user_id=user_id,
                    created_at=now,
                )
            )


def find(connection: Connection, token_sha256: str) -> tuple[str, str]:
    """The ids of the question that the link answers, and of the user who answers it."""
    query = select(answer_links.c.question_id, answer_links.c.user_id)
    row = connection.execute(query.where(answer_links.c.token_sha256 == token_sha256)).one_or_none()
    if row is None:
        raise LinkNotFound
    return row.question_id, row.user_id
