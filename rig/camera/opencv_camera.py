"""Any camera OpenCV opens: a device number, a video file, an HTTP or RTSP stream."""

import re
import threading
from collections import deque
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from rig.camera import usb_device
from rig.camera.errors import CameraGone
from rig.camera.frame import Frame
from rig.film.capture import open_capture
from rig.keys.camera import is_device_number
from rig.link.port import Clock

__all__ = ["GrabbedFrame", "OpenCvCamera"]

_QUEUE_S = 2.0  # what may wait between two polls; analysis of a shot takes about this long
_RATE_US = 1_000_000  # how long a stream is watched to learn its rate
_CLOSE_S = 2.0  # a stream that is silent holds its reader for up to 30 s; nobody need wait for that


@dataclass(frozen=True, slots=True)
class GrabbedFrame:
    """A picture that OpenCV delivered."""

    timestamp_us: int
    image: NDArray[np.uint8]


class OpenCvCamera:
    """A camera read by a thread of its own, so that a slow controller drops no frame that the driver gave.

    When a frame was taken:

    - of a device, when its driver says that it came, where the driver uses this computer's clock (`rig.camera.usb_device`);
    - of a stream, and of any other device, when OpenCV hands it over;
    - of a file, as it is played at its own rate.

    Of the first two, half the exposure is taken off where it is known. What time is left between the exposure and that
    moment is the camera's delay, which `FrameRing` takes off. Times rise from frame to frame.

    Parameters
    ----------
    source
        Device number ("0"), path of a file, or URL.
    clock
        The controller's clock.
    width_px, height_px, fps
        What to ask the device for; what it gives is in the attributes of the same names. A stream's rate is observed.
    exposure_us
        Exposure of one frame, which a device is asked for too; None where it is not known. The attribute of that name is
        what the device says of it itself, None where it says nothing.

    Raises
    ------
    CameraGone
        Where the source does not open or gives no picture.
    """

    def __init__(
        self,
        source: str,
        clock: Clock,
        *,
        width_px: int,
        height_px: int,
        fps: float,
        exposure_us: int | None = None,
    ) -> None:
        self.name = source
        self._clock = clock
        # As asked for: a camera that chooses for itself may choose anew for the next picture.
        self._half_exposed_us = (exposure_us or 0) // 2
        self._is_file = Path(source).is_file()
        if not is_device_number(source) and "://" not in source and not self._is_file:
            raise CameraGone(
                f"camera {source}: {_found_at(Path(source))}; expected a device number, a video file or a URL"
            )
        capture = open_capture(source)
        if not capture.isOpened():
            perhaps = "is it a video?" if self._is_file else "is it connected, and not in use elsewhere?"
            raise CameraGone(f"camera {source}: it does not open ({perhaps})")
        self._is_device = is_device_number(source)
        if self._is_device:
            usb_device.ask(capture, width_px=width_px, height_px=height_px, fps=fps, exposure_us=exposure_us)
        good, first = capture.read()
        if not good:
            capture.release()
            raise CameraGone(f"camera {source}: it opens but gives no picture")
        self._capture = capture
        self.exposure_us = usb_device.exposure_us_of(capture) if self._is_device else None
        self.height_px, self.width_px = first.shape[:2]
        reported_fps = float(capture.get(cv2.CAP_PROP_FPS))
        if "://" in source:
            # Streams report 0 or a made-up 25.
            self.fps, first = self._observed_rate()
        else:
            self.fps = reported_fps if reported_fps > 0 else fps
        self.most_waiting = max(8, int(self.fps * _QUEUE_S)) + 1
        self._frames: deque[Frame] = deque(maxlen=self.most_waiting - 1)  # one more is being read
        self._ended = ""  # why, once it has
        self._closing = threading.Event()
        self._start_us = clock.now_us()
        self._newest_us: int | None = None
        self._keep(0, first)
        self._thread = threading.Thread(target=self._grab, name=f"camera {source}", daemon=True)
        self._thread.start()

    def poll(self) -> list[Frame]:
        """Return every frame since the last poll, oldest first; CameraGone once the source has ended."""
        frames: list[Frame] = []
        while self._frames:
            frames.append(self._frames.popleft())
        if not frames and self._ended:
            raise CameraGone(f"camera {self.name}: {self._ended}")
        return frames

    def close(self) -> None:
        """Stop the thread, which lets the device go; where it waits for a silent one, as soon as that wait is over."""
        self._closing.set()
        self._thread.join(_CLOSE_S)

    def _observed_rate(self) -> tuple[float, NDArray[np.uint8]]:
        """Watch a stream for a while and return its rate, and the last picture, which alone is new then."""
        came_us: list[int] = []
        while len(came_us) < 3 or came_us[-1] - came_us[0] < _RATE_US:
            good, image = self._capture.read()
            if not good:
                self._capture.release()
                raise CameraGone(f"camera {self.name}: it stopped giving pictures as soon as it had begun")
            came_us.append(self._clock.now_us())
        return (len(came_us) - 1) * 1e6 / (came_us[-1] - came_us[0]), image

    def _grab(self) -> None:
        # Only here is the capture let go: OpenCV frees it at once, under a read that another thread is in.
        try:
            self._read_on()
        finally:
            self._capture.release()

    def _read_on(self) -> None:
        index = 1
        while not self._closing.is_set():
            if self._is_file:
                due_us = self._start_us + round(index * 1e6 / self.fps)
                self._closing.wait(max(0, due_us - self._clock.now_us()) / 1e6)
            try:
                good, image = self._capture.read()
            except cv2.error:
                # A JPEG that came damaged, by its head larger than any: it is lost, and the next one comes.
                continue
            if not good:
                self._ended = "it stopped giving pictures (unplugged, or the stream ended)"
                return
            height_px, width_px = image.shape[:2]
            if (width_px, height_px) != (self.width_px, self.height_px):
                # Nothing can be read of a film whose size changes, nor can it be recorded.
                self._ended = (
                    f"its pictures were {self.width_px} x {self.height_px} px and are {width_px} x {height_px} px now "
                    "(turned, or set anew?)"
                )
                return
            self._keep(index, image)
            index += 1

    def _keep(self, index: int, image: NDArray[np.uint8]) -> None:
        if self._is_file:
            timestamp_us = self._start_us + round(index * 1e6 / self.fps)
        else:
            now_us = self._clock.now_us()
            stamped_us = usb_device.stamped_us(self._capture, now_us) if self._is_device else None
            timestamp_us = (now_us if stamped_us is None else stamped_us) - self._half_exposed_us
            if self._newest_us is not None and timestamp_us <= self._newest_us:
                # The driver's time of the frame before was too old to be believed, so that one was stamped as it was handed
                # over; this one's is believed, and lies before it. Nobody can tell when either was taken: it counts as lost.
                return
            self._newest_us = timestamp_us
        self._frames.append(GrabbedFrame(timestamp_us, image))


def _found_at(path: Path) -> str:
    """Say what there is in the place of a video file."""
    if path.is_dir():
        return "it is a folder"
    if device := re.fullmatch(r"/dev/video(\d+)", str(path)):
        return f"a device is named by its number alone, {device[1]}"
    return "it is a device or a pipe" if path.exists() else "there is no such file"
