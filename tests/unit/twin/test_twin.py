"""The real firmware on the simulated chip, with everything around it, by frames made here."""

import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import pytest

from game.montecassino import Side, parse_squares
from rig.link import messages as m
from rig.link import wire
from rig.link.codec import STOP_BYTES, Decoder, Frame, encode, request_frame
from twin import ResetIncident, Twin, TwinSettings
from twin.attendant import AttendantSettings
from twin.chip import (
    CHIP_HZ,
    FIRMWARE_PATH,
    ChipError,
    ChipEvent,
    ChipMissing,
    ChipSettings,
    EventKind,
    Pin,
    ResetCause,
)
from twin.line import LineSettings
from twin.plant import (
    ContactSettings,
    GateSettings,
    LeverSettings,
    LoaderSettings,
    PlantSettings,
    ServoSettings,
)
from twin.spring import SpringSettings
from twin.table import TableSettings

pytestmark = pytest.mark.skipif(
    not FIRMWARE_PATH.is_file(), reason=f"{FIRMWARE_PATH} is not there; `make firmware` builds it"
)

ONE_SOLDIER = dict.fromkeys(parse_squares("G-45"), Side.G)
"""Straight ahead of the cannon at the middle of its strip: as near as a square is."""


class Gunner:
    """A controller made of bare frames: sends a command, keeps the heartbeat, collects what comes."""

    def __init__(self, settings: TwinSettings) -> None:
        self.twin = Twin(settings)
        self.events: list[m.Event] = []
        self.raw = bytearray()
        self._decoder = Decoder()
        self._session = 0
        self._seq = 0
        self._seen = 0
        self.answers: list[m.Message] = []

    def pump(self, duration_us: int) -> None:
        end_us = self.twin.now_us + duration_us
        while self.twin.now_us < end_us:
            data = self.twin.port.read(end_us - self.twin.now_us)
            self.raw += data
            for item in self._decoder.feed(data):
                if isinstance(item, Frame) and isinstance(item.message, m.Event):
                    if item.seq == (self._seen + 1) % 256:
                        self._seen = item.seq
                        self.events.append(item.message)
                elif isinstance(item, Frame):
                    self.answers.append(item.message)

    def ask(self, request: m.Request[m.Answer]) -> m.Message:
        if isinstance(request, m.Identify):
            self._seq, self._seen = 0, 0
            self._decoder.session = request.session
        else:
            self._seq = (self._seq + 1) % 256
        self.answers.clear()
        self.twin.port.write(encode(request_frame(self._seq, request), self._decoder.session))
        for _ in range(40):
            self.pump(1000)
            if self.answers:
                return self.answers[0]
        raise AssertionError(f"no answer to {request}")

    def identify(self) -> None:
        self._session += 1
        answer = self.ask(m.Identify(wire.WIRE_VERSION, self._session))
        assert isinstance(answer, m.Identity), answer

    def beat(self, duration_us: int) -> None:
        for _ in range(math.ceil(duration_us / 50_000)):
            self.ask(m.Heartbeat(self._seen))
            self.pump(50_000)

    def until(self, happened: Callable[[], bool], *, limit_us: int = 8_000_000) -> bool:
        end_us = self.twin.now_us + limit_us
        while not happened() and self.twin.now_us < end_us:
            self.beat(50_000)
        return happened()

    def status(self) -> m.Status:
        answer = self.ask(m.ReadStatus())
        assert isinstance(answer, m.Status)
        return answer

    def reach(self, state: wire.State) -> None:
        assert self.until(lambda: self.status().state is state), self.status()

    def home(self) -> None:
        self.pump(80_000)
        self.identify()
        self.twin.hands.turn_key(True)
        self.twin.hands.lane(True)
        self.beat(50_000)
        assert isinstance(self.ask(m.Home()), m.Begun)
        self.reach(wire.State.READY)

    def aim(self, **ticks: int) -> None:
        for name, value in ticks.items():
            assert isinstance(self.ask(m.Move(wire.Axis[name.upper()], value)), m.Moving | m.Begun)
            self.until(lambda: self.status().moving == 0)
        self.beat(500_000)

    def cock(self) -> None:
        assert isinstance(self.ask(m.Cock()), m.Begun)
        self.reach(wire.State.COCKED)

    def load(self) -> None:
        assert self.twin.hands.load()
        self.beat(200_000)

    def arm(self) -> m.Token:
        token = self.ask(m.Arm())
        assert isinstance(token, m.Token), token
        return token

    def shoot(self) -> None:
        self.cock()
        self.load()
        assert isinstance(self.ask(m.Fire(self.arm().token)), m.Released)
        self.beat(600_000)

    def seen(self, kind: type[m.Event]) -> list[m.Event]:
        return [event for event in self.events if isinstance(event, kind)]


