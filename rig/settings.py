"""The one settings file, `rig.toml`, as a checked value.

The text under each field is also the comment that `rig init` writes above its key: there is one place to say what
a setting means.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, PrivateAttr

from game.montecassino import BOARD_FILES, BOARD_ROWS, Position, Side
from rig.counted import counted
from rig.files.checked_file import Fault, FaultyFile, NameText, Table, parse_toml, read_text, validate
from rig.files.one_line import as_typed
from rig.files.validation_words import shortened
from rig.keys.board import SquareMm
from rig.keys.camera import (
    CameraSource,
    DelayUs,
    ExposureUs,
    Intrinsics,
    LensTerms,
    ReadoutUs,
    exposure_conflicts,
    lens_conflicts,
    readout_conflicts,
)
from rig.keys.markers import MarkerSizeMm, PlaceMm, marker_conflicts
from rig.keys.notation import PositionText, TableSquaresText
from rig.link.wire import SETTING_LIMITS, Setting
from rig.ticks import TICKS_PER_US

__all__ = [
    "TWIN",
    "Azimuth",
    "Board",
    "Camera",
    "Cannon",
    "Draw",
    "Elevation",
    "Game",
    "Latch",
    "Log",
    "Port",
    "Settings",
    "SettingsError",
    "Traverse",
    "Trigger",
    "parse_settings",
    "read_settings",
]

_USUAL_NAME = "rig.toml"

TWIN = "twin"
"""The port and the camera source that mean the twin."""

_FRAME_MS = 20
"""A servo's frame: it gets one pulse every 20 ms, so speeds on the wire are per frame."""

PulseUs = Annotated[int, Field(ge=500, le=2500)]
# The firmware's limits. Slower, and the longest ways would take longer than it can announce.
AimSpeedUsPerS = Annotated[int, Field(ge=50, le=10_000)]
LeverSpeedUsPerS = Annotated[int, Field(ge=150, le=10_000)]

# What the firmware waits at the most for the servos of the lever to arrive, on all of a way (firmware/core/lever.c).
_ARRIVING_MS = 62 * _FRAME_MS
_SPARE_MS = 300
# A shot's pictures are held from when it is asked for, so it may not leave much later.
_LATCH_AS_TRIGGER_MS = 500

_MOST_ANGLE_RAD = math.pi  # no servo of an axis turns it right round
_PER_DEGREE_US = 100.0  # a servo's pulse changes by 400 to 1300 us a radian, 7 to 22 us a degree
_MARKER_CENTRES_MM = {"0": (-29.25, 24.0), "1": (389.25, 24.0), "2": (-29.25, 786.0), "3": (389.25, 786.0)}
"""One marker beside each corner of a board of 45 mm squares."""


class SettingsError(FaultyFile):
    """`rig.toml` cannot be used; `faults` holds everything that is wrong with it."""


class Port(Table):
    """Where the cannon's microcontroller is."""

    url: NameText = TWIN
    """`twin`, a serial port (`/dev/ttyACM0`, `COM3`), or any pyserial URL (`socket://...`, `rfc2217://...`)."""
    baud: Annotated[int, Field(ge=9_600, le=1_000_000)] = 115_200
    """Bits a second; `rig flash` builds the firmware for 115200 or 250000 by this."""


