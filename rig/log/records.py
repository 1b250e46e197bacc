"""What the log keeps of a shot, as plain values.

Squares, causes and positions stand here as the game's own notation writes them (`"G-49"`, `"direct"`, a position
string), so that an old log reads the same whatever the game's code has become since.

Two clocks appear. `at_utc_us` is wall time, microseconds since 1970-01-01 UTC: it says when on the calendar.
`clock_us` is the rig's own monotonic clock (the twin's, on the twin): differences of it are durations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

__all__ = [
    "CUT_SHORT",
    "FINISHING",
    "PREPARING",
    "Aim",
    "Analysis",
    "DecidedDoubt",
    "Decision",
    "Doubt",
    "Fall",
    "Fired",
    "Moved",
    "MuzzleGate",
    "SeenShots",
    "Session",
    "SessionStart",
    "Shot",
    "ShotPlan",
    "Signature",
    "Stage",
    "StageEntry",
    "Verdict",
    "fired",
]

CUT_SHORT = "incomplete: "
"""How the cause of `RECORDED` begins where the pictures end before all was at rest."""


class Stage(StrEnum):
    """How far a shot has come. Stages are appended, never changed."""

    PLANNED = "planned"
    """The target is chosen; nothing has moved."""
    AIMED = "aimed"
    """The cannon points where the aim says."""
    COCKED = "cocked"
    """The lever is drawn and latched."""
    LOADED = "loaded"
    """A shot is seated in the muzzle."""
    ARMED = "armed"
    """The firmware has given its token."""
    ASKED = "asked"
    """Written just before the fire command is sent: from here on the shot may have left."""
    FIRED = "fired"
    """The firmware has acknowledged the fire command."""
    SEEN = "seen"
    """The muzzle gate saw the shot leave."""
    RECORDED = "recorded"
    """The recording is on disk. A shot that is read from memory comes here after its verdict."""
    ANALYSED = "analysed"
    """Falls and causes have been read from the pictures."""
    JUDGED = "judged"
    """There is a verdict; with doubts, it waits for the commanders."""
    DECIDED = "decided"
    """The verdict is final: no doubt is left."""
    ABORTED = "aborted"
    """The rig gave the shot up, and says why."""
    INTERRUPTED = "interrupted"
    """The rig's process ended in the middle; written by whoever opened the log next."""


PREPARING = frozenset({Stage.PLANNED, Stage.AIMED, Stage.COCKED, Stage.LOADED, Stage.ARMED})
"""Stages in which fire has not been asked for. They may come again, as after a let-down."""

FINISHING = frozenset({Stage.JUDGED, Stage.DECIDED, Stage.ABORTED, Stage.INTERRUPTED})
"""Stages after which nothing more is due from the rig."""


