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
    chance_in_contest,
    chance_of_standing,
    measures,
    odds_beside,
    shift_mm,
)
from vision.falls.resemblance import Resemblance
from vision.falls.stands_there import There
from vision.falls.upright import Uprightness

STANDS = Evidence(
    same=0.2,
    bare=0.3,
    found=Resemblance(0.95, 0.95, 2.0, 3.0, 5.0),
    moved_mm=(6.0, 4.0),
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


def test_where_it_was_looked_at_more_closely_it_stands_where_it_was_likeliest() -> None:
    closely = replace(STANDS, there=There(1.0, (-14.0, 8.0)))
    assert shift_mm(closely) == (-14.0, 8.0)
    half = replace(closely, same=0.55, bare=0.1)
    assert shift_mm(half) == (0.0, 0.0), "who is half covered where he stood is not looked for elsewhere"


@given(st.floats(-12, 12), st.floats(0.1, 5))
def test_the_likelier_it_is_he_who_stands_there_the_likelier_he_stands(odds: float, more: float) -> None:
    less, likelier = (
        chance_of_standing(replace(UNCLEAR, there=There(each, (5.0, 5.0)))) for each in (odds, odds + more)
    )
    assert less < likelier


@pytest.mark.parametrize("plain", [STANDS, LIES])
def test_a_closer_look_may_overrule_all_else_together(plain: Evidence) -> None:
    """Measures added up say what none of them saw; who looks at the soldier himself sees him lie, or stand."""
    otherwise = chance_of_standing(plain) < 0.5
    there = There(6.0 if otherwise else -6.0, plain.moved_mm)
    assert (chance_of_standing(replace(plain, there=there)) > 0.5) == otherwise


def test_as_few_stand_after_a_shot_who_looks_as_likely_to_lie_is_taken_to_lie() -> None:
    at_first = odds_beside(UNCLEAR)
    balanced = replace(UNCLEAR, there=There(-at_first, (5.0, 5.0)))
    assert abs(at_first) < 3, "or no closer look could balance it"
    assert 0.3 < chance_of_standing(balanced) < 0.45


def test_of_two_who_may_stand_in_one_place_likeness_and_the_network_together_tell_who_it_is() -> None:
    """Also of a figure of a kind that the network does not know, whose shadow is taken for a part of it (spread)."""
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

    def chance(evidence: Evidence) -> float:
        return chance_in_contest(evidence, Followed(shift_mm(evidence), 0.0))

    assert chance(far) > 0.5
    assert chance(lying) < 0.2, "nobody is upright there, and likeness alone has found him"
    assert chance(elsewhere) < 0.3
    assert chance(unlike) < 0.2


def test_one_figure_seen_at_full_length_lies() -> None:
    """A person at the table sees that at once: twice as long as from above, and hardly larger."""
    unclear = replace(STANDS, found=replace(STANDS.found, correlation=0.75), spread=2.0)
    assert (
        chance_of_standing(replace(unclear, area=1.3)) < 0.5 < chance_of_standing(replace(unclear, area=2.3))
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
    spread=0.95,
    area=1.0,
    upright=Uprightness(0.3, (-5.5, -2.7)),
    shadow=None,
    shadow_alike=None,
)


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
def test_of_two_who_may_stand_in_one_place_it_is_likelier_he_whose_looks_lead_there(
    x_mm: float, y_mm: float
) -> None:
    there = Followed(shift_mm(UNCLEAR), 0.8)
    off_mm = np.hypot(*np.subtract((x_mm, y_mm), there.moved_mm))
    elsewhere = chance_in_contest(UNCLEAR, Followed((x_mm, y_mm), 0.8))
    if off_mm < 1.9:
        assert elsewhere == chance_in_contest(UNCLEAR, there)
    elif off_mm > 2.1:
        assert elsewhere < chance_in_contest(UNCLEAR, there)


def test_who_was_followed_there_and_hardly_looks_like_himself_may_as_well_lie_there() -> None:
    led = shift_mm(UNCLEAR)
    assert chance_in_contest(UNCLEAR, Followed(led, 0.5)) < chance_in_contest(UNCLEAR, Followed(led, 0.8))


def test_c8_who_was_followed_elsewhere_is_not_he_however_little_he_looked_like_himself_in_the_end() -> None:
    x_mm, y_mm = shift_mm(UNCLEAR)
    faint, plain = (Followed((x_mm + 25.0, y_mm), correlation) for correlation in (0.45, 0.8))
    assert chance_in_contest(UNCLEAR, faint) == chance_in_contest(UNCLEAR, plain)


def test_that_somebody_stands_there_tells_nothing_about_who_it_is() -> None:
    led = Followed(shift_mm(UNCLEAR), 0.8)
    seen = replace(UNCLEAR, there=There(4.0, shift_mm(UNCLEAR)))
    assert chance_in_contest(seen, led) == chance_in_contest(UNCLEAR, led)
