"""`rig flash`: what it runs, word for word, and what it refuses; avrdude is one that notes its arguments."""

from __future__ import annotations

import os
import pty
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_answer import Answer, Rig, one_line
from served_table import served
from table_top import TableTop

from rig.cannon import Cannon
from rig.cli import flash, main
from rig.link.link import Link

HEX = ":0400000001020304F2\n:00000001FF\n"


def program(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Rig:
    """Run `rig` where avrdude notes its arguments, there is no tool chain, and a release shipped its firmware."""
    monkeypatch.chdir(tmp_path)
    Path("bin").mkdir()
    program(Path("bin/avrdude"), 'printf "%s\\n" "$@" > arguments')
    Path("shipped.hex").write_text(HEX)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(flash, "_SHIPPED", tmp_path / "shipped.hex")

    def run(*words: str, typed: str = "y\n") -> Answer:
        Path("typed").write_text(typed)
        with Path("typed").open() as typing:
            monkeypatch.setattr(sys, "stdin", typing)
            status = main(("flash", *words))
        captured = capsys.readouterr()
        return Answer(status, captured.out, captured.err)

    return run


@pytest.fixture
def blank(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A port at which nothing answers; that is not waited for."""
    monkeypatch.setattr(flash, "_refuse_other_boards", lambda settings: None)
    controller, device = pty.openpty()
    yield os.ttyname(device)
    os.close(controller)
    os.close(device)


def test_avrdude_is_run_as_it_was_said(rig: Rig, blank: str, tmp_path: Path) -> None:
    answer = rig("--port", blank)
    assert answer.status == 0, answer.err
    arguments = Path("arguments").read_text().split()
    hex_file = tmp_path / "shipped.hex"
    assert arguments == [
        *("-p", "atmega328p", "-c", "arduino", "-x", "attempts=2", "-P", blank, "-b", "115200", "-D"),
        *("-U", f"flash:w:{hex_file}:i"),
    ]
    assert f"to run: {tmp_path}/bin/avrdude {' '.join(arguments)}\n" in answer.out


def test_a_dry_run_says_the_same_and_runs_nothing(rig: Rig, blank: str) -> None:
    told = rig("--port", blank).out
    Path("arguments").unlink()
    answer = rig("--port", blank, "--dry-run", typed="")
    assert answer.status == 0
    assert answer.out == told.partition("\n")[0].replace("to run", "would run") + "\n"
    assert not Path("arguments").exists()


@pytest.mark.parametrize("typed", ["", "n\n", "\n", "yess\n"])
def test_what_is_not_confirmed_is_not_run(rig: Rig, blank: str, typed: str) -> None:
    assert "not confirmed" in one_line(rig("--port", blank, typed=typed))
    assert not Path("arguments").exists()
    assert rig("--port", blank, "--yes", typed="").status == 0


def test_where_the_tool_chain_is_there_the_firmware_is_built_first(
    rig: Rig, blank: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flash, "_BUILT", tmp_path / "built.hex")
    program(Path("bin/avr-gcc"), "")
    program(
        Path("bin/make"),
        f'printf "%s\\n" "$@" > made; while read line; do echo "$line"; done < shipped.hex > {tmp_path}/built.hex',
    )
    assert rig("--port", blank).status == 0
    assert Path("made").read_text().split() == ["-C", str(flash._SOURCE), "avr"]
    assert f"flash:w:{tmp_path}/built.hex:i" in Path("arguments").read_text()
    Path("arguments").unlink()
    program(Path("bin/make"), "echo core/lever.c: no such file; exit 2")
    assert "could not be built (status 2): core/lever.c" in one_line(rig("--port", blank))
    assert not Path("arguments").exists()


def test_firmware_is_built_for_the_speed_of_the_settings(
    rig: Rig, blank: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cannon that speaks at another speed than the settings' would not be found again."""
    monkeypatch.setattr(flash, "_BUILT", tmp_path / "built.hex")
    Path("rig.toml").write_text("[port]\nbaud = 250000\n")
    assert "apt-get install gcc-avr" in one_line(rig("--port", blank, "--dry-run"))
    program(Path("bin/avr-gcc"), "")
    program(Path("bin/make"), "")
    answer = rig("--port", blank, "--dry-run")
    assert f"make -C {flash._SOURCE} avr BAUD=250000" in answer.out
    assert f"flash:w:{tmp_path}/built-250000.hex:i" in answer.out
    Path("rig.toml").write_text("[port]\nbaud = 230400\n")
    assert "230400, expected one that the firmware is built for: 115200 or 250000" in one_line(
        rig("--port", blank, "--dry-run")
    )


@pytest.mark.parametrize(
    ("says", "advice"),
    [
        # As avrdude 7.1 and its forerunners have it.
        ("avrdude: Expected signature for ATmega328P is 1E 95 0F", "no ATmega328P"),
        (
            "avrdude stk500_getsync() warning: attempt 10 of 10: not in sync: resp=0x00",
            "no boot loader answers",
        ),
        ("avrdude: ser_open(): can't open device: Permission denied", "you may not open the port"),
        ("avrdude OS error: cannot open port: No such file or directory", "does not open"),
        (
            "Device signature = 0x1e950f\navrdude: verification error, first mismatch at byte 0x0000",
            "read back",
        ),
        ("something else", "(status 1): something else"),
    ],
)
def test_what_avrdude_complains_of_is_told_in_words(rig: Rig, blank: str, says: str, advice: str) -> None:
    program(Path("bin/avrdude"), f'echo "{says}" >&2; exit 1')
    assert advice in one_line(rig("--port", blank))


def test_without_avrdude_it_says_what_to_install(rig: Rig, blank: str) -> None:
    Path("bin/avrdude").unlink()
    answer = rig("--port", blank, "--dry-run")
    assert "apt-get install avrdude" in one_line(answer)
    assert answer.out.startswith("would run: avrdude -p atmega328p")


def test_without_firmware_and_tool_chain_it_says_what_to_install(
    rig: Rig, blank: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flash, "_BUILT", tmp_path / "built.hex")
    Path("shipped.hex").unlink()
    assert "gcc-avr" in one_line(rig("--port", blank))


@pytest.mark.parametrize(
    ("port", "says"),
    [
        ("twin", "the twin"),
        ("socket://localhost:7000", "found a URL"),
        ("/dev/nowhere", "there is no such port"),
    ],
)
def test_a_port_that_cannot_be_flashed_is_refused(rig: Rig, port: str, says: str) -> None:
    assert says in one_line(rig("--port", port))
    assert not Path("arguments").exists()


@pytest.mark.parametrize(
    ("data", "status", "says"),
    [
        (b"", 2, "last record is missing"),
        (b":0400000001020304F2\n", 2, "last record is missing"),
        (b":0400000001020304F3\n:00000001FF\n", 2, "line 1"),
        (b"\x7fELF\x01\x00", 2, "line 1"),
        (b":00000001FF\n", 1, "it has 0 bytes"),
        (b":0400000001020304F2\n" * 8065 + b":00000001FF\n", 1, "it has 32260 bytes"),
        (None, 2, "No such file"),
    ],
)
def test_a_file_that_is_no_firmware_is_refused(
    rig: Rig, blank: str, data: bytes | None, status: int, says: str
) -> None:
    if data is not None:
        Path("other.hex").write_bytes(data)
    assert says in one_line(rig("--port", blank, "--hex", "other.hex"), status)
    assert not Path("arguments").exists()


def test_a_board_that_is_no_uno_is_not_flashed(rig: Rig) -> None:
    with served(TableTop()) as port:
        assert "no Arduino Uno" in one_line(rig("--port", port))
    assert not Path("arguments").exists()


def test_a_cannon_whose_lever_is_drawn_is_not_flashed(rig: Rig) -> None:
    table = TableTop()
    cannon = Cannon(Link(table, table, session=0), gate_spacing_mm=20.0)
    cannon.connect()
    cannon.home()
    cannon.aim(1500, 1500, 1500)
    cannon.cock()
    with served(table) as port:
        assert "the lever is drawn" in one_line(rig("--port", port))
    assert not Path("arguments").exists()


def test_a_chip_that_says_nothing_may_be_flashed(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rig.link.link._IDENTIFY_US", 300_000)
    controller, device = pty.openpty()
    try:
        answer = rig("--port", os.ttyname(device))
    finally:
        os.close(controller)
        os.close(device)
    assert answer.status == 0
    assert "nothing that answers" in answer.out
    assert Path("arguments").exists()
