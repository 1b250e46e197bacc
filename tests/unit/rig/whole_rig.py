"""The whole rig but its camera, and everything that can go wrong between its parts, in virtual time.

The controller is the real one: match, cannon, sequence, link, and a log in a file. So is the firmware: its core, built
for the PC. Between them is a line that drops, changes, repeats, splits, delays and reorders bytes. Either end can end
at any moment: the chip by a reset, the controller killed between two bytes or in the middle of writing its log.

What must hold at every moment is checked here, as things happen; who drives it need not know.
"""

import atexit
import random
import shutil
import sqlite3
import tempfile
from bisect import insort
from collections import Counter, deque
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from logged_shots import START
from table_top import TableTop

from game.montecassino import Option, Position, Side, Square, parse_squares
from rig.camera import CameraError
from rig.cannon import Cannon, CannonError, LaneAnswer
from rig.eye import Eye
from rig.link import wire
from rig.link.errors import LinkError
from rig.link.link import Link
from rig.log import Fired, Shot, ShotLog, open_log
from rig.match import Match, NotKept, Order
from rig.sequence import State
from rig.settings import Settings

__all__ = ["FAULTS", "QUIET", "Fault", "Noise", "WholeRig"]

ORDER = Order(
    Square.parse("G-49"),
    Position.parse("A A01-A08,A60 G25-G48 0/0 20/20 -"),
    parse_squares("G25-G72"),
    Option.III,
)
DWELL_MS = 4_000
QUICK = {
    "traverse_speed_ticks": 400,
    "azimuth_speed_ticks": 400,
    "elevation_speed_ticks": 400,
    "draw_speed_ticks": 400,
    "draw_ease_speed_ticks": 100,
    "latch_speed_ticks": 400,
    "dwell_ms": DWELL_MS,
    "let_down_timeout_ms": 4_000,
    "loader_present": 1,
}
# A let-down that failed is tried again after another dwell, and a cannon left drawn is let down before the next shot.
LET_DOWN_BY_ITSELF_US = 3 * DWELL_MS * 1000 + 2 * 4_000_000
SOON_US = 60_000_000
PERMISSIONS = (wire.Input.ESTOP_OK, wire.Input.KEY_ON, wire.Input.LANE_CLEAR)
FAULTS = (
    "stop",
    "key",
    "lane",
    "cable",
    "jam",
    "power",
    "watchdog",
    "brown_out",
    "external",
    "kill",
    "hang",
    "old_frames",
)
"""What can happen in the middle of a shot; `Fault.what`."""
AT_REST = {wire.State.SAFE, wire.State.LETTING_DOWN}
# The firmware's half second, a step of its main loop, and one of the table's.
_SILENCE_US = 502_000
_AT_ONCE_US = 2_000
# A servo obeys its last pulse until the next one comes.
_PULSE_US = 20_000
# After this nothing is on the line any more.
_LINE_EMPTY_US = 500_000


@dataclass(frozen=True, slots=True)
class Noise:
    """How bad the line is: the chance of each harm to each piece of bytes."""

    drop: float = 0.0
    corrupt: float = 0.0
    repeat: float = 0.0
    split: float = 0.0
    delay: float = 0.0
    reorder: float = 0.0


QUIET = Noise()


class Killed(BaseException):
    """The controller's process has ended, wherever it was."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that happens `after_us` after the firmware next comes into a state."""

    what: str
    state: wire.State
    after_us: int
    for_us: int = 0
    """How long it lasts, where it does."""


