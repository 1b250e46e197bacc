import math
import threading
from dataclasses import replace

import cv2
import numpy as np
import pytest

from game.montecassino import Side, Square, parse_squares
from twin.pictures.artwork import BoardLook
from twin.pictures.camera import Camera, CameraFaults, CameraGoneError, CameraSettings
from twin.pictures.look import Lamp, LookSettings
from twin.pictures.offscreen import OffscreenError
from twin.pictures.optics import Lens, Pose, project
from twin.pictures.scene import CannonPose, Snapshot
from twin.pictures.sensor import SensorSettings
from twin.table import Table, TableFaults, TableSettings

WIDE = Lens(k1=-0.15, k2=0.03, p1=4e-4, focal_px=1500.0)
SMALL = Lens().scaled(0.5)
LEANING = Pose(tilt_rad=0.07, pan_rad=-0.04, roll_rad=0.03)
QUIET = SensorSettings(noise=0.0)


def soldiers(text="A01-A08,A20,G41,G44,G10-G16"):
    return {square: square.field for square in parse_squares(text)}


def film(settings, *, until_us=100_000, fire_us=None, seed=1, squares=None):
    """Film a table for a while; with a time to fire, one shot at G-44 and on until everything rests."""
    table = Table(TableSettings(), squares or soldiers(), seed=seed)
    camera = Camera(settings, table, seed=seed, soldiers=len(table.soldiers))
    if fire_us is not None:
        camera.advance(fire_us)
        x_mm, _ = Square.parse("G44").centre_mm(45.0)
        table.launch((x_mm, -20.0, 45.0), 0.0, 0.005, 9.4, fire_us)
        while not table.at_rest:
            camera.advance(table.now_us + 20_000)
        until_us = table.now_us + 40_000
    camera.advance(until_us)
    return table, camera, camera.poll()


@pytest.fixture(scope="module")
def shot():
    """A shot filmed by a usual camera: table, camera, frames."""
    table, camera, frames = film(CameraSettings(lens=SMALL), fire_us=40_000)
    yield table, camera, frames
    camera.close()


@pytest.mark.parametrize("monochrome", [False, True])
def test_markers_lie_in_the_picture_where_opencv_projects_them(monochrome):
    settings = CameraSettings(lens=WIDE, pose=LEANING, monochrome=monochrome)
    _, camera, frames = film(settings, until_us=9000)
    image = frames[0].image
    markers = camera.markers
    fx, fy, cx, cy = camera.intrinsics
    rotation, translation = LEANING.camera_from_board
    matrix = np.array([[fx, 0, cx], [0, fy, cy], [0, 0, 1]])
    dictionary = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, markers["dictionary"]))
    parameters = cv2.aruco.DetectorParameters()
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    corners, numbers, _ = cv2.aruco.ArucoDetector(dictionary, parameters).detectMarkers(image)
    assert sorted(numbers.ravel().tolist()) == sorted(int(name) for name in markers["centres_mm"])
    half_mm = markers["size_mm"] / 2
    # ArUco names corners clockwise from the upper left; a marker's top edge lies towards +y.
    around = np.array([[-1, 1, 0], [1, 1, 0], [1, -1, 0], [-1, -1, 0]]) * half_mm
    for number, found in zip(numbers.ravel(), corners, strict=True):
        centre_mm = np.array([*markers["centres_mm"][str(number)], 0.0])
        expected, _ = cv2.projectPoints(
            centre_mm + around, cv2.Rodrigues(rotation)[0], translation, matrix, np.array(camera.distortion)
        )
        assert np.abs(found.reshape(4, 2) - expected.reshape(4, 2)).max() < 1.0
    assert image.shape == (720, 1280, 3)
    assert image.dtype == np.uint8
    grey = (image[..., 0] == image[..., 1]).all() and (image[..., 1] == image[..., 2]).all()
    assert grey == monochrome
    camera.close()


def test_the_same_seed_gives_the_same_pixels_in_whatever_order_they_are_asked_for(shot):
    _, _, frames = shot
    _, again, others = film(CameraSettings(lens=SMALL), fire_us=40_000)
    chosen = [0, 4, 9, 12, 14, 17, len(frames) - 1]
    backwards = {index: others[index].image for index in reversed(chosen)}
    again.close()
    assert [frame.timestamp_us for frame in frames] == [frame.timestamp_us for frame in others]
    for index in chosen:
        assert np.array_equal(frames[index].image, backwards[index])


