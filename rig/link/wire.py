"""The wire between controller and cannon, read from ``wire.toml`` into typed values.

``wire.toml`` is the only place where a code, a layout or a limit is written down. The enumerations below name the
members so that a type checker knows them; their values come from the file, and the import fails with one sentence
when a name here and a name there do not match. The firmware's header is printed from the same values by
:mod:`rig.link.wire_header`.
"""

import struct
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum, IntFlag
from importlib import resources
from types import MappingProxyType
from typing import Any, Final

__all__ = [
    "ANSWER_OFFSET",
    "BAUD",
    "BAUDS",
    "COMMAND_LAYOUTS",
    "ESCAPE",
    "ESCAPE_XOR",
    "EVENT_LAYOUTS",
    "EVENT_RESEND_MS",
    "FLAG",
    "HEARTBEAT_TIMEOUT_MS",
    "HISTORY_ENTRIES",
    "LONGEST_PAYLOAD",
    "REFUSAL_LAYOUT",
    "REFUSAL_TYPE",
    "SETTING_LIMITS",
    "STOP",
    "WIRE_VERSION",
    "Axis",
    "Board",
    "Cause",
    "Command",
    "CommandLayout",
    "Event",
    "Fault",
    "HistoryKind",
    "Input",
    "Layout",
    "Loss",
    "Refusal",
    "ResetCause",
    "Setting",
    "SettingLimits",
    "SettingsSource",
    "State",
    "WireDescriptionError",
    "says",
]


class WireDescriptionError(ValueError):
    """``wire.toml`` does not fit the code: one sentence says what and where."""


def _read_description() -> dict[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath("wire.toml").read_text(encoding="utf-8"))


_WIRE: Final = _read_description()


def _code(section: str, name: str, key: str = "code") -> int:
    try:
        return int(_WIRE[section][name][key])
    except KeyError:
        raise WireDescriptionError(f"wire.toml: [{section}] has no {key} for {name!r}") from None


WIRE_VERSION: Final = int(_WIRE["wire_version"])
"""Version of everything in this file; firmware and controller must agree on it."""
FLAG: Final = int(_WIRE["flag"])
"""The byte that ends every frame."""
ESCAPE: Final = int(_WIRE["escape"])
"""The byte that announces an escaped one."""
STOP: Final = int(_WIRE["stop"])
"""The bare byte that makes the cannon safe, in the middle of a frame too."""
ESCAPE_XOR: Final = int(_WIRE["escape_xor"])
"""What an escaped byte is XORed with."""
HISTORY_ENTRIES: Final = int(_WIRE["history_entries"])
"""So many entries the history holds; the next one takes the place of the oldest."""
LONGEST_PAYLOAD: Final = int(_WIRE["longest_payload"])
"""Bytes of the longest payload of any frame."""
BAUD: Final = int(_WIRE["baud"])
"""Speed of the line, 8 data bits, no parity, one stop bit, as the firmware is usually built."""
BAUDS: Final = tuple(int(baud) for baud in _WIRE["bauds"])
"""Speeds that the firmware may be built for."""
EVENT_RESEND_MS: Final = int(_WIRE["event_resend_ms"])
"""An event without acknowledgement is sent again after this time."""
HEARTBEAT_TIMEOUT_MS: Final = int(_WIRE["heartbeat_timeout_ms"])
"""A controller not heard for this long is taken for dead."""
ANSWER_OFFSET: Final = int(_WIRE["answer_offset"])
"""Type of an answer minus type of its command."""
REFUSAL_TYPE: Final = int(_WIRE["refusal"]["type"])
"""Type of a refusal, whatever the command."""


class Command(IntEnum):
    """What the controller may ask; the value is the frame's type."""

    IDENTIFY = _code("commands", "identify", "type")
    STATUS = _code("commands", "status", "type")
    HEARTBEAT = _code("commands", "heartbeat", "type")
    CONFIGURE = _code("commands", "configure", "type")
    READ_SETTING = _code("commands", "read_setting", "type")
    SAVE_SETTINGS = _code("commands", "save_settings", "type")
    HOME = _code("commands", "home", "type")
    MOVE = _code("commands", "move", "type")
    COCK = _code("commands", "cock", "type")
    LOAD = _code("commands", "load", "type")
    LET_DOWN = _code("commands", "let_down", "type")
    ARM = _code("commands", "arm", "type")
    FIRE = _code("commands", "fire", "type")
    SAFE = _code("commands", "safe", "type")
    SERVICE = _code("commands", "service", "type")
    READ_HISTORY = _code("commands", "read_history", "type")


