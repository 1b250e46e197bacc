"""Who stands and who lies: how what is seen is weighed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vision.falls.fate import (
    Evidence,
    Followed,
    are_two_places,
    chance_of_standing,
    is_open,
    measures,
    shift_mm,
)
from vision.falls.resemblance import Resemblance
from vision.falls.upright import Uprightness

STANDS = Evidence(
    same=0.2,
    bare=0.3,
    found=Resemblance(0.95, 0.95, 2.0, 3.0, 5.0),
    moved_mm=(6.0, 4.0),
    at_home=0.3,
    spread=1.0,
    area=1.1,
    upright=Uprightness(5.0, (6.0, 5.0)),
    shadow=None,
    shadow_alike=None,
)
LIES = replace(
    STANDS,
    bare=0.8,
    found=Resemblance(0.4, 0.7, 20.0, 5.0, 120.0),
    moved_mm=(23.0, 6.0),
    at_home=-0.1,
    spread=2.2,
    area=1.5,
    upright=Uprightness(-4.0, (9.0, 20.0)),
)


def test_plain_evidence_gives_plain_chances() -> None:
    assert chance_of_standing(STANDS) > 0.95
    assert chance_of_standing(LIES) < 0.05


@pytest.mark.parametrize("odds", [-2.0, 0.0, 2.0])
def test_the_more_upright_it_looks_the_likelier_it_stands(odds: float) -> None:
    less = replace(LIES, upright=replace(LIES.upright, odds=odds))
    more = replace(LIES, upright=replace(LIES.upright, odds=odds + 1.0))
    assert chance_of_standing(more) > chance_of_standing(less)


def test_one_as_long_as_before_likelier_stands_than_one_that_is_longer() -> None:
    unclear = replace(
        STANDS, found=replace(STANDS.found, correlation=0.5), upright=Uprightness(0.0, (9.0, 20.0))
    )
    chances = [chance_of_standing(replace(unclear, spread=spread)) for spread in (1.0, 1.3, 1.6, 2.2)]
    assert chances == sorted(chances, reverse=True)
    hidden = replace(unclear, found=replace(unclear.found, covered=0.5))
    assert chance_of_standing(replace(hidden, spread=1.3)) < chances[1], (
        "too little of it is seen to say how long it is"
    )


def test_where_nothing_is_like_it_the_upright_place_is_how_far_it_went() -> None:
    alike, unlike = (
        replace(STANDS, moved_mm=(30.0, 0.0), found=replace(STANDS.found, correlation=c))
        for c in (0.61, 0.59)
    )
    near, far = (replace(unlike, upright=Uprightness(1.0, (mm, 0.0))) for mm in (4.0, 40.0))
    assert chance_of_standing(near) > chance_of_standing(far)
    assert measures(near)[3] == pytest.approx(0.4)
    assert measures(alike)[3] == pytest.approx(3.0)


def test_of_two_places_that_agree_the_mean_counts_and_of_two_that_do_not_the_upright_one() -> None:
    assert shift_mm(STANDS) == pytest.approx((6.0, 4.4))
    seen = Uprightness(3.0, (-9.0, 0.0))
    assert shift_mm(replace(STANDS, upright=seen)) == pytest.approx((-9.0, 0.0))


@pytest.mark.parametrize(
    ("same", "bare", "moved_mm", "told_mm"),
    [
        pytest.param(0.2, 0.1, (6.0, 4.0), (6.0, 4.4), id="he is seen elsewhere alone"),
        pytest.param(
            0.55, 0.1, (6.0, 4.0), (0.0, 0.0), id="more than half of him looks as it did where he stood"
        ),
        pytest.param(0.2, 0.1, (1.0, 1.0), (0.0, 0.0), id="he looks most like himself where he stood"),
        pytest.param(0.55, 0.3, (6.0, 4.0), (6.0, 4.4), id="his place is left bare"),
        pytest.param(
            0.2, 0.3, (1.0, 1.0), (6.0, 5.0), id="so it is, though he looks most like himself near it"
        ),
    ],
)
def test_who_is_half_covered_where_he_stood_is_not_told_as_pushed(
    same: float, bare: float, moved_mm: tuple[float, float], told_mm: tuple[float, float]
) -> None:
    assert shift_mm(replace(STANDS, same=same, bare=bare, moved_mm=moved_mm)) == pytest.approx(told_mm)


@pytest.mark.parametrize(
    ("upright_odds", "led_mm", "correlation", "told_mm"),
    [
        (1.0, (14.0, 8.0), 0.7, (15.0, 8.0)),
        (6.0, (14.0, 8.0), 0.7, (0.0, 1.0)),  # somebody plainly stands there
        (1.0, (2.0, 1.0), 0.7, (0.0, 1.0)),  # followed elsewhere
        (1.0, (14.0, 8.0), 0.5, (0.0, 1.0)),  # hardly like itself any more
    ],
)
def test_of_two_places_likeness_has_it_where_the_soldier_was_followed_to_it_and_nobody_is_plain_at_the_other(
    upright_odds: float, led_mm: tuple[float, float], correlation: float, told_mm: tuple[float, float]
) -> None:
    two = replace(
        STANDS,
        moved_mm=(15.0, 8.0),
        upright=Uprightness(upright_odds, (0.0, 1.0)),
        followed=Followed(led_mm, correlation),
    )
    assert are_two_places(two)
    assert shift_mm(two) == pytest.approx(told_mm)


def test_who_was_followed_to_the_one_of_two_places_where_he_is_likelier_stands_there() -> None:
    two = replace(UNCLEAR, moved_mm=(15.0, 8.0), upright=Uprightness(1.0, (0.0, 1.0)))
    two = replace(two, found=replace(two.found, correlation=0.7))
    led = replace(two, followed=Followed((15.0, 9.0), 0.7))
    assert shift_mm(led) == (15.0, 8.0)
    assert chance_of_standing(led) > chance_of_standing(two)


@pytest.mark.parametrize("led_mm", [(9.0, 20.0), (0.0, 0.0)])
def test_no_grain_of_noise_decides_whether_following_counts(led_mm: tuple[float, float]) -> None:
    """Who stands plainly, or lies plainly, is not followed; just before, following counts for next to nothing."""
    chances = []
    for odds in np.linspace(-8.0, 8.0, 400):
        last = replace(LIES, spread=1.0, upright=Uprightness(float(odds), (9.0, 20.0)))
        chance = chance_of_standing(last)
        chances.append(
            chance_of_standing(replace(last, followed=Followed(led_mm, 0.9))) if is_open(chance) else chance
        )
    assert min(chances) < 0.02
    assert max(chances) > 0.3
    assert float(np.abs(np.diff(chances)).max()) < 0.03


def test_seen_whole_in_one_place_by_likeness_and_by_the_network_it_stands_there_however_far_it_went() -> None:
    """As a figure of a kind that the network does not know, whose shadow is taken for a part of it (spread)."""
    far = replace(
        STANDS,
        same=0.01,
        found=replace(STANDS.found, correlation=0.92),
        moved_mm=(32.0, 17.0),
        spread=2.1,
        area=2.1,
        upright=Uprightness(0.3, (31.0, 16.5)),
    )
    elsewhere = replace(far, upright=replace(far.upright, moved_mm=(20.0, 0.0)))
    unlike = replace(far, found=replace(far.found, correlation=0.7))
    lying = replace(far, upright=replace(far.upright, odds=-2.0))
    assert chance_of_standing(far) > 0.5
    assert chance_of_standing(lying) < 0.2, "nobody is upright there, and likeness alone has found him"
    assert chance_of_standing(elsewhere) < 0.3
    assert chance_of_standing(unlike) < 0.2


def test_one_figure_seen_at_full_length_lies() -> None:
    """A person at the table sees that at once: twice as long as from above, and hardly larger."""
    unclear = replace(STANDS, found=replace(STANDS.found, correlation=0.75), spread=2.0)
    assert (
        chance_of_standing(replace(unclear, area=1.3)) < 0.5 < chance_of_standing(replace(unclear, area=2.3))
    )


@pytest.mark.parametrize("way", [-1.0, 1.0])
def test_who_slides_hardly_turns(way: float) -> None:
    """One that fell may lie any way round, and looks a little like one that stands there turned."""
    unclear = replace(
        STANDS, found=replace(STANDS.found, correlation=0.6), upright=Uprightness(3.0, (6.0, 5.0))
    )
    chances = [
        chance_of_standing(replace(unclear, found=replace(unclear.found, turn_deg=way * turn_deg)))
        for turn_deg in (0.0, 25.0, 45.0, 90.0, 180.0)
    ]
    assert chances[0] == chances[1] > chances[2] > chances[3] == chances[4]


def test_where_nothing_is_like_it_its_turn_tells_nothing() -> None:
    unlike = replace(STANDS, found=replace(STANDS.found, correlation=0.35))
    turned = replace(unlike, found=replace(unlike.found, turn_deg=120.0))
    assert chance_of_standing(turned) == chance_of_standing(unlike)


def test_how_one_that_is_half_covered_seems_turned_tells_nothing() -> None:
    half = replace(HALF_COVERED, at_home=0.9)
    assert chance_of_standing(half) == chance_of_standing(
        replace(half, found=replace(half.found, turn_deg=0.0))
    )


@pytest.mark.parametrize("area", [2.2, 3.0])
def test_one_that_stands_and_another_that_lies_against_it_are_as_long_but_larger(area: float) -> None:
    long = replace(STANDS, spread=2.4)
    assert chance_of_standing(replace(long, area=area)) == chance_of_standing(replace(long, area=0.0))


HALF_COVERED = Evidence(
    same=0.49,
    bare=0.0,
    found=Resemblance(0.57, 0.87, -3.8, -1.9, 160.0),
    moved_mm=(-5.5, -2.7),
    at_home=0.4,
    spread=0.95,
    area=1.0,
    upright=Uprightness(0.3, (-5.5, -2.7)),
    shadow=None,
    shadow_alike=None,
)


def test_one_that_is_half_covered_and_otherwise_itself_stands() -> None:
    assert chance_of_standing(HALF_COVERED) > 0.95


def test_half_a_place_that_looks_as_before_by_chance_leaves_a_doubt() -> None:
    """What is seen there has nothing to do with what stood there: the rest may be as it was by accident."""
    assert chance_of_standing(replace(HALF_COVERED, at_home=-0.26)) < 0.85


@given(st.floats(0, 1), st.floats(0, 1), st.lists(st.floats(-1, 1), min_size=2, max_size=2).map(sorted))
def test_the_more_it_is_like_itself_the_likelier_it_stands(
    same: float, bare: float, at_home: list[float]
) -> None:
    less, more = (
        chance_of_standing(replace(HALF_COVERED, same=same, bare=bare, at_home=like)) for like in at_home
    )
    assert less <= more


UNCLEAR = replace(
    LIES, found=Resemblance(0.8, 0.95, 5.0, 5.0, 40.0), spread=1.3, upright=Uprightness(1.0, (9.0, 9.0))
)


def test_where_no_shadow_lies_hardly_anybody_stands() -> None:
    """What looks half like one that stands and half like one that lies: whether it throws a shadow decides."""
    untold, with_one, without = (
        chance_of_standing(replace(UNCLEAR, shadow=share)) for share in (None, 1.0, 0.0)
    )
    assert without < untold < with_one
    assert without < 0.2
    assert with_one > 0.5


def test_one_on_its_feet_takes_its_shadow_along_as_it_is() -> None:
    """Who lies along its own former shadow is as dark, and as long: whether that is a shadow of the same shape decides."""
    along = replace(UNCLEAR, shadow=1.0)
    unknown, same, otherwise = (
        chance_of_standing(replace(along, shadow_alike=alike)) for alike in (None, 0.95, 0.1)
    )
    assert otherwise < unknown - 0.1 < unknown < same


def test_a_shadow_tells_less_than_none() -> None:
    """Another's may lie there, and one that lies may be dark himself."""
    untold, with_one, without = (
        chance_of_standing(replace(HALF_COVERED, same=0.0, shadow=share)) for share in (None, 1.0, 0.0)
    )
    odds = [np.log(chance / (1 - chance)) for chance in (untold, with_one, without)]
    assert odds[1] - odds[0] < odds[0] - odds[2]


@given(st.floats(-60, 60), st.floats(-60, 60))
def test_who_was_followed_to_where_he_may_stand_likelier_stands_and_elsewhere_it_tells_nothing(
    x_mm: float, y_mm: float
) -> None:
    """Others come between, and he is lost; what is seen in the end tells more."""
    off_mm = np.hypot(*np.subtract((x_mm, y_mm), shift_mm(UNCLEAR)))
    told = chance_of_standing(replace(UNCLEAR, followed=Followed((x_mm, y_mm), 0.8)))
    if off_mm < 3.9:
        assert told > chance_of_standing(UNCLEAR)
    elif off_mm > 4.1:
        assert told == chance_of_standing(UNCLEAR)


def test_who_was_followed_there_and_hardly_looks_like_himself_may_as_well_lie_there() -> None:
    led = Followed(shift_mm(UNCLEAR), 0.5)
    assert chance_of_standing(replace(UNCLEAR, followed=led)) == chance_of_standing(UNCLEAR)
