"""One shot as the camera saw it, in one folder: recording.json, the clip, and on the twin the truth.

The format is "shot-recording/1" (docs/recording.md). The clip is any video OpenCV opens, or a folder of PNG pictures.
"""

import hashlib
import io
import json
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

import av
import cv2
import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, ConfigDict, Field, field_validator

from game.montecassino import BOARD_FILES, BOARD_ROWS, Option, Position, Side, Square, parse_squares
from rig.counted import counted
from rig.files.checked_file import (
    Fault,
    FaultyFile,
    JsonObject,
    parse_json,
    read_text,
    refuse_other_format,
    validate,
)
from rig.files.one_line import on_one_line
from rig.files.whole_file import to_disk, write_whole
from rig.film.capture import as_file, open_capture
from rig.film.deep_pictures import bits_of, in_eight_bits
from rig.film.faults import fault_of_film
from rig.film.free_memory import free_memory_bytes
from rig.film.quiet_decoders import quiet_decoders
from rig.keys.camera import DelayUs, ExposureUs, Intrinsics, LensTerms, lens_conflicts
from rig.keys.markers import MARKERS_OF, MarkerSizeMm, PlaceMm, marker_conflicts
from rig.keys.notation import PositionText, TableSquaresText
from vision.hung import repeats
from vision.scene import MarkerMap, Scene

__all__ = [
    "BESIDE_BYTES",
    "KEYS_NAME",
    "Keys",
    "Recording",
    "RecordingError",
    "ShotKeys",
    "picture_bytes",
    "read_all_frames",
    "read_frames",
    "read_recording",
    "recording_of",
    "refuse_faulty_film",
    "refuse_full_disk",
    "refuse_recorded",
    "shot_bytes",
    "write_recording",
]

FORMAT = "shot-recording/1"
BESIDE_BYTES = 2_000_000
"""Room that a shot takes on the disk beside its clip: its sheet, its row in the log and its part of the transcript."""
_LEAST_BOARD_PX2 = 1000.0  # smaller, and no soldier could be seen on it
_MOST_NAMES = 3  # told of what else is in a folder
_MOST_FAULTS = 4  # told of a recording.json, which stays one line
_FRAMES_FOLDER = "frames"
_LONGEST_NAME_BYTES = 255  # no file system has longer ones
KEYS_NAME = "recording.json"
_CLIP_NAME = "clip.mkv"
# The slower presets smooth: of the same size, they keep less of the shot's streak. Here it keeps its contrast to 1 to 2
# grey levels. A picture of 720p takes 8 to 65 KB, as grainy as the camera is;
# a noise of 4 grey levels makes it 120, of 8 230.
_ENCODER = {"crf": "14", "preset": "ultrafast"}
_MOST_BYTES_PER_PX = 65_000 / (1280 * 720)
_CLIP_CLOCK = Fraction(1, 1_000_000)
_NO_COLOUR = 3  # grey levels between the colours

_MOST_LONGER = 1.1  # than its picture an exposure may be: what a camera is called is not what it does to the last per cent
_MUZZLE_AROUND_MM = 1500.0  # beyond the board's edges; strip, carriage and barrel stay well within
_MOST_OVER_MM = 500.0  # past the edge of its side's first line: no barrel is longer
_MUZZLE_BELOW_MM, _MUZZLE_ABOVE_MM = 100.0, 1000.0  # the board; as high as a pivot may be and a barrel long

# OpenCV knows some by two names.
_OTHER_CASE = {name.replace("h", "H"): name for name in MARKERS_OF}

Px = Annotated[float, Field(ge=-100_000, le=100_000)]
PointPx = tuple[Px, Px]
TimeUs = Annotated[int, Field(ge=-9_000_000_000_000_000, le=9_000_000_000_000_000)]  # 285 years either way


def _clip_name(text: str) -> str:
    if (
        not text
        or set(text) & set("/\\\0")
        or len(text.encode("utf-8", "surrogatepass")) > _LONGEST_NAME_BYTES
    ):
        raise ValueError("the name of a video beside this file, or frames")
    return text


def _sha256(text: str) -> str:
    if not re.fullmatch("[0-9a-f]{64}", text):
        raise ValueError("64 digits from 0 to f, small letters")
    return text


