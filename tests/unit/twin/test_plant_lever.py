"""The lever's mechanics, with the two servos driven straight from here."""

from dataclasses import dataclass, field

import pytest

from twin.chip import CHIP_HZ
from twin.plant import Lever, LeverSettings, Released, Servo, ServoSettings
from twin.spring import SpringSettings

REST, BREECH = 1000.0, 2000.0
FREE, HELD, LUBRICATE = 1000.0, 1500.0, 2000.0
MS = CHIP_HZ // 1000


@dataclass
class Bench:
    settings: LeverSettings = field(default_factory=LeverSettings)
    draw_us: float = REST
    latch_us: float = FREE
    cycle: int = 0
    released: list[Released] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.draw = Servo(ServoSettings(start_us=REST))
        self.latch = Servo(ServoSettings(start_us=FREE))
        self.lever = Lever(self.settings, SpringSettings(), self.draw, self.latch, chip_hz=CHIP_HZ)
        self.pulses = True

    def run(self, ms: int, *, draw: float | None = None, latch: float | None = None) -> None:
        self.draw_us = draw or self.draw_us
        self.latch_us = latch or self.latch_us
        for _ in range(ms):
            if self.pulses and self.cycle % (20 * MS) == 0:
                for servo, width_us in ((self.draw, self.draw_us), (self.latch, self.latch_us)):
                    servo.edge(self.cycle, high=True)
                    servo.edge(self.cycle + round(width_us * 16), high=False)
            self.cycle += MS
            released = self.lever.step(self.cycle, 1e-3)
            if released:
                self.released.append(released)

    def cock(self) -> None:
        self.run(1000, draw=BREECH)
        self.run(400, latch=HELD)
        self.run(1000, draw=REST)


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_drawn_and_turned_it_is_held_and_the_hook_goes_back(bench: Bench) -> None:
    bench.cock()
    assert bench.lever.held
    assert bench.lever.at_breech
    assert bench.lever.hook_mm < 0.1
    assert bench.released == []


def test_a_weak_draw_servo_does_not_reach_the_breech() -> None:
    bench = Bench(LeverSettings(draw_stall_kgf=3.0))
    bench.cock()
    assert not bench.lever.held
    bench.run(3000, draw=BREECH)
    assert 8.0 < bench.lever.position_mm < 8.7


def test_the_solenoid_frees_it_after_its_delay(bench: Bench) -> None:
    bench.cock()
    at = bench.cycle
    bench.lever.solenoid_edge(at, high=True)
    bench.run(20)
    bench.lever.solenoid_edge(bench.cycle, high=False)
    (released,) = bench.released
    assert released.struck_shot
    assert released.cycle == at + 6 * MS + bench.lever.run_cycles
    assert released.dwell_s == pytest.approx(1.1, abs=0.3)
    assert bench.lever.position_mm < 0.5


def test_a_short_pulse_of_the_solenoid_does_nothing(bench: Bench) -> None:
    bench.cock()
    bench.lever.solenoid_edge(bench.cycle, high=True)
    bench.run(4)
    bench.lever.solenoid_edge(bench.cycle, high=False)
    bench.run(100)
    assert bench.lever.held


@pytest.mark.parametrize(("lasts_us", "frees"), [(5_900, False), (6_000, True), (6_400, True)])
def test_a_pulse_of_the_solenoid_counts_by_its_length_wherever_the_steps_lie(
    bench: Bench, lasts_us: int, frees: bool
) -> None:
    bench.cock()
    begin = bench.cycle + MS // 2
    end = begin + lasts_us * MS // 1000
    bench.lever.solenoid_edge(begin, high=True)
    bench.run((end - bench.cycle) // MS)
    bench.lever.solenoid_edge(end, high=False)
    bench.run(100)
    assert [released.cycle for released in bench.released] == [
        begin + 6 * MS + bench.lever.run_cycles
    ] * frees


def test_a_pulse_of_the_solenoid_that_has_ended_frees_no_lever_that_is_cocked_later(bench: Bench) -> None:
    bench.cock()
    bench.lever.solenoid_edge(bench.cycle, high=True)
    bench.run(20)
    bench.lever.solenoid_edge(bench.cycle, high=False)
    bench.run(400, latch=FREE)
    bench.released.clear()
    bench.cock()
    bench.run(100)
    assert bench.lever.held
    assert bench.released == []


def test_a_dead_solenoid_does_nothing() -> None:
    bench = Bench(LeverSettings(solenoid_works=False))
    bench.cock()
    bench.lever.solenoid_edge(bench.cycle, high=True)
    bench.run(100)
    assert bench.lever.held


def test_turning_the_latch_free_without_the_draw_fires(bench: Bench) -> None:
    bench.cock()
    bench.run(400, latch=FREE)
    (released,) = bench.released
    assert released.struck_shot


def test_turning_the_latch_free_with_the_draw_behind_it_lets_down(bench: Bench) -> None:
    bench.cock()
    bench.run(1000, draw=BREECH)
    bench.run(400, latch=FREE)
    assert bench.released == []
    assert not bench.lever.held
    assert bench.lever.at_breech
    bench.run(1000, draw=REST)
    assert bench.lever.position_mm < 0.1


def test_a_hook_halfway_catches_the_lever_without_a_shot(bench: Bench) -> None:
    bench.cock()
    bench.run(1000, draw=1500.0)
    bench.run(400, latch=FREE)
    (released,) = bench.released
    assert not released.struck_shot
    assert 4.5 < bench.lever.position_mm < 5.7


def test_a_latch_turned_too_early_does_not_let_the_lever_in(bench: Bench) -> None:
    bench.run(500, latch=HELD)
    bench.run(2000, draw=BREECH)
    assert not bench.lever.at_breech
    assert not bench.lever.held


def test_turned_to_180_degrees_the_solenoid_cannot_free_it(bench: Bench) -> None:
    bench.run(1000, draw=BREECH)
    bench.run(600, latch=LUBRICATE)
    bench.lever.solenoid_edge(bench.cycle, high=True)
    bench.run(100)
    assert bench.lever.held


def test_drawn_and_limp_the_spring_pulls_the_hook_forward(bench: Bench) -> None:
    bench.run(1000, draw=BREECH)
    bench.pulses = False
    bench.run(1000)
    assert bench.lever.position_mm < 3.0
    assert bench.released == []


def test_held_and_limp_the_lever_stays(bench: Bench) -> None:
    bench.cock()
    bench.pulses = False
    bench.run(2000)
    assert bench.lever.held
