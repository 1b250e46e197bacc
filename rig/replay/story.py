"""What happened in a recorded shot, moment by moment: what the film and the sheet of `rig replay` both tell.

Colours go by cause while the shot runs, and by the verdict once it is given.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from game.montecassino import Cause, Doubt, Side, Square
from rig.drawing.table_drawing import DIM, WORDS, Colour, Drawing, Image, told_time, wrapped
from rig.verdict.analyse import Analysis
from rig.verdict.how_sure import how_sure
from rig.verdict.told_together import Said, told_together
from rig.verdict.told_touches import met, told_touches
from rig.verdict.unseen_shot import of_this_fall
from vision.causes import FallCause
from vision.guards import Trouble

__all__ = ["WAY", "Event", "Story", "sure_or_held"]

_FOOT_MM = 16.0

WAY: Colour = (60, 225, 255)
"""Of the shot's way."""
_TOUCH: Colour = (255, 255, 255)
_ZONE: Colour = (120, 200, 255)
_GRID: Colour = (255, 255, 255)
_CAUSES: dict[Cause, Colour] = {
    Cause.DIRECT: (85, 85, 255),
    Cause.RICOCHET: (60, 165, 255),
    Cause.DRAGGED: (255, 175, 90),
    Cause.OTHER: (190, 190, 190),
}
_PUSHED: Colour = (150, 220, 130)
_LEAVES, _STAYS = _CAUSES[Cause.DIRECT], _PUSHED
_DOUBT: Colour = (255, 120, 235)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that is told from its time on."""

    time_us: float
    headline: str
    detail: str
    colour: Colour


class Story:
    """What happened in a shot, and how it is shown at any moment.

    Parameters
    ----------
    analysis
        The recording, read.
    name
        What the shot is called.

    Attributes
    ----------
    times_us
        Time of each of the clip's pictures.
    frame_us
        Usual time from one picture to the next.
    released_us
        When the shot left, as the recording or its track tells; None where neither does.
    begin_us
        The same, or else the time of the first picture.
    touches
        What the shot touched, as it is told.
    feet_mm
        Where each soldier stood, board frame.
    events
        What happened, in the order of its times.
    """

    def __init__(self, analysis: Analysis, name: str) -> None:
        self.analysis = analysis
        self.name = name
        self.reading = reading = analysis.reading
        self.times_us = analysis.recording.taken_us
        keys = analysis.recording.keys
        given_us = keys.fire_us if keys.fire_us is not None else reading.track.release_us
        self.released_us = float(given_us) if given_us is not None else None
        self.begin_us = self.released_us if self.released_us is not None else self.times_us[0]
        self.frame_us = median(b - a for a, b in pairwise(self.times_us))
        moved_us = {push.soldier.square: push.began_us for push in reading.pushes}
        for fall in reading.falls:
            if fall.cause in (Cause.DIRECT, Cause.RICOCHET):
                moved_us[fall.toppling.soldier.square] = fall.toppling.began_us
        likeliest = reading.contacts.courses[0].touches if reading.contacts.courses else ()
        self.touches = told_touches(likeliest, moved_us, self.frame_us)
        self.feet_mm = {s.square: (s.x_mm, s.y_mm) for s in reading.standing.soldiers}
        self._doubtful = {doubt.square: doubt for doubt in analysis.verdict.doubts}
        self.events = self._told()

    @property
    def agreed(self) -> str:
        """Who fires, and under what was agreed."""
        keys = self.analysis.recording.keys
        return f"side {keys.cannon.side} fires, option {keys.option}, zone {keys.zone}"

    @property
    def end(self) -> str:
        """How the table is in the last picture."""
        unended = any(alarm.trouble is Trouble.UNENDED for alarm in self.reading.alarms)
        return "the pictures end" if unended or self.analysis.recording.incomplete else "at rest"

    def clock(self, time_us: float) -> str:
        """Say when something is, from the release on."""
        if self.released_us is None:
            return f"{(time_us - self.times_us[0]) / 1000:.0f} ms"
        return told_time(time_us - self.released_us)

    def drawn(
        self,
        picture: Image,
        time_us: float,
        *,
        size_px: tuple[int, int],
        part_px: tuple[int, int, int, int] | None = None,
        ruled: bool = False,
    ) -> Image:
        """Return a picture with what has happened up to a time, or with the verdict."""
        drawing = Drawing(picture, self.reading.view, size_px=size_px, part_px=part_px)
        drawing.squares(self.analysis.recording.keys.board.square_mm, _GRID, 0.16)
        drawing.faint(self._zone(), _ZONE, 0.75)
        due_us = time_us + self.frame_us / 2
        falls = [fall for fall in self.reading.falls if ruled or fall.toppling.began_us <= due_us]
        pushes = [push for push in self.reading.pushes if ruled or push.began_us <= due_us]
        labels: list[tuple[tuple[float, float], str, Colour]] = []
        for push in pushes:
            square, foot = push.soldier.square, (push.soldier.x_mm, push.soldier.y_mm)
            doubtful = square in self._doubtful
            colour = _DOUBT if doubtful else _PUSHED
            drawing.ring(foot, _FOOT_MM, colour, dashed=doubtful)
            drawing.arrow(foot, (push.x_mm, push.y_mm), colour, gap_mm=0.0)
            labels.append((foot, self._caption(square, "pushed", ruled=ruled), colour))
        for fall in falls:
            square, rest_mm = fall.toppling.soldier.square, fall.toppling.rest_mm
            doubtful = square in self._doubtful
            colour = self.colour(square, fall.cause, ruled=ruled)
            if time_us >= self.times_us[-1]:
                foot = self.feet_mm[square]
                drawing.faint([[(*foot, 0.0), (*rest_mm, 0.0)]], colour, 0.8)
            drawing.ring(self.feet_mm[square], _FOOT_MM, colour, dashed=doubtful)
            labels.append((self.feet_mm[square], self._caption(square, fall.cause, ruled=ruled), colour))
        for fall in falls:
            if fall.dragged_by is not None and fall.dragged_by in self.feet_mm:
                start, end = self.feet_mm[fall.dragged_by], self.feet_mm[fall.toppling.soldier.square]
                drawing.arrow(start, end, _CAUSES[Cause.DRAGGED], gap_mm=_FOOT_MM)
        flown = [(x, y, z) for t, x, y, z in self.reading.track.points if ruled or t <= due_us]
        drawing.line(flown, WAY, 1.6)
        if flown and not ruled:
            drawing.dot(flown[-1], WAY, 3.0)
        for touch in self.touches:
            if ruled or touch.time_us <= due_us:
                drawing.dot(touch.point_mm, _TOUCH, 3.5)
        for foot, words, colour in labels:
            drawing.label(foot, _FOOT_MM, words, colour)
        return drawing.canvas

    def colour(self, square: Square, cause: Cause, *, ruled: bool) -> Colour:
        """Return the colour of a soldier that fell: by its cause, or by what the verdict makes of it."""
        if square in self._doubtful:
            return _DOUBT
        if not ruled:
            return _CAUSES[cause]
        return _LEAVES if square in self.analysis.verdict.casualties else _STAYS

    def _caption(self, square: Square, what: str, *, ruled: bool) -> str:
        doubt = self._doubtful.get(square)
        if not ruled:
            return f"{square} {what}{'?' if doubt else ''}"
        if doubt is not None:
            return f"{square} in doubt"
        return f"{square} {'leaves' if square in self.analysis.verdict.casualties else 'put back'}"

    def _zone(self) -> list[list[tuple[float, float, float]]]:
        """Return the sides of squares that have the zone on one side only."""
        side = self.analysis.recording.keys.board.square_mm
        edges: dict[tuple[tuple[int, int], tuple[int, int]], int] = {}
        for square in self.analysis.recording.zone:
            x_mm, y_mm = square.centre_mm(side)
            i, j = round(x_mm / side - 0.5), round(y_mm / side - 0.5)
            corners = ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1))
            for a, b in (*pairwise(corners), (corners[3], corners[0])):
                edge = (min(a, b), max(a, b))
                edges[edge] = edges.get(edge, 0) + 1
        return [
            [(a[0] * side, a[1] * side, 0.0), (b[0] * side, b[1] * side, 0.0)]
            for (a, b), count in edges.items()
            if count == 1
        ]

    def _told(self) -> list[Event]:
        events = []
        if self.released_us is not None:
            events.append(Event(self.released_us, "the shot is released", "", WORDS))
        if self.analysis.unseen:
            events.append(Event(self.times_us[0], "the shot was not seen", self.analysis.unseen, DIM))
        for touch in self.touches:
            events.append(Event(touch.time_us, f"the shot touches {met(touch)}", "", WAY))
        for fall in self.reading.falls:
            square = fall.toppling.soldier.square
            colour = self.colour(square, fall.cause, ruled=False)
            headline = f"{square} begins to fall: {fall.cause}, {sure_or_held(fall)}"
            events.append(Event(fall.toppling.began_us, headline, of_this_fall(fall.evidence)[1], colour))
        for push in self.reading.pushes:
            square = push.soldier.square
            stands, colour = ("seems to stand", _DOUBT) if square in self._doubtful else ("stands", _PUSHED)
            events.append(Event(push.began_us, f"{square} is pushed and {stands}", "", colour))
        # Of one moment the touch stands first, as it was put in.
        return sorted(events, key=lambda event: event.time_us)

    def verdict_lines(
        self, size_px: int, width_px: int, *, bold: bool = False, most_lines: int | None = None
    ) -> list[tuple[str, Colour]]:
        """Say the verdict, and why it is held, in lines for letters of a size, none wider than `width_px`.

        Where they would be more than `most_lines`, why it is held is left out and those in doubt are only named: the sheet and
        `rig analyse` say why, and between what.
        """
        verdict = self.analysis.verdict
        leaves = " ".join(map(str, verdict.casualties))
        back: defaultdict[str, list[str]] = defaultdict(list)
        for square in verdict.put_back:
            back[self.analysis.why_back(square)].append(str(square))
        said = [(f"leaves: {leaves or 'nobody'}", _LEAVES if leaves else DIM)]
        said += [(f"put back: {' '.join(squares)}, {why}", _STAYS) for why, squares in back.items()]
        if not back:
            said.append(("put back: nobody", DIM))

        def in_lines(open_yet: Iterable[str]) -> list[tuple[str, Colour]]:
            told = [*said, *((words, _DOUBT) for words in open_yet)]
            return [
                (line, colour)
                for words, colour in told
                for line in wrapped(words, size_px, width_px, bold=bold)
            ]

        held = [f"held: {alarm.reason}" for alarm in self.reading.alarms]
        lines = in_lines([*held, *told_together(map(_in_doubt, verdict.doubts))])
        if most_lines is None or len(lines) <= most_lines:
            return lines
        of_side: defaultdict[Side, list[str]] = defaultdict(list)
        for doubt in verdict.doubts:
            of_side[doubt.commander].append(str(doubt.square))
        named = [
            f"in doubt, the commander of {side} decides: {' '.join(squares)}"
            for side, squares in of_side.items()
        ]
        return in_lines(["held", *named] if held else named)


def sure_or_held(fall: FallCause) -> str:
    """Say how sure a cause is."""
    return "held" if fall.held else f"{how_sure(fall.confidence)} sure"


def _in_doubt(doubt: Doubt) -> Said:
    decides = f"the commander of {doubt.commander} decides"
    own_line = f"{doubt.square} in doubt, {' or '.join(doubt.between)}: {decides}"
    return str(doubt.square), own_line, f"in doubt: {decides}"
