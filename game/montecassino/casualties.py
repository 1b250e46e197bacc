"""Who leaves and who is put back after a shot (clauses C3 to C9)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from game.montecassino.outcomes import Outcome, Winner, outcome
from game.montecassino.position import Position
from game.montecassino.square_lists import format_squares
from game.montecassino.squares import BASE_SQUARES, Side, Square, board_fault, own_squares


class Cause(StrEnum):
    """Why a soldier fell (C7)."""

    DIRECT = "direct"
    RICOCHET = "ricochet"
    DRAGGED = "dragged"
    OTHER = "other"


class Option(StrEnum):
    """The agreed casualty option (C7)."""

    I = "i"  # noqa: E741 - the booklet's own name
    II = "ii"
    III = "iii"


class Decision(StrEnum):
    """What a commander says about a doubtful fall (C8)."""

    LEAVES = "leaves"
    STAYS = "stays"


_COUNTED: Mapping[Option, frozenset[Cause]] = {
    Option.I: frozenset({Cause.DIRECT, Cause.RICOCHET, Cause.DRAGGED}),
    Option.II: frozenset({Cause.DIRECT, Cause.RICOCHET}),
    Option.III: frozenset({Cause.DIRECT}),
}


class JudgeError(ValueError):
    """A shot that cannot be judged as it was reported, in one sentence."""


@dataclass(frozen=True, slots=True)
class Fall:
    """A soldier that fell.

    Parameters
    ----------
    square : Square
        Where it stood before the shot, not where it came to rest (C5).
    side : Side
        Whose soldier it was.
    causes : tuple of Cause
        The cause; more than one where it is not known which of them it was.
    """

    square: Square
    side: Side
    causes: tuple[Cause, ...]

    def __post_init__(self) -> None:
        if not self.causes or len(set(self.causes)) != len(self.causes):
            raise JudgeError(f"the fall on {self.square} needs one cause or several different ones")

    @property
    def certainly_direct(self) -> bool:
        """Whether the shot is known to have touched this soldier before anything else."""
        return self.causes == (Cause.DIRECT,)


@dataclass(frozen=True, slots=True)
class Doubt:
    """A fall in the zone whose possible causes give different verdicts; its commander decides (C8)."""

    square: Square
    between: tuple[Cause, ...]
    commander: Side


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a shot did, by the agreed zone and option.

    Parameters
    ----------
    casualties : tuple of Square
        Squares whose soldiers leave for good, sorted.
    put_back : tuple of Square
        Squares whose soldiers are put back: other falls, and those pushed off but still standing, sorted.
    doubts : tuple of Doubt
        All doubtful falls, decided ones too, sorted by square.
    undecided : tuple of Square
        Squares of the doubts that wait for a decision; they are in neither list above.
    one_leaves : bool
        Whether the commander must name exactly one of the doubts to leave (C8).
    after : Position or None
        The position after the shot; None while a doubt is undecided.
    outcome : Outcome or None
        The end of the battle, if this shot brought it.
    """

    casualties: tuple[Square, ...]
    put_back: tuple[Square, ...]
    doubts: tuple[Doubt, ...]
    undecided: tuple[Square, ...]
    one_leaves: bool
    after: Position | None
    outcome: Outcome | None

    @property
    def winner(self) -> Winner | None:
        """Who has won by this shot, or None."""
        return None if self.outcome is None else self.outcome.winner


def proposed_zone(shooter: Side, boards: int = 1) -> tuple[Square, ...]:
    """Return the zone that the booklet proposes, sorted: the enemy's field without its base (C4)."""
    return tuple(sorted(own_squares(shooter.enemy, boards)[boards * BASE_SQUARES :]))


def judge(
    position: Position,
    zone: Collection[Square],
    option: Option,
    falls: Sequence[Fall],
    moved: Collection[Square] = (),
    decisions: Mapping[Square, str] | None = None,
) -> Verdict:
    """Judge a shot fired by the side to move.

    The possible causes of a fall are taken as reported: one that may be direct stays a doubt under option iii
    beside another that certainly is.

    Parameters
    ----------
    position : Position
        Before the shot.
    zone : Collection of Square
        The squares on which falls count for this shooter (C4).
    option : Option
        The agreed casualty option.
    falls : Sequence of Fall
        Every soldier that fell.
    moved : Collection of Square
        Squares of soldiers pushed off but still standing (C9).
    decisions : Mapping of Square to str, optional
        "leaves" or "stays" for doubts decided so far.

    Raises
    ------
    JudgeError
        If the battle is over (V0), the shooter has no shot left, the zone is one of another number of boards, a fall or
        push does not fit the position, or a decision does not fit the doubts.
    """
    if outcome(position) is not None:
        raise JudgeError("the battle is over, and nobody fires any more (V0)")
    return judge_any_shot(position, zone, option, falls, moved, decisions)


