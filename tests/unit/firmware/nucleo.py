"""The second board's binary on an emulated Cortex-M0+, with as much of an STM32L073 around it as the binary touches.

What is modelled is what RM0367 says of these registers, by addresses of its own, so that the board is not checked
against its own header. An access that the model does not know fails the test. Time is coarse: an instruction is
a cycle, a handler is a fixed number of them. An interrupt comes between two instructions, when none is held off, and runs
to its end.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from unicorn import UC_ARCH_ARM, UC_HOOK_MEM_WRITE, UC_MODE_MCLASS, UC_MODE_THUMB, Uc
from unicorn.arm_const import (
    UC_ARM_REG_LR,
    UC_ARM_REG_PC,
    UC_ARM_REG_PRIMASK,
    UC_ARM_REG_SP,
    UC_CPU_ARM_CORTEX_M0,
)

CLOCK_HZ = 32_000_000
US = CLOCK_HZ // 1_000_000
PERIOD_CYCLES = 20_000 * US
MS = 1000 * US

FLASH, RAM, EEPROM = 0x0800_0000, 0x2000_0000, 0x0808_0C00
FLASH_BYTES, RAM_BYTES, EEPROM_BYTES = 96 * 1024, 20 * 1024, 3 * 1024
WFI = b"\x30\xbf"
RETURN = 0x0000_1000  # where a handler returns to; nothing else is there
LONGEST_HANDLER = 2000  # instructions
HANDLER_CYCLES = 200  # that one counts as; the emulator does not say how many it took
SLICE = 400  # instructions between two looks at what is pending
EEPROM_WRITE_CYCLES = 3200 * US
WATCHDOG_CYCLES = 28 * MS  # of the fastest oscillator that the data sheet allows

GPIO = {"A": 0x5000_0000, "B": 0x5000_0400, "C": 0x5000_0800}
TIMERS = {2: 0x4000_0000, 3: 0x4000_0400, 22: 0x4001_1400}
USART2, IWDG, PWR = 0x4000_4400, 0x4000_3000, 0x4000_7000
SYSCFG, EXTI, RCC, FLASH_INTERFACE = 0x4001_0000, 0x4001_0400, 0x4002_1000, 0x4002_2000
SYSTICK, NVIC_ISER, NVIC_IPR, VTOR, SHPR3 = 0xE000_E010, 0xE000_E100, 0xE000_E400, 0xE000_ED08, 0xE000_ED20


class Interrupt(IntEnum):
    """Numbers in the vector table, less 16."""

    SYSTICK = -1
    EXTI0_1 = 5
    EXTI2_3 = 6
    EXTI4_15 = 7
    TIM2 = 15
    USART2 = 28


class Reset(IntEnum):
    """Flags of RCC_CSR after a reset; every one pulls the reset line too."""

    POWER_ON = 1 << 27 | 1 << 26
    LINE = 1 << 26
    WATCHDOG = 1 << 29 | 1 << 26


class Trap(AssertionError):
    """The binary did something that the chip would not have liked."""


@dataclass
class Pwm:
    """One channel of a timer, as it stands."""

    on: bool
    width_ticks: int


@dataclass
class Nucleo:
    """A powered board. `pins` are the levels at its inputs, as (port, number)."""

    binary: bytes = field(repr=False)
    pins: dict[tuple[str, int], bool]
    cycle: int = 0
    sent: bytearray = field(default_factory=bytearray)
    edges: list[tuple[int, str, int, bool]] = field(default_factory=list)
    """(cycle, port, number, level) of every output that changed."""
    handled: list[Interrupt] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._uc: Any = Uc(UC_ARCH_ARM, UC_MODE_THUMB | UC_MODE_MCLASS)
        self._uc.ctl_set_cpu_model(UC_CPU_ARM_CORTEX_M0)
        self._uc.mem_map(RETURN, 0x1000)
        self._uc.mem_map(FLASH, FLASH_BYTES)
        self._uc.mem_map(RAM, RAM_BYTES)
        self._uc.mem_map(EEPROM & ~0xFFF, 0x2000)
        for base, size in ((0x4000_0000, 0x3_0000), (0x5000_0000, 0x1000), (0xE000_E000, 0x1000)):
            self._uc.mmio_map(base, size, self._reader(base), None, self._writer(base), None)
        self._uc.hook_add(UC_HOOK_MEM_WRITE, self._on_eeprom, begin=EEPROM, end=EEPROM + EEPROM_BYTES - 1)
        self._uc.hook_add(UC_HOOK_MEM_WRITE, self._on_flash, begin=FLASH, end=FLASH + FLASH_BYTES - 1)
        self._uc.mem_write(FLASH, self.binary)
        self._uc.mem_write(RAM, b"\xa5" * RAM_BYTES)
        self.reset(Reset.POWER_ON)

    # -- what a test does --------------------------------------------------------------------------------------------

    def reset(self, why: Reset) -> None:
        """Registers as after a reset; RAM and EEPROM stay."""
        self._words: dict[int, int] = {RCC + 0x50: why, FLASH_INTERFACE + 0x04: 0b111, PWR: 0x1000}
        for base in GPIO.values():
            self._words[base] = 0xFFFF_FFFF
        self._keys: list[int] = []
        self._incoming: list[tuple[int, int]] = []
        self._ready_at = 0  # when the transmitter takes a byte again
        self._eeprom_until = 0
        self._fed_at: int | None = None
        self._origin = 0  # when TIM2 began to count
        self._overflows = 0
        self._tick_at: int | None = None
        self._tick = False
        self._note_outputs(self.outputs())
        stack, start = struct.unpack_from("<2I", self.binary)
        self._uc.reg_write(UC_ARM_REG_PRIMASK, 0)
        self._uc.reg_write(UC_ARM_REG_SP, stack)
        self._pc = start

    def drive(self, port: str, number: int, level: bool) -> None:
        """An input changes; its interrupt line notices an edge that it watches."""
        before = self.pins[port, number]
        self.pins[port, number] = level
        watched = self._words.get(EXTI + (0x08 if level else 0x0C), 0)
        source = self._words.get(SYSCFG + 0x08 + 4 * (number // 4), 0) >> (4 * (number % 4)) & 0xF
        if level != before and source == "ABC".index(port) and watched >> number & 1:
            self._words[EXTI + 0x14] = self._words.get(EXTI + 0x14, 0) | 1 << number

    def receive(self, data: bytes) -> None:
        """Bytes come in one after the other at the speed of the line; the first is complete now."""
        start = max([self.cycle, *(due + self._byte_cycles() for due, _ in self._incoming)])
        self._incoming += [(start + i * self._byte_cycles(), byte) for i, byte in enumerate(data)]

    def run_us(self, duration_us: int) -> None:
        until = self.cycle + duration_us * US
        while self.cycle < until:
            self._advance(until)

    def hang_us(self, duration_us: int) -> None:
        """Only interrupts run: the main loop hangs, as soon as it lets them in."""
        while self._uc.reg_read(UC_ARM_REG_PRIMASK) & 1:
            self._run(self._pc, 1)
        until = self.cycle + duration_us * US
        while self.cycle < until:
            due = self._due()
            if due:
                self._handle(due[0])
            else:
                self.cycle = min(until, max(self.cycle + US, self._next_event()))

    def force(self, port: str, number: int, level: bool) -> None:
        """Set an output behind the binary's back."""
        address = GPIO[port] + 0x14
        word = self._words.get(address, 0) & ~(1 << number)
        self._words[address] = word | level << number

    def overrun(self) -> None:
        """Two flags come while nobody reads; the second one is lost."""
        self._incoming += [(self.cycle, 0x7E), (self.cycle, 0x7E)]

    def level(self, port: str, number: int) -> bool | None:
        """An output's level; None when the pin is none."""
        return self.outputs().get((port, number))

    def outputs(self) -> dict[tuple[str, int], bool]:
        return {
            (port, number): bool(self._words.get(base + 0x14, 0) >> number & 1)
            for port, base in GPIO.items()
            for number in range(16)
            if self._words[base] >> (2 * number) & 3 == 1
        }

    def pwm(self, timer: int, channel: int) -> Pwm:
        base = TIMERS[timer]
        mode = self._words.get(base + 0x18 + 4 * ((channel - 1) // 2), 0) >> (8 * ((channel - 1) % 2))
        enabled = self._words.get(base + 0x20, 0) >> (4 * (channel - 1)) & 1
        counting = self._words.get(base, 0) & 1
        divided = self._words.get(base + 0x28) == 15 and self._words.get(base + 0x2C) == 39_999
        buffered_pwm = mode & 0x78 == 0x68
        return Pwm(
            bool(enabled and counting and divided and buffered_pwm),
            self._words.get(base + 0x34 + 4 * (channel - 1), 0),
        )

    def alternate(self, port: str, number: int) -> int | None:
        """The alternate function that a pin is given to."""
        base = GPIO[port]
        if self._words[base] >> (2 * number) & 3 != 2:
            return None
        return self._words.get(base + 0x20 + 4 * (number // 8), 0) >> (4 * (number % 8)) & 0xF

    def pulled_up(self, port: str, number: int) -> bool:
        return self._words.get(GPIO[port] + 0x0C, 0) >> (2 * number) & 3 == 1

    @property
    def baud(self) -> float:
        return CLOCK_HZ / self._words[USART2 + 0x0C]

    def ram(self) -> bytes:
        """RAM from its first byte; what was never written to is A5."""
        return bytes(self._uc.mem_read(RAM, RAM_BYTES))

    # -- time --------------------------------------------------------------------------------------------------------

    def _advance(self, until: int) -> None:
        due = self._due()
        held_off = self._uc.reg_read(UC_ARM_REG_PRIMASK) & 1
        if due and not held_off:
            self._handle(due[0])
            return
        asleep = self._run(self._pc, 1 if due else SLICE)
        if asleep and not due:
            self.cycle = min(until, max(self.cycle, self._next_event()))
        self._look_after()

    def _run(self, address: int, count: int) -> bool:
        """Some instructions; True when the last one was to sleep."""
        self._uc.emu_start(address | 1, RETURN, count=count)
        self._pc = self._uc.reg_read(UC_ARM_REG_PC)
        self.cycle += count
        return self._pc != RETURN and bytes(self._uc.mem_read(self._pc - 2, 2)) == WFI

    def _handle(self, interrupt: Interrupt) -> None:
        vectors = self._words.get(VTOR, 0) or FLASH
        (handler,) = struct.unpack("<I", self._uc.mem_read(vectors + 4 * (interrupt + 16), 4))
        if handler & 1 == 0:
            raise Trap(f"{interrupt.name} has no handler")
        self.handled.append(interrupt)
        self._tick = self._tick and interrupt != Interrupt.SYSTICK
        interrupted = self._pc
        context = self._uc.context_save()
        stack = self._uc.reg_read(UC_ARM_REG_SP)
        self._uc.reg_write(UC_ARM_REG_SP, (stack - 32) & ~7)
        self._uc.reg_write(UC_ARM_REG_LR, RETURN | 1)
        self._pc = handler & ~1
        self._run(self._pc, LONGEST_HANDLER)
        if self._pc != RETURN:
            raise Trap(f"{interrupt.name} does not end")
        self.cycle += HANDLER_CYCLES - LONGEST_HANDLER
        self._uc.context_restore(context)
        self._pc = interrupted
        self._look_after()

    def _look_after(self) -> None:
        if self._fed_at is not None and self.cycle - self._fed_at > WATCHDOG_CYCLES:
            raise Trap("the watchdog was not fed")
        if self._tick_at is not None and self.cycle >= self._tick_at:
            self._tick = True
            self._tick_at += self._words[SYSTICK + 4] + 1

    def _byte_cycles(self) -> int:
        return 10 * self._words.get(USART2 + 0x0C, 278)

    def _next_event(self) -> int:
        coming = [due for due, _ in self._incoming[:1]]
        coming += [self._tick_at] if self._tick_at is not None else []
        coming += [self._ready_at] if self._ready_at > self.cycle else []
        coming.append(self._origin + (self._overflows + 1) * PERIOD_CYCLES)
        return min(coming)

    # -- interrupts --------------------------------------------------------------------------------------------------

    def _due(self) -> list[Interrupt]:
        """What is pending and enabled, the most urgent first."""
        lines = self._words.get(EXTI + 0x14, 0) & self._words.get(EXTI, 0)
        control = self._words.get(USART2, 0)
        pending = {
            Interrupt.EXTI0_1: bool(lines & 0x3),
            Interrupt.EXTI2_3: bool(lines & 0xC),
            Interrupt.EXTI4_15: bool(lines & 0xFFF0),
            Interrupt.TIM2: bool(self._overflowed() and self._words.get(TIMERS[2] + 0x0C, 0) & 1),
            Interrupt.USART2: bool(self._usart_flags() & control & (1 << 5 | 1 << 7)),
        }
        enabled = self._words.get(NVIC_ISER, 0)
        due = [number for number, is_pending in pending.items() if is_pending and enabled >> number & 1]
        if self._tick and self._words.get(SYSTICK, 0) & 2:
            due.append(Interrupt.SYSTICK)
        return sorted(due, key=lambda number: (self._priority(number), number))

    def _priority(self, interrupt: Interrupt) -> int:
        if interrupt == Interrupt.SYSTICK:
            return self._words.get(SHPR3, 0) >> 30
        return self._words.get(NVIC_IPR + 4 * (interrupt // 4), 0) >> (8 * (interrupt % 4) + 6) & 3

    def _overflowed(self) -> bool:
        return bool(self._words.get(TIMERS[2], 0) & 1) and (
            self.cycle - self._origin >= (self._overflows + 1) * PERIOD_CYCLES
        )

    def _usart_flags(self) -> int:
        flags = 1 << 7 if self.cycle >= self._ready_at else 0
        if self._incoming and self._incoming[0][0] <= self.cycle:
            flags |= 1 << 5
            if len(self._incoming) > 1 and self._incoming[1][0] <= self.cycle:
                flags |= 1 << 3  # the second one is lost
        return flags

    # -- registers ---------------------------------------------------------------------------------------------------

    def _reader(self, base: int) -> Callable[[Uc, int, int, object], int]:
        def read(_: Uc, offset: int, size: int, __: object) -> int:
            return self._read(base + offset, size)

        return read

    def _writer(self, base: int) -> Callable[[Uc, int, int, int, object], None]:
        def write(_: Uc, offset: int, size: int, value: int, __: object) -> None:
            self._write(base + offset, size, value)

        return write

    def _read(self, address: int, size: int) -> int:
        if size != 4 or address % 4:
            raise Trap(f"{address:08X} read in {size} bytes")
        for port, base in GPIO.items():
            if address == base + 0x10:
                return sum(level << number for (on, number), level in self.pins.items() if on == port)
        word = self._words.get(address, 0)
        match address:
            case 0x4002_1000:  # RCC_CR: what is switched on is ready
                return word | (word & 1) << 2 | (word & 1 << 24) << 1
            case 0x4002_100C:  # RCC_CFGR: the clock asked for is the clock
                return word & ~0xC | (word & 3) << 2
            case 0x4002_2018:  # FLASH_SR
                return int(self.cycle < self._eeprom_until)
            case 0x4000_0010:  # TIM2_SR
                return int(self._overflowed())
            case 0x4000_0024:  # TIM2_CNT
                return (self.cycle - self._origin) % PERIOD_CYCLES * 2 // US
            case 0x4000_441C:  # USART_ISR
                return self._usart_flags()
            case 0x4000_4424:  # USART_RDR
                return self._incoming.pop(0)[1]
            case _ if address in self._words or address in PLAIN:
                return word
        raise Trap(f"{address:08X} read")

    def _write(self, address: int, size: int, value: int) -> None:
        if size != 4 or address % 4:
            raise Trap(f"{address:08X} written in {size} bytes")
        for base in GPIO.values():
            if base <= address < base + 0x400:
                self._write_pins(base, address - base, value)
                return
        match address:
            case 0x4001_0414:  # EXTI_PR
                self._words[address] = self._words.get(address, 0) & ~value
            case 0x4000_0010:  # TIM2_SR: a zero clears
                self._overflows += int(self._overflowed() and not value & 1)
            case 0x4000_3000:  # IWDG_KR
                if value in {0xCCCC, 0xAAAA}:
                    self._fed_at = self.cycle
            case 0x4000_4428:  # USART_TDR
                if self.cycle < self._ready_at:
                    raise Trap("a byte was sent before there was room")
                self.sent.append(value)
                self._ready_at = self.cycle + self._byte_cycles()
            case 0x4002_200C:  # FLASH_PEKEYR
                self._keys.append(value)
            case 0xE000_E010:  # SYST_CSR
                self._words[address] = value
                self._tick_at = self.cycle + self._words[SYSTICK + 4] + 1
            case _ if address in PLAIN:
                if address == TIMERS[2] and value & 1 and not self._words.get(address, 0) & 1:
                    self._origin = self.cycle
                self._words[address] = value
            case _:
                raise Trap(f"{address:08X} written")

    def _write_pins(self, base: int, offset: int, value: int) -> None:
        before = self.outputs()
        if offset == 0x18:  # BSRR
            data = self._words.get(base + 0x14, 0)
            self._words[base + 0x14] = data & ~(value >> 16) & 0xFFFF | value & 0xFFFF
        elif base + offset in PLAIN:
            self._words[base + offset] = value
        else:
            raise Trap(f"{base + offset:08X} written")
        self._note_outputs(before)

    def _note_outputs(self, before: dict[tuple[str, int], bool]) -> None:
        for (port, number), level in self.outputs().items():
            if before.get((port, number), False) != level:
                self.edges.append((self.cycle, port, number, level))

    def _on_eeprom(self, _: Uc, __: int, address: int, size: int, value: int, ___: object) -> None:
        if self._keys != [0x89AB_CDEF, 0x0203_0405]:
            raise Trap("the EEPROM was written and is locked")
        if self.cycle < self._eeprom_until or size != 1:
            raise Trap("the EEPROM was written while it was busy, or more than a byte")
        self._eeprom_until = self.cycle + EEPROM_WRITE_CYCLES

    def _on_flash(self, *_: object) -> None:
        raise Trap("the program was written to")


def _plain() -> frozenset[int]:
    """Registers that hold what was written to them, as far as this board goes."""
    offsets = {
        **dict.fromkeys(GPIO.values(), (0x00, 0x0C, 0x20, 0x24)),
        **dict.fromkeys(
            TIMERS.values(),
            (0x00, 0x0C, 0x10, 0x14, 0x18, 0x1C, 0x20, 0x28, 0x2C, 0x34, 0x38, 0x3C, 0x40),
        ),
        USART2: (0x00, 0x0C, 0x20),
        IWDG: (0x04, 0x08),
        PWR: (0x00, 0x04),
        SYSCFG: (0x08, 0x0C, 0x10, 0x14),
        EXTI: (0x00, 0x08, 0x0C, 0x14),
        RCC: (0x00, 0x0C, 0x2C, 0x34, 0x38, 0x50),
        FLASH_INTERFACE: (0x00,),
        SYSTICK: (0x04, 0x08),
        NVIC_IPR: range(0, 32, 4),
    }
    plain = {base + offset for base, of_base in offsets.items() for offset in of_base}
    return frozenset(plain | {NVIC_ISER, VTOR, SHPR3})


PLAIN = _plain()
