"""`rig twin`: a pseudo-terminal and a camera stream on wall time."""

import errno
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import cv2
import pytest
import serial

from rig.link import WallClock, wire
from rig.link import messages as m
from rig.link.link import Link
from rig.link.serial_port import SerialPort
from twin import TwinSettings, realtime
from twin.pictures.camera import CameraFaults, CameraSettings
from twin.pictures.optics import Lens
from twin.pty_line import NoPty, PtyLine
from twin.realtime import Address, serve

SMALL = CameraSettings(fps=20.0, lens=Lens().scaled(0.25))


@contextmanager
def serving(camera: CameraSettings) -> Iterator[tuple[Address, list[str]]]:
    """Serve a twin with such a camera on a thread."""
    stop, there = threading.Event(), threading.Event()
    said: list[str] = []
    found: list[Address] = []
    settings = TwinSettings(camera=camera)

    def run() -> None:
        serve(
            settings,
            stop=stop,
            say=said.append,
            ready=lambda address: (found.append(address), there.set()),
        )

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert there.wait(60)
        yield found[0], said
    finally:
        stop.set()
        thread.join()


@pytest.fixture
def served() -> Iterator[tuple[Address, list[str]]]:
    """Serve a twin with small pictures."""
    with serving(SMALL) as there:
        yield there


def test_the_far_end_speaks_and_shows_as_real_hardware_does(served: tuple[Address, list[str]]) -> None:
    address, said = served
    assert "pictures a second" in said[0]
    # A terminal makes a link of what stands between spaces, a comma with it.
    assert address.camera_url in said[0].split(" ")
    assert address.serial_path in said[1].split(" ")
    link = Link(SerialPort(address.serial_path, baud=wire.BAUD), WallClock())
    identity = link.identify()
    assert identity.reset_cause == wire.ResetCause.EXTERNAL
    for _ in range(10):
        link.wait(100_000)
    status = link.ask(m.ReadStatus())
    assert status.inputs & wire.Input.KEY_ON
    assert status.inputs & wire.Input.LANE_CLEAR
    link.close()
    camera = cv2.VideoCapture(address.camera_url)
    try:
        good, image = camera.read()
        assert good
        assert image.shape[2] == 3
        assert image.std() > 10
    finally:
        camera.release()


@pytest.mark.parametrize("gone_at_us", [0, 600_000])
def test_an_unplugged_camera_ends_the_pictures_and_not_the_cannon(gone_at_us: int) -> None:
    with serving(replace(SMALL, faults=CameraFaults(gone_at_us=gone_at_us))) as (address, said):
        camera = cv2.VideoCapture(address.camera_url)
        while camera.read()[0]:
            pass
        camera.release()
        assert [words for words in said if "unplugged" in words] == [
            "the camera is unplugged: no more pictures come"
        ]
        link = Link(SerialPort(address.serial_path, baud=wire.BAUD), WallClock())
        assert link.identify().board == wire.Board.UNO
        link.close()


def test_a_camera_whose_first_picture_comes_late_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def waited(painting: realtime._Painting, frames: object) -> None:
        assert frames == []
        monkeypatch.setattr(painting._first_drawn, "wait", lambda _: pytest.fail("it was waited for"))
        warm_up(painting, [])

    warm_up = realtime._Painting.warm_up
    monkeypatch.setattr(realtime._Painting, "warm_up", waited)
    with serving(replace(SMALL, faults=CameraFaults(stall_at_us=0))) as (address, _):
        assert address.serial_path


def test_without_a_pseudo_terminal_no_pictures_are_served_either(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left() -> tuple[int, int]:
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr("twin.pty_line.os.openpty", none_left)
    with pytest.raises(NoPty, match="no pseudo-terminal"):
        serve(TwinSettings(camera=SMALL), stop=threading.Event(), say=lambda _: None)
    assert not [thread for thread in threading.enumerate() if thread.name == "camera stream"]


def test_a_pty_tells_when_somebody_opens_it() -> None:
    line = PtyLine()
    try:
        assert line.read() == (b"", False)
        line.write(b"nobody hears this")
        with serial.Serial(line.path, 115_200, timeout=2) as far:
            assert line.read() == (b"", True)
            assert line.read() == (b"", False)
            line.write(b"\x00\x0a\x7e")
            assert far.read(3) == b"\x00\x0a\x7e"
            far.write(b"\x18")
            deadline = time.monotonic() + 5
            data = b""
            while not data and time.monotonic() < deadline:
                data, _ = line.read()
            assert data == b"\x18"
        assert line.read() == (b"", False)
        with serial.Serial(line.path, 115_200, timeout=0):
            assert line.read() == (b"", True)
    finally:
        line.close()
