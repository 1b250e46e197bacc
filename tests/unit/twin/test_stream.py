import errno
import os
import threading

import cv2
import numpy as np
import pytest

from twin import stream
from twin.pictures.camera import CameraFaults, CameraSettings
from twin.pictures.optics import Lens
from twin.stream import MjpegServer, StreamError, plan_stream
from twin.table import TableSettings


@pytest.fixture
def server():
    server = MjpegServer()
    yield server
    server.close()


def test_opencv_opens_the_stream_and_gets_every_picture_in_order(server):
    stop = threading.Event()

    def publish():
        level = 0
        while not stop.wait(0.01):
            server.publish(np.full((120, 160, 3), level % 250, np.uint8))
            level += 5

    publisher = threading.Thread(target=publish)
    publisher.start()
    try:
        capture = cv2.VideoCapture(server.url)
        assert capture.isOpened()
        levels = []
        for _ in range(12):
            good, picture = capture.read()
            assert good
            assert picture.shape == (120, 160, 3)
            levels.append(round(float(picture.mean()) / 5))
        capture.release()
    finally:
        stop.set()
        publisher.join()
    assert (np.diff(levels) % 50 == 1).all()


def test_a_taken_address_is_one_clear_error(server):
    port = int(server.url.split(":")[2].split("/")[0])
    told = f"cannot serve pictures at 127.0.0.1:{port}: {os.strerror(errno.EADDRINUSE)}"
    with pytest.raises(StreamError, match=told):
        MjpegServer(port=port)


def test_an_address_that_this_computer_does_not_have_is_not_said_to_be_taken():
    with pytest.raises(StreamError, match=os.strerror(errno.EADDRNOTAVAIL)):
        MjpegServer(host="192.0.2.1")  # for examples only (RFC 5737)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_server_that_does_not_start_is_not_waited_for_without_end(monkeypatch):
    async def no_files_left(*_):
        raise OSError(errno.EMFILE, "too many open files")

    monkeypatch.setattr(stream.uvicorn.Server, "serve", no_files_left)
    with pytest.raises(StreamError, match="the server did not start"):
        MjpegServer()


def test_the_plan_says_a_size_and_rate_no_better_than_wanted():
    wanted = CameraSettings(lens=Lens().scaled(0.5), fps=25.0)
    plan = plan_stream(wanted, TableSettings())
    assert plan.camera.lens.width_px == 640
    assert plan.camera.fps <= 25.0
    assert f"640 x 360 at {plan.camera.fps:g} pictures a second" in str(plan)


@pytest.mark.parametrize(
    ("fps", "exposure_us"), [(1.0, 1_000_000), (2.0, 1000), (4.0, 200_000)], ids=["1", "2", "4"]
)
def test_a_camera_that_is_slow_by_itself_is_planned_for_and_no_quicker_than_it_is(fps, exposure_us):
    wanted = CameraSettings(lens=Lens().scaled(0.25), fps=fps, exposure_us=exposure_us)
    assert 1.0 <= plan_stream(wanted, TableSettings()).camera.fps <= fps


@pytest.mark.parametrize(
    "faults",
    [
        CameraFaults(late_us=160_000),
        CameraFaults(stall_at_us=0),
        CameraFaults(drop_probability=1.0),
        CameraFaults(gone_at_us=0),
    ],
    ids=["late", "stalled", "dropped", "unplugged"],
)
def test_a_camera_whose_pictures_come_late_or_not_at_all_is_planned_for_too(faults):
    plan = plan_stream(CameraSettings(lens=Lens().scaled(0.25), fps=10.0, faults=faults), TableSettings())
    assert plan.cost_ms > 0.0
    assert plan.camera.faults == faults


@pytest.mark.parametrize(
    ("centre_px", "widths_px"), [(None, [1920, 1280, 960, 640]), ((955.0, 540.0), [1920])]
)
def test_a_machine_that_is_too_slow_gets_smaller_pictures_unless_their_lens_was_calibrated(
    monkeypatch, centre_px, widths_px
):
    tried_px = []

    def slow_ms(camera, _table):
        tried_px.append(camera.lens.width_px)
        return 40.0

    monkeypatch.setattr(stream, "_picture_ms", slow_ms)
    lens = Lens(width_px=1920, height_px=1080, centre_px=centre_px)
    plan = plan_stream(CameraSettings(lens=lens), TableSettings())
    assert tried_px == widths_px
    assert (plan.camera.lens.width_px, plan.camera.fps) == (widths_px[-1], 10.0)
