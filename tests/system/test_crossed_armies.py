"""On the twin: two armies that have passed through each other, and no position told. Whose is whose hardly shows."""

from __future__ import annotations

from pathlib import Path

from game.montecassino import Cause
from rig.recording import recording_of
from twin.clips import film
from vision.guards import Trouble
from vision.reading import ShotReading, read_shot

CROSSED = 950_055


def test_where_it_is_open_which_army_is_whose_nobody_rules() -> None:
    """Verdicts are not silently wrong: all who leave would be the wrong ones (docs/accuracy.md)."""
    clip = film(CROSSED)
    times_us = [time_us for time_us, _ in clip.frames]
    pictures = [picture for _, picture in clip.frames]

    def read(position: object) -> ShotReading:
        scene = recording_of(Path("shot"), {**clip.keys, "position": position}, times_us).scene
        reading = read_shot(pictures, times_us, scene)
        assert isinstance(reading, ShotReading)
        return reading

    untold = read(None)
    (alarm,) = untold.alarms
    assert alarm.trouble is Trouble.UNSEEN
    assert "which soldiers are A's and which G's hardly shows" in alarm.reason
    assert untold.falls and all(Cause.OTHER in fall.possible for fall in untold.falls)
    told = {side: ",".join(str(s.square) for s in clip.truth.before if s.side == side) for side in "AG"}
    squares = {side: names.replace("-", "") for side, names in told.items()}
    assert read(f"{clip.keys['cannon']['side']} {squares['A']} {squares['G']} 0/0 5/5 -").alarms == ()