class Table(TableTop):
    """The table, with a worse line, and with an eye on what must never happen.

    Parameters
    ----------
    pulled
        Called at each pull of the trigger (each release of the latch, where that is the trigger).
    counts
        What went wrong, how often.
    """

    def __init__(self, *, seed: int, pulled: Callable[[], None], counts: Counter[str]) -> None:
        self._pulled = pulled
        self._counts = counts
        self._pulls = 0
        self._tokens_fired: set[int] = set()
        self._taken_us: dict[wire.Input, int] = {}
        self._state = wire.State.SAFE
        self._fired_us = 0  # when it was last seen firing
        self._waiting: list[tuple[wire.State, int, Callable[[], None]]] = []
        self.old: list[bytes] = []
        self.reached: set[wire.State] = set()
        super().__init__(seed=seed)

    # What a driver does

    def when(self, state: wire.State, after_us: int, what: Callable[[], None]) -> None:
        """Have something happen so long after the firmware next comes into a state."""
        self._waiting.append((state, after_us, what))

    def forget_plans(self) -> None:
        """What was to happen does not."""
        self._waiting.clear()
        self._plans.clear()

    def take(self, permission: wire.Input) -> None:
        super().take(permission)
        self._taken_us.setdefault(permission, self.time_us)

    def give(self, permission: wire.Input) -> None:
        super().give(permission)
        self._taken_us.pop(permission, None)

    def reset(self, cause: wire.ResetCause) -> None:
        # What the chip had not sent yet is never sent.
        self._to_controller = deque(entry for entry in self._to_controller if entry[0] <= self.time_us)
        super().reset(cause)

    def repeat_old(self, frames: list[bytes]) -> None:
        """Frames from before this session come once more."""
        due_us = self.time_us
        for byte in b"".join(frames):
            due_us += 87
            insort(self._to_cannon, (due_us, byte), key=lambda entry: entry[0])

    def empty_line(self) -> None:
        """Let all that is under way arrive."""
        self.run(_LINE_EMPTY_US)
        self._to_controller.clear()

    def fail_supply_after(self, eeprom_bytes: int) -> None:
        """The supply fails in the middle of the EEPROM byte after so many."""
        self._core.host_fail_after_writes(self._host, eeprom_bytes)

    def setting(self, setting: wire.Setting) -> int:
        """A setting as the firmware has it."""
        return int(self._core.host_setting(self._host, int(setting)))

    @property
    def last_id(self) -> int:
        """The id of the command that the firmware took last."""
        return int(self._view.last_id)

    # The line

    def _carry(self, data: bytes, line: deque[tuple[int, int]]) -> None:
        noise = cast(Noise, self.noise)
        if self.cut or noise == QUIET:
            super()._carry(data, line)
            return
        draw = self._random
        pieces = bytearray(data)
        harms = {field.name for field in fields(noise) if draw.random() < getattr(noise, field.name)}
        for harm in harms:
            self._counts[harm] += 1
        if "drop" in harms:
            start = draw.randrange(len(pieces))
            del pieces[start : start + draw.randint(1, 4)]
        if "corrupt" in harms and pieces:
            pieces[draw.randrange(len(pieces))] ^= draw.randrange(1, 256)
        if "repeat" in harms:
            pieces *= 2
        gap_at = draw.randrange(len(pieces) + 1) if "split" in harms else None
        due_us = self.time_us
        if "reorder" in harms:
            due_us += draw.randrange(60_000)  # what comes after it may come before it
        else:
            due_us = max(due_us, line[-1][0] if line else 0)
            due_us += draw.randrange(120_000) if "delay" in harms else 0
        for place, byte in enumerate(pieces):
            due_us += 87 + (draw.randrange(40_000) if place == gap_at else 0)
            insort(line, (due_us, byte), key=lambda entry: entry[0])

    # What must hold at every moment

    def _see(self) -> None:
        super()._see()
        state = self.state
        if state is wire.State.FIRING:
            self._fired_us = self.time_us
        if self._view.pulls != self._pulls:
            assert self._view.pulls == self._pulls + 1, "two pulls within a step"
            self._pulls += 1
            self._count_shot()
        self._must_be_at_rest(state)
        if state is not self._state:
            self._state = state
            self.reached.add(state)
            due = [plan for plan in self._waiting if plan[0] is state]
            for plan in due:
                self._waiting.remove(plan)
                self.at(plan[1], plan[2])

    def _count_shot(self) -> None:
        token = int(self._view.token)
        assert token not in self._tokens_fired, "a second shot by one arming"
        self._tokens_fired.add(token)
        self._pulled()

    def _must_be_at_rest(self, state: wire.State) -> None:
        if self.time_us - self.heard_us > _SILENCE_US:
            assert state in AT_REST, f"{state.name} though nobody has spoken for half a second"
            assert not self.trigger
            assert not self._loader
        gone = {what for what, since_us in self._taken_us.items() if self.time_us - since_us > _AT_ONCE_US}
        if gone & {wire.Input.ESTOP_OK, wire.Input.KEY_ON}:
            assert state in AT_REST, f"{state.name} with the emergency stop pressed or the key off"
        if wire.Input.LANE_CLEAR in gone:
            assert state not in {wire.State.ARMED, wire.State.FIRING}, (
                f"{state.name} with somebody in the lane"
            )
        # The interrupt fires, and the main loop hears of it in its next step.
        assert not self.trigger or state in {wire.State.ARMED, wire.State.FIRING}
        assert not self._loader or state is wire.State.COCKED

    def _move_parts(self) -> None:
        held = self._latched
        super()._move_parts()
        if held and not self._latched and self._lever < 0.95:
            assert self.time_us - self._fired_us <= _PULSE_US, "the lever snapped, and nobody had fired"
            self._count_shot()
            self._let_fly(self.time_us)


