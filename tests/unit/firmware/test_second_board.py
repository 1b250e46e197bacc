"""The core on a Nucleo-L073RZ: the binary links, and runs on an emulated chip. Issue 4: the core is portable."""

import itertools
import re
import shutil
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import pytest
from nucleo import FLASH, FLASH_BYTES, RAM, RAM_BYTES, Interrupt, Nucleo, Pwm, Reset

from rig.link import codec, messages, wire
from rig.link.wire import Axis, Board, Refusal, ResetCause, Setting, SettingsSource, State

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "firmware" / "boards" / "nucleo_l073rz"
BINARY = ROOT / "build" / "firmware" / "cannon-nucleo-l073rz.bin"
ELF = BINARY.with_suffix(".elf")
SESSION = 7

LINE_IN, LINE_OUT = ("A", 3), ("A", 2)
ESTOP, KEY, LANE = ("A", 10), ("B", 3), ("A", 9)
GATE_FIRST, GATE_SECOND = ("A", 0), ("A", 1)
DRAWN, LATCHED = ("A", 4), ("B", 0)
TRIGGER, LOADER, LAMP = ("B", 5), ("B", 6), ("A", 5)
# Of each servo: pin, its alternate function in the data sheet, timer and channel behind that.
SERVOS = {
    Axis.TRAVERSE: (("B", 4), 2, (3, 1)),
    Axis.AZIMUTH: (("C", 7), 2, (3, 2)),
    Axis.ELEVATION: (("A", 7), 5, (22, 2)),
    Axis.DRAW: (("B", 10), 2, (2, 3)),
    Axis.LATCH: (("A", 6), 5, (22, 1)),
}
# Everything permitted, lever forward, muzzle free; closed contacts read low.
AT_REST = {
    LINE_IN: True,
    ESTOP: False,
    KEY: False,
    LANE: False,
    GATE_FIRST: False,
    GATE_SECOND: False,
    DRAWN: True,
    LATCHED: True,
}
QUICK = {
    Setting.DRAW_SPEED_TICKS: 400,
    Setting.DRAW_EASE_SPEED_TICKS: 100,
    Setting.LATCH_SPEED_TICKS: 400,
    Setting.SHOT_TIMEOUT_MS: 60,
}
STOPS = {"emergency stop": ESTOP, "key": KEY, "lane": LANE}

A = TypeVar("A", bound=messages.Answer)

pytestmark = pytest.mark.skipif(
    shutil.which("arm-none-eabi-gcc") is None, reason="gcc-arm-none-eabi is not installed (setup.sh does it)"
)


@pytest.fixture(scope="module")
def binary() -> bytes:
    subprocess.run(["make", "-C", str(ROOT / "firmware"), "nucleo"], check=True, capture_output=True)
    return BINARY.read_bytes()


class Conversation:
    """A controller at the line of one board; `late`: deaf to what was said before."""

    def __init__(self, board: Nucleo, *, late: bool = False) -> None:
        self.board = board
        self.seq = 0
        self.events: dict[int, messages.Event] = {}
        self._decoder = codec.Decoder(SESSION)
        self._read = len(board.sent) if late else 0

    def frame(self, request: messages.Request[messages.Answer]) -> bytes:
        self.seq = (self.seq + 1) % 256
        return codec.encode(codec.request_frame(self.seq, request), SESSION)

    def collect(self) -> list[codec.Frame]:
        frames = []
        for item in self._decoder.feed(bytes(self.board.sent[self._read :])):
            assert isinstance(item, codec.Frame), item
            if isinstance(item.message, messages.Event):
                self.events[item.seq] = item.message
            else:
                frames.append(item)
        self._read = len(self.board.sent)
        return frames

    def answer(self) -> messages.Message:
        for _ in range(100):
            self.board.run_us(500)
            for frame in self.collect():
                if frame.seq == self.seq:
                    return frame.message
        raise AssertionError("no answer")

    def ask(self, request: messages.Request[A]) -> A:
        self.board.receive(self.frame(request))
        answer = self.answer()
        assert not isinstance(answer, messages.Refused), answer
        return answer  # type: ignore[return-value]  # the answer's type goes with the request's

    def refused(self, request: messages.Request[messages.Answer]) -> Refusal:
        self.board.receive(self.frame(request))
        answer = self.answer()
        assert isinstance(answer, messages.Refused), answer
        return answer.reason

    def identify(self) -> messages.Identity:
        return self.ask(messages.Identify(wire_version=wire.WIRE_VERSION, session=SESSION))

    def beat(self) -> State:
        return self.ask(messages.Heartbeat(event_ack=max(self.events, default=0))).state

    def wait(self, state: State) -> None:
        for _ in range(60):
            if self.beat() == state:
                return
            self.board.run_us(50_000)
        raise AssertionError(f"not {state.name} after three seconds")


