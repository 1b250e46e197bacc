"""Controller and firmware joined by a line that drops, repeats, corrupts, splits and delays bytes, and by a cable that is
pulled: a command is executed at most once however often it is sent, a fire never twice, and once the line is good
everything goes on. The firmware is the real core, built for the PC."""

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from table_top import QUIET, Noise, TableTop

from rig.link import messages, wire
from rig.link.errors import LinkError, LinkLost, Refused
from rig.link.link import Link
from rig.link.messages import Answer, Request, StateChanged

_RATES = st.sampled_from([0.0, 0.0, 0.02, 0.1, 0.4])
_SHARED = [
    messages.ReadStatus(),
    messages.Home(),
    messages.Cock(),
    messages.Load(),
    messages.LetDown(),
    messages.Arm(),
    messages.MakeSafe(),
]
_WAY_TO_ARMED = [
    (messages.MakeSafe(), None),
    (messages.Home(), wire.State.READY),
    (messages.Cock(), wire.State.COCKED),
    (messages.Load(), None),
]
_TIDY = {
    wire.Setting.LOADER_PRESENT: 1,
    wire.Setting.DRAW_SPEED_TICKS: 400,
    wire.Setting.DRAW_EASE_SPEED_TICKS: 100,
    wire.Setting.LATCH_SPEED_TICKS: 400,
}


