"""The tables. Every row is appended and stays as it is; the migrations put triggers there that see to it.

What changes with time (a session's end, a shot's stages, a later analysis, a decision) is a row of its own.
"""

from __future__ import annotations

import sqlalchemy as sa

__all__ = ["APPLICATION_ID", "HEAD", "metadata"]

HEAD = "0002"
"""The revision that these tables stand at: the last one in `migrations/versions`."""

APPLICATION_ID = 0x4D_43_52_4C
"""`MCRL` in the header of an SQLite file: this is a rig's log and no other program's database."""

metadata = sa.MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    }
)


def _key(name: str, refers_to: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer, sa.ForeignKey(refers_to), nullable=False, index=True)


session = sa.Table(
    "session",
    metadata,
    sa.Column("session_id", sa.Integer, primary_key=True),
    sa.Column("started_utc_us", sa.BigInteger, nullable=False),
    sa.Column("software_version", sa.Text, nullable=False),
    sa.Column("firmware_version", sa.Text, nullable=False),
    sa.Column("wire_version", sa.Integer, nullable=False),
    sa.Column("settings", sa.JSON, nullable=False),
    sa.Column("port", sa.Text, nullable=False),
    sa.Column("camera", sa.Text, nullable=False),
    sa.Column("transcript_path", sa.Text),
)

session_end = sa.Table(
    "session_end",
    metadata,
    sa.Column("session_id", sa.Integer, sa.ForeignKey("session.session_id"), primary_key=True),
    sa.Column("at_utc_us", sa.BigInteger, nullable=False),
    sa.Column("cause", sa.Text, nullable=False),
)

shot = sa.Table(
    "shot",
    metadata,
    sa.Column("shot_id", sa.Integer, primary_key=True),
    _key("session_id", "session.session_id"),
    sa.Column("side", sa.Text, nullable=False),
    sa.Column("target", sa.Text, nullable=False),
    sa.Column("option", sa.Text, nullable=False),
    sa.Column("zone", sa.Text, nullable=False),
    sa.Column("position", sa.Text),
    sa.Column("plan", sa.Text, index=True),
    sa.Column("plan_index", sa.Integer),
)

stage = sa.Table(
    "stage",
    metadata,
    sa.Column("stage_id", sa.Integer, primary_key=True),
    _key("shot_id", "shot.shot_id"),
    sa.Column("stage", sa.Text, nullable=False),
    sa.Column("at_utc_us", sa.BigInteger, nullable=False),
    sa.Column("clock_us", sa.BigInteger),
    sa.Column("cause", sa.Text, nullable=False),
    sa.Column("fired", sa.Text),
)

aim = sa.Table(
    "aim",
    metadata,
    sa.Column("aim_id", sa.Integer, primary_key=True),
    _key("shot_id", "shot.shot_id"),
    sa.Column("target_x_mm", sa.Double, nullable=False),
    sa.Column("target_y_mm", sa.Double, nullable=False),
    sa.Column("target_z_mm", sa.Double, nullable=False),
    sa.Column("traverse_mm", sa.Double, nullable=False),
    sa.Column("azimuth_rad", sa.Double, nullable=False),
    sa.Column("elevation_rad", sa.Double, nullable=False),
    sa.Column("expected_muzzle_speed_mps", sa.Double, nullable=False),
    sa.Column("calibration", sa.Text, nullable=False),
)

muzzle_gate = sa.Table(
    "muzzle_gate",
    metadata,
    sa.Column("shot_id", sa.Integer, sa.ForeignKey("shot.shot_id"), primary_key=True),
    sa.Column("release_to_first_us", sa.Double),
    sa.Column("first_to_second_us", sa.Double),
    sa.Column("spacing_mm", sa.Double, nullable=False),
    sa.Column("muzzle_speed_mps", sa.Double),
)

recording = sa.Table(
    "recording",
    metadata,
    sa.Column("shot_id", sa.Integer, sa.ForeignKey("shot.shot_id"), primary_key=True),
    sa.Column("path", sa.Text, nullable=False),
)

analysis = sa.Table(
    "analysis",
    metadata,
    sa.Column("analysis_id", sa.Integer, primary_key=True),
    _key("shot_id", "shot.shot_id"),
    sa.Column("software_version", sa.Text, nullable=False),
    sa.Column("raw", sa.JSON, nullable=False),
)

fall = sa.Table(
    "fall",
    metadata,
    sa.Column("fall_id", sa.Integer, primary_key=True),
    _key("analysis_id", "analysis.analysis_id"),
    sa.Column("side", sa.Text, nullable=False),
    sa.Column("square", sa.Text, nullable=False),
    sa.Column("causes", sa.JSON, nullable=False),
    sa.Column("confidence", sa.Double, nullable=False),
    sa.Column("t_us", sa.BigInteger),
    sa.Column("evidence", sa.Text, nullable=False),
)

moved = sa.Table(
    "moved",
    metadata,
    sa.Column("moved_id", sa.Integer, primary_key=True),
    _key("analysis_id", "analysis.analysis_id"),
    sa.Column("side", sa.Text, nullable=False),
    sa.Column("square", sa.Text, nullable=False),
    sa.Column("x_mm", sa.Double, nullable=False),
    sa.Column("y_mm", sa.Double, nullable=False),
)

verdict = sa.Table(
    "verdict",
    metadata,
    sa.Column("verdict_id", sa.Integer, primary_key=True),
    _key("shot_id", "shot.shot_id"),
    _key("analysis_id", "analysis.analysis_id"),
    # The verdict whose doubts this one settles; empty for a verdict of its own.
    sa.Column("settles", sa.Integer, sa.ForeignKey("verdict.verdict_id")),
    sa.Column("casualties", sa.JSON, nullable=False),
    sa.Column("put_back", sa.JSON, nullable=False),
    sa.Column("after", sa.Text),
    sa.Column("winner", sa.Text),
)

doubt = sa.Table(
    "doubt",
    metadata,
    sa.Column("doubt_id", sa.Integer, primary_key=True),
    _key("verdict_id", "verdict.verdict_id"),
    sa.Column("square", sa.Text, nullable=False),
    sa.Column("between", sa.JSON, nullable=False),
    sa.Column("commander", sa.Text, nullable=False),
    sa.UniqueConstraint("verdict_id", "square"),
)

decision = sa.Table(
    "decision",
    metadata,
    sa.Column("doubt_id", sa.Integer, sa.ForeignKey("doubt.doubt_id"), primary_key=True),
    sa.Column("decided_by", sa.Text, nullable=False),
    sa.Column("leaves", sa.Boolean, nullable=False),
    sa.Column("at_utc_us", sa.BigInteger, nullable=False),
)

signature = sa.Table(
    "signature",
    metadata,
    sa.Column("doubt_id", sa.Integer, sa.ForeignKey("decision.doubt_id"), primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("cause", sa.Text),
)