class RecordingError(FaultyFile):
    """A recording that cannot be used; the text, always one line, names the file, the key, what was found and expected.

    Parameters
    ----------
    path
        The file.
    what
        What is wrong: faults of its keys, or one sentence about its pictures.
    """

    def __init__(self, path: Path | str, what: str | Iterable[Fault]) -> None:
        # Of many recordings each gets its line: the faults are told in it, and none is left to be told beside it.
        self.name, self.faults = on_one_line(path), ()
        Exception.__init__(
            self, f"{self.name}: {what if isinstance(what, str) else _told_in_it(tuple(what))}"
        )


def _told_in_it(faults: Sequence[Fault]) -> str:
    told = "; and ".join(map(str, faults[:_MOST_FAULTS]))
    more = len(faults) - _MOST_FAULTS
    return f"{told}; and {more} more fault{'s' if more > 1 else ''}" if more > 0 else told


class _Keys(JsonObject):
    # A key that nobody knows is kept and ignored, so that others may add their own.
    model_config = ConfigDict(extra="allow")


class CameraKeys(_Keys):
    """The camera."""

    width: Annotated[int, Field(ge=16, le=16_384)]
    height: Annotated[int, Field(ge=16, le=16_384)]
    fps: Annotated[float, Field(gt=0, le=10_000)]
    exposure_us: ExposureUs | None
    intrinsics: Intrinsics | None
    distortion: LensTerms | None
    delay_us: DelayUs = 0
    """What was taken off the times of the pictures as the camera stamped them, so that they are those of mid-exposure."""

    def conflicts(self) -> Iterator[Fault]:
        """Hold the exposure against the pace of the pictures, and the lens against their size."""
        picture_us = 1e6 / self.fps
        if self.exposure_us is not None and self.exposure_us > _MOST_LONGER * picture_us:
            yield Fault(
                "exposure_us",
                str(self.exposure_us),
                f"at most {picture_us:.0f}: of {self.fps:g} pictures a second none is exposed for longer",
                also=("fps",),
            )
        yield from lens_conflicts(
            "intrinsics",
            self.intrinsics,
            self.distortion,
            sides=("width", "height"),
            size_px=(self.width, self.height),
        )


class MarkerKeys(_Keys):
    """ArUco markers on the table."""

    dictionary: str
    size_mm: MarkerSizeMm
    centres_mm: Annotated[dict[str, tuple[PlaceMm, PlaceMm]], Field(min_length=1)]

    @field_validator("dictionary")
    @classmethod
    def _is_known(cls, name: str) -> str:
        name = _OTHER_CASE.get(name, name)
        if name not in MARKERS_OF:
            raise ValueError("a dictionary that OpenCV knows, as DICT_4X4_50")
        return name

    def conflicts(self) -> Iterator[Fault]:
        """Ask for numbered markers, none on another."""
        yield from marker_conflicts(
            "centres_mm",
            self.centres_mm,
            size="size_mm",
            size_mm=self.size_mm,
            dictionary_key="dictionary",
            dictionary=self.dictionary,
        )


class BoardKeys(_Keys):
    """The board."""

    square_mm: Annotated[float, Field(ge=5, le=1_000)]
    markers: MarkerKeys | None
    corners_px: tuple[PointPx, PointPx, PointPx, PointPx] | None

    @field_validator("corners_px")
    @classmethod
    def _span_a_board(cls, corners: tuple[PointPx, ...] | None) -> tuple[PointPx, ...] | None:
        if corners is not None:
            outline = np.array(corners, dtype=np.float32)
            if not cv2.isContourConvex(outline) or cv2.contourArea(outline) < _LEAST_BOARD_PX2:
                raise ValueError("four corners of a board, in order round it")
        return corners


class CannonKeys(_Keys):
    """Who fires, and from where."""

    side: Side
    muzzle_mm: tuple[float, float, float] | None


class ShotKeys(_Keys):
    """Which shot of a log it is."""

    number: Annotated[int, Field(ge=1)]
    session: Annotated[int, Field(ge=1)]
    session_began_utc_us: TimeUs

    def __str__(self) -> str:
        began = datetime.fromtimestamp(self.session_began_utc_us / 1e6, tz=UTC)
        return f"{self.number} of session {self.session}, begun {began:%Y-%m-%d %H:%M:%S} UTC"


