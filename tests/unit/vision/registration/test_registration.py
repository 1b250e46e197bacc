"""Where the camera stands: from board to pixels and back, and the pose from markers or corners."""

import math
from dataclasses import replace

import cv2
import numpy as np
import painted_table as painted
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from painted_table import MARKERS, Table

from game.montecassino import ALL_SQUARES, Side
from vision.grey import grey
from vision.registration import BoardView, NoBoard, only_roughly, register
from vision.registration.lines import begins_and_ends
from vision.scene import MarkerMap

LENS = (-0.18, 0.05, 0.0005, -0.0003, 0.0)
BOARD = np.array([(x, y, 0.0) for x in (0, 180, 360) for y in (0, 270, 540, 810)])


def off_mm(found: BoardView | NoBoard, true: BoardView) -> float:
    """How far off the found camera puts points of the board, at the worst."""
    assert isinstance(found, BoardView), found
    return float(np.linalg.norm(found.on_plane(true.project(BOARD)) - BOARD[:, :2], axis=1).max())


@given(
    roll=st.floats(-math.pi, math.pi),
    tilt=st.floats(-0.35, 0.35),
    height=st.floats(700, 2500),
    bend=st.floats(-0.2, 0.1),
    z=st.floats(0, 60),
    x=st.floats(0, 360),
    y=st.floats(0, 810),
)
def test_a_point_seen_at_its_height_is_the_point(
    roll: float, tilt: float, height: float, bend: float, z: float, x: float, y: float
) -> None:
    # Scaled so that the whole board stays in the picture: far outside no distortion can be undone.
    camera = painted.view(
        roll_rad=roll, tilt_rad=tilt, height_mm=height, focal_px=0.5 * height, distortion=(bend, 0, 0, 0, 0)
    )
    pixel = camera.project(np.array([[x, y, z]]))
    assert camera.on_plane(pixel, z) == pytest.approx(np.array([[x, y]]), abs=0.05)


