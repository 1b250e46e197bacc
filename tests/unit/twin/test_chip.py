import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from twin.chip import RAM_END, Chip, ChipError, ChipMissing, ChipSettings, EventKind, ResetCause
from twin.chip.library import open_library

Boot = Callable[..., Chip]
Sent = Callable[[Chip], bytes]

LOG_PROGRAM = """
import hashlib, sys
from pathlib import Path
from twin.chip import Chip, ChipSettings, ResetCause
chip = Chip(ChipSettings(elf_path=Path(sys.argv[1])))
chip.reset(ResetCause.POWER_ON)
for step in range(60):
    chip.send(bytes([116, 207, 7 + step % 5, 200, 11, 98, 105, 118]))
    chip.drive(18 + step % 2, bool(step % 3), at_cycle=chip.cycle + 1234 * step)
    chip.run_for_us(1717)
    if step == 50:
        chip.reset(ResetCause.BROWN_OUT)
chip.run_for_us(200_000)
events = chip.events()
print(len(events), hashlib.sha256(repr(events).encode()).hexdigest())
"""


def test_two_processes_log_the_same_events(probe_path: Path) -> None:
    command = [sys.executable, "-c", LOG_PROGRAM, str(probe_path)]
    first, second = (
        subprocess.run(command, check=True, capture_output=True, text=True).stdout for _ in range(2)
    )
    assert int(first.split()[0]) > 100
    assert first == second


def test_step_size_does_not_change_what_happens(boot: Boot) -> None:
    logs = []
    for step_us in (10, 313, 40_000):
        chip = boot()
        chip.send(b"t" + bytes([0xCF, 7, 0xCF, 11]) + b"ibgi")
        end = chip.cycle + 640_000
        while chip.cycle < end:
            chip.run_to(min(end, chip.cycle + 16 * step_us))
        logs.append([event for event in chip.events() if event.cycle < end - 100])
    assert logs[0] == logs[1] == logs[2]


def test_several_chips_do_not_disturb_each_other(boot: Boot, bytes_sent: Sent) -> None:
    one, two = boot(drive={18: False}), boot(drive={18: True})
    bytes_sent(one), bytes_sent(two)
    for chip in (one, two):
        chip.send(b"i")
    for _ in range(20):
        one.run_for_us(50)
        two.run_for_us(70)
    assert not bytes_sent(one)[2] & 0b100
    assert bytes_sent(two)[2] & 0b100


def test_run_comes_back_at_the_first_byte_sent(boot: Boot, bytes_sent: Sent) -> None:
    chip = boot()
    chip.events()
    chip.send(b"i")
    assert chip.run_to(chip.cycle + 160_000, stop_at_sent_byte=True)
    assert len(bytes_sent(chip)) == 1
    assert chip.run_to(chip.cycle + 160_000, stop_at_sent_byte=True)
    assert chip.run_to(chip.cycle + 160_000, stop_at_sent_byte=True)
    assert not chip.run_to(chip.cycle + 160_000, stop_at_sent_byte=True)


def test_outputs_float_through_the_start_up_delay(probe_path: Path) -> None:
    chip = Chip(ChipSettings(elf_path=probe_path))
    chip.reset(ResetCause.POWER_ON)
    chip.run_for_us(70_000)
    (started,) = [event for event in chip.events() if event.kind is EventKind.STARTED]
    assert started.cycle == 66_000 * 16


def test_without_power_nothing_runs_and_nothing_is_heard(boot: Boot, bytes_sent: Sent) -> None:
    chip = boot()
    chip.power_off()
    chip.events()
    chip.send(b"i")
    chip.run_for_us(5000)
    assert chip.events() == []
    chip.reset(ResetCause.POWER_ON)
    chip.run_for_us(5000)
    assert bytes_sent(chip) == bytes([ResetCause.POWER_ON])