def test_frames_come_at_the_set_rate_and_say_when_their_exposure_was_half_over(shot):
    _, camera, frames = shot
    assert [frame.index for frame in frames] == list(range(len(frames)))
    half_us = camera.settings.exposure_us // 2
    for frame in frames:
        assert abs(frame.timestamp_us - half_us - frame.index * 1e6 / camera.settings.fps) <= 1
    assert camera.poll() == []


def test_at_rest_pictures_differ_by_noise_alone(shot):
    _, _, frames = shot
    first, second = frames[0].image.astype(float), frames[1].image.astype(float)
    difference = second - first
    assert 0.5 < difference.std() < 8.0
    assert abs(difference.mean()) < 0.05
    blurred = cv2.GaussianBlur(difference, (0, 0), 6.0)
    assert np.abs(blurred).max() < 1.5


def test_frames_may_be_asked_for_from_any_thread(shot):
    _, _, frames = shot
    got = []
    worker = threading.Thread(target=lambda: got.append(frames[13].image))
    worker.start()
    worker.join()
    assert got[0] is frames[13].image


def test_the_shot_is_seen_where_it_flies(shot):
    table, camera, frames = shot
    truth = table.truth()
    path = np.array(truth.pellet)
    compared = 0
    for frame in frames:
        since_us = frame.timestamp_us - truth.launched_us
        if not 6_000 < since_us < 40_000:
            continue
        change = np.abs(frame.image.astype(int) - frames[0].image).max(axis=2)
        place_mm = [np.interp(frame.timestamp_us, path[:, 0], path[:, axis]) for axis in (1, 2, 3)]
        u, v = project(camera.settings.pose, camera.settings.lens, np.array([place_mm]))[0]
        window = change[int(v) - 6 : int(v) + 7, int(u) - 14 : int(u) + 15]
        rows, columns = np.nonzero(window > 30)
        assert len(rows) > 4
        assert abs(columns.mean() + int(u) - 14 - u) < 2.5
        assert abs(rows.mean() + int(v) - 6 - v) < 2.0
        compared += 1
    assert compared >= 3


def test_longer_exposure_smears_the_shot_and_makes_it_fainter():
    def streak(exposure_us):
        settings = CameraSettings(lens=SMALL, exposure_us=exposure_us, sensor=QUIET, fps=100.0)
        _, camera, frames = film(settings, fire_us=40_000)
        change = np.abs(frames[6].image.astype(int) - frames[0].image).max(axis=2)
        camera.close()
        return (change > 10).any(axis=0).sum(), change.max()

    short, long = streak(300), streak(3000)
    assert long[0] > short[0] + 8
    assert long[1] < short[1]


def test_a_picture_with_movement_is_what_drawing_everything_anew_would_show():
    """The corners cut in drawing (only what has moved is drawn) must not be seen."""
    settings = CameraSettings(lens=Lens(k1=-0.1).scaled(0.5), sensor=QUIET)
    table, camera, frames = film(settings, fire_us=40_000)
    moving = next(frame for frame in frames if frame.timestamp_us > 220_000)
    (taken,) = moving._taken
    snapshot = taken.snapshot
    assert snapshot.now is not snapshot.still
    anew = Snapshot(snapshot.now, snapshot.now, snapshot.shot_m, snapshot.shot_share)
    whole = camera._develop(moving.index, moving.timestamp_us, [replace(taken, snapshot=anew)])
    difference = np.abs(whole.astype(int) - moving.image)
    assert (np.abs(moving.image.astype(int) - frames[0].image).max(axis=2) > 40).sum() > 30
    assert (difference > 24).mean() < 2e-5
    assert difference.mean() < 0.05
    del table
    camera.close()


def test_dropped_frames_leave_gaps_in_the_numbers():
    faults = CameraFaults(drop_probability=0.2)
    _, camera, frames = film(CameraSettings(lens=SMALL, faults=faults), until_us=2_000_000)
    numbers = [frame.index for frame in frames]
    assert 0.1 < 1 - len(numbers) / 240 < 0.3
    assert numbers == sorted(set(numbers))
    camera.close()


def test_stamps_that_waver_are_late_now_more_and_now_less_and_the_pictures_are_the_same():
    faults = CameraFaults(late_us=5000, waver_us=4000)
    _, steady, frames = film(CameraSettings(lens=SMALL), until_us=400_000)
    _, wavers, late = film(CameraSettings(lens=SMALL, faults=faults), until_us=420_000)
    late_us = [b.timestamp_us - a.timestamp_us for a, b in zip(frames, late, strict=False)]
    assert len(late_us) > 40
    assert min(late_us) in range(5000, 5600)
    assert max(late_us) in range(8400, 9001)
    assert np.array_equal(frames[-1].image, late[len(frames) - 1].image)
    steady.close()
    wavers.close()


