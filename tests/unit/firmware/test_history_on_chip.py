"""The history on the simulated chip: over each kind of reset, and what the receiver loses (S-14)."""

from collections.abc import Iterator

import pytest

from rig.link import messages as m
from rig.link import wire
from rig.link.errors import Refused
from rig.link.wire import Command, Fault, HistoryKind, Loss, Refusal, Setting, State
from twin.bare import US, BareCannon
from twin.chip import ResetCause

_UBRR0L = 0xC4


@pytest.fixture
def cannon() -> Iterator[BareCannon]:
    it = BareCannon()
    it.identify()
    yield it
    it.close()


def history(cannon: BareCannon) -> list[tuple[int, int, int, int]]:
    """Kind, code, what about and detail; newest first."""
    newest = cannon.ask(m.ReadHistory(0)).newest
    entries = [cannon.ask(m.ReadHistory((newest - back) % 65536)) for back in range(wire.HISTORY_ENTRIES)]
    return [(e.kind, e.code, e.about, e.detail) for e in entries if e.kind is not HistoryKind.MISSING]


REFUSED_ARM = (HistoryKind.REFUSED, Refusal.WRONG_STATE, Command.ARM, State.SAFE)
REFUSED_SETTING = (HistoryKind.REFUSED, Refusal.BAD_VALUE, Command.CONFIGURE, Setting.DWELL_MS)


@pytest.mark.parametrize(
    ("reset", "cause"),
    [
        (ResetCause.EXTERNAL, wire.ResetCause.EXTERNAL),
        (ResetCause.BROWN_OUT, wire.ResetCause.BROWN_OUT),
        (ResetCause.WATCHDOG, wire.ResetCause.WATCHDOG),
        (ResetCause.POWER_ON, wire.ResetCause.POWER_ON),
    ],
)
def test_history_outlives_every_reset_of_the_chip_but_a_loss_of_supply(
    cannon: BareCannon, reset: ResetCause, cause: wire.ResetCause
) -> None:
    for request in (m.Arm(), m.Configure(Setting.DWELL_MS, 1)):
        with pytest.raises(Refused):
            cannon.ask(request)
    before = history(cannon)
    cannon.restart(reset)
    cannon.identify()
    after = history(cannon)
    assert before[:2] == [REFUSED_SETTING, REFUSED_ARM]
    assert (HistoryKind.RESET, cause, 0, 0) in after
    survived = [what for what in after if what in {REFUSED_ARM, REFUSED_SETTING}]
    assert survived == ([] if cause == wire.ResetCause.POWER_ON else [REFUSED_SETTING, REFUSED_ARM])


def losses(cannon: BareCannon) -> Loss:
    """How the one fault of this kind says that bytes were lost."""
    said = [frame.message for frame in cannon.frames if isinstance(frame.message, m.FaultSeen)]
    (detail,) = {fault.detail for fault in said if fault.fault is Fault.RECEIVE_OVERRUN}
    return Loss(detail)


def test_frames_that_come_faster_than_they_are_answered_are_a_loss_of_the_queue(cannon: BareCannon) -> None:
    """At the line's full rate: a status takes five bytes to ask and twenty-four to answer."""
    cannon.chip.send(b"".join(cannon.request(m.ReadStatus()) for _ in range(40)))
    cannon.run_us(60_000)
    assert losses(cannon) == Loss.QUEUE


def test_bytes_that_come_while_the_chip_is_busy_are_a_loss_of_the_hardware(cannon: BareCannon) -> None:
    """Eight bytes at the line's full rate in which no instruction is executed; the receiver has room for two and a half."""
    byte_us = 10 * 1_000_000 // wire.BAUD + 1
    cannon.chip.send(bytes(8))
    cannon.run_us(byte_us)
    cannon.chip.freeze(7 * byte_us * US)
    cannon.run_us(10_000)
    assert losses(cannon) == Loss.HARDWARE


def test_bytes_at_another_speed_are_a_loss_of_framing() -> None:
    """The chip listens faster than the line speaks: where it looks for a stop bit there is none."""
    cannon = BareCannon()
    cannon.identify()
    cannon.chip.poke(_UBRR0L, 7)  # 250,000 baud
    cannon.chip.send(bytes(8))
    cannon.chip.run_for_us(2_000)
    cannon.chip.poke(_UBRR0L, 16)
    cannon.chip.run_for_us(5_000)
    cannon.chip.events()  # what it said at the other speed
    cannon.run_us(2 * wire.EVENT_RESEND_MS * 1000)
    assert Loss.FRAMING in losses(cannon)
    cannon.close()
