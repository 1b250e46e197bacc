"""Whether the camera gives what a shot needs: size, rate and exposure of its pictures, and the board in them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from game.montecassino import Side
from rig.camera import Camera, CameraError, Frame, too_few
from rig.counted import counted
from rig.eye import fewest_fps_of, ring_for, scene_of
from rig.health import Finding, Level, room_for_shots, usual_shot_bytes
from rig.link.port import Clock
from rig.recording import picture_bytes, shot_bytes
from rig.settings import TWIN, Settings
from vision.even_times import FEWEST_OF_CLOCK, own_clock
from vision.outside import outside_picture
from vision.registration import NoBoard, only_roughly, register
from vision.steady import typical

__all__ = ["camera_health"]

_PICTURES = 30
_PICTURES_TO_READ = 5
_LONGEST_LOOK_US = 3_000_000
_STEP_US = 20_000
_EXPOSURE_OFF = 0.2  # of what was asked for: a driver has steps
_LONG_EXPOSURE_US = 2_000  # at 10 m/s a shot smears over 20 mm
_RATE_SHARE = 0.9
_RATE_MORE = 1.1
_MEMORY_SHARE = 0.5  # the rest is for the system, and for reading the shot
_MEGABYTE = 1_000_000


def camera_health(
    camera: Camera, clock: Clock, pass_time: Callable[[int], None], settings: Settings
) -> Iterator[Finding]:
    """Look through the camera for a moment: its pictures, their rate, the board and its markers.

    Parameters
    ----------
    camera, clock
        An open camera, and the clock of its pictures.
    pass_time
        Lets that many microseconds go by.
    settings
        What was asked of the camera, and where the markers lie.
    """
    asked = settings.camera
    frames: list[Frame] = []
    begun_us = clock.now_us()
    try:
        while len(frames) < _PICTURES and clock.now_us() - begun_us < _LONGEST_LOOK_US:
            pass_time(_STEP_US)
            frames += camera.poll()
    except CameraError as error:
        yield Finding(Level.FAULT, "camera", str(error), "plug it in; docs/troubleshooting.md")
        return
    if len(frames) < _PICTURES_TO_READ:
        found = f"{counted(len(frames), 'picture')} in {_LONGEST_LOOK_US / 1e6:g} s"
        yield Finding(Level.FAULT, "camera", found, "see to its cable and its rate")
        return
    yield _size(camera, settings)
    yield _rate(camera, frames, settings)
    yield from _pace(frames)
    yield from _exposure(camera, settings)
    if asked.source != TWIN and not asked.delay_us:
        found = "how late its pictures come is not known"
        yield Finding(Level.WARNING, "delay", found, f"after five shots: {settings.command('camera delay')}")
    yield _memory(camera, settings)
    yield from _large_clips(camera, frames[-_PICTURES_TO_READ:], settings)
    yield from _board(typical([frame.image for frame in frames[-_PICTURES_TO_READ:]]), settings)


def _size(camera: Camera, settings: Settings) -> Finding:
    """Hold the size of its pictures against what was asked for."""
    asked = settings.camera
    size, wanted = f"{camera.width_px} x {camera.height_px} px", f"{asked.width_px} x {asked.height_px}"
    if (camera.width_px, camera.height_px) == (asked.width_px, asked.height_px):
        return Finding(Level.OK, "camera", f"{camera.name} opens and gives {size}")
    todo = f"{wanted} was asked for: correct [camera] in {settings.name}"
    return Finding(Level.WARNING, "camera", f"it gives {size}", todo)


def _rate(camera: Camera, frames: Sequence[Frame], settings: Settings) -> Finding:
    """Hold the rate at which pictures came against what the camera says, and what was asked for."""
    asked_fps = settings.camera.fps
    fps = (len(frames) - 1) * 1e6 / max(1, frames[-1].timestamp_us - frames[0].timestamp_us)
    if fps > _RATE_MORE * camera.fps:
        return Finding(
            Level.WARNING,
            "camera rate",
            f"{fps:.0f} pictures a second, and it says that it gives {camera.fps:g}",
            "choose a rate that it keeps to: there may be no room for all pictures of a shot",
        )
    if fps < (fewest_fps := fewest_fps_of(settings)):
        return Finding(
            Level.FAULT,
            "camera rate",
            too_few(fps, fewest_fps),
            "more light, a higher rate, a smaller picture, or a faster connection",
        )
    if fps >= _RATE_SHARE * asked_fps:
        return Finding(Level.OK, "camera rate", f"{fps:.0f} pictures a second")
    return Finding(
        Level.WARNING,
        "camera rate",
        f"{fps:.0f} pictures a second, {asked_fps:g} were asked for",
        "more light, a smaller picture, or a faster connection",
    )


def _pace(frames: Sequence[Frame]) -> Iterator[Finding]:
    """Say how evenly pictures were stamped, where enough of them came to tell."""
    if len(frames) < FEWEST_OF_CLOCK:
        return
    clock = own_clock([frame.timestamp_us for frame in frames])
    if clock is None:
        yield Finding(
            Level.WARNING,
            "camera pace",
            "its pictures come unevenly: when each of them was taken cannot be told",
            "no other program beside the rig, another USB port, a cable instead of a network",
        )
    elif clock.is_even:
        yield Finding(Level.OK, "camera pace", "its pictures come evenly")
    else:
        found = f"its pictures are stamped {clock.wavering_us / 1000:.1f} ms too early or late, which is made good"
        yield Finding(Level.OK, "camera pace", found)


def _exposure(camera: Camera, settings: Settings) -> Iterator[Finding]:
    """Hold the exposure that a camera says it has against what was asked for; where it says nothing, so does this."""
    told_us, asked_us = camera.exposure_us, settings.camera.exposure_us
    if told_us is None:
        return
    if asked_us is not None and abs(told_us - asked_us) > _EXPOSURE_OFF * asked_us:
        yield Finding(
            Level.WARNING,
            "exposure",
            f"{told_us} us, {asked_us} us were asked for",
            "set it with the camera's own program: how long a shot smears tells its speed",
        )
    elif asked_us is None and told_us > _LONG_EXPOSURE_US:
        yield Finding(
            Level.WARNING,
            "exposure",
            f"{told_us} us, as the camera chose: a shot smears over {told_us / 100:.0f} mm",
            f"more light, and camera.exposure_us = 1000 in {settings.name}",
        )
    else:
        yield Finding(Level.OK, "exposure", f"{told_us} us")


def _memory(camera: Camera, settings: Settings) -> Finding:
    """Say what the pictures of a shot take at the most while it is watched."""
    ring = ring_for(camera, settings)
    waiting = f" and {camera.most_waiting} that wait in the camera" if camera.most_waiting else ""
    found = (
        f"a shot's pictures, {ring.most_frames} at the most{waiting}, "
        f"take up to {ring.most_bytes // _MEGABYTE} MB"
    )
    has_bytes = (
        os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        if "SC_PHYS_PAGES" in os.sysconf_names
        else None
    )
    if has_bytes is not None and ring.most_bytes > _MEMORY_SHARE * has_bytes:
        found = f"{found} of {has_bytes // _MEGABYTE} MB"
        return Finding(
            Level.WARNING, "memory", found, "a smaller picture, fewer a second, or a smaller clip_after_s"
        )
    return Finding(Level.OK, "memory", found)


def _large_clips(camera: Camera, frames: Sequence[Frame], settings: Settings) -> Iterator[Finding]:
    """Say for how many shots there is room where the camera's own pictures take more than `disk_health` reckoned with."""
    each = picture_bytes([(frame.timestamp_us, frame.image) for frame in frames], camera.fps)
    needed_bytes = shot_bytes(
        width_px=camera.width_px,
        height_px=camera.height_px,
        fps=camera.fps,
        clip_s=settings.camera.clip_before_s + settings.camera.clip_after_s,
        of_each_picture=each,
    )
    folder = Path(settings.log.recordings)
    if needed_bytes > usual_shot_bytes(settings) and folder.is_dir():
        what = f"a picture as this camera gives it takes {each // 1000} KB"
        yield room_for_shots("recordings", what, folder, needed_bytes, settings)


