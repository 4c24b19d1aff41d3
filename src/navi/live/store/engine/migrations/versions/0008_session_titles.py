"""The titles of unnamed sessions, taken from their first messages.

Revision ID: 0008
"""

import sqlalchemy as sa
from alembic import op

from navi.live.model.session import first_line

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

# A person's first message, else the first of anybody but a reminder.
_OPENING = """
    SELECT content, source FROM messages
    WHERE session_id = :session_id AND role = 'user' AND source <> 'reminder'
    ORDER BY CASE WHEN source = 'user' THEN 0 ELSE 1 END, idx LIMIT 1
"""


def upgrade() -> None:
    op.add_column("sessions", sa.Column("opening", sa.Text))
    op.add_column("sessions", sa.Column("opening_origin", sa.Text))
    connection = op.get_bind()
    unnamed = sa.text("SELECT id FROM sessions WHERE name LIKE '%-' || substr(id, 1, 4)")
    for session_id in connection.execute(unnamed).scalars().all():
        row = connection.execute(sa.text(_OPENING), {"session_id": session_id}).one_or_none()
        opening = None if row is None else first_line(row.content)
        if row is not None and opening is not None:
            connection.execute(
                sa.text("UPDATE sessions SET opening = :text, opening_origin = :by WHERE id = :id"),
                {"text": opening, "by": row.source, "id": session_id},
            )
