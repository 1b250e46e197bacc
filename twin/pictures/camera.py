"""The overhead camera: frames of the table, drawn only when somebody looks at them.

At each frame's time the camera keeps a snapshot of the table, which costs next to nothing. The picture is made when
`Frame.image` is first asked for, and depends on nothing but the snapshot, the settings and the frame's number.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from twin.limits import at_least, within
from twin.pictures.look import LookSettings, placed_markers
from twin.pictures.offscreen import Offscreen
from twin.pictures.optics import Lens, Pose, Rect
from twin.pictures.painter import Painter, Patch, plate_rect
from twin.pictures.scene import Arrangement, Snapshot
from twin.pictures.sensor import Developed, Sensor, SensorSettings
from twin.pictures.stage import Stage
from twin.streams import stream
from twin.table import Table

_SHAKE_HZ = 23.0
_SHAKE_DECAY_S = 0.12
_SHAKE_US = 600_000
_TOGETHER_US = 250
"""Rows that a rolling shutter takes within so long show the shot as of one moment, in which it flies 2 mm ..."""
_SLOWER = 8
"""... and so many times as many rows all else, which costs more to draw and is slower by as much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CameraFaults:
    """What can go wrong with the camera; by default nothing does. Times are on the table's clock."""

    drop_probability: float = 0.0
    """Share of the frames that never arrive."""
    late_us: int = 0
    """How long after mid-exposure a frame arrives, and is stamped: what a cable and its driver take ..."""
    waver_us: int = 0
    """... and how much longer at the most, now more and now less; less than from one frame to the next."""
    stall_at_us: int | None = None
    """From here on no frame arrives ..."""
    stall_for_us: int | None = None
    """... for so long; None for ever."""
    gone_at_us: int | None = None
    """From here on the camera is unplugged: `Camera.poll` raises."""
    cap_on_at_us: int | None = None
    """From here on the lens cap is on ..."""
    cap_off_at_us: int | None = None
    """... up to here; None for ever."""
    bump_at_us: int | None = None
    """When somebody knocks the camera ..."""
    bump_mm: tuple[float, float] = (14.0, -9.0)
    """... and by how much its aim on the board is off afterwards, in x and y ..."""
    bump_roll_rad: float = 0.012
    """... and how far it is turned."""
    shake_px: float = 0.0
    """Amplitude of the picture's shake after the release of a shot; it dies away within half a second."""
    flicker: float = 0.0
    """Depth of the lamps' flicker, as a part of their light."""
    flicker_hz: float = 100.0
    """How often a second; 1 or more."""

    def __post_init__(self) -> None:
        within(self, 0, 1, "drop_probability", "flicker")
        within(self, -1_000_000, 10_000_000, "late_us")
        at_least(
            self,
            0,
            "waver_us",
            "stall_at_us",
            "stall_for_us",
            "gone_at_us",
            "cap_on_at_us",
            "cap_off_at_us",
            "bump_at_us",
        )
        within(self, 0, 1000, "shake_px")
        within(self, -1000, 1000, "bump_mm")
        within(self, -math.pi, math.pi, "bump_roll_rad")
        at_least(self, 1, "flicker_hz")


@dataclass(frozen=True, slots=True, kw_only=True)
class CameraSettings:
    """The overhead camera."""

    fps: float = 120.0
    """Pictures a second."""
    exposure_us: int = 1000
    """Exposure of one picture, 1 or more."""
    readout_us: int = 0
    """By how much later than its first row a picture's last one is taken, with a rolling shutter; 0: all at once."""
    pose: Pose = field(default_factory=Pose)
    """Where it hangs."""
    lens: Lens = field(default_factory=Lens)
    """Its lens and the size of its pictures."""
    blur_px: float = 0.55
    """Standard deviation of the lens's blur."""
    monochrome: bool = False
    """Grey pictures; they still have three equal channels."""
    jpeg_quality: int | None = None
    """How well pictures survive being packed as JPEG for a USB cable, 1 to 100; None: they come as they were taken."""
    sensor: SensorSettings = field(default_factory=SensorSettings)
    """How its sensor answers to light."""
    look: LookSettings = field(default_factory=LookSettings)
    """How everything before it looks."""
    faults: CameraFaults = field(default_factory=CameraFaults)
    """What goes wrong with it."""

    def __post_init__(self) -> None:
        within(self, 1, 10_000, "fps")
        within(self, 1, 1_000_000, "exposure_us")
        within(self, 0, 1e6 / self.fps, "readout_us")
        within(self.faults, 0, math.ceil(1e6 / self.fps) - 1, "waver_us")
        within(self, 0, 100, "blur_px")
        within(self, 1, 100, "jpeg_quality")


