"""What controller and cannon say to each other, as values. `wire.toml` has the layouts; here they get names and types.

A request knows which answer belongs to it: `Link.ask(Arm())` is a `Token` to the type checker too. The import fails
with one sentence where a class here and its layout in `wire.toml` differ.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from enum import IntEnum, IntFlag
from types import MappingProxyType
from typing import Any, ClassVar, Final, Generic, TypeVar, get_type_hints

from rig.link import wire

__all__ = [
    "ANSWERS",
    "EVENTS",
    "REQUESTS",
    "Alive",
    "Answer",
    "Arm",
    "Begun",
    "Booted",
    "Cock",
    "Configure",
    "Event",
    "FaultSeen",
    "Fire",
    "Heartbeat",
    "HistoryEntry",
    "Home",
    "Identify",
    "Identity",
    "InputChanged",
    "LetDown",
    "Load",
    "MakeSafe",
    "Message",
    "Move",
    "MoveDone",
    "Moving",
    "ReadHistory",
    "ReadSetting",
    "ReadStatus",
    "Refused",
    "Released",
    "Request",
    "SafeNow",
    "SaveSettings",
    "Service",
    "SettingValue",
    "SettingsKept",
    "SettingsSaved",
    "ShotSeen",
    "StateChanged",
    "Status",
    "Token",
    "pack",
    "unpack",
]


class Message:
    """Anything that travels as a frame's payload."""

    __slots__ = ()


class Answer(Message):
    """What the cannon says to a request that it took."""

    __slots__ = ()


A_co = TypeVar("A_co", bound=Answer, covariant=True)


class Request(Message, Generic[A_co]):
    """What the controller asks; `A_co` is the answer that belongs to it."""

    __slots__ = ()
    command: ClassVar[wire.Command]
    """Its code on the wire."""


class Event(Message):
    """What the cannon tells unasked."""

    __slots__ = ()
    event: ClassVar[wire.Event]
    """Its code on the wire."""


# Answers


@dataclass(frozen=True, slots=True)
class Identity(Answer):
    """Who answers."""

    wire_version: int
    firmware_major: int
    firmware_minor: int
    firmware_patch: int
    board: int
    """A `wire.Board`, or a code that only another wire version knows."""
    reset_cause: int
    """Why the chip last started: a `wire.ResetCause`, or a code that only another wire version knows."""
    settings_source: int
    """A `wire.SettingsSource`, or a code that only another wire version knows."""
    settings_crc: int
    """Checksum of the settings in use."""
    time_us: int
    """The cannon's clock; 32 bits, so it starts anew every 71.6 minutes."""

    @property
    def firmware(self) -> str:
        """The firmware's version, as `0.1.0`."""
        return f"{self.firmware_major}.{self.firmware_minor}.{self.firmware_patch}"


class Moving(IntFlag):
    """What is at work: bit n is axis n, the bit after them the loader."""

    TRAVERSE = 1 << wire.Axis.TRAVERSE
    AZIMUTH = 1 << wire.Axis.AZIMUTH
    ELEVATION = 1 << wire.Axis.ELEVATION
    DRAW = 1 << wire.Axis.DRAW
    LATCH = 1 << wire.Axis.LATCH
    LOADER = 1 << len(wire.Axis)


@dataclass(frozen=True, slots=True)
class Status(Answer):
    """All there is to know."""

    state: wire.State
    cause: wire.Cause
    """Why it is in that state."""
    inputs: wire.Input
    moving: Moving
    faults: frozenset[wire.Fault]
    """Since the last home."""
    time_us: int
    cocked_ms: int
    """How long the lever has been cocked; 0 when it is not."""
    arm_left_ms: int
    """Until the arming expires; 0 when not armed."""
    shots: int
    """Shots since the chip started."""


@dataclass(frozen=True, slots=True)
class Alive(Answer):
    """Answer to a heartbeat."""

    state: wire.State
    inputs: wire.Input
    time_us: int


@dataclass(frozen=True, slots=True)
class SettingValue(Answer):
    """A setting as it now is."""

    setting: wire.Setting
    value: int


@dataclass(frozen=True, slots=True)
class SettingsKept(Answer):
    """The settings are on their way into EEPROM."""

    settings_crc: int


@dataclass(frozen=True, slots=True)
class Begun(Answer):
    """The work has begun."""

    expected_ms: int
    """How long it should take."""


@dataclass(frozen=True, slots=True)
class Token(Answer):
    """Armed: good for one fire."""

    token: int
    expires_ms: int


@dataclass(frozen=True, slots=True)
class Released(Answer):
    """The trigger was energised."""

    released_us: int
    """When, on the cannon's clock."""


@dataclass(frozen=True, slots=True)
class SafeNow(Answer):
    """The cannon was made safe."""

    state: wire.State