class Fired(StrEnum):
    """Whether the shot left the cannon, as far as the log can know."""

    NO = "no"
    YES = "yes"
    UNCERTAIN = "uncertain"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStart:
    """What is known when a session of shooting begins."""

    software_version: str
    firmware_version: str
    """As the firmware names it, `"1.0.0"`."""
    wire_version: int
    settings: Mapping[str, object]
    """All settings in use, as `rig.toml` would hold them; kept as JSON."""
    port: str
    camera: str
    transcript_path: str | None = None
    """The file with the bytes of the link; None: none was kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session(SessionStart):
    """One run of the rig with one cannon's link open."""

    session_id: int
    started_utc_us: int
    ended_utc_us: int | None
    """None: still running, or its process died before it could say."""
    end_cause: str
    """Why it ended; empty while it has not."""

    def number(self, *keys: str) -> float | None:
        """Give a number of its settings by where it stands, as `"board", "square_mm"`; None where they do not tell it."""
        held: object = self.settings
        for key in keys:
            held = held.get(key) if isinstance(held, Mapping) else None
        return float(held) if isinstance(held, int | float) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShotPlan:
    """What was asked for, before anything moved."""

    side: str
    """Who fires, `"A"` or `"G"`."""
    target: str
    """The square aimed at, `"G-49"`."""
    option: str
    """The agreed casualty option, `"i"`, `"ii"` or `"iii"`."""
    zone: str
    """The agreed artillery zone, `"G25-G72"`."""
    position: str | None = None
    """The position before the shot (rules page, N4); None: not kept in this kind of shooting."""
    plan: str | None = None
    """Identity of the programme that this shot belongs to; None: a single shot."""
    plan_index: int | None = None
    """Which shot of the programme, from 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """Where the cannon was told to point, and what was expected of it."""

    target_mm: tuple[float, float, float]
    """Point aimed at, board frame."""
    traverse_mm: float
    azimuth_rad: float
    elevation_rad: float
    expected_muzzle_speed_mps: float
    calibration: str = ""
    """Identity of the calibration used; empty: the settings' own figures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MuzzleGate:
    """What the two light barriers timed, as the firmware reported it."""

    release_to_first_us: float | None
    """From the trigger's release until the shot cleared the first barrier; None: it was seen, its time is lost."""
    first_to_second_us: float | None
    """From clearing the first barrier until clearing the second; None: lost, or too long to be timed."""
    spacing_mm: float
    """Distance between the barriers, from the settings in use."""

    def __post_init__(self) -> None:
        if self.spacing_mm <= 0 or (self.first_to_second_us is not None and not self.first_to_second_us > 0):
            raise ValueError(
                "a muzzle gate times a shot over a distance: found "
                f"{self.first_to_second_us} us over {self.spacing_mm} mm, expected both above 0"
            )

    @property
    def muzzle_speed_mps(self) -> float | None:
        """Speed of the shot between the barriers (mm per us is 1000 m/s); None where it was not timed."""
        if self.first_to_second_us is None:
            return None
        return 1000.0 * self.spacing_mm / self.first_to_second_us


