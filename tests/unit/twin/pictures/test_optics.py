import cv2
import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from twin.pictures.optics import Lens, Pose, Rect, join_overlapping, project

ANGLE = st.floats(-0.2, 0.2)
POSES = st.builds(
    Pose,
    aim_mm=st.tuples(st.floats(100, 260), st.floats(300, 500)),
    height_mm=st.floats(800, 2000),
    tilt_rad=ANGLE,
    pan_rad=ANGLE,
    roll_rad=ANGLE,
)
LENSES = st.builds(
    Lens,
    focal_px=st.floats(800, 2000),
    k1=st.floats(-0.2, 0.1),
    k2=st.floats(-0.02, 0.05),
    p1=st.floats(-1e-3, 1e-3),
    p2=st.floats(-1e-3, 1e-3),
    k3=st.floats(-0.01, 0.01),
)
POINTS_MM = np.array([[0, 0, 0], [360, 0, 0], [360, 810, 0], [0, 810, 0], [180, 405, 40], [30, 700, 15.0]])


@given(POSES, LENSES)
@example(Pose(tilt_rad=2e-6), Lens())
def test_projection_is_opencv_s(pose, lens):
    matrix, translation = pose.camera_from_board
    # Not by cv2.Rodrigues: a camera that hangs straight is turned by half a turn, and within 1e-5 rad of that it rounds.
    turn = Rotation.from_matrix(matrix).as_rotvec()
    expected, _ = cv2.projectPoints(POINTS_MM, turn, translation, lens.matrix, np.array(lens.distortion))
    assert np.abs(project(pose, lens, POINTS_MM) - expected.reshape(-1, 2)).max() < 1e-6


@given(POSES)
def test_the_aim_is_in_the_middle_at_the_set_distance(pose):
    lens = Lens()
    middle = project(pose, lens, np.array([[*pose.aim_mm, 0.0]]))[0]
    assert np.allclose(middle, [639.5, 359.5])
    assert np.isclose(np.linalg.norm(pose.position_mm - [*pose.aim_mm, 0.0]), pose.height_mm)


def test_an_upright_camera_shows_the_allies_on_the_left_with_a_1_at_the_top():
    a_1, g_1 = project(Pose(), Lens(), np.array([[0.0, 0.0, 0.0], [360.0, 810.0, 0.0]]))
    assert a_1[0] < 200
    assert g_1[0] > 1000
    assert a_1[1] < 200
    assert g_1[1] > 500


@settings(max_examples=30)
@given(LENSES)
def test_straightening_undoes_the_lens(lens):
    seen = Rect(100, 60, 1180, 660).border(90.0)
    assert np.abs(lens.distort(lens.straighten(seen)) - seen).max() < 0.02


def test_a_smaller_picture_of_the_same_lens_shows_the_same():
    lens = Lens(centre_px=(650.0, 350.0), k1=-0.1)
    half = lens.scaled(0.5)
    points = project(Pose(), lens, POINTS_MM)
    assert np.allclose(project(Pose(), half, POINTS_MM), (points + 0.5) / 2 - 0.5)


RECTS = st.builds(
    lambda left, top, width, height: Rect(left, top, left + width, top + height),
    st.integers(0, 50), st.integers(0, 50), st.integers(1, 20), st.integers(1, 20),
)  # fmt: skip


@given(st.lists(RECTS, max_size=8))
def test_joined_rectangles_cover_the_same_and_share_nothing(rects):
    joined = join_overlapping(rects)
    for index, one in enumerate(joined):
        assert all(one.within(other).empty for other in joined[index + 1 :])
    for rect in rects:
        assert any(one.joined(rect) == one for one in joined)
