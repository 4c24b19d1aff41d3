"""The permission policies of sessions, automations and runs.

Revision ID: 0016
"""

import sqlalchemy as sa
from alembic import op

from navi.live.store.engine.tables import Json

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("sessions", sa.Column("on_permission", sa.Text))
    op.add_column("automations", sa.Column("on_permission", sa.Text))
    op.add_column("automation_runs", sa.Column("policy", Json))