Muster = Callable[..., Gunner]


@pytest.fixture
def muster() -> Iterator[Muster]:
    """Make gunners with few soldiers."""
    gunners = []

    def make(**settings: object) -> Gunner:
        given = {"soldiers": ONE_SOLDIER, **settings}
        gunner = Gunner(TwinSettings(**given))  # type: ignore[arg-type]
        gunners.append(gunner)
        return gunner

    yield make
    for gunner in gunners:
        gunner.twin.close()


def plant(**settings: object) -> PlantSettings:
    return PlantSettings(**settings)  # type: ignore[arg-type]


def test_a_whole_shot_by_bare_frames(muster: Muster) -> None:
    gunner = muster(soldiers=dict.fromkeys(parse_squares("G-45,G-52"), Side.G))
    gunner.home()
    gunner.aim(traverse=3000, azimuth=3000, elevation=2500)
    gunner.shoot()
    (seen,) = gunner.seen(m.ShotSeen)
    assert isinstance(seen, m.ShotSeen)
    (firing,) = gunner.twin.shots
    assert 0.020 / (seen.transit_ticks * 0.5e-6) == pytest.approx(firing.speed_mps, rel=2e-3)
    gunner.until(lambda: gunner.twin.table.at_rest)
    truth = gunner.twin.truth()
    assert truth.elevation_rad == pytest.approx(0.0, abs=0.003)
    assert truth.muzzle_mm == pytest.approx((180.0, 15.0, 50.0), abs=1.0)
    assert gunner.status().state is wire.State.SAFE
    assert gunner.status().shots == 1


def test_the_servo_width_is_the_commanded_one_and_the_barrel_follows(muster: Muster) -> None:
    gunner = muster()
    gunner.home()
    gunner.aim(azimuth=3201, elevation=2600, traverse=3333)
    servos = gunner.twin.plant
    assert servos.azimuth.command_us == 1600.5
    assert servos.elevation.command_us == 1300.0
    assert servos.traverse.command_us == pytest.approx(1666.5, abs=0.51)
    assert servos.aim.azimuth_rad == pytest.approx(math.radians(60) * 100.5 / 1000, abs=2e-3)
    assert servos.aim.traverse_mm == pytest.approx(180 + 300 * 0.1665, abs=0.6)


def test_a_shot_leaves_while_something_still_moves_on_the_table(muster: Muster) -> None:
    gunner = muster(soldiers={})
    gunner.home()
    gunner.cock()
    gunner.load()
    token = gunner.arm()
    table = gunner.twin.table
    table.launch((180.0, 100.0, 30.0), 0.0, 1.0, 5.0, table.now_us)
    gunner.ask(m.Fire(token.token))
    gunner.beat(50_000)
    (firing,) = gunner.twin.shots
    gunner.until(lambda: table.at_rest)
    assert gunner.twin.truth().launched_us == pytest.approx(firing.exit_cycle / 16, abs=1)