def test_reset_at_a_cycle_comes_there(boot: Boot) -> None:
    chip = boot()
    chip.events()
    at = chip.cycle + 12_345
    chip.reset(ResetCause.BROWN_OUT, at_cycle=at)
    chip.run_for_us(3000)
    (reset,) = [event for event in chip.events() if event.kind is EventKind.RESET]
    assert at <= reset.cycle < at + 4


def test_a_brown_out_at_a_cycle_damages_the_byte_being_written(boot: Boot) -> None:
    chip = boot()
    chip.send(b"e\x07\x5a")
    chip.reset(ResetCause.BROWN_OUT, at_cycle=chip.cycle + 24_000)
    chip.run_for_us(8000)
    assert chip.eeprom()[7] == 0xFF


def test_a_line_at_another_rate_garbles(probe_path: Path) -> None:
    chip = Chip(ChipSettings(elf_path=probe_path, line_baud=57_600, startup_us=0))
    chip.reset(ResetCause.POWER_ON)
    chip.run_for_us(2000)
    chip.events()
    chip.send(b"iiii")
    chip.run_for_us(5000)
    received = [event.value for event in chip.events() if event.kind is EventKind.RECEIVED]
    assert received
    assert ord("i") not in received


def test_eeprom_outlives_the_chip_where_it_has_a_file(boot: Boot, bytes_sent: Sent, tmp_path: Path) -> None:
    path = tmp_path / "eeprom.bin"
    first = boot(eeprom_path=path)
    first.send(b"e\x11\x99")
    first.run_for_us(10_000)
    first.close()
    second = boot(eeprom_path=path)
    bytes_sent(second)
    second.send(b"r\x11")
    second.run_for_us(1000)
    assert bytes_sent(second) == b"\x99"


def test_eeprom_of_a_wrong_size_is_refused(boot: Boot) -> None:
    with pytest.raises(ChipError, match="1024 expected"):
        boot().set_eeprom(b"abc")


@pytest.mark.parametrize("name", ["", "nowhere/eeprom.bin", "a\0b"])
def test_an_eeprom_that_cannot_be_kept_is_refused_before_anything_runs(
    boot: Boot, tmp_path: Path, name: str
) -> None:
    with pytest.raises(ChipError, match="no file for the EEPROM can stand there"):
        boot(eeprom_path=tmp_path / name)


def test_stack_depth_is_read_from_the_paint(boot: Boot) -> None:
    chip = boot()
    shallow = chip.deepest_stack_bytes()
    chip.send(b"d")
    chip.run_for_us(2000)
    assert shallow < 40
    assert 21 * 17 < chip.deepest_stack_bytes() < 21 * 40
    assert chip.ram_address("_end") < RAM_END


def test_a_closed_chip_says_so(boot: Boot) -> None:
    chip = boot()
    chip.close()
    chip.close()
    with pytest.raises(ChipError, match="closed"):
        chip.run_for_us(1)


def test_missing_firmware_is_one_clear_sentence(tmp_path: Path) -> None:
    with pytest.raises(
        ChipMissing, match=r"cannon\.elf: the firmware is not there; build it with `make firmware`"
    ):
        Chip(ChipSettings(elf_path=tmp_path / "cannon.elf"))


def test_a_file_that_is_no_firmware_is_one_clear_sentence(tmp_path: Path) -> None:
    (tmp_path / "cannon.elf").write_bytes(b"\x7fELF" + bytes(40))
    with pytest.raises(ChipMissing, match="no program for the ATmega328P"):
        Chip(ChipSettings(elf_path=tmp_path / "cannon.elf"))


def test_missing_library_is_one_clear_sentence(tmp_path: Path) -> None:
    with pytest.raises(ChipMissing, match=r"libchip\.so: the simulated chip is not there; build it with"):
        open_library(tmp_path / "libchip.so")


