"""The twin's speed."""

import time

from benchmarks.figure import Figure
from rig.link import messages as m
from rig.link import wire
from rig.link.link import Link
from twin import Twin, TwinSettings

__all__ = ["measure"]

_IDLE_US = 5_000_000


def measure() -> list[Figure]:
    """Fire a shot on the twin, and let it stand idle."""
    twin = Twin(TwinSettings())
    link = Link(twin.port, twin.clock, session=1)
    try:
        link.identify()
        figures = []
        for what, act in (("a shot", _shoot), ("idle", _idle)):
            begun_s, begun_us = time.process_time(), twin.now_us
            act(twin, link)
            simulated_s = (twin.now_us - begun_us) / 1e6
            figures.append(
                Figure(
                    f"twin, {what}: simulated time for CPU time",
                    simulated_s / (time.process_time() - begun_s),
                    "s/s",
                    "real time",
                    1.0,
                    at_least=1.0,
                )
            )
        return figures
    finally:
        twin.close()


def _shoot(twin: Twin, link: Link) -> None:
    """Fire once, from the key to where all lies still."""
    twin.hands.turn_key(True)
    twin.hands.lane(True)
    _pass(twin, link, 100_000)
    link.ask(m.Home())
    _until(link, wire.State.READY)
    link.ask(m.Cock())
    _until(link, wire.State.COCKED)
    twin.hands.load()
    _pass(twin, link, 150_000)
    link.ask(m.Fire(link.ask(m.Arm()).token))
    _until(link, wire.State.SAFE)
    while not twin.table.at_rest:
        _pass(twin, link, 50_000)


def _idle(twin: Twin, link: Link) -> None:
    _pass(twin, link, _IDLE_US)


def _pass(twin: Twin, link: Link, time_us: int) -> None:
    """Let the twin's time pass, whatever comes over the link meanwhile."""
    end_us = twin.now_us + time_us
    while twin.now_us < end_us:
        link.wait(end_us - twin.now_us)


def _until(link: Link, state: wire.State) -> None:
    while link.ask(m.ReadStatus()).state is not state:
        link.wait(50_000)