def test_the_other_side_fires_from_behind_its_own_line(muster: Muster) -> None:
    gunner = muster(soldiers=dict.fromkeys(parse_squares("A-45"), Side.A))
    gunner.twin.hands.carry_to(Side.G)
    gunner.home()
    gunner.aim(elevation=2500)
    gunner.shoot()
    gunner.until(lambda: gunner.twin.table.at_rest)
    truth = gunner.twin.truth()
    assert truth.muzzle_mm[1] == pytest.approx(810 - 15, abs=1.0)
    assert truth.pellet[5][2] < truth.pellet[0][2]


@pytest.mark.parametrize("cause", [ResetCause.EXTERNAL, ResetCause.BROWN_OUT, ResetCause.POWER_ON])
def test_a_reset_releases_the_trigger_and_leaves_the_latch(muster: Muster, cause: ResetCause) -> None:
    gunner = muster()
    gunner.home()
    gunner.cock()
    gunner.load()
    gunner.ask(m.Fire(gunner.arm().token))
    chip = gunner.twin.chip
    assert chip.output(Pin.TRIGGER)
    chip.reset(cause)
    assert not chip.output(Pin.TRIGGER)
    gunner.pump(500_000)
    assert not chip.output(Pin.TRIGGER)


@pytest.mark.parametrize("cause", list(ResetCause)[:3])
def test_a_reset_while_cocked_does_not_fire(muster: Muster, cause: ResetCause) -> None:
    gunner = muster()
    gunner.home()
    gunner.cock()
    gunner.load()
    gunner.arm()
    gunner.twin.chip.reset(cause)
    gunner.pump(3_000_000)
    assert gunner.twin.shots == []
    assert gunner.twin.plant.gate.seated == 1


def test_the_emergency_stop_disarms(muster: Muster) -> None:
    gunner = muster()
    gunner.home()
    gunner.cock()
    gunner.load()
    token = gunner.arm()
    gunner.twin.hands.press_estop()
    gunner.pump(20_000)
    assert isinstance(gunner.ask(m.Fire(token.token)), m.Refused)
    gunner.pump(300_000)
    assert gunner.twin.shots == []
    assert not gunner.status().inputs & wire.Input.ESTOP_OK


def test_a_cut_wire_of_the_emergency_stop_reads_as_pressed(muster: Muster) -> None:
    gunner = muster(plant=plant(emergency_stop=ContactSettings(wire_cut_at_s=1.5)))
    gunner.home()
    gunner.beat(1_500_000)
    assert not gunner.status().inputs & wire.Input.ESTOP_OK
    assert isinstance(gunner.ask(m.Cock()), m.Refused)


def test_the_stop_byte_works_in_the_middle_of_a_move(muster: Muster) -> None:
    gunner = muster()
    gunner.home()
    gunner.ask(m.Cock())
    gunner.beat(300_000)
    gunner.twin.port.write(STOP_BYTES)
    gunner.pump(30_000)
    assert gunner.status().state is wire.State.SAFE
    assert gunner.twin.shots == []


def test_a_silent_controller_makes_it_safe_and_never_fires(muster: Muster) -> None:
    gunner = muster()
    gunner.home()
    gunner.cock()
    gunner.load()
    gunner.arm()
    gunner.twin.run_for(5_000_000)
    assert gunner.twin.shots == []
    assert gunner.status().state is wire.State.SAFE


def test_a_weak_draw_servo_is_a_fault_and_no_shot(muster: Muster) -> None:
    gunner = muster(plant=plant(lever=LeverSettings(draw_stall_kgf=2.5)))
    gunner.home()
    gunner.ask(m.Cock())
    assert gunner.until(lambda: bool(gunner.status().faults), limit_us=12_000_000)
    assert wire.Fault.DRAW_TIMEOUT in gunner.status().faults
    assert gunner.twin.shots == []


