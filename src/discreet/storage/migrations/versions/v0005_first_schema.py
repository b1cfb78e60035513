"""The first schema of stores that this line of releases can read; those from before had others.

A new store gets the present schema at once, so what a version says is how to come to it from the one before.
"""

revision = "0005"
down_revision = None


def upgrade() -> None:
    """There is nothing before the first schema."""


def downgrade() -> None:
    """There is nothing before the first schema."""
    raise NotImplementedError("Restore a backup instead, and read in the documentation what that means.")
