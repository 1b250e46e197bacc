"""A shot on one sheet: its key pictures, from before it until the verdict."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from PIL import Image as Picture
from PIL.PngImagePlugin import PngInfo

from game.montecassino import BOARD_FILES, BOARD_ROWS
from rig.drawing.table_drawing import DIM, GROUND, WORDS, Colour, Image, fitting, text_width_px, write
from rig.files.whole_file import write_whole
from rig.recording import read_frames
from rig.replay.place import MARK
from rig.replay.story import WAY, Story, sure_or_held
from rig.verdict.analyse import Analysis
from rig.verdict.analysis_store import digest_of
from rig.verdict.told_touches import met

__all__ = ["write_sheet"]

_TILE_PX = (640, 360)
_CAPTION_PX = 30
_GAP_PX = 14
_MOST_FALLS = 15  # tiles of falls; a shot that fells more is told by the film
# Shares of the picture's height that are cut out round an event, and round all of them.
_NEAR = 0.4
_NEARER = 0.75


def write_sheet(path: Path, analysis: Analysis, folder: Path) -> None:
    """Write the sheet of key pictures: before, the release, first contact, each fall, the end, and the verdict.

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
    story = Story(analysis, folder.resolve().name)
    key_pictures = _KeyPictures(story)
    tiles = key_pictures.tiles()
    wanted = {tile.picture for tile in tiles}
    pictures = {k: p for k, p in enumerate(read_frames(folder, analysis.recording)) if k in wanted}
    columns = 3
    wide, high = _TILE_PX
    rows = -(-len(tiles) // columns)
    header = key_pictures.header(columns * (wide + _GAP_PX) - _GAP_PX)
    sheet = np.full(
        (
            header.shape[0] + rows * (high + _CAPTION_PX + _GAP_PX) + _GAP_PX,
            columns * (wide + _GAP_PX) + _GAP_PX,
            3,
        ),
        GROUND,
        np.uint8,
    )
    sheet[: header.shape[0], _GAP_PX : _GAP_PX + header.shape[1]] = header
    for k, tile in enumerate(tiles):
        left = _GAP_PX + (k % columns) * (wide + _GAP_PX)
        top = header.shape[0] + (k // columns) * (high + _CAPTION_PX + _GAP_PX)
        picture = pictures[tile.picture]
        size_px = _size_px(tile.part_px[2:] if tile.part_px is not None else picture.shape[1::-1])
        drawn = story.drawn(picture, tile.time_us, size_px=size_px, part_px=tile.part_px, ruled=tile.ruled)
        aside, below = left + (wide - size_px[0]) // 2, top + _CAPTION_PX + (high - size_px[1]) // 2
        sheet[below : below + size_px[1], aside : aside + size_px[0]] = drawn
        write(sheet, tile.caption, (left, top + 6), 17, tile.colour, bold=True)
        room_px = wide - text_width_px(tile.caption, 17, bold=True) - 12
        clock = story.clock(tile.time_us)
        if (needed_px := text_width_px(clock, 15)) < room_px:
            write(sheet, clock, (left + wide - needed_px, top + 8), 15, DIM)
    mark, packed = PngInfo(), io.BytesIO()
    mark.add_text(MARK, digest_of(folder, analysis.recording))
    Picture.fromarray(cv2.cvtColor(sheet, cv2.COLOR_BGR2RGB)).save(packed, "PNG", pnginfo=mark)
    write_whole(path, packed.getvalue())


def _size_px(seen_px: tuple[int, ...]) -> tuple[int, int]:
    """Width and height in which a picture, or a part of one, of a width and height fits into a tile without being stretched."""
    wide, high = seen_px
    scale = min(_TILE_PX[0] / wide, _TILE_PX[1] / high)
    return max(1, round(scale * wide)), max(1, round(scale * high))


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


class _KeyPictures:
    """Which of a shot's pictures are on the sheet, and what is written over them."""

    def __init__(self, story: Story) -> None:
        self._story = story
        self._reading = story.reading
        self._times_us = story.times_us

    def header(self, width_px: int) -> Image:
        """Return the head of the sheet: what it is, and the verdict."""
        lines = self._story.verdict_lines(17, width_px, bold=True)
        header = np.full((84 + 24 * len(lines), width_px, 3), GROUND, np.uint8)
        name = fitting(self._story.name, 26, width_px // 2, bold=True)
        write(header, name, (0, 16), 26, WORDS, bold=True)
        start = text_width_px(name, 26, bold=True) + 20
        write(header, fitting(self._story.agreed, 16, width_px - start), (start, 24), 16, DIM)
        for k, (words, colour) in enumerate(lines):
            write(header, words, (0, 56 + 24 * k), 17, colour, bold=True)
        return header

    def tiles(self) -> list[_Tile]:
        """Return the key pictures, in the order of their times."""
        before = max(0, self._nearest(self._story.begin_us) - 2)
        tiles = [self._tile(before, "before", WORDS)]
        seen = [t for t, *_ in self._reading.track.points]
        if seen:
            tiles.append(self._tile(self._nearest(seen[0]), "the shot leaves", WAY))
        first = self._reading.contacts.first
        if first is not None:
            tiles.append(
                self._tile(
                    self._nearest(first.time_us, later=True),
                    f"first contact: {met(first)}",
                    WAY,
                    around_mm=(first.point_mm[0], first.point_mm[1]),
                )
            )
        for fall in self._reading.falls[:_MOST_FALLS]:
            soldier = fall.toppling.soldier
            colour = self._story.colour(soldier.square, fall.cause, ruled=False)
            caption = f"{soldier.square} falling: {fall.cause}, {sure_or_held(fall)}"
            around = (soldier.x_mm, soldier.y_mm)
            tiles.append(
                self._tile(self._nearest(fall.toppling.passed_us), caption, colour, around_mm=around)
            )
        tiles.sort(key=lambda tile: tile.time_us)
        last = len(self._times_us) - 1
        tiles.append(self._tile(last, self._story.end, WORDS))
        tiles.append(self._tile(last, "the verdict", WORDS, around_mm=self._middle_mm(), ruled=True))
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
        """Return the part of the picture round a place, in the shape of a tile as far as the picture is wide enough."""
        camera = self._story.analysis.recording.keys.camera
        width_px, height_px = camera.width, camera.height
        high = min(height_px, round(share * height_px))
        wide = min(width_px, round(high * _TILE_PX[0] / _TILE_PX[1]))
        u, v = self._reading.view.project(np.array([[*around_mm, 0.0]]))[0]
        left = int(np.clip(round(float(u) - wide / 2), 0, width_px - wide))
        top = int(np.clip(round(float(v) - high / 2), 0, height_px - high))
        return left, top, wide, high

    def _middle_mm(self) -> tuple[float, float]:
        """Return the middle of all that fell, or of the board."""
        feet = [self._story.feet_mm[fall.toppling.soldier.square] for fall in self._reading.falls]
        if not feet:
            side = self._story.analysis.recording.keys.board.square_mm
            return BOARD_FILES * side / 2, BOARD_ROWS * side / 2
        xs, ys = zip(*feet, strict=True)
        return (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2

    def _nearest(self, time_us: float, *, later: bool = False) -> int:
        """Return the picture nearest to a time, or the first from it on."""
        if later:
            return next((k for k, t in enumerate(self._times_us) if t >= time_us), len(self._times_us) - 1)
        return min(range(len(self._times_us)), key=lambda k: abs(self._times_us[k] - time_us))