def judge_any_shot(
    position: Position,
    zone: Collection[Square],
    option: Option,
    falls: Sequence[Fall],
    moved: Collection[Square] = (),
    decisions: Mapping[Square, str] | None = None,
) -> Verdict:
    """Judge a shot as `judge` does, where the battle is over or none is on too.

    A recorded shot is judged by whoever the camera saw, and on the range one side may stand alone.

    Raises
    ------
    JudgeError
        As `judge` does, but for the battle's end.
    """
    shooter = position.turn
    if position.shots_left[shooter] == 0:
        raise JudgeError(f"side {shooter} has no shot left (C3)")
    zone_squares = frozenset(zone)
    if strays := [square for square in zone_squares if board_fault(square, position.boards)]:
        raise JudgeError(f"the zone: {board_fault(min(strays), position.boards)}")
    _check_report(position, falls, moved)

    casualties: list[Square] = []
    put_back = list(moved)
    doubts: list[Doubt] = []
    for fall in sorted(falls, key=lambda fall: fall.square):
        answers = {counts(cause, option) for cause in fall.causes}
        if fall.square not in zone_squares or answers == {False}:
            put_back.append(fall.square)
        elif answers == {True}:
            casualties.append(fall.square)
        else:
            doubts.append(Doubt(fall.square, fall.causes, fall.side))

    # One doubt alone is decided freely: "exactly one of them" chooses among several.
    one_leaves = (
        option is Option.III
        and len(doubts) > 1
        and not any(fall.certainly_direct for fall in falls)
        and len({doubt.commander for doubt in doubts}) == 1
    )
    decided = _check_decisions(doubts, decisions or {}, one_leaves)
    casualties += [square for square, decision in decided.items() if decision is Decision.LEAVES]
    put_back += [square for square, decision in decided.items() if decision is Decision.STAYS]

    undecided = tuple(doubt.square for doubt in doubts if doubt.square not in decided)
    after = None if undecided else after_shot(position, casualties)
    return Verdict(
        casualties=tuple(sorted(casualties)),
        put_back=tuple(sorted(put_back)),
        doubts=tuple(doubts),
        undecided=undecided,
        one_leaves=one_leaves,
        after=after,
        outcome=None if after is None else outcome(after),
    )


def counts(cause: Cause, option: Option) -> bool:
    """Whether a soldier that fell in this way, within the zone, leaves by the agreed option (C7).

    Examples
    --------
    >>> counts(Cause.RICOCHET, Option.II), counts(Cause.RICOCHET, Option.III)
    (True, False)
    """
    return cause in _COUNTED[option]


def why_put_back(fall: Fall | None, zone: Collection[Square], option: Option) -> str:
    """Say why a soldier that is no casualty and no doubt is put back (C5, C7); without a fall it was pushed.

    Examples
    --------
    >>> on_g50 = Fall(Square.parse("G-50"), Side.G, (Cause.DRAGGED,))
    >>> why_put_back(on_g50, [Square.parse("G-50")], Option.II)
    'dragged, which does not count under option ii'
    >>> why_put_back(on_g50, [Square.parse("G-49")], Option.I)
    'outside the zone G49'
    """
    if fall is None:
        return "pushed off its square but still standing"
    if fall.square not in zone:
        return f"outside the zone {format_squares(zone)}"
    if fall.causes == (Cause.OTHER,):
        return "other, which counts under no option"
    return f"{' or '.join(fall.causes)}, which does not count under option {option}"


def after_shot(position: Position, casualties: Collection[Square]) -> Position:
    """Return the position after a shot by the side to move: the casualties gone, the shot spent and the turn passed (C3, C6)."""
    shooter = position.turn
    return replace(
        position,
        turn=shooter.enemy,
        soldiers={square: side for square, side in position.soldiers.items() if square not in casualties},
        shots_left={**position.shots_left, shooter: position.shots_left[shooter] - 1},
    )


def _check_report(position: Position, falls: Sequence[Fall], moved: Collection[Square]) -> None:
    """Refuse falls and pushes that the position does not allow."""
    seen: set[Square] = set()
    for fall in falls:
        owner = position.soldiers.get(fall.square)
        if owner is None:
            raise JudgeError(f"a fall is reported on {fall.square}, where nobody stood")
        if owner is not fall.side:
            raise JudgeError(
                f"the soldier on {fall.square} is of side {owner}, not {fall.side} as its fall says"
            )
        if fall.square in seen:
            raise JudgeError(f"the fall on {fall.square} is reported twice")
        seen.add(fall.square)
    direct = [str(fall.square) for fall in falls if fall.certainly_direct]
    if len(direct) > 1:
        raise JudgeError(
            f"the falls on {' and '.join(direct)} are all direct, but a shot has one direct fall at most"
        )
    for square in moved:
        if square not in position.soldiers:
            raise JudgeError(f"a soldier is reported pushed off {square}, where nobody stood")
        if square in seen:
            raise JudgeError(
                f"the soldier on {square} is reported twice, as pushed off and as fallen or pushed off"
            )
        seen.add(square)


def _check_decisions(
    doubts: Sequence[Doubt], decisions: Mapping[Square, str], one_leaves: bool
) -> dict[Square, Decision]:
    """Return the decisions, refusing those that no doubt calls for."""
    open_squares = [doubt.square for doubt in doubts]
    decided: dict[Square, Decision] = {}
    for square, said in decisions.items():
        if square not in open_squares:
            raise JudgeError(f"a decision is given for {square}, whose soldier is in no doubt")
        if said not in set(Decision):
            raise JudgeError(f"the decision for {square} is {said!r}, expected leaves or stays")
        decided[square] = Decision(said)
    leaving = sum(decision is Decision.LEAVES for decision in decided.values())
    if one_leaves and (leaving > 1 or (leaving == 0 and len(decided) == len(doubts))):
        names = ", ".join(map(str, open_squares))
        raise JudgeError(f"the commander of side {doubts[0].commander} names exactly one of {names} to leave")
    return decided