def test_a_stamp_that_wavers_by_more_than_a_picture_is_refused():
    CameraSettings(fps=120.0, faults=CameraFaults(waver_us=8333))
    with pytest.raises(ValueError, match="waver_us is 8334, expected 0 to 8333"):
        CameraSettings(fps=120.0, faults=CameraFaults(waver_us=8334))


def test_a_stalled_camera_goes_silent_for_as_long_as_set():
    faults = CameraFaults(stall_at_us=200_000, stall_for_us=300_000)
    _, _, frames = film(CameraSettings(lens=SMALL, faults=faults), until_us=800_000)
    times = np.array([frame.timestamp_us for frame in frames])
    assert not ((times >= 200_000) & (times < 500_000)).any()
    assert times[-1] > 780_000


def test_an_unplugged_camera_gives_what_it_had_and_then_an_error():
    table, camera, frames = film(
        CameraSettings(lens=SMALL, faults=CameraFaults(gone_at_us=300_000)), until_us=250_000
    )
    assert frames
    camera.advance(500_000)
    assert all(frame.timestamp_us < 300_000 for frame in camera.poll())
    with pytest.raises(CameraGoneError, match="the camera is gone"):
        camera.poll()
    assert table.now_us == 500_000


def test_each_fault_of_the_picture_shows():
    faults = CameraFaults(
        cap_on_at_us=100_000,
        cap_off_at_us=200_000,
        bump_at_us=300_000,
        bump_mm=(10.0, 0.0),
        bump_roll_rad=0.0,
        flicker=0.3,
        flicker_hz=10.0,
    )
    settings = CameraSettings(lens=SMALL, faults=faults)
    _, camera, frames = film(settings, until_us=420_000)

    def at(time_us):
        return next(frame for frame in frames if frame.timestamp_us >= time_us).image.astype(float)

    assert at(150_000).mean() < 8.0
    assert at(220_000).mean() > 40.0
    # Half a period of the flicker apart, at its brightest and its darkest.
    assert at(25_000).mean() > 1.2 * at(75_000).mean()
    before, after = (cv2.cvtColor(at(t).astype(np.float32), cv2.COLOR_BGR2GRAY) for t in (200_500, 400_500))
    (shift_x, shift_y), _ = cv2.phaseCorrelate(
        before, after, cv2.createHanningWindow(before.shape[::-1], cv2.CV_32F)
    )
    # +10 mm in x is down in the picture: what is seen moves up.
    assert shift_y == pytest.approx(-10.0 * SMALL.focal_px / 1250.0, abs=0.3)
    assert abs(shift_x) < 0.3
    camera.close()


@pytest.mark.parametrize("monochrome", [False, True])
def test_the_worse_pictures_are_packed_the_more_is_lost_of_them(monochrome):
    def picture(quality):
        settings = CameraSettings(lens=SMALL, jpeg_quality=quality, monochrome=monochrome)
        _, camera, frames = film(settings, until_us=9000)
        image = frames[0].image.astype(float)
        camera.close()
        return image

    whole, *packed = (picture(quality) for quality in (None, 98, 80, 40))
    assert {each.shape for each in packed} == {whole.shape}
    lost = [np.abs(each - whole).mean() for each in packed]
    assert 0 < lost[0] < lost[1] < lost[2] < 8


def test_no_picture_is_packed_worse_than_can_be():
    with pytest.raises(ValueError, match="jpeg_quality is 0, expected 1 to 100"):
        CameraSettings(jpeg_quality=0)


def test_the_picture_shakes_after_the_release_and_comes_to_rest():
    settings = CameraSettings(lens=SMALL, sensor=QUIET, faults=CameraFaults(shake_px=3.0))
    table, camera, frames = film(settings, fire_us=40_000)
    edge = (slice(300, 340), slice(40, 60))
    still = frames[0].image[edge].astype(int)
    shaken = max(np.abs(frame.image[edge].astype(int) - still).max() for frame in frames[5:9])
    assert shaken > 10
    camera.advance(max(table.now_us, 700_000) + 20_000)
    late = camera.poll()[-1]
    assert np.abs(late.image[edge].astype(int) - still).max() <= 1
    camera.close()


def test_noise_grows_as_the_exposure_shrinks():
    def spread(exposure_us):
        _, camera, frames = film(CameraSettings(lens=SMALL, exposure_us=exposure_us), until_us=20_000)
        difference = frames[1].image.astype(float) - frames[0].image
        camera.close()
        return difference.std()

    assert spread(200) > 1.5 * spread(1000)


