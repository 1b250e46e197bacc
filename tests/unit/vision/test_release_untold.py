"""Which of two ways is believed where a shot that left when it was told hardly shows: found by its release, or without it."""

import numpy as np
import pytest

from vision.release_untold import hardly_seen, left_later_us, seen_better
from vision.shot import Leg, ShotTrack
from vision.shot.faint import Stirred
from vision.shot.flight import Flight
from vision.shot.flight_fit import FlightFit
from vision.shot.streaks import Streak

FIRE_US = 80_000
STRUCK = Stirred((180.0, 250.0), FIRE_US + 40_000.0)
"""Whom the shot of every track here comes by, whenever it left, when he stirs."""
FAR_OFF = Stirred((20.0, 640.0), FIRE_US + 40_000.0)


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
    ("told", "due", "hardly"),
    [
        pytest.param(track(4), 9, False, id="plainly, if not always"),
        pytest.param(track(2), 2, False, id="in both pictures before it strikes"),
        pytest.param(track(2), 3, True, id="in two of three"),
        pytest.param(track(2, misfit=8.0), 2, True, id="in both, which do not fit"),
        pytest.param(track(1), 1, True, id="in the only one, and any smear in one picture may fit"),
        pytest.param(track(), 0, True, id="not at all, and there was no time to"),
    ],
)
def test_a_shot_that_every_picture_shows_until_it_strikes_needs_no_other_release(
    told: ShotTrack, due: int, hardly: bool
) -> None:
    times_us = [FIRE_US + 8333 * k for k in range(-4, 20)]
    struck = Stirred((180.0, 250.0), FIRE_US + 8333.0 * (due + 0.5))
    assert hardly_seen(told, times_us, FIRE_US, [struck]) is hardly


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
        pytest.param(track(), track(1, left_us=FIRE_US + 9000), None, id="not plainly"),
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
    assert left_later_us(told, untold, FIRE_US, [STRUCK]) == later_us


@pytest.mark.parametrize(
    ("stirred", "believed"),
    [
        pytest.param([STRUCK], True, id="it comes by who stirs"),
        pytest.param([FAR_OFF], False, id="it comes by nobody who stirs"),
        pytest.param([FAR_OFF, STRUCK], True, id="two stir in one picture, and it comes by one"),
        pytest.param([], False, id="nobody stirs"),
        pytest.param([Stirred((180.0, 250.0), FIRE_US)], False, id="he stirred before it left"),
        pytest.param(
            [FAR_OFF, Stirred((180.0, 250.0), FIRE_US + 41_000.0)],
            False,
            id="who it comes by is not the first",
        ),
    ],
)
def test_what_left_at_another_time_is_the_shot_only_where_it_comes_by_who_stirs_first(
    stirred: list[Stirred], believed: bool
) -> None:
    later_us = left_later_us(track(), track(3, left_us=FIRE_US + 9000), FIRE_US, stirred)
    assert (later_us is not None) is believed
