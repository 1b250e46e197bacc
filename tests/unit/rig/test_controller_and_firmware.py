"""Controller, log and firmware together, over a bad line, with either end ending at any moment (SAFETY.md, S-1, S-4, S-12).

At most one shot an arming; no shot without its record and no record without its shot; safe whenever an end is gone; and
once all is well again a shot leaves. The first three are checked by `whole_rig` as things happen.
"""

import random
from collections import Counter
from dataclasses import fields, replace

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from whole_rig import FAULTS, QUIET, Fault, Noise, WholeRig

from rig.link import wire
from rig.log import Fired

# The same few examples in every run, or many new ones: pytest --hypothesis-profile=explore
_EXAMPLES = 10 if settings.default.derandomize else 3_000

_HARMS = tuple(field.name for field in fields(Noise))
_RATES = (0.02, 0.1, 0.3)
# Armed and firing last a few milliseconds, and matter most.
_STATES = (wire.State.ARMED, wire.State.FIRING) * 3 + (
    wire.State.HOMING,
    wire.State.READY,
    wire.State.COCKING,
    wire.State.COCKED,
    wire.State.LETTING_DOWN,
)
_SOON_US = (5_000, 60_000, 1_500_000)
_FOR_US = (0, 200, 10_000, 300_000, 1_500_000)
_FAULTS = st.builds(
    Fault,
    st.sampled_from(FAULTS),
    st.sampled_from(_STATES),
    st.one_of(*(st.integers(0, most_us) for most_us in _SOON_US)),
    st.sampled_from(_FOR_US),
)


class ControllerAndFirmware(RuleBasedStateMachine):
    @initialize(seed=st.integers(0, 1 << 32), latch_is_trigger=st.booleans())
    def build(self, seed, latch_is_trigger):
        self.rig = WholeRig(seed=seed, latch_is_trigger=latch_is_trigger)

    @rule(harm=st.sampled_from(_HARMS), rate=st.sampled_from(_RATES))
    def the_line_turns_worse(self, harm, rate):
        self.rig.table.noise = replace(self.rig.table.noise, **{harm: rate})

    @rule()
    def the_line_turns_good(self):
        self.rig.table.noise = QUIET

    @rule(faults=st.lists(_FAULTS, min_size=1, max_size=3))
    def shoot(self, faults):
        for fault in faults:
            self.rig.plan(fault)
        self.rig.shoot()

    @rule(count=st.integers(0, 600))
    def shoot_and_end_between_two_bytes(self, count):
        self.rig.start()
        self.rig.kill_after_bytes(count)
        self.rig.shoot()

    @rule(number=st.integers(0, 8))
    def shoot_and_end_while_writing_the_log(self, number):
        self.rig.start()
        self.rig.kill_in_log_write(number)
        self.rig.shoot()

    @rule(fault=_FAULTS)
    def something_goes_wrong_between_two_shots(self, fault):
        self.rig.happen(fault)
        self.rig.keep_company(fault.after_us)

    @rule(after_bytes=st.integers(0, 70), timeout_ms=st.integers(200, 300))
    def the_plug_is_pulled_while_settings_are_saved(self, after_bytes, timeout_ms):
        self.rig.save_while_supply_fails(after_bytes, timeout_ms)

    @rule(time_us=st.integers(0, 8_000_000))
    def silence(self, time_us):
        self.rig.rest(time_us)

    @rule(time_us=st.integers(0, 1_000_000))
    def company(self, time_us):
        self.rig.keep_company(time_us)

    @rule()
    def what_earlier_sessions_sent_comes_again(self):
        self.rig.old_frames_do_nothing()

    @rule()
    def the_controller_ends(self):
        self.rig.kill()

    @rule(anew=st.booleans())
    def all_is_well_again(self, anew):
        self.rig.shoots_again(anew=anew)

    @invariant()
    def the_log_tells_the_truth(self):
        if hasattr(self, "rig"):
            self.rig.check_log()

    def teardown(self):
        if hasattr(self, "rig"):
            finish(self.rig)


def finish(rig: WholeRig) -> None:
    """Whatever state that was: a shot leaves it, and then the cannon is left alone."""
    try:
        rig.shoots_again(anew=True)
        rig.ends_safe()
        rig.check_log()
    finally:
        rig.close()


TestControllerAndFirmware = ControllerAndFirmware.TestCase
TestControllerAndFirmware.settings = settings(
    max_examples=_EXAMPLES,
    stateful_step_count=12,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)


def an_evening(seed: int) -> WholeRig:
    """A shot for each thing that can go wrong, on a bad line."""
    draw = random.Random(seed)
    rig = WholeRig(seed=seed, latch_is_trigger=seed % 3 == 2)
    for what in draw.sample(FAULTS, len(FAULTS)):
        harm = draw.choice(_HARMS)
        rig.table.noise = replace(QUIET, **{harm: draw.choice(_RATES), "delay": draw.choice((0.0, 0.05))})
        # The lever is let down only where a first fault has ended the shot.
        for state in draw.sample((draw.choice(_STATES), wire.State.LETTING_DOWN), draw.randint(1, 2)):
            rig.plan(Fault(what, state, draw.randrange(draw.choice(_SOON_US)), draw.choice(_FOR_US)))
        match draw.randrange(6):
            case 0:
                rig.start()
                rig.kill_after_bytes(draw.randrange(600))
            case 1:
                rig.start()
                rig.kill_in_log_write(draw.randrange(9))
            case 2:
                rig.save_while_supply_fails(draw.randrange(70), draw.randrange(200, 300))
        rig.shoot()
        rig.check_log()
        if draw.random() < 0.2:
            rig.rest(draw.randrange(8_000_000))
        if draw.random() < 0.2:
            rig.old_frames_do_nothing()
        if draw.random() < 0.5:
            rig.mend()
    finish(rig)
    return rig


def test_every_kind_of_fault_in_every_state_has_been_met():
    """The promises hold in these evenings too, and they are evidence only because all this happened."""
    evenings = [an_evening(seed) for seed in range(7)]
    met = sum((rig.counts for rig in evenings), Counter())
    assert set().union(*(rig.table.reached for rig in evenings)) == set(wire.State) - {wire.State.SERVICE}
    for harm in _HARMS:
        assert met[harm] > 0, f"no {harm} on the line"
    for fault in FAULTS:
        assert any(name.startswith(f"{fault} in ") for name in met), f"no {fault}"
    for state in set(_STATES):
        assert any(name.endswith(f" in {state.name}") for name in met), f"nothing went wrong in {state.name}"
    told = Counter(fired for rig in evenings for fired in rig.told.values())
    assert all(told[fired] > 0 for fired in Fired)
    for what in ("killed", "supply failed in a save", "BoardReset", "Aborted", "old frames that did nothing"):
        assert met[what] > 0, f"no {what}"
