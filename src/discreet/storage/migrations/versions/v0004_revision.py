"""How often the items of a learner were changed."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """No learner's items have been changed."""
    op.add_column("learners", sa.Column("revision", sa.Integer, nullable=False, server_default="0"))


def downgrade() -> None:
    """A release that does not know the column may leave it."""
    op.drop_column("learners", "revision")
