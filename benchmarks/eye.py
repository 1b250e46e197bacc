"""How right the eye is on recordings whose truth is known.

`make bench` holds the demo's six shots against the bars. `python -m benchmarks.eye FOLDER` reads every recording of a
folder (`rig clips FOLDER` films some) and prints what was right, and how often causes were right among those that were called
so sure. One that the eye refuses to read counts as one that is not read right.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median

import numpy as np
from scipy.stats import binomtest

from benchmarks._demo import demo
from benchmarks.figure import Figure
from game.montecassino import Square
from rig.recording import RecordingError
from rig.verdict.analyse import Analysis, analyse_folder

__all__ = ["Score", "measure", "reliability", "score", "tell"]

_BAR_EXACT = 0.88
_BAR_CONTACT_MM = 4.0

SURE = (0.0, 0.5, 0.7, 0.85, 0.95, 1.0)
"""Edges of the groups of confidence in the table of reliability."""


@dataclass(frozen=True, slots=True)
class Score:
    """One recording, read and held against its truth."""

    name: str
    soldiers_right: bool
    """Every soldier before the shot, side and square, and nobody else."""
    falls_right: bool
    """Exactly those fell that did."""
    causes: tuple[tuple[float, bool, bool], ...]
    """Of each true fall that was found: its confidence, whether its cause is right, whether it is left open."""
    silently_wrong: bool
    """The verdict differs from the true one where no doubt was raised."""
    contact_mm: float | None
    """How far the first contact is off; None where there was none, or none was found."""
    pushes: tuple[int, int, int]
    """Pushed soldiers: true ones, found ones, and those of them that are true."""
    speed_sigmas: float | None
    """Error of the speed at the muzzle, in the standard deviations that were stated."""

    @property
    def exact(self) -> bool:
        """Exactly the right falls, and every cause right."""
        return self.falls_right and all(right for _, right, _ in self.causes)


def measure() -> list[Figure]:
    """Score the demo's shots."""
    scores = [score(folder) for folder in demo().recordings]
    contacts = [one.contact_mm for one in scores if one.contact_mm is not None]
    return [
        Figure(
            f"{len(scores)} shots of the demo, exactly the right falls and causes",
            sum(one.exact for one in scores) / len(scores),
            "share",
            "what is asked for",
            _BAR_EXACT,
            at_least=1.0,
        ),
        Figure(
            f"first contact of the demo's shots, median of {len(contacts)}",
            median(contacts),
            "mm",
            "what is asked for",
            _BAR_CONTACT_MM,
            at_most=1.0,
        ),
    ]


def score(folder: Path) -> Score:
    """Read one recording and hold it against its truth.json."""
    truth = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    analysis = analyse_folder(folder)
    reading = analysis.reading
    causes = {Square.parse(fall["square"]): fall["cause"] for fall in truth["falls"]}
    found = {fall.toppling.soldier.square: fall for fall in reading.falls}
    moved = {Square.parse(each["square"]) for each in truth["moved"]}
    pushed = {push.soldier.square for push in reading.pushes}
    stood = {(each["side"], Square.parse(each["square"])) for each in truth["before"]}
    seen = {(soldier.side.value, soldier.square) for soldier in reading.standing.soldiers}
    first = reading.contacts.first
    true_mm = truth["first_contact_mm"]
    return Score(
        folder.name,
        stood == seen,
        causes.keys() == found.keys(),
        tuple(
            (fall.confidence, fall.cause.value == causes[square], len(fall.possible) > 1)
            for square, fall in found.items()
            if square in causes
        ),
        _silently_wrong(analysis, causes),
        None
        if first is None or true_mm is None
        else float(np.hypot(first.point_mm[0] - true_mm[0], first.point_mm[1] - true_mm[1])),
        (len(moved), len(pushed), len(moved & pushed)),
        _speed_sigmas(analysis, truth["pellet"]),
    )


