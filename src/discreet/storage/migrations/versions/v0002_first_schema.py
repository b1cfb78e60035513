"""The first schema of stores that this line of releases can read; those of 0.1.0 had another."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = None


def upgrade() -> None:
    """Make all tables. Written out, not taken from `tables`: this version must stay what it is."""
    op.create_table(
        "meta", sa.Column("key", sa.Text, primary_key=True), sa.Column("value", sa.Text, nullable=False)
    )
    op.create_table(
        "populations",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("epsilon_limit", sa.Double),
    )
    op.create_table(
        "learners",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("epoch", sa.Integer, nullable=False),
        sa.Column("settings", sa.Text, nullable=False),
        sa.Column("population", sa.Text, sa.ForeignKey("populations.name")),
        sa.Column("epsilon", sa.Double, nullable=False),
        sa.Column("deadline", sa.Double, nullable=False),
        sa.Column("lineage", sa.Text, nullable=False, unique=True),
        sa.Column("secret", sa.Boolean, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("generation", sa.BigInteger, nullable=False),
        sa.Column("state", sa.LargeBinary, nullable=False),
        sa.UniqueConstraint("name", "epoch"),
    )
    op.create_table(
        "decisions",
        sa.Column("id", sa.LargeBinary, primary_key=True),
        sa.Column("learner", sa.Integer, nullable=False),
        sa.Column("draw", sa.LargeBinary, nullable=False),
        sa.Column("subset", sa.LargeBinary, nullable=False),
        sa.Column("asked_at", sa.BigInteger, nullable=False),
        sa.Column("closed_at", sa.BigInteger),
        sa.Column("how", sa.SmallInteger),
    )
    op.create_index("decisions_by_time", "decisions", ["learner", "asked_at"])
    op.create_table(
        "phases",
        sa.Column("learner", sa.Integer, primary_key=True),
        sa.Column("number", sa.BigInteger, primary_key=True),
        sa.Column("plan", sa.LargeBinary, nullable=False),
        sa.Column("total", sa.BigInteger, nullable=False),
        sa.Column("dealt", sa.BigInteger, nullable=False),
        sa.Column("last_at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "sums",
        sa.Column("learner", sa.Integer, primary_key=True),
        sa.Column("phase", sa.BigInteger, primary_key=True),
        sa.Column("applied", sa.BigInteger, nullable=False),
        sa.Column("sums", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "history",
        sa.Column("learner", sa.Integer, primary_key=True),
        sa.Column("at", sa.BigInteger, primary_key=True),
        sa.Column("rounds", sa.BigInteger, nullable=False),
        sa.Column("total", sa.Double, nullable=False),
        sa.Column("held_rounds", sa.BigInteger, nullable=False),
        sa.Column("held_total", sa.Double, nullable=False),
        sa.Column("point", sa.LargeBinary, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "feedback",
        sa.Column("decision", sa.LargeBinary, primary_key=True),
        sa.Column("learner", sa.Integer, nullable=False),
        sa.Column("payload", sa.LargeBinary, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("feedback_by_learner", "feedback", ["learner"])
    op.create_table(
        "people",
        sa.Column("learner", sa.Integer, primary_key=True),
        sa.Column("person", sa.LargeBinary, primary_key=True),
        sa.Column("attempts", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "minutes",
        sa.Column("learner", sa.Integer, primary_key=True),
        sa.Column("start", sa.BigInteger, primary_key=True),
        sa.Column("writer", sa.Text, primary_key=True),
        *(
            sa.Column(name, sa.BigInteger, nullable=False)
            for name in ("asked", "told", "expired", "released", "ones")
        ),
        sqlite_with_rowid=False,
    )
    unmerged = sa.text("writer <> ''")
    op.create_index(
        "minutes_to_merge", "minutes", ["start"], sqlite_where=unmerged, postgresql_where=unmerged
    )
    op.create_table(
        "keys",
        sa.Column("digest", sa.LargeBinary, primary_key=True),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("label", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("revoked", sa.Boolean, nullable=False),
        sa.Column("learners", sa.Text),
        sa.Column("expires_at", sa.BigInteger),
        sa.Column("used_at", sa.BigInteger),
    )
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("target", sa.Text, nullable=False),
        sa.Column("details", sa.Text, nullable=False),
    )


def downgrade() -> None:
    """There is nothing before the first schema."""
    raise NotImplementedError("Restore a backup instead, and read in the documentation what that means.")