def test_a_dead_solenoid_is_a_shot_not_seen(muster: Muster) -> None:
    gunner = muster(plant=plant(lever=LeverSettings(solenoid_works=False)))
    gunner.home()
    gunner.shoot()
    assert gunner.seen(m.ShotSeen) == []
    assert wire.Fault.SHOT_NOT_SEEN in gunner.status().faults
    assert not gunner.twin.chip.output(Pin.TRIGGER)


def test_a_shot_that_the_spring_cannot_move_stays_seated(muster: Muster) -> None:
    gunner = muster(plant=plant(spring=SpringSettings(fade_per_shot=1.0), shots_fired_before=1))
    gunner.home()
    gunner.shoot()
    assert wire.Fault.SHOT_NOT_SEEN in gunner.status().faults
    assert gunner.twin.shots == []
    assert gunner.twin.plant.gate.seated == 1


def test_a_stuck_latch_switch_is_a_fault(muster: Muster) -> None:
    gunner = muster(plant=plant(lever_latched=ContactSettings(stuck=False)))
    gunner.home()
    gunner.ask(m.Cock())
    assert gunner.until(lambda: bool(gunner.status().faults), limit_us=12_000_000)
    assert wire.Fault.LATCH_TIMEOUT in gunner.status().faults


def test_a_gate_that_is_blocked_for_ever_is_not_armed(muster: Muster) -> None:
    gunner = muster(plant=plant(gate=GateSettings(second_stuck=True)))
    gunner.home()
    gunner.cock()
    gunner.load()
    assert gunner.ask(m.Arm()) == m.Refused(wire.Refusal.MUZZLE_BLOCKED, 0)


def test_the_loader_loads(muster: Muster) -> None:
    gunner = muster(plant=plant(loader=LoaderSettings(fitted=True)))
    gunner.pump(80_000)
    gunner.identify()
    gunner.ask(m.Configure(wire.Setting.LOADER_PRESENT, 1))
    gunner.home()
    gunner.cock()
    assert isinstance(gunner.ask(m.Load()), m.Begun)
    assert gunner.until(lambda: bool(gunner.status().inputs & wire.Input.GATE_FIRST_BLOCKED))
    assert gunner.twin.plant.gate.seated == 1


def test_the_trigger_follows_the_last_byte_of_the_command_within_ten_microseconds(muster: Muster) -> None:
    gunner = muster()
    log: list[ChipEvent] = []
    gunner.home()
    gunner.cock()
    gunner.load()
    token = gunner.arm()
    gunner.twin.watch(log.append)
    gunner.ask(m.Fire(token.token))
    (trigger,) = [e.cycle for e in log if e.kind is EventKind.PIN and e.pin == Pin.TRIGGER]
    heard = max(e.cycle for e in log if e.kind is EventKind.RECEIVED and e.cycle <= trigger)
    assert trigger - heard <= 160


def test_an_attendant_turns_the_key_and_loads_when_cocked(muster: Muster) -> None:
    gunner = muster(attendant=AttendantSettings(present=True))
    gunner.pump(80_000)
    gunner.identify()
    gunner.beat(400_000)
    gunner.ask(m.Home())
    gunner.reach(wire.State.READY)
    assert not gunner.status().inputs & wire.Input.GATE_FIRST_BLOCKED
    gunner.cock()
    assert gunner.until(
        lambda: bool(gunner.status().inputs & wire.Input.GATE_FIRST_BLOCKED), limit_us=2_000_000
    )
    gunner.beat(200_000)
    assert isinstance(gunner.ask(m.Fire(gunner.arm().token)), m.Released)


