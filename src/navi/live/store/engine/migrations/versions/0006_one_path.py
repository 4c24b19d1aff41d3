"""One path from due to turn: inputs that wait for an instant, and rows that are set aside.

Revision ID: 0006
"""

import sqlalchemy as sa
from alembic import op

from navi.live.store.engine.tables import Instant

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("message_queue", sa.Column("not_before", Instant))
    by = sa.Column("scheduled_by", sa.Text, nullable=False, server_default="agent")
    op.add_column("session_recalls", by)
    op.add_column("session_recalls", sa.Column("input_id", sa.Text))
    op.add_column("automations", sa.Column("active_run_state", sa.Text))
    op.drop_index("session_recalls_due", "session_recalls")
    _name_the_waiting_inputs_of_recalls()
    unclaimed = sa.text("status = 'pending' AND input_id IS NULL")
    op.create_index(
        "session_recalls_due",
        "session_recalls",
        ["trigger_at"],
        sqlite_where=unclaimed,
        postgresql_where=unclaimed,
    )
    op.create_table(
        "set_aside",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("row_id", sa.Text, nullable=False),
        sa.Column("session_id", sa.Text),
        sa.Column("error", sa.Text, nullable=False),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("created_at", Instant, nullable=False),
    )


def _name_the_waiting_inputs_of_recalls() -> None:
    """A recall whose input waits used to be `running`; now it is `pending` and names its input."""
    waiting = (
        "SELECT q.id FROM message_queue AS q WHERE q.session_id = session_recalls.session_id "
        "AND q.origin = 'recall' AND q.delivered_at IS NULL "
        "AND q.id LIKE session_recalls.id || '.%'"
    )
    op.execute(
        f"UPDATE session_recalls SET status = 'pending', input_id = ({waiting}) "
        f"WHERE status = 'running' AND EXISTS ({waiting}) AND NOT EXISTS ("
        "SELECT 1 FROM session_recalls AS other "
        "WHERE other.session_id = session_recalls.session_id AND other.status = 'pending')"
    )
