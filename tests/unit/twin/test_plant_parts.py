"""Contacts, muzzle gate, loader, mount, and how they are wired."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

from game.montecassino import Side
from rig.settings import Cannon
from twin.chip import CHIP_HZ, Pin
from twin.plant import (
    Aim,
    Contact,
    ContactSettings,
    Gate,
    GateSettings,
    Loader,
    LoaderSettings,
    MountSettings,
    aim_of_pulses,
    pose_of_aim,
)
from twin.spring import SpringSettings, muzzle_speed_mps

PINS_H = Path(__file__).parents[3] / "firmware" / "avr" / "pins.h"
MS = CHIP_HZ // 1000


class Wires:
    """Keeps what was driven, and says how a pin stands at a cycle."""

    def __init__(self) -> None:
        self.changes: list[tuple[int, int, bool | None]] = []

    def __call__(self, pin: int, level: bool | None, cycle: int) -> None:
        self.changes.append((cycle, pin, level))

    def at(self, pin: int, cycle: int) -> bool | None:
        changes = sorted((c for c in self.changes if c[1] == pin and c[0] <= cycle), key=lambda c: c[0])
        return changes[-1][2] if changes else None

    def edges(self, pin: int) -> list[int]:
        return [cycle for cycle, of, _ in sorted(self.changes, key=lambda c: c[0]) if of == pin]


def contact(wires: Wires, *, closed: bool = False, **settings: object) -> Contact:
    return Contact(ContactSettings(**settings), 7, wires, np.random.default_rng(3), closed=closed)  # type: ignore[arg-type]


def test_pins_are_those_of_the_firmware() -> None:
    names = {
        "ESTOP": Pin.EMERGENCY_STOP,
        "KEY": Pin.ARMING_KEY,
        "TRIGGER": Pin.TRIGGER,
        "TRAVERSE": Pin.TRAVERSE_SERVO,
        "DRAW": Pin.DRAW_SERVO,
        "LATCH": Pin.LATCH_SERVO,
        "AZIMUTH": Pin.AZIMUTH_SERVO,
        "ELEVATION": Pin.ELEVATION_SERVO,
        "LOADER": Pin.LOADER,
        "LAMP": Pin.ARMED_LAMP,
        "GATE_FIRST": Pin.GATE_FIRST,
        "GATE_SECOND": Pin.GATE_SECOND,
        "LEVER_DRAWN": Pin.LEVER_DRAWN,
        "LEVER_LATCHED": Pin.LEVER_LATCHED,
        "LANE": Pin.LANE_CLEAR,
    }
    found = {
        name: "BCD".index(port) * 8 + int(bit)
        for name, port, bit in re.findall(r"#define PIN_(\w+) P([BCD])(\d)\b", PINS_H.read_text())
    }
    assert found == {name: int(pin) for name, pin in names.items()}


def test_closed_pulls_low_and_open_lets_go() -> None:
    wires = Wires()
    switch = contact(wires, bounces=0)
    switch.set(True, 100)
    assert wires.at(7, 100) is False
    switch.set(False, 200)
    assert wires.at(7, 200) is None


def test_it_bounces_and_then_stays() -> None:
    wires = Wires()
    contact(wires).set(True, 100)
    assert len(wires.edges(7)) > 5
    assert max(wires.edges(7)) < 100 + 1500 * 16
    assert wires.at(7, 10**9) is False


def test_it_bounces_behind_its_change_and_has_done_so_before_it_changes_again() -> None:
    wires, longest = Wires(), 1500 * 16
    switch = contact(wires)
    switch.set(True, 50_000)
    switch.set(False, 51_000)
    _, *changes = wires.changes
    for (first, *bounces), begin, levels in (
        (changes[:9], 50_000, [False, None]),
        (changes[9:], 50_000 + longest, [None, False]),
    ):
        assert first == (begin, 7, levels[0])
        assert [level for _, _, level in (first, *bounces)] == [*levels * 4, levels[0]]
        assert all(begin < cycle < begin + longest for cycle, _, _ in bounces)


def test_changed_again_while_it_bounces_it_ends_as_it_was_left() -> None:
    wires = Wires()
    switch = contact(wires)
    switch.set(True, 0)
    switch.set(False, 16_000)
    assert wires.at(7, 10**9) is None


@pytest.mark.parametrize(("stuck", "level"), [(True, False), (False, None)])
def test_a_stuck_contact_does_not_change(stuck: bool, level: bool | None) -> None:
    wires = Wires()
    switch = contact(wires, stuck=stuck)
    switch.set(not stuck, 100)
    assert wires.at(7, 10**9) is level


def test_a_cut_wire_is_open_for_good() -> None:
    wires = Wires()
    switch = contact(wires, closed=True, wire_cut_at_s=0.001)
    assert wires.at(7, 15_999) is False
    assert wires.at(7, 16_000) is None
    switch.set(False, 20_000)
    switch.set(True, 30_000)
    assert wires.at(7, 10**9) is None


def test_a_seated_shot_blocks_the_inner_barrier_alone() -> None:
    wires = Wires()
    Gate(GateSettings(), wires).seat(100)
    assert wires.at(Pin.GATE_FIRST, 100) is True
    assert wires.at(Pin.GATE_SECOND, 100) is False


def test_a_shot_leaves_at_its_true_speed_to_the_cycle() -> None:
    wires = Wires()
    gate = Gate(GateSettings(), wires)
    gate.seat(0)
    exit_cycle = gate.fire(1_000_000, 8.0)
    left_first = wires.edges(Pin.GATE_FIRST)[-1]
    *_, reached_second, left_second = wires.edges(Pin.GATE_SECOND)
    assert left_first == 1_000_000 + round(0.003 / 8.0 * CHIP_HZ)
    assert left_second - left_first == round(0.020 / 8.0 * CHIP_HZ)
    assert left_second - reached_second == round(0.006 / 8.0 * CHIP_HZ)
    assert exit_cycle == left_first  # docs/build.md: it sits half its size inside the mouth
    assert gate.seated == 0


def test_a_hand_is_seen_by_the_outer_barrier_first() -> None:
    wires = Wires()
    Gate(GateSettings(), wires).seat_by_hand(100)
    assert wires.at(Pin.GATE_SECOND, 200) is True
    assert wires.at(Pin.GATE_FIRST, 200) is False
    assert wires.at(Pin.GATE_SECOND, 10**9) is False
    assert wires.at(Pin.GATE_FIRST, 10**9) is True


def test_a_shot_taken_out_again_at_once_is_out() -> None:
    wires = Wires()
    gate = Gate(GateSettings(), wires)
    gate.seat_by_hand(100)
    gate.empty(200)
    assert wires.at(Pin.GATE_FIRST, 10**9) is False


def test_a_broken_barrier_says_the_same_always() -> None:
    wires = Wires()
    gate = Gate(GateSettings(first_stuck=False, second_stuck=True), wires)
    gate.seat(0)
    gate.fire(1000, 8.0)
    assert {level for _, pin, level in wires.changes if pin == Pin.GATE_FIRST} == {False}
    assert {level for _, pin, level in wires.changes if pin == Pin.GATE_SECOND} == {True}


def feed(loader: Loader, *, pulse_ms: int = 300) -> int:
    loader.edge(0, high=True)
    loader.edge(pulse_ms * MS, high=False)
    return sum(loader.step(step * MS) for step in range(pulse_ms, pulse_ms + 500))


def test_the_loader_gives_a_shot_for_a_pulse() -> None:
    assert feed(Loader(LoaderSettings(fitted=True))) == 1


def test_the_loader_can_jam_and_feed_double_and_run_out() -> None:
    loader = Loader(LoaderSettings(fitted=True, jams=(1,), double_feeds=(2,), magazine=3))
    assert [feed(loader) for _ in range(4)] == [0, 2, 1, 0]


def test_a_short_pulse_or_no_loader_gives_nothing() -> None:
    assert feed(Loader(LoaderSettings(fitted=True)), pulse_ms=5) == 0
    assert feed(Loader(LoaderSettings())) == 0


def test_nominal_maps_are_those_the_controller_starts_from() -> None:
    """The defaults of rig.toml describe this mount."""
    mount, cannon = MountSettings(), Cannon()
    for us in (1000.0, 1500.0, 1800.0):
        aim = aim_of_pulses(mount, traverse_us=us, azimuth_us=us, elevation_us=us)
        off_us = us - 1500.0
        assert aim.traverse_mm == pytest.approx(
            cannon.traverse.centre_mm + off_us / cannon.traverse.us_per_mm, abs=0.05
        )
        assert aim.azimuth_rad == pytest.approx(off_us / cannon.azimuth.us_per_rad, abs=1e-4)
        assert aim.elevation_rad == pytest.approx(
            cannon.elevation.centre_rad + off_us / cannon.elevation.us_per_rad, abs=1e-4
        )
    assert mount.strip_offset_mm == cannon.strip_offset_mm
    assert mount.pivot_height_mm == cannon.muzzle_height_mm
    assert mount.barrel_length_mm == cannon.barrel_length_mm
    assert GateSettings().spacing_mm == cannon.gate_spacing_mm


def test_the_spring_gives_the_speed_that_the_controller_starts_from() -> None:
    speeds = [
        muzzle_speed_mps(SpringSettings(), dwell_s=5.0, shot_number=n, rng=np.random.default_rng(n))
        for n in range(200)
    ]
    assert np.mean(speeds) == pytest.approx(Cannon().muzzle_speed_mps, rel=0.01)


def test_a_level_barrel_points_over_the_board() -> None:
    pose = pose_of_aim(MountSettings(), Aim(100.0, 0.0, 0.0), Side.A, square_mm=45.0)
    assert pose.muzzle_mm == pytest.approx((100.0, 15.0, 50.0))
    assert pose.azimuth_rad == 0.0


def test_the_other_side_sees_the_same_turned_by_half_a_circle() -> None:
    aim = Aim(100.0, math.radians(10), math.radians(5))
    ours = pose_of_aim(MountSettings(), aim, Side.A, square_mm=45.0)
    theirs = pose_of_aim(MountSettings(), aim, Side.G, square_mm=45.0)
    assert theirs.muzzle_mm == pytest.approx(
        (360 - ours.muzzle_mm[0], 810 - ours.muzzle_mm[1], ours.muzzle_mm[2])
    )
    assert theirs.azimuth_rad == pytest.approx(ours.azimuth_rad + math.pi)