class MortalPort:
    """The table's line, as long as the controller lives."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self.dead = False
        self.bytes_left: int | None = None
        self.hang_us = 0

    def must_live(self) -> None:
        if self.dead:
            raise Killed

    def read(self, timeout_us: int) -> bytes:
        self.must_live()
        hang_us, self.hang_us = self.hang_us, 0
        self._table.run(hang_us)
        data = self._table.read(timeout_us)
        self.must_live()
        return data

    def write(self, data: bytes) -> None:
        self.must_live()
        if self.bytes_left is not None:
            self.bytes_left -= len(data)
            if self.bytes_left < 0:
                self._table.write(data[: self.bytes_left])
                self.dead = True
                raise Killed
        self._table.write(data)

    def close(self) -> None:
        pass


class MortalLog:
    """The log, which can end with its process in the middle of any write: some bytes are on the disk, some are not."""

    def __init__(self, log: ShotLog, path: Path, port: MortalPort, draw: random.Random) -> None:
        self._log = log
        self._wal = path.with_name(path.name + "-wal")
        self._port = port
        self._draw = draw
        self.writes_left: int | None = None

    def __getattr__(self, name: str) -> Any:
        self._port.must_live()
        method = getattr(self._log, name)
        if name in {"close", "shot", "shots", "session", "sessions"}:
            return method

        def write(*arguments: Any, **keywords: Any) -> Any:
            self._port.must_live()
            if self.writes_left is None:
                return method(*arguments, **keywords)
            self.writes_left -= 1
            before = self._written_ahead()
            result = method(*arguments, **keywords)
            if self.writes_left < 0:
                after = self._written_ahead()
                cut = self._draw.randrange(len(after) + 1)
                self._wal.write_bytes(after[:cut] + before[cut:])
                self._port.dead = True
                raise Killed
            return result

        return write

    def _written_ahead(self) -> bytes:
        return self._wal.read_bytes() if self._wal.exists() else b""

    def let_go(self) -> None:
        """Close the files; what the process left on the disk has been copied."""
        self._log.close()


class NoCamera:
    """Nothing ever speaks against a shot to it, and the shot's pictures are lost: what the log knows then comes from the cannon."""

    def __init__(self) -> None:
        self.ring = SimpleNamespace(
            hold=lambda now_us: None,
            release=lambda: None,
            between=lambda start, end: [],
            newest=lambda count: [],
            check_rate=lambda fewest_fps: None,
            camera=SimpleNamespace(width_px=1280, height_px=720, fps=120.0),
        )

    def read(self, side: Side, soldiers: object) -> object:
        return SimpleNamespace(standing=SimpleNamespace(differences=(), at=lambda target: None), outside=None)

    def lane(self) -> LaneAnswer:
        return LaneAnswer(clear=True)

    def pictures(self) -> tuple[()]:
        """Nobody reads a shot of which nothing is to be seen."""
        return ()

    def until_seen(self, time_us: int) -> None:
        raise CameraError("no camera here")


