import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from twin.chip import Chip, ChipSettings, EventKind, ResetCause

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def bytes_sent() -> Callable[[Chip], bytes]:
    """Take a chip's events and return the bytes it sent."""
    return lambda chip: bytes(event.value for event in chip.events() if event.kind is EventKind.SENT)


@pytest.fixture(scope="session")
def probe_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program of probe.c for the chip."""
    path = tmp_path_factory.mktemp("probe") / "probe.elf"
    subprocess.run(
        [
            "avr-gcc",
            "-mmcu=atmega328p",
            "-DF_CPU=16000000UL",
            "-Os",
            "-std=gnu99",
            "-Wall",
            "-Werror",
            "-o",
            str(path),
            str(HERE / "probe.c"),
        ],
        check=True,
    )
    return path


@pytest.fixture
def boot(probe_path: Path) -> Iterator[Callable[..., Chip]]:
    """Make chips that run the probe and have just sent their first byte."""
    chips = []

    def make(*, drive: dict[int, bool] | None = None, eeprom_path: Path | None = None) -> Chip:
        chip = Chip(ChipSettings(elf_path=probe_path, startup_us=1000, eeprom_path=eeprom_path))
        chips.append(chip)
        for pin, level in (drive or {}).items():
            chip.drive(pin, level)
        chip.reset(ResetCause.POWER_ON)
        chip.run_for_us(2000)
        return chip

    yield make
    for chip in chips:
        chip.close()
