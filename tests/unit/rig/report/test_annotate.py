"""What is written into a picture covers neither the rings nor other words, and the picture itself is left alone."""

import numpy as np
from overhead_view import straight_down

from rig.report.annotate import Mark, MarkKind, annotate, overlay_motion

PICTURE = np.full((600, 1000, 3), 200, np.uint8)
RING_BGR = {MarkKind.LEAVES: (40, 40, 235), MarkKind.PUT_BACK: (235, 150, 40)}


def plate_pixels(picture: np.ndarray) -> int:
    """Count what is darkened, and no edge of a ring."""
    return int(((picture > 50) & (picture < 90)).all(axis=2).sum())


def ring_pixels(picture: np.ndarray, kind: MarkKind) -> int:
    return int((np.abs(picture.astype(int) - RING_BGR[kind]).sum(axis=2) < 60).sum())


def test_words_of_neighbours_cover_no_ring():
    view = straight_down()
    one = Mark(180.0, 405.0, MarkKind.LEAVES, "G-61 direct")
    other = Mark(180.0, 450.0, MarkKind.PUT_BACK, "G-53 pushed")
    alone = annotate(PICTURE, view, marks=[other])
    both = annotate(PICTURE, view, marks=[one, other])
    assert ring_pixels(both, MarkKind.PUT_BACK) >= 0.98 * ring_pixels(alone, MarkKind.PUT_BACK)
    assert plate_pixels(both) > 1.5 * plate_pixels(alone)


def test_words_stay_inside_the_picture():
    corner = Mark(2.0, 2.0, MarkKind.LEAVES, "A-01 direct")
    inside = annotate(PICTURE, straight_down(), marks=[corner])
    assert plate_pixels(inside) > 500


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