@pytest.fixture
def board(binary: bytes) -> Nucleo:
    board = Nucleo(binary, dict(AT_REST))
    board.run_us(3000)
    return board


@pytest.fixture(scope="module")
def journey(binary: bytes) -> Iterator[tuple[Conversation, dict[str, object]]]:
    """Home, cock, load, arm, fire; what was seen on the way."""
    board = Nucleo(binary, dict(AT_REST))
    board.run_us(3000)
    talk = Conversation(board)
    seen: dict[str, object] = {}
    talk.identify()
    for setting, value in QUICK.items():
        talk.ask(messages.Configure(setting=setting, value=value))
    talk.ask(messages.Home())
    talk.wait(State.READY)
    seen["homed"] = {axis: board.pwm(*channel) for axis, (_, _, channel) in SERVOS.items()}
    talk.ask(messages.Cock())
    board.run_us(300_000)
    board.drive(*DRAWN, False)
    talk.beat()
    board.run_us(300_000)
    board.drive(*LATCHED, False)
    talk.wait(State.COCKED)
    board.drive(*GATE_FIRST, True)
    board.run_us(10_000)
    token = talk.ask(messages.Arm()).token
    board.run_us(1000)
    seen["lamp"] = board.level(*LAMP)
    fire = talk.frame(messages.Fire(token=token))
    # All but the flag, and then nothing but interrupts: the main loop has no part in it.
    board.receive(fire[:-1])
    board.run_us(3000)
    seen["before"] = board.level(*TRIGGER)
    board.receive(fire[-1:])
    board.hang_us(100)
    seen["after"] = board.level(*TRIGGER)
    seen["by"] = board.handled[-1]
    answer = talk.answer()
    seen["answer"] = answer
    board.drive(*GATE_FIRST, False)
    board.hang_us(900)
    board.drive(*GATE_SECOND, True)
    board.hang_us(100)
    board.drive(*GATE_SECOND, False)
    board.drive(*DRAWN, True)
    board.drive(*LATCHED, True)
    board.run_us(80_000)
    talk.collect()
    talk.beat()
    yield talk, seen


def test_vector_table_is_that_of_a_cortex_m0(binary: bytes) -> None:
    stack, *handlers = struct.unpack_from("<48I", binary)
    assert stack == RAM + RAM_BYTES
    assert all(handlers[number - 1] for number in (1, 2, 3, 15))
    used = {number for number, handler in enumerate(handlers[15:]) if handler}
    assert used == {number for number in Interrupt if number >= 0}
    for handler in filter(None, handlers):
        assert handler & 1
        assert FLASH + 48 * 4 <= handler < FLASH + len(binary)


def test_program_fits_the_first_bank_and_the_page_has_the_figures(binary: bytes) -> None:
    assert len(binary) <= FLASH_BYTES
    sizes = subprocess.run(["arm-none-eabi-size", str(ELF)], capture_output=True, text=True, check=True)
    text, data, bss = map(int, sizes.stdout.splitlines()[1].split()[:3])
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    said = {int(figure.replace(",", "")) for figure in re.findall(r"\| ([\d,]+) of ", page)}
    assert len(said) == 2
    # Rounded up, so that a change of a few bytes is none.
    assert any(text + data <= figure <= 1.1 * (text + data) for figure in said)
    assert any(data + bss <= figure <= 1.1 * (data + bss) for figure in said)