class Camera(Table):
    """The camera over the table."""

    source: CameraSource = TWIN
    """`twin`, a device number (`0`), a video file, or a URL (`http://...`, `rtsp://...`)."""
    width_px: Annotated[int, Field(ge=160, le=7_680)] = 1280
    """Width of a picture, as asked of the device."""
    height_px: Annotated[int, Field(ge=120, le=4_320)] = 720
    """Height of a picture, as asked of the device."""
    fps: Annotated[float, Field(ge=1, le=1_000)] = 120.0
    """Frames a second, as asked of the device; no shot is fired that fewer than 9 would show, or 2 in clip_before_s."""
    exposure_us: ExposureUs | None = Field(default=None, examples=[1000])
    """Exposure of one frame, as asked of the device; without it the camera chooses."""
    delay_us: DelayUs = 0
    """How much later than they were taken its pictures are stamped. `rig camera delay` learns it from recorded shots."""
    readout_us: ReadoutUs = 0
    """By how much later than its first row a picture's last one is taken, with a rolling shutter; 0: all rows at once."""
    intrinsics_px: Intrinsics | None = Field(default=None, examples=[(1600.0, 1600.0, 639.5, 359.5)])
    """`[fx, fy, cx, cy]` of the calibrated lens; without it the lens is taken from the board's markers."""
    distortion: LensTerms | None = Field(default=None, examples=[(-0.1, 0.02, 0.0, 0.0, 0.0)])
    """`[k1, k2, p1, p2, k3]` in OpenCV's order, or these and `k4, k5, k6`; only together with intrinsics_px. `rig camera
    calibrate` finds both."""
    clip_before_s: Annotated[float, Field(ge=0.05, le=10)] = 0.3
    """How much of a recording lies before the shot leaves."""
    clip_after_s: Annotated[float, Field(ge=0.5, le=30)] = 2.0
    """How much of a recording lies after it, at most; it ends sooner once everything is at rest."""
    stall_s: Annotated[float, Field(ge=0.02, le=10)] = 0.5
    """A camera that gives no frame for this long has stalled, and nothing is fired."""

    def conflicts(self) -> Iterator[Fault]:
        """Hold exposure and readout against the rate, and the lens against the picture."""
        yield from exposure_conflicts(self.exposure_us, self.fps)
        yield from readout_conflicts(self.readout_us, self.fps)
        size_px = (self.width_px, self.height_px)
        yield from lens_conflicts(
            "intrinsics_px",
            self.intrinsics_px,
            self.distortion,
            sides=("width_px", "height_px"),
            size_px=size_px,
        )
        if self.intrinsics_px is not None:
            *_, cx_px, cy_px = self.intrinsics_px
            if not (0 <= cx_px <= self.width_px and 0 <= cy_px <= self.height_px):
                yield Fault(
                    "intrinsics_px",
                    f"cx {cx_px}, cy {cy_px}",
                    f"a centre inside the picture of {self.width_px} x {self.height_px} px",
                    also=("width_px", "height_px"),
                )


class Board(Table):
    """The board and the markers around it, in the board frame: x right and y away as the Allies see it."""

    square_mm: SquareMm = 45.0
    """Side of one square; the board is 8 squares wide and 18 long."""
    soldier_height_mm: Annotated[float, Field(ge=10, le=200)] = 42.0
    """Height of a soldier with its base; the cannon aims at its body."""
    marker_dictionary: Literal["DICT_4X4_50", "DICT_5X5_50", "DICT_6X6_50", "DICT_APRILTAG_36h11"] = (
        "DICT_4X4_50"
    )
    """Which family of ArUco markers lies on the table."""
    marker_size_mm: MarkerSizeMm = 34.0
    """Side of a marker's black square."""
    marker_centres_mm: Annotated[dict[str, tuple[PlaceMm, PlaceMm]], Field(min_length=4)] = Field(
        default_factory=lambda: dict(_MARKER_CENTRES_MM)
    )
    """Centre of each marker by its number; each marker's top edge points towards +y."""

    def conflicts(self) -> Iterator[Fault]:
        """Ask for numbered markers, none on another, none on the board."""
        yield from marker_conflicts(
            "marker_centres_mm",
            self.marker_centres_mm,
            size="marker_size_mm",
            size_mm=self.marker_size_mm,
            dictionary_key="marker_dictionary",
            dictionary=self.marker_dictionary,
        )
        half_mm = self.marker_size_mm / 2
        width_mm, length_mm = BOARD_FILES * self.square_mm, BOARD_ROWS * self.square_mm
        on_it = [
            name
            for name, (x_mm, y_mm) in self.marker_centres_mm.items()
            if -half_mm < x_mm < width_mm + half_mm and -half_mm < y_mm < length_mm + half_mm
        ]
        if on_it:
            # The board's far end is at a tenth of its length, where it is told in cm.
            furthest_mm = max(
                abs(place_mm) for centre in self.marker_centres_mm.values() for place_mm in centre
            )
            yield Fault(
                "marker_centres_mm",
                f"{shortened(', '.join(on_it))} on the board's squares",
                f"markers beside them; they reach from 0, 0 to {width_mm:g}, {length_mm:g} mm",
                hint="are they in cm?" if furthest_mm < length_mm / 5 else "",
                also=("square_mm", "marker_size_mm"),
            )