class Event(IntEnum):
    """What the cannon tells unasked; the value is the frame's type."""

    BOOTED = _code("events", "booted", "type")
    STATE_CHANGED = _code("events", "state_changed", "type")
    SHOT_SEEN = _code("events", "shot_seen", "type")
    MOVE_DONE = _code("events", "move_done", "type")
    FAULT = _code("events", "fault", "type")
    INPUT_CHANGED = _code("events", "input_changed", "type")
    SETTINGS_SAVED = _code("events", "settings_saved", "type")


class State(IntEnum):
    """The firmware's states."""

    SAFE = _code("states", "safe")
    HOMING = _code("states", "homing")
    READY = _code("states", "ready")
    COCKING = _code("states", "cocking")
    COCKED = _code("states", "cocked")
    ARMED = _code("states", "armed")
    FIRING = _code("states", "firing")
    LETTING_DOWN = _code("states", "letting_down")
    SERVICE = _code("states", "service")


class Cause(IntEnum):
    """Why the state changed."""

    RESET = _code("causes", "reset")
    COMMAND = _code("causes", "command")
    STOP_BYTE = _code("causes", "stop_byte")
    DONE = _code("causes", "done")
    EMERGENCY_STOP = _code("causes", "emergency_stop")
    KEY_OFF = _code("causes", "key_off")
    LANE_NOT_CLEAR = _code("causes", "lane_not_clear")
    HEARTBEAT_LOST = _code("causes", "heartbeat_lost")
    ARM_EXPIRED = _code("causes", "arm_expired")
    DWELL_EXPIRED = _code("causes", "dwell_expired")
    BAD_TOKEN = _code("causes", "bad_token")
    SHOT_SEEN = _code("causes", "shot_seen")
    SHOT_NOT_SEEN = _code("causes", "shot_not_seen")
    TIMED_OUT = _code("causes", "timed_out")
    LATCH_LOST = _code("causes", "latch_lost")
    LOAD_LOST = _code("causes", "load_lost")
    HOLD_EXPIRED = _code("causes", "hold_expired")


class Refusal(IntEnum):
    """Why a command was refused."""

    UNKNOWN_COMMAND = _code("refusals", "unknown_command")
    BAD_LENGTH = _code("refusals", "bad_length")
    OUT_OF_SEQUENCE = _code("refusals", "out_of_sequence")
    NOT_IDENTIFIED = _code("refusals", "not_identified")
    WIRE_VERSION = _code("refusals", "wire_version")
    WRONG_STATE = _code("refusals", "wrong_state")
    BAD_VALUE = _code("refusals", "bad_value")
    EMERGENCY_STOP = _code("refusals", "emergency_stop")
    KEY_OFF = _code("refusals", "key_off")
    KEY_NOT_CYCLED = _code("refusals", "key_not_cycled")
    LANE_NOT_CLEAR = _code("refusals", "lane_not_clear")
    NOT_LOADED = _code("refusals", "not_loaded")
    MUZZLE_BLOCKED = _code("refusals", "muzzle_blocked")
    NOT_LATCHED = _code("refusals", "not_latched")
    AXIS_MOVING = _code("refusals", "axis_moving")
    AXIS_RESERVED = _code("refusals", "axis_reserved")
    BAD_TOKEN = _code("refusals", "bad_token")
    ALREADY_LOADED = _code("refusals", "already_loaded")
    NO_LOADER = _code("refusals", "no_loader")
    LEVER_DRAWN = _code("refusals", "lever_drawn")
    BUSY = _code("refusals", "busy")
    OVERTAKEN = _code("refusals", "overtaken")
    LOADING = _code("refusals", "loading")
    INPUT_CHANGED = _code("refusals", "input_changed")


