"""Keeps what was seen of filmed shots: ``python -m benchmarks._fall_cases FOLDER... > cases.jsonl``.

Reads recordings that hold a truth.json (`rig clips FOLDER` films some) and writes one line for each in which somebody fell: what
the causes of falls are told from, without the pictures, and their true causes. The shots that the constants of
`vision.causes` were measured on are kept so in `tests/unit/vision/fall_cases.jsonl`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from game.montecassino import Cause, Side, Square
from rig.recording import RecordingError
from rig.verdict.analyse import analyse_folder, scene_in
from vision.causes import FallCause, ShotSeen, explain
from vision.causes.contacts import find_contacts
from vision.outcome import Push, Soldier, Standing, Toppling
from vision.shot import Leg, ShotTrack
from vision.shot.flight import Flight
from vision.shot.flight_fit import FlightFit
from vision.shot.streaks import Streak

_NEAR_MM = 90.0  # nobody farther from the shot's way and from those who fell has a part in it
_UPPER = np.triu_indices(8)


@dataclass(frozen=True, slots=True, eq=False)
class FallCase:
    """One shot."""

    name: str
    frame_us: float
    shot_from_mm: tuple[float, float]
    standing: Standing
    track: ShotTrack
    topplings: tuple[Toppling, ...]
    pushes: tuple[Push, ...]
    truth: Mapping[Square, Cause]
    """The cause of every fall that there was."""

    def explained(self) -> tuple[FallCause, ...]:
        """Find the causes as the eye does."""
        stirred_us = {t.soldier.square: t.began_us for t in self.topplings}
        stirred_us |= {p.soldier.square: p.began_us for p in self.pushes}
        contacts = find_contacts(
            self.track,
            self.standing,
            stirred_us,
            frame_us=self.frame_us,
            shot_from_mm=self.shot_from_mm,
        )
        shot = ShotSeen(self.track, contacts, self.standing, self.frame_us, self.shot_from_mm)
        return explain(self.topplings, self.pushes, shot)


def read_cases(path: Path) -> Iterator[FallCase]:
    """Read cases that were kept; ValueError, KeyError or TypeError where that is none of their files."""
    for line in path.read_text(encoding="utf-8").splitlines():
        yield _read(json.loads(line))


def _read(kept: Mapping[str, Any]) -> FallCase:
    soldiers = {row[0]: Soldier(Square.parse(row[0]), Side(row[1]), *row[2:]) for row in kept["soldiers"]}
    legs = tuple(_read_leg(leg) for leg in kept["legs"])
    return FallCase(
        kept["name"],
        kept["frame_us"],
        tuple(kept["shot_from_mm"]),
        Standing(tuple(sorted(soldiers.values())), kept["height_mm"], kept["foot_radius_mm"]),
        ShotTrack(legs, kept["reason"], None, kept["lost"]),
        tuple(
            Toppling(soldiers[square], began, passed, tuple(heading), tuple(rest))
            for square, began, passed, heading, rest in kept["topplings"]
        ),
        tuple(Push(soldiers[square], began, x, y) for square, began, x, y in kept["pushes"]),
        {Square.parse(square): Cause(cause) for square, cause in kept["truth"].items()},
    )


def _read_leg(kept: Mapping[str, Any]) -> Leg:
    start_us, x, y, z, vx, vy, vz, drag = kept["flight"]
    covariance = np.zeros((8, 8))
    covariance[_UPPER] = kept["covariance"]
    covariance += np.triu(covariance, 1).T
    fit = FlightFit(
        Flight(start_us, np.array([x, y, z]), np.array([vx, vy, vz]), drag),
        covariance,
        kept["misfit"],
        np.zeros(kept["sights"]),
    )
    # Of the streaks only their number and the times of the first and the last count.
    times_us = np.linspace(kept["first_us"], kept["last_us"], kept["sights"])
    streaks = tuple(Streak(k, round(t), 0.0, 0.0, 8.0, 8.0, (1.0, 0.0), 40.0) for k, t in enumerate(times_us))
    return Leg(fit, streaks, streaks[: kept["shadows"]])


def _written(folder: Path) -> str | None:
    truth = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    analysis = analyse_folder(folder)
    reading, recording = analysis.reading, analysis.recording
    topplings = [fall.toppling for fall in reading.falls]
    if not topplings:
        return None
    # Times are counted from the first picture.
    zero_us = recording.timestamps_us[0]
    # Flights up to the last that fell, and one more.
    last_us = max(t.began_us for t in topplings)
    legs = reading.track.legs[: 2 + sum(leg.first_us <= last_us for leg in reading.track.legs)]
    touched = {t.soldier.square for t in topplings} | {p.soldier.square for p in reading.pushes}
    feet = [np.array([[s.x_mm, s.y_mm]]) for s in reading.standing.soldiers if s.square in touched]
    ways = np.concatenate([*feet, *(_way(leg) for leg in legs)])
    return json.dumps(
        {
            "name": folder.name,
            "frame_us": median(b - a for a, b in pairwise(recording.timestamps_us)),
            "shot_from_mm": scene_in(folder, recording).shot_from_mm,
            "height_mm": reading.standing.height_mm,
            "foot_radius_mm": round(reading.standing.foot_radius_mm, 2),
            "soldiers": [
                [str(s.square), s.side.value, round(s.x_mm, 1), round(s.y_mm, 1)]
                for s in reading.standing.soldiers
                if np.hypot(*(ways - [s.x_mm, s.y_mm]).T).min() < _NEAR_MM
            ],
            "legs": [_written_leg(leg, zero_us) for leg in legs],
            "reason": reading.track.reason,
            "lost": reading.track.lost_over_board or len(legs) < len(reading.track.legs),
            "topplings": [
                [str(t.soldier.square), t.began_us - zero_us, t.passed_us - zero_us, t.heading, t.rest_mm]
                for t in topplings
            ],
            "pushes": [[str(p.soldier.square), p.began_us - zero_us, p.x_mm, p.y_mm] for p in reading.pushes],
            "truth": {fall["square"]: fall["cause"] for fall in truth["falls"]},
        }
    )


def _way(leg: Leg) -> NDArray[np.float64]:
    way: NDArray[np.float64] = leg.flight.at(np.arange(leg.first_us, leg.last_us + 25_000.0, 4_000.0))
    return way[:, :2]


def _written_leg(leg: Leg, zero_us: int) -> dict[str, Any]:
    flight = leg.flight
    unknowns = [*flight.start_mm, *flight.velocity_mps]
    return {
        "flight": [
            round(flight.start_us - zero_us, 1),
            *(round(float(v), 3) for v in unknowns),
            float(f"{flight.drag_per_mm:.4g}"),
        ],
        # Unknowns lean on each other: the sum of them is known far better than each.
        "covariance": [float(f"{v:.5g}") for v in leg.fit.covariance[_UPPER]],
        "misfit": round(leg.fit.misfit, 1),
        "first_us": leg.first_us - zero_us,
        "last_us": leg.last_us - zero_us,
        "sights": len(leg.streaks),
        "shadows": len(leg.shadows),
    }


def main() -> None:
    """Print a line for each shot in which somebody fell."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks._fall_cases", description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+", help="folders with recordings whose truth is known")
    for root in parser.parse_args().folders:
        paths = sorted(root.glob("*/truth.json"))
        if not paths:
            parser.error(f"{root}: no recordings with their truth")
        for path in paths:
            try:
                written = _written(path.parent)
            except RecordingError as fault:
                parser.error(str(fault))
            if written is not None:
                print(written)


if __name__ == "__main__":
    main()
