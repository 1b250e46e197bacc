"""The programme of `rig run PLAN.toml`: which shots, in which order, and what is waited for between them.

Pure values. A programme opens into the list of its shots, the same for the same file on every machine, so that a
run that stopped can be taken up where it was.
"""

from __future__ import annotations

import hashlib
import json
import statistics
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, field_validator

from game.montecassino import (
    LONGEST_NAME,
    Option,
    Position,
    Side,
    Square,
    format_squares,
    is_seen,
    outcome,
    parse_squares,
)
from rig.counted import counted
from rig.files.checked_file import Fault, FaultyFile, Table, parse_toml, read_text, validate
from rig.keys.notation import PositionText, TableSquaresText
from rig.settings import Settings

__all__ = [
    "Pauses",
    "PlanError",
    "PlannedShot",
    "Programme",
    "Target",
    "check_against",
    "parse_plan",
    "read_plan",
    "remaining",
    "time_left_s",
]

_RECENT = 10
"""Shots that the time left is judged by: enough to smooth, few enough to follow a change of pace."""

Repeats = Annotated[int, Field(ge=1, le=1_000)]
Options = Annotated[tuple[Option, ...], Field(min_length=1)]


class PlanError(FaultyFile):
    """A programme cannot be run; `faults` holds everything that is wrong with it."""


@dataclass(frozen=True, slots=True)
class PlannedShot:
    """One shot of a programme."""

    index: int
    """Its place in the order of firing, from 0."""
    side: Side
    """Who fires."""
    target: Square
    option: Option
    repeat: int
    """Which shot at this target under this option, from 1."""


class Target(Table):
    """Squares to fire at. What is left out here is taken from the programme."""

    squares: TableSquaresText
    """Squares with runs, as `G49,G33-G40`; each is a target of its own."""
    repeats: Repeats | None = None
    """Shots at each of them under each option."""
    options: Options | None = None
    """Casualty options, each of which gets its shots."""
    side: Side | None = None
    """Who fires."""

    @field_validator("squares")
    @classmethod
    def _is_not_empty(cls, text: str) -> str:
        if not parse_squares(text):
            raise ValueError("at least one square")
        return text


class Pauses(Table):
    """What the rig waits for between the shots."""

    loading: Literal["ask", "wait", "loader"] = "ask"
    """`ask`: for somebody to load, at most cannon.load_s; `wait`: at most loading_s; `loader`: the automatic loader does it."""
    loading_s: Annotated[float, Field(gt=0, le=60)] | None = None
    """Seconds to wait for a seated shot where loading is `wait`."""
    putting_back: Literal["ask", "wait", "none"] = "ask"
    """`ask`: for somebody to put the soldiers back and say so; `wait`: always putting_back_s; `none`: go on at once."""
    putting_back_s: Annotated[float, Field(gt=0, le=3_600)] | None = None
    """Seconds to wait where putting_back is `wait`."""

    def conflicts(self) -> Iterator[Fault]:
        """Ask for seconds where they are waited for, and only there."""
        for how in ("loading", "putting_back"):
            said, seconds = getattr(self, how), getattr(self, f"{how}_s")
            if said == "wait" and seconds is None:
                yield Fault(f"{how}_s", "nothing", f'a number of seconds, since {how} is "wait"', also=(how,))
            if said != "wait" and seconds is not None:
                yield Fault(f"{how}_s", f"{seconds:g}", f'{how} = "wait", or no {how}_s', also=(how,))


def _printable(name: str) -> str:
    if not (name.isprintable() and is_seen(name)):
        raise ValueError("a name that can be printed in one line")
    return name


