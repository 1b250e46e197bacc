"""The combat chart of a battle, and a battle from its chart (clauses N2 and N3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from game.montecassino.agreement import Agreement
from game.montecassino.battle import Battle
from game.montecassino.chart import Act, Chart, ChartRow, Column, UnreadRow
from game.montecassino.chart_turns import entry_of_rows, rows_of_entry, why_never_legal
from game.montecassino.squares import Side
from game.montecassino.turns import IllegalTurnError


@dataclass(frozen=True, slots=True)
class RowFault:
    """Why a row of a chart is no legal turn, or contradicts the battle."""

    row: int
    """Which row of the chart, from 0."""
    number: int | None
    """The number of its turn; None where it has none."""
    why: str
    clause: str | None = None
    """The clause that forbids it; None where the chart contradicts itself."""

    def __str__(self) -> str:
        turn = f"No. {self.number}: " if self.number is not None else ""
        return f"{turn}{self.why}" + (f" ({self.clause})" if self.clause else "")


@dataclass(frozen=True, slots=True)
class ChartPlay:
    """What came of playing a chart."""

    battle: Battle
    """As far as the rows can be played."""
    whole: bool
    """Whether every row was."""
    faults: tuple[RowFault, ...]
    """What stands against rows, in their order; miscounted enemies stop nothing."""


def chart_of(battle: Battle) -> Chart:
    """Return the chart of a battle. Its rows are numbered by the entries of the record, the adjournments too."""
    rows = tuple(
        row
        for number, played in enumerate(battle.history, 1)
        for row in rows_of_entry(number, played.side, played.entry, played.after)
    )
    usual = battle.start == battle.agreement.start()
    return Chart(rows, battle.agreement, battle.began, None if usual else battle.start)


def play_chart(chart: Chart) -> ChartPlay:
    """Play a chart's rows from its start.

    Playing ends with the first turn that cannot be played. Of those behind it nobody knows on what position they came;
    named are those that are legal in none.

    Raises
    ------
    BattleError
        If the battle cannot begin as the chart's title says.
    """
    battle = Battle.begin(chart.agreement or Agreement(first_side(chart.rows)), chart.start, chart.began)
    faults: list[RowFault] = []
    stopped = False
    for place, rows in _turns(chart.rows):
        if not stopped:
            played = _play(battle, place, rows)
            if isinstance(played, Battle):
                battle = played
                faults += _miscounted(battle, place, rows)
                continue
            stopped = True
            faults.append(played)
            if played.clause is not None:
                continue
        if (why := why_never_legal(rows)) is not None:
            faults.append(RowFault(place, rows[0].number, f"legal in no position: {why}"))
    return ChartPlay(battle, not stopped, tuple(faults))


def first_side(rows: Iterable[ChartRow | UnreadRow]) -> Side:
    """Return the side that had the first turn of a battle, as its first infantry row tells; A where there is none.

    Nobody has left his field before his first turn, so that the field of From is his own; from there sides alternate,
    but that an adjourned battle goes on with the same side.
    """
    adjourned = 0
    for row in rows:
        if isinstance(row, UnreadRow):
            continue
        if row.start is not None and row.number is not None:
            turns_before = row.number - 1 - adjourned
            return row.start.field if turns_before % 2 == 0 else row.start.field.enemy
        adjourned += row.act is Act.ADJOURN
    return Side.A


def _turns(rows: Sequence[ChartRow | UnreadRow]) -> Iterator[tuple[int, list[ChartRow]]]:
    """Yield the rows of each turn with the place of the first; none at the place of a row that was not read."""
    place, turn = 0, list[ChartRow]()
    for here, row in enumerate(rows):
        if isinstance(row, ChartRow) and row.number is None and turn and turn[0].act is Act.INFANTRY:
            turn.append(row)
            continue
        if turn:
            yield place, turn
        place, turn = here, []
        if isinstance(row, ChartRow):
            turn.append(row)
        else:
            yield place, []
    if turn:
        yield place, turn


def _play(battle: Battle, place: int, rows: Sequence[ChartRow]) -> Battle | RowFault:
    """Return the battle after one turn, or what stops it."""
    if not rows:
        return RowFault(place, None, "nothing is played from here on, for this line cannot be read")
    number = rows[0].number
    due = len(battle.history) + 1
    if number != due:
        found = "a further soldier of no turn" if number is None else f"No. {number}"
        return RowFault(place, None, f"nothing is played from here on: found {found}, expected No. {due}")
    ready = battle.resume() if battle.adjourned else battle
    try:
        return ready.play(entry_of_rows(rows, ready.position))
    except IllegalTurnError as error:
        return RowFault(place, number, f"not legal: {error.why}", error.clause)


def _miscounted(battle: Battle, place: int, rows: Sequence[ChartRow]) -> Iterator[RowFault]:
    """Yield the rows of the turn just played that count the enemies wrong."""
    played = battle.history[-1]
    count = len(played.after.squares_of(played.side.enemy))
    for here, row in enumerate(rows, place):
        if row.enemies not in {None, count}:
            why = f"{Column.ENEMIES}: found {row.enemies}, expected {count}"
            yield RowFault(here, rows[0].number, why)
