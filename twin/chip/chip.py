"""The simulated microcontroller as Python sees it. What it does about libsimavr is in `shim.h`."""

import struct
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

from twin.chip.errors import ChipError, ChipMissing, ChipStopped
from twin.chip.library import open_library
from twin.limits import within

__all__ = [
    "CHIP_HZ",
    "FIRMWARE_PATH",
    "RAM_END",
    "Chip",
    "ChipEvent",
    "ChipSettings",
    "EventKind",
    "Moment",
    "ResetCause",
]

CHIP_HZ = 16_000_000
"""Cycles a second by which the firmware reckons."""
_MOST_OFF = 0.02  # with more the two ends of a serial line do not understand each other

FIRMWARE_PATH = Path(__file__).resolve().parents[2] / "build" / "firmware" / "cannon-uno.elf"

RAM_END = 0x08FF
_RAM_OFFSET = 0x80_0000
_EEPROM_BYTES = 1024
_EM_AVR = 83
_EVENT = struct.Struct("=QHHI")
_EVENT_ROOM = 4096


class EventKind(IntEnum):
    """What happened on the chip; the same numbers as `enum chip_event_kind`."""

    PIN = 1
    """An output changed as seen outside; a pin that is not driven reads low there."""
    SENT = 2
    """A byte left the chip; `pin` is 1 where its stop bit was not heard."""
    RECEIVED = 3
    """The chip's receiver has a byte (RXC is set)."""
    OVERRUN = 4
    """A received byte was lost on the chip."""
    RESET = 5
    """A reset began; `value` is a `ResetCause`."""
    STARTED = 6
    """The first instruction after a reset."""
    EEPROM = 7
    """A byte of EEPROM was programmed; `pin` is its address."""
    POWER_OFF = 8
    """Power was taken away."""
    INTERRUPT = 9
    """An interrupt's handler began; `pin` is its vector, `value` the cycles since its flag. Only where asked for."""


class ResetCause(IntEnum):
    """Bits of MCUSR."""

    POWER_ON = 1
    EXTERNAL = 2
    BROWN_OUT = 4
    WATCHDOG = 8


@dataclass(frozen=True, slots=True)
class ChipEvent:
    """Something that happened at a cycle."""

    cycle: int
    kind: EventKind
    pin: int
    """Pin number, or an address or flag as `EventKind` says."""
    value: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChipSettings:
    """What is soldered around the chip."""

    elf_path: Path = FIRMWARE_PATH
    line_baud: int = 115_200
    """Rate of the far end of the serial line, bits a second. The chip sets its own rate by itself."""
    startup_us: int = 66_000
    """From the end of a reset's cause to the first instruction: 16384 cycles and 65 ms with the Uno's fuses."""
    power_on_ram: int = 0xC5
    """The byte with which RAM is filled at power-on. Any value is as true; a fixed one shows how deep the stack went."""
    eeprom_path: Path | None = None
    """Where the EEPROM outlives the chip: read when the chip is made, written when it is closed."""
    clock_off: float = 0.0
    """By what share its clock runs fast; an Uno's ceramic resonator may be 0.005 off, either way."""

    def __post_init__(self) -> None:
        within(self, 300, 2_000_000, "line_baud")
        within(self, 0, 10_000_000, "startup_us")
        within(self, 0, 255, "power_on_ram")
        within(self, -_MOST_OFF, _MOST_OFF, "clock_off")

    @property
    def hz(self) -> float:
        """Its cycles in a second."""
        return CHIP_HZ * (1.0 + self.clock_off)


_STOPPED = {
    -1: "it sleeps with interrupts off",
    -2: "it sleeps in another mode than idle",
    -3: "bad stack, program counter, opcode or address",
}


def _can_be_a_file(path: Path) -> bool:
    return "\0" not in str(path) and not path.is_dir() and path.parent.is_dir()


class Moment:
    """A state of one chip, to which that chip can go back."""

    def __init__(self, chip: "Chip", kept: Any, free: Any) -> None:
        self._chip = chip  # must outlive this
        self._kept = kept
        weakref.finalize(self, free, kept)


class _Closed:
    """Stands where the library stood, once the chip is gone."""

    def __getattr__(self, name: str) -> Any:
        raise ChipError("the simulated chip is closed")


