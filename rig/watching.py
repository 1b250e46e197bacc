"""The table as the camera sees it now, with board, squares and soldiers drawn over it, and what the guards say.

The table is read once; from then on each picture is only held against that reading, which is cheap. Where something
has changed and everything is at rest again, it is read anew: after a bump the board is placed anew with it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

import cv2
import numpy as np

from game.montecassino import Side
from rig.camera import too_few
from rig.counted import counted
from rig.drawing.table_drawing import (
    DIM,
    GROUND,
    WORDS,
    Colour,
    Drawing,
    Image,
    fitting,
    text_width_px,
    wrapped,
    write,
)
from rig.table_reading import TableReading, read_table
from vision.guards import Alarm, Trouble
from vision.outcome import Standing
from vision.registration import NoBoard
from vision.rest import RestWatch
from vision.scene import Scene

__all__ = ["TableWatch"]

_AGAIN_US = 1_000_000  # a board that is not seen is looked for so often
_RATE_US = 1_000_000
_LASTING_US = 3_000_000  # what lies still for so long is no hand, and is meant to be there
_HEIGHT_PX = 720
_BAR_PX = 64
_FOOT_MM = 15.0
_THERE_MM = 34.0  # a ring round whatever is the matter, clear of a soldier's
_CLEAR: Colour = (120, 205, 120)
_NOT_CLEAR: Colour = (90, 90, 255)
_GRID: Colour = (255, 255, 255)
_SIDES: Mapping[Side, Colour] = {Side.A: (120, 220, 255), Side.G: (255, 190, 110)}


class TableWatch:
    """Watches a table.

    Parameters
    ----------
    scene
        What is known of camera, board and position.
    fewest_fps
        How many pictures a second it takes for a shot to be judged; until some have come the camera's word is taken.
    """

    def __init__(self, scene: Scene, *, fewest_fps: float) -> None:
        self._scene = scene
        self._fewest_fps = fewest_fps
        self._fps = scene.fps
        self._times_us: deque[int] = deque()
        self._read: TableReading | None = None
        self._rest: RestWatch | None = None
        self._why_not = "the table has not been read yet"
        self._tried_us: int | None = None
        self._alarm: Alarm | None = None
        self._alarmed_us = 0

    @property
    def clear(self) -> bool:
        """Whether nothing speaks against a shot."""
        return (
            self._read is not None
            and self._read.outside is None
            and self._alarm is None
            and not self.too_slow
        )

    @property
    def too_slow(self) -> bool:
        """Whether pictures come too seldom for a shot to be judged."""
        return self._fps < self._fewest_fps

    @property
    def trouble(self) -> Trouble | None:
        """What kind of thing speaks against a shot; None: nothing does, no board is seen, or the camera is too slow."""
        return None if self._alarm is None else self._alarm.trouble

    @property
    def standing(self) -> Standing | None:
        """Who stood on the board when it was last read."""
        return None if self._read is None else self._read.standing

    @property
    def state(self) -> str:
        """Say how things stand, in a sentence."""
        if self._read is None:
            return self._why_not
        if self._alarm is not None:
            return self._alarm.reason
        if self._read.outside is not None:
            return self._read.outside
        if self.too_slow:
            return too_few(self._fps, self._fewest_fps)
        standing = self._read.standing
        sides = {side: sum(s.side is side for s in standing.soldiers) for side in Side}
        told = f"clear; {counted(sides[Side.A], 'soldier')} of A, {sides[Side.G]} of G"
        return f"{told}; {'; '.join(standing.differences)}" if standing.differences else told

    def look(self, time_us: int, picture: Image) -> None:
        """Take in the next picture; times rise."""
        self._count(time_us)
        if self._read is None or self._rest is None:
            if self._tried_us is None or time_us - self._tried_us >= _AGAIN_US:
                self._read_table(time_us, picture)
            return
        self._rest.look(time_us, picture)
        alarm = self._read.guard.look(picture)
        if alarm is None:
            self._alarm = None
            return
        if self._alarm is None:
            self._alarmed_us = time_us
        # What it is, a bump or a hand, is worth a closer look only where it is news or about to be read anew.
        at_rest = self._rest.at_rest
        if self._alarm is None or self._alarm.trouble is not alarm.trouble or at_rest:
            alarm = self._read.guard.check([picture]) or alarm
        self._alarm = alarm
        patience_us = _LASTING_US if alarm.trouble in (Trouble.HAND, Trouble.FALL) else 0
        if at_rest and alarm.trouble is not Trouble.COVERED and time_us - self._alarmed_us >= patience_us:
            self._read_table(time_us, picture)

    def _count(self, time_us: int) -> None:
        """Take the rate from the pictures of the last second."""
        self._times_us.append(time_us)
        while len(self._times_us) > 2 and self._times_us[1] <= time_us - _RATE_US:
            self._times_us.popleft()
        span_us = time_us - self._times_us[0]
        if span_us >= _RATE_US:
            self._fps = (len(self._times_us) - 1) * 1e6 / span_us

    def _read_table(self, time_us: int, picture: Image) -> None:
        self._tried_us = time_us
        self._alarm = None
        read = read_table(picture, self._scene, low_mm=0.0, high_mm=self._scene.length_mm)
        if isinstance(read, NoBoard):
            self._read, self._why_not = None, read.reason
        else:
            self._read, self._rest = read, read.rest_watch()
        self._times_us.clear()  # pictures that came while it was read may be lost

    def draw(self, picture: Image) -> Image:
        """Return the picture with everything drawn over it, below a bar that says how things stand."""
        height, width = picture.shape[:2]
        size_px = (2 * round(width * _HEIGHT_PX / height / 2), _HEIGHT_PX)
        bar = np.full((_BAR_PX, size_px[0], 3), GROUND, np.uint8)
        light = _CLEAR if self.clear else _NOT_CLEAR
        bar[:, :10] = light
        facts = fitting(self._facts(), 14, size_px[0] // 2)
        room_px = size_px[0] - 22 - 24 - text_width_px(facts, 14)
        for row, line in enumerate(wrapped(self.state, 19, room_px, bold=True, most_lines=2)):
            write(bar, line, (22, 8 + 25 * row), 19, light if not self.clear else WORDS, bold=True)
        write(bar, facts, (size_px[0] - 12 - text_width_px(facts, 14), 12), 14, DIM)
        return np.vstack([bar, self._drawn(picture, size_px)])

    def _facts(self) -> str:
        if self._read is None:
            return "no board"
        view = self._read.view
        markers = f", markers {' '.join(map(str, view.markers_used))}" if view.markers_used else ""
        return f"board within {view.error_mm:.2f} mm{markers}"

    def _drawn(self, picture: Image, size_px: tuple[int, int]) -> Image:
        if self._read is None:
            plain = cv2.resize(picture, size_px, interpolation=cv2.INTER_AREA)
            return np.asarray(cv2.cvtColor(plain, cv2.COLOR_GRAY2BGR) if plain.ndim == 2 else plain, np.uint8)
        scene, standing = self._scene, self._read.standing
        drawing = Drawing(picture, self._read.view, size_px=size_px)
        drawing.squares(scene.square_mm, _GRID, 0.45)
        drawing.line([(x, y, 0.0) for x, y in scene.outline_mm], _GRID, 1.5, closed=True)
        for soldier in standing.soldiers:
            drawing.ring((soldier.x_mm, soldier.y_mm), _FOOT_MM, _SIDES[soldier.side], 1.6)
        for soldier in standing.soldiers:
            middle_mm = soldier.square.centre_mm(scene.square_mm)
            drawing.tag(middle_mm, scene.square_mm / 2, str(soldier.square), _SIDES[soldier.side])
        if self._alarm is not None and self._alarm.centre_px is not None:
            x_mm, y_mm = self._read.view.on_plane(np.array([self._alarm.centre_px]))[0]
            drawing.ring((float(x_mm), float(y_mm)), _THERE_MM, _NOT_CLEAR, 4.0)
        return drawing.canvas
