"""The history on the simulated chip: over each kind of reset, and what the receiver loses (S-14)."""

from collections.abc import Iterator, Mapping

import pytest
from chip_cannon import US, ChipCannon

from rig.link import wire
from rig.link.wire import Command, Event, Fault, HistoryKind, Loss, Refusal, Setting, State
from twin.chip import ChipSettings, ResetCause

_UBRR0L = 0xC4


@pytest.fixture
def cannon() -> Iterator[ChipCannon]:
    it = ChipCannon()
    it.identify()
    yield it
    it.close()


def history(cannon: ChipCannon) -> list[Mapping[str, int]]:
    """Newest first."""
    newest = cannon.ask(Command.READ_HISTORY, number=0)["newest"]
    entries = []
    for back in range(wire.HISTORY_ENTRIES):
        entry = cannon.ask(Command.READ_HISTORY, number=(newest - back) % 65536)
        if entry["kind"] != HistoryKind.MISSING:
            entries.append(entry)
    return entries


def refused(cannon: ChipCannon, command: Command, **fields: int) -> None:
    with pytest.raises(AssertionError, match="refused"):
        cannon.ask(command, **fields)


def said(entry: Mapping[str, int]) -> tuple[int, int, int, int]:
    return entry["kind"], entry["code"], entry["about"], entry["detail"]


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
    cannon: ChipCannon, reset: ResetCause, cause: wire.ResetCause
) -> None:
    refused(cannon, Command.ARM)
    refused(cannon, Command.CONFIGURE, setting=Setting.DWELL_MS, value=1)
    before = history(cannon)
    cannon.chip.reset(reset)
    cannon._line.clear()
    cannon.session = None
    cannon.run_us(20_000)
    cannon.identify()
    after = [said(entry) for entry in history(cannon)]
    assert [said(entry) for entry in before[:2]] == [REFUSED_SETTING, REFUSED_ARM]
    assert (HistoryKind.RESET, cause, 0, 0) in after
    survived = [what for what in after if what in {REFUSED_ARM, REFUSED_SETTING}]
    assert survived == ([] if cause == wire.ResetCause.POWER_ON else [REFUSED_SETTING, REFUSED_ARM])


def losses(cannon: ChipCannon) -> Loss:
    """How the one fault of this kind says that bytes were lost."""
    (detail,) = {
        wire.EVENT_LAYOUTS[Event.FAULT].unpack(payload)["detail"]
        for _, kind, payload in cannon.frames
        if kind == Event.FAULT and payload[0] == Fault.RECEIVE_OVERRUN
    }
    return Loss(detail)


def test_frames_that_come_faster_than_they_are_answered_are_a_loss_of_the_queue(cannon: ChipCannon) -> None:
    """At the line's full rate: a status takes five bytes to ask and twenty-four to answer."""
    cannon.chip.send(b"".join(cannon.request(Command.STATUS) for _ in range(40)))
    cannon.run_us(60_000)
    assert losses(cannon) == Loss.QUEUE


def test_bytes_that_come_while_the_chip_is_busy_are_a_loss_of_the_hardware(cannon: ChipCannon) -> None:
    """Eight bytes at the line's full rate in which no instruction is executed; the receiver has room for two and a half."""
    byte_us = 10 * 1_000_000 // wire.BAUD + 1
    cannon.chip.send(bytes(8))
    cannon.run_us(byte_us)
    cannon.chip.freeze(7 * byte_us * US)
    cannon.run_us(10_000)
    assert losses(cannon) == Loss.HARDWARE


def test_bytes_at_another_speed_are_a_loss_of_framing() -> None:
    """The chip listens faster than the line speaks: where it looks for a stop bit there is none."""
    cannon = ChipCannon(ChipSettings(startup_us=1000))
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
