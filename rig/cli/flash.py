"""`rig flash`: the firmware into the cannon's chip, by avrdude."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from rig.cli.application import RefusedError, app
from rig.cli.arguments.options import SETTINGS_FILE, SettingsFile, settings_or_defaults
from rig.cli.terminal.sentences import echo
from rig.counted import counted

if TYPE_CHECKING:
    from rig.settings import Settings

__all__ = ["flash"]

_PACKAGE: Final = Path(__file__).parents[1]
_SHIPPED: Final = _PACKAGE / "cannon-uno.hex"
_SOURCE: Final = _PACKAGE.parent / "firmware"
_BUILT: Final = _PACKAGE.parent / "build/firmware/cannon-uno.hex"
_FLASH_BYTES: Final = 32_256  # 32 KiB less the boot loader
_BAUDS: Final = (115_200, 57_600)  # of the Uno's boot loader, whatever the firmware's own; then of older ones
_TAIL: Final = 3

_NO_ANSWER: Final = r"not in sync|not responding|programmer is out of sync"

# What avrdude says, and what a person does about it.
_ADVICE: Final = (
    (
        r"expected signature|invalid device signature|signature does not match|differs in signature",
        "the chip there is no ATmega328P: this firmware is for an Arduino Uno; is it the right port?",
    ),
    (
        _NO_ANSWER,
        "no boot loader answers: is it an Arduino Uno, the right port, and no other program at it? Press its reset and try again",
    ),
    (
        r"permission denied",
        "you may not open the port: sudo usermod -aG dialout $USER, then log in again",
    ),
    (r"busy", "another program is using the port"),
    (r"can'?t open device|cannot open|unable to open|no such file", "the port does not open: is the Uno plugged in?"),
    (r"verification|mismatch", "what was read back differs: try again, with another cable; until then do not use the cannon"),
)  # fmt: skip


class _NoAnswerError(RefusedError):
    """No boot loader answered; nothing was written."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """Where the firmware comes from."""

    hex_file: Path
    build: tuple[str, ...] = ()
    """What builds it first; empty where it is there."""


@app.command(rich_help_panel="Set up")
def flash(
    port: Annotated[str | None, typer.Option(help="the Uno's serial port, in place of the settings'")] = None,
    hex_file: Annotated[
        Path | None, typer.Option("--hex", metavar="FILE", help="another firmware file (Intel HEX)")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="say what would be run, and run nothing")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="the servo supply is off; do not ask")] = False,
    settings: SettingsFile = SETTINGS_FILE,
) -> None:
    """Put the firmware into the Arduino Uno: built anew where the tool chain is there, else as the release ships it."""
    from rig.cli.opening.line import on_port

    chosen = on_port(settings_or_defaults(settings), port)
    url = _serial_device(chosen)
    plan = _plan(hex_file, chosen.port.baud)
    avrdude = shutil.which("avrdude")
    commands = [(avrdude or "avrdude", *_arguments(url, plan.hex_file, baud)) for baud in _BAUDS]
    for words in filter(None, (plan.build, commands[0])):
        typer.echo(f"{'would run' if dry_run else 'to run'}: {shlex.join(words)}")
    if avrdude is None:
        raise RefusedError("avrdude is not installed; on Debian: sudo apt-get install avrdude")
    if dry_run:
        return
    if not yes and not _confirmed():
        raise RefusedError("not confirmed; nothing was run")
    if plan.build:
        _run(plan.build, "the firmware could not be built", ())
    _refuse_what_does_not_fit(plan.hex_file)
    _refuse_other_boards(chosen)
    echo("flashing; do not pull the plug")
    _flash(commands)
    echo("done: the firmware is in the chip; now rig doctor")


def _serial_device(settings: Settings) -> str:
    from rig.settings import TWIN

    url = settings.port.url
    if url == TWIN:
        raise RefusedError(
            "the twin runs the firmware as it was built, and needs no flashing; name a port: --port PORT"
        )
    if "://" in url:
        raise RefusedError(
            f"port {url}: found a URL, expected the serial port of the Uno, as /dev/ttyACM0 or COM3"
        )
    if url.startswith("/") and not Path(url).exists():
        from serial.tools import list_ports

        there = ", ".join(sorted(each.device for each in list_ports.comports())) or "none at all"
        raise RefusedError(f"port {url}: there is no such port; the ports of this computer: {there}")
    return url


def _plan(given: Path | None, baud: int) -> _Plan:
    """Choose where the firmware comes from; it must speak at the settings' speed, or it would not be found again."""
    from rig.link import wire

    if given is None and baud not in wire.BAUDS:
        raise RefusedError(
            f"found [port] baud = {baud}, expected one that the firmware is built for: "
            f"{' or '.join(map(str, wire.BAUDS))}"
        )
    if given is not None:
        _refuse_what_does_not_fit(given)
        return _Plan(given)
    if (_SOURCE / "Makefile").is_file() and shutil.which("avr-gcc") and shutil.which("make"):
        if baud == wire.BAUD:
            return _Plan(_BUILT, ("make", "-C", str(_SOURCE), "avr"))
        build = ("make", "-C", str(_SOURCE), "avr", f"BAUD={baud}")
        return _Plan(_BUILT.with_stem(f"{_BUILT.stem}-{baud}"), build)
    if baud != wire.BAUD:
        raise RefusedError(
            f"the firmware at hand speaks at {wire.BAUD} baud, and [port] baud is {baud}; to build another: "
            "sudo apt-get install gcc-avr avr-libc binutils-avr make"
        )
    for there in (_SHIPPED, _BUILT):
        if there.is_file():
            _refuse_what_does_not_fit(there)
            return _Plan(there)
    raise RefusedError(
        "there is no firmware file here and no tool chain to build one; "
        "on Debian: sudo apt-get install gcc-avr avr-libc binutils-avr make, or name a file: --hex FILE"
    )