def test_an_attendant_sets_up_again_what_a_shot_left(muster: Muster) -> None:
    gunner = muster(attendant=AttendantSettings(present=True, sets_up_after_us=500_000))
    table = gunner.twin.table
    before = {soldier.square: (soldier.x_mm, soldier.y_mm) for soldier in table.standing()}
    gunner.home()
    gunner.aim(traverse=2850, azimuth=3000, elevation=2470)
    gunner.cock()
    assert gunner.until(lambda: gunner.twin.plant.gate.seated == 1)
    gunner.beat(200_000)
    gunner.ask(m.Fire(gunner.arm().token))
    assert gunner.until(lambda: not table.at_rest)
    assert gunner.until(lambda: table.at_rest)
    assert [str(fall.square) for fall in table.truth().falls] == ["G-45"]
    assert table.standing() == ()
    gunner.beat(600_000)
    (again,) = table.standing()
    assert (again.x_mm, again.y_mm) == pytest.approx(before[again.square], abs=5.0)


def test_an_attendant_sets_up_what_two_shots_left_that_came_soon_one_after_the_other(muster: Muster) -> None:
    gunner = muster(
        soldiers=dict.fromkeys(parse_squares("A-45,A-41"), Side.A),
        attendant=AttendantSettings(present=True, sets_up_after_us=1_000_000),
    )
    twin, table = gunner.twin, gunner.twin.table
    for x_mm in (22.5, 202.5):
        table.launch((x_mm, 0.0, 30.0), 0.0, 0.0, 9.6, table.now_us)
        while not table.at_rest:
            twin.run_for(50_000)
        twin.run_for(100_000)
    assert table.standing() == ()
    twin.run_for(1_500_000)
    assert len(table.standing()) == 2


def test_hands_take_a_shot_out_and_put_no_second_one_in(muster: Muster) -> None:
    gunner = muster()
    gunner.home()
    hands = gunner.twin.hands
    assert hands.load()
    gunner.beat(200_000)
    assert not hands.load()
    assert gunner.status().inputs & wire.Input.GATE_FIRST_BLOCKED
    hands.unload()
    gunner.beat(50_000)
    assert not gunner.status().inputs & wire.Input.GATE_FIRST_BLOCKED


def test_letting_down_moves_the_lever_slowly_and_fires_nothing(muster: Muster) -> None:
    gunner = muster()
    gunner.home()
    gunner.cock()
    gunner.load()
    assert isinstance(gunner.ask(m.LetDown()), m.Begun)
    fastest_mm, before_mm = 0.0, gunner.twin.plant.lever.position_mm
    while gunner.status().state is not wire.State.SAFE:
        gunner.beat(50_000)
        now_mm = gunner.twin.plant.lever.position_mm
        fastest_mm, before_mm = max(fastest_mm, before_mm - now_mm), now_mm
    assert gunner.twin.plant.lever.position_mm < 0.5
    assert fastest_mm < 1.5
    assert gunner.twin.shots == []


def test_damage_on_the_line_is_survived(muster: Muster) -> None:
    gunner = muster(line=LineSettings(lost_to_chip=0.05, corrupted_to_chip=0.05))
    gunner.pump(80_000)
    answered = 0
    for _ in range(60):
        gunner.twin.port.write(encode(request_frame(0, m.Identify(wire.WIRE_VERSION, 77))))
        before = len(gunner.answers)
        gunner.pump(20_000)
        answered += len(gunner.answers) > before
    assert 20 < answered < 60


def test_resets_come_when_the_settings_say(muster: Muster) -> None:
    gunner = muster(
        resets=(ResetIncident(200_000, ResetCause.BROWN_OUT), ResetIncident(500_000, ResetCause.EXTERNAL))
    )
    gunner.pump(800_000)
    booted = [
        item.message.reset_cause
        for item in Decoder().feed(bytes(gunner.raw))
        if isinstance(item, Frame) and isinstance(item.message, m.Booted)
    ]
    assert [cause for cause, _ in groupby(booted)] == [
        wire.ResetCause.POWER_ON,
        wire.ResetCause.BROWN_OUT,
        wire.ResetCause.EXTERNAL,
    ]


