"""The lens from pictures of a board: found again, its error honest, bad pictures named."""

from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from board_pictures import LENS, SIZE_PX, photograph, poses

from vision.lens import (
    Calibrated,
    Chessboard,
    Flaw,
    Lens,
    NoLens,
    Sighting,
    Target,
    Unusable,
    calibrate,
    cover_roughly,
    printed_charuco,
    recognise,
    sight,
)
from vision.lens.adjust import Bend, adjust

CHESSBOARD = Chessboard(8, 6, 30.0)
CHARUCO = printed_charuco(30.0)


def sightings(target: Target, count: int) -> dict[str, Sighting | Unusable]:
    return {
        f"{k:02d}.png": sight(photograph(target, pose, seed=k), target)
        for k, pose in enumerate(poses(count, target))
    }


@pytest.fixture(scope="module")
def chessboard_seen() -> dict[str, Sighting | Unusable]:
    return sightings(CHESSBOARD, 14)


@pytest.mark.parametrize("target", [CHESSBOARD, CHARUCO], ids=str)
def test_the_lens_is_found_again(target: Target) -> None:
    found = calibrate(sightings(target, 14), target, SIZE_PX)
    assert isinstance(found, Calibrated), found
    assert found.lens.intrinsics_px == pytest.approx(LENS.intrinsics_px, abs=5.0)
    assert found.fitted_px < found.left_out_px < 0.3
    # What matters is where the lens puts things, not by which of its terms.
    rays = np.array([[x, y, 1.0] for x in np.linspace(-0.4, 0.4, 9) for y in np.linspace(-0.3, 0.3, 7)])
    true, fitted = (
        cv2.projectPoints(rays, np.zeros(3), np.zeros(3), each.matrix, np.array(each.distortion))[0]
        for each in (LENS, found.lens)
    )
    assert np.linalg.norm(true - fitted, axis=2).max() < 5.0


def test_more_terms_than_the_lens_has_are_not_taken(chessboard_seen: dict[str, Sighting | Unusable]) -> None:
    """The simplest model is taken whose error on pictures left out is as good as the best one's."""
    found = calibrate(chessboard_seen, CHESSBOARD, SIZE_PX)
    assert isinstance(found, Calibrated), found
    assert found.model.bend is not Bend.RATIONAL
    assert not found.model.bent_board
    assert min(trial.left_out_px for trial in found.trials) > 0.9 * found.left_out_px


def test_a_bent_board_is_measured_with_the_lens() -> None:
    """Corners that lie beside their printed places are not blamed on the lens."""
    rng = np.random.default_rng(5)
    flat = np.column_stack([CHESSBOARD.corners_mm, np.zeros(48)])
    bent = flat + rng.normal(0, 0.25, flat.shape)
    seen: dict[str, Sighting | Unusable] = {}
    for k, pose in enumerate(poses(16, CHESSBOARD)):
        pixels, _ = cv2.projectPoints(bent, pose[:3], pose[3:], LENS.matrix, np.array(LENS.distortion))
        seen[f"{k}"] = Sighting(np.arange(48), pixels.reshape(-1, 2) + rng.normal(0, 0.05, (48, 2)), 2.0)
    found = calibrate(seen, CHESSBOARD, SIZE_PX)
    assert isinstance(found, Calibrated), found
    assert found.model.bent_board
    assert found.left_out_px < 0.2
    as_printed = [t.left_out_px for t in found.trials if not t.model.bent_board]
    assert min(as_printed) > 1.5 * found.left_out_px