def test_a_chip_goes_back_to_a_moment_and_does_the_same_again(boot: Boot) -> None:
    chip = boot()
    chip.send(b"t" + bytes([0xCF, 7, 0xCF, 11]) + b"ib")
    chip.run_for_us(300)  # in the midst of the bytes
    chip.drive(18, True, at_cycle=chip.cycle + 5000)
    chip.events()
    moment = chip.keep()
    futures = []
    for _ in range(3):
        chip.send(b"gie\x07\x5a")
        chip.run_for_us(60_000)
        futures.append((chip.cycle, chip.events(), chip.eeprom(), chip.data(0, RAM_END)))
        chip.reset(ResetCause.WATCHDOG)
        chip.send(bytes(5000))
        chip.run_for_us(1_000)
        chip.go_back(moment)
    assert len(futures[0][1]) > 20
    assert futures[0] == futures[1] == futures[2]


def test_a_chip_does_not_go_back_to_the_moment_of_another(boot: Boot) -> None:
    with pytest.raises(ChipError, match="its own past"):
        boot().go_back(boot().keep())


def test_bytes_for_a_cycle_start_there(boot: Boot) -> None:
    chip = boot()
    chip.events()
    at = chip.cycle + 12_345
    chip.send(b"?", at_cycle=at)
    chip.run_for_us(2000)
    (heard,) = [event.cycle for event in chip.events() if event.kind is EventKind.RECEIVED]
    assert heard == at + 19 * 17 * 8 // 2


@pytest.mark.parametrize("interrupts_off", [False, True])
def test_a_hung_core_does_nothing_but_its_interrupts(
    boot: Boot, bytes_sent: Sent, interrupts_off: bool
) -> None:
    chip = boot(drive={19: False})
    chip.send(b"n")  # an interrupt for edges of that pin
    chip.run_for_us(1000)
    chip.hang(interrupts_off=interrupts_off)
    chip.log_interrupts(True)
    bytes_sent(chip)
    chip.send(b"i")
    chip.drive(19, True)
    chip.run_for_us(2000)
    events = chip.events()
    assert not any(event.kind is EventKind.SENT for event in events)
    assert sum(event.kind is EventKind.INTERRUPT for event in events) == (not interrupts_off)
    chip.reset(ResetCause.EXTERNAL)
    chip.run_for_us(2000)
    assert bytes_sent(chip) == bytes([ResetCause.EXTERNAL])


def test_a_frozen_core_loses_time_and_bytes_but_not_its_state(boot: Boot, bytes_sent: Sent) -> None:
    chip = boot()
    chip.events()
    chip.send(b"i???i")
    chip.run_for_us(40)
    chip.freeze(16 * 500)
    chip.run_for_us(2000)
    events = chip.events()
    assert sum(event.kind is EventKind.OVERRUN for event in events) == 2
    assert sum(event.kind is EventKind.SENT for event in events) == 6  # the first and the last byte were kept


def test_a_poked_byte_is_there(boot: Boot) -> None:
    chip = boot()
    chip.poke(0x0300, 0x5A)
    assert chip.data(0x0300) == b"\x5a"


def test_interrupts_are_logged_with_the_cycles_since_their_flag(boot: Boot) -> None:
    """From a two-cycle loop: up to 1 to end it, 4 to enter, 3 for the jump in the vector table."""
    chip = boot(drive={19: False})
    chip.send(b"nl")
    chip.run_for_us(1003)
    chip.log_interrupts(True)
    at = chip.cycle + 1600
    chip.drive(19, True, at_cycle=at)
    chip.run_for_us(500)
    (begun,) = [event for event in chip.events() if event.kind is EventKind.INTERRUPT]
    assert begun.pin == 2
    assert begun.cycle - begun.value == at
    assert begun.value in (6, 7, 8)


def test_what_builds_the_library_says_so_in_a_line_as_the_firmware_does(tmp_path: Path) -> None:
    folder = Path(__file__).parents[3] / "twin/chip"
    command = ["make", "--no-print-directory", "-C", str(folder), f"OUT={tmp_path}"]
    assert subprocess.check_output(command, text=True) == "twin: libchip.so\n"
    assert (tmp_path / "libchip.so").stat().st_size