@given(
    tilt=st.floats(-0.25, 0.25),
    height=st.floats(900, 2000),
    bend=st.floats(-0.2, 0.1),
    z=st.floats(0, 60),
    count=st.integers(2, 90),
)
def test_a_fine_grid_is_projected_as_its_points_are(
    tilt: float, height: float, bend: float, z: float, count: int
) -> None:
    camera = painted.view(
        tilt_rad=tilt, height_mm=height, focal_px=0.8 * height, distortion=(bend, 0, 0, 0, 0)
    )
    x_mm, y_mm = 30.0 + 2.5 * np.arange(count), 200.0 + 2.5 * np.arange(count // 2 + 2)
    x, y = np.meshgrid(x_mm, y_mm)
    exactly = camera.project(np.column_stack([x.ravel(), y.ravel(), np.full(x.size, z)])).reshape(*x.shape, 2)
    assert np.abs(camera.project_grid(x_mm, y_mm, z) - exactly).max() < 0.05


def test_no_points_give_no_points() -> None:
    camera = painted.view()
    assert camera.project(np.zeros((0, 3))).shape == (0, 2)
    assert camera.on_plane(np.zeros((0, 2))).shape == (0, 2)


@pytest.mark.parametrize("roll_rad", [0.0, 0.4, math.pi / 2, math.pi, -1.9])
def test_the_pose_is_found_however_the_picture_is_turned(roll_rad: float) -> None:
    camera = painted.view(
        width_px=900, height_px=900, roll_rad=roll_rad, tilt_rad=0.08, focal_px=950, distortion=LENS
    )
    found = register(Table(camera).paint(), painted.scene(camera))
    assert off_mm(found, camera) < 0.3
    assert isinstance(found, BoardView)
    assert found.camera_mm == pytest.approx(camera.camera_mm, abs=8)
    assert found.markers_used == (0, 1, 2, 3)
    assert off_mm(found, camera) < 3 * found.error_mm < 3.0


def test_an_unknown_lens_is_estimated_with_the_pose() -> None:
    camera = painted.view(tilt_rad=0.06, distortion=(-0.1, 0, 0, 0, 0))
    found = register(Table(camera).paint(), painted.scene(camera, intrinsics=None, distortion=None))
    assert off_mm(found, camera) < 1.0


def test_grey_pictures_will_do() -> None:
    camera = painted.view()
    grey = cv2.cvtColor(Table(camera).paint(), cv2.COLOR_BGR2GRAY)
    assert off_mm(register(grey, painted.scene(camera)), camera) < 0.3


def test_two_markers_are_enough() -> None:
    camera = painted.view(tilt_rad=0.05)
    shown = replace(MARKERS, centres_mm={i: MARKERS.centres_mm[i] for i in (0, 3)})
    found = register(Table(camera, markers=shown).paint(), painted.scene(camera))
    assert off_mm(found, camera) < 1.5
    assert isinstance(found, BoardView)
    assert found.markers_used == (0, 3)


def test_a_marker_that_its_dictionary_does_not_have_is_told() -> None:
    """Settings and recordings refuse it; whoever makes a scene of his own was told an index out of range."""
    camera = painted.view()
    said = replace(MARKERS, centres_mm={**MARKERS.centres_mm, 77: (-30.0, 400.0)})
    found = register(Table(camera).paint(), painted.scene(camera, markers=said))
    assert found == NoBoard("DICT_4X4_50 has markers 0 to 49, and no marker 77")


def test_small_markers_are_found() -> None:
    camera = painted.view(width_px=480, height_px=270, focal_px=590)
    found = register(Table(camera).paint(), painted.scene(camera))
    assert off_mm(found, camera) < 1.0


@pytest.mark.parametrize("tilt_rad", [0.0, 0.06])
def test_small_markers_place_a_board_without_lines_by_their_whole_print(tilt_rad: float) -> None:
    """Of 17 px; by their corners alone they would place it only half as well."""
    camera = painted.view(width_px=480, height_px=270, focal_px=590, tilt_rad=tilt_rad)
    assert off_mm(register(without_lines(camera), painted.scene(camera)), camera) < 0.25


def test_a_marker_that_was_moved_is_left_out() -> None:
    camera = painted.view()
    shown = MarkerMap(
        MARKERS.dictionary, MARKERS.size_mm, {**MARKERS.centres_mm, 4: (-30.0, 400.0), 5: (390.0, 405.0)}
    )
    said = replace(shown, centres_mm={**shown.centres_mm, 4: (-30.0, 440.0)})
    found = register(Table(camera, markers=shown).paint(), painted.scene(camera, markers=said))
    assert off_mm(found, camera) < 0.5
    assert isinstance(found, BoardView)
    assert 4 not in found.markers_used


def test_a_marker_that_was_left_out_is_named_with_how_far_it_is_off() -> None:
    camera = painted.view()
    said = replace(MARKERS, centres_mm={**MARKERS.centres_mm, 3: (-30.0, 730.0)})
    found = register(Table(camera).paint(), painted.scene(camera, markers=said))
    assert off_mm(found, camera) < 0.5
    assert isinstance(found, BoardView)
    x_mm, y_mm = MARKERS.centres_mm[3]
    assert found.moved_mm == {3: pytest.approx(math.dist((x_mm, y_mm), (-30.0, 730.0)), abs=1.0)}
    true = register(Table(camera).paint(), painted.scene(camera))
    assert isinstance(true, BoardView)
    assert true.moved_mm == {}


def without_lines(camera: BoardView, markers: MarkerMap = MARKERS) -> NDArray[np.uint8]:
    """A board that is seen by its markers alone, painted over to beyond its border."""
    return painted_over(camera, beyond_mm=5.0, markers=markers)


def painted_over(
    camera: BoardView, *, beyond_mm: float, markers: MarkerMap = MARKERS, dark_to_mm: float = 0.0
) -> NDArray[np.uint8]:
    """A board of one colour to so far beyond its squares, and before that of another."""
    picture = Table(camera, markers=markers).paint()
    scene = painted.scene(camera)
    for beside_mm, colour in ((dark_to_mm, (70, 90, 110)), (beyond_mm, (120, 130, 125))):
        ends = [(-beside_mm, size_mm + beside_mm) for size_mm in (scene.width_mm, scene.length_mm)]
        rim_mm = np.array([(ends[0][i], ends[1][j], 0.0) for i, j in ((0, 0), (1, 0), (1, 1), (0, 1))])
        rim_px = np.round(16 * camera.project(rim_mm)).astype(np.int32)
        cv2.fillConvexPoly(picture, rim_px, colour, cv2.LINE_AA, 4)
    return picture


def with_marks(picture: NDArray[np.uint8], camera: BoardView, kind: str) -> NDArray[np.uint8]:
    """Draw crosses or dots where squares meet."""
    square_mm, fine = painted.scene(camera).square_mm, 1 << 4

    def pixels(*points_mm: tuple[float, float]) -> NDArray[np.int32]:
        flat = np.column_stack([np.array(points_mm), np.zeros(len(points_mm))])
        return np.round(fine * camera.project(flat)).astype(np.int32)

    for x in range(1, 8):
        for y in range(1, 18):
            at_mm = np.array([x, y]) * square_mm
            if kind == "dots":
                cv2.circle(picture, pixels(tuple(at_mm))[0], 2 * fine, (60, 70, 60), -1, cv2.LINE_AA, 4)
                continue
            for arm_mm in 0.12 * square_mm * np.eye(2):
                start, end = pixels(tuple(at_mm - arm_mm), tuple(at_mm + arm_mm))
                cv2.line(picture, start, end, (60, 70, 60), 1, cv2.LINE_AA, 4)
    return picture


@pytest.mark.parametrize("kind", ["dots", "crosses"])
def test_what_marks_the_corners_of_squares_places_a_board_without_lines(kind: str) -> None:
    """Better than markers that were laid 3 mm off."""
    camera = painted.view(tilt_rad=0.1)
    told = {n: (x + 3.0 * (n % 2), y) for n, (x, y) in MARKERS.centres_mm.items()}
    picture = with_marks(without_lines(camera), camera, kind)
    found = register(picture, painted.scene(camera, markers=replace(MARKERS, centres_mm=told)))
    assert off_mm(found, camera) < 0.6
    assert isinstance(found, BoardView)
    assert found.lines_used > 200


@pytest.mark.parametrize("shown", [(0, 3), (1, 2), (0, 1)])
def test_two_markers_and_the_sides_of_a_board_without_lines_place_it(shown: tuple[int, int]) -> None:
    """As of one that is painted as a landscape."""
    camera = painted.view(tilt_rad=0.1)
    only = replace(MARKERS, centres_mm={n: MARKERS.centres_mm[n] for n in shown})
    found = register(
        painted_over(camera, beyond_mm=0.0, dark_to_mm=8.0, markers=only),
        painted.scene(camera, markers=only),
    )
    assert off_mm(found, camera) < 0.8
    assert isinstance(found, BoardView)
    assert found.lines_used >= 48
    assert found.error_mm < 1.5


@pytest.mark.parametrize("beyond_mm", [3.0, 5.0])
def test_the_sides_of_a_margin_around_the_squares_are_not_taken_for_theirs(beyond_mm: float) -> None:
    """Markers would lie where they should not."""
    camera = painted.view(tilt_rad=0.1)
    found = register(
        painted_over(camera, beyond_mm=beyond_mm, dark_to_mm=8.0), painted.scene(camera, markers=MARKERS)
    )
    assert off_mm(found, camera) < 1.0
    assert isinstance(found, BoardView)
    assert found.lines_used == 0


@pytest.mark.parametrize("seed", [6, 7])
def test_a_coarse_grain_is_not_taken_for_lines(seed: int) -> None:
    camera = painted.view(tilt_rad=0.1)
    bare = without_lines(camera)
    grain = cv2.GaussianBlur(np.random.default_rng(seed).normal(size=bare.shape[:2]), (0, 0), 6.0, sigmaY=1.0)
    on_board = (bare == bare[270, 480]).all(axis=2)
    grained = bare + (25 / grain.std() * grain * on_board)[..., None]
    found = register(np.clip(grained, 0, 255).astype(np.uint8), painted.scene(camera))
    assert off_mm(found, camera) < 0.6
    assert isinstance(found, BoardView)
    assert found.lines_used == 0


@pytest.mark.parametrize("shown", [(0, 3), (1, 2)])
def test_two_markers_across_the_board_place_it_without_lines(shown: tuple[int, int]) -> None:
    """As well as they were laid, give or take 0.7 mm in x and in y."""
    rng = np.random.default_rng(6)
    camera = painted.view(tilt_rad=0.1)
    only = replace(MARKERS, centres_mm={n: MARKERS.centres_mm[n] for n in shown})
    bare = without_lines(camera, markers=only)
    rim = BOARD[[0, 3, 8, 11]]
    off, said = [], []
    for _ in range(12):
        told = {
            n: (x + rng.normal(0.0, 0.7), y + rng.normal(0.0, 0.7)) for n, (x, y) in only.centres_mm.items()
        }
        found = register(bare, painted.scene(camera, markers=replace(only, centres_mm=told)))
        assert isinstance(found, BoardView), found
        off.append(np.linalg.norm(found.on_plane(camera.project(rim)) - rim[:, :2], axis=1).max())
        said.append(found.error_mm)
    assert max(off) < 4.0
    within = np.array(off) / np.array(said)
    assert (within < 2.5).mean() > 0.85
    assert np.median(within) > 0.2


@pytest.mark.parametrize(("beside_mm", "is_used"), [(4.0, True), (12.0, False)])
def test_a_marker_that_lies_little_beside_its_place_has_its_say_and_one_that_lies_farther_is_named(
    beside_mm: float, is_used: bool
) -> None:
    camera = painted.view()
    x_mm, y_mm = MARKERS.centres_mm[1]
    said = replace(MARKERS, centres_mm={**MARKERS.centres_mm, 1: (x_mm, y_mm + beside_mm)})
    found = register(without_lines(camera), painted.scene(camera, markers=said))
    assert off_mm(found, camera) < (beside_mm if is_used else 0.5)
    assert isinstance(found, BoardView)
    assert (1 in found.markers_used) is is_used
    assert found.moved_mm == ({} if is_used else {1: pytest.approx(beside_mm, abs=0.5)})


def test_the_error_that_markers_alone_are_told_to_have_holds_though_they_were_laid_badly() -> None:
    rng = np.random.default_rng(5)
    camera = painted.view(tilt_rad=0.1)
    bare = without_lines(camera)
    off, said = [], []
    for k in range(16):
        laid_mm = rng.normal(0.0, 1.5, (4, 2))
        if k % 2:
            laid_mm = np.zeros((4, 2))
            laid_mm[k // 2 % 4, k // 8] = rng.choice([-6.0, 6.0])
        told = {
            n: (x + dx, y + dy)
            for (n, (x, y)), (dx, dy) in zip(MARKERS.centres_mm.items(), laid_mm, strict=True)
        }
        found = register(bare, painted.scene(camera, markers=replace(MARKERS, centres_mm=told)))
        assert isinstance(found, BoardView), found
        rim = BOARD[[0, 3, 8, 11]]
        off.append(np.linalg.norm(found.on_plane(camera.project(rim)) - rim[:, :2], axis=1).max())
        said.append(found.error_mm)
    within = np.array(off) / np.array(said)
    assert (within < 2.5).mean() > 0.85  # of the worst corner of the four
    assert np.median(said) < 5.0


def test_a_board_that_its_markers_place_only_roughly_is_told() -> None:
    camera = painted.view()
    x_mm, y_mm = MARKERS.centres_mm[1]
    said = replace(MARKERS, centres_mm={**MARKERS.centres_mm, 1: (x_mm, y_mm + 6.0)})
    for markers, lines, told in ((said, False, True), (MARKERS, False, False), (said, True, False)):
        scene = painted.scene(camera, markers=markers)
        found = register(Table(camera).paint() if lines else without_lines(camera), scene)
        assert isinstance(found, BoardView)
        assert (only_roughly(found, scene) is not None) is told


def test_what_places_the_board_only_roughly_is_named() -> None:
    camera = replace(painted.view(), error_mm=6.0)
    scene = painted.scene(camera)
    by_markers, by_corners = (
        only_roughly(replace(camera, markers_used=used), scene) for used in ((0, 3), ())
    )
    assert by_markers == "the board's lines are not seen, and its markers place it only to 6 mm"
    assert by_corners == "the board's lines are not seen, and its corners place it only to 6 mm"
    assert only_roughly(replace(camera, lines_used=200), scene) is None


def test_two_markers_that_were_moved_are_both_left_out_and_named() -> None:
    camera = painted.view()
    shown = replace(
        MARKERS, centres_mm={**MARKERS.centres_mm, 4: (-30.0, 300.0), 5: (390.0, 305.0), 6: (-30.0, 560.0)}
    )
    told = {**shown.centres_mm, 1: (390.0, 50.0), 4: (-60.0, 300.0)}
    found = register(
        without_lines(camera, shown), painted.scene(camera, markers=replace(shown, centres_mm=told))
    )
    assert off_mm(found, camera) < 0.5
    assert isinstance(found, BoardView)
    assert not {1, 4} & set(found.markers_used)
    assert found.moved_mm == {1: pytest.approx(25.0, abs=0.5), 4: pytest.approx(30.0, abs=0.5)}


def test_a_marker_that_is_used_though_it_lies_a_little_beside_its_place_is_not_told_to_be_left_out() -> None:
    camera = small_camera()
    x_mm, y_mm = MARKERS.centres_mm[1]
    said = replace(MARKERS, centres_mm={**MARKERS.centres_mm, 1: (x_mm, y_mm + 8.0)})
    found = register(Table(camera).paint(), painted.scene(camera, markers=said))
    assert off_mm(found, camera) < 2.0
    assert isinstance(found, BoardView)
    assert found.markers_used == (0, 1, 2, 3)
    assert found.moved_mm == {}


@pytest.mark.parametrize(("moved", "hidden"), [(0, 3), (2, 1), (3, 1), (1, 3)])
def test_of_three_markers_one_that_was_moved_is_found_out_by_the_boards_lines(
    moved: int, hidden: int
) -> None:
    """Three do not tell which of them lies wrongly."""
    camera = painted.view(tilt_rad=0.04)
    x_mm, y_mm = MARKERS.centres_mm[moved]
    lie_at_mm = {**MARKERS.centres_mm, moved: (x_mm + (30.0 if x_mm > 0 else -30.0), y_mm)}
    del lie_at_mm[hidden]
    picture = Table(camera, markers=replace(MARKERS, centres_mm=lie_at_mm)).paint()
    found = register(picture, painted.scene(camera))
    assert off_mm(found, camera) < 0.5
    assert isinstance(found, BoardView)
    assert found.moved_mm == {moved: pytest.approx(30.0, abs=0.5)}


@pytest.mark.parametrize("times", [0.85, 0.95, 1.05, 1.15])
def test_squares_that_are_measured_wrongly_are_told_by_the_boards_lines(times: float) -> None:
    camera = painted.view(tilt_rad=0.05)
    found = register(Table(camera).paint(), painted.scene(camera, square_mm=45.0 * times))
    assert isinstance(found, NoBoard), found
    assert "lines lie up to" in found.reason
    assert "square_mm" in found.reason


@pytest.mark.parametrize("times", [0.97, 0.98, 1.02, 1.03])
def test_squares_that_are_nearly_right_are_told_or_made_good_by_the_boards_lines(times: float) -> None:
    camera = painted.view(tilt_rad=0.05)
    found = register(Table(camera).paint(), painted.scene(camera, square_mm=45.0 * times))
    if isinstance(found, NoBoard):
        assert "lines lie up to" in found.reason
    else:
        off = found.on_plane(camera.project(BOARD)) - times * BOARD[:, :2]
        assert np.linalg.norm(off, axis=1).max() < 0.2 * 45.0


def test_markers_that_are_measured_wrongly_are_told_by_the_boards_lines() -> None:
    camera = painted.view(tilt_rad=0.05)
    # Twenty millimetres to the right of where they lie, as from the board's rim in place of its first line.
    shifted = {number: (x_mm + 20, y_mm) for number, (x_mm, y_mm) in MARKERS.centres_mm.items()}
    said = replace(MARKERS, centres_mm=shifted)
    found = register(Table(camera).paint(), painted.scene(camera, markers=said))
    assert isinstance(found, NoBoard), found
    assert "lines lie up to 20 mm beside" in found.reason


def test_a_board_without_lines_is_placed_by_its_markers_alone() -> None:
    camera = painted.view(tilt_rad=0.05)
    found = register(without_lines(camera), painted.scene(camera))
    assert off_mm(found, camera) < 1.5
    assert isinstance(found, BoardView)
    assert found.lines_used == 0


def test_a_mirrored_picture_is_told_though_one_mirrored_marker_is_like_another() -> None:
    camera = painted.view()
    table = Table(camera, markers=MARKERS).paint()
    book = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    like = cv2.cvtColor(
        cv2.copyMakeBorder(cv2.aruco.generateImageMarker(book, 0, 36), 8, 8, 8, 8, 0, value=255),
        cv2.COLOR_GRAY2BGR,
    )
    mirrored = np.ascontiguousarray(table[:, ::-1])
    assert register(mirrored, painted.scene(camera)) == NoBoard(
        "the board's markers are seen in a mirror: is the picture flipped?"
    )
    mirrored[: len(like), : len(like)] = like
    found = register(mirrored, painted.scene(camera))
    assert isinstance(found, NoBoard)
    assert "mirror" in found.reason


@pytest.mark.parametrize(
    "absurd",
    [
        {"markers": replace(MARKERS, size_mm=1e-3)},
        {"markers": replace(MARKERS, size_mm=1.0)},
        {"markers": replace(MARKERS, size_mm=1e9)},
        {"markers": replace(MARKERS, centres_mm=dict.fromkeys(MARKERS.centres_mm, (5.0, 5.0)))},
        {"distortion": (1e10, 0.0, 0.0, 0.0, 0.0)},
        {"distortion": (0.0, 0.0, 1e5, 0.0, 0.0)},
        {"distortion": (0.0, 0.0, 100.0, 0.0, 0.0)},
        {"intrinsics": (np.inf, 590.0, 239.5, 134.5)},
        {"square_mm": 1e4},
        {"markers": None, "corners_px": ((9.0, 9.0),) * 4},
        {"markers": None, "corners_px": ((0.0, 0.0), (9.0, 9.0), (20.0, 20.0), (40.0, 40.0))},
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_cannot_be_a_board_is_answered_with_a_sentence(absurd: dict[str, object]) -> None:
    camera = painted.view(width_px=480, height_px=270, focal_px=590)
    found = register(Table(camera).paint(), painted.scene(camera, **absurd))
    assert isinstance(found, NoBoard), found
    said = (
        "do not lie where they should",
        "cannot be those of a board",
        "place the board only to",
        "given corners",
    )
    assert any(words in found.reason for words in said)
    assert "\n" not in found.reason


def test_given_corners_place_the_board() -> None:
    camera = painted.view(tilt_rad=0.05)
    corners = tuple(
        map(tuple, camera.project(np.array([(x, y, 0) for x, y in painted.scene(camera).outline_mm])))
    )
    scene = painted.scene(camera, markers=None, corners_px=corners)
    found = register(Table(camera, markers=None).paint(), scene)
    # The lines decide, and they are painted up to half a pixel of the print, 0.25 mm in x and y, beside their place.
    assert off_mm(found, camera) < 0.5
    assert isinstance(found, BoardView)
    assert found.markers_used == ()


def test_mirrored_corners_are_refused() -> None:
    camera = painted.view()
    corners = camera.project(np.array([(x, y, 0) for x, y in painted.scene(camera).outline_mm]))
    mirrored = tuple((camera.width_px - 1 - u, v) for u, v in corners)
    found = register(
        Table(camera, markers=None).paint(), painted.scene(camera, markers=None, corners_px=mirrored)
    )
    assert isinstance(found, NoBoard)
    assert "mirrored" in found.reason


def test_corners_of_no_board_are_refused() -> None:
    camera = painted.view()
    scene = painted.scene(camera, markers=None, corners_px=((100, 100), (110, 400), (900, 120), (300, 130)))
    found = register(Table(camera, markers=None).paint(), scene)
    assert isinstance(found, NoBoard)
    assert found.reason == "the four given corners are not those of a board of 360 by 810 mm seen from above"


@pytest.mark.parametrize(
    ("markers", "said"),
    [
        (None, "none of the markers 0, 1, 2, 3"),
        (replace(MARKERS, centres_mm={7: (-30.0, 30.0), 8: (390.0, 700.0)}), "no board in the picture"),
    ],
)
def test_a_picture_without_board_says_so(markers: MarkerMap | None, said: str) -> None:
    camera = painted.view()
    found = register(Table(camera, markers=markers).paint(), painted.scene(camera))
    assert isinstance(found, NoBoard)
    assert said in found.reason


def test_two_boards_are_told() -> None:
    camera = painted.view(width_px=960, height_px=540)
    one = Table(camera).paint()
    found = register(np.vstack([one, one]), painted.scene(camera, intrinsics=None, distortion=None))
    assert isinstance(found, NoBoard)
    assert "two boards" in found.reason


def test_every_square_has_its_error_and_it_holds() -> None:
    errors, said = [], []
    for k in range(6):
        camera = painted.view(roll_rad=k, tilt_rad=0.04 * k, width_px=900, height_px=900, focal_px=950)
        found = register(Table(camera, seed=k).paint(), painted.scene(camera))
        assert isinstance(found, BoardView), found
        assert found.square_error_mm is not None
        rows, files = np.mgrid[0:18, 0:8]
        middles = np.column_stack([files.ravel() + 0.5, rows.ravel() + 0.5, np.zeros(144)]) * (45, 45, 1)
        errors.append(np.linalg.norm(found.on_plane(camera.project(middles)) - middles[:, :2], axis=1))
        said.append(found.square_error_mm.ravel())
        assert 0.01 < found.square_error_mm.min() <= found.square_error_mm.max() < 1.0
    within = np.array(errors) / np.array(said)
    assert (within < 3).mean() > 0.95


PEOPLE = tuple(
    painted.Figure(Side(side), x, y)
    for side, x, y in [
        ("A", 67, 112),
        ("A", 157, 202),
        ("A", 292, 67),
        ("A", 22, 247),
        ("G", 202, 742),
        ("G", 337, 607),
        ("G", 112, 697),
    ]
)
WHERE = {
    min(ALL_SQUARES, key=lambda square: math.dist(square.centre_mm(45.0), (f.x_mm, f.y_mm))): f.side
    for f in PEOPLE
}


@pytest.mark.parametrize("roll_rad", [0.0, 0.5, math.pi, -1.2])
def test_the_board_is_found_by_its_pattern_and_its_ends_by_the_soldiers(roll_rad: float) -> None:
    camera = painted.view(width_px=960, height_px=900, roll_rad=roll_rad, tilt_rad=0.1, focal_px=1000)
    scene = painted.scene(camera, markers=None, expected=WHERE)
    found = register(Table(camera, markers=None, figures=PEOPLE).paint(), scene)
    assert off_mm(found, camera) < 0.6
    assert isinstance(found, BoardView)
    assert found.lines_used > 200


def test_a_board_that_looks_the_same_from_either_end_is_not_guessed() -> None:
    camera = painted.view(width_px=960, height_px=900, focal_px=1000)
    found = register(Table(camera, markers=None).paint(), painted.scene(camera, markers=None))
    assert isinstance(found, NoBoard)
    assert "which end" in found.reason


def test_two_boards_without_markers_are_told() -> None:
    camera = painted.view(width_px=700, height_px=400, focal_px=560)
    one = Table(camera, markers=None).paint()
    scene = painted.scene(camera, markers=None, intrinsics=None, distortion=None)
    found = register(np.vstack([one, one]), scene)
    assert isinstance(found, NoBoard)
    assert "two boards" in found.reason


def test_a_bare_table_has_no_board() -> None:
    camera = painted.view()
    bare = np.random.default_rng(1).normal(120, 9, (540, 960, 3)).clip(0, 255).astype(np.uint8)
    found = register(bare, painted.scene(camera, markers=None))
    assert isinstance(found, NoBoard)
    assert "no board" in found.reason


def test_corners_given_from_the_wrong_end_are_told_by_the_soldiers() -> None:
    camera = painted.view()
    outline = [(x, y, 0.0) for x, y in painted.scene(camera).outline_mm]
    corners = [(float(u), float(v)) for u, v in camera.project(np.array(outline))]
    scene = painted.scene(camera, markers=None, expected=WHERE)
    picture = Table(camera, markers=None, figures=PEOPLE).paint()
    assert isinstance(register(picture, replace(scene, corners_px=tuple(corners))), BoardView)
    found = register(picture, replace(scene, corners_px=tuple(corners[2:] + corners[:2])))
    assert isinstance(found, NoBoard)
    assert "upside down" in found.reason


@pytest.mark.parametrize("tilt_rad", [0.05, 0.2])
def test_a_board_that_its_lines_place_is_as_far_off_as_is_said(tilt_rad: float) -> None:
    """The edges along one line share what is wrong with it: they tell less than as many by themselves."""
    camera = painted.view(width_px=900, height_px=900, tilt_rad=tilt_rad, focal_px=900)
    found = register_with(Table(camera, markers=None).paint(), camera, corners_of(camera))
    assert isinstance(found, BoardView)
    assert found.lines_used > 200
    assert off_mm(found, camera) < 2.5 * found.error_mm
    assert found.error_mm < 0.3


def test_corners_clicked_by_hand_are_made_good_by_the_lines() -> None:
    camera = painted.view(tilt_rad=0.08)
    outline = [(x, y, 0.0) for x, y in painted.scene(camera).outline_mm]
    clicked = camera.project(np.array(outline)) + np.array([(3, -2), (-2, 3), (2, 3), (-3, -2)])
    corners = tuple((float(u), float(v)) for u, v in clicked)
    found = register(
        Table(camera, markers=None).paint(), painted.scene(camera, markers=None, corners_px=corners)
    )
    assert off_mm(found, camera) < 0.6


def off_centre() -> BoardView:
    """A camera to which a picture turned over shows the board elsewhere."""
    camera = painted.view(tilt_rad=0.04, roll_rad=0.1, height_mm=1300.0)
    return replace(camera, translation_mm=camera.translation_mm + np.array([30.0, -45.0, 0.0]))


def corners_of(camera: BoardView, beside_mm: tuple[float, float] = (0.0, 0.0)) -> NDArray[np.float64]:
    outline = np.array([(x, y, 0.0) for x, y in painted.scene(camera).outline_mm])
    return camera.project(outline + np.array((*beside_mm, 0.0)))


BARE = {
    checkered: Table(off_centre(), checkered=checkered, markers=None).paint() for checkered in (False, True)
}


def register_with(
    picture: NDArray[np.uint8], camera: BoardView, corners: NDArray[np.float64]
) -> BoardView | NoBoard:
    told = tuple((float(u), float(v)) for u, v in corners)
    return register(picture, painted.scene(camera, markers=None, corners_px=told))


@pytest.mark.parametrize(
    ("checkered", "off_px"),
    [
        (False, [(-2, 12), (-22, 1), (9, -24), (-12, 11)]),
        (True, [(-3, 5), (12, -8), (-18, 12), (0, 7)]),
    ],
    ids=["ruled", "checkered"],
)
def test_corners_clicked_so_roughly_that_most_lines_are_taken_for_others_are_made_good(
    checkered: bool, off_px: list[tuple[int, int]]
) -> None:
    """The lines are gone over again in smaller steps."""
    camera = off_centre()
    found = register_with(BARE[checkered], camera, corners_of(camera) + np.array(off_px))
    assert off_mm(found, camera) < 0.6
    assert isinstance(found, BoardView)
    assert found.lines_used > 250


@pytest.mark.parametrize(
    "beside_mm", [(30.0, 0.0), (0.0, 30.0), (45.0, 0.0), (-45.0, 0.0), (0.0, 45.0), (0.0, -45.0)], ids=str
)
@pytest.mark.parametrize("checkered", [False, True])
def test_corners_that_lie_beside_the_board_are_told_though_its_lines_are_alike_there(
    beside_mm: tuple[float, float], checkered: bool
) -> None:
    camera = off_centre()
    picture = Table(camera, checkered=checkered, markers=None).paint()
    found = register_with(picture, camera, corners_of(camera, beside_mm))
    if isinstance(found, NoBoard):
        assert "mm beside the board's lines" in found.reason
    else:
        assert max(map(abs, beside_mm)) < painted.SQUARE_MM, (
            "a whole square off, the lines there are other lines"
        )
        assert off_mm(found, camera) < 0.6, "half a square off, the lines may make them good"


@given(
    along_x=st.floats(-1.2, 1.2),
    along_y=st.floats(-1.2, 1.2),
    checkered=st.booleans(),
)
@settings(max_examples=60)
def test_however_far_corners_lie_beside_the_board_they_are_made_good_or_refused(
    along_x: float, along_y: float, checkered: bool
) -> None:
    camera = off_centre()
    beside_mm = (along_x * painted.SQUARE_MM, along_y * painted.SQUARE_MM)
    found = register_with(BARE[checkered], camera, corners_of(camera, beside_mm))
    if isinstance(found, BoardView):
        assert off_mm(found, camera) < 0.6


@pytest.mark.parametrize("checkered", [False, True])
@pytest.mark.parametrize("squares", [0.25, 0.5, 1.0])
def test_a_board_begins_and_ends_only_where_its_border_is(squares: float, checkered: bool) -> None:
    camera = off_centre()
    scene = painted.scene(camera, markers=None)
    assert begins_and_ends(grey(BARE[checkered]), camera, scene)
    for along in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1)):
        beside = np.array([*along, 0]) * squares * painted.SQUARE_MM
        moved = replace(camera, translation_mm=camera.translation_mm + camera.rotation @ beside)
        assert not begins_and_ends(grey(BARE[checkered]), moved, scene), (along, squares)


def test_a_border_without_lines_within_is_no_board_that_begins_and_ends() -> None:
    camera = off_centre()
    picture = BARE[False].copy()
    inset_mm = 0.1 * painted.SQUARE_MM
    width_mm, length_mm = 8 * painted.SQUARE_MM, 18 * painted.SQUARE_MM
    within = [(inset_mm, inset_mm), (width_mm - inset_mm, inset_mm)]
    within += [(width_mm - x_mm, length_mm - y_mm) for x_mm, y_mm in within]
    pixels = camera.project(np.array([(*point, 0.0) for point in within]))
    cv2.fillConvexPoly(picture, np.round(pixels).astype(np.int32), (120, 130, 125))
    assert not begins_and_ends(grey(picture), camera, painted.scene(camera, markers=None))


def with_lines_beyond(checkered: bool, files: range) -> NDArray[np.uint8]:
    """A board whose lines between these files go on in pencil over one square more, beyond G-1 to G-8."""
    picture = BARE[checkered].copy()
    end_mm, square_mm = 18 * painted.SQUARE_MM, painted.SQUARE_MM
    lines = [((file * square_mm, end_mm), (file * square_mm, end_mm + square_mm)) for file in files]
    lines.append(tuple((file * square_mm, end_mm + square_mm) for file in (files[0], files[-1])))
    for line in lines:
        ends = off_centre().project(np.array([(*end, 0.0) for end in line]))
        first, last = (tuple(int(c) for c in np.round(16 * end)) for end in ends)
        cv2.line(picture, first, last, (60, 80, 100), 1, cv2.LINE_AA, 4)
    return picture


@pytest.mark.parametrize("checkered", [False, True])
def test_corners_a_row_off_are_told_though_one_row_more_is_pencilled_there(checkered: bool) -> None:
    """All the lines of a board are there then, and its border; only they go on at the other end."""
    camera = off_centre()
    picture = with_lines_beyond(checkered, range(9))
    assert off_mm(register_with(picture, camera, corners_of(camera)), camera) < 0.6
    found = register_with(picture, camera, corners_of(camera, (0.0, painted.SQUARE_MM)))
    assert isinstance(found, NoBoard), found
    assert "45 mm beside the board's lines" in found.reason


@pytest.mark.parametrize(("files", "ends"), [(range(1, 4), True), (range(1, 7), False)], ids=["3", "6"])
def test_a_board_ends_where_few_lines_lie_beyond(files: range, ends: bool) -> None:
    scene = painted.scene(off_centre(), markers=None)
    assert begins_and_ends(grey(with_lines_beyond(False, files)), off_centre(), scene) is ends


@pytest.mark.parametrize("by", [1, 3])
@pytest.mark.parametrize("guessed_lens", [False, True])
def test_corners_that_do_not_begin_at_a_1_or_g_1_are_told(by: int, guessed_lens: bool) -> None:
    camera = off_centre()
    told = tuple((float(u), float(v)) for u, v in np.roll(corners_of(camera), by, axis=0))
    scene = painted.scene(camera, markers=None, corners_px=told)
    if guessed_lens:
        scene = replace(scene, intrinsics=None, distortion=None)
    found = register(Table(camera, markers=None).paint(), scene)
    assert isinstance(found, NoBoard), found
    assert "in the wrong order" in found.reason


def test_corners_one_along_place_no_board_though_its_lines_are_not_seen() -> None:
    camera = off_centre()
    bare = np.random.default_rng(1).normal(120, 9, (540, 960, 3)).clip(0, 255).astype(np.uint8)
    assert isinstance(register_with(bare, camera, corners_of(camera)), BoardView)
    found = register_with(bare, camera, np.roll(corners_of(camera), 1, axis=0))
    assert isinstance(found, NoBoard)
    assert "not those of a board" in found.reason


@pytest.mark.parametrize(
    ("turned", "said"),
    [(np.s_[:, ::-1], "mirrored"), (np.s_[::-1], "mirrored"), (np.s_[::-1, ::-1], "turned by half")],
    ids=["left to right", "upside down, as in a mirror", "upside down"],
)
def test_a_film_that_was_turned_over_since_its_corners_were_told_is_told(
    turned: tuple[slice, ...], said: str
) -> None:
    camera = off_centre()
    picture = np.ascontiguousarray(Table(camera, markers=None).paint()[turned])
    found = register_with(picture, camera, corners_of(camera))
    assert isinstance(found, NoBoard), found
    assert f"and would not if the picture were {said}" in found.reason


@pytest.mark.parametrize(
    "centre_px", [(959.5, 539.5), (479.5, 359.5), (639.5, 269.5)], ids=["both", "its height", "its width"]
)
def test_a_lens_for_another_size_of_picture_is_told(centre_px: tuple[float, float]) -> None:
    camera = painted.view()
    found = register(Table(camera).paint(), painted.scene(camera, intrinsics=(2360.0, 2360.0, *centre_px)))
    assert isinstance(found, NoBoard)
    assert "another size" in found.reason


def test_a_pattern_of_which_no_line_is_found_places_no_board() -> None:
    """In a picture so small squares are seen, and where their lines are is not."""
    picture = Table(painted.view(width_px=800, height_px=450, focal_px=980)).paint()
    small = np.asarray(cv2.resize(picture, (160, 90), interpolation=cv2.INTER_AREA), dtype=np.uint8)
    camera = painted.view(width_px=160, height_px=90, focal_px=196)
    assert register(small, painted.scene(camera, markers=None)) == NoBoard(
        "a pattern of squares is seen, but its lines are not those of one board"
    )


def test_a_lens_whose_centre_is_no_place_is_told_in_a_line() -> None:
    camera = painted.view()
    found = register(Table(camera).paint(), painted.scene(camera, intrinsics=(2360.0, 2360.0, 1e300, 360.0)))
    assert isinstance(found, NoBoard)
    assert "its centre (1e+300, 360) px" in found.reason


def test_a_marker_with_a_covered_corner_does_not_bend_the_pose() -> None:
    camera = painted.view()
    picture = Table(camera).paint()
    x_mm, y_mm = MARKERS.centres_mm[1]
    corner = camera.project(np.array([[x_mm + 18, y_mm + 18, 0.0]]))[0]
    cv2.circle(picture, (round(corner[0]), round(corner[1])), 4, (60, 80, 90), -1)
    assert off_mm(register(picture, painted.scene(camera)), camera) < 0.4


def test_a_covered_lens_is_told() -> None:
    camera = painted.view()
    found = register(np.full((540, 960, 3), 3, dtype=np.uint8), painted.scene(camera))
    assert isinstance(found, NoBoard)
    assert "black" in found.reason


def test_a_dictionary_that_does_not_exist_is_told() -> None:
    camera = painted.view()
    found = register(
        Table(camera).paint(), painted.scene(camera, markers=replace(MARKERS, dictionary="DICT_9X9_1"))
    )
    assert isinstance(found, NoBoard)
    assert "DICT_9X9_1" in found.reason


@pytest.mark.parametrize("number", sorted(MARKERS.centres_mm))
def test_one_marker_says_which_end_is_whose_and_the_lines_where_the_board_is(number: int) -> None:
    """The others are covered; the board's own lines place it."""
    camera = painted.view(tilt_rad=0.03)
    picture = Table(camera, tuple(painted.standing(painted.CROWD).values())).paint()
    for other, (x_mm, y_mm) in MARKERS.centres_mm.items():
        if other != number:
            ((u, v),) = camera.project(np.array([[x_mm, y_mm, 0.0]]))
            cv2.circle(picture, (round(u), round(v)), 12, (60, 70, 80), -1)
    found = register(picture, painted.scene(camera))
    assert off_mm(found, camera) < 1.0
    assert isinstance(found, BoardView)
    assert found.markers_used == (number,)


@pytest.mark.parametrize(("beside_mm", "is_believed"), [(6.0, True), (22.0, False)])
def test_one_marker_places_the_board_only_where_it_lies_about_where_it_should(
    beside_mm: float, is_believed: bool
) -> None:
    camera = painted.view(tilt_rad=0.03)
    x_mm, y_mm = MARKERS.centres_mm[1]
    shown = replace(MARKERS, centres_mm={1: (x_mm, y_mm)})
    said = replace(MARKERS, centres_mm={**MARKERS.centres_mm, 1: (x_mm + beside_mm, y_mm)})
    found = register(Table(camera, markers=shown).paint(), painted.scene(camera, markers=said))
    if is_believed:
        assert off_mm(found, camera) < 1.0
    else:
        assert isinstance(found, NoBoard)
        assert "only marker 1" in found.reason


def test_one_marker_on_a_table_without_a_board_places_nothing() -> None:
    camera = painted.view()
    picture = np.full((camera.height_px, camera.width_px, 3), (70, 90, 110), np.uint8)
    ((u, v),) = camera.project(np.array([[*MARKERS.centres_mm[0], 0.0]]))
    window = np.s_[round(v) - 40 : round(v) + 40, round(u) - 40 : round(u) + 40]
    picture[window] = Table(camera).paint()[window]
    refused = register(picture, painted.scene(camera))
    assert isinstance(refused, NoBoard)
    assert "only marker 0" in refused.reason


def faint(camera: BoardView, markers: MarkerMap | None = MARKERS) -> NDArray[np.uint8]:
    """A picture so small and soft that no bit of a marker is told by itself."""
    return np.asarray(cv2.GaussianBlur(Table(camera, markers=markers).paint(), (0, 0), 0.8), dtype=np.uint8)


def small_camera(roll_rad: float = 0.0, tilt_rad: float = 0.0) -> BoardView:
    """A camera that shows markers 12 px wide."""
    return painted.view(width_px=640, height_px=400, focal_px=417.0, roll_rad=roll_rad, tilt_rad=tilt_rad)


@pytest.mark.parametrize("roll_rad", [0.0, 1.2, math.pi, -1.9])
def test_markers_too_small_to_be_decoded_place_the_board_by_their_print(roll_rad: float) -> None:
    camera = small_camera(roll_rad=roll_rad, tilt_rad=0.1)
    found = register(faint(camera), painted.scene(camera))
    assert off_mm(found, camera) < 0.8
    assert isinstance(found, BoardView)
    assert len(found.markers_used) >= 2
    assert off_mm(found, camera) < 3 * found.error_mm < 3.0


@pytest.mark.parametrize("roll_rad", [0.0, 0.5, 1.2, math.pi])
def test_a_small_board_is_found_by_its_pattern(roll_rad: float) -> None:
    # Its squares are 14 px wide, and soft: its lines are hardly seen in pieces of ten pixels.
    camera = painted.view(width_px=640, height_px=400, focal_px=380.0, roll_rad=roll_rad, tilt_rad=0.1)
    people = np.asarray(
        cv2.GaussianBlur(Table(camera, markers=None, figures=PEOPLE).paint(), (0, 0), 0.8), dtype=np.uint8
    )
    assert off_mm(register(people, painted.scene(camera, markers=None, expected=WHERE)), camera) < 2.0


@pytest.mark.parametrize("hidden", [(0, 1), (0, 3), (2, 3)])
def test_two_prints_are_enough(hidden: tuple[int, int]) -> None:
    camera = small_camera(tilt_rad=0.05)
    shown = replace(MARKERS, centres_mm={i: c for i, c in MARKERS.centres_mm.items() if i not in hidden})
    found = register(faint(camera, shown), painted.scene(camera))
    assert off_mm(found, camera) < 1.0
    assert isinstance(found, BoardView)
    assert not set(found.markers_used) & set(hidden)


@pytest.mark.parametrize(("down_px", "whole"), [(-129.0, (1, 3)), (131.0, (0, 2))], ids=["above", "below"])
def test_prints_that_the_edge_of_the_picture_cuts_are_left_out(
    down_px: float, whole: tuple[int, int]
) -> None:
    """Each other one is seen by half."""
    camera = small_camera()
    shift_mm = down_px / 417.0 * camera.translation_mm[2]
    camera = replace(camera, translation_mm=camera.translation_mm + np.array([0.0, shift_mm, 0.0]))
    found = register(faint(camera), painted.scene(camera))
    assert off_mm(found, camera) < 2.0
    assert isinstance(found, BoardView)
    assert found.markers_used == whole


@pytest.mark.parametrize(
    ("shown", "said"),
    [
        (None, "none of the markers 0, 1, 2, 3 of DICT_4X4_50 is seen"),
        (
            replace(MARKERS, centres_mm={i + 4: c for i, c in MARKERS.centres_mm.items()}),
            "none of the markers 0, 1, 2, 3 of DICT_4X4_50 is seen",
        ),
        (
            replace(MARKERS, centres_mm={3 - i: c for i, c in MARKERS.centres_mm.items() if i != 2}),
            "do not lie where they should",
        ),
    ],
)
def test_prints_of_other_markers_place_nothing(shown: MarkerMap | None, said: str) -> None:
    """A board is seen, but none of the markers that tell its ends, or only where they should not lie."""
    camera = small_camera()
    found = register(faint(camera, shown), painted.scene(camera))
    assert isinstance(found, NoBoard)
    assert said in found.reason


def test_a_mirrored_picture_is_told() -> None:
    camera = painted.view()
    found = register(np.ascontiguousarray(Table(camera).paint()[:, ::-1]), painted.scene(camera))
    assert isinstance(found, NoBoard)
    assert "mirror" in found.reason


def test_a_mirrored_picture_of_small_markers_places_nothing() -> None:
    camera = small_camera()
    found = register(np.ascontiguousarray(faint(camera)[:, ::-1]), painted.scene(camera))
    assert isinstance(found, NoBoard)
    assert "seen in a mirror" in found.reason


def with_stray(camera: BoardView, number: int, covered: bool) -> NDArray[np.uint8]:
    """A table on which another marker of the same number lies beside the board; the board's own may be covered."""
    picture = Table(camera).paint()
    x_mm, y_mm = MARKERS.centres_mm[number]
    u, v = np.rint(camera.project(np.array([[x_mm, y_mm, 0.0]]))[0]).astype(int)
    own = picture[v - 28 : v + 28, u - 28 : u + 28].copy()
    picture[20:76, 450:506] = own
    if covered:
        cv2.circle(picture, (int(u), int(v)), 22, (60, 70, 80), -1)
    return picture


@pytest.mark.parametrize("number", sorted(MARKERS.centres_mm))
@pytest.mark.parametrize("covered", [False, True])
def test_a_marker_lying_about_with_a_number_of_the_boards_is_left_out(number: int, covered: bool) -> None:
    camera = painted.view(tilt_rad=0.04)
    found = register(with_stray(camera, number, covered), painted.scene(camera))
    assert off_mm(found, camera) < 0.5
    assert isinstance(found, BoardView)
    assert (number in found.markers_used) is not covered


def test_two_markers_lying_about_with_the_number_of_a_covered_one_may_be_two_boards() -> None:
    camera = painted.view(tilt_rad=0.04)
    picture = with_stray(camera, 1, covered=True)
    picture[464:520, 450:506] = picture[20:76, 450:506]
    found = register(picture, painted.scene(camera))
    assert isinstance(found, NoBoard), found
    assert found.reason == "marker 1 is in the picture 2 times: are there two boards?"


@pytest.mark.parametrize("shown", [(0, 1), (2, 3)])
def test_two_markers_at_one_end_do_not_leave_the_other_to_chance(shown: tuple[int, int]) -> None:
    """With an unknown lens and a camera 10 degrees from upright."""
    camera = painted.view(tilt_rad=0.15, distortion=(-0.1, 0, 0, 0, 0))
    seen = replace(MARKERS, centres_mm={i: MARKERS.centres_mm[i] for i in shown})
    picture = Table(camera, tuple(painted.standing(painted.CROWD).values()), markers=seen).paint()
    assert off_mm(register(picture, painted.scene(camera, intrinsics=None, distortion=None)), camera) < 1.5


@pytest.mark.parametrize(("shown", "tilt_rad"), [((0, 1), -0.3), ((2, 3), 0.3)])
def test_lines_so_far_from_the_markers_that_they_may_be_their_neighbours_are_not_taken_at_once(
    shown: tuple[int, int], tilt_rad: float
) -> None:
    """Nearer ones place the camera first, and then those too."""
    camera = painted.view(
        width_px=640, height_px=480, focal_px=544.0, tilt_rad=tilt_rad, distortion=(-0.1, 0, 0, 0, 0)
    )
    seen = replace(MARKERS, centres_mm={i: MARKERS.centres_mm[i] for i in shown})
    found = register(
        Table(camera, markers=seen).paint(), painted.scene(camera, intrinsics=None, distortion=None)
    )
    assert off_mm(found, camera) < 1.0
    assert isinstance(found, BoardView)
    assert found.lines_used > 250


def test_a_second_board_of_another_size_is_told_without_markers() -> None:
    near, far = (
        Table(painted.view(width_px=width, height_px=400, focal_px=focal), markers=None).paint()
        for width, focal in ((700, 560.0), (700, 430.0))
    )
    scene = painted.scene(painted.view(), markers=None, intrinsics=None, distortion=None)
    found = register(np.vstack([near, far]), scene)
    assert isinstance(found, NoBoard)
    assert "two boards" in found.reason


def test_a_board_that_its_markers_do_not_place_well_enough_is_refused() -> None:
    """Two markers at one end of a table without any lines, an unknown lens: the other end may be anywhere."""
    camera = small_camera(tilt_rad=0.15)
    picture = np.full((camera.height_px, camera.width_px, 3), (70, 90, 110), np.uint8)
    whole = faint(camera)
    for number in (0, 1):
        u, v = np.rint(camera.project(np.array([[*MARKERS.centres_mm[number], 0.0]]))[0]).astype(int)
        picture[v - 10 : v + 10, u - 10 : u + 10] = whole[v - 10 : v + 10, u - 10 : u + 10]
    found = register(picture, painted.scene(camera, intrinsics=None, distortion=None))
    assert isinstance(found, NoBoard)
    assert "show the camera more markers" in found.reason
