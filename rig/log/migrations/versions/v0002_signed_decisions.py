"""A decision may be signed: who spoke for the side, and which cause they named."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Bring a store of the first revision to this one; decisions taken before stay unsigned."""
    op.create_table(
        "signature",
        sa.Column("doubt_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("cause", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["doubt_id"], ["decision.doubt_id"], name="fk_signature_doubt_id"),
        sa.PrimaryKeyConstraint("doubt_id", name="pk_signature"),
    )
    if op.get_bind().dialect.name == "sqlite":
        for act in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER signature_no_{act.lower()} BEFORE {act} ON signature "
                "BEGIN SELECT RAISE(ABORT, 'rows of the log are never changed'); END"
            )
