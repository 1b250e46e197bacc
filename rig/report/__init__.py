"""What the players look at afterwards: a page with every shot, what was seen, and who leaves."""

from rig.report.annotate import Mark, MarkKind, annotate, overlay_motion
from rig.report.page import Picture, ShotPage, write_report

__all__ = ["Mark", "MarkKind", "Picture", "ShotPage", "annotate", "overlay_motion", "write_report"]