@pytest.mark.parametrize("board", list(BoardLook))
def test_every_board_can_be_drawn_with_its_middle_line(board):
    settings = CameraSettings(lens=SMALL, sensor=QUIET, look=LookSettings(board=board))
    _, camera, frames = film(settings, until_us=9000, squares=soldiers("A01,G01"))
    image = frames[0].image.astype(int)
    u, v = project(Pose(), SMALL, np.array([[67.5, 405.0, 0.0]]))[0]
    blue, green, red = image[round(v), round(u)]
    assert red > 1.3 * max(blue, green)
    camera.close()


def test_the_cannon_and_its_turning_are_seen():
    table = Table(TableSettings(), soldiers("A09,G01"))
    camera = Camera(CameraSettings(lens=SMALL, sensor=QUIET), table, soldiers=len(table.soldiers))

    def look():
        camera.advance(table.now_us + 9000)
        return camera.poll()[-1].image.astype(int)

    empty = look()
    table.place_cannon(CannonPose(Side.A, (180.0, -20.0, 50.0), 0.0, 0.0))
    straight = look()
    table.place_cannon(CannonPose(Side.A, (180.0, -20.0, 50.0), 0.25, 0.0))
    turned = look()
    changed = np.abs(straight - empty).max(axis=2) > 20
    assert changed.sum() > 300
    assert not changed[:, 120:].any()
    assert (np.abs(turned - straight).max(axis=2) > 20).sum() > 60
    camera.close()


def test_without_a_way_to_draw_it_says_what_to_install(monkeypatch):
    def missing(name):
        raise OSError(name)

    monkeypatch.setattr("twin.pictures.offscreen.ctypes.CDLL", missing)
    _, _, frames = film(CameraSettings(lens=SMALL), until_us=9000)
    with pytest.raises(OffscreenError, match="on Debian install libegl1"):
        _ = frames[0].image


def test_a_table_without_markers_has_none_to_describe():
    table = Table(TableSettings(), soldiers())
    camera = Camera(replace(CameraSettings(), look=LookSettings(markers=())), table)
    assert camera.markers is None


def test_an_arm_over_the_board_is_seen_for_as_long_as_set_and_touches_nobody():
    faults = TableFaults(hand_at_us=50_000, hand_for_us=50_000, hand_mm=(120.0, 500.0))
    table = Table(TableSettings(faults=faults), soldiers())
    camera = Camera(CameraSettings(lens=SMALL, sensor=QUIET), table, soldiers=len(table.soldiers))
    camera.advance(150_000)
    frames = camera.poll()
    before, during, after = (
        next(frame for frame in frames if frame.timestamp_us > time_us).image.astype(int)
        for time_us in (10_000, 70_000, 110_000)
    )
    u, v = project(Pose(), SMALL, np.array([[60.0, 500.0, 80.0]]))[0].round().astype(int)
    assert np.abs(during - before)[v, u].max() > 40
    assert (np.abs(during - before).max(axis=2) > 30).sum() > 2000
    assert np.array_equal(before, after)
    assert len(table.standing()) == len(table.soldiers)
    camera.close()


def test_an_arm_over_the_board_as_a_shot_comes_to_rest_is_gone_from_the_picture_once_it_is_drawn_back():
    def last_picture(faults):
        table = Table(TableSettings(faults=faults), soldiers())
        camera = Camera(CameraSettings(lens=SMALL, sensor=QUIET), table, soldiers=len(table.soldiers))
        table.launch((180.0, -20.0, 45.0), 0.0, 0.0, 9.0, 0)
        camera.advance(60_000)
        table.stop()
        camera.advance(150_000)
        image = camera.poll()[-1].image.astype(int)
        camera.close()
        return image

    arm = TableFaults(hand_at_us=30_000, hand_for_us=70_000, hand_mm=(120.0, 500.0))
    difference = np.abs(last_picture(arm) - last_picture(TableFaults()))
    assert (difference > 24).mean() < 2e-5  # what drawing a part anew may differ by