class Controller:
    """One process of the rig: it opens the log and the line, shoots, and ends."""

    def __init__(
        self, table: Table, port: MortalPort, log: MortalLog, session: int, settings: dict[str, int]
    ) -> None:
        self.port = port
        self.log = log
        link = Link(port, table, session=session)
        rig = Settings()
        self.cannon = Cannon(link, gate_spacing_mm=rig.cannon.gate_spacing_mm)
        self.cannon.connect()
        self.cannon.configure(rig.cannon.firmware_values() | settings)
        self._match = Match(
            rig.model_copy(update={"cannon": rig.cannon.model_copy(update={"loader": True})}),
            cannon=self.cannon,
            eye=cast(Eye, NoCamera()),
            hands=cast(Any, SimpleNamespace(carry_to=lambda side: None)),
            clock=table,
            shots=cast(ShotLog, log),
            session_id=log.start_session(START),
        )

    def shoot(self) -> None:
        """One shot. Without a camera it always ends in an error; what came of it is in the log."""
        if self.cannon.state is State.UNKNOWN:
            self.cannon.connect()
        self._match.shoot(ORDER)


def _is_identify(frame: bytes) -> bool:
    """Whether its type is that; its id may be escaped."""
    return wire.Command.IDENTIFY in frame[1:3]