class Programme(Table):
    """A whole programme, as its file says it."""

    name: Annotated[str, Field(min_length=1, max_length=LONGEST_NAME), AfterValidator(_printable)]
    """What it is called; part of its identity."""
    targets: Annotated[tuple[Target, ...], Field(min_length=1)]
    """What is fired at, in this order unless the order is drawn."""
    order: Literal["listed", "drawn"] = "listed"
    """`listed`: as written, one target after another; `drawn`: all shots shuffled by the seed."""
    seed: Annotated[int, Field(ge=0, le=2**63 - 1)] = 0
    """Draws the order; the same seed gives the same order."""
    side: Side = Side.A
    """Who fires, where a target does not say."""
    repeats: Repeats = 1
    """Shots at each target under each option, where a target does not say."""
    options: Options = (Option.I,)
    """Casualty options, where a target does not say."""
    soldiers: Literal["all", "survivors"] = "all"
    """Who stands again before the next shot: `all`, as in position; `survivors`: casualties stay away."""
    position: PositionText | None = None
    """Where the soldiers stand before the first shot, in one line; without it, as in the settings."""
    pauses: Pauses = Pauses()

    def conflicts(self) -> Iterator[Fault]:
        """Ask for a pause where everybody is to stand again before the next shot.

        The table is read at once, so the first that fell would end the programme; `ask` waits no longer where nobody fell.
        """
        if self.soldiers == "all" and self.pauses.putting_back == "none" and len(self.shots()) > 1:
            yield Fault(
                "pauses.putting_back",
                '"none"',
                '"ask" or "wait", since soldiers is "all"',
                "who fell is stood up before the next shot",
                also=("soldiers",),
            )

    def shots(self) -> tuple[PlannedShot, ...]:
        """Give every shot, in the order of firing."""
        listed = [
            (target.side or self.side, square, option, repeat)
            for target in self.targets
            for square in parse_squares(target.squares)
            for option in target.options or self.options
            for repeat in range(1, (target.repeats or self.repeats) + 1)
        ]
        if self.order == "drawn":
            # By a digest, not by a random generator: those may draw otherwise in another version of Python.
            order = sorted(range(len(listed)), key=lambda number: _digest(f"{self.seed}:{number}"))
            listed = [listed[number] for number in order]
        return tuple(PlannedShot(index, *shot) for index, shot in enumerate(listed))

    def first_position(self, settings: Settings) -> Position:
        """Give who stands where before the first shot at a table."""
        return Position.parse(self.position or settings.game.position)

    def identity_at(self, settings: Settings) -> str:
        """Name and a digest of everything that makes the shots what they are at a table; the pauses do not."""
        content = {
            "name": self.name,
            "soldiers": self.soldiers,
            "position": self.position or settings.game.position,
            "shots": [
                [shot.side, format_squares([shot.target]), shot.option, shot.repeat] for shot in self.shots()
            ],
        }
        return f"{self.name}-{_digest(json.dumps(content, sort_keys=True))[:12]}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def parse_plan(text: str, name: str = "PLAN.toml") -> Programme:
    """Read a programme from a text.

    Raises
    ------
    PlanError
        With everything that is wrong.
    """
    return validate(Programme, parse_toml(text, name, PlanError), name, PlanError)


def read_plan(path: Path) -> Programme:
    """Read a programme from a file.

    Raises
    ------
    PlanError
        With everything that is wrong; also where there is no file.
    """
    return parse_plan(read_text(path, PlanError, missing="a programme"), str(path))


def check_against(programme: Programme, settings: Settings, name: str) -> None:
    """Refuse a programme that asks for what this table does not have.

    Raises
    ------
    PlanError
        With everything that the settings do not provide for.
    """
    faults = list(_misfits(programme, settings))
    if faults:
        raise PlanError(name, faults)


def _misfits(programme: Programme, settings: Settings) -> Iterator[Fault]:
    cannon = settings.cannon
    shots = programme.shots()
    for side in sorted({shot.side for shot in shots} - set(cannon.sides)):
        fitted = ", ".join(cannon.sides)
        yield Fault("side", f"shots by {side}", f"shots by a side with a cannon; cannon.sides has {fitted}")
    pauses = programme.pauses
    if pauses.loading == "loader" and not cannon.loader:
        yield Fault("pauses.loading", '"loader"', "an automatic loader; cannon.loader says there is none")
    if pauses.loading_s is not None and pauses.loading_s > cannon.load_s:
        yield Fault("pauses.loading_s", f"{pauses.loading_s:g}", f"at most cannon.load_s, {cannon.load_s:g}")
    position = programme.first_position(settings)
    for side in sorted({shot.side for shot in shots}):
        due = sum(shot.side is side for shot in shots) if programme.soldiers == "survivors" else 1
        if position.shots_left[side] < due:
            yield Fault(
                "position",
                f"{counted(position.shots_left[side], 'shot')} left for {side}",
                f"at least {due}, as many as the programme fires from it",
            )
        ended = outcome(replace(position, turn=side))
        if ended is not None:
            yield Fault(
                "position",
                f"a battle that is over ({ended.reason})",
                f"one that goes on where {side} fires",
            )


def remaining(shots: Sequence[PlannedShot], done: Collection[int]) -> tuple[PlannedShot, ...]:
    """Give the shots still to be fired, in order; `done` holds the indices of those that need no second firing."""
    return tuple(shot for shot in shots if shot.index not in done)


def time_left_s(took_s: Sequence[float], shots_left: int) -> float | None:
    """Judge the time left by the shots fired so far.

    Parameters
    ----------
    took_s : sequence of float
        How long each shot of this run took, pauses and all, oldest first.
    shots_left : int
        How many are still to come.

    Returns
    -------
    float or None
        Seconds: the median of the last shots for each one left, so that one long pause does not count for all.
        None before the first shot is through.
    """
    if shots_left == 0:
        return 0.0
    if not took_s:
        return None
    return statistics.median(took_s[-_RECENT:]) * shots_left