def test_no_floating_point_no_heap_no_c_library(binary: bytes) -> None:
    names = subprocess.run(["arm-none-eabi-nm", str(ELF)], capture_output=True, text=True, check=True).stdout
    assert re.search(r" reset_handler$", names, re.MULTILINE)
    assert not re.search(r" (__aeabi_[df]\w+|malloc|free|_sbrk|printf|__libc\w+)$", names, re.MULTILINE)


def test_starts_with_every_output_off_and_no_pulses(board: Nucleo) -> None:
    assert board.outputs() == {TRIGGER: False, LOADER: False, LAMP: False}
    assert not board.edges
    assert all(board.pwm(*channel) == Pwm(on=True, width_ticks=0) for _, _, channel in SERVOS.values())


def test_every_servo_is_at_a_pin_whose_function_is_its_timer(board: Nucleo) -> None:
    for pin, function, _ in SERVOS.values():
        assert board.alternate(*pin) == function


def test_line_is_at_its_pins_and_its_speed(board: Nucleo) -> None:
    assert board.alternate(*LINE_IN) == board.alternate(*LINE_OUT) == 4
    assert board.baud == pytest.approx(wire.BAUD, rel=0.01)


def test_every_input_has_its_pull_up_so_that_a_broken_wire_permits_nothing(binary: bytes) -> None:
    board = Nucleo(binary, dict.fromkeys(AT_REST, True))
    board.run_us(20_000)
    assert all(board.pulled_up(*pin) for pin in AT_REST)
    talk = Conversation(board)
    talk.identify()
    assert talk.beat() == State.SAFE
    assert talk.refused(messages.Home()) == Refusal.EMERGENCY_STOP


def test_identifies_itself(board: Nucleo) -> None:
    identity = Conversation(board).identify()
    assert identity.board == Board.NUCLEO_L073RZ
    assert identity.wire_version == wire.WIRE_VERSION
    assert identity.reset_cause == ResetCause.POWER_ON
    assert identity.settings_source == SettingsSource.FACTORY


def test_blank_eeprom_is_no_fault(board: Nucleo) -> None:
    talk = Conversation(board)
    talk.identify()
    assert talk.ask(messages.ReadStatus()).faults == frozenset()


def test_refuses_what_the_state_does_not_know(board: Nucleo) -> None:
    talk = Conversation(board)
    talk.identify()
    assert talk.refused(messages.Arm()) == Refusal.WRONG_STATE
    assert talk.refused(messages.Fire(token=1)) == Refusal.WRONG_STATE
    assert not board.edges


def test_homing_gives_every_servo_its_pulse(journey: tuple[Conversation, dict[str, object]]) -> None:
    homed = journey[1]["homed"]
    factory = {setting: wire.SETTING_LIMITS[setting].default for setting in Setting}
    assert homed == {
        Axis.TRAVERSE: Pwm(on=True, width_ticks=factory[Setting.TRAVERSE_HOME_TICKS]),
        Axis.AZIMUTH: Pwm(on=True, width_ticks=factory[Setting.AZIMUTH_HOME_TICKS]),
        Axis.ELEVATION: Pwm(on=True, width_ticks=factory[Setting.ELEVATION_HOME_TICKS]),
        Axis.DRAW: Pwm(on=True, width_ticks=factory[Setting.DRAW_REST_TICKS]),
        Axis.LATCH: Pwm(on=True, width_ticks=factory[Setting.LATCH_FREE_TICKS]),
    }


def test_fires_in_the_receive_interrupt_while_the_main_loop_stands(
    journey: tuple[Conversation, dict[str, object]],
) -> None:
    talk, seen = journey
    assert seen["lamp"] is True
    assert (seen["before"], seen["after"], seen["by"]) == (False, True, Interrupt.USART2)
    assert isinstance(seen["answer"], messages.Released)
    pulls = [edge for edge in talk.board.edges if edge[1:3] == TRIGGER]
    assert [level for *_, level in pulls] == [True, False]
    held_us = (pulls[1][0] - pulls[0][0]) / 32
    assert wire.SETTING_LIMITS[Setting.TRIGGER_HOLD_MS].default * 1000 <= held_us < 43_000


