"""Opening the line to a cannon, a real one or the twin's, with every byte of it in a transcript."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from game.montecassino import Position
from rig.cannon import Cannon
from rig.cli.terminal.sentences import echo
from rig.files.checked_file import Fault, Table, validate
from rig.link import port as seam
from rig.link.link import Link
from rig.link.port import Clock
from rig.link.serial_port import SerialPort, WallClock
from rig.link.transcript import RecordedPort, Transcript
from rig.settings import TWIN, Settings, SettingsError

if TYPE_CHECKING:
    from twin import Twin

__all__ = [
    "OpenLine",
    "make_folders",
    "on_port",
    "open_cannon",
    "open_line",
    "tell_how_it_is_left",
    "tell_left_drawn",
    "through_camera",
]

TableT = TypeVar("TableT", bound=Table)


@dataclass(frozen=True, slots=True)
class OpenLine:
    """A line whose other end nobody has asked for its name yet."""

    link: Link
    clock: Clock
    transcript_path: Path
    twin: Twin | None
    """The twin, where no hardware is meant."""


@contextmanager
def open_line(settings: Settings, position: Position) -> Iterator[OpenLine]:
    """Open the port that the settings name; let go of it at the end, whatever happens.

    Parameters
    ----------
    settings
        All of `rig.toml`. The folder of transcripts is there.
    position
        Who stands where at the beginning; the twin sets its table up with it.

    Raises
    ------
    PortError, SettingsError, twin.chip.ChipMissing
        Where there is no such port, or no such twin.
    OSError
        Where the transcript cannot be begun.
    """
    with ExitStack() as stack:
        port: seam.Port
        clock: Clock
        twin: Twin | None = None
        if settings.port.url == TWIN:
            from rig.cli.opening.twin_table import twin_settings
            from twin import Twin

            twin = stack.enter_context(Twin(twin_settings(settings, position)))
            port, clock = twin.port, twin.clock
        else:
            clock = WallClock()
            port = SerialPort(settings.port.url, baud=settings.port.baud)
            stack.callback(port.close)
        path = Path(settings.log.transcripts) / f"{datetime.now(UTC):%Y%m%d-%H%M%S-%f}.transcript"
        transcript = Transcript(path)
        stack.callback(transcript.close)
        recorded = RecordedPort(port, clock, transcript)
        link = Link(
            recorded, clock, baud=settings.port.baud, session=None if twin is None else twin.settings.seed
        )
        yield OpenLine(link, clock, path, twin)


@contextmanager
def open_cannon(settings: Settings) -> Iterator[Cannon]:
    """Open the line and find the cannon there, safe and configured; at the end, whatever happens, leave it safe.

    Raises
    ------
    PortError, LinkError, CannonError, SettingsError, twin.chip.ChipMissing, OSError
        Where something is not there or not as expected.
    """
    make_folders(settings, "transcripts")
    with ExitStack() as stack:
        line = stack.enter_context(open_line(settings, Position.parse(settings.game.position)))
        if line.twin is not None:
            from rig.cli.opening.twin import make_ready

            make_ready(line.twin)
        cannon = Cannon(line.link, gate_spacing_mm=settings.cannon.gate_spacing_mm)
        stack.callback(tell_left_drawn, cannon, settings)
        cannon.connect()
        cannon.configure(settings.cannon.firmware_values())
        try:
            yield cannon
        finally:
            cannon.leave("the command ended")


def make_folders(settings: Settings, *keys: str) -> None:
    """Make folders that the settings name under `[log]`, before there is a shot or a session to keep.

    Raises
    ------
    SettingsError
        Where nothing can be written into one.
    """
    for key in keys:
        folder = Path(getattr(settings.log, key))
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            fault = Fault(f"log.{key}", f"{folder} ({error.strerror})", "a folder that can be written to")
            raise SettingsError(settings.name, [fault]) from error


def tell_left_drawn(cannon: Cannon, settings: Settings) -> None:
    """Say that a cannon which is let go of is not, or may not be, at rest, and what to do; nothing where it is."""
    if cannon.left_drawn:
        with suppress(OSError):  # nobody listens any more
            echo(
                f"rig: {cannon.left_drawn}: nobody before the muzzle, hands away; within "
                f"{settings.cannon.dwell_s:g} s the cannon lets it down by itself, and where it does not, ease it by hand, "
                "from behind",
                err=True,
            )


def tell_how_it_is_left(cannon: Cannon, settings: Settings) -> None:
    """Say what whoever comes next to a cannon that is let go of has to know: a drawn lever, a shot in the muzzle."""
    tell_left_drawn(cannon, settings)
    if cannon.left_loaded:
        with suppress(OSError):  # nobody listens any more
            echo(
                "rig: a shot is still seated in the muzzle: take it out, from the side, or the next one that is ordered is fired "
                "with it; where there is none, see to the inner barrier (A0) and its wire",
                err=True,
            )


def on_port(settings: Settings, url: str | None) -> Settings:
    """Return the settings with another port, where one is given.

    Raises
    ------
    SettingsError
        Where the word is no such thing.
    """
    if url is None:
        return settings
    return settings.model_copy(update={"port": _with(settings.port, "url", "--port", url, "a port")})


def through_camera(settings: Settings, source: str | None) -> Settings:
    """Return the settings with another camera, where one is given.

    Raises
    ------
    SettingsError
        Where the word is no such thing.
    """
    if source is None:
        return settings
    return settings.model_copy(
        update={"camera": _with(settings.camera, "source", "--camera", source, "a camera")}
    )


def _with(table: TableT, key: str, option: str, given: str, expected: str) -> TableT:
    """Return a table of the settings with one value as an option of the command line gives it."""
    name = "the command line"
    if not given.strip():
        raise SettingsError(name, [Fault(option, "an empty word", expected)])
    if any("\ud800" <= character <= "\udfff" for character in given):
        # So Python keeps the bytes of a word that are no UTF-8, and no settings can hold them.
        raise SettingsError(name, [Fault(option, f"{given!a}, which is not UTF-8", expected)])
    try:
        return validate(type(table), {**table.model_dump(), key: given}, name, SettingsError)
    except SettingsError as error:
        raise SettingsError(name, [replace(fault, key=option) for fault in error.faults]) from None
