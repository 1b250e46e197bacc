"""An end that is asked for while something is done that must be whole comes afterwards; one asked for twice comes at once."""

import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from rig.end_put_off import EndPutOff

# As `rig` has them: Ctrl-C, somebody who ends the program, and a terminal that is closed.
ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture(autouse=True)
def as_rig_has_them() -> Iterator[None]:
    before = {each: signal.signal(each, signal.default_int_handler) for each in ENDINGS}
    yield
    for each, handler in before.items():
        signal.signal(each, handler)


@contextmanager
def none_breaks_in() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        pytest.fail("one of them broke in")


@pytest.mark.parametrize("end", ENDINGS)
def test_the_first_is_noted(end: signal.Signals) -> None:
    with none_breaks_in(), EndPutOff() as ending:
        signal.raise_signal(end)
    assert ending.asked
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(end)


@pytest.mark.parametrize("first", ENDINGS)
@pytest.mark.parametrize("second", ENDINGS)
def test_the_second_ends_at_once_also_where_it_is_another(
    first: signal.Signals, second: signal.Signals
) -> None:
    with EndPutOff() as ending:
        with none_breaks_in():
            signal.raise_signal(first)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(second)
    assert ending.asked


def test_of_what_lasts_but_a_moment_none_breaks_in_however_many_there_are() -> None:
    with none_breaks_in(), EndPutOff(however_often=True) as ending:
        for end in 2 * ENDINGS:
            signal.raise_signal(end)
    assert ending.asked
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("end", ENDINGS)
def test_what_is_ignored_stays_ignored(end: signal.Signals) -> None:
    """As under nohup."""
    signal.signal(end, signal.SIG_IGN)
    with EndPutOff() as ending:
        signal.raise_signal(end)
    assert not ending.asked
    assert signal.getsignal(end) is signal.SIG_IGN


def test_in_another_thread_nothing_is_changed() -> None:
    """The shot is read in one; signals arrive in the main thread alone."""
    with ThreadPoolExecutor() as pool:
        pool.submit(EndPutOff().__enter__).result()
    assert {signal.getsignal(each) for each in ENDINGS} == {signal.default_int_handler}