def _silently_wrong(analysis: Analysis, causes: dict[Square, str]) -> bool:
    counted = {
        "i": {"direct", "ricochet", "dragged"},
        "ii": {"direct", "ricochet"},
        "iii": {"direct"},
    }[analysis.recording.option]
    zone = set(analysis.recording.zone)
    leave = {square for square, cause in causes.items() if square in zone and cause in counted}
    doubts = {doubt.square for doubt in analysis.verdict.doubts}
    return leave - doubts != set(analysis.verdict.casualties) - doubts


def _speed_sigmas(analysis: Analysis, pellet: Sequence[Sequence[float]]) -> float | None:
    speed = analysis.reading.track.speed_mps
    way = np.array(pellet[:6], dtype=float)
    if speed is None or len(way) < 6:
        return None
    speeds = np.linalg.norm(np.diff(way[:, 1:], axis=0), axis=1) / np.diff(way[:, 0]) * 1e3
    return (speed[0] - float(np.median(speeds[1:]))) / speed[1]


def reliability(scores: Sequence[Score]) -> list[tuple[float, float, int, float, float]]:
    """Group causes by confidence: lower edge, upper edge, how many, mean confidence, share that is right."""
    causes = [each for one in scores for each in one.causes]
    table = []
    for low, high in pairwise(SURE):
        group = [c for c in causes if low <= c[0] < high or (high == SURE[-1] and c[0] == high)]
        if group:
            sure, right = (float(np.mean([c[k] for c in group])) for k in (0, 1))
            table.append((low, high, len(group), sure, right))
    return table


def tell(folder: Path) -> None:
    """Score a folder of recordings and print what was found."""
    places = [truth.parent for truth in sorted(folder.glob("*/truth.json"))]
    scores = []
    for place in places:
        try:
            scores.append(score(place))
        except RecordingError as refused:
            print(f"not read: {refused}", file=sys.stderr)
    if not scores:
        sys.exit(f"{folder}: no folder in it with a recording that can be read and its truth.json")
    causes = [each for one in scores for each in one.causes]
    contacts = [one.contact_mm for one in scores if one.contact_mm is not None]
    true, told, both = (sum(one.pushes[k] for one in scores) for k in range(3))
    speeds = [abs(one.speed_sigmas) for one in scores if one.speed_sigmas is not None]
    count = len(places)
    print(f"{count} recordings, {count - len(scores)} of them not read")
    print(f"every soldier before right   {_share(sum(one.soldiers_right for one in scores), count)}")
    print(f"exactly the right falls      {_share(sum(one.falls_right for one in scores), count)}")
    print(f"and every cause right        {_share(sum(one.exact for one in scores), count)}")
    if causes:
        print(f"causes right                 {np.mean([c[1] for c in causes]):.1%} of {len(causes)}")
        print(f"left open                    {np.mean([c[2] for c in causes]):.1%}")
    print(f"verdict silently wrong       {_share(sum(one.silently_wrong for one in scores), count)}")
    if contacts:
        print(f"first contact                {median(contacts):.1f} mm median of {len(contacts)}")
    print(f"pushed soldiers              {true} true, {told} found, {both} of them right")
    if speeds:
        print(
            f"speed within one sigma       {np.mean(np.array(speeds) < 1):.0%}, within two {np.mean(np.array(speeds) < 2):.0%}"
        )
    print("causes called so sure, and how many of them were right:")
    for low, high, number, sure, right in reliability(scores):
        print(f"  {low:.0%} to {high:.0%}: {number} causes, {sure:.0%} sure on average, {right:.0%} right")


def _share(right: int, count: int) -> str:
    """Say a share, and its 95 % interval by Wilson."""
    interval = binomtest(right, count).proportion_ci(0.95, method="wilson")
    return f"{right / count:.1%} (95 %: {interval.low:.1%} to {interval.high:.1%})"


def main() -> None:
    """Score the folder that the command line names."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.eye", description="Hold what the eye reads against the truth."
    )
    parser.add_argument("folder", type=Path, help="folder of recordings with truth.json")
    tell(parser.parse_args().folder)


if __name__ == "__main__":
    main()