@dataclass(frozen=True, slots=True)
class HistoryEntry(Answer):
    """One of the last things worth knowing; kept over every reset but a loss of supply."""

    newest: int
    """Number of the newest entry there is."""
    kind: wire.HistoryKind
    code: int
    """A `wire.ResetCause`, `wire.Refusal`, `wire.Fault` or `wire.Cause`, as the kind says."""
    about: int
    """The `wire.Command` refused; the `wire.State` at a fault, or before a change."""
    detail: int
    """As the refusal's or the fault's; the `wire.State` after a change."""
    time_us: int
    """On the cannon's clock, which each reset sets to zero."""


@dataclass(frozen=True, slots=True)
class Refused(Message):
    """The cannon will not; nothing was done."""

    reason: wire.Refusal
    detail: int
    """What the reason is about, where it is about something; 0 otherwise."""


# Requests


@dataclass(frozen=True, slots=True)
class Identify(Request[Identity]):
    """Who are you? The layout holds for every wire version."""

    command = wire.Command.IDENTIFY
    wire_version: int
    session: int
    """Tells this run of the controller from the one before."""


@dataclass(frozen=True, slots=True)
class ReadStatus(Request[Status]):
    """Ask for everything."""

    command = wire.Command.STATUS


@dataclass(frozen=True, slots=True)
class Heartbeat(Request[Alive]):
    """I am here."""

    command = wire.Command.HEARTBEAT
    event_ack: int
    """Number of the last event that was seen with all before it; 0 before the first."""


@dataclass(frozen=True, slots=True)
class Configure(Request[SettingValue]):
    """Set one setting in RAM; only in safe."""

    command = wire.Command.CONFIGURE
    setting: wire.Setting
    value: int


@dataclass(frozen=True, slots=True)
class ReadSetting(Request[SettingValue]):
    """Read one setting."""

    command = wire.Command.READ_SETTING
    setting: wire.Setting


@dataclass(frozen=True, slots=True)
class SaveSettings(Request[SettingsKept]):
    """Keep the settings in EEPROM; `SettingsSaved` tells when that is done."""

    command = wire.Command.SAVE_SETTINGS


@dataclass(frozen=True, slots=True)
class Home(Request[Begun]):
    """Leave safe: bring every axis to its home."""

    command = wire.Command.HOME


@dataclass(frozen=True, slots=True)
class Move(Request[Begun]):
    """Move traverse, azimuth or elevation; `MoveDone` tells when it is there."""

    command = wire.Command.MOVE
    axis: wire.Axis
    pulse_ticks: int
    """Servo pulse, 0.5 us each."""


@dataclass(frozen=True, slots=True)
class Cock(Request[Begun]):
    """Draw the lever, latch it, let the draw go back."""

    command = wire.Command.COCK


@dataclass(frozen=True, slots=True)
class Load(Request[Begun]):
    """Let the automatic loader give one shot."""

    command = wire.Command.LOAD


@dataclass(frozen=True, slots=True)
class LetDown(Request[Begun]):
    """Uncock without firing."""

    command = wire.Command.LET_DOWN


@dataclass(frozen=True, slots=True)
class Arm(Request[Token]):
    """Arm, for one fire and a short time."""

    command = wire.Command.ARM


@dataclass(frozen=True, slots=True)
class Fire(Request[Released]):
    """Fire, with the token of this arming."""

    command = wire.Command.FIRE
    token: int


@dataclass(frozen=True, slots=True)
class MakeSafe(Request[SafeNow]):
    """Make safe, now."""

    command = wire.Command.SAFE


@dataclass(frozen=True, slots=True)
class Service(Request[Begun]):
    """Lubrication: draw the lever and turn it to 180 degrees."""

    command = wire.Command.SERVICE


@dataclass(frozen=True, slots=True)
class ReadHistory(Request[HistoryEntry]):
    """Read one entry of the history."""

    command = wire.Command.READ_HISTORY
    number: int
    """Which one; numbers go up by one, modulo 65536."""


# Events


@dataclass(frozen=True, slots=True)
class Booted(Event):
    """The chip has started."""

    event = wire.Event.BOOTED
    reset_cause: wire.ResetCause
    wire_version: int


@dataclass(frozen=True, slots=True)
class StateChanged(Event):
    """The state changed."""

    event = wire.Event.STATE_CHANGED
    state: wire.State
    previous: wire.State
    cause: wire.Cause
    time_us: int


@dataclass(frozen=True, slots=True)
class ShotSeen(Event):
    """The shot passed the muzzle gate."""

    event = wire.Event.SHOT_SEEN
    released_us: int
    """Trigger energised."""
    left_first_us: int
    """The first barrier fell free."""
    transit_ticks: int
    """From there to the second barrier, 0.5 us each; 65535 where it was that or longer."""


@dataclass(frozen=True, slots=True)
class MoveDone(Event):
    """An axis is where it was asked to go."""

    event = wire.Event.MOVE_DONE
    axis: wire.Axis
    pulse_ticks: int


