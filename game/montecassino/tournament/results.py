"""What a battle of a tournament gave (R3, V6), or its not being fought; read and written as a score."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from game.montecassino import Side, Winner
from game.montecassino.tournament.points import HALF, format_points

__all__ = ["Forfeit", "Fought", "Result", "ResultTextError"]

_DASHES = re.compile(r"\s*[-–−:]\s*")
_HALVES = {"": 0, "½": 1, "1/2": 1, ".5": 1, ",5": 1, ".0": 0, ",0": 0}
_MOST_SHOWN = 20
_AMOUNT = re.compile(r"(\d*)\s*(½|1/2|[.,]5|[.,]0|)", re.ASCII)


class ResultTextError(ValueError):
    """A score that cannot be read, or that no battle can give, in one sentence."""


@dataclass(frozen=True, slots=True)
class Fought:
    """The result of a battle that was fought.

    Parameters
    ----------
    winner : Winner
        Who won, or `Winner.DRAW` (V5).
    retreated : frozenset of Side
        Who retreated in it.
    """

    winner: Winner
    retreated: frozenset[Side] = frozenset()

    def points(self, side: Side) -> Fraction:
        """Return a side's points: 1 for the battle won, 1/2 for the adversary's retreat, kept whoever wins (V6)."""
        return Fraction(self.winner is Winner(side)) + HALF * (side.enemy in self.retreated)

    def __str__(self) -> str:
        return "-".join(format_points(self.points(side)) for side in Side)

    @classmethod
    def parse(cls, text: str) -> Fought:
        """Read a score, the Allies' points first: ``1-0``, ``0-1½``, ``1.5-0.5``, ``1 1/2 - 1/2``.

        A score says all there is to know: a whole point is the battle, a half is the adversary's retreat.

        Raises
        ------
        ResultTextError
            If the text is no score, or no battle ends with it (V6).
        """
        text = text.strip()
        shown = text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + "..."
        parts = _DASHES.split(text)
        if len(parts) != 2:
            raise ResultTextError(
                f"found {shown!r}, expected a score, the Allies' points first, as 1-0 or ½-1"
            )
        points = {side: _amount(part, shown) for side, part in zip(Side, parts, strict=True)}
        for side, gained in points.items():
            if gained > 1 + HALF:
                raise ResultTextError(
                    f"{shown!r} is no score: side {side} can get 1½ at most, "
                    "1 for the battle and ½ for the enemy's retreat (V6)"
                )
        winners = [side for side, gained in points.items() if gained >= 1]
        if len(winners) > 1:
            raise ResultTextError(f"{shown!r} is no score: only one side can win the battle (V6)")
        return cls(
            Winner(winners[0]) if winners else Winner.DRAW,
            frozenset(side for side in Side if points[side.enemy] % 1 == HALF),
        )


@dataclass(frozen=True, slots=True)
class Forfeit:
    """A battle that was not fought, because one side or both did not come.

    Parameters
    ----------
    absent : frozenset of Side
        Who did not come; not empty.
    """

    absent: frozenset[Side]

    def __post_init__(self) -> None:
        if not self.absent:
            raise ResultTextError("a forfeit needs a side that did not come")

    def points(self, side: Side) -> Fraction:
        """Return a side's points: 1 for the one who came, as for a battle won."""
        return Fraction(side not in self.absent)

    def __str__(self) -> str:
        return "-".join(format_points(self.points(side)) for side in Side) + " forfeit"


Result = Fought | Forfeit
"""How a pairing ended."""


def _amount(part: str, shown: str) -> Fraction:
    match = _AMOUNT.fullmatch(part)
    if match is None or not part or len(match[1]) > 3:
        raise ResultTextError(f"found {shown!r}, expected points such as 0, ½, 1 or 1½ (or 1.5)")
    return Fraction(int(match[1] or 0)) + HALF * _HALVES[match[2]]