class CameraGoneError(OSError):
    """The camera was unplugged."""


@dataclass(frozen=True, slots=True)
class _Band:
    """Rows of all pictures that are taken together; times are from when the first row opens."""

    rows: Rect
    opens_us: int
    arranged_us: int
    """When all but the shot is seen as it stands."""


@dataclass(frozen=True, slots=True)
class _Taken:
    """Some rows of a picture, and what was to be seen while they were exposed."""

    rows: Rect
    middle_us: int
    """The table's clock at the middle of their exposure."""
    snapshot: Snapshot


class Frame:
    """One picture and when it was taken.

    Attributes
    ----------
    index : int
        Number of the exposure; a gap means a dropped frame.
    timestamp_us : int
        The table's clock at mid-exposure of the middle row, or as much later as the camera stamps its frames late.
    """

    __slots__ = ("_camera", "_image", "_taken", "_taken_us", "index", "timestamp_us")

    def __init__(
        self, camera: Camera, index: int, taken_us: int, late_us: int, taken: Sequence[_Taken]
    ) -> None:
        self._camera = camera
        self._taken = taken
        self._image: NDArray[np.uint8] | None = None
        self._taken_us = taken_us
        self.index = index
        self.timestamp_us = taken_us + late_us

    @property
    def image(self) -> NDArray[np.uint8]:
        """The picture, (height, width, 3), blue, green, red; drawn when first asked for."""
        if self._image is None:
            self._image = self._camera._develop(self.index, self._taken_us, self._taken)
        return self._image


