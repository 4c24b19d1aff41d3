"""How each session's last turn ended, and whether a person has seen, pinned or archived it.

Revision ID: 0012
"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

MARKS = ("unread", "pinned", "archived", "notify_person")
# Nothing becomes unread: whatever ended before the upgrade is not news.
LAST_OUTCOME = """
    UPDATE sessions SET last_outcome = (
        SELECT outcome FROM turns
        WHERE turns.session_id = sessions.id AND ended_at IS NOT NULL
        ORDER BY started_at DESC LIMIT 1
    )
"""


def upgrade() -> None:
    op.add_column("sessions", sa.Column("last_outcome", sa.Text))
    for mark in MARKS:
        column = sa.Column(mark, sa.Boolean, nullable=False, server_default=sa.false())
        op.add_column("sessions", column)
    op.execute(LAST_OUTCOME)
