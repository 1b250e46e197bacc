"""Hit statistics for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import ConsoleRenderable
from rich.table import Table
from rich.text import Text

from game.montecassino import Option
from rig.cli.terminal.tables import plain_table
from rig.stats.hit_report import tallies
from rig.stats.hit_statistics import Losses, Outcome, Rate, Statistics, Tally, tally
from rig.stats.hit_view import By

__all__ = ["hit_tables"]

_NAME_WIDTH = 13  # so that the two tables of a view stand in one column


def hit_tables(statistics: Statistics, views: Sequence[By]) -> Iterator[ConsoleRenderable]:
    """Yield the table of all shots and those of each view, and remarks, to be printed below one another."""
    everything = tally("all", statistics.facts)
    views_found = {"shots": (everything,)} | {
        by.value: found for by, found in tallies(statistics, views).items()
    }
    for heading, found in views_found.items():
        yield _hits(heading, found)
        yield _losses(heading, found)
    yield from map(Text, _remarks(statistics, everything))


def _table(heading: str, *headings: str) -> Table:
    table = plain_table()
    table.add_column(heading, no_wrap=True, min_width=_NAME_WIDTH)
    for each in headings:
        table.add_column(each, justify="right", no_wrap=True)
    return table


def _hits(heading: str, found: Sequence[Tally]) -> Table:
    table = _table(heading, "fired", "hit", "miss", "?", "hit rate, 95 %", "any enemy")
    for each in found:
        hits, misses = each.at_target[Outcome.HIT], each.at_target[Outcome.MISS]
        table.add_row(
            each.name,
            str(each.shots),
            str(hits),
            str(misses),
            str(each.shots - hits - misses or ""),
            _rate(each.rate),
            _rate(each.any_enemy_rate),
        )
    return table


def _losses(heading: str, found: Sequence[Tally]) -> Table:
    options = [f"option {option}" for option in Option]
    table = _table(heading, "lost", *options)
    for each in found:
        table.add_row(each.name, *map(_lost, (each.losses, *(each.under[option] for option in Option))))
    return table


def _rate(rate: Rate | None) -> str:
    if rate is None:
        return ""
    return f"{100 * rate.value:.0f} % ({100 * rate.lowest:.0f}-{100 * rate.highest:.0f})"


def _lost(losses: Losses) -> str:
    return f"{losses.enemy}/{losses.own}{f' +{losses.doubts}?' if losses.doubts else ''}"


def _remarks(statistics: Statistics, everything: Tally) -> Iterator[str]:
    yield "hit: the soldier aimed at fell, directly or by ricochet; any: some enemy fell"
    yield "lost: enemy/own by the verdicts; option i, ii, iii: had that one been agreed"
    in_doubt = everything.losses.doubts or any(losses.doubts for losses in everything.under.values())
    if in_doubt:
        yield "+1?: one more is in doubt: its commander decides, or would have to"
    for outcome, said in (
        (Outcome.DOUBT, "may have hit or not: the camera could not tell"),
        (Outcome.NOBODY, "aimed at a square where nobody stood"),
        (Outcome.UNREAD, "left no readable recording"),
    ):
        count = everything.at_target[outcome]
        if count:
            yield f"?: {count} {said}"
    either = everything.any_enemy[Outcome.DOUBT]
    if either:
        yield f"any: {either} may have felled an enemy or not: the camera could not tell"
    if everything.unjudged:
        yield f"{everything.unjudged} without a verdict: they add nothing to lost"
    if everything.not_judged_again:
        yield f"{everything.not_judged_again} cannot be judged again: they add nothing to i, ii and iii"
    if statistics.uncertain:
        yield f"{statistics.uncertain} more may have left the cannon: counted nowhere"
    if statistics.not_fired:
        yield f"{statistics.not_fired} more never left the cannon"
