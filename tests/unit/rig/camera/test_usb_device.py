"""A camera at the computer: asked so that it gives what the settings say, its times those of its driver where there are any."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from rig.camera import CameraGone, Frame, OpenCvCamera
from rig.link import WallClock

JPEG = cv2.VideoWriter.fourcc(*"MJPG")
RAW = cv2.VideoWriter.fourcc(*"YUYV")


class Device:
    """OpenCV's capture of a USB camera, as Video4Linux has it: rates that go with format and size, controls, times of the kernel.

    There is none where tests run; what it keeps to stands in OpenCV's cap_v4l.cpp and the kernel's V4L2 documentation.
    """

    def __init__(
        self,
        *,
        backend: str = "V4L2",
        raw_fps: float = 10.0,
        has_jpeg: bool = True,
        arrived_ago_us: float = 6_000.0,
        takes_exposure: bool = True,
    ) -> None:
        self._backend, self._raw_fps, self._has_jpeg = backend, raw_fps, has_jpeg
        self.arrived_ago_us, self._takes_exposure = arrived_ago_us, takes_exposure
        self._format, self._wanted_fps = RAW, 30.0
        self._size = {cv2.CAP_PROP_FRAME_WIDTH: 640.0, cv2.CAP_PROP_FRAME_HEIGHT: 480.0}
        self.controls = {cv2.CAP_PROP_AUTO_EXPOSURE: 3.0, cv2.CAP_PROP_EXPOSURE: 83.0}
        self._unplugged = False

    def isOpened(self) -> bool:  # noqa: N802 - OpenCV's name
        return True

    def getBackendName(self) -> str:  # noqa: N802 - OpenCV's name
        return self._backend

    def set(self, prop: int, value: float) -> bool:
        if prop == cv2.CAP_PROP_FOURCC:
            if value == JPEG and not self._has_jpeg:
                return False
            self._format = int(value)
        elif prop == cv2.CAP_PROP_FPS:
            self._wanted_fps = value
        elif prop in self._size:
            self._size[prop] = value
        elif prop in self.controls and self._takes_exposure:
            self.controls[prop] = value
        else:
            return False
        return True

    def get(self, prop: int) -> float:
        if prop == cv2.CAP_PROP_FPS:
            is_large = self._size[cv2.CAP_PROP_FRAME_HEIGHT] > 480
            most = 120.0 if self._format == JPEG else self._raw_fps if is_large else 60.0
            return min(self._wanted_fps, most)
        if prop == cv2.CAP_PROP_POS_MSEC:
            return (time.monotonic_ns() / 1000 - self.arrived_ago_us) / 1000
        return {**self._size, **self.controls}.get(prop, -1.0)

    def read(self) -> tuple[bool, NDArray[np.uint8] | None]:
        if self._unplugged:
            return False, None
        width, height = (int(side) for side in self._size.values())
        time.sleep(0.002)
        return True, np.zeros((height, width, 3), np.uint8)

    def unplug(self) -> None:
        self._unplugged = True

    def release(self) -> None:
        pass


@contextmanager
def camera_at(
    monkeypatch: pytest.MonkeyPatch, device: Device, exposure_us: int | None = None
) -> Iterator[OpenCvCamera]:
    monkeypatch.setattr("rig.camera.opencv_camera.open_capture", lambda source: device)
    camera = OpenCvCamera("0", WallClock(), width_px=1280, height_px=720, fps=120.0, exposure_us=exposure_us)
    try:
        yield camera
    finally:
        camera.close()


def ages_us(camera: OpenCvCamera) -> list[int]:
    """How old frames are when they are fetched, as their times have it."""
    ages: list[int] = []
    while len(ages) < 5:
        frames: list[Frame] = camera.poll()
        ages += [WallClock().now_us() - frame.timestamp_us for frame in frames]
        time.sleep(0.003)
    return ages


def test_pictures_that_come_too_slowly_raw_are_asked_for_as_jpeg(monkeypatch: pytest.MonkeyPatch) -> None:
    with camera_at(monkeypatch, Device()) as camera:
        assert (camera.width_px, camera.height_px, camera.fps) == (1280, 720, 120.0)


def test_raw_pictures_that_come_fast_enough_are_taken_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    device = Device(raw_fps=120.0)
    with camera_at(monkeypatch, device) as camera:
        assert camera.fps == 120.0
        assert device._format == RAW


def test_a_device_without_jpeg_says_how_fast_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    with camera_at(monkeypatch, Device(has_jpeg=False)) as camera:
        assert (camera.width_px, camera.height_px, camera.fps) == (1280, 720, 10.0)


def test_an_exposure_that_was_told_is_set_by_hand_in_the_drivers_units(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    device = Device()
    with camera_at(monkeypatch, device, exposure_us=1000) as camera:
        assert device.controls == {cv2.CAP_PROP_AUTO_EXPOSURE: 1, cv2.CAP_PROP_EXPOSURE: 10}
        assert camera.exposure_us == 1000


def test_without_one_the_device_chooses_and_says_what(monkeypatch: pytest.MonkeyPatch) -> None:
    device = Device()
    with camera_at(monkeypatch, device) as camera:
        assert device.controls[cv2.CAP_PROP_AUTO_EXPOSURE] == 3
        assert camera.exposure_us == 8300


def test_what_a_device_does_not_take_it_does_not_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    with camera_at(monkeypatch, Device(takes_exposure=False), exposure_us=1000) as camera:
        assert camera.exposure_us == 8300


def test_elsewhere_than_on_linux_exposures_and_times_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    device = Device(backend="MSMF", arrived_ago_us=400_000.0)
    with camera_at(monkeypatch, device, exposure_us=1000) as camera:
        assert camera.exposure_us is None
        assert device.controls[cv2.CAP_PROP_EXPOSURE] == 83
        assert min(ages_us(camera)) < 200_000


def test_a_frame_has_the_kernels_time_less_half_its_exposure(monkeypatch: pytest.MonkeyPatch) -> None:
    with camera_at(monkeypatch, Device(arrived_ago_us=300_000.0), exposure_us=2000) as camera:
        assert min(ages_us(camera)) >= 301_000


@pytest.mark.parametrize("ago_us", [-50_000.0, 2e6, 1e12], ids=["to come", "long ago", "another clock"])
def test_a_time_that_cannot_be_is_not_believed(monkeypatch: pytest.MonkeyPatch, ago_us: float) -> None:
    with camera_at(monkeypatch, Device(arrived_ago_us=ago_us)) as camera:
        assert 0 <= min(ages_us(camera)) < 1_000_000


def test_times_rise_also_where_pictures_come_about_as_late_as_is_still_believed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    device = Device(arrived_ago_us=1_010_000.0)
    times_us: list[int] = []
    with camera_at(monkeypatch, device) as camera:
        for ago_us in (1_010_000.0, 980_000.0, 6_000.0):
            device.arrived_ago_us = ago_us
            time.sleep(0.03)
            times_us += [frame.timestamp_us for frame in camera.poll()]
    assert times_us == sorted(set(times_us))
    assert len(times_us) > 2


def test_one_that_is_unplugged_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    device = Device()
    with camera_at(monkeypatch, device) as camera:
        device.unplug()
        with pytest.raises(CameraGone, match="camera 0: it stopped giving pictures"):
            for _ in range(1000):
                camera.poll()
                time.sleep(0.005)
