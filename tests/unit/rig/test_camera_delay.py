"""How late a camera stamps its pictures, as shots that it filmed tell together."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rig.camera_delay import Delay, DelaySeen, NoDelay, delay_of, see_delay


def seen(*delays_ms: float | None) -> list[DelaySeen]:
    return [
        DelaySeen(
            Path(f"shot-{k}"), None if each is None else 1000 * each, "" if each is not None else "hidden"
        )
        for k, each in enumerate(delays_ms)
    ]


@given(
    st.floats(-100, 500),
    st.lists(st.floats(-0.4, 0.4), min_size=5, max_size=30),
    st.lists(st.none(), max_size=10),
)
def test_shots_that_agree_tell_it_however_many_tell_nothing(
    delay_ms: float, off_ms: list[float], nothing: list[None]
) -> None:
    told = delay_of(seen(*nothing, *(delay_ms + off for off in off_ms)))
    assert isinstance(told, Delay)
    assert told.delay_us / 1000 == pytest.approx(delay_ms, abs=0.41)
    assert len(told.used) == len(off_ms)
    assert 0 < told.sigma_us < 500


@given(st.floats(-100, 500), st.sampled_from([-300.0, -40.0, 12.0, 90.0]), st.permutations(range(7)))
def test_one_that_was_read_wrongly_is_left_out(delay_ms: float, off_ms: float, order: list[int]) -> None:
    values = [delay_ms + 0.1 * k for k in range(6)] + [delay_ms + off_ms]
    told = delay_of(seen(*(values[k] for k in order)))
    assert isinstance(told, Delay)
    assert told.delay_us / 1000 == pytest.approx(delay_ms + 0.25, abs=0.3)
    assert len(told.used) == 6


def test_fewer_than_five_do_not_tell_it() -> None:
    told = delay_of(seen(18.0, 18.1, None, 17.9, 18.0, None))
    assert told == NoDelay("4 of 6 shots tell it, and 5 are needed")


@pytest.mark.parametrize(
    "delays_ms",
    [
        pytest.param((5.0, 12.0, 19.0, 26.0, 33.0, 40.0), id="all over"),
        pytest.param((18.0, 18.0, 18.0, 35.0, 35.0, 35.0), id="two clocks"),
    ],
)
def test_a_camera_whose_times_waver_has_no_delay(delays_ms: tuple[float, ...]) -> None:
    told = delay_of(seen(*delays_ms))
    assert isinstance(told, NoDelay)
    assert f"from {delays_ms[0]:.1f} to {delays_ms[-1]:.1f} ms" in told.reason


def test_a_recording_that_cannot_be_looked_into_tells_why_and_stops_no_other() -> None:
    folder = Path("x" * 300)
    told = see_delay(folder)
    assert told.delay_us is None
    assert told.why_not == (
        f"{folder}/recording.json: the file: found File name too long, expected a file that can be read"
    )