def test_resets_come_on_time_however_close_together_they_are(muster: Muster) -> None:
    at_us = (9, 200_200, 200_600, 200_600, 201_000)
    gunner = muster(resets=tuple(ResetIncident(each, ResetCause.EXTERNAL) for each in at_us))
    came_us: list[int] = []

    def note(event: ChipEvent) -> None:
        if event.kind is EventKind.RESET and event.value == ResetCause.EXTERNAL:
            came_us.append(event.cycle * 1_000_000 // CHIP_HZ)

    gunner.twin.watch(note)
    gunner.pump(300_000)
    assert came_us == list(at_us)


def test_settings_outlive_power_where_the_eeprom_has_a_file(muster: Muster, tmp_path: Path) -> None:
    chip = ChipSettings(eeprom_path=tmp_path / "eeprom.bin")
    for expected in (40, 33):
        gunner = muster(chip=chip)
        gunner.pump(80_000)
        gunner.identify()
        value = gunner.ask(m.ReadSetting(wire.Setting.TRIGGER_HOLD_MS))
        assert isinstance(value, m.SettingValue)
        assert value.value == expected
        gunner.ask(m.Configure(wire.Setting.TRIGGER_HOLD_MS, 33))
        gunner.ask(m.SaveSettings())
        assert gunner.until(lambda g=gunner: bool(g.seen(m.SettingsSaved)))  # type: ignore[misc]
        gunner.twin.close()


def test_offset_of_a_servo_shows_on_the_table_and_not_on_the_wire(muster: Muster) -> None:
    gunner = muster(plant=plant(azimuth=ServoSettings(offset_us=50)))
    gunner.home()
    gunner.beat(500_000)
    assert gunner.twin.plant.azimuth.command_us == 1500.0
    assert gunner.twin.plant.aim.azimuth_rad == pytest.approx(math.radians(3.0), abs=2e-3)


def test_frames_come_at_the_cameras_rate_on_the_twins_clock(muster: Muster) -> None:
    gunner = muster()
    gunner.pump(500_000)
    frames = gunner.twin.camera.poll()
    assert [frame.index for frame in frames] == list(range(60))
    assert frames[30].timestamp_us == pytest.approx(250_000, abs=1000)
    assert gunner.twin.clock.now_us() == pytest.approx(500_000, abs=2)


def test_bigger_squares_move_the_other_sides_cannon(muster: Muster) -> None:
    gunner = muster(table=replace(TableSettings(), square_mm=50.0), side=Side.G)
    gunner.pump(2000)
    _, now = gunner.twin.table.arrangement()
    cannon = now.cannon
    assert cannon is not None
    assert cannon.muzzle_mm[1] > 850


def test_without_the_firmware_there_is_no_twin(tmp_path: Path) -> None:
    with pytest.raises(
        ChipMissing, match=r"the firmware is not there; build it with `make firmware`"
    ) as caught:
        Twin(TwinSettings(chip=ChipSettings(elf_path=tmp_path / "cannon-uno.elf")))
    assert isinstance(caught.value, ChipError)


REPEAT_PROGRAM = """
import hashlib, sys
sys.path.insert(0, sys.argv[1])
from test_twin import Gunner, ONE_SOLDIER, TwinSettings
gunner = Gunner(TwinSettings(soldiers=ONE_SOLDIER, seed=5))
gunner.home()
gunner.aim(elevation=2500)
gunner.shoot()
gunner.until(lambda: gunner.twin.table.at_rest)
what = (bytes(gunner.raw), gunner.twin.shots, gunner.twin.truth(), gunner.events)
print(hashlib.sha256(repr(what).encode()).hexdigest())
"""


def test_two_processes_have_the_same_shot() -> None:
    command = [sys.executable, "-c", REPEAT_PROGRAM, str(Path(__file__).parent)]
    first, second = (
        subprocess.run(command, check=True, capture_output=True, text=True).stdout for _ in range(2)
    )
    assert len(first.strip()) == 64
    assert first == second