class Fault(IntEnum):
    """What went wrong; in ``status.faults`` a fault is the bit ``code - 1``."""

    SETTINGS_CORRUPT = _code("faults", "settings_corrupt")
    DRAW_TIMEOUT = _code("faults", "draw_timeout")
    LATCH_TIMEOUT = _code("faults", "latch_timeout")
    RELEASE_TIMEOUT = _code("faults", "release_timeout")
    SHOT_NOT_SEEN = _code("faults", "shot_not_seen")
    LET_DOWN_FAILED = _code("faults", "let_down_failed")
    LOAD_TIMEOUT = _code("faults", "load_timeout")
    RECEIVE_OVERRUN = _code("faults", "receive_overrun")
    STUCK_GATE = _code("faults", "stuck_gate")
    WATCHDOG = _code("faults", "watchdog")
    BROWN_OUT = _code("faults", "brown_out")
    HOME_TIMEOUT = _code("faults", "home_timeout")

    @property
    def mask(self) -> int:
        """The fault's bit in ``status.faults``."""
        return 1 << (self - 1)


class HistoryKind(IntEnum):
    """What an entry of the history is about."""

    MISSING = _code("history_kinds", "missing")
    RESET = _code("history_kinds", "reset")
    REFUSED = _code("history_kinds", "refused")
    FAULT = _code("history_kinds", "fault")
    CHANGED = _code("history_kinds", "changed")


class Loss(IntFlag):
    """How bytes from the controller were lost: the detail of the fault ``receive_overrun``."""

    HARDWARE = 1 << _code("losses", "hardware", "bit")
    QUEUE = 1 << _code("losses", "queue", "bit")
    FRAMING = 1 << _code("losses", "framing", "bit")


class ResetCause(IntEnum):
    """Why the chip started."""

    POWER_ON = _code("reset_causes", "power_on")
    EXTERNAL = _code("reset_causes", "external")
    BROWN_OUT = _code("reset_causes", "brown_out")
    WATCHDOG = _code("reset_causes", "watchdog")


class Board(IntEnum):
    """What the firmware runs on."""

    UNO = _code("boards", "uno")
    HOST = _code("boards", "host")
    NUCLEO_L073RZ = _code("boards", "nucleo_l073rz")


class SettingsSource(IntEnum):
    """Where the settings in use came from."""

    FACTORY = _code("settings_sources", "factory")
    STORED = _code("settings_sources", "stored")


class Axis(IntEnum):
    """The five servo axes; in ``status.moving`` an axis is the bit ``1 << code``."""

    TRAVERSE = _code("axes", "traverse")
    AZIMUTH = _code("axes", "azimuth")
    ELEVATION = _code("axes", "elevation")
    DRAW = _code("axes", "draw")
    LATCH = _code("axes", "latch")


class Input(IntFlag):
    """The cannon's inputs as ``inputs`` carries them; set means what the name says."""

    ESTOP_OK = 1 << _code("inputs", "estop_ok", "bit")
    KEY_ON = 1 << _code("inputs", "key_on", "bit")
    LEVER_DRAWN = 1 << _code("inputs", "lever_drawn", "bit")
    LEVER_LATCHED = 1 << _code("inputs", "lever_latched", "bit")
    GATE_FIRST_BLOCKED = 1 << _code("inputs", "gate_first_blocked", "bit")
    GATE_SECOND_BLOCKED = 1 << _code("inputs", "gate_second_blocked", "bit")
    LANE_CLEAR = 1 << _code("inputs", "lane_clear", "bit")


