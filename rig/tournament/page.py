"""The standings page: one HTML file with everything in it, to open in a browser, send by mail, or print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from game.montecassino.tournament import (
    Encounter,
    Kind,
    Standing,
    System,
    Tournament,
    format_points,
    rematches_of,
    standings,
)
from rig.files.html_page import html_page
from rig.files.whole_file import write_whole
from rig.tournament.words import (
    SYSTEM_NAMES,
    TIE_BREAKS_EXPLAINED,
    corrections_told,
    handicaps_told,
    tell_tie_break,
    terms_told,
)

__all__ = ["Cell", "cross_table", "is_other", "write_page"]

# How the title of every page ends, and how far from its beginning that is at the most.
_TITLE, _HEAD_BYTES = b": standings</title>", 2_000


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of the cross table."""

    text: str
    hint: str = ""
    """What it says in words."""


def is_other(path: Path) -> bool:
    """Whether a file is there that `write_page` did not write."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return _TITLE not in file.read(_HEAD_BYTES)


def write_page(path: Path, tournament: Tournament) -> None:
    """Write the page of a tournament as it stands."""
    lines = standings(tournament)
    swiss = tournament.system is System.SWISS
    columns = len(tournament.rounds) if swiss else len(lines)
    values = {
        "tournament": tournament,
        "system": SYSTEM_NAMES[tournament.system],
        "swiss": swiss,
        "double": tournament.system is System.DOUBLE_ROUND_ROBIN,
        "terms": terms_told(tournament),
        "handicaps": list(handicaps_told(tournament)),
        "standings": lines,
        "tie_breaks": TIE_BREAKS_EXPLAINED,
        "tell_tie_break": tell_tie_break,
        "columns": range(1, columns + 1) if tournament.rounds else (),
        "cross": cross_table(tournament, lines),
        "withdrawn": {player.name for player in tournament.players if player.withdrawn},
        "waiting": sum(1 for _ in tournament.open_pairings()),
        "rematches": {
            (number, pairing.board): before
            for number in range(1, len(tournament.rounds) + 1)
            for pairing, before in rematches_of(tournament, number)
            if swiss
        },
        "corrections": list(corrections_told(tournament)),
    }
    write_whole(
        path, html_page("rig.tournament", "standings.html.j2", values, filters={"points": format_points})
    )


def cross_table(tournament: Tournament, lines: Sequence[Standing]) -> list[list[Cell]]:
    """Return a row of cells for each standing: against each opponent in a round robin, in each round of a Swiss."""
    if tournament.system is System.SWISS:
        numbers = {line.player: number for number, line in enumerate(lines, start=1)}
        return [[_round_cell(each, numbers) for each in line.way] for line in lines]
    return [[_opponent_cell(line, other) for other in lines] for line in lines]


def _round_cell(each: Encounter, numbers: dict[str, int]) -> Cell:
    if each.kind is Kind.BYE:
        return Cell(f"bye {format_points(each.points)}", "the bye")
    if each.opponent is None:
        return Cell("–", "not in this round")
    hint = f"against {each.opponent}"
    return Cell(f"{each.side}{numbers[each.opponent]} {_gained(each)}", hint)


def _opponent_cell(line: Standing, other: Standing) -> Cell:
    if line is other:
        return Cell("×")
    met = [_gained(each) for each in line.way if each.opponent == other.player]
    return Cell(" ".join(met) or "–", f"against {other.player}")


def _gained(each: Encounter) -> str:
    if each.kind is Kind.OPEN:
        return "·"
    return format_points(each.points) + ("f" if each.kind is Kind.FORFEIT else "")