class _Axis(Table):
    min_us: PulseUs = 1000
    """Shortest servo pulse that this axis is ever given."""
    max_us: PulseUs = 2000
    """Longest servo pulse that this axis is ever given."""
    centre_us: PulseUs = 1500
    """Pulse at the centre; the axis goes there when it homes."""
    speed_us_per_s: AimSpeedUsPerS = 500
    """How fast the pulse is changed at most."""

    def conflicts(self) -> Iterator[Fault]:
        """Ask for limits in order, with the centre between them."""
        if not self.min_us < self.max_us:
            yield Fault(
                "max_us", str(self.max_us), f"a pulse longer than min_us, {self.min_us}", also=("min_us",)
            )
        elif not self.min_us <= self.centre_us <= self.max_us:
            yield Fault(
                "centre_us",
                str(self.centre_us),
                f"a pulse from min_us to max_us, {self.min_us} to {self.max_us}",
                also=("min_us", "max_us"),
            )


class Traverse(_Axis):
    """The carriage along the strip behind the first line."""

    centre_mm: PlaceMm = 180.0
    """How far along the strip the muzzle stands at centre_us, from its left end as the owner sees it."""
    us_per_mm: Annotated[float, Field(ge=-100, le=100)] = 3.3333
    """Change of pulse that moves the carriage 1 mm to the owner's right; negative where it turns the other way."""

    def conflicts(self) -> Iterator[Fault]:
        """Refuse a map without slope too."""
        yield from super().conflicts()
        if self.us_per_mm == 0:
            yield Fault("us_per_mm", "0", "a number other than 0")

    def ends_mm(self) -> tuple[float, float]:
        """Give the left and right end that the limits allow, along the strip as the owner sees it."""
        ends = [self.centre_mm + (us - self.centre_us) / self.us_per_mm for us in (self.min_us, self.max_us)]
        return min(ends), max(ends)


class _Angle(_Axis):
    us_per_rad: Annotated[float, Field(ge=-10_000, le=10_000)] = 954.93
    """Change of pulse that turns the barrel by 1 rad; negative where the servo turns the other way."""

    @property
    def approach(self) -> int:
        """1 where the barrel comes to its aim from below (from the left), -1 from above: its pulse always rises to it."""
        return 1 if self.us_per_rad > 0 else -1

    def at_centre_rad(self) -> float:
        """Give the angle at centre_us."""
        return 0.0

    def ends_rad(self) -> tuple[float, float]:
        """Give the lowest and the highest angle that the limits allow."""
        ends = [
            self.at_centre_rad() + (us - self.centre_us) / self.us_per_rad
            for us in (self.min_us, self.max_us)
        ]
        return min(ends), max(ends)

    def conflicts(self) -> Iterator[Fault]:
        """Refuse a map without slope too, and one that turns the barrel right round."""
        yield from super().conflicts()
        if self.us_per_rad == 0:
            yield Fault("us_per_rad", "0", "a number other than 0")
        elif self.min_us < self.max_us and max(map(abs, self.ends_rad())) > _MOST_ANGLE_RAD:
            ends = " and ".join(f"{math.degrees(end_rad):.0f}" for end_rad in self.ends_rad())
            yield Fault(
                "us_per_rad",
                f"{self.us_per_rad:g}, with which the barrel is at {ends} degrees at the ends of its pulses",
                "a barrel that stays within 180 degrees of level and of straight ahead",
                hint="is it for each degree?" if abs(self.us_per_rad) < _PER_DEGREE_US else "",
                also=("min_us", "max_us", "centre_us"),
            )


class Azimuth(_Angle):
    """The barrel left and right; the centre points straight ahead, and to the right counts as more."""


class Elevation(_Angle):
    """The barrel up and down; up counts as more."""

    centre_rad: Annotated[float, Field(ge=-0.8, le=1.6)] = 0.2618
    """Elevation at centre_us; 0 is level."""

    def at_centre_rad(self) -> float:
        """Give `centre_rad`."""
        return self.centre_rad


class Draw(Table):
    """The servo that pulls the lever to the breech."""

    rest_us: PulseUs = 1000
    """Pulse at rest, out of the lever's way."""
    breech_us: PulseUs = 2000
    """Pulse with the lever at the breech."""
    speed_us_per_s: LeverSpeedUsPerS = 1000
    """How fast the lever is drawn."""
    ease_us_per_s: Annotated[int, Field(ge=150, le=2_500)] = 375
    """How fast the lever is let down again without firing."""

    def conflicts(self) -> Iterator[Fault]:
        """Ask for a way to go, and for easing no faster than drawing."""
        if self.rest_us == self.breech_us:
            yield Fault("breech_us", str(self.breech_us), "a pulse other than rest_us", also=("rest_us",))
        if self.ease_us_per_s > self.speed_us_per_s:
            yield Fault(
                "ease_us_per_s",
                str(self.ease_us_per_s),
                f"at most speed_us_per_s, {self.speed_us_per_s}",
                also=("speed_us_per_s",),
            )


