"""What is written into a picture covers neither the rings nor other words, and the picture itself is left alone."""

import numpy as np

from rig.report.annotate import Mark, MarkKind, annotate, overlay_motion
from vision import BoardView

PICTURE = np.full((600, 1000, 3), 200, np.uint8)
PLATE_BGR = (30, 30, 30)
RING_BGR = {MarkKind.LEAVES: (40, 40, 235), MarkKind.PUT_BACK: (235, 150, 40)}


def straight_down() -> BoardView:
    """A camera 1250 mm over the middle of the board, 1 mm a pixel, +y of the board to the right."""
    return BoardView(
        camera_matrix=np.array([[1250.0, 0.0, 500.0], [0.0, 1250.0, 300.0], [0.0, 0.0, 1.0]]),
        distortion=np.zeros(5),
        rotation=np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]]),
        translation_mm=np.array([-405.0, -180.0, 1250.0]),
        width_px=1000,
        height_px=600,
        error_mm=0.1,
    )


def ring_pixels(picture: np.ndarray, kind: MarkKind) -> int:
    return int((np.abs(picture.astype(int) - RING_BGR[kind]).sum(axis=2) < 60).sum())


def test_words_of_neighbours_cover_no_ring():
    view = straight_down()
    one = Mark(180.0, 405.0, MarkKind.LEAVES, "G-61 direct")
    other = Mark(180.0, 450.0, MarkKind.PUT_BACK, "G-53 pushed")
    alone = annotate(PICTURE, view, marks=[other])
    both = annotate(PICTURE, view, marks=[one, other])
    assert ring_pixels(both, MarkKind.PUT_BACK) >= 0.98 * ring_pixels(alone, MarkKind.PUT_BACK)
    plates = (both == PLATE_BGR).all(axis=2).sum()
    assert plates > 1.5 * (alone == PLATE_BGR).all(axis=2).sum()


def test_words_stay_inside_the_picture():
    corner = Mark(2.0, 2.0, MarkKind.LEAVES, "A-01 direct")
    inside = annotate(PICTURE, straight_down(), marks=[corner])
    assert (inside == PLATE_BGR).all(axis=2).any()


def test_the_picture_given_is_not_drawn_on():
    before = PICTURE.copy()
    annotate(
        PICTURE,
        straight_down(),
        track_mm=[(180.0, 100.0, 40.0), (180.0, 400.0, 30.0)],
        first_contact_mm=(180.0, 400.0, 30.0),
        marks=[Mark(180.0, 405.0, MarkKind.LEAVES, "G-61")],
    )
    assert (before == PICTURE).all()


def test_everything_that_moved_shows_in_each_of_its_places_light_or_dark():
    background = np.full((40, 60), 100, np.uint8)
    frames = []
    for k, level in enumerate((200, 20, 180)):
        frame = background.copy()
        frame[10:14, 10 + 15 * k : 14 + 15 * k] = level
        frames.append(frame)
    overlay = overlay_motion(frames, background)
    assert [overlay[12, 12 + 15 * k] for k in range(3)] == [200, 20, 180]
    assert overlay[30, 30] == 100
