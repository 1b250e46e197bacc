"""The cannon's own part of `rig doctor`: its firmware, its inputs tried by hand, its axes moved a little."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from rig.cannon import Cannon, CannonError
from rig.cli.examining.examination import Examination
from rig.cli.opening.line import OpenLine, tell_left_drawn
from rig.cli.opening.twin import make_ready
from rig.cli.terminal.answers import Answers
from rig.health import INPUTS, Level, firmware_health, history_health, inputs_health
from rig.link import wire
from rig.link.errors import LinkError, NoAnswer
from rig.link.history import read_history
from rig.link.messages import ReadStatus
from rig.link.transcript import TranscriptError
from rig.sequence import State
from rig.settings import Settings
from twin import Twin

__all__ = ["CannonExamination"]

_HAND_US = 20_000_000  # a person's time to press, pull, turn
_LOOK_US = 50_000
_HELD_US = 200_000  # the twin's hands are no faster than a person's
_SHARE = 10  # an axis is moved by a tenth of its range


class CannonExamination:
    """Asks a cannon who it is, looks at its inputs, and moves what may be moved.

    Parameters
    ----------
    examination
        Takes what is found.
    settings
        All of `rig.toml`.
    line
        The open line to the cannon.
    answers
        Of the person at the table, who is asked before anything moves.
    """

    def __init__(
        self, examination: Examination, settings: Settings, line: OpenLine, answers: Answers
    ) -> None:
        self._examination = examination
        self._settings = settings
        self._line = line
        self._answers = answers
        self._cannon = Cannon(line.link, gate_spacing_mm=settings.cannon.gate_spacing_mm)

    def examine(self) -> NoAnswer | None:
        """Ask the cannon who it is, look at its inputs, and move what may be moved; where nobody answers, return that."""
        flash = self._settings.command("flash")
        with self._told("firmware", f"see to power, port and speed; or flash it: {flash}"):
            try:
                identity = self._line.link.identify()
            except NoAnswer as silent:
                return silent
            if self._line.twin is not None:
                make_ready(self._line.twin)
                self._line.link.wait(_LOOK_US)
            status = self._line.link.ask(ReadStatus())
            self._examination.all(firmware_health(identity, status))
            self._examination.all(history_health(read_history(self._line.link)))
            self._examination.all(inputs_health(status.inputs))
            self._answers.company = lambda: self._pass_time(1_000)
            held = wire.Input.LEVER_DRAWN | wire.Input.LEVER_LATCHED
            if status.inputs & held:
                if not self._answers.yes("The lever is drawn. Let it down slowly, fingers away?"):
                    self._skip("axes", "the lever is drawn")
                    return None
                with self._told(
                    "draw and latch", "ease the lever by hand, from behind; is it forward, see to A2 and A3"
                ):
                    self._cannon.connect()
                    self._cannon.configure(self._settings.cannon.firmware_values())
                if self._cannon.state is not State.SAFE:
                    # Nobody's hand goes near the muzzle of a cocked cannon.
                    tell_left_drawn(self._cannon, self._settings)
                    return None
            with self._told("inputs", "see to power and the cable; nothing is moved"):
                self._try_inputs()
                self._try_axes(muzzle_free=wire.Input.GATE_FIRST_BLOCKED not in status.inputs)
        return None

    def _pass_time(self, time_us: int) -> None:
        if self._cannon.state in {State.UNKNOWN, State.SAFE}:
            self._line.link.wait(time_us)
        else:
            self._cannon.wait(time_us)

    @contextmanager
    def _told(self, part: str, todo: str) -> Iterator[None]:
        """Tell what goes wrong as a fault of that part, and go on with the next."""
        try:
            yield
        except (LinkError, CannonError, TranscriptError) as error:
            self._examination.tell(Level.FAULT, part, str(error), todo)

    def _skip(self, part: str, why: str) -> None:
        self._examination.tell(Level.WARNING, part, f"not tried: {why}")

    def _try_inputs(self) -> None:
        for member, words in INPUTS.items():
            if not words.by_hand:
                continue
            if self._line.twin is not None and member not in _hands_of(self._line.twin):
                self._skip(words.part, "the twin's hands do not reach it")
                continue
            if not self._answers.yes(f"Try the {words.part} by hand ({words.by_hand})?"):
                self._skip(words.part, "nobody's hand was there")
                continue
            if self._follows(member):
                self._examination.tell(Level.OK, words.part, "follows the hand")
            else:
                found = f"did not change there and back within {_HAND_US / 1e6:g} s"
                self._examination.tell(Level.FAULT, words.part, found, words.todo)

    def _follows(self, member: wire.Input) -> bool:
        """Watch an input until it has changed and changed back."""
        link, clock = self._line.link, self._line.clock
        before = member in link.ask(ReadStatus()).inputs
        if self._line.twin is not None:
            _hands_of(self._line.twin)[member](not before)
        changed = False
        deadline_us = clock.now_us() + _HAND_US
        while clock.now_us() < deadline_us:
            link.wait(_LOOK_US)
            on = member in link.ask(ReadStatus()).inputs
            if changed and on is before:
                return True
            if not changed and on is not before:
                changed = True
                if self._line.twin is not None:
                    self._line.twin.run_for(_HELD_US)
                    _hands_of(self._line.twin)[member](before)
        return False

    def _try_axes(self, *, muzzle_free: bool) -> None:
        with self._told("axes", "see to what it says; nothing more is moved"):
            if not self._answers.yes(
                "Bring every axis to its centre? Servo supply on, key on, fingers away."
            ):
                self._skip("axes", "not confirmed")
                return
            self._cannon.connect()
            try:
                self._cannon.configure(self._settings.cannon.firmware_values())
                self._cannon.home()
                self._confirmed("axes", "Do all three stand at their centres, the lever at rest?", "[cannon]")
                self._try_axis("traverse", "The carriage", "to its owner's right and back", "D5")
                self._try_axis("azimuth", "The barrel", "to the right and back", "D9")
                self._try_axis("elevation", "The barrel", "up and back", "D10")
                self._try_lever(muzzle_free=muzzle_free)
                self._cannon.make_safe("examined")
            finally:
                self._cannon.leave("the examination ended")
                tell_left_drawn(self._cannon, self._settings)

    def _try_axis(self, name: str, what: str, way: str, pin: str) -> None:
        if not self._answers.yes(f"Move {name} a little?"):
            self._skip(name, "not confirmed")
            return
        cannon = self._settings.cannon
        centres_us = {each: getattr(cannon, each).centre_us for each in ("traverse", "azimuth", "elevation")}
        axis = getattr(cannon, name)
        forward = (axis.us_per_mm if name == "traverse" else axis.us_per_rad) > 0
        step_us = (axis.max_us - axis.min_us) / _SHARE * (1 if forward else -1)
        there_us = min(max(axis.centre_us + step_us, axis.min_us), axis.max_us)
        self._cannon.aim(*{**centres_us, name: there_us}.values())
        self._cannon.aim(*centres_us.values())
        self._confirmed(name, f"{what} moved {way}?", f"[cannon.{name}], or the servo's plug at {pin}")

    def _try_lever(self, *, muzzle_free: bool) -> None:
        if not muzzle_free:
            self._skip("draw and latch", "a shot sits in the muzzle")
            return
        if not self._answers.yes(
            "Draw the lever, turn it to 180 degrees and let it down? Nobody before the muzzle."
        ):
            self._skip("draw and latch", "not confirmed")
            return
        self._cannon.service()
        drawn = wire.Input.LEVER_DRAWN in self._cannon.look().inputs
        self._cannon.let_down("examined")
        if drawn:
            found = "the lever went to the breech, was seen there, and came back"
            self._examination.tell(Level.OK, "draw and latch", found)
        else:
            found = "the lever was turned, and its switch no longer says drawn"
            self._examination.tell(Level.FAULT, "draw and latch", found, "see to the switch at A2")

    def _confirmed(self, part: str, question: str, place: str) -> None:
        if self._answers.yes(question):
            self._examination.tell(Level.OK, part, "moved as asked")
        else:
            self._examination.tell(Level.FAULT, part, "was not seen to move as asked", f"see to {place}")


def _hands_of(twin: Twin) -> Mapping[wire.Input, Callable[[bool], object]]:
    """Return what the twin's hands can make on or off."""
    hands = twin.hands
    return {
        wire.Input.ESTOP_OK: lambda on: hands.release_estop() if on else hands.press_estop(),
        wire.Input.KEY_ON: hands.turn_key,
        wire.Input.LANE_CLEAR: hands.lane,
        wire.Input.GATE_FIRST_BLOCKED: lambda on: hands.load() if on else hands.unload(),
    }