class Keys(_Keys):
    """All of recording.json."""

    format: Literal["shot-recording/1"]
    camera: CameraKeys
    clip: Annotated[str, AfterValidator(_clip_name)]
    timestamps_us: Annotated[tuple[TimeUs, ...], Field(min_length=2)]
    fire_us: TimeUs | None
    board: BoardKeys
    cannon: CannonKeys
    position: PositionText | None
    zone: TableSquaresText
    option: Option
    incomplete: str = ""
    """Why the pictures end before all was at rest; empty where they do not."""
    clip_sha256: Annotated[str, AfterValidator(_sha256)] | None = None
    """Of the video as it was recorded; None where nobody took it."""
    shot: ShotKeys | None = None
    """Which shot of the rig's log it is; None where nobody said so."""
    repeated_us: tuple[TimeUs, ...] = ()
    """Times of the pictures that were the one before, to the last bit, when the camera gave them; the film's differ a little."""

    def conflicts(self) -> Iterator[Fault]:
        """Ask for repeated pictures that are of the film, and for a muzzle at its side's end of the board."""
        strange = sorted(set(self.repeated_us).difference(self.timestamps_us))
        if strange:
            more = f" and {len(strange) - 1} more" if len(strange) > 1 else ""
            yield Fault(
                "repeated_us", f"{strange[0]}{more}", "times of timestamps_us", also=("timestamps_us",)
            )
        muzzle_mm, side = self.cannon.muzzle_mm, self.cannon.side
        if muzzle_mm is None:
            return
        length_mm = BOARD_ROWS * self.board.square_mm
        over_mm = min(length_mm / 2, _MOST_OVER_MM)
        own_mm = (-_MUZZLE_AROUND_MM, over_mm)
        if side is Side.G:
            own_mm = (length_mm - over_mm, length_mm + _MUZZLE_AROUND_MM)
        room_mm = {
            "x": (-_MUZZLE_AROUND_MM, BOARD_FILES * self.board.square_mm + _MUZZLE_AROUND_MM),
            "y": own_mm,
            "z": (-_MUZZLE_BELOW_MM, _MUZZLE_ABOVE_MM),
        }
        for (axis, (least_mm, most_mm)), at_mm in zip(room_mm.items(), muzzle_mm, strict=True):
            if not least_mm <= at_mm <= most_mm:
                yield Fault(
                    "cannon.muzzle_mm",
                    f"{axis} {at_mm:g}",
                    f"a muzzle at the end of {side}, with {axis} from {least_mm:g} to {most_mm:g}",
                    also=("cannon.side", "board.square_mm"),
                )

    @field_validator("timestamps_us")
    @classmethod
    def _rise(cls, times: tuple[int, ...]) -> tuple[int, ...]:
        for k in range(1, len(times)):
            if times[k] <= times[k - 1]:
                raise ValueError(f"rising times; number {k + 1} is {times[k]} after {times[k - 1]}")
        return times


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
        """Time of each picture at mid-exposure, on the camera's clock."""
        return self.keys.timestamps_us

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
            fire_us=self.keys.fire_us,
        )


def read_frames(folder: Path, recording: Recording) -> Iterator[NDArray[np.uint8]]:
    """Decode the clip, picture by picture: (height, width, 3) BGR, or (height, width) where its first has no colours.

    A picture that the camera gave twice comes twice, to the last bit, though the film has it a little otherwise.

    Raises
    ------
    RecordingError
        Where the clip is missing or damaged, has another size than `camera` says, or more or fewer pictures than
        `timestamps_us`; after the last picture, where it is not the one that was recorded, or a decoder tells a fault of it.
    """
    path = folder / recording.clip
    due = len(recording.timestamps_us)
    size = (recording.keys.camera.width, recording.keys.camera.height)
    repeated_us = frozenset(recording.keys.repeated_us)
    last: NDArray[np.uint8] | None = None
    count, grey = 0, False
    for picture in _pictures(path):
        if not count:
            grey = picture.ndim == 2 or _is_grey(picture)
        elif picture.ndim == 2 and not grey:
            raise RecordingError(
                path,
                f"picture {count + 1} is grey, expected coloured ones as picture 1 is: are all of one film?",
            )
        found = (picture.shape[1], picture.shape[0])
        if found != size:
            raise RecordingError(
                path,
                f"picture {count + 1} is {found[0]} x {found[1]} px, expected {size[0]} x {size[1]} px as camera says",
            )
        count += 1
        if count > due:
            raise RecordingError(path, f"more than {due} pictures, expected one for each of timestamps_us")
        if last is None or recording.timestamps_us[count - 1] not in repeated_us:
            last = np.ascontiguousarray(picture[..., 1]) if grey and picture.ndim == 3 else picture
        yield last
    if count < due:
        raise RecordingError(
            path,
            f"the clip ends after {counted(count, 'picture')}, expected {due}, one for each of timestamps_us",
        )
    refuse_faulty_film(folder, recording)


