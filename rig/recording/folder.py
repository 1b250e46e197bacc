"""A recording's folder: recording.json read and checked; the clip is looked at only when asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from game.montecassino import Option, Position, Square, parse_squares
from rig.files.checked_file import Fault, parse_json, read_text, refuse_other_format, validate
from rig.recording.errors import RecordingError, held, kind_of
from rig.recording.keys import FORMAT, Keys
from vision.even_times import evened
from vision.scene import MarkerMap, Scene

__all__ = ["KEYS_NAME", "Recording", "read_recording", "refuse_recorded"]

KEYS_NAME = "recording.json"
"""Its name in every folder."""


@dataclass(frozen=True, slots=True)
class Recording:
    """A recording whose recording.json is sound; the clip is looked at only when asked for."""

    keys: Keys

    @property
    def clip(self) -> str:
        """Name of the video, or `frames`."""
        return self.keys.clip

    @property
    def timestamps_us(self) -> tuple[int, ...]:
        """Time of each picture at mid-exposure, on the camera's clock, as it was stamped."""
        return self.keys.timestamps_us

    @property
    def taken_us(self) -> tuple[int, ...]:
        """When each picture was taken, as vision reads them: the same, but where the stamps waver."""
        return evened(self.timestamps_us)

    @property
    def incomplete(self) -> str:
        """Why the pictures end before all was at rest; empty where they do not, or nobody said so."""
        return self.keys.incomplete

    @property
    def option(self) -> Option:
        """The agreed casualty option."""
        return self.keys.option

    @property
    def position(self) -> Position | None:
        """The position before the shot, where it was written down."""
        return None if self.keys.position is None else Position.parse(self.keys.position)

    @property
    def zone(self) -> tuple[Square, ...]:
        """The agreed artillery zone."""
        return parse_squares(self.keys.zone)

    @property
    def scene(self) -> Scene:
        """What is known beforehand, as vision takes it."""
        camera, board, cannon = self.keys.camera, self.keys.board, self.keys.cannon
        markers = board.markers
        position = self.position
        return Scene(
            square_mm=board.square_mm,
            cannon_side=cannon.side,
            fps=camera.fps,
            markers=None
            if markers is None
            else MarkerMap(
                dictionary=markers.dictionary,
                size_mm=markers.size_mm,
                centres_mm={int(name): centre for name, centre in markers.centres_mm.items()},
            ),
            corners_px=board.corners_px,
            intrinsics=camera.intrinsics,
            distortion=camera.distortion,
            muzzle_mm=cannon.muzzle_mm,
            expected=None if position is None else position.soldiers,
            exposure_us=camera.exposure_us,
            readout_us=camera.readout_us,
            fire_us=self.keys.fire_us,
        )


def read_recording(folder: Path) -> Recording:
    """Read recording.json of a folder.

    Raises
    ------
    RecordingError
        Where it is missing, is no JSON, or has a missing or wrong key.
    """
    path = folder / KEYS_NAME
    try:
        path.exists()
    except OSError as bad:  # as one that must not be looked into
        raise RecordingError(path, [Fault("the file", str(bad.strerror), "a file that can be read")]) from bad
    if not folder.is_dir():
        raise RecordingError(folder, [Fault("the folder", kind_of(folder), "a folder with recording.json")])
    if not path.exists() and not path.is_symlink():
        expected = f"{KEYS_NAME} in it, or the name of a folder that has one"
        raise RecordingError(folder, [Fault("the folder", f"no recording, {held(folder)}", expected)])
    if path.exists() and not path.is_file():  # to read a pipe would wait for whoever writes into it
        raise RecordingError(path, [Fault("the file", kind_of(path), "a JSON file")])
    text = read_text(path, RecordingError, missing="a JSON file")
    data = parse_json(text, str(path), RecordingError, expected="a JSON object")
    refuse_other_format(data, str(path), FORMAT, RecordingError)
    return Recording(validate(Keys, data, str(path), RecordingError))


def refuse_recorded(folder: Path, *, hint: str = "") -> None:
    """Raise RecordingError, with a hint to whoever meant to write there, where a folder holds a recording: none is overwritten."""
    path = folder / KEYS_NAME
    if path.exists():
        raise RecordingError(
            str(path),
            [Fault("the file", "a recording", "none; a recording is never overwritten", hint=hint)],
        )
