"""A touch is told no later than the motion that it caused; both are known to within a picture."""

from game.montecassino import Square
from rig.verdict.told_touches import told_touches
from vision.causes.touches import Touch

FRAME_US = 8333.0
A, B = Square.parse("A-10"), Square.parse("A-11")


def touch(square: Square | None, time_us: float) -> Touch:
    return Touch(square, square is None, time_us, (0.0, 0.0, 20.0))


def times_us(*touches: Touch, began_us: dict[Square, int]) -> list[float]:
    return [told.time_us for told in told_touches(touches, began_us, FRAME_US)]


def test_a_touch_within_a_picture_after_the_motion_is_told_with_it() -> None:
    assert times_us(touch(A, 69_000), began_us={A: 67_000}) == [67_000]


def test_a_touch_before_the_motion_stays_as_it_is() -> None:
    assert times_us(touch(A, 65_000), touch(B, 73_000), began_us={A: 67_000, B: 76_000}) == [65_000, 73_000]


def test_a_touch_long_after_the_motion_did_not_cause_it() -> None:
    assert times_us(touch(A, 120_000), began_us={A: 67_000}) == [120_000]


def test_what_was_touched_before_is_told_before() -> None:
    assert times_us(touch(None, 68_500), touch(A, 69_000), began_us={A: 67_000}) == [67_000, 67_000]


def test_nobody_that_moved_for_another_reason_draws_a_touch_to_it() -> None:
    assert times_us(touch(B, 69_000), began_us={A: 67_000}) == [69_000]