class Chip:
    """An ATmega328P at 16 MHz with a firmware in its flash, without power until `reset(ResetCause.POWER_ON)`.

    Time is in cycles since the chip was made and goes on through resets. Equal calls give equal events.

    Raises
    ------
    ChipMissing
        Where the firmware or the library has not been built, or is no firmware for this chip.
    ChipError
        Where the EEPROM's file cannot be, or holds none.
    """

    def __init__(self, settings: ChipSettings | None = None) -> None:
        self.settings = settings or ChipSettings()
        path, eeprom_path = self.settings.elf_path, self.settings.eeprom_path
        if eeprom_path is not None and not _can_be_a_file(eeprom_path):
            raise ChipError(f"{str(eeprom_path)!r}: no file for the EEPROM can stand there")
        if not path.is_file():
            raise ChipMissing(path, "the firmware is not there")
        head = path.read_bytes()[:20]
        if head[:4] != b"\x7fELF" or int.from_bytes(head[18:20], "little") != _EM_AVR:
            raise ChipMissing(path, "this is no program for the ATmega328P")
        self._ffi, self._lib = open_library()
        startup_cycles = self.settings.startup_us * CHIP_HZ // 1_000_000
        self._chip = self._lib.chip_new(
            str(path).encode(), self.settings.line_baud, startup_cycles, self.settings.power_on_ram
        )
        if self._chip == self._ffi.NULL:
            raise ChipMissing(path, "the firmware cannot be read, or does not fit into 32 KiB of flash")
        self._free = weakref.finalize(self, self._lib.chip_free, self._chip)
        self._room = self._ffi.new("chip_event[]", _EVENT_ROOM)
        if eeprom_path is not None and eeprom_path.is_file():
            self.set_eeprom(eeprom_path.read_bytes())

    def close(self) -> None:
        """Keep the EEPROM, where the settings say so, and let the chip go. Closing twice is allowed."""
        if self._free.alive:
            if self.settings.eeprom_path is not None:
                self.settings.eeprom_path.write_bytes(self.eeprom())
            self._free()
            self._lib = _Closed()

    @property
    def cycle(self) -> int:
        """The present cycle."""
        return int(self._lib.chip_cycle(self._chip))

    def run_to(self, cycle: int, *, stop_at_sent_byte: bool = False) -> bool:
        """Run until a cycle is reached, or just beyond it by the rest of an instruction.

        Parameters
        ----------
        cycle
            Absolute. In the past: nothing happens.
        stop_at_sent_byte
            Come back as soon as the chip has sent a byte.

        Returns
        -------
        bool
            Whether it came back for a byte.

        Raises
        ------
        ChipStopped
            Where the firmware ended.
        """
        end = self._lib.chip_run(self._chip, cycle, stop_at_sent_byte)
        if end < 0:
            raise ChipStopped(_STOPPED[end], self.cycle, self._lib.chip_program_counter(self._chip))
        return bool(end)

    def run_for_us(self, duration_us: int) -> None:
        """Run for a time."""
        self.run_to(self.cycle + duration_us * CHIP_HZ // 1_000_000)

    def events(self) -> list[ChipEvent]:
        """Return what happened since the last call, in order of cycle."""
        events: list[ChipEvent] = []
        while True:
            count = self._lib.chip_events(self._chip, self._room, _EVENT_ROOM)
            data = self._ffi.buffer(self._room, count * _EVENT.size)
            events += [
                ChipEvent(cycle, EventKind(kind), pin, value)
                for cycle, kind, pin, value in _EVENT.iter_unpack(data)
            ]
            if count < _EVENT_ROOM:
                return events

    def send(self, data: bytes, *, at_cycle: int = 0) -> None:
        """Put bytes on the line to the chip, one behind the other at the line's rate.

        Parameters
        ----------
        data
            The bytes; they follow those that are on the line already.
        at_cycle
            The first start bit comes not before this cycle; the past means now.
        """
        self._lib.chip_send(self._chip, data, len(data), at_cycle)

    @property
    def line_pending(self) -> int:
        """Bytes on the line to the chip whose start bit has not come yet."""
        return int(self._lib.chip_line_pending(self._chip))

    def clear_line(self) -> None:
        """Forget bytes that are still to be sent to the chip."""
        self._lib.chip_line_clear(self._chip)

    def drive(self, pin: int, level: bool | None, *, at_cycle: int = 0) -> None:
        """Let the world outside drive a pin.

        Parameters
        ----------
        pin
            Number as in `twin.chip.Pin`.
        level
            High, low, or None to let go of it.
        at_cycle
            When; the past means now.
        """
        self._lib.chip_drive(self._chip, pin, -1 if level is None else int(level), at_cycle)

    def output(self, pin: int) -> bool:
        """Return what an output looks like from outside: its driven level; low where the chip does not drive it."""
        return bool(self._lib.chip_output(self._chip, pin))

    def drives(self, pin: int) -> bool:
        """Return whether the chip drives a pin."""
        return bool(self._lib.chip_pin_driven(self._chip, pin))

    def reset(self, cause: ResetCause, *, at_cycle: int | None = None) -> None:
        """Reset now or later. Outputs float at once; the first instruction comes after the start-up delay.

        A power-on or brown-out damages the byte of EEPROM that is being written.
        """
        if at_cycle is None:
            self._lib.chip_reset(self._chip, cause)
        else:
            self._lib.chip_reset_at(self._chip, cause, at_cycle)

    def power_off(self) -> None:
        """Take power away until the next `reset(ResetCause.POWER_ON)`."""
        self._lib.chip_power_off(self._chip)

    def keep(self) -> Moment:
        """Return the present state, for `go_back`."""
        return Moment(self, self._lib.chip_keep(self._chip), self._lib.chip_moment_free)

    def go_back(self, moment: Moment) -> None:
        """Make the state of this chip what it was, the cycle, the line and what drives the pins included.

        Raises
        ------
        ChipError
            Where the moment is another chip's.
        """
        if moment._chip is not self:
            raise ChipError("a chip can go back to its own past only")
        self._lib.chip_go_back(self._chip, moment._kept)

    @property
    def asleep(self) -> bool:
        """Whether the core sleeps: then it is in the main loop, and every handler is at its end."""
        return bool(self._lib.chip_asleep(self._chip))

    def hang(self, *, interrupts_off: bool = False) -> None:
        """Let the core loop for ever from here, until a reset: what it was about is never done.

        Parameters
        ----------
        interrupts_off
            Whether interrupts go off first; otherwise they stay as they are.
        """
        self._lib.chip_hang(self._chip, interrupts_off)

    def poke(self, address: int, value: int) -> None:
        """Write a byte of data space, as a debugger would: nothing on the chip takes notice of the writing."""
        self._lib.chip_poke(self._chip, address, value)

    def freeze(self, cycles: int) -> None:
        """Stop the core for a while, in the midst of whatever it does; timers, line and pins go on."""
        self._lib.chip_freeze(self._chip, cycles)

    def log_interrupts(self, on: bool) -> None:
        """Log every interrupt from now on, or none."""
        self._lib.chip_log_interrupts(self._chip, on)

    def eeprom(self) -> bytes:
        """Return the 1024 bytes of EEPROM."""
        out = self._ffi.new("uint8_t[]", _EEPROM_BYTES)
        self._lib.chip_eeprom_read(self._chip, out)
        return bytes(self._ffi.buffer(out))

    def set_eeprom(self, contents: Sequence[int]) -> None:
        """Replace the EEPROM's contents.

        Raises
        ------
        ChipError
            Where there are not 1024 bytes.
        """
        if len(contents) != _EEPROM_BYTES:
            raise ChipError(f"EEPROM: {len(contents)} bytes given, {_EEPROM_BYTES} expected")
        self._lib.chip_eeprom_write(self._chip, bytes(contents))

    def data(self, address: int, count: int = 1) -> bytes:
        """Return bytes of data space as they stand: registers, I/O, RAM (0x0100 to 0x08FF)."""
        return bytes(self._lib.chip_data(self._chip, address + i) for i in range(count))

    def ram_address(self, symbol: str) -> int:
        """Return the address in data space of a variable of the firmware.

        Raises
        ------
        ChipError
            Where the firmware has no such variable.
        """
        address = int(self._lib.chip_symbol(self._chip, symbol.encode()))
        if address < _RAM_OFFSET:
            raise ChipError(f"{self.settings.elf_path}: no variable {symbol!r}")
        return address - _RAM_OFFSET

    def deepest_stack_bytes(self) -> int:
        """Return how much stack was used at worst since power-on, by what is left of the power-on fill.

        Interrupts included. A stack that wrote just the fill's byte at its very end counts a byte less.
        """
        first_free = self.ram_address("_end")
        room = self.data(first_free, RAM_END + 1 - first_free)
        untouched = len(room) - len(room.lstrip(bytes([self.settings.power_on_ram])))
        return len(room) - untouched