def film_along(roll_rad, readout_us):
    """Film a shot along the board, which lies upright in the picture where the camera is turned by a quarter.

    Returns the first picture, and how fast the shot seems along the board, in px a ms.
    """
    upright = Lens(width_px=SMALL.height_px, height_px=SMALL.width_px, focal_px=SMALL.focal_px)
    settings = CameraSettings(
        lens=upright if roll_rad else SMALL,
        pose=Pose(roll_rad=roll_rad),
        exposure_us=300,
        readout_us=readout_us,
        sensor=QUIET,
    )
    table = Table(TableSettings(), soldiers("A01,G41"))
    camera = Camera(settings, table)
    camera.advance(17_000)
    (before, *_) = camera.poll()
    table.launch((180.0, -20.0, 45.0), 0.0, 0.005, 9.4, 17_000)
    camera.advance(70_000)
    frames = camera.poll()[2:]
    rest = before.image.astype(int)
    places = [
        np.argwhere(np.abs(frame.image.astype(int) - rest).max(axis=2) > 60).mean(axis=0) for frame in frames
    ]
    camera.close()
    along = np.array(places)[:, 0 if roll_rad else 1]
    return before, float(np.polyfit([frame.timestamp_us / 1000 for frame in frames], along, 1)[0])


@pytest.mark.parametrize("roll_rad", [math.pi / 2, -math.pi / 2])
def test_by_a_rolling_shutter_a_shot_down_the_picture_seems_faster_and_one_up_slower(roll_rad):
    readout_ms = 8.0
    _, px_per_ms = film_along(roll_rad, 0)
    _, seems_px_per_ms = film_along(roll_rad, round(1000 * readout_ms))
    # While the shot flies on by a row, the next row's turn comes the later.
    rows_late_ms = readout_ms / SMALL.width_px * px_per_ms
    assert abs(rows_late_ms) > 0.05
    assert seems_px_per_ms == pytest.approx(px_per_ms / (1 - rows_late_ms), rel=0.02)


def test_by_a_rolling_shutter_a_shot_along_the_rows_is_as_fast_as_it_is():
    first, px_per_ms = film_along(0.0, 0)
    rolling, seems_px_per_ms = film_along(0.0, 8000)
    assert seems_px_per_ms == pytest.approx(px_per_ms, rel=0.01)
    # Its time is that of the middle row.
    assert rolling.timestamp_us == first.timestamp_us + 4000


def test_by_a_rolling_shutter_a_table_at_rest_looks_as_ever():
    looks = []
    for readout_us in (0, 8000):
        _, camera, frames = film(CameraSettings(lens=SMALL, readout_us=readout_us), until_us=17_000)
        looks.append(frames[0].image)
        camera.close()
    assert np.array_equal(*looks)


def test_more_soldiers_than_there_was_room_for_are_an_error_and_not_left_out():
    table = Table(TableSettings(), soldiers("A01"))
    camera = Camera(CameraSettings(lens=SMALL), table, soldiers=2)
    table.set_up(soldiers("A01-A03"))
    camera.advance(9000)
    with pytest.raises(ValueError, match="made for up to 2 soldiers, and 3 stand there"):
        _ = camera.poll()[0].image
    camera.close()


@pytest.mark.parametrize("lamp_x_mm", [-500.0, 860.0])
def test_a_shadow_falls_away_from_the_lamp(lamp_x_mm):
    lamp = Lamp(position_mm=(lamp_x_mm, 405.0, 900.0), colour=(0.65, 0.65, 0.65))
    settings = CameraSettings(lens=SMALL, sensor=QUIET, look=LookSettings(lamps=(lamp,)))
    _, camera, frames = film(settings, until_us=9000, squares=soldiers("A60"))
    image = frames[0].image.astype(int)
    x_mm, y_mm = Square.parse("A60").centre_mm(45.0)
    away = 1.0 if lamp_x_mm < 180.0 else -1.0

    def light(side):
        u, v = project(Pose(), SMALL, np.array([[x_mm + side * 17.0, y_mm, 0.0]]))[0].round().astype(int)
        return image[v, u].sum()

    assert light(away) < 0.75 * light(-away)
    camera.close()


def test_banners_mark_the_four_corners_of_the_zone():
    def red(banners):
        settings = CameraSettings(lens=SMALL, sensor=QUIET, look=LookSettings(banners=banners))
        _, camera, frames = film(settings, until_us=9000, squares=soldiers("A01"))
        image = frames[0].image.astype(int)
        camera.close()
        return (image[..., 2] > image[..., :2].max(axis=2) * 1.8) & (image[..., 2] > 80)

    new = red(parse_squares("G25-G72")) & ~red(())
    for x_mm in (-4.0, 364.0):
        for y_mm in (405.0, 675.0):
            u, v = project(Pose(), SMALL, np.array([[x_mm, y_mm, 45.0]]))[0].round().astype(int)
            assert new[v - 16 : v + 17, u - 8 : u + 9].sum() > 8
    assert new.sum() < 600