@pytest.mark.parametrize(("tilt_rad", "told"), [(0.01, False), (0.05, False), (0.5, True)])
def test_boards_that_hardly_lean_make_no_lens(tilt_rad: float, *, told: bool) -> None:
    """A near board before a short lens looks like a far one before a long lens: no focal length is better than any."""
    rng = np.random.default_rng(2)
    flat = np.column_stack([CHESSBOARD.corners_mm, np.zeros(48)])
    seen: dict[str, Sighting | Unusable] = {}
    for k in range(6):
        turn = np.array([(-1) ** k, (-1) ** (k // 2), 0.0]) * tilt_rad
        place = np.array([-105.0 + 15 * k, -75.0 + 10 * (k % 3), 380.0 + 20 * k])
        pixels, _ = cv2.projectPoints(flat, turn, place, LENS.matrix, np.array(LENS.distortion))
        seen[f"{k}"] = Sighting(np.arange(48), pixels.reshape(-1, 2) + rng.normal(0, 0.1, (48, 2)), 2.0)
    found = calibrate(seen, CHESSBOARD, SIZE_PX)
    assert isinstance(found, Calibrated) == told, found
    if isinstance(found, NoLens):
        assert "focal length" in found.reason
        assert "tilt its upper edge" in found.reason
        assert "turn its left edge" in found.reason


def test_boards_recognise_themselves() -> None:
    pose = next(poses(1, CHESSBOARD))
    shown = recognise([photograph(CHESSBOARD, pose)])
    assert isinstance(shown, Chessboard)
    assert (shown.columns, shown.rows) == (8, 6)
    assert str(recognise([photograph(CHARUCO, next(poses(1, CHARUCO)))])) == str(CHARUCO)
    assert recognise([np.full((360, 480), 128, np.uint8)]) is None


def test_a_charuco_board_in_a_mirror_is_told_as_one_and_never_taken_for_a_chessboard() -> None:
    picture = np.ascontiguousarray(photograph(CHARUCO, next(poses(1, CHARUCO)))[:, ::-1])
    assert str(recognise([picture])) == str(CHARUCO)
    found = sight(picture, CHARUCO)
    assert isinstance(found, Unusable)
    assert found.flaw is Flaw.MIRRORED
    assert found.reason == f"the {CHARUCO} is seen in a mirror: switch the camera's mirroring off"


@pytest.mark.parametrize(
    ("picture", "target", "flaw"),
    [
        (np.full((360, 480), 128, np.uint8), CHESSBOARD, Flaw.NO_BOARD),
        (np.full((360, 480), 128, np.uint8), CHARUCO, Flaw.NO_BOARD),
        (photograph(CHESSBOARD, next(poses(1, CHESSBOARD))), Chessboard(9, 6), Flaw.WRONG_BOARD),
        (photograph(CHESSBOARD, next(poses(1, CHESSBOARD)), blur_px=2.6, noise=0), CHESSBOARD, Flaw.BLURRED),
    ],
)
def test_a_picture_of_no_use_says_why(picture: np.ndarray, target: Target, flaw: Flaw) -> None:
    found = sight(picture, target)
    assert isinstance(found, Unusable)
    assert found.flaw is flaw


@pytest.mark.parametrize("size_px", [(1, 1), (14, 14), (1, 1000), (3000, 15), (10, 65535)])
@pytest.mark.parametrize("target", [CHESSBOARD, CHARUCO], ids=str)
def test_a_picture_too_small_for_any_board_is_told_as_that(size_px: tuple[int, int], target: Target) -> None:
    """As a thumbnail among the photographs: what searches them gives up on all."""
    picture = np.full(size_px[::-1], 128, np.uint8)
    found = sight(picture, target)
    assert isinstance(found, Unusable)
    assert found.flaw is Flaw.NO_BOARD
    assert found.reason == f"is {size_px[0]} x {size_px[1]} px, too small or too narrow to show a board"
    assert recognise([picture]) is None


def test_part_of_a_charuco_board_will_do() -> None:
    picture = photograph(CHARUCO, next(poses(1, CHARUCO)))
    whole = sight(picture, CHARUCO)
    assert isinstance(whole, Sighting)
    picture[:, : int(np.percentile(whole.pixels[:, 0], 30))] = 120
    found = sight(picture, CHARUCO)
    assert isinstance(found, Sighting), found
    assert 8 <= len(found.corners) < len(whole.corners)


def test_a_single_row_of_corners_is_too_little_of_the_board() -> None:
    """They are as many as are needed, but on one line: with such a picture among them, no set of pictures made a lens."""
    square_px = 80
    drawn = CHARUCO.board().generateImage((CHARUCO.columns * square_px, CHARUCO.rows * square_px))
    two_rows, three_rows = (
        np.vstack([drawn[: count * square_px], np.full((square_px, drawn.shape[1]), 255, np.uint8)])
        for count in (2, 3)
    )
    found = sight(two_rows, CHARUCO)
    assert isinstance(found, Unusable), found
    assert found.flaw is Flaw.FEW_CORNERS
    assert "8 of the 8 corners seen lie on one line of the board" in found.reason
    assert isinstance(sight(three_rows, CHARUCO), Sighting)


def test_what_is_missing_is_asked_for(chessboard_seen: dict[str, Sighting | Unusable]) -> None:
    seen = [each for each in chessboard_seen.values() if isinstance(each, Sighting)]
    middle = np.array(SIZE_PX) / 2
    in_a_corner = [Sighting(s.corners, 0.35 * (s.pixels - middle) + 0.3 * middle, 2.0) for s in seen]
    advice = " ".join(cover_roughly(in_a_corner, CHESSBOARD.corners_mm, SIZE_PX).advice)
    assert "lower right corner" in advice
    assert "upper left corner" not in advice
    frontal = [
        Sighting(np.arange(48), CHESSBOARD.corners_mm + np.array([100 + k, 80]), 2.0) for k in range(3)
    ]
    assert "tilt its upper edge" in " ".join(cover_roughly(frontal, CHESSBOARD.corners_mm, SIZE_PX).advice)


FLAT = np.column_stack([CHESSBOARD.corners_mm, np.zeros(48)])


def seen_with_noise(noise_px: list[float], seed: int = 0) -> dict[str, Sighting | Unusable]:
    """The chessboard in as many pictures, its corners off by a noise of each; so few that few models are tried."""
    rng = np.random.default_rng(seed)
    seen: dict[str, Sighting | Unusable] = {}
    for k, (pose, noise) in enumerate(zip(poses(len(noise_px), CHESSBOARD), noise_px, strict=True)):
        pixels, _ = cv2.projectPoints(FLAT, pose[:3], pose[3:], LENS.matrix, np.array(LENS.distortion))
        seen[f"{k}.png"] = Sighting(np.arange(48), pixels.reshape(-1, 2) + rng.normal(0, noise, (48, 2)), 2.0)
    return seen


def test_four_pictures_make_a_lens_and_three_do_not() -> None:
    found = calibrate(seen_with_noise([0.05] * 4), CHESSBOARD, SIZE_PX)
    assert isinstance(found, Calibrated), found
    assert found.lens.intrinsics_px == pytest.approx(LENS.intrinsics_px, abs=5.0)
    for count, told in ((3, "3 pictures can be used"), (1, "1 picture can be used"), (0, "0 pictures can")):
        refused = calibrate(seen_with_noise([0.05] * count), CHESSBOARD, SIZE_PX)
        assert isinstance(refused, NoLens)
        assert refused.reason.startswith(told)


@pytest.mark.parametrize(("pictures", "fitted"), [(7, False), (8, True)])
def test_from_eight_pictures_on_the_boards_own_corners_are_fitted_too(pictures: int, *, fitted: bool) -> None:
    found = calibrate(seen_with_noise([0.05] * pictures), CHESSBOARD, SIZE_PX)
    assert isinstance(found, Calibrated), found
    assert any(trial.model.bent_board for trial in found.trials) == fitted


@pytest.mark.parametrize(
    ("noise_px", "misfits"),
    [
        ([0.05, 0.05, 0.05, 0.05, 0.3], set()),
        ([0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 2.0], {"6.png"}),
        ([0.5, 0.5, 0.5, 0.5, 0.8], set()),
    ],
    ids=["less than half a pixel", "more, and more than others", "more, as others"],
)
def test_a_picture_is_a_misfit_that_is_off_by_half_a_pixel_and_by_more_than_the_others(
    noise_px: list[float], misfits: set[str]
) -> None:
    found = calibrate(seen_with_noise(noise_px), CHESSBOARD, SIZE_PX)
    assert isinstance(found, Calibrated), found
    assert set(found.unusable) == misfits
    assert all(each.flaw is Flaw.MISFIT for each in found.unusable.values())


def test_where_more_than_a_few_do_not_fit_it_is_not_the_pictures_that_are_wrong() -> None:
    refused = calibrate(seen_with_noise([0.05, 0.05, 0.05, 3.0, 6.0]), CHESSBOARD, SIZE_PX)
    assert isinstance(refused, NoLens), refused
    assert refused.reason.startswith("the pictures do not fit together")


@pytest.mark.parametrize(
    "seen",
    [
        {f"{k}": Sighting(np.arange(48), np.full((48, 2), 100.0 + 40 * k), 2.0) for k in range(6)},
        {f"{k}": Sighting(np.arange(8), FLAT[:8, :2] + 40.0 * k, 2.0) for k in range(6)},
    ],
    ids=["all corners at one place", "one row of corners"],
)
def test_pictures_that_determine_no_lens_are_answered_with_a_sentence(seen: dict[str, Sighting]) -> None:
    refused = calibrate(seen, CHESSBOARD, SIZE_PX)
    assert isinstance(refused, NoLens), refused
    assert refused.reason.startswith("the pictures do not determine a lens")


def test_the_focal_lengths_standard_error_is_what_it_is_off_by() -> None:
    """Over ten sets of pictures, whatever the corners' noise is."""
    for noise_px in (0.05, 0.3):
        fitted, said = [], []
        for seed in range(10):
            seen = [
                each for each in seen_with_noise([noise_px] * 6, seed).values() if isinstance(each, Sighting)
            ]
            found = adjust(seen, CHESSBOARD, SIZE_PX, Bend.BROWN, bent_board=False)
            fitted.append(found.lens.intrinsics_px[:2])
            said.append(found.sigma_px[:2])
        off = np.sqrt(((np.array(fitted) - LENS.intrinsics_px[:2]) ** 2).mean(axis=0))
        assert off / np.mean(said, axis=0) == pytest.approx([1.0, 1.0], abs=0.5)


@pytest.mark.parametrize(
    ("distortion", "describes"),
    [
        (LENS.distortion, True),
        ((-0.9, 0.0, 0.0, 0.0, 0.0), False),
        ((0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0), True),
        ((0.0, 0.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0), False),
    ],
    ids=["as fitted", "barrel that turns back", "none", "divisor that turns back"],
)
def test_whether_a_lens_gives_every_corner_of_the_picture_a_line_of_sight_is_told(
    distortion: tuple[float, ...], describes: bool
) -> None:
    found = calibrate(seen_with_noise([0.05] * 4), CHESSBOARD, SIZE_PX)
    assert isinstance(found, Calibrated), found
    assert replace(found, lens=Lens(LENS.intrinsics_px, distortion)).describes_corners is describes


def test_each_picture_that_repeats_one_is_named_with_the_first() -> None:
    seen = seen_with_noise([0.05] * 4)
    found = calibrate({**seen, "again.png": seen["1.png"], "still.png": seen["1.png"]}, CHESSBOARD, SIZE_PX)
    assert {name: each.reason for name, each in found.unusable.items()} == {
        "again.png": "the board is held exactly as in 1.png",
        "still.png": "the board is held exactly as in 1.png",
    }
    assert {each.flaw for each in found.unusable.values()} == {Flaw.REPEATED}


def test_pictures_of_other_parts_of_a_board_held_still_are_no_repeats() -> None:
    seen = seen_with_noise([0.05] * 5)
    whole = seen["2.png"]
    assert isinstance(whole, Sighting)
    left, right = (
        Sighting(whole.corners[part], whole.pixels[part], 2.0)
        for part in (whole.corners % 8 < 5, whole.corners % 8 > 3)
    )
    found = calibrate({**seen, "2.png": left, "right.png": right}, CHESSBOARD, SIZE_PX)
    assert isinstance(found, Calibrated), found
    assert found.unusable == {}


@pytest.mark.parametrize(
    ("turn_rad", "wanted"),
    [
        ((0.6, 0.0), "turn its left edge"),
        ((-0.6, 0.0), "turn its left edge"),
        ((0.0, 0.6), "tilt its upper edge"),
        ((0.0, -0.6), "tilt its upper edge"),
    ],
)
def test_how_the_board_has_not_leant_yet_is_asked_for(turn_rad: tuple[float, float], wanted: str) -> None:
    seen = []
    for far_mm in (500.0, 600.0):
        place = np.array([-105.0, -75.0, far_mm])
        pixels, _ = cv2.projectPoints(FLAT, np.array([*turn_rad, 0.0]), place, LENS.matrix, np.zeros(5))
        seen.append(Sighting(np.arange(48), pixels.reshape(-1, 2), 2.0))
    coverage = cover_roughly(seen, CHESSBOARD.corners_mm, SIZE_PX)
    assert [each.split(" away")[0] for each in coverage.tilts_wanted] == [wanted]
    assert coverage.advice[-1] == "take 10 more, each from another side"
    assert 0.0 < coverage.share < 1.0


REAL = Path(__file__).parents[4] / "shared" / "real" / "lens-chessboard"


@pytest.mark.skipif(not REAL.is_dir(), reason="the photographs of ../shared are not here")
def test_real_photographs_beat_half_a_pixel() -> None:
    """OpenCV's own calibration of these gives 0.50 px in the fit."""
    pictures = {file.name: cv2.imread(str(file), cv2.IMREAD_GRAYSCALE) for file in sorted(REAL.glob("*.jpg"))}
    target = Chessboard(8, 6)
    seen = {name: sight(np.asarray(picture, np.uint8), target) for name, picture in pictures.items()}
    found = calibrate(seen, target, (1280, 960))
    assert isinstance(found, Calibrated), found
    assert found.fitted_px < 0.26
    assert found.left_out_px < 0.31
    assert set(found.unusable) == {"GOPR0055.jpg"}