def refuse_faulty_film(folder: Path, recording: Recording) -> None:
    """Raise RecordingError where the clip is not the one that was recorded, or a decoder tells a fault of it."""
    path = folder / recording.clip
    if not path.is_file():
        return
    # A decoder mends what is wrong inside a picture as well as it can, and OpenCV says nothing.
    recorded = recording.keys.clip_sha256
    if recorded is None:
        if (fault := fault_of_film(path)) is not None:
            raise RecordingError(path, fault)
    elif _digest(path) != recorded:
        raise RecordingError(
            path,
            f"not the clip that was recorded: its SHA-256 begins {_digest(path)[:12]}, expected {recorded[:12]} as "
            f"clip_sha256 of {KEYS_NAME} says; it was damaged, or somebody changed it",
        )


def read_all_frames(folder: Path, recording: Recording) -> list[NDArray[np.uint8]]:
    """Decode the whole clip into memory, as `read_frames`.

    Raises
    ------
    RecordingError
        As for `read_frames`, and where its pictures take more memory than is free.
    """
    frames: list[NDArray[np.uint8]] = []
    for picture in read_frames(folder, recording):
        if not frames:
            _refuse_full_memory(folder / recording.clip, len(recording.timestamps_us), picture)
        frames.append(picture)
    return frames


def _refuse_full_memory(path: Path, count: int, picture: NDArray[np.uint8]) -> None:
    needed, free = count * picture.nbytes, free_memory_bytes()
    if free is not None and needed > free:
        raise RecordingError(
            path,
            f"its {count} pictures take {needed / 1e9:.1f} GB of memory, and {free / 1e9:.1f} GB are free: "
            "cut the film, and timestamps_us, to a second before the shot until nothing moves any more",
        )


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _is_grey(picture: NDArray[np.uint8]) -> bool:
    """Whether a decoded picture is one of a grey camera: decoders leave a few levels between the colours of such."""
    blue, green, red = cv2.split(picture)
    return max(float(cv2.absdiff(green, other).max()) for other in (blue, red)) <= _NO_COLOUR


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
        raise RecordingError(folder, [Fault("the folder", _kind(folder), "a folder with recording.json")])
    if not path.exists() and not path.is_symlink():
        expected = f"{KEYS_NAME} in it, or the name of a folder that has one"
        raise RecordingError(folder, [Fault("the folder", f"no recording, {_held(folder)}", expected)])
    if path.exists() and not path.is_file():  # to read a pipe would wait for whoever writes into it
        raise RecordingError(path, [Fault("the file", _kind(path), "a JSON file")])
    text = read_text(path, RecordingError, missing="a JSON file")
    data = parse_json(text, str(path), RecordingError, expected="a JSON object")
    refuse_other_format(data, str(path), FORMAT, RecordingError)
    return Recording(validate(Keys, data, str(path), RecordingError))


def _kind(path: Path) -> str:
    """Say what there is in the place of something else."""
    if path.is_dir():
        return "a folder"
    if path.is_file():
        return "a file"
    return "a device or a pipe" if path.exists() else "nothing"


def _held(folder: Path) -> str:
    """Say what there is in a folder in which something else was looked for."""
    try:
        names = sorted(entry.name for entry in folder.iterdir())
    except OSError as bad:
        return f"and it cannot be looked into ({bad.strerror})"
    if not names:
        return "and nothing else either"
    more = len(names) - _MOST_NAMES
    return f"but {', '.join(map(repr, names[:_MOST_NAMES]))}{f' and {more} more' if more > 0 else ''}"


def refuse_recorded(folder: Path, *, hint: str = "") -> None:
    """Raise RecordingError, with a hint to whoever meant to write there, where a folder holds a recording: none is overwritten."""
    path = folder / KEYS_NAME
    if path.exists():
        raise RecordingError(
            str(path),
            [Fault("the file", "a recording", "none; a recording is never overwritten", hint=hint)],
        )


def picture_bytes(frames: Sequence[tuple[int, NDArray[np.uint8]]], fps: float) -> int:
    """Return the room that each of such pictures takes in a clip.

    Told by a few it is rather too much: the first takes the most.

    Parameters
    ----------
    frames, fps
        As `write_recording` takes them; one at least.
    """
    clip = io.BytesIO()
    _encode(clip, frames, fps)
    return clip.getbuffer().nbytes // len(frames)


