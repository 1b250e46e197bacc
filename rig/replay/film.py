"""A shot as an annotated film in slow motion.

It is about twenty times slower than life while the shot flies, and about five times before and after. Beside the picture
stands how slow it is and what has happened so far, and at the end the verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np

from rig.drawing.table_drawing import DIM, GROUND, WORDS, Image, fitting, text_width_px, wrapped, write
from rig.files.whole_file import draft_of
from rig.recording import read_frames
from rig.replay.place import MARK
from rig.replay.story import Event, Story
from rig.verdict.analyse import Analysis
from rig.verdict.analysis_store import digest_of

__all__ = ["write_film"]

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
_MOST_LINES = 12  # of the verdict, so that what happened still has room above it


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
            _encode(draft, Story(analysis, folder.resolve().name), folder)
        except av.error.FFmpegError as bad:  # few are an OSError by themselves
            raise OSError(bad.errno, bad.strerror) from bad


def _encode(path: Path, story: Story, folder: Path) -> None:
    film, times_us = _Film(story), story.times_us
    with av.open(str(path), "w") as container:
        container.metadata[MARK] = digest_of(folder, story.analysis.recording)
        stream = container.add_stream("libx264", rate=Fraction(_FILM_FPS), options=_ENCODER)
        stream.width, stream.height = film.size_px
        stream.pix_fmt = "yuv420p"

        def show(picture: Image, count: int) -> None:
            # In the film's colours once, however often it is shown; each time it is given it is the next.
            page = av.VideoFrame.from_ndarray(picture, format="bgr24").reformat(format=stream.pix_fmt)
            for _ in range(count):
                page.pts = None
                container.mux(stream.encode(page))

        last: Image | None = None
        for k, picture in enumerate(read_frames(folder, story.analysis.recording)):
            last = picture
            if count := film.shown(k):
                show(film.page(picture, times_us[k]), count)
        assert last is not None, "a recording that was read has pictures"
        show(film.page(last, times_us[-1], ruled=True), _VERDICT_S * _FILM_FPS)
        container.mux(stream.encode())


class _Film:
    """How fast a shot is shown, and the pages of its film: the picture, and beside it a panel of words."""

    def __init__(self, story: Story) -> None:
        self._story = story
        flown_us = max(
            [
                *(time_us for time_us, *_ in story.reading.track.points),
                *(touch.time_us for touch in story.touches),
                *(fall.toppling.began_us for fall in story.reading.falls),
                story.begin_us,
            ]
        )
        end_us = min(flown_us + _AFTER_TOUCH_US, story.begin_us + _LONGEST_FLIGHT_US)
        self._flight_us = (story.begin_us, end_us)
        self._frame_us = story.frame_us

    @property
    def size_px(self) -> tuple[int, int]:
        """Width and height of the film; even, as the encoder wants them."""
        return self._picture_px[0] + _PANEL_PX, _HEIGHT_PX

    @property
    def _picture_px(self) -> tuple[int, int]:
        camera = self._story.analysis.recording.keys.camera
        return 2 * round(camera.width * _HEIGHT_PX / camera.height / 2), _HEIGHT_PX

    def shown(self, k: int) -> int:
        """Return for how many pictures of the film the clip's picture `k` is shown."""
        times_us = self._story.times_us
        if times_us[k] < self._flight_us[0] - _BEFORE_US:
            return 0
        # Two that came at once, as those of a stream do, are shown both.
        gap = 1 if k == 0 else max(1, round((times_us[k] - times_us[k - 1]) / self._frame_us))
        return min(_MOST_GAP, gap) * self._repeats(times_us[k])

    def _repeats(self, time_us: float) -> int:
        """Return for how many pictures of the film one of the clip is shown where none was lost before it."""
        begin_us, end_us = self._flight_us
        flies = begin_us - self._frame_us <= time_us <= end_us
        return max(1, round((_FLIGHT_SLOWNESS if flies else _SLOWNESS) * _FILM_FPS * self._frame_us / 1e6))

    def page(self, picture: Image, time_us: int, *, ruled: bool = False) -> Image:
        """Return a picture of the film."""
        drawn = self._story.drawn(picture, time_us, size_px=self._picture_px, ruled=ruled)
        return np.hstack([drawn, self._panel(time_us, ruled=ruled)])

    def _panel(self, time_us: float, *, ruled: bool) -> Image:
        panel = np.full((_HEIGHT_PX, _PANEL_PX, 3), GROUND, np.uint8)
        left, right = 20, _PANEL_PX - 20
        name = fitting(self._story.name, 20, right - left, bold=True)
        write(panel, name, (left, 18), 20, WORDS, bold=True)
        write(panel, fitting(self._story.agreed, 14, right - left), (left, 46), 14, DIM)
        clock = self._story.clock(time_us)
        write(panel, clock, (left, 74), 34, WORDS, bold=True)
        speed = self._story.end if ruled else self._speed(time_us)
        write(panel, speed, (right - text_width_px(speed, 15), 92), 15, DIM)
        cv2.line(panel, (left, 122), (right, 122), (80, 75, 70), 1)
        due_us = float("inf") if ruled else time_us + self._frame_us / 2
        events = [event for event in self._story.events if event.time_us <= due_us]
        verdict = self._story.verdict_lines(15, right - left, most_lines=_MOST_LINES) if ruled else []
        bottom = _HEIGHT_PX - 16 - (43 + 22 * len(verdict) if verdict else 0)
        self._list(panel, events, 134, bottom, left, right)
        if verdict:
            cv2.line(panel, (left, bottom), (right, bottom), (80, 75, 70), 1)
            write(panel, "Verdict", (left, bottom + 10), 18, WORDS, bold=True)
            for row, (words, colour) in enumerate(verdict):
                write(panel, words, (left, bottom + 35 + 22 * row), 15, colour)
        return panel

    def _list(
        self, panel: Image, events: Sequence[Event], top: int, bottom: int, left: int, right: int
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
            clock = self._story.clock(event.time_us)
            write(panel, clock, (left + 54 - text_width_px(clock, 13), y + 3), 13, DIM)
            write(panel, event.headline, (left + indent, y), 16, event.colour, bold=True)
            y += 24
            if k in detailed:
                for line in lines:
                    write(panel, line, (left + indent, y - 1), 13, DIM)
                    y += 17
                y += 4 if lines else 0

    def _speed(self, time_us: float) -> str:
        """Say how much slower than life the film runs at a time."""
        return f"1/{self._repeats(time_us) * 1e6 / _FILM_FPS / self._frame_us:.0f} of its speed"
