"""A recorded shot played again before the rig: a camera that shows its pictures as they came, and a cannon that begins it.

The clock is that of a computer with one core and nothing else to do: it runs while any thread of this program works, by
the processor time that they take, and while none does by the time that is waited. So a busy computer measures what an
idle one would. What it takes to find out whether a thread works is no part of it.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from game.montecassino import Option, Position, Square, parse_squares
from rig.camera import Frame
from rig.cannon import Cannon, LaneAnswer, ShotFired
from rig.eye import Eye, ring_for
from rig.hands import PromptedHands
from rig.log import SessionStart, ShotPlan
from rig.log.sql_store import open_log_in_memory
from rig.match import Match, Order, ShotRead
from rig.recording import Recording
from rig.sequence import State
from rig.settings import Settings

__all__ = ["Picture", "noisy", "verdict_after_ms"]

Image = NDArray[np.uint8]

_NOISES = 7
_COCKING_US = 2_700_000  # what the twin's cannon takes to draw its lever
_LEND_S = 0.005  # for which the other threads have the core before this one looks again


def noisy(pictures: Sequence[Image], sigma: float) -> list[Image]:
    """Return pictures with the noise that a film leaves out: normal, `sigma` grey levels, the same every time."""
    draw = np.random.default_rng(1)
    fields = [np.round(draw.normal(0, sigma, pictures[0].shape)).astype(np.int8) for _ in range(_NOISES)]
    shifts = draw.integers(0, pictures[0].shape[0], len(pictures))
    return [
        np.clip(
            picture.astype(np.int16) + np.roll(fields[k % _NOISES], int(shifts[k]), axis=0), 0, 255
        ).astype(np.uint8)
        for k, picture in enumerate(pictures)
    ]


class _OneCore:
    def __init__(self) -> None:
        self._idle_us = 0
        self._asking_ns = 0

    def now_us(self) -> int:
        return (time.process_time_ns() - self._asking_ns) // 1000 + self._idle_us

    def wait_us(self, time_us: int) -> None:
        """Let time pass for this thread: the others have the core meanwhile, where they can use it."""
        until_us = self.now_us() + time_us
        while (left_us := until_us - self.now_us()) > 0:
            begun_ns = time.thread_time_ns()
            others_work = _others_work()
            self._asking_ns += time.thread_time_ns() - begun_ns
            if others_work:
                time.sleep(_LEND_S)
            else:
                self._idle_us += left_us


def _others_work() -> bool:
    """Whether another thread of this program runs, or would if it had a core."""
    mine = str(threading.get_native_id())
    for task in Path("/proc/self/task").iterdir():
        if task.name != mine:
            with suppress(FileNotFoundError):  # it has just ended
                state = (
                    (task / "stat")
                    .read_text(encoding="ascii", errors="replace")
                    .rpartition(")")[2]
                    .split()[0]
                )
                if state in "RD":
                    return True
    return False


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """One picture of a film that passes for a camera: what `rig.camera.Frame` asks for."""

    index: int
    timestamp_us: int
    image: Image


class _Film:
    """A camera that shows the pictures from before the release to and fro until it is released, and the last ones after it."""

    name = "film"
    exposure_us: int | None = None  # a film does not say it

    def __init__(self, recording: Recording, pictures: Sequence[Image], clock: _OneCore) -> None:
        self.width_px, self.height_px = recording.keys.camera.width, recording.keys.camera.height
        self.fps = recording.keys.camera.fps
        self.most_waiting = 0
        fire_us = recording.keys.fire_us
        assert fire_us is not None, "the film's release is known"
        self._pictures = pictures
        self._still = sum(1 for at_us in recording.timestamps_us if at_us <= fire_us)
        self._flown_us = recording.timestamps_us[self._still] - fire_us
        self._clock = clock
        self._begun_us = clock.now_us()
        self._released: int | None = None
        self._next = 0

    def release(self) -> int:
        """Begin the shot with the next picture; return when it was released, as long before that picture as in the film."""
        self._released = self._next
        return self._due_us(self._next) - self._flown_us

    def poll(self) -> list[Frame]:
        frames: list[Frame] = []
        now_us = self._clock.now_us()
        while self._due_us(self._next) <= now_us:
            frames.append(Picture(self._next, self._due_us(self._next), self._pictures[self._shown()]))
            self._next += 1
        return frames

    def close(self) -> None:
        pass

    def _due_us(self, index: int) -> int:
        return self._begun_us + round(index * 1e6 / self.fps)

    def _shown(self) -> int:
        if self._released is None:
            return self._next % self._still
        place = self._still + self._next - self._released
        last = len(self._pictures) - 1
        # The table lies still by then: its last two pictures, in turn.
        return place if place <= last else last - (place - last) % 2


class _Trigger:
    """What the rig asks of a cannon, done at once but for the drawing of the lever."""

    state = State.SAFE
    fired = True

    def __init__(self, film: _Film, clock: _OneCore) -> None:
        self._film = film
        self._clock = clock

    def home(self) -> None:
        pass

    def aim(self, traverse_us: float, azimuth_us: float, elevation_us: float) -> None:
        pass

    def cock(self) -> None:
        self._clock.wait_us(_COCKING_US)

    def load(self, prompt: Callable[[], None] | None, *, timeout_us: int) -> None:
        pass

    def fire(self, lane_clear: Callable[[], LaneAnswer], before_fire: Callable[[], None]) -> ShotFired:
        answer = lane_clear()
        assert answer.clear, answer.why
        before_fire()
        released_us = self._film.release()
        return ShotFired(released_us, 0, 0, None, None, None)

    def leave(self, why: str) -> None:
        pass


def verdict_after_ms(
    settings: Settings, plan: ShotPlan, recording: Recording, pictures: Sequence[Image]
) -> float:
    """Fire a recorded shot again through all that `rig shoot` does; return how long after its last picture the verdict was told.

    Parameters
    ----------
    settings
        Those that it was fired with.
    plan
        What was ordered.
    recording, pictures
        What the camera saw, without the pictures in which everything lay still already if need be.
    """
    assert plan.position is not None, "the log has it"
    order = Order(
        Square.parse(plan.target),
        Position.parse(plan.position),
        parse_squares(plan.zone),
        Option(plan.option),
    )
    clock = _OneCore()
    film = _Film(recording, pictures, clock)
    ring = ring_for(film, settings)
    told_after_us: list[int] = []

    def tell(read: ShotRead) -> None:
        told_after_us.append(clock.now_us() - read.analysis.recording.timestamps_us[-1])

    with tempfile.TemporaryDirectory() as folder:
        kept = settings.log.model_copy(update={"recordings": Path(folder)})
        log = open_log_in_memory()
        session_id = log.start_session(
            SessionStart(
                software_version="0",
                firmware_version="0",
                wire_version=1,
                settings={},
                port="film",
                camera="film",
                transcript_path="",
            )
        )
        match = Match(
            settings.model_copy(update={"log": kept}),
            cannon=cast(Cannon, _Trigger(film, clock)),
            eye=Eye(ring, clock, clock.wait_us, settings),
            hands=PromptedHands(lambda words: None, lambda words: None),
            clock=clock,
            shots=log,
            session_id=session_id,
        )
        match.shoot(order, tell)
        log.close()
    return told_after_us[0] / 1000