def _arguments(url: str, hex_file: Path, baud: int) -> tuple[str, ...]:
    flash_it = f"flash:w:{hex_file}:i"
    return (
        "-p",
        "atmega328p",
        "-c",
        "arduino",
        "-x",
        "attempts=2",
        "-P",
        url,
        "-b",
        str(baud),
        "-D",
        "-U",
        flash_it,
    )


def _flash(commands: list[tuple[str, ...]]) -> None:
    """Run the first command that a boot loader answers; until one does, nothing is written."""
    for command in commands[:-1]:
        try:
            return _run(command, "avrdude did not succeed", _ADVICE)
        except _NoAnswerError:
            echo("no answer; once more, for an older boot loader")
    return _run(commands[-1], "avrdude did not succeed", _ADVICE)


def _refuse_what_does_not_fit(hex_file: Path) -> None:
    from rig.intel_hex import hex_size

    size = hex_size(hex_file)
    if not 0 < size <= _FLASH_BYTES:
        raise RefusedError(
            f"{hex_file}: it has {counted(size, 'byte')}, expected 1 to {_FLASH_BYTES}, which the Uno has room for"
        )


def _confirmed() -> bool:
    from rig.cli.terminal.answers import Answers

    return Answers().yes("Servo supply off, lever forward, no shot in the muzzle?")


def _refuse_other_boards(settings: Settings) -> None:
    """Ask whoever is at the port, at every speed; a chip that says nothing is blank, and may be flashed."""
    from rig.link import wire

    others = (baud for baud in wire.BAUDS if baud != settings.port.baud)
    if not any(_answers(settings.port.url, baud) for baud in (settings.port.baud, *others)):
        echo("there now: nothing that answers (a new chip, or another program in it)")


def _answers(url: str, baud: int) -> bool:
    """Whether a cannon answers at that speed; refuses one that must not be flashed."""
    from rig.link import wire
    from rig.link.errors import LinkError, NoAnswer, PortError
    from rig.link.link import Link
    from rig.link.messages import ReadStatus
    from rig.link.serial_port import SerialPort, WallClock

    port = SerialPort(url, baud=baud)
    try:
        link = Link(port, WallClock(), baud=baud)
        identity = link.identify()
        echo(f"there now: firmware {identity.firmware}, wire version {identity.wire_version}")
        board, inputs = identity.board, link.ask(ReadStatus()).inputs
    except PortError:
        raise
    except NoAnswer:
        return False
    except LinkError as error:
        echo(f"there now: {error}")
        return True
    finally:
        port.close()
    if inputs & (wire.Input.LEVER_DRAWN | wire.Input.LEVER_LATCHED):
        raise RefusedError("the lever is drawn; let it down first (rig doctor asks); nothing was flashed")
    if board != wire.Board.UNO:
        raise RefusedError(
            "the board there is no Arduino Uno, and this firmware is for one; nothing was flashed"
        )
    return True


def _run(command: tuple[str, ...], what: str, advice: tuple[tuple[str, str], ...]) -> None:
    try:
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
    except OSError as error:
        raise RefusedError(f"{what}: {command[0]}: {error.strerror}") from error
    if done.returncode == 0:
        return
    lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
    for pattern, todo in advice:
        if re.search(pattern, done.stdout, re.IGNORECASE):
            raise (_NoAnswerError if pattern is _NO_ANSWER else RefusedError)(f"{what}: {todo}")
    raise RefusedError(f"{what} (status {done.returncode}): {'; '.join(lines[-_TAIL:]) or 'it said nothing'}")