class BadLine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.table = TableTop(seed=1)
        self.table.shots_in_loader = 1_000
        self.link = Link(self.table, self.table, session=0)
        self.token: int | None = None
        self.tokens: set[int] = set()
        self.asked = {wire.Command.LOAD: 0, wire.Command.FIRE: 0}
        self.fires_of_session: list[bytes] = []
        self.link.identify()
        for setting, value in _TIDY.items():
            self.link.ask(messages.Configure(setting, value))

    def ask(self, request: Request[Answer]) -> Answer | None:
        """Have a command executed once, refused, or lost; None for the latter two."""
        done = {wire.Command.LOAD: "loader_pulses", wire.Command.FIRE: "trigger_pulses"}.get(request.command)
        before = getattr(self.table, done) if done else 0
        if done:
            self.asked[request.command] += 1
        try:
            answer = self.link.ask(request)
        except Refused:
            assert not done or getattr(self.table, done) == before
            return None
        except LinkLost:
            assert not done or getattr(self.table, done) in {before, before + 1}
            self.begin_anew()
            return None
        assert not done or getattr(self.table, done) == before + 1
        return answer

    def begin_anew(self) -> None:
        """A lost link is found again as soon as the line is good for a moment."""
        noise, self.table.noise = self.table.noise, QUIET
        self.link.identify()
        self.token = None
        self.table.noise = noise

    def wait(self, time_us: int, state: wire.State | None = None) -> bool:
        """Keep the link alive for a while, or until a state is reached."""
        end_us = self.table.time_us + time_us
        try:
            while self.table.time_us < end_us:
                for event in self.link.wait(end_us - self.table.time_us):
                    if isinstance(event, StateChanged) and event.state is state:
                        return True
        except LinkLost:
            self.begin_anew()
        return False

    @rule(drop=_RATES, corrupt=_RATES, repeat=_RATES, delay=_RATES)
    def the_line_turns_bad(self, drop, corrupt, repeat, delay):
        self.table.noise = Noise(drop, corrupt, repeat, delay)

    @rule()
    def the_line_turns_good(self):
        self.table.noise = QUIET

    @rule(request=st.sampled_from(_SHARED))
    def ask_for_anything(self, request):
        answer = self.ask(request)
        if isinstance(answer, messages.Token):
            assert answer.token not in self.tokens
            self.tokens.add(answer.token)
            self.token = answer.token

    @rule(pulse_ticks=st.integers(2000, 4000), axis=st.sampled_from([wire.Axis.AZIMUTH, wire.Axis.ELEVATION]))
    def move(self, pulse_ticks, axis):
        self.ask(messages.Move(axis, pulse_ticks))

    @rule()
    def go_to_armed(self):
        if self.table.state in {wire.State.COCKED, wire.State.ARMED}:
            return self.ask_for_anything(messages.Arm())
        for request, state in _WAY_TO_ARMED:
            if self.ask(request) is None or not (state is None or self.wait(6_000_000, state)):
                return None
        self.wait(1_000_000)
        return self.ask_for_anything(messages.Arm())

    @rule()
    def shoot(self):
        self.go_to_armed()
        self.fire_with_the_last_token()

    @rule()
    def fire_with_the_last_token(self):
        if self.token is not None:
            written = len(self.table.written)
            self.ask(messages.Fire(self.token))
            self.fires_of_session = self.table.written[written : written + 1]

    @rule(token=st.integers(0, (1 << 32) - 1))
    def fire_with_a_token_of_ones_own_making(self, token):
        if token != self.token:
            before = self.table.trigger_pulses
            self.ask(messages.Fire(token))
            assert self.table.trigger_pulses == before

    @rule(times=st.integers(1, 5))
    def a_fire_that_was_heard_comes_again_from_somewhere(self, times):
        before = self.table.trigger_pulses
        for frame in self.fires_of_session * times:
            self.table.write(frame)
        self.table.run(30_000)
        assert self.table.trigger_pulses == before

    @rule(time_us=st.integers(0, 700_000))
    def company(self, time_us):
        self.wait(time_us)

    @rule(time_us=st.integers(0, 700_000))
    def silence(self, time_us):
        self.table.run(time_us)

    @rule()
    def stop(self):
        noise, self.table.noise = self.table.noise, QUIET
        self.link.stop()
        self.table.noise = noise
        self.table.run(130_000)  # as long as what is on the line already may take
        assert self.table.state in {wire.State.SAFE, wire.State.LETTING_DOWN}

    @rule(permission=st.sampled_from([wire.Input.ESTOP_OK, wire.Input.KEY_ON, wire.Input.LANE_CLEAR]))
    def a_permission_is_withdrawn_for_a_moment(self, permission):
        self.table.take(permission)
        self.table.run(10_000)
        assert self.table.state is not wire.State.ARMED
        self.table.give(permission)
        if permission is wire.Input.ESTOP_OK:
            self.table.take(wire.Input.KEY_ON)
            self.table.run(10_000)
            self.table.give(wire.Input.KEY_ON)
        self.table.run(10_000)

    @rule()
    def the_cable_is_pulled_and_put_back(self):
        self.table.cut = True
        self.table.run(600_000)
        assert self.table.state in {wire.State.SAFE, wire.State.LETTING_DOWN}
        self.table.cut = False

    @invariant()
    def the_trigger_is_on_in_firing_alone(self):
        assert not self.table.trigger or self.table.state is wire.State.FIRING

    @invariant()
    def nothing_was_done_more_often_than_asked(self):
        assert self.table.loader_pulses <= self.asked[wire.Command.LOAD]
        assert self.table.trigger_pulses <= min(self.asked[wire.Command.FIRE], len(self.tokens))

    def teardown(self):
        self.table.noise = QUIET
        self.table.run(130_000)
        self.link.identify()
        assert self.link.ask(messages.MakeSafe()).state is wire.State.SAFE
        self.table.run(100_000)
        assert not self.table.trigger
        assert self.table.state is wire.State.SAFE


TestBadLine = BadLine.TestCase
TestBadLine.settings = settings(
    max_examples=40,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def test_a_line_that_is_always_bad_is_given_up_and_leaves_the_cannon_safe():
    table = TableTop(seed=3)
    link = Link(table, table, session=0)
    link.identify()
    link.ask(messages.Home())
    table.noise = Noise(drop=1.0, corrupt=1.0)
    try:
        for _ in range(20):
            link.wait(500_000)
    except LinkError as error:
        assert isinstance(error, LinkLost)
    assert table.state is wire.State.SAFE
