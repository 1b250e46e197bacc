"""What the organisers agree for the whole tournament, and the handicap it leaves to each player (S4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from game.montecassino import (
    BASE_LINES,
    Agreement,
    AgreementError,
    Battle,
    Cannons,
    Option,
    Side,
    Square,
    format_squares,
    proposed_zone,
)
from game.montecassino.agreement import USUAL_SHOTS
from game.montecassino.tournament.table import Artillery, Pairing, Player

__all__ = ["Terms"]


@dataclass(frozen=True, slots=True)
class Terms:
    """What holds in every battle of the tournament; a player's own zone and shots are the handicap.

    Raises
    ------
    AgreementError
        With every fault, as `Agreement` finds them.
    """

    option: Option = Option.II
    """The casualty option (C7)."""
    cannons: Cannons = Cannons.EACH
    """The cannons on each table."""
    shots: int = USUAL_SHOTS
    """The endowment of a player who has none of their own; 0 without a cannon."""
    zone: tuple[Square, ...] | None = None
    """The zone of such a player, as the Allies fire; None: what the booklet proposes (C4), or no cannon."""
    lines: int = BASE_LINES
    """Lines of soldiers of each side (S1)."""
    boards: int = 1
    """1, or 2 joined (S3)."""

    def __post_init__(self) -> None:
        if fault := self.zone_fault(self.zone):
            raise AgreementError([fault])
        # Which zone is proposed depends on the boards, and whether there can be so many the agreement says.
        zones = {} if self.zone is None else {side: self.artillery(Player(""), side).zone for side in Side}
        Agreement(
            first=Side.A,
            option=self.option,
            shots=dict.fromkeys(Side, self.shots),
            cannons=self.cannons,
            zones=zones,
            lines=self.lines,
            boards=self.boards,
        )

    def zone_fault(self, zone: tuple[Square, ...] | None) -> str | None:
        """Say that a zone is given where no cannon fires into it; None where nothing is wrong."""
        if zone is None or self.cannons is not Cannons.NONE:
            return None
        return f"zone is {format_squares(zone)}, and without a cannon there is none"

    def artillery(self, player: Player, side: Side) -> Artillery:
        """Return what a player's cannon may do on a side; a zone is turned round for the Germans."""
        zone = player.zone if player.zone is not None else self.zone
        if zone is None:
            zone = proposed_zone(side, self.boards)
        elif side is Side.G:
            zone = tuple(sorted(square.mirrored for square in zone))
        shots = player.shots if player.shots is not None else self.shots
        return Artillery(zone, shots)

    def agreement(self, artillery: dict[Side, Artillery], first: Side = Side.A) -> Agreement:
        """Return what the two players of a battle agree on; who moves first is drawn at the table (S2).

        Raises
        ------
        AgreementError
            With every fault.
        """
        return Agreement(
            first=first,
            option=self.option,
            shots={side: each.shots for side, each in artillery.items()},
            cannons=self.cannons,
            zones={side: each.zone for side, each in artillery.items()},
            lines=self.lines,
            boards=self.boards,
        )

    def departures(self, battle: Battle, pairing: Pairing) -> Iterator[str]:
        """Yield where a battle was not fought as this tournament and the handicap of its pairing have it."""
        artillery = {side: pairing.seat(side).artillery for side in Side}
        fought, due = battle.agreement, self.agreement(artillery, battle.agreement.first)
        for side in Side:
            if fought.shots[side] != due.shots[side]:
                yield _departure(f"shots of {side}", fought.shots[side], due.shots[side])
            if self.cannons is not Cannons.NONE and fought.zones[side] != due.zones[side]:
                yield _departure(
                    f"the zone of {side}",
                    format_squares(fought.zones[side]),
                    format_squares(due.zones[side]),
                )
        for name in ("option", "cannons", "lines", "boards"):
            if getattr(fought, name) != getattr(due, name):
                yield _departure(name, getattr(fought, name), getattr(due, name))
        if battle.start != due.start():
            yield _departure("the start", battle.start, due.start())


def _departure(what: str, found: object, expected: object) -> str:
    return f"{what}: found {found}, expected {expected}"