def shot_bytes(*, width_px: int, height_px: int, fps: float, clip_s: float, of_each_picture: int = 0) -> int:
    """Return the room that a shot takes on the disk of its recording at the most, with what lies beside its clip.

    Parameters
    ----------
    width_px, height_px, fps, clip_s
        Of the camera, and of the clip.
    of_each_picture
        Bytes, as `picture_bytes` tells them: a grainy camera's take more than is otherwise reckoned with.

    Examples
    --------
    >>> round(shot_bytes(width_px=1280, height_px=720, fps=120, clip_s=2.3) / 1e6)
    20
    """
    each = max(of_each_picture, _MOST_BYTES_PER_PX * width_px * height_px)
    return BESIDE_BYTES + round(each * fps * clip_s)


def refuse_full_disk(folder: Path, needed_bytes: int) -> None:
    """Raise RecordingError where the disk of a folder, made or not yet, has less room than a shot takes there."""
    there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    free = shutil.disk_usage(there).free
    if free < needed_bytes:
        raise RecordingError(
            folder,
            f"its disk has {free / 1e6:.1f} MB left, and a shot takes up to {needed_bytes / 1e6:.0f} MB; make room",
        )


def recording_of(folder: Path, keys: Mapping[str, Any], timestamps_us: Sequence[int]) -> Recording:
    """Return the recording that `write_recording` would write into a folder; nothing is written."""
    whole = _whole_keys(keys, timestamps_us)
    return Recording(validate(Keys, whole, str(folder / KEYS_NAME), RecordingError))


def write_recording(
    folder: Path, keys: Mapping[str, Any], frames: Sequence[tuple[int, NDArray[np.uint8]]]
) -> Recording:
    """Write a recording: the clip first, recording.json last, so that a folder with one is whole. On return it is on the disk.

    Parameters
    ----------
    folder
        Made where it is not there; must not hold a recording yet.
    keys
        recording.json without `format`, `clip`, `timestamps_us` and `repeated_us`.
    frames
        Time in us and picture (height, width, 3) BGR or (height, width), oldest first.

    Raises
    ------
    RecordingError
        Where the folder holds a recording, keys or pictures are not as they must be, or the disk does not take them:
        nothing of it is left there then.
    """
    refuse_recorded(folder)
    path = folder / KEYS_NAME
    whole = _whole_keys(keys, [timestamp_us for timestamp_us, _ in frames])
    repeated_us = [now_us for (_, before), (now_us, now) in pairwise(frames) if repeats(before, now)]
    if repeated_us:
        whole["repeated_us"] = repeated_us
    checked = validate(Keys, whole, str(path), RecordingError)
    for index, (_, picture) in enumerate(frames):
        if picture.shape[:2] != (checked.camera.height, checked.camera.width):
            raise RecordingError(
                folder,
                f"picture {index + 1} is {picture.shape[1]} x {picture.shape[0]} px, "
                f"expected {checked.camera.width} x {checked.camera.height} px as camera says",
            )
    clip = folder / _CLIP_NAME
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _encode(clip, frames, checked.camera.fps)
        to_disk(clip)
        whole["clip_sha256"] = _digest(clip)
        write_whole(path, json.dumps(whole, indent=1) + "\n")
    except (OSError, av.error.FFmpegError) as bad:
        with suppress(OSError):
            clip.unlink()  # half a clip is none, and takes the room that was wanting
        raise RecordingError(folder, f"cannot be written: {bad.strerror}") from bad
    return Recording(checked.model_copy(update={"clip_sha256": whole["clip_sha256"]}))


def _whole_keys(keys: Mapping[str, Any], timestamps_us: Sequence[int]) -> dict[str, Any]:
    return {"format": FORMAT, **keys, "clip": _CLIP_NAME, "timestamps_us": list(timestamps_us)}


