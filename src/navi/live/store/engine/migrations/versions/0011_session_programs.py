"""The program in a session's pane gets its own column. It was stored as the model.

Revision ID: 0011
"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("sessions", sa.Column("program", sa.Text))
    op.execute("UPDATE sessions SET program = model, model = NULL WHERE driver = 'tmux'")
