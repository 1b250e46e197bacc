"""Hit statistics as JSON and as a flat table."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from io import StringIO

from rig.stats.hit_statistics import Outcome, Rate, Statistics, Tally, tally, tally_by
from rig.stats.hit_view import By

__all__ = ["as_csv", "as_json", "tallies"]

_Json = dict[str, object]


def tallies(statistics: Statistics, views: Sequence[By]) -> Mapping[By, tuple[Tally, ...]]:
    """Return the tallies of each view."""
    return {by: tally_by(by, statistics.facts) for by in views}


def as_json(statistics: Statistics, views: Sequence[By]) -> _Json:
    """Return what `rig stats --json` prints."""
    return {
        "all": _tally(tally("all", statistics.facts)),
        "uncertain": statistics.uncertain,
        "not_fired": statistics.not_fired,
        "by": {by.value: list(map(_tally, found)) for by, found in tallies(statistics, views).items()},
    }


def as_csv(statistics: Statistics, views: Sequence[By]) -> str:
    """Return a row for all shots, and one for each group of each view. What is not known is empty."""
    rows = [{"by": "all", **_flat(tally("all", statistics.facts))}]
    for by, found in tallies(statistics, views).items():
        rows += [{"by": by.value, **_flat(each)} for each in found]
    text = StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _tally(each: Tally) -> _Json:
    return {
        "name": each.name,
        "shots": each.shots,
        **{outcome.value: count for outcome, count in each.at_target.items()},
        **_rate("hit_rate", each.rate),
        "any_enemy": each.any_enemy[Outcome.HIT],
        "any_enemy_doubt": each.any_enemy[Outcome.DOUBT],
        **_rate("any_enemy_rate", each.any_enemy_rate),
        "enemy_lost": each.losses.enemy,
        "own_lost": each.losses.own,
        "pending": each.losses.doubts,
        "unjudged": each.unjudged,
        "under": {
            option.value: {"enemy_lost": losses.enemy, "own_lost": losses.own, "doubts": losses.doubts}
            for option, losses in each.under.items()
        },
        "not_judged_again": each.not_judged_again,
    }


def _rate(name: str, rate: Rate | None) -> _Json:
    if rate is None:
        return {name: None, f"{name}_ci": None}
    return {name: rate.value, f"{name}_ci": [rate.lowest, rate.highest]}


def _flat(each: Tally) -> _Json:
    row: _Json = {}
    for key, value in _tally(each).items():
        if key == "under":
            for option, losses in each.under.items():
                row[f"enemy_lost_under_{option}"] = losses.enemy
                row[f"own_lost_under_{option}"] = losses.own
                row[f"doubts_under_{option}"] = losses.doubts
        elif key.endswith("_ci"):
            lowest, highest = value if isinstance(value, list) else (None, None)
            row[f"{key.removesuffix('_ci')}_lowest"] = lowest
            row[f"{key.removesuffix('_ci')}_highest"] = highest
        else:
            row[key] = value
    return row