class Camera:
    """Films a table, and lets its time pass.

    Parameters
    ----------
    settings : CameraSettings
        Camera, lens, light and looks.
    table : Table
        What it films. Let time pass through `advance` of the camera, not of the table, or frames are missed.
    seed : int
        Draws noise, dropped frames and wavering stamps.
    soldiers : int
        The most soldiers that there will be on the table.
    """

    def __init__(self, settings: CameraSettings, table: Table, *, seed: int = 0, soldiers: int = 48) -> None:
        self.settings = settings
        self._table = table
        self._seed = seed
        self._slots = max(soldiers, len(table.soldiers))
        self._origin_us = table.now_us
        self._next = 0
        self._waiting: list[Frame] = []
        self._drop = stream(seed, "dropped frames")
        self._waver = stream(seed, "wavering stamps")
        self._lock = threading.Lock()
        self._offscreen: Offscreen | None = None
        self._painters: dict[bool, Painter] = {}
        lens = settings.lens
        self._bands = _bands(lens, settings.readout_us)
        self._sensor = Sensor(
            settings.sensor,
            width_px=lens.width_px,
            height_px=lens.height_px,
            exposure_us=settings.exposure_us,
            seed=seed,
        )

    # --- time

    def advance(self, to_us: int) -> None:
        """Let time pass on the table up to `to_us`, and take every picture on the way."""
        exposure_us, readout_us = self.settings.exposure_us, self.settings.readout_us
        while True:
            opened_us = self._origin_us + round(self._next * 1e6 / self.settings.fps)
            middle_us = opened_us + (readout_us + exposure_us) // 2
            closed_us = opened_us + self._bands[-1].opens_us + exposure_us
            if closed_us > to_us:
                break
            seen: dict[int, tuple[Arrangement, Arrangement]] = {}
            for band in self._bands:
                if band.arranged_us not in seen:
                    arranged_us = opened_us + band.arranged_us + exposure_us // 2
                    self._table.advance(max(arranged_us, self._table.now_us))
                    seen[band.arranged_us] = self._table.arrangement()
            self._table.advance(closed_us)
            if self._arrives(middle_us):
                taken = []
                for band in self._bands:
                    opens_us = opened_us + band.opens_us
                    snapshot = self._table.snapshot(seen[band.arranged_us], opens_us, opens_us + exposure_us)
                    taken.append(_Taken(band.rows, opens_us + exposure_us // 2, snapshot))
                self._waiting.append(Frame(self, self._next, middle_us, self._late_us(), taken))
            self._next += 1
        self._table.advance(to_us)

    def _arrives(self, at_us: int) -> bool:
        faults = self.settings.faults
        dropped = self._drop.random() < faults.drop_probability
        stalled = faults.stall_at_us is not None and faults.stall_at_us <= at_us < (
            faults.stall_at_us + faults.stall_for_us if faults.stall_for_us is not None else at_us + 1
        )
        return not dropped and not stalled and not self._gone(at_us)

    def _late_us(self) -> int:
        faults = self.settings.faults
        return faults.late_us + int(self._waver.integers(0, faults.waver_us, endpoint=True))

    def _gone(self, at_us: int) -> bool:
        gone_at_us = self.settings.faults.gone_at_us
        return gone_at_us is not None and at_us >= gone_at_us

    # --- frames

    def poll(self) -> list[Frame]:
        """Return every frame since the last call, oldest first.

        Raises
        ------
        CameraGoneError
            Once the camera is unplugged and the frames from before are fetched.
        """
        now_us = self._table.now_us
        frames = [frame for frame in self._waiting if frame.timestamp_us <= now_us]
        self._waiting = self._waiting[len(frames) :]
        if not self._waiting and not frames and self._gone(now_us):
            raise CameraGoneError("the camera is gone")
        return frames

    def close(self) -> None:
        """Give the drawing surface back. A frame that is drawn after this takes another one, until the next `close`."""
        with self._lock:
            if self._offscreen is not None:
                self._offscreen.close()
                self._offscreen = None
                self._painters.clear()

    # --- what a recording says about it

    @property
    def intrinsics(self) -> list[float]:
        """[fx, fy, cx, cy] in px."""
        return [float(value) for value in self.settings.lens.intrinsics]

    @property
    def distortion(self) -> list[float]:
        """[k1, k2, p1, p2, k3], OpenCV's order; of a lens of the rational model k4, k5, k6 follow."""
        return [float(value) for value in self.settings.lens.distortion]

    @property
    def markers(self) -> dict[str, Any] | None:
        """The markers as a recording describes them; None on a table without."""
        look = self.settings.look
        placed = placed_markers(look, self._table.settings)
        if not placed:
            return None
        return {
            "dictionary": look.marker_dictionary,
            "size_mm": look.marker_size_mm,
            "centres_mm": {str(marker.number): list(marker.centre_mm) for marker in placed},
        }

    # --- pictures

    def _develop(self, index: int, at_us: int, taken: Sequence[_Taken]) -> NDArray[np.uint8]:
        faults = self.settings.faults
        noise = self._sensor.noise(index)
        lens = self.settings.lens
        capped = (
            faults.cap_on_at_us is not None
            and faults.cap_on_at_us <= at_us
            and (faults.cap_off_at_us is None or at_us < faults.cap_off_at_us)
        )
        if capped:
            frame = Rect(0, 0, lens.width_px, lens.height_px)
            dark = np.zeros((lens.height_px, lens.width_px, 3), np.float32)
            return self._finish(self._sensor.expose(self._sensor.develop(dark, frame), noise))
        bumped = faults.bump_at_us is not None and at_us >= faults.bump_at_us
        image = np.empty((lens.height_px, lens.width_px, 3), np.uint8)
        for each in taken:
            self._expose(each, bumped, noise, image)
        return self._finish(image)

    def _expose(
        self, taken: _Taken, bumped: bool, noise: NDArray[np.float32], image: NDArray[np.uint8]
    ) -> None:
        """Draw some rows of a picture into it."""
        rows, snapshot = taken.rows, taken.snapshot
        dim = self._lamp_light(taken.middle_us) ** (1.0 / self.settings.sensor.gamma)
        shift_px = self._shake_px(taken.middle_us, snapshot.released_us)
        shaken = shift_px != (0.0, 0.0)
        with self._lock:
            # Shaken, they may show what else lies below or above them.
            rest, patches = self._painter(bumped).paint(snapshot, None if shaken else rows)
        if shaken:
            rest, patches = _shifted(rest, patches, shift_px), ()
        image[rows.slices] = self._sensor.expose(rest.part(rows.slices), noise[rows.slices], dim)
        for patch in patches:
            at = patch.at.within(rows)
            developed = patch.developed.part(at.seen_from(patch.at).slices)
            image[at.slices] = self._sensor.expose(developed, noise[at.slices], dim)

    def _lamp_light(self, at_us: int) -> float:
        """Return how bright the lamps are, 1 on average."""
        faults = self.settings.faults
        if faults.flicker == 0.0:
            return 1.0
        half_turn = math.pi * faults.flicker_hz * self.settings.exposure_us / 1e6
        smoothed = math.sin(half_turn) / half_turn
        return 1.0 + faults.flicker * smoothed * math.sin(2 * math.pi * faults.flicker_hz * at_us / 1e6)

    def _shake_px(self, at_us: int, released_us: int | None) -> tuple[float, float]:
        """Return how far the recoil has shifted the picture."""
        amplitude_px = self.settings.faults.shake_px
        if amplitude_px == 0.0 or released_us is None or not 0 <= at_us - released_us < _SHAKE_US:
            return 0.0, 0.0
        since_s = (at_us - released_us) / 1e6
        swing = amplitude_px * math.exp(-since_s / _SHAKE_DECAY_S)
        return (
            swing * math.sin(2 * math.pi * _SHAKE_HZ * since_s),
            0.6 * swing * math.sin(2 * math.pi * 0.77 * _SHAKE_HZ * since_s),
        )

    def _finish(self, image: NDArray[np.uint8]) -> NDArray[np.uint8]:
        if self.settings.monochrome:
            image = np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), dtype=np.uint8)
        if self.settings.jpeg_quality is not None:
            image = _through_jpeg(image, self.settings.jpeg_quality)
        if image.ndim == 2:
            image = np.asarray(cv2.cvtColor(image, cv2.COLOR_GRAY2BGR), dtype=np.uint8)
        return image

    def _painter(self, bumped: bool) -> Painter:
        settings = self.settings
        if self._offscreen is None:
            plate = plate_rect(settings.lens, settings.blur_px)
            # Room for the plate, and for the shadows on all the ground that it shows.
            size = (round(1.6 * plate.width), round(1.6 * plate.height))
            self._offscreen = Offscreen(
                lambda: Stage(settings.look, self._table.settings, slots=self._slots, picture_px=size), size
            )
        painter = self._painters.get(bumped)
        if painter is None:
            painter = Painter(
                self._offscreen,
                self._sensor,
                pose=self._pose(bumped),
                lens=settings.lens,
                look=settings.look,
                table=self._table.settings,
                blur_px=settings.blur_px,
                gamma=settings.sensor.gamma,
            )
            self._painters[bumped] = painter
        return painter

    def _pose(self, bumped: bool) -> Pose:
        pose, faults = self.settings.pose, self.settings.faults
        if not bumped:
            return pose
        return Pose(
            aim_mm=(pose.aim_mm[0] + faults.bump_mm[0], pose.aim_mm[1] + faults.bump_mm[1]),
            height_mm=pose.height_mm,
            tilt_rad=pose.tilt_rad,
            pan_rad=pose.pan_rad,
            roll_rad=pose.roll_rad + faults.bump_roll_rad,
        )


