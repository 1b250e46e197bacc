"""What the players look at afterwards: a page with every shot, what was seen, and who leaves."""

from rig.report.page import write_report
from rig.report.shot import page_of_shot

__all__ = ["page_of_shot", "write_report"]
