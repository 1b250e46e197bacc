"""What must not happen round a shot: a hand over the table, a bumped table, other light, a covered lens, a late fall.

Before a shot the newest pictures are held against the table as it was read (`TableGuard.check`): whatever speaks
against firing is told, and the shot is refused. After it the whole clip is looked through (`ClipGuard`), and whatever
may have had a part in what fell holds the ruling.

A shot, falling soldiers and their shadows change the picture too. What tells a hand from them is where it is: an arm
comes from outside, so much of what changes lies farther from every soldier than one can fall. Thin changes are
edges that shake. A table or camera that was moved is told by its own points (`vision.anchors`), and what lies over the
board from the first picture on by what it covers (`vision.lying_there`).
"""

from vision.guards.alarms import Alarm, Trouble
from vision.guards.clip_guard import ClipGuard
from vision.guards.flies_on import flies_on
from vision.guards.same_still import unchanged
from vision.guards.soldiers_amiss import (
    exchanged_sides,
    late_falls,
    missing_soldiers,
    too_many_soldiers,
    unseen_soldiers,
)
from vision.guards.table_guard import TableGuard

__all__ = [
    "Alarm",
    "ClipGuard",
    "TableGuard",
    "Trouble",
    "exchanged_sides",
    "flies_on",
    "late_falls",
    "missing_soldiers",
    "too_many_soldiers",
    "unchanged",
    "unseen_soldiers",
]
