"""`rig jog`: an axis moved by hand, its limits found and kept."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from rig.cli.application import app
from rig.cli.arguments.options import SETTINGS_FILE, PortOption, SettingsFile, settings_or_defaults
from rig.cli.terminal.sentences import echo
from rig.files.one_line import on_one_line
from rig.ticks import TICKS_PER_US

if TYPE_CHECKING:
    from rig.cannon import Cannon
    from rig.settings import Settings

__all__ = ["jog"]

_COMPANY_US = 1_000
_AXES: Final = ("traverse", "azimuth", "elevation")
_MARKS: Final = {"min": "min_us", "max": "max_us", "centre": "centre_us"}
_STEPS_US: Final = (1, 5, 20, 100)
_KEYS: Final = {
    "\x1b[C": "+",
    "\x1b[D": "-",
    "\x1b[A": "coarser",
    "\x1b[B": "finer",
    "+": "+",
    "-": "-",
    "t": "traverse",
    "a": "azimuth",
    "e": "elevation",
    "[": "min",
    "]": "max",
    "c": "centre",
    "s": "store",
    "q": "quit",
    "?": "help",
}
_HELP_KEYS = (
    "arrow right and left: move; up and down: longer and shorter steps; t a e: traverse, azimuth, elevation; "
    "[ ] c: this is the lower limit, the upper limit, the centre; s: store them; q: end; ?: this"
)
_HELP_WORDS = (
    "a line each: + or - (a step), +20 or -20 (us), 1480 (to that pulse), step 5; traverse, azimuth, elevation; "
    "min, max, centre (they are here); store; quit; help"
)


@app.command(rich_help_panel="Set up")
def jog(
    axis: Annotated[str, typer.Argument(help="traverse, azimuth or elevation, to begin with")] = "traverse",
    find_limits: Annotated[
        bool,
        typer.Option(
            "--find-limits",
            help="let axes go beyond the limits of the settings, as far as the firmware allows; watch, and listen",
        ),
    ] = False,
    port: PortOption = None,
    settings: SettingsFile = SETTINGS_FILE,
) -> None:
    """Move an axis by keys, or by lines from a pipe; find its limits and centre, and store them in the settings."""
    from rig.cli.opening.line import on_port, open_cannon
    from rig.cli.terminal.answers import Answers
    from rig.sequence import State

    if axis not in _AXES:
        raise typer.BadParameter(
            f"found {axis!r}, expected traverse, azimuth or elevation", param_hint="AXIS"
        )
    chosen = on_port(settings_or_defaults(settings), port)
    with _single_keys() as by_keys:
        answers = Answers(by_keys=_KEYS if by_keys else None)
        with open_cannon(chosen) as cannon:
            bench = _Bench(cannon, chosen, settings, axis, reach=_reach(chosen, wide=find_limits))
            answers.company = lambda: cannon.wait(_COMPANY_US)
            try:
                if find_limits:
                    # Not kept: a chip that restarts knows the narrow limits.
                    cannon.configure(bench.wide_values(), keep=False)
                echo("Every axis goes to its centre. Servo supply and key on, fingers away.")
                cannon.home()
                echo(_HELP_KEYS if by_keys else _HELP_WORDS)
                bench.tell()
                while (words := answers.next()) is not None and words.strip() != "quit":
                    bench.obey(words.strip())
            finally:
                cannon.leave("jogging ended")
                if find_limits and cannon.state is State.SAFE:
                    cannon.configure(chosen.cannon.firmware_values())
            bench.tell_unstored()


def _reach(settings: Settings, *, wide: bool) -> dict[str, tuple[int, int]]:
    """Return how far each axis may go, us."""
    from rig.link import wire

    reach = {}
    for name in _AXES:
        axis = getattr(settings.cannon, name)
        if wide:
            low = wire.SETTING_LIMITS[wire.Setting[f"{name.upper()}_MIN_TICKS"]].minimum
            high = wire.SETTING_LIMITS[wire.Setting[f"{name.upper()}_MAX_TICKS"]].maximum
            reach[name] = low // TICKS_PER_US, high // TICKS_PER_US
        else:
            reach[name] = axis.min_us, axis.max_us
    return reach


@dataclass
class _Bench:
    """The axes as they stand, and what was found."""

    cannon: Cannon
    settings: Settings
    path: Path
    axis: str
    reach: dict[str, tuple[int, int]]
    step_us: int = 20
    pulses_us: dict[str, int] = field(init=False)
    marks_us: dict[tuple[str, str], int] = field(default_factory=dict)
    """By axis and key of the settings; what is not stored yet."""

    def __post_init__(self) -> None:
        self.pulses_us = {name: getattr(self.settings.cannon, name).centre_us for name in _AXES}

    def wide_values(self) -> dict[str, int]:
        """Return the firmware's settings under which limits are looked for."""
        return {
            f"{name}_{end}_ticks": us * TICKS_PER_US
            for name, ends in self.reach.items()
            for end, us in zip(("min", "max"), ends, strict=True)
        }

    def tell(self) -> None:
        low_us, high_us = self.reach[self.axis]
        echo(
            f"{self.axis}: {self.pulses_us[self.axis]} us, from {low_us} to {high_us}, steps of {self.step_us} us"
        )

    def obey(self, words: str) -> None:
        """Do what a line says; what it cannot be is told, and changes nothing."""
        here_us = self.pulses_us[self.axis]
        if not words:
            return
        if words in _AXES:
            self.axis = words
            self.tell()
        elif words in {"+", "-"}:
            self._go(here_us + self.step_us * (1 if words == "+" else -1))
        elif match := re.fullmatch(r"([+-]?)(\d{1,5})", words, re.ASCII):
            us = int(match[2])
            self._go({"+": here_us + us, "-": here_us - us, "": us}[match[1]])
        elif words in {"coarser", "finer"} or re.fullmatch(r"step \d{1,3}", words, re.ASCII):
            self._change_step(words)
        elif words in _MARKS:
            self.marks_us[self.axis, _MARKS[words]] = here_us
            echo(f"{self.axis}: {_MARKS[words]} is {here_us}, not stored yet")
        elif words == "store":
            self._store()
        elif words in {"help", "?"}:
            echo(_HELP_KEYS)
            echo(_HELP_WORDS)
        else:
            echo(f"found {words[:40]!r}, expected {_HELP_WORDS}")

    def _go(self, pulse_us: int) -> None:
        low_us, high_us = self.reach[self.axis]
        if not low_us <= pulse_us <= high_us:
            echo(
                f"{self.axis} stays at {self.pulses_us[self.axis]} us: {pulse_us} is not {low_us} to {high_us}"
            )
            return
        there = {**self.pulses_us, self.axis: pulse_us}
        self.cannon.aim(there["traverse"], there["azimuth"], there["elevation"], from_below=False)
        self.pulses_us = there
        self.tell()

    def _change_step(self, words: str) -> None:
        longer = [us for us in _STEPS_US if us > self.step_us]
        shorter = [us for us in _STEPS_US if us < self.step_us]
        if words == "coarser":
            self.step_us = min(longer, default=self.step_us)
        elif words == "finer":
            self.step_us = max(shorter, default=self.step_us)
        else:
            self.step_us = max(1, int(words.split()[1]))
        self.tell()

    def _store(self) -> None:
        """Put what was found into the settings file, if it makes sound settings."""
        from rig.settings import SettingsError
        from rig.settings_change import change_settings

        if not self.marks_us:
            echo("nothing to store: say min, max or centre first")
            return
        try:
            change_settings(
                self.path, {("cannon", name, key): us for (name, key), us in self.marks_us.items()}
            )
        except SettingsError as error:
            for fault in error.faults:
                echo(f"not stored: {fault}")
            return
        except OSError as error:
            echo(f"not stored: {on_one_line(self.path)}: {error.strerror}")
            return
        told = ", ".join(f"cannon.{name}.{key} = {us}" for (name, key), us in self.marks_us.items())
        echo(f"stored in {on_one_line(self.path)}: {told}")
        self.marks_us.clear()

    def tell_unstored(self) -> None:
        """Print what was found and not stored, as lines for the settings file."""
        for name in _AXES:
            found = {key: us for (axis, key), us in self.marks_us.items() if axis == name}
            if found:
                echo(f"not stored; in {on_one_line(self.path)} it would be:\n[cannon.{name}]")
                for key, us in found.items():
                    typer.echo(f"{key} = {us}")


@contextmanager
def _single_keys() -> Iterator[bool]:
    """Have the terminal give each key as it is pressed; False where there is no terminal that can."""
    try:
        import termios
        import tty

        if not sys.stdin.isatty():
            raise OSError
        number = sys.stdin.fileno()
        before = termios.tcgetattr(number)
    except (ImportError, OSError, ValueError):
        yield False
        return
    try:
        tty.setcbreak(number)
        yield True
    finally:
        termios.tcsetattr(number, termios.TCSADRAIN, before)