@dataclass(frozen=True, slots=True)
class FaultSeen(Event):
    """Something is wrong."""

    event = wire.Event.FAULT
    fault: wire.Fault
    detail: int


@dataclass(frozen=True, slots=True)
class InputChanged(Event):
    """An input changed, bouncing over."""

    event = wire.Event.INPUT_CHANGED
    inputs: wire.Input
    time_us: int


@dataclass(frozen=True, slots=True)
class SettingsSaved(Event):
    """The settings are in EEPROM."""

    event = wire.Event.SETTINGS_SAVED
    settings_crc: int


REQUESTS: Final[Mapping[wire.Command, type[Request[Answer]]]] = MappingProxyType(
    {
        request.command: request
        for request in (
            Identify, ReadStatus, Heartbeat, Configure, ReadSetting, SaveSettings, Home, Move, Cock, Load,
            LetDown, Arm, Fire, MakeSafe, Service, ReadHistory,
        )
    }
)  # fmt: skip
"""The class of every command."""

ANSWERS: Final[Mapping[wire.Command, type[Answer]]] = MappingProxyType(
    {
        wire.Command.IDENTIFY: Identity,
        wire.Command.STATUS: Status,
        wire.Command.HEARTBEAT: Alive,
        wire.Command.CONFIGURE: SettingValue,
        wire.Command.READ_SETTING: SettingValue,
        wire.Command.SAVE_SETTINGS: SettingsKept,
        wire.Command.HOME: Begun,
        wire.Command.MOVE: Begun,
        wire.Command.COCK: Begun,
        wire.Command.LOAD: Begun,
        wire.Command.LET_DOWN: Begun,
        wire.Command.ARM: Token,
        wire.Command.FIRE: Released,
        wire.Command.SAFE: SafeNow,
        wire.Command.SERVICE: Begun,
        wire.Command.READ_HISTORY: HistoryEntry,
    }
)
"""The class of every command's answer."""

EVENTS: Final[Mapping[wire.Event, type[Event]]] = MappingProxyType(
    {
        event.event: event
        for event in (Booted, StateChanged, ShotSeen, MoveDone, FaultSeen, InputChanged, SettingsSaved)
    }
)
"""The class of every event."""


def _faults(bits: int) -> frozenset[wire.Fault]:
    faults = frozenset(fault for fault in wire.Fault if bits & fault.mask)
    if bits != sum(fault.mask for fault in faults):
        raise ValueError(f"{bits:#x} has bits that are no fault")
    return faults


def _reader(kind: Any) -> Callable[[int], Any]:
    if kind == frozenset[wire.Fault]:
        return _faults
    if isinstance(kind, type) and issubclass(kind, (IntEnum, IntFlag)):
        return kind
    return int


def _writer(kind: Any) -> Callable[[Any], int]:
    if kind == frozenset[wire.Fault]:
        return lambda faults: sum(fault.mask for fault in faults)
    return int


@dataclass(frozen=True, slots=True)
class _Form:
    """How the fields of a class become those of its layout and back."""

    readers: Mapping[str, Callable[[int], Any]]
    writers: Mapping[str, Callable[[Any], int]]


def _form(message: type[Message], layout: wire.Layout) -> _Form:
    hints = get_type_hints(message)
    names = tuple(field.name for field in fields(message))  # type: ignore[arg-type]
    if names != layout.names:
        raise wire.WireDescriptionError(
            f"wire.toml: {layout.where} has the fields {', '.join(layout.names) or 'none'}; "
            f"{message.__name__} has {', '.join(names) or 'none'}"
        )
    return _Form(
        {name: _reader(hints[name]) for name in names}, {name: _writer(hints[name]) for name in names}
    )


def _forms() -> Mapping[type[Message], _Form]:
    forms: dict[type[Message], _Form] = {Refused: _form(Refused, wire.REFUSAL_LAYOUT)}
    for command, layout in wire.COMMAND_LAYOUTS.items():
        forms[REQUESTS[command]] = _form(REQUESTS[command], layout.payload)
        forms[ANSWERS[command]] = _form(ANSWERS[command], layout.answer)
    for event, event_layout in wire.EVENT_LAYOUTS.items():
        forms[EVENTS[event]] = _form(EVENTS[event], event_layout)
    return MappingProxyType(forms)


_FORMS: Final = _forms()


def pack(message: Message, layout: wire.Layout) -> bytes:
    """Return a message's payload.

    Raises
    ------
    ValueError
        Where a value does not fit its field.
    """
    writers = _FORMS[type(message)].writers
    return layout.pack({name: write(getattr(message, name)) for name, write in writers.items()})


def unpack(kind: type[Message], payload: bytes, layout: wire.Layout) -> Message:
    """Return the message in a payload.

    Raises
    ------
    ValueError
        Where the length is wrong, or a code has no meaning.
    """
    readers = _FORMS[kind].readers
    values = layout.unpack(payload)
    return kind(**{name: read(values[name]) for name, read in readers.items()})