class Latch(Table):
    """The servo that turns the drawn lever so that it holds."""

    free_us: PulseUs = 1000
    """Pulse at 0 degrees: the lever can run."""
    held_us: PulseUs = 1500
    """Pulse at 90 degrees: the lever is held."""
    lubricate_us: PulseUs = 2000
    """Pulse at 180 degrees, for lubrication."""
    speed_us_per_s: LeverSpeedUsPerS = 2500
    """How fast it turns."""

    def conflicts(self) -> Iterator[Fault]:
        """Ask for 90 degrees between 0 and 180."""
        low_us, high_us = sorted((self.free_us, self.lubricate_us))
        if not low_us < self.held_us < high_us:
            yield Fault(
                "held_us",
                str(self.held_us),
                f"a pulse between free_us and lubricate_us, {low_us} and {high_us}",
                also=("free_us", "lubricate_us"),
            )


class Trigger(Table):
    """What frees the lever."""

    kind: Literal["solenoid", "latch"] = "solenoid"
    """`solenoid`: on a digital output, it flicks the lever free; `latch`: the latch servo turns back itself."""
    hold_us: Annotated[int, Field(ge=5_000, le=100_000)] = 40_000
    """How long the solenoid is energised."""


class Cannon(Table):
    """The cannon: where it stands, what it measures, how its servos move it."""

    sides: Annotated[tuple[Side, ...], Field(min_length=1, max_length=2)] = (Side.A, Side.G)
    """Sides that have a cannon: `["A"]`, `["G"]`, or both where they share it."""
    strip_offset_mm: Annotated[float, Field(ge=5, le=1_000)] = 45.0
    """From the edge of the first line back to the pivot of the barrel."""
    muzzle_height_mm: Annotated[float, Field(gt=0, le=500)] = 50.0
    """Height of the pivot above the board; a level barrel has its muzzle there."""
    barrel_length_mm: Annotated[float, Field(ge=0, le=500)] = 60.0
    """From the pivot to the muzzle."""
    gate_spacing_mm: Annotated[float, Field(ge=6, le=200)] = 20.0
    """Between the two light barriers of the muzzle gate; at least a shot, or a loaded one blocks both."""
    muzzle_speed_mps: Annotated[float, Field(gt=0.5, le=30)] = 9.6
    """Speed of the shot at the muzzle, until a calibration says better."""
    calibration: NameText | None = Field(default=None, examples=["calibration.json"])
    """What `rig calibrate range` wrote, to aim by; without it, muzzle_speed_mps and the drag of a smooth sphere."""
    dwell_s: Annotated[float, Field(ge=1, le=60)] = 30.0
    """The lever stays cocked no longer than this, because the spring fades; then it is let down."""
    load_s: Annotated[float, Field(gt=0, le=60)] = 15.0
    """Time allowed for a shot to be loaded once the lever is cocked, by hand or by the loader."""
    loader: bool = False
    """Whether an automatic loader is fitted; without it the rig asks for the shot and waits."""
    loader_hold_us: Annotated[int, Field(ge=10_000, le=1_000_000)] = 300_000
    """How long the loader is energised for one shot."""
    traverse: Traverse = Traverse()
    azimuth: Azimuth = Azimuth()
    elevation: Elevation = Elevation()
    draw: Draw = Draw()
    latch: Latch = Latch()
    trigger: Trigger = Trigger()

    def conflicts(self) -> Iterator[Fault]:
        """Ask for one cannon a side, and for loading that ends before the spring is let down."""
        if len(set(self.sides)) != len(self.sides):
            yield Fault("sides", "a side twice", "each side once")
        if not self.load_s < self.dwell_s:
            yield Fault(
                "load_s",
                f"{self.load_s:g}",
                f"less than dwell_s, {self.dwell_s:g}: the lever is let down after that",
                also=("dwell_s",),
            )
        draw, latch = self.draw, self.latch
        longest_s = SETTING_LIMITS[Setting.COCK_TIMEOUT_MS].maximum / 1000
        if self._lever_ms()["cock_timeout_ms"] > 1000 * longest_s:
            yield Fault(
                "draw.speed_us_per_s",
                f"{draw.speed_us_per_s}, and {latch.speed_us_per_s} of the latch",
                f"speeds at which the lever is drawn and latched within {longest_s:g} s",
                also=(
                    *("draw.rest_us", "draw.breech_us", "draw.ease_us_per_s"),
                    *("latch.free_us", "latch.held_us", "latch.lubricate_us", "latch.speed_us_per_s"),
                ),
            )
        turning_ms = _way_ms(latch.held_us, latch.free_us, latch.speed_us_per_s)
        if self.trigger.kind == "latch" and turning_ms > _LATCH_AS_TRIGGER_MS:
            yield Fault(
                "latch.speed_us_per_s",
                f"{latch.speed_us_per_s}, at which it turns back in {turning_ms / 1000:g} s",
                f"at least {math.ceil(1000 * abs(latch.held_us - latch.free_us) / _LATCH_AS_TRIGGER_MS)}: as the trigger it "
                f"turns back within {_LATCH_AS_TRIGGER_MS / 1000:g} s",
                also=("latch.free_us", "latch.held_us", "trigger.kind"),
            )

    def _lever_ms(self) -> dict[str, int]:
        """Give how long the lever's work takes at the speeds that are set, by the limits that the firmware has for it."""
        draw, latch = self.draw, self.latch
        drawing = _way_ms(draw.rest_us, draw.breech_us, draw.speed_us_per_s)
        easing = _way_ms(draw.breech_us, draw.rest_us, draw.ease_us_per_s)
        latching = _way_ms(latch.free_us, latch.held_us, latch.speed_us_per_s)
        turning_on = _way_ms(latch.free_us, latch.lubricate_us, latch.speed_us_per_s)
        rest = _ARRIVING_MS + _SPARE_MS
        return {
            "cock_timeout_ms": rest + max(2 * drawing + 2 * latching, drawing + latching + turning_on),
            "let_down_timeout_ms": rest + drawing + max(latching, turning_on) + easing,
            "shot_timeout_ms": SETTING_LIMITS[Setting.SHOT_TIMEOUT_MS].default
            + (latching if self.trigger.kind == "latch" else 0),
        }

    def firmware_values(self) -> dict[str, int]:
        """Give the firmware's settings that follow from these, by their names on the wire, in its units."""
        values: dict[str, int] = {}
        for name in ("traverse", "azimuth", "elevation"):
            axis: _Axis = getattr(self, name)
            values[f"{name}_min_ticks"] = _ticks(axis.min_us)
            values[f"{name}_max_ticks"] = _ticks(axis.max_us)
            values[f"{name}_home_ticks"] = _ticks(axis.centre_us)
            values[f"{name}_speed_ticks"] = _ticks_per_frame(axis.speed_us_per_s)
        draw, latch = self.draw, self.latch
        values |= {
            "draw_rest_ticks": _ticks(draw.rest_us),
            "draw_breech_ticks": _ticks(draw.breech_us),
            "draw_speed_ticks": _ticks_per_frame(draw.speed_us_per_s),
            "draw_ease_speed_ticks": _ticks_per_frame(draw.ease_us_per_s),
            "latch_free_ticks": _ticks(latch.free_us),
            "latch_held_ticks": _ticks(latch.held_us),
            "latch_lubricate_ticks": _ticks(latch.lubricate_us),
            "latch_speed_ticks": _ticks_per_frame(latch.speed_us_per_s),
            "trigger_kind": 1 if self.trigger.kind == "latch" else 0,
            "trigger_hold_ms": round(self.trigger.hold_us / 1000),
            "dwell_ms": round(self.dwell_s * 1000),
            "loader_present": int(self.loader),
            "loader_hold_ms": round(self.loader_hold_us / 1000),
        }
        for name, time_ms in self._lever_ms().items():
            limits = SETTING_LIMITS[Setting[name.upper()]]
            values[name] = min(max(time_ms, limits.default), limits.maximum)
        return values


