"""How far each learner's decisions are known to be closed."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Nothing is known yet."""
    op.add_column("learners", sa.Column("swept", sa.BigInteger, nullable=False, server_default="0"))


def downgrade() -> None:
    """A release that does not know the column may leave it."""
    op.drop_column("learners", "swept")
