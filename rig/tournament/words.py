"""What a tournament is, in words: its terms, handicaps, tie-breaks and corrections, for terminal and page alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from game.montecassino import Cannons, format_squares
from game.montecassino.tournament import Standing, System, TieBreak, Tournament, format_points
from rig.counted import counted

__all__ = [
    "SYSTEM_NAMES",
    "TIE_BREAKS_EXPLAINED",
    "corrections_told",
    "handicaps_told",
    "tell_tie_break",
    "terms_told",
]

SYSTEM_NAMES = {
    System.SWISS: "Swiss system",
    System.ROUND_ROBIN: "Round robin",
    System.DOUBLE_ROUND_ROBIN: "Double round robin",
}

TIE_BREAKS_EXPLAINED: Sequence[tuple[TieBreak, str, str]] = (
    (
        TieBreak.DIRECT,
        "direct",
        "the direct encounter: points from the battles among those tied, where all of them have met each other; of two who "
        "met more than once the average. Asked again among those whom it leaves tied (FIDE C.07, article 6).",
    ),
    (TieBreak.OPPONENTS, "opp.", "the sum of the opponents' points (Buchholz; FIDE C.07, article 8.1)."),
    (
        TieBreak.SONNEBORN_BERGER,
        "S-B",
        "each opponent's points times the points gained against that one (Sonneborn-Berger; FIDE C.07, article 9.1).",
    ),
    (TieBreak.WINS, "won", "battles won on the board; byes and forfeits are none (FIDE C.07, article 7.2)."),
    (TieBreak.RETREATS, "retr.", "own retreats, of which fewer is better (of Montecassino)."),
)
"""Each tie-break in its order: what it is, its column, and what it says."""

_CANNONS = {Cannons.NONE: "no cannon", Cannons.SHARED: "one cannon, shared", Cannons.EACH: "a cannon each"}


def tell_tie_break(line: Standing, tie_break: TieBreak) -> str:
    """Return what stands in a tie-break's column."""
    if tie_break is TieBreak.DIRECT:
        return ", ".join(map(format_points, line.direct)) or "–"
    return format_points(line.values[tie_break])


def terms_told(tournament: Tournament) -> str:
    """Return what is agreed for every battle."""
    terms = tournament.terms
    told = [f"casualty option {terms.option}", _CANNONS[terms.cannons]]
    if terms.cannons is not Cannons.NONE:
        told.append(f"{counted(terms.shots, 'shot')} a player")
        told.append(
            "the zone that the booklet proposes"
            if terms.zone is None
            else f"zone {format_squares(terms.zone)} for the Allies, turned round for the Germans"
        )
    told.append(f"{counted(terms.lines, 'line')} of soldiers")
    if terms.boards > 1:
        told.append("two boards joined")
    return "; ".join(told)


def handicaps_told(tournament: Tournament) -> Iterator[str]:
    """Yield each player's own shots and zone."""
    for player in tournament.players:
        own = []
        if player.shots is not None:
            own.append(counted(player.shots, "shot"))
        if player.zone is not None:
            own.append(f"zone {format_squares(player.zone)} with the Allies, turned round with the Germans")
        if own:
            yield f"{player.name}: {', '.join(own)}"


def corrections_told(tournament: Tournament) -> Iterator[str]:
    """Yield each correction: what stood there, what stands there now, when by the clock on the wall, and why."""
    for number, round_ in enumerate(tournament.rounds, start=1):
        for pairing in round_.pairings:
            for before, after in zip(pairing.entries, pairing.entries[1:], strict=False):
                at = datetime.fromisoformat(after.at).astimezone()
                yield (
                    f"round {number}, board {pairing.board}, {' against '.join(pairing.names)}: {before.result} "
                    f"({before.source}) became {after.result} ({after.source}) at {at:%Y-%m-%d %H:%M:%S}: {after.why}"
                )