def test_shot_is_timed_from_barrier_to_barrier(journey: tuple[Conversation, dict[str, object]]) -> None:
    (shot,) = [event for event in journey[0].events.values() if isinstance(event, messages.ShotSeen)]
    assert shot.transit_ticks == pytest.approx(2000, abs=40)
    assert 0 <= shot.left_first_us - shot.released_us < 60_000


def test_events_come_without_a_gap(journey: tuple[Conversation, dict[str, object]]) -> None:
    numbers = sorted(journey[0].events)
    assert all(after == before + 1 for before, after in itertools.pairwise(numbers))


def test_stack_stays_far_from_everything_else(journey: tuple[Conversation, dict[str, object]]) -> None:
    ram = journey[0].board.ram()
    untouched = max((len(run) for run in re.findall(rb"\xa5{64,}", ram)), default=0)
    deepest = len(ram) - ram.rfind(b"\xa5" * 64) - 64
    assert untouched > len(ram) // 2
    assert deepest <= 512


def with_the_trigger_pulled(binary: bytes) -> Nucleo:
    """A board whose trigger pin was set behind the firmware's back: what drops it is seen without a lever."""
    board = Nucleo(binary, dict(AT_REST))
    board.run_us(3000)
    board.force(*TRIGGER, True)
    return board


@pytest.mark.parametrize("stop", STOPS)
def test_stop_drops_the_trigger_in_its_own_interrupt(stop: str, binary: bytes) -> None:
    board = with_the_trigger_pulled(binary)
    board.drive(*STOPS[stop], True)
    board.hang_us(20)
    assert board.level(*TRIGGER) is False


def test_stop_byte_drops_the_trigger_in_the_receive_interrupt(binary: bytes) -> None:
    board = with_the_trigger_pulled(binary)
    board.receive(bytes([wire.STOP]))
    board.hang_us(20)
    assert board.level(*TRIGGER) is False


def test_settings_survive_a_reset(board: Nucleo) -> None:
    talk = Conversation(board)
    talk.identify()
    talk.ask(messages.Configure(setting=Setting.DWELL_MS, value=12_345))
    talk.ask(messages.SaveSettings())
    for _ in range(8):
        board.run_us(40_000)
        talk.beat()
    assert any(isinstance(event, messages.SettingsSaved) for event in talk.events.values())
    board.reset(Reset.LINE)
    board.run_us(3000)
    again = Conversation(board, late=True)
    identity = again.identify()
    assert identity.settings_source == SettingsSource.STORED
    assert again.ask(messages.ReadSetting(setting=Setting.DWELL_MS)).value == 12_345


@pytest.mark.parametrize(
    ("why", "cause"),
    [
        (Reset.LINE, ResetCause.EXTERNAL),
        (Reset.WATCHDOG, ResetCause.WATCHDOG),
        (Reset.POWER_ON, ResetCause.POWER_ON),
    ],
)
def test_reset_is_told_with_its_cause_and_keeps_the_need_to_turn_the_key(
    why: Reset, cause: ResetCause, board: Nucleo
) -> None:
    """S-11: only a loss of supply forgets it."""
    board.drive(*ESTOP, True)
    board.run_us(5000)
    board.drive(*ESTOP, False)
    board.run_us(10_000)
    board.reset(why)
    board.run_us(10_000)
    talk = Conversation(board, late=True)
    assert talk.identify().reset_cause == cause
    if why == Reset.POWER_ON:
        assert talk.ask(messages.Home()).expected_ms > 0
    else:
        assert talk.refused(messages.Home()) == Refusal.KEY_NOT_CYCLED


def test_byte_that_nobody_read_in_time_is_reported(board: Nucleo) -> None:
    talk = Conversation(board)
    talk.identify()
    board.overrun()
    board.run_us(5000)
    talk.beat()
    (fault,) = [event for event in talk.events.values() if isinstance(event, messages.FaultSeen)]
    assert (fault.fault, fault.detail) == (wire.Fault.RECEIVE_OVERRUN, wire.Loss.HARDWARE)