def _board(picture: NDArray[np.uint8], settings: Settings) -> Iterator[Finding]:
    """Look for the board and its markers."""
    scene = scene_of(settings, side=Side.A, fps=settings.camera.fps, with_uniforms=False)
    view = register(picture, scene)
    if isinstance(view, NoBoard):
        todo = f"see to the markers, the light and [board] in {settings.name}"
        yield Finding(Level.FAULT, "board", view.reason, todo)
        return
    roughly = only_roughly(view, scene)
    if (outside := outside_picture(view, scene)) is not None:
        yield Finding(Level.FAULT, "board", outside, "set it higher or aside, or its lens wider")
    elif roughly is None:
        yield Finding(Level.OK, "board", f"seen, to {view.error_mm:.1f} mm")
    else:
        todo = f"more markers, laid and measured as [board] in {settings.name} says"
        yield Finding(Level.WARNING, "board", roughly, todo)
    missing = sorted({int(name) for name in settings.board.marker_centres_mm} - set(view.markers_used))
    if missing:
        found = f"{', '.join(map(str, missing))} not seen or not where they should lie"
        yield Finding(Level.WARNING, "markers", found, "uncover them, lay them flat")
    else:
        yield Finding(Level.OK, "markers", f"all {len(view.markers_used)} are seen")
