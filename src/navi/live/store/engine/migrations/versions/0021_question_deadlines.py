"""How long the questions of sessions and automations wait for an answer.

Revision ID: 0021
"""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("sessions", sa.Column("question_deadline_minutes", sa.Integer))
    op.add_column("automations", sa.Column("question_deadline_minutes", sa.Integer))