class Setting(IntEnum):
    """A setting's code; :data:`SETTING_LIMITS` has its range."""

    TRAVERSE_MIN_TICKS = _code("settings", "traverse_min_ticks")
    TRAVERSE_MAX_TICKS = _code("settings", "traverse_max_ticks")
    TRAVERSE_HOME_TICKS = _code("settings", "traverse_home_ticks")
    TRAVERSE_SPEED_TICKS = _code("settings", "traverse_speed_ticks")
    AZIMUTH_MIN_TICKS = _code("settings", "azimuth_min_ticks")
    AZIMUTH_MAX_TICKS = _code("settings", "azimuth_max_ticks")
    AZIMUTH_HOME_TICKS = _code("settings", "azimuth_home_ticks")
    AZIMUTH_SPEED_TICKS = _code("settings", "azimuth_speed_ticks")
    ELEVATION_MIN_TICKS = _code("settings", "elevation_min_ticks")
    ELEVATION_MAX_TICKS = _code("settings", "elevation_max_ticks")
    ELEVATION_HOME_TICKS = _code("settings", "elevation_home_ticks")
    ELEVATION_SPEED_TICKS = _code("settings", "elevation_speed_ticks")
    DRAW_REST_TICKS = _code("settings", "draw_rest_ticks")
    DRAW_BREECH_TICKS = _code("settings", "draw_breech_ticks")
    DRAW_SPEED_TICKS = _code("settings", "draw_speed_ticks")
    DRAW_EASE_SPEED_TICKS = _code("settings", "draw_ease_speed_ticks")
    LATCH_FREE_TICKS = _code("settings", "latch_free_ticks")
    LATCH_HELD_TICKS = _code("settings", "latch_held_ticks")
    LATCH_LUBRICATE_TICKS = _code("settings", "latch_lubricate_ticks")
    LATCH_SPEED_TICKS = _code("settings", "latch_speed_ticks")
    TRIGGER_KIND = _code("settings", "trigger_kind")
    TRIGGER_HOLD_MS = _code("settings", "trigger_hold_ms")
    COCK_TIMEOUT_MS = _code("settings", "cock_timeout_ms")
    LET_DOWN_TIMEOUT_MS = _code("settings", "let_down_timeout_ms")
    DWELL_MS = _code("settings", "dwell_ms")
    ARM_EXPIRES_MS = _code("settings", "arm_expires_ms")
    SHOT_TIMEOUT_MS = _code("settings", "shot_timeout_ms")
    LOADER_PRESENT = _code("settings", "loader_present")
    LOADER_HOLD_MS = _code("settings", "loader_hold_ms")


_SECTIONS: Final[Mapping[type[IntEnum] | type[IntFlag], str]] = {
    Command: "commands",
    Event: "events",
    State: "states",
    Cause: "causes",
    Refusal: "refusals",
    Fault: "faults",
    HistoryKind: "history_kinds",
    Loss: "losses",
    ResetCause: "reset_causes",
    Board: "boards",
    SettingsSource: "settings_sources",
    Axis: "axes",
    Input: "inputs",
    Setting: "settings",
}


def _check_names() -> None:
    for enumeration, section in _SECTIONS.items():
        named = set(enumeration.__members__)
        described = {name.upper() for name in _WIRE[section]}
        if named != described:
            raise WireDescriptionError(
                f"wire.toml: [{section}] and rig.link.wire.{enumeration.__name__} differ in "
                f"{', '.join(sorted(named ^ described))}"
            )
        if len(list(enumeration)) != len(named):
            raise WireDescriptionError(f"wire.toml: [{section}] gives one code to two names")


_check_names()


def says(
    member: Command
    | Event
    | State
    | Cause
    | Refusal
    | Fault
    | HistoryKind
    | Loss
    | ResetCause
    | Board
    | SettingsSource
    | Axis
    | Input
    | Setting,
) -> str:
    """Return the sentence that ``wire.toml`` has for a member; "" for a setting whose name says all.

    Examples
    --------
    >>> says(Refusal.LANE_NOT_CLEAR)
    'the lane is not clear'
    """
    name = member.name
    if name is None or name not in type(member).__members__:
        raise ValueError(f"{member!r} is more than one input; ask for each by itself")
    return str(_WIRE[_SECTIONS[type(member)]][name.lower()].get("says", ""))


_FORMATS: Final = {"u8": "B", "u16": "H", "u32": "I"}