class WholeRig:
    """Table, line, log, and a controller that is started anew where it has ended.

    Attributes
    ----------
    counts : collections.Counter
        What went wrong, how often; a fault in a state as "what in STATE".
    told : dict
        What the log says of each finished shot.
    slowest_us : int
        The longest that `shoots_again` took.
    """

    _template: Path | None = None

    def __init__(self, *, seed: int, latch_is_trigger: bool = False) -> None:
        self.draw = random.Random(seed)
        self.counts: Counter[str] = Counter()
        self._folder = tempfile.TemporaryDirectory(prefix="whole-rig-")
        self._logs = 0
        self._path = self._next_path()
        shutil.copy(self._empty_log(), self._path)
        self._shots: list[int] = []
        self._settings = QUICK | {"trigger_kind": int(latch_is_trigger)}
        self._latch_is_trigger = latch_is_trigger
        self.controller: Controller | None = None
        self.slowest_us = 0
        self.told: dict[int, Fired] = {}
        self.table = Table(seed=seed, pulled=self._pulled, counts=self.counts)
        self.table.shots_in_loader = 1_000_000
        self.table.noise = QUIET

    def close(self) -> None:
        """Tidy up."""
        self.kill()
        self._folder.cleanup()

    # The controller's life

    def start(self) -> bool:
        """Have a controller; False where none comes up on this line."""
        if self.controller is None:
            self.table.old += self.table.written
            self.table.written.clear()
            port = MortalPort(self.table)
            log = MortalLog(open_log(self._path), self._path, port, self.draw)
            session = self.draw.randrange(1 << 16)
            try:
                self.controller = Controller(self.table, port, log, session, self._settings)
            except (LinkError, CannonError) as error:
                self.counts[f"no start: {type(error).__name__}"] += 1
                log.let_go()
        return self.controller is not None

    def shoot(self) -> bool:
        """One shot; whether the log says that it was seen to leave."""
        if not self.start():
            return False
        before = self._shots_on_disk("SELECT max(shot_id) FROM shot")
        try:
            self.controller.shoot()
        except (CannonError, LinkError, CameraError, NotKept) as error:
            self.counts[type(error).__name__] += 1
        except Killed:
            self.counts["killed"] += 1
            self.kill()
        self.table.forget_plans()
        begun = self._shots_on_disk("SELECT max(shot_id) FROM shot")
        seen = self._shots_on_disk("SELECT shot_id FROM stage WHERE stage = 'seen'")
        return begun != before and set(begun) <= set(seen)

    def kill(self) -> None:
        """The controller ends, without a word."""
        if self.controller is None:
            return
        controller, self.controller = self.controller, None
        controller.port.dead = True
        # A process that is killed closes no log: what is on the disk at this moment is what the next one finds.
        found, self._path = self._path, self._next_path()
        for ending in ("", "-wal"):
            file = found.with_name(found.name + ending)
            if file.exists():
                shutil.copy(file, self._path.with_name(self._path.name + ending))
        controller.log.let_go()

    def save_while_supply_fails(self, after_bytes: int, timeout_ms: int) -> None:
        """The plug is pulled while settings are being saved; what is there afterwards is the old value or the new."""
        if not self.start() or self.controller.cannon.state is not State.SAFE:
            return
        cannon, before_ms = self.controller.cannon, self.table.setting(wire.Setting.SHOT_TIMEOUT_MS)
        self.table.fail_supply_after(after_bytes)
        with suppress(CannonError, LinkError, Killed):
            cannon.configure({"shot_timeout_ms": timeout_ms})
        self.kill()
        self.table.noise = QUIET
        self.table.reset(wire.ResetCause.POWER_ON)
        self.counts["supply failed in a save"] += 1
        assert self.table.setting(wire.Setting.SHOT_TIMEOUT_MS) in {before_ms, timeout_ms}

    def old_frames_do_nothing(self) -> None:
        """Copies of what earlier sessions sent are no frames of this one; but an identify is of none."""
        self.table.forget_plans()
        self.table.cut = True
        self.table.empty_line()
        self.table.cut = False
        last_id = self.table.last_id
        self.table.repeat_old([frame for frame in self.table.old if not _is_identify(frame)][-60:])
        self.table.empty_line()
        self.counts["old frames that did nothing"] += 1
        assert self.table.last_id == last_id

    def rest(self, time_us: int) -> None:
        """Time goes by, and the controller says nothing."""
        self.table.run(time_us)

    def keep_company(self, time_us: int) -> None:
        """Time goes by, and the controller keeps the line alive."""
        if self.controller is not None:
            try:
                self.controller.cannon.wait(time_us)
            except (CannonError, LinkError) as error:
                self.counts[type(error).__name__] += 1
            except Killed:
                self.counts["killed"] += 1
                self.kill()

    # What goes wrong

    def plan(self, fault: Fault) -> None:
        """Have something go wrong during the next shot."""
        self.table.when(fault.state, fault.after_us, lambda: self.happen(fault))

    def happen(self, fault: Fault) -> None:
        """Have it go wrong now."""
        self.counts[f"{fault.what} in {self.table.state.name}"] += 1
        getattr(self, f"_{fault.what}")(fault)

    def _stop(self, fault: Fault) -> None:
        self._withdraw(wire.Input.ESTOP_OK, fault)

    def _key(self, fault: Fault) -> None:
        self._withdraw(wire.Input.KEY_ON, fault)

    def _lane(self, fault: Fault) -> None:
        self._withdraw(wire.Input.LANE_CLEAR, fault)

    def _withdraw(self, permission: wire.Input, fault: Fault) -> None:
        self.table.take(permission)
        if fault.for_us:
            self.table.at(fault.for_us, lambda: self.table.give(permission))

    def _cable(self, fault: Fault) -> None:
        self.table.cut = True
        if fault.for_us:
            self.table.at(fault.for_us, lambda: setattr(self.table, "cut", False))

    def _jam(self, fault: Fault) -> None:
        self.table.jammed = True

    def _power(self, fault: Fault) -> None:
        self.table.reset(wire.ResetCause.POWER_ON)

    def _watchdog(self, fault: Fault) -> None:
        self.table.reset(wire.ResetCause.WATCHDOG)

    def _brown_out(self, fault: Fault) -> None:
        self.table.reset(wire.ResetCause.BROWN_OUT)

    def _external(self, fault: Fault) -> None:
        self.table.reset(wire.ResetCause.EXTERNAL)

    def _kill(self, fault: Fault) -> None:
        if self.controller is not None:
            self.controller.port.dead = True

    def _hang(self, fault: Fault) -> None:
        if self.controller is not None:
            self.controller.port.hang_us = fault.for_us

    def _old_frames(self, fault: Fault) -> None:
        old = self.table.old
        if old:
            start = self.draw.randrange(len(old))
            self.table.repeat_old(old[start : start + self.draw.randint(1, 6)])

    def kill_after_bytes(self, count: int) -> None:
        """The controller ends after so many more bytes, wherever that is in a frame."""
        if self.controller is not None:
            self.controller.port.bytes_left = count

    def kill_in_log_write(self, number: int) -> None:
        """The controller ends in the middle of writing the log, after so many more writes."""
        if self.controller is not None:
            self.controller.log.writes_left = number

    # What must hold

    def _pulled(self) -> None:
        """At the pull of the trigger the log on the disk knows of the shot, and of no other pull for it."""
        asked = self._shots_on_disk("SELECT shot_id FROM stage WHERE stage = 'asked'")
        assert asked, "a shot that the log does not know of"
        shot_id = max(asked)
        assert shot_id not in self._shots, "two pulls for one shot of the log"
        self._shots.append(shot_id)

    def _shots_on_disk(self, question: str) -> list[int]:
        """Look into the file, past everything that writes it."""
        with closing(sqlite3.connect(self._path)) as disk:
            return [row[0] for row in disk.execute(question)]

    def _logged(self) -> tuple[Shot, ...]:
        if self.controller is not None:
            return cast(tuple[Shot, ...], self.controller.log.shots())
        with open_log(self._path) as log:
            return log.shots()

    def check_log(self) -> None:
        """Every shot that left is in the log, and none that did not."""
        for shot in self._logged():
            if not shot.finished:
                continue
            self.told[shot.shot_id] = shot.fired
            if shot.shot_id in self._shots:
                assert shot.fired is not Fired.NO, (
                    f"shot {shot.shot_id} left, and the log says that it did not"
                )
            elif not self._latch_is_trigger:
                assert shot.fired is not Fired.YES, (
                    f"shot {shot.shot_id} never left, and the log says that it did"
                )

    # Everything is well again

    def mend(self) -> None:
        """The line is good, and a person has seen to the table: stop released, key turned, lane clear, muzzle free."""
        table = self.table
        table.forget_plans()
        if self.controller is not None:
            self.controller.port.bytes_left, self.controller.port.hang_us = None, 0
            self.controller.log.writes_left = None
        table.noise, table.cut, table.jammed = QUIET, False, False
        table.empty_line()
        for permission in PERMISSIONS:
            table.give(permission)
        table.take(wire.Input.KEY_ON)
        table.run(100_000)
        table.give(wire.Input.KEY_ON)
        table.run(100_000)

    def shoots_again(self, *, anew: bool) -> None:
        """With everything well again a shot leaves, soon, whatever happened before."""
        self.mend()
        if anew:
            self.kill()
        begun_us = self.table.time_us
        assert self.shoot(), f"no shot though all is well: {self._logged()[-1:]}"
        self.slowest_us = max(self.slowest_us, self.table.time_us - begun_us)
        assert self.table.time_us - begun_us < SOON_US

    def ends_safe(self) -> None:
        """With nobody there, the cannon is safe after half a second and its lever forward after the dwell."""
        self.kill()
        self.table.forget_plans()
        self.table.cut = True
        self.table.run(_LINE_EMPTY_US + _SILENCE_US)
        assert self.table.state in AT_REST
        assert not self.table.trigger
        self.table.run(LET_DOWN_BY_ITSELF_US)
        assert self.table.lever_is_forward
        assert self.table.state is wire.State.SAFE

    def _next_path(self) -> Path:
        self._logs += 1
        return Path(self._folder.name) / f"log-{self._logs}.sqlite"

    @classmethod
    def _empty_log(cls) -> Path:
        if cls._template is None:
            folder = Path(tempfile.mkdtemp(prefix="empty-log-"))
            atexit.register(shutil.rmtree, folder)
            cls._template = folder / "log.sqlite"
            open_log(cls._template).close()
        return cls._template
