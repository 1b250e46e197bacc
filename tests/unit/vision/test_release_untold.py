"""Which of two ways is believed where a shot that left when it was told hardly shows: found by its release, or without it."""

import numpy as np
import pytest

from vision.release_untold import left_later_us, seen_better
from vision.shot import Leg, ShotTrack
from vision.shot.flight import Flight, FlightFit
from vision.shot.streaks import Streak

FIRE_US = 80_000


def track(*sights: int, left_us: float = FIRE_US, misfit: float = 2.0) -> ShotTrack:
    """A track that was seen so often on each of its legs."""
    flight = Flight(left_us, np.array([180.0, -40.0, 20.0]), np.array([0.0, 8.4, 0.2]))
    legs, frame = [], 0
    for count in sights:
        streaks = tuple(
            Streak(k, FIRE_US + 8333 * k, 0.0, 0.0, 8.0, 8.0, (1.0, 0.0), 40.0)
            for k in range(frame + 1, frame + count + 1)
        )
        legs.append(Leg(FlightFit(flight, np.eye(8), misfit, np.zeros(count)), streaks))
        frame += count
    return ShotTrack(tuple(legs), "the shot left the board")


@pytest.mark.parametrize(
    ("told", "untold", "better"),
    [
        pytest.param(track(1), track(3), True, id="more of it is seen"),
        pytest.param(track(), track(2), True, id="only so is it seen at all"),
        pytest.param(track(2, misfit=8.0), track(2), True, id="what is seen fits far better"),
        pytest.param(track(2, misfit=4.0), track(2), False, id="it fits hardly better"),
        pytest.param(track(1, 2, 2), track(2), False, id="by its release more is seen after it struck"),
        pytest.param(track(1), track(3, left_us=FIRE_US + 9000), False, id="it left at another time"),
        pytest.param(track(1), track(), False, id="it is not seen at all"),
    ],
)
def test_without_its_release_a_shot_is_better_seen_only_where_more_of_it_is(
    told: ShotTrack, untold: ShotTrack, better: bool
) -> None:
    assert seen_better(told, untold, FIRE_US) is better


@pytest.mark.parametrize(
    ("told", "untold", "later_us"),
    [
        pytest.param(track(), track(3, left_us=FIRE_US + 9000), 9000.0, id="later"),
        pytest.param(track(), track(3, left_us=FIRE_US - 9000), -9000.0, id="earlier"),
        pytest.param(track(), track(3, left_us=FIRE_US - 7000), None, id="at about that time"),
        pytest.param(track(), track(2, left_us=FIRE_US + 9000), None, id="not plainly"),
        pytest.param(
            track(2), track(3, left_us=FIRE_US + 9000), 9000.0, id="later, and better seen by one picture"
        ),
        pytest.param(track(3), track(3, left_us=FIRE_US + 9000), None, id="as well seen when it was told"),
        pytest.param(track(3), track(), None, id="not seen at all"),
    ],
)
def test_a_release_is_told_wrongly_where_a_shot_is_plainly_seen_to_leave_at_another_time(
    told: ShotTrack, untold: ShotTrack, later_us: float | None
) -> None:
    assert left_later_us(told, untold, FIRE_US) == later_us
