"""An end that is asked for while something is done that must be whole comes afterwards; one asked for twice comes at once."""

import signal
from collections.abc import Iterator

import pytest

from rig.end_put_off import EndPutOff


@pytest.fixture(autouse=True)
def ctrl_c() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_the_first_is_noted() -> None:
    with EndPutOff() as ending:
        signal.raise_signal(signal.SIGINT)
    assert ending.asked
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_the_second_ends_at_once() -> None:
    with EndPutOff() as ending, pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
    assert ending.asked


def test_of_what_lasts_but_a_moment_none_breaks_in_however_many_there_are() -> None:
    try:
        with EndPutOff(however_often=True) as ending:
            for _ in range(3):
                signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        pytest.fail("one of them broke in")
    assert ending.asked
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_what_is_ignored_stays_ignored() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with EndPutOff() as ending:
        signal.raise_signal(signal.SIGINT)
    assert not ending.asked
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