@dataclass(frozen=True, slots=True, kw_only=True)
class StageEntry:
    """One line of a shot's history."""

    stage: Stage
    at_utc_us: int
    clock_us: int | None
    cause: str
    """Why, in words; empty where the stage says all."""
    fired: Fired | None = None
    """For aborted and interrupted: whether the shot left, as far as was known then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fall:
    """A soldier that one analysis says fell."""

    side: str
    square: str
    """Where it stood before the shot."""
    causes: tuple[str, ...]
    """Possible causes: the one that is told, then the likeliest first; one: it is certain enough."""
    confidence: float
    """Of the first cause, 0 to 1."""
    t_us: int | None
    """When it was first touched, on the recording's clock; None: not seen."""
    evidence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A soldier that one analysis says was pushed and still stands."""

    side: str
    square: str
    """Where it stood before the shot."""
    x_mm: float
    y_mm: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """One reading of one recording. A later one stands beside it, never over it."""

    software_version: str
    raw: Mapping[str, object]
    """The whole of what vision reported: what `rig analyse --json` prints, and `probabilities` of each fall's causes."""
    falls: tuple[Fall, ...] = ()
    moved: tuple[Moved, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """A fall whose possible causes give different verdicts (rules page, C8)."""

    square: str
    between: tuple[str, ...]
    """The causes it lies between."""
    commander: str
    """The side that decides, `"A"` or `"G"`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the judge said of one analysis."""

    casualties: tuple[str, ...] = ()
    put_back: tuple[str, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    after: str | None = None
    """The position after the shot; None while doubts are pending, or where no position is kept."""
    winner: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a commander said of one doubt."""

    square: str
    decided_by: str
    """The side that decided."""
    leaves: bool
    """True: the soldier leaves for good; False: it is put back."""
    at_utc_us: int
    name: str | None = None
    """Who spoke for the side; None: nobody signed."""
    cause: str | None = None
    """The cause that they named; None: they said only whether it leaves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """Who decides, beside the side that they speak for."""

    name: str
    cause: str | None = None
    """The cause that they name for the doubt they rule on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedDoubt(Doubt):
    """A doubt together with its decision, if there is one yet."""

    number: int
    """By which the docket calls it; no other doubt of the log ever gets the same."""
    decision: Decision | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """Everything the log knows of one shot."""

    shot_id: int
    session_id: int
    planned: ShotPlan
    history: tuple[StageEntry, ...]
    """Every stage, in the order written."""
    aim: Aim | None
    """The last aim, where there were several."""
    muzzle_gate: MuzzleGate | None
    recording_path: str | None
    """As it leads there from where the rig runs; None: there is none, or the log does not know it."""
    analyses: tuple[Analysis, ...]
    """Oldest first."""
    verdicts: tuple[Verdict, ...]
    """Oldest first: every verdict that was ever given, as given. The last one stands."""
    doubts: tuple[DecidedDoubt, ...]
    """Every doubt of the verdict that stands, decided or not."""

    @property
    def stage(self) -> Stage:
        """The last stage written; for a shot that ended early, `ABORTED` or `INTERRUPTED`.

        A recording takes nothing from the reading that was there before it.
        """
        stages = [entry.stage for entry in self.history]
        if Stage.ANALYSED in stages and stages[-1] is Stage.RECORDED:
            return stages[-2]
        return stages[-1]

    @property
    def tells_who_fell(self) -> bool:
        """Whether there is a recording of it that goes on until all was at rest, so that it can be judged from that."""
        recorded = self.entry(Stage.RECORDED)
        cut_short = recorded is not None and recorded.cause.startswith(CUT_SHORT)
        return self.recording_path is not None and not cut_short

    @property
    def fired(self) -> Fired:
        """Whether the shot left, as far as the log can know."""
        return fired(self.history)

    @property
    def finished(self) -> bool:
        """Whether nothing more is due from the rig: judged, decided, given up or interrupted."""
        return any(entry.stage in FINISHING for entry in self.history)

    @property
    def pending(self) -> tuple[DecidedDoubt, ...]:
        """Doubts that no commander has decided."""
        return tuple(doubt for doubt in self.doubts if doubt.decision is None)

    @property
    def verdict(self) -> Verdict | None:
        """The verdict that stands."""
        return self.verdicts[-1] if self.verdicts else None

    @property
    def dwell_s(self) -> float | None:
        """How long the lever was latched before the fire command; None where the log does not tell."""
        cocked, asked = self.entry(Stage.COCKED), self.entry(Stage.ASKED)
        if cocked is None or asked is None or cocked.clock_us is None or asked.clock_us is None:
            return None
        return (asked.clock_us - cocked.clock_us) / 1e6

    def entry(self, stage: Stage) -> StageEntry | None:
        """Give the last entry of a stage, or None if the shot never came there."""
        return next((entry for entry in reversed(self.history) if entry.stage is stage), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenShots:
    """How many shots the muzzle gate saw leave, of one side in one session."""

    session_id: int
    port: str
    """The session's."""
    side: str
    """Who fired, `"A"` or `"G"`."""
    count: int


def fired(history: tuple[StageEntry, ...]) -> Fired:
    """Say whether a shot left the cannon, from its history alone.

    An acknowledgement of the fire command or the muzzle gate proves that it did. Before fire was asked for it
    cannot have. In between nobody knows, unless the rig learnt it and said so when it gave the shot up.

    Parameters
    ----------
    history : tuple of StageEntry
        Every stage of the shot so far.

    Returns
    -------
    Fired
        `UNCERTAIN`: who cares for safety takes it as fired; whether it counts as spent, the players say.
    """
    stages = {entry.stage for entry in history}
    if stages & {Stage.FIRED, Stage.SEEN}:
        return Fired.YES
    if Stage.ASKED not in stages:
        return Fired.NO
    said = [entry.fired for entry in history if entry.fired is not None]
    return said[-1] if said else Fired.UNCERTAIN