def _ticks(pulse_us: int) -> int:
    return pulse_us * TICKS_PER_US


def _way_ms(from_us: int, to_us: int, speed_us_per_s: int) -> int:
    """Return how long the firmware's ramp takes from one pulse to another."""
    return math.ceil(_ticks(abs(to_us - from_us)) / _ticks_per_frame(speed_us_per_s)) * _FRAME_MS


def _ticks_per_frame(speed_us_per_s: int) -> int:
    return round(speed_us_per_s * TICKS_PER_US * _FRAME_MS / 1000)


class Game(Table):
    """What the two sides agreed on before the battle."""

    position: PositionText = "A A01-A24 G01-G24 0/0 20/20 -"
    """Where the soldiers stand, in one line: turn, Allies, Germans, prisoners, shots left, retreated."""
    zone_a: TableSquaresText = "G25-G72"
    """Squares on which a shot of the Allies counts."""
    zone_g: TableSquaresText = "A25-A72"
    """Squares on which a shot of the Germans counts."""
    option: Literal["i", "ii", "iii"] = "i"
    """Which falls are casualties: `i` all, `ii` not the dragged, `iii` only the direct."""
    shots: Annotated[int, Field(ge=1, le=999)] = 20
    """Shots that each side has for the battle."""

    def conflicts(self) -> Iterator[Fault]:
        """Hold the shots left against the shots agreed."""
        for side, left in Position.parse(self.position).shots_left.items():
            if left > self.shots:
                yield Fault(
                    "position",
                    f"{counted(left, 'shot')} left for {side}",
                    f"at most shots, {self.shots}",
                    also=("shots",),
                )


