"""A shot to look at again: an annotated film in slow motion, and a sheet of its key pictures.

The film is about twenty times slower than life while the shot flies, and about five times before and after. Beside the
picture stands how slow it is and what has happened so far, and at the end the verdict.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from statistics import median

import av
import cv2
import numpy as np
from numpy.typing import NDArray

from game.montecassino import BOARD_FILES, BOARD_ROWS, Cause, Doubt, Side, Square
from rig.analyse import Analysis
from rig.recording import read_frames
from rig.replay_drawing import Colour, Sheet, text_width_px, wrapped, write
from rig.told_together import Said, told_together
from rig.told_touches import told_touches
from rig.whole_file import draft_of, write_whole
from vision.causes import FallCause

__all__ = ["write_film", "write_sheet"]

Image = NDArray[np.uint8]

_HEIGHT_PX = 720
_PANEL_PX = 440
_FILM_FPS = 25
_ENCODER = {"crf": "20", "preset": "veryfast"}
# How many times slower than life. Each picture is shown at least once, so what a fast camera filmed is slower still.
_FLIGHT_SLOWNESS, _SLOWNESS = 20, 5
_BEFORE_US = 120_000
_AFTER_TOUCH_US = 60_000
_LONGEST_FLIGHT_US = 400_000
_MOST_GAP = 4
_VERDICT_S = 4
_FOOT_MM = 16.0

_TILE_PX = (640, 360)
_CAPTION_PX = 30
_GAP_PX = 14
_MOST_LINES = 12  # of the verdict beside the film, so that what happened still has room above it
_MOST_FALLS = 15  # tiles of falls on the sheet; a shot that fells more is told by the film
# Shares of the picture's height that are cut out round an event, and round all of them.
_NEAR = 0.4
_NEARER = 0.75

_GROUND: Colour = (38, 33, 30)
_WORDS: Colour = (235, 235, 235)
_DIM: Colour = (165, 160, 155)
_WAY: Colour = (60, 225, 255)
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
class _Event:
    """Something that is told beside the film from its time on."""

    time_us: float
    headline: str
    detail: str
    colour: Colour


def write_film(path: Path, analysis: Analysis, folder: Path) -> None:
    """Write the film, H.264 in whatever container the name asks for (.mp4, .mkv), as `draft_of` writes.

    Parameters
    ----------
    path
        The file to write.
    analysis
        The recording, read.
    folder
        The recording.

    Raises
    ------
    OSError
        Where it cannot be written; a film that was there is still there then.
    """
    # The encoder's errors do not name the file, and it tells the container by the name's end.
    with draft_of(path, ending=path.suffix) as draft:
        try:
            _encode(draft, _Story(analysis, folder.resolve().name), folder)
        except av.error.FFmpegError as bad:  # few are an OSError by themselves
            raise OSError(bad.errno, bad.strerror) from bad


def _encode(path: Path, story: _Story, folder: Path) -> None:
    recording = story.analysis.recording
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=Fraction(_FILM_FPS), options=_ENCODER)
        stream.width, stream.height = story.size_px
        stream.pix_fmt = "yuv420p"

        def show(picture: Image, count: int) -> None:
            for _ in range(count):
                container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="bgr24")))

        last: Image | None = None
        times_us = recording.timestamps_us
        for k, picture in enumerate(read_frames(folder, recording)):
            last = picture
            if count := story.shown(times_us, k):
                show(story.page(picture, times_us[k]), count)
        assert last is not None, "a recording that was read has pictures"
        show(story.page(last, times_us[-1], ruled=True), _VERDICT_S * _FILM_FPS)
        container.mux(stream.encode())


def write_sheet(path: Path, analysis: Analysis, folder: Path) -> None:
    """Write the sheet of key pictures: before, the release, first contact, each fall, at rest, and the verdict.

    Parameters
    ----------
    path
        The file to write; its name ends in .png.
    analysis
        The recording, read.
    folder
        The recording.

    Raises
    ------
    OSError
        Where it cannot be written.
    """
    story = _Story(analysis, folder.resolve().name)
    tiles = story.tiles()
    wanted = {tile.picture for tile in tiles}
    pictures = {k: p for k, p in enumerate(read_frames(folder, analysis.recording)) if k in wanted}
    columns = 3
    wide, high = _TILE_PX
    rows = -(-len(tiles) // columns)
    header = story.header(columns * (wide + _GAP_PX) - _GAP_PX)
    sheet = np.full(
        (
            header.shape[0] + rows * (high + _CAPTION_PX + _GAP_PX) + _GAP_PX,
            columns * (wide + _GAP_PX) + _GAP_PX,
            3,
        ),
        _GROUND,
        np.uint8,
    )
    sheet[: header.shape[0], _GAP_PX : _GAP_PX + header.shape[1]] = header
    for k, tile in enumerate(tiles):
        left = _GAP_PX + (k % columns) * (wide + _GAP_PX)
        top = header.shape[0] + (k // columns) * (high + _CAPTION_PX + _GAP_PX)
        drawn = story.drawn(
            pictures[tile.picture], tile.time_us, size_px=_TILE_PX, part_px=tile.part_px, ruled=tile.ruled
        )
        sheet[top + _CAPTION_PX : top + _CAPTION_PX + high, left : left + wide] = drawn
        write(sheet, tile.caption, (left, top + 6), 17, tile.colour, bold=True)
        room_px = wide - text_width_px(tile.caption, 17, bold=True) - 12
        clock = story.clock(tile.time_us)
        if (needed_px := text_width_px(clock, 15)) < room_px:
            write(sheet, clock, (left + wide - needed_px, top + 8), 15, _DIM)
    packed = cv2.imencode(".png", sheet)[1]
    write_whole(path, packed.tobytes())


@dataclass(frozen=True, slots=True)
class _Tile:
    """One picture of the sheet."""

    picture: int
    """Which of the clip."""
    time_us: int
    caption: str
    colour: Colour
    part_px: tuple[int, int, int, int] | None
    """Left, top, width, height of what is cut out; None: all of it."""
    ruled: bool = False


class _Story:
    """What happened in a shot, and how it is shown at any moment."""

    def __init__(self, analysis: Analysis, name: str) -> None:
        self.analysis = analysis
        self._name = name
        self._reading = reading = analysis.reading
        self._times_us = analysis.recording.timestamps_us
        keys = analysis.recording.keys
        self._width_px, self._height_px = keys.camera.width, keys.camera.height
        given_us = keys.fire_us if keys.fire_us is not None else reading.track.release_us
        self._released_us = float(given_us) if given_us is not None else None
        self._frame_us = median(b - a for a, b in pairwise(self._times_us))
        moved_us = {push.soldier.square: push.began_us for push in reading.pushes}
        for fall in reading.falls:
            if fall.cause in (Cause.DIRECT, Cause.RICOCHET):
                moved_us[fall.toppling.soldier.square] = fall.toppling.began_us
        likeliest = reading.contacts.courses[0].touches if reading.contacts.courses else ()
        self._touches = told_touches(likeliest, moved_us, self._frame_us)
        self._points = reading.track.points
        self._doubtful = {doubt.square: doubt for doubt in analysis.verdict.doubts}
        self._feet = {s.square: (s.x_mm, s.y_mm) for s in reading.standing.soldiers}
        self._events = self._told()
        seen_us = [p[0] for p in self._points]
        stirred_us = [fall.toppling.began_us for fall in reading.falls]
        begin_us = self._released_us if self._released_us is not None else self._times_us[0]
        flown_us = max([*seen_us, *(t.time_us for t in self._touches), *stirred_us, begin_us])
        self._flight_us = (begin_us, min(flown_us + _AFTER_TOUCH_US, begin_us + _LONGEST_FLIGHT_US))

    @property
    def size_px(self) -> tuple[int, int]:
        """Width and height of the film; even, as the encoder wants them."""
        return self._picture_px[0] + _PANEL_PX, _HEIGHT_PX

    @property
    def _picture_px(self) -> tuple[int, int]:
        return 2 * round(self._width_px * _HEIGHT_PX / self._height_px / 2), _HEIGHT_PX

    def shown(self, times_us: Sequence[int], k: int) -> int:
        """Return for how many pictures of the film the clip's picture `k` is shown."""
        if times_us[k] < self._flight_us[0] - _BEFORE_US:
            return 0
        gap = 1 if k == 0 else min(_MOST_GAP, round((times_us[k] - times_us[k - 1]) / self._frame_us))
        return gap * self._repeats(times_us[k])

    def _repeats(self, time_us: float) -> int:
        """Return for how many pictures of the film one of the clip is shown where none was lost before it."""
        begin_us, end_us = self._flight_us
        flies = begin_us - self._frame_us <= time_us <= end_us
        return max(1, round((_FLIGHT_SLOWNESS if flies else _SLOWNESS) * _FILM_FPS * self._frame_us / 1e6))

    def clock(self, time_us: float) -> str:
        """Say when something is, from the release on."""
        if self._released_us is None:
            return f"{(time_us - self._times_us[0]) / 1000:.0f} ms"
        since_ms = (time_us - self._released_us) / 1000
        if round(since_ms) == 0:
            return "0 ms"
        return f"{since_ms:+.0f} ms".replace("-", "−")

    def page(self, picture: Image, time_us: int, *, ruled: bool = False) -> Image:
        """Return a picture of the film."""
        drawn = self.drawn(picture, time_us, size_px=self._picture_px, ruled=ruled)
        return np.hstack([drawn, self._panel(time_us, ruled=ruled)])

    # --- the picture

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
        sheet = Sheet(picture, self._reading.view, size_px=size_px, part_px=part_px)
        sheet.faint(self._grid(), _GRID, 0.16)
        sheet.faint(self._zone(), _ZONE, 0.75)
        due_us = time_us + self._frame_us / 2
        falls = [fall for fall in self._reading.falls if ruled or fall.toppling.began_us <= due_us]
        pushes = [push for push in self._reading.pushes if ruled or push.began_us <= due_us]
        labels: list[tuple[tuple[float, float], str, Colour]] = []
        for push in pushes:
            square, foot = push.soldier.square, (push.soldier.x_mm, push.soldier.y_mm)
            doubtful = square in self._doubtful
            colour = _DOUBT if doubtful else _PUSHED
            sheet.ring(foot, _FOOT_MM, colour, dashed=doubtful)
            sheet.arrow(foot, (push.x_mm, push.y_mm), colour, gap_mm=0.0)
            labels.append((foot, self._caption(square, "pushed", ruled=ruled), colour))
        for fall in falls:
            square, rest_mm = fall.toppling.soldier.square, fall.toppling.rest_mm
            doubtful = square in self._doubtful
            colour = self._colour(square, fall.cause, ruled=ruled)
            if rest_mm is not None and time_us >= self._times_us[-1]:
                foot = self._feet[square]
                sheet.faint([[(*foot, 0.0), (*rest_mm, 0.0)]], colour, 0.8)
            sheet.ring(self._feet[square], _FOOT_MM, colour, dashed=doubtful)
            labels.append((self._feet[square], self._caption(square, fall.cause, ruled=ruled), colour))
        for fall in falls:
            if fall.dragged_by is not None and fall.dragged_by in self._feet:
                start, end = self._feet[fall.dragged_by], self._feet[fall.toppling.soldier.square]
                sheet.arrow(start, end, _CAUSES[Cause.DRAGGED], gap_mm=_FOOT_MM)
        flown = [(x, y, z) for t, x, y, z in self._points if ruled or t <= due_us]
        sheet.line(flown, _WAY, 1.6)
        if flown and not ruled:
            sheet.dot(flown[-1], _WAY, 3.0)
        for touch in self._touches:
            if ruled or touch.time_us <= due_us:
                sheet.dot(touch.point_mm, _TOUCH, 3.5)
        for foot, words, colour in labels:
            sheet.label(foot, _FOOT_MM, words, colour)
        return sheet.canvas

    def _colour(self, square: Square, cause: Cause, *, ruled: bool) -> Colour:
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

    def _grid(self) -> list[list[tuple[float, float, float]]]:
        side = self.analysis.recording.keys.board.square_mm
        wide, long = BOARD_FILES * side, BOARD_ROWS * side
        # Several points on each line: the lens bends it.
        steps = np.linspace(0.0, 1.0, 9)
        across = [[(float(s) * wide, k * side, 0.0) for s in steps] for k in range(BOARD_ROWS + 1)]
        along = [[(k * side, float(s) * long, 0.0) for s in steps] for k in range(BOARD_FILES + 1)]
        return across + along

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

    # --- the words beside it

    def _told(self) -> list[_Event]:
        events = []
        if self._released_us is not None:
            events.append(_Event(self._released_us, "the shot is released", "", _WORDS))
        if not self._reading.track.found:
            events.append(
                _Event(self._times_us[0], "the shot was not seen", self._reading.track.reason, _DIM)
            )
        for touch in self._touches:
            what = "the board" if touch.on_board else str(touch.square or "something")
            events.append(_Event(touch.time_us, f"the shot touches {what}", "", _WAY))
        for fall in self._reading.falls:
            square = fall.toppling.soldier.square
            colour = self._colour(square, fall.cause, ruled=False)
            headline = f"{square} begins to fall: {fall.cause}, {_how_sure(fall)}"
            events.append(_Event(fall.toppling.began_us, headline, fall.evidence, colour))
        for push in self._reading.pushes:
            square = push.soldier.square
            stands, colour = ("seems to stand", _DOUBT) if square in self._doubtful else ("stands", _PUSHED)
            events.append(_Event(push.began_us, f"{square} is pushed and {stands}", "", colour))
        # Of one moment the touch stands first, as it was put in.
        return sorted(events, key=lambda event: event.time_us)

    def _panel(self, time_us: float, *, ruled: bool) -> Image:
        panel = np.full((_HEIGHT_PX, _PANEL_PX, 3), _GROUND, np.uint8)
        left, right = 20, _PANEL_PX - 20
        write(panel, self._name, (left, 18), 20, _WORDS, bold=True)
        write(panel, self._agreed(), (left, 46), 14, _DIM)
        clock = self.clock(time_us)
        write(panel, clock, (left, 74), 34, _WORDS, bold=True)
        speed = "at rest" if ruled else self._speed(time_us)
        write(panel, speed, (right - text_width_px(speed, 15), 92), 15, _DIM)
        cv2.line(panel, (left, 122), (right, 122), (80, 75, 70), 1)
        due_us = float("inf") if ruled else time_us + self._frame_us / 2
        events = [event for event in self._events if event.time_us <= due_us]
        verdict = self._verdict_lines(15, right - left, most_lines=_MOST_LINES) if ruled else []
        bottom = _HEIGHT_PX - 16 - (43 + 22 * len(verdict) if verdict else 0)
        self._list(panel, events, 134, bottom, left, right)
        if verdict:
            cv2.line(panel, (left, bottom), (right, bottom), (80, 75, 70), 1)
            write(panel, "Verdict", (left, bottom + 10), 18, _WORDS, bold=True)
            for row, (words, colour) in enumerate(verdict):
                write(panel, words, (left, bottom + 35 + 22 * row), 15, colour)
        return panel

    def _list(
        self, panel: Image, events: Sequence[_Event], top: int, bottom: int, left: int, right: int
    ) -> None:
        """Write the newest events that there is room for, details only as far as room is left."""
        indent = 66
        blocks = [
            (event, wrapped(event.detail, 13, right - left - indent) if event.detail else [])
            for event in events
        ]
        short = [24] * len(blocks)
        first = 0
        while first < len(short) and sum(short[first:]) > bottom - top:
            first += 1
        room = bottom - top - sum(short[first:])
        detailed = set()
        for k in range(len(blocks) - 1, first - 1, -1):
            needed = 17 * len(blocks[k][1]) + 4
            if needed <= room:
                detailed.add(k)
                room -= needed
        y = top
        for k in range(first, len(blocks)):
            event, lines = blocks[k]
            clock = self.clock(event.time_us)
            write(panel, clock, (left + 54 - text_width_px(clock, 13), y + 3), 13, _DIM)
            write(panel, event.headline, (left + indent, y), 16, event.colour, bold=True)
            y += 24
            if k in detailed:
                for line in lines:
                    write(panel, line, (left + indent, y - 1), 13, _DIM)
                    y += 17
                y += 4 if lines else 0

    def _agreed(self) -> str:
        keys = self.analysis.recording.keys
        return f"side {keys.cannon.side} fires, option {keys.option}, zone {keys.zone}"

    def _speed(self, time_us: float) -> str:
        """Say how much slower than life the film runs at a time."""
        return f"1/{self._repeats(time_us) * 1e6 / _FILM_FPS / self._frame_us:.0f} of its speed"

    def _verdict_lines(
        self, size_px: int, width_px: int, *, bold: bool = False, most_lines: int | None = None
    ) -> list[tuple[str, Colour]]:
        """Say the verdict in lines for letters of a size, none wider than `width_px`.

        Where they would be more than `most_lines`, those in doubt are only named: the sheet and `rig analyse` say between what.
        """
        verdict = self.analysis.verdict
        leaves = " ".join(map(str, verdict.casualties))
        back: defaultdict[str, list[str]] = defaultdict(list)
        for square in verdict.put_back:
            back[self.analysis.why_back(square)].append(str(square))
        said = [(f"leaves: {leaves or 'nobody'}", _LEAVES if leaves else _DIM)]
        said += [(f"put back: {' '.join(squares)}, {why}", _STAYS) for why, squares in back.items()]
        if not back:
            said.append(("put back: nobody", _DIM))

        def in_lines(doubts: Iterable[str]) -> list[tuple[str, Colour]]:
            told = [*said, *((words, _DOUBT) for words in doubts)]
            return [
                (line, colour)
                for words, colour in told
                for line in wrapped(words, size_px, width_px, bold=bold)
            ]

        lines = in_lines(told_together(map(_in_doubt, verdict.doubts)))
        if most_lines is None or len(lines) <= most_lines:
            return lines
        of_side: defaultdict[Side, list[str]] = defaultdict(list)
        for doubt in verdict.doubts:
            of_side[doubt.commander].append(str(doubt.square))
        return in_lines(
            f"in doubt, the commander of {side} decides: {' '.join(squares)}"
            for side, squares in of_side.items()
        )

    # --- the sheet

    def header(self, width_px: int) -> Image:
        """Return the head of the sheet: what it is, and the verdict."""
        lines = self._verdict_lines(17, width_px, bold=True)
        header = np.full((84 + 24 * len(lines), width_px, 3), _GROUND, np.uint8)
        write(header, self._name, (0, 16), 26, _WORDS, bold=True)
        start = text_width_px(self._name, 26, bold=True) + 20
        write(header, self._agreed(), (start, 24), 16, _DIM)
        for k, (words, colour) in enumerate(lines):
            write(header, words, (0, 56 + 24 * k), 17, colour, bold=True)
        return header

    def tiles(self) -> list[_Tile]:
        """Return the key pictures, in the order of their times."""
        reading = self._reading
        begin_us = self._released_us if self._released_us is not None else self._times_us[0]
        before = max(0, self._nearest(begin_us) - 2)
        tiles = [self._tile(before, "before", _WORDS)]
        seen = [t for t, *_ in self._points]
        if seen:
            tiles.append(self._tile(self._nearest(seen[0]), "the shot leaves", _WAY))
        first = reading.contacts.first
        if first is not None:
            what = "the board" if first.on_board else str(first.square or "something")
            tiles.append(
                self._tile(
                    self._nearest(first.time_us, later=True),
                    f"first contact: {what}",
                    _WAY,
                    around_mm=(first.point_mm[0], first.point_mm[1]),
                )
            )
        for fall in reading.falls[:_MOST_FALLS]:
            soldier = fall.toppling.soldier
            colour = self._colour(soldier.square, fall.cause, ruled=False)
            caption = f"{soldier.square} falling: {fall.cause}, {_how_sure(fall)}"
            around = (soldier.x_mm, soldier.y_mm)
            tiles.append(
                self._tile(self._nearest(fall.toppling.passed_us), caption, colour, around_mm=around)
            )
        tiles.sort(key=lambda tile: tile.time_us)
        last = len(self._times_us) - 1
        tiles.append(self._tile(last, "at rest", _WORDS))
        tiles.append(self._tile(last, "the verdict", _WORDS, around_mm=self._middle_mm(), ruled=True))
        return tiles

    def _tile(
        self,
        picture: int,
        caption: str,
        colour: Colour,
        *,
        around_mm: tuple[float, float] | None = None,
        ruled: bool = False,
    ) -> _Tile:
        part = None if around_mm is None else self._part_px(around_mm, _NEAR if not ruled else _NEARER)
        return _Tile(picture, self._times_us[picture], caption, colour, part, ruled)

    def _part_px(self, around_mm: tuple[float, float], share: float) -> tuple[int, int, int, int]:
        """Return the part of the picture round a place, in the shape of a tile and within the picture."""
        high = min(self._height_px, round(share * self._height_px))
        wide = min(self._width_px, round(high * _TILE_PX[0] / _TILE_PX[1]))
        u, v = self._reading.view.project(np.array([[*around_mm, 0.0]]))[0]
        left = int(np.clip(round(float(u) - wide / 2), 0, self._width_px - wide))
        top = int(np.clip(round(float(v) - high / 2), 0, self._height_px - high))
        return left, top, wide, high

    def _middle_mm(self) -> tuple[float, float]:
        """Return the middle of all that fell, or of the board."""
        feet = [self._feet[fall.toppling.soldier.square] for fall in self._reading.falls]
        if not feet:
            side = self.analysis.recording.keys.board.square_mm
            return BOARD_FILES * side / 2, BOARD_ROWS * side / 2
        xs, ys = zip(*feet, strict=True)
        return (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2

    def _nearest(self, time_us: float, *, later: bool = False) -> int:
        """Return the picture nearest to a time, or the first from it on."""
        if later:
            return next((k for k, t in enumerate(self._times_us) if t >= time_us), len(self._times_us) - 1)
        return min(range(len(self._times_us)), key=lambda k: abs(self._times_us[k] - time_us))


def _how_sure(fall: FallCause) -> str:
    return "held" if fall.held else f"{fall.confidence:.0%} sure"


def _in_doubt(doubt: Doubt) -> Said:
    decides = f"the commander of {doubt.commander} decides"
    own_line = f"{doubt.square} in doubt, {' or '.join(doubt.between)}: {decides}"
    return str(doubt.square), own_line, f"in doubt: {decides}"