def _pictures(path: Path) -> Iterator[NDArray[np.uint8]]:
    if any("\ud800" <= sign <= "\udfff" for sign in str(path)):
        # So Python keeps the bytes of a name that are no UTF-8, and OpenCV crashes on them.
        found = f"{str(path)!a}, which is not UTF-8"
        raise RecordingError(
            path, [Fault("its name", found, "one that is; give file or folder another name")]
        )
    if path.name == _FRAMES_FOLDER and path.is_dir():
        files = sorted(path.glob("*.png"))
        if not files:
            raise RecordingError(
                path,
                [Fault("the folder", f"no PNG picture, {_held(path)}", "000000.png, 000001.png, ...")],
            )
        for file in files:
            if not re.fullmatch(r"[0-9]{6,}\.png", file.name):
                raise RecordingError(
                    file, "is none of the pictures 000000.png, 000001.png, ...: take it out of the folder"
                )
        bits: int | None = None
        for index, file in enumerate(files):
            if file.name != f"{index:06d}.png":
                raise RecordingError(file, f"found in the place of {index:06d}.png, which is missing")
            picture = _still(file)
            if picture.dtype != np.uint8 and bits is None:
                bits = bits_of(map(_still, files[index:]))
            yield in_eight_bits(picture, bits or 8)
        return
    if not path.is_file():
        raise RecordingError(
            path, [Fault("the clip", _kind(path), "a video, or a folder `frames` of PNG pictures")]
        )
    try:
        path.open("rb").close()
    except OSError as bad:
        raise RecordingError(
            path, [Fault("the clip", str(bad.strerror), "a video that can be read")]
        ) from bad
    capture = open_capture(str(path))
    try:
        if not capture.isOpened():
            raise RecordingError(str(path), [Fault("the clip", "no video", "a video that OpenCV opens")])
        while True:
            good, picture = capture.read()
            if not good:
                return
            yield np.asarray(picture, dtype=np.uint8)
    finally:
        capture.release()


def _still(file: Path) -> NDArray[np.uint8] | NDArray[np.uint16]:
    """Read one of the pictures of a folder: (height, width, 3) BGR, or (height, width) where it is stored grey."""
    if not file.is_file():  # to read a pipe would wait for whoever writes into it
        raise RecordingError(file, [Fault("the file", _kind(file), "a PNG picture")])
    with quiet_decoders():
        picture = cv2.imread(str(file), cv2.IMREAD_ANYCOLOR | cv2.IMREAD_ANYDEPTH)
    if picture is None:
        raise RecordingError(str(file), [Fault("the file", "no picture", "a PNG picture")])
    if picture.dtype == np.uint16:
        return np.asarray(picture, dtype=np.uint16)
    return np.asarray(picture, dtype=np.uint8)


def _encode(clip: Path | io.BytesIO, frames: Sequence[tuple[int, NDArray[np.uint8]]], fps: float) -> None:
    first_us, first = frames[0]
    to = as_file(clip) if isinstance(clip, Path) else clip
    with av.open(to, "w", format="matroska") as container:
        stream = container.add_stream("libx264", rate=Fraction(fps).limit_denominator(1000), options=_ENCODER)
        stream.height, stream.width = first.shape[:2]
        stream.pix_fmt = "yuv420p" if _has_even_sides(first) else "yuv444p"
        stream.time_base = stream.codec_context.time_base = _CLIP_CLOCK
        for timestamp_us, picture in frames:
            frame = _as_encoded(picture)
            frame.pts = timestamp_us - first_us
            frame.time_base = _CLIP_CLOCK
            container.mux(stream.encode(frame))
        container.mux(stream.encode())


def _has_even_sides(picture: NDArray[np.uint8]) -> bool:
    """Whether there can be colour at half the resolution."""
    return not any(side % 2 for side in picture.shape[:2])


def _as_encoded(picture: NDArray[np.uint8]) -> av.VideoFrame:
    """Give a picture in the encoder's colours, those of four pixels averaged.

    The encoder's library cuts off where OpenCV rounds: grey 128 would come back as (123, 126, 124), and takes it longer.
    """
    if not _has_even_sides(picture):
        return av.VideoFrame.from_ndarray(picture, format="gray" if picture.ndim == 2 else "bgr24")
    height, width = picture.shape[:2]
    if picture.ndim == 2:
        picture = np.asarray(cv2.cvtColor(picture, cv2.COLOR_GRAY2BGR), dtype=np.uint8)
    # OpenCV takes the colour of every other pixel, so each of four is given the mean of them.
    few = cv2.resize(picture, (width // 2, height // 2), interpolation=cv2.INTER_AREA)
    mean = cv2.resize(few, (width, height), interpolation=cv2.INTER_NEAREST)
    planes, colours = (cv2.cvtColor(each, cv2.COLOR_BGR2YUV_I420) for each in (picture, mean))
    planes[height:] = colours[height:]
    return av.VideoFrame.from_ndarray(planes, format="yuv420p")