class Log(Table):
    """Where the records go; a path that is not absolute is taken from this file's folder."""

    path: NameText = "rig-log.sqlite"
    """The shot log."""
    recordings: NameText = "recordings"
    """Folder that gets one folder for each shot fired."""
    transcripts: NameText = "transcripts"
    """Folder that gets the bytes of each session's link."""


class Settings(Table):
    """All of `rig.toml`."""

    port: Port = Port()
    camera: Camera = Camera()
    board: Board = Board()
    cannon: Cannon = Cannon()
    game: Game = Game()
    log: Log = Log()
    twin: dict[str, Any] = Field(default_factory=dict)
    """How the twin behaves, and misbehaves; read only where port and camera are `twin`."""
    _name: str = PrivateAttr(_USUAL_NAME)

    @property
    def name(self) -> str:
        """The file that they stand in, for what is said of them."""
        return self._name

    def command(self, name: str, rest: str = "") -> str:
        """Return a command of `rig` as it is typed for this table, which is named where its file is not the usual one.

        Parameters
        ----------
        name
            Of the command, as far as `--settings` stands behind it.
        rest
            What else is typed.

        Examples
        --------
        >>> Settings().command("decide", "12 G-41 stays")
        'rig decide 12 G-41 stays'
        >>> parse_settings("", "table 2.toml").command("judge", "12")
        "rig judge --settings 'table 2.toml' 12"
        """
        table = "" if self._name == _USUAL_NAME else f"--settings {as_typed(self._name)}"
        return " ".join(filter(None, ("rig", name, table, rest)))

    def conflicts(self) -> Iterator[Fault]:
        """Hold one table against another."""
        if (self.port.url == TWIN) != (self.camera.source == TWIN):
            yield Fault(
                "camera.source",
                f"{self.camera.source!r} with port.url {self.port.url!r}",
                "both `twin`, or neither: the twin's camera sees the twin's table only",
                also=("port.url",),
            )
        if self.cannon.traverse.us_per_mm != 0:
            width_mm = BOARD_FILES * self.board.square_mm
            left_mm, right_mm = self.cannon.traverse.ends_mm()
            if left_mm < 0 or right_mm > width_mm:
                yield Fault(
                    "cannon.traverse",
                    f"limits from {left_mm:g} to {right_mm:g} mm along the strip",
                    f"limits inside the board's width, 0 to {width_mm:g} mm (C2)",
                    also=("board.square_mm",),
                )


def parse_settings(text: str, name: str = _USUAL_NAME) -> Settings:
    """Read settings from a text.

    Raises
    ------
    SettingsError
        With everything that is wrong.
    """
    settings = validate(Settings, parse_toml(text, name, SettingsError), name, SettingsError)
    settings._name = name
    return settings


def read_settings(path: Path) -> Settings:
    """Read a settings file; the paths in it are then taken from its folder.

    Raises
    ------
    SettingsError
        With everything that is wrong; also where there is no file.
    """
    text = read_text(path, SettingsError, missing="a settings file; `rig init` writes one")
    settings = parse_settings(text, str(path))
    here = path.parent
    log = settings.log
    placed = {key: str(here / getattr(log, key)) for key in type(log).model_fields}
    changes: dict[str, Table] = {"log": log.model_copy(update=placed)}
    cannon = settings.cannon
    if cannon.calibration is not None:
        changes["cannon"] = cannon.model_copy(update={"calibration": str(here / cannon.calibration)})
    return settings.model_copy(update=changes)