def _bands(lens: Lens, readout_us: int) -> tuple[_Band, ...]:
    count = max(1, math.ceil(readout_us / _TOGETHER_US))
    edges = [lens.height_px * k // count for k in range(count + 1)]
    # The first and the last one open half a band's time within the readout.
    opens_us = [round(readout_us * (k + 0.5) / count) for k in range(count)]
    bands = []
    for k in range(count):
        first = k - k % _SLOWER
        together = opens_us[first : first + _SLOWER]
        rows = Rect(0, edges[k], lens.width_px, edges[k + 1])
        bands.append(_Band(rows, opens_us[k], together[len(together) // 2]))
    return tuple(bands)


def _through_jpeg(image: NDArray[np.uint8], quality: int) -> NDArray[np.uint8]:
    # Most USB cameras keep colour at half the width, as their sensors' interpolation does anyway.
    how = [
        cv2.IMWRITE_JPEG_QUALITY,
        quality,
        cv2.IMWRITE_JPEG_SAMPLING_FACTOR,
        cv2.IMWRITE_JPEG_SAMPLING_FACTOR_422,
    ]
    _, packed = cv2.imencode(".jpg", image, how)
    return np.asarray(cv2.imdecode(packed, cv2.IMREAD_UNCHANGED), dtype=np.uint8)


def _shifted(rest: Developed, patches: Sequence[Patch], shift_px: tuple[float, float]) -> Developed:
    """Return the whole picture with its patches, moved right and down."""
    levels, grain = rest.levels.copy(), rest.grain.copy()
    for patch in patches:
        levels[patch.at.slices] = patch.developed.levels
        grain[patch.at.slices] = patch.developed.grain
    move = np.array([[1.0, 0.0, shift_px[0]], [0.0, 1.0, shift_px[1]]])
    size = (levels.shape[1], levels.shape[0])
    moved = (
        np.asarray(cv2.warpAffine(part, move, size, borderMode=cv2.BORDER_REPLICATE), dtype=np.float32)
        for part in (levels, grain)
    )
    return Developed(*moved)
