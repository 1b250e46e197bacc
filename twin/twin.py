"""The whole table without a table, in lock-step on one clock.

Theory of operation
-------------------
Time is the chip's cycle count, at the rate that its clock really has. It goes on only in `TwinPort.read` and `Twin.run_for`, so whoever waits for the cannon
makes it work. The chip runs to the next millisecond or to the next byte it sends; at every millisecond the plant takes
the edges that the chip made, moves its servos and answers with edges of its own, each at its own cycle; then the table
and the camera catch up. A shot that the lever strikes is launched on the table at the microsecond at which it leaves
the muzzle: the lever needs more than a millisecond to strike, so that time is always still to come.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self

from game.montecassino import Side
from twin.attendant import Attendant
from twin.chip import Chip, ChipEvent, EventKind, ResetCause
from twin.hands import Hands
from twin.line import through_line
from twin.pictures.camera import Camera
from twin.plant import STEP_CYCLES, Aim, Firing, Plant, pose_of_aim
from twin.port import TwinClock, TwinPort
from twin.settings import TwinSettings
from twin.streams import stream
from twin.table import Table
from twin.truth import ShotTruth


class Twin:
    """Chip, plant, table and camera; keeps `rig`'s promises of a port, a clock and a camera.

    Parameters
    ----------
    settings
        Everything about it.

    Raises
    ------
    twin.chip.ChipMissing
        Where the firmware or the chip's library has not been built.
    """

    def __init__(self, settings: TwinSettings | None = None) -> None:
        self.settings = settings = settings or TwinSettings()
        self.chip = Chip(settings.chip)
        self._cycles_per_us = settings.chip.hz / 1e6
        self.plant = Plant(settings.plant, self.chip, seed=settings.seed)
        self.table = Table(settings.table, settings.soldiers, seed=settings.seed)
        self.camera = Camera(settings.camera, self.table, seed=settings.seed)
        self.hands = Hands(self.plant, lambda: self.chip.cycle, settings.side)
        self.clock = TwinClock(self)
        self.port = TwinPort(self)
        self.shots: list[Firing] = []
        """Every shot that left the barrel, oldest first."""
        self._attendant = Attendant(settings.attendant, self.hands, self.plant, self.table)
        self._resets = list(settings.resets)
        self._next_step_cycle = STEP_CYCLES
        self._edges: list[ChipEvent] = []
        self._firing: Firing | None = None
        self._from_chip = bytearray()
        self._watchers: list[Callable[[ChipEvent], None]] = []
        self._line_in = stream(settings.seed, "line to chip")
        self._line_out = stream(settings.seed, "line from chip")
        self._shown: tuple[Aim, Side] | None = None
        self._show_cannon()
        self.chip.reset(ResetCause.POWER_ON)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Keep the EEPROM where the settings say so, and let everything go."""
        self.camera.close()
        self.chip.close()

    # --- time

    @property
    def now_us(self) -> int:
        """The twin's time, from power-on."""
        return int(self._time_us(self.chip.cycle))

    def cycles_in(self, duration_us: int) -> int:
        """Give as many of the chip's cycles as go by in a time."""
        return round(duration_us * self._cycles_per_us)

    def _time_us(self, cycle: int) -> float:
        return cycle / self._cycles_per_us

    def run_for(self, duration_us: int) -> None:
        """Let time pass; bytes from the chip wait for the next read."""
        end_cycle = self.chip.cycle + self.cycles_in(duration_us)
        while self.chip.cycle < end_cycle:
            self.advance(end_cycle, stop_at_sent_byte=False)

    def advance(self, end_cycle: int, *, stop_at_sent_byte: bool) -> None:
        """Run to a cycle, a reset, the end of the present millisecond, or a byte from the chip, whichever is first."""
        due_cycles = [self.cycles_in(reset.at_us) for reset in self._resets[:1]]
        self.chip.run_to(
            min(end_cycle, self._next_step_cycle, *due_cycles), stop_at_sent_byte=stop_at_sent_byte
        )
        while self._resets and self.cycles_in(self._resets[0].at_us) <= self.chip.cycle:
            self.chip.reset(self._resets.pop(0).cause)
        for event in self.chip.events():
            for watcher in self._watchers:
                watcher(event)
            if event.kind is EventKind.PIN:
                self._edges.append(event)
            elif event.kind is EventKind.SENT:
                line = self.settings.line
                self._from_chip += through_line(
                    bytes([event.value]),
                    self._line_out,
                    lost=line.lost_from_chip,
                    corrupted=line.corrupted_from_chip,
                )
        if self.chip.cycle >= self._next_step_cycle:
            self._step()

    def _step(self) -> None:
        cycle = self._next_step_cycle
        self._next_step_cycle += STEP_CYCLES
        edges, self._edges = self._edges, []
        firing = self.plant.step(cycle, edges)
        if firing is not None:
            self._firing = firing
            self.shots.append(firing)
        now_us = int(self._time_us(cycle))
        self._attendant.step(now_us)
        self._show_cannon()
        if self._firing is not None and self._firing.exit_cycle <= cycle:
            self._launch(self._firing)
            self._firing = None
        self.camera.advance(now_us)

    def _launch(self, firing: Firing) -> None:
        at_us = round(self._time_us(firing.exit_cycle))
        pose = pose_of_aim(
            self.settings.plant.mount,
            firing.aim,
            self.hands.side,
            square_mm=self.settings.table.square_mm,
        )
        self.camera.advance(at_us)
        self.table.stop()  # cocking takes seconds: what may still move is a shot that rolls, and it is picked up
        self.table.launch(pose.muzzle_mm, pose.azimuth_rad, pose.elevation_rad, firing.speed_mps, at_us)

    def _show_cannon(self) -> None:
        aim, side = self.plant.aim, self.hands.side
        if (aim, side) == self._shown:
            return
        self._shown = aim, side
        self.table.place_cannon(
            pose_of_aim(self.settings.plant.mount, aim, side, square_mm=self.settings.table.square_mm)
        )

    # --- the line

    def to_chip(self, data: bytes) -> None:
        """Put bytes on the line to the chip, which takes them at the line's rate."""
        line = self.settings.line
        self.chip.send(
            through_line(data, self._line_in, lost=line.lost_to_chip, corrupted=line.corrupted_to_chip)
        )

    def from_chip(self) -> bytes:
        """Take the bytes that have come from the chip."""
        data = bytes(self._from_chip)
        self._from_chip.clear()
        return data

    # --- what really happened

    def watch(self, watcher: Callable[[ChipEvent], None]) -> None:
        """Have a function told everything that happens on the chip's pins and line, in order, soon after it does."""
        self._watchers.append(watcher)

    def truth(self) -> ShotTruth:
        """Return what happened in the last shot, once everything on the table is at rest.

        Raises
        ------
        twin.table.TableError
            If no shot was fired, or things still move.
        """
        return self.table.truth()
