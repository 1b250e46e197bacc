"""The first log: sessions, shots, and all that is known of a shot."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_TABLES = (
    "session",
    "session_end",
    "shot",
    "stage",
    "aim",
    "muzzle_gate",
    "recording",
    "analysis",
    "fall",
    "moved",
    "verdict",
    "doubt",
    "decision",
)


def upgrade() -> None:
    """Bring an empty store to this revision."""
    op.create_table(
        "session",
        sa.Column("session_id", sa.Integer(), nullable=False),
        sa.Column("started_utc_us", sa.BigInteger(), nullable=False),
        sa.Column("software_version", sa.Text(), nullable=False),
        sa.Column("firmware_version", sa.Text(), nullable=False),
        sa.Column("wire_version", sa.Integer(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("port", sa.Text(), nullable=False),
        sa.Column("camera", sa.Text(), nullable=False),
        sa.Column("transcript_path", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("session_id", name="pk_session"),
    )
    op.create_table(
        "session_end",
        sa.Column("session_id", sa.Integer(), nullable=False),
        sa.Column("at_utc_us", sa.BigInteger(), nullable=False),
        sa.Column("cause", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["session_id"], ["session.session_id"], name="fk_session_end_session_id"),
        sa.PrimaryKeyConstraint("session_id", name="pk_session_end"),
    )
    op.create_table(
        "shot",
        sa.Column("shot_id", sa.Integer(), nullable=False),
        sa.Column("session_id", sa.Integer(), nullable=False),
        sa.Column("side", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("option", sa.Text(), nullable=False),
        sa.Column("zone", sa.Text(), nullable=False),
        sa.Column("position", sa.Text(), nullable=True),
        sa.Column("plan", sa.Text(), nullable=True),
        sa.Column("plan_index", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["session_id"], ["session.session_id"], name="fk_shot_session_id"),
        sa.PrimaryKeyConstraint("shot_id", name="pk_shot"),
    )
    op.create_index("ix_shot_plan", "shot", ["plan"], unique=False)
    op.create_index("ix_shot_session_id", "shot", ["session_id"], unique=False)
    op.create_table(
        "aim",
        sa.Column("aim_id", sa.Integer(), nullable=False),
        sa.Column("shot_id", sa.Integer(), nullable=False),
        sa.Column("target_x_mm", sa.Double(), nullable=False),
        sa.Column("target_y_mm", sa.Double(), nullable=False),
        sa.Column("target_z_mm", sa.Double(), nullable=False),
        sa.Column("traverse_mm", sa.Double(), nullable=False),
        sa.Column("azimuth_rad", sa.Double(), nullable=False),
        sa.Column("elevation_rad", sa.Double(), nullable=False),
        sa.Column("expected_muzzle_speed_mps", sa.Double(), nullable=False),
        sa.Column("calibration", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["shot_id"], ["shot.shot_id"], name="fk_aim_shot_id"),
        sa.PrimaryKeyConstraint("aim_id", name="pk_aim"),
    )
    op.create_index("ix_aim_shot_id", "aim", ["shot_id"], unique=False)
    op.create_table(
        "analysis",
        sa.Column("analysis_id", sa.Integer(), nullable=False),
        sa.Column("shot_id", sa.Integer(), nullable=False),
        sa.Column("software_version", sa.Text(), nullable=False),
        sa.Column("raw", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["shot_id"], ["shot.shot_id"], name="fk_analysis_shot_id"),
        sa.PrimaryKeyConstraint("analysis_id", name="pk_analysis"),
    )
    op.create_index("ix_analysis_shot_id", "analysis", ["shot_id"], unique=False)
    op.create_table(
        "muzzle_gate",
        sa.Column("shot_id", sa.Integer(), nullable=False),
        sa.Column("release_to_first_us", sa.Double(), nullable=True),
        sa.Column("first_to_second_us", sa.Double(), nullable=True),
        sa.Column("spacing_mm", sa.Double(), nullable=False),
        sa.Column("muzzle_speed_mps", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["shot_id"], ["shot.shot_id"], name="fk_muzzle_gate_shot_id"),
        sa.PrimaryKeyConstraint("shot_id", name="pk_muzzle_gate"),
    )
    op.create_table(
        "recording",
        sa.Column("shot_id", sa.Integer(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["shot_id"], ["shot.shot_id"], name="fk_recording_shot_id"),
        sa.PrimaryKeyConstraint("shot_id", name="pk_recording"),
    )
    op.create_table(
        "stage",
        sa.Column("stage_id", sa.Integer(), nullable=False),
        sa.Column("shot_id", sa.Integer(), nullable=False),
        sa.Column("stage", sa.Text(), nullable=False),
        sa.Column("at_utc_us", sa.BigInteger(), nullable=False),
        sa.Column("clock_us", sa.BigInteger(), nullable=True),
        sa.Column("cause", sa.Text(), nullable=False),
        sa.Column("fired", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["shot_id"], ["shot.shot_id"], name="fk_stage_shot_id"),
        sa.PrimaryKeyConstraint("stage_id", name="pk_stage"),
    )
    op.create_index("ix_stage_shot_id", "stage", ["shot_id"], unique=False)
    op.create_table(
        "fall",
        sa.Column("fall_id", sa.Integer(), nullable=False),
        sa.Column("analysis_id", sa.Integer(), nullable=False),
        sa.Column("side", sa.Text(), nullable=False),
        sa.Column("square", sa.Text(), nullable=False),
        sa.Column("causes", sa.JSON(), nullable=False),
        sa.Column("confidence", sa.Double(), nullable=False),
        sa.Column("t_us", sa.BigInteger(), nullable=True),
        sa.Column("evidence", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["analysis_id"], ["analysis.analysis_id"], name="fk_fall_analysis_id"),
        sa.PrimaryKeyConstraint("fall_id", name="pk_fall"),
    )
    op.create_index("ix_fall_analysis_id", "fall", ["analysis_id"], unique=False)
    op.create_table(
        "moved",
        sa.Column("moved_id", sa.Integer(), nullable=False),
        sa.Column("analysis_id", sa.Integer(), nullable=False),
        sa.Column("side", sa.Text(), nullable=False),
        sa.Column("square", sa.Text(), nullable=False),
        sa.Column("x_mm", sa.Double(), nullable=False),
        sa.Column("y_mm", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["analysis_id"], ["analysis.analysis_id"], name="fk_moved_analysis_id"),
        sa.PrimaryKeyConstraint("moved_id", name="pk_moved"),
    )
    op.create_index("ix_moved_analysis_id", "moved", ["analysis_id"], unique=False)
    op.create_table(
        "verdict",
        sa.Column("verdict_id", sa.Integer(), nullable=False),
        sa.Column("shot_id", sa.Integer(), nullable=False),
        sa.Column("analysis_id", sa.Integer(), nullable=False),
        sa.Column("settles", sa.Integer(), nullable=True),
        sa.Column("casualties", sa.JSON(), nullable=False),
        sa.Column("put_back", sa.JSON(), nullable=False),
        sa.Column("after", sa.Text(), nullable=True),
        sa.Column("winner", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["analysis_id"], ["analysis.analysis_id"], name="fk_verdict_analysis_id"),
        sa.ForeignKeyConstraint(["settles"], ["verdict.verdict_id"], name="fk_verdict_settles"),
        sa.ForeignKeyConstraint(["shot_id"], ["shot.shot_id"], name="fk_verdict_shot_id"),
        sa.PrimaryKeyConstraint("verdict_id", name="pk_verdict"),
    )
    op.create_index("ix_verdict_analysis_id", "verdict", ["analysis_id"], unique=False)
    op.create_index("ix_verdict_shot_id", "verdict", ["shot_id"], unique=False)
    op.create_table(
        "doubt",
        sa.Column("doubt_id", sa.Integer(), nullable=False),
        sa.Column("verdict_id", sa.Integer(), nullable=False),
        sa.Column("square", sa.Text(), nullable=False),
        sa.Column("between", sa.JSON(), nullable=False),
        sa.Column("commander", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["verdict_id"], ["verdict.verdict_id"], name="fk_doubt_verdict_id"),
        sa.PrimaryKeyConstraint("doubt_id", name="pk_doubt"),
        sa.UniqueConstraint("verdict_id", "square", name="uq_doubt_verdict_id_square"),
    )
    op.create_index("ix_doubt_verdict_id", "doubt", ["verdict_id"], unique=False)
    op.create_table(
        "decision",
        sa.Column("doubt_id", sa.Integer(), nullable=False),
        sa.Column("decided_by", sa.Text(), nullable=False),
        sa.Column("leaves", sa.Boolean(), nullable=False),
        sa.Column("at_utc_us", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["doubt_id"], ["doubt.doubt_id"], name="fk_decision_doubt_id"),
        sa.PrimaryKeyConstraint("doubt_id", name="pk_decision"),
    )

    if op.get_bind().dialect.name == "sqlite":
        _forbid_changes()


def _forbid_changes() -> None:
    # A row once written is what was known then. SQLite itself refuses to change or delete one.
    for table in _TABLES:
        for act in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER {table}_no_{act.lower()} BEFORE {act} ON {table} "
                "BEGIN SELECT RAISE(ABORT, 'rows of the log are never changed'); END"
            )
