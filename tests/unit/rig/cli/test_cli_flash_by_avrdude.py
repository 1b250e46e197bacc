"""`rig flash` with the real avrdude, to a boot loader at the far end of a port."""

from __future__ import annotations

import shutil
import sys
from io import StringIO
from pathlib import Path

import pytest
import serial
from boot_loader import boot_loader

from rig.cli import main

pytestmark = pytest.mark.skipif(shutil.which("avrdude") is None, reason="avrdude is not installed here")

FIRMWARE = Path(__file__).parents[4] / "build/firmware/cannon-uno.hex"


def image(path: Path) -> bytes:
    """The bytes of an Intel HEX file that begins at address 0 and has no gaps."""
    data = bytearray()
    for line in path.read_text().split():
        record = bytes.fromhex(line[1:])
        if record[3] == 0:
            assert int.from_bytes(record[1:3], "big") == len(data)
            data += record[4:-1]
    return bytes(data)


@pytest.fixture(autouse=True)
def nobody_at_the_keyboard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", StringIO())


@pytest.fixture(autouse=True)
def less_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A boot loader answers no cannon's question, however long it is asked; how long, other tests check."""
    monkeypatch.setattr("rig.link.link._IDENTIFY_US", 500_000)


@pytest.mark.parametrize("baud", [115_200, 57_600])
def test_the_firmware_is_in_the_chip_byte_for_byte(baud: int, capsys: pytest.CaptureFixture[str]) -> None:
    """An Uno's boot loader talks at 115,200 baud, older ones at 57,600: the maker need not know which."""
    with boot_loader(baud) as loader:
        assert main(("flash", "--yes", "--port", loader.path, "--hex", str(FIRMWARE))) == 0
        written = bytes(loader.flash)
    expected = image(FIRMWARE)
    assert written[: len(expected)] == expected
    assert set(written[len(expected) + 127 :]) == {0xFF}  # the last page is filled up, and no more
    assert ("older boot loader" in capsys.readouterr().out) is (baud == 57_600)


def test_what_was_at_the_port_before_does_not_keep_the_boot_loader(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The rig asks first who is there: its bytes may begin a boot loader's command, here to program a page of 25,700."""
    with boot_loader(115_200) as loader:
        with serial.Serial(loader.path, 115_200) as port:
            port.write(b"dddd")
            port.flush()
        assert main(("flash", "--yes", "--port", loader.path, "--hex", str(FIRMWARE))) == 0
        assert bytes(loader.flash[:4]) == image(FIRMWARE)[:4]
    assert "done" in capsys.readouterr().out


def test_another_chip_is_not_written_to(capsys: pytest.CaptureFixture[str]) -> None:
    """An ATmega2560 answers with its own signature."""
    with boot_loader(115_200, signature=b"\x1e\x98\x01") as loader:
        assert main(("flash", "--yes", "--port", loader.path, "--hex", str(FIRMWARE))) == 1
        assert set(loader.flash) == {0xFF}
    assert "no ATmega328P" in capsys.readouterr().err