@dataclass(frozen=True, slots=True)
class Layout:
    """The fields of a payload, little-endian and unsigned, in the order of the wire.

    Examples
    --------
    >>> layout = Layout.parse("example", ["axis:u8", "pulse_ticks:u16"])
    >>> layout.pack({"axis": 1, "pulse_ticks": 3000}).hex()
    '01b80b'
    >>> dict(layout.unpack(bytes.fromhex("01b80b")))
    {'axis': 1, 'pulse_ticks': 3000}
    """

    where: str
    """What the layout belongs to, for messages."""
    names: tuple[str, ...]
    """Field names."""
    kinds: tuple[str, ...]
    """``u8``, ``u16`` or ``u32`` for each field."""
    _struct: struct.Struct = field(repr=False, compare=False)

    @classmethod
    def parse(cls, where: str, fields: Iterable[str]) -> "Layout":
        """Build a layout from ``name:kind`` texts."""
        pairs = [text.partition(":") for text in fields]
        for name, _, kind in pairs:
            if kind not in _FORMATS:
                raise WireDescriptionError(
                    f"wire.toml: {where}: field {name!r} has kind {kind!r}, expected u8, u16 or u32"
                )
        names = tuple(name for name, _, _ in pairs)
        kinds = tuple(kind for _, _, kind in pairs)
        return cls(where, names, kinds, struct.Struct("<" + "".join(_FORMATS[kind] for kind in kinds)))

    @property
    def size(self) -> int:
        """Bytes of the payload."""
        return self._struct.size

    def pack(self, values: Mapping[str, int]) -> bytes:
        """Return the payload; every field must be given and fit.

        Raises
        ------
        ValueError
            When a field is missing, unknown, or does not fit its kind.
        """
        if set(values) != set(self.names):
            raise ValueError(f"{self.where}: fields {sorted(values)} given, expected {sorted(self.names)}")
        try:
            return self._struct.pack(*(values[name] for name in self.names))
        except struct.error as error:
            raise ValueError(f"{self.where}: {dict(values)} does not fit {self.kinds}: {error}") from None

    def unpack(self, payload: bytes) -> Mapping[str, int]:
        """Return the fields of a payload.

        Raises
        ------
        ValueError
            When the payload has another length.
        """
        if len(payload) != self.size:
            raise ValueError(f"{self.where}: payload of {len(payload)} bytes found, expected {self.size}")
        return MappingProxyType(dict(zip(self.names, self._struct.unpack(payload), strict=True)))


@dataclass(frozen=True, slots=True)
class CommandLayout:
    """What a command carries and what its answer carries."""

    payload: Layout
    answer: Layout


@dataclass(frozen=True, slots=True)
class SettingLimits:
    """Factory value and range of a setting, in the unit that its name ends with."""

    default: int
    minimum: int
    maximum: int


COMMAND_LAYOUTS: Final[Mapping[Command, CommandLayout]] = MappingProxyType(
    {
        command: CommandLayout(
            Layout.parse(command.name.lower(), _WIRE["commands"][command.name.lower()]["fields"]),
            Layout.parse(
                f"answer to {command.name.lower()}", _WIRE["commands"][command.name.lower()]["answer"]
            ),
        )
        for command in Command
    }
)
"""Payload and answer of every command."""

EVENT_LAYOUTS: Final[Mapping[Event, Layout]] = MappingProxyType(
    {
        event: Layout.parse(event.name.lower(), _WIRE["events"][event.name.lower()]["fields"])
        for event in Event
    }
)
"""Payload of every event."""

REFUSAL_LAYOUT: Final = Layout.parse("refusal", _WIRE["refusal"]["fields"])
"""Payload of a refusal."""

SETTING_LIMITS: Final[Mapping[Setting, SettingLimits]] = MappingProxyType(
    {
        setting: SettingLimits(
            *(_code("settings", setting.name.lower(), key) for key in ("default", "min", "max"))
        )
        for setting in Setting
    }
)
"""Factory value and range of every setting."""


def _check_lengths() -> None:
    layouts = [*EVENT_LAYOUTS.values(), REFUSAL_LAYOUT]
    for command_layout in COMMAND_LAYOUTS.values():
        layouts += [command_layout.payload, command_layout.answer]
    for layout in layouts:
        if layout.size > LONGEST_PAYLOAD:
            raise WireDescriptionError(
                f"wire.toml: {layout.where} takes {layout.size} bytes, longest_payload is {LONGEST_PAYLOAD}"
            )


_check_lengths()
