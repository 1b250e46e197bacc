"""One logged shot, its recording and its reading, as a page of the report."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from game.montecassino import Position, Square, parse_squares
from game.montecassino.picture import draw_position
from rig.log import Shot
from rig.recording import read_all_frames
from rig.report.annotate import Mark, MarkKind, annotate, overlay_motion
from rig.report.page import Picture, ShotPage
from rig.verdict.analyse import Analysis
from rig.verdict.how_sure import how_sure
from rig.verdict.judging import why_back
from rig.verdict.told_touches import met
from rig.verdict.unseen_shot import of_this_fall
from vision.causes import FallCause

__all__ = ["page_of_shot"]

_MAY_HAVE_FALLEN = {"cause": "pushed, may have fallen", "confidence": "", "wrong": ""}
"""Of one that seems to stand: no cause is told that could be wrong."""
_FLIGHT_US = 250_000  # after the release: the shot is off the board, the first soldiers lie


def page_of_shot(
    number: int,
    shot: Shot,
    analysis: Analysis,
    folder: Path,
    *,
    true_causes: Mapping[Square, str] | None = None,
) -> ShotPage:
    """Put together what the report says of one shot.

    Parameters
    ----------
    number
        Which shot of the report, from 1.
    shot
        As the log has it, with a verdict.
    analysis
        Its recording, read.
    folder
        Its recording.
    true_causes
        On the twin: who really fell, and why.
    """
    verdict, planned = shot.verdict, shot.planned
    assert verdict is not None and planned.position is not None, "a judged shot of a game"
    position = Position.parse(planned.position)
    zone = parse_squares(planned.zone)
    casualties = [Square.parse(text) for text in verdict.casualties]
    put_back = [Square.parse(text) for text in verdict.put_back]
    waiting = [Square.parse(doubt.square) for doubt in shot.pending]
    after = position.soldiers if verdict.after is None else Position.parse(verdict.after).soldiers
    target = Square.parse(planned.target)
    return ShotPage(
        number=number,
        target=planned.target,
        side=planned.side,
        option=planned.option,
        zone=planned.zone,
        facts=_facts(shot, analysis),
        falls=[
            *(_fall(fall, casualties, waiting, true_causes) for fall in analysis.reading.falls),
            *(
                {**_fall(fall, casualties, waiting, true_causes), **_MAY_HAVE_FALLEN}
                for fall in analysis.reading.perhaps_fallen
            ),
            *_missed(analysis, true_causes, position),
        ],
        casualties=list(verdict.casualties),
        put_back={square: why_back(shot, square) for square in verdict.put_back},
        doubts=_doubts(shot),
        before_svg=draw_position(position.soldiers, zone=zone, target=target, title="before"),
        after_svg=draw_position(
            after, zone=zone, casualties=casualties, put_back=put_back, doubts=waiting, title="after"
        ),
        pictures=_pictures(analysis, folder, casualties, waiting),
        truth_known=true_causes is not None,
    )


def _fall(
    fall: FallCause,
    casualties: list[Square],
    waiting: list[Square],
    true_causes: Mapping[Square, str] | None,
) -> dict[str, str]:
    square = fall.toppling.soldier.square
    truth = "" if true_causes is None else true_causes.get(square, "did not fall")
    return {
        "square": str(square),
        "side": fall.toppling.soldier.side.value,
        "cause": fall.cause.value,
        "confidence": "held" if fall.held else how_sure(fall.confidence),
        "evidence": of_this_fall(fall.evidence)[1],
        "verdict": _becomes(square, casualties, waiting).value,
        "truth": truth,
        "wrong": "yes" if truth not in {"", fall.cause.value} else "",
    }


def _missed(
    analysis: Analysis, true_causes: Mapping[Square, str] | None, before: Position
) -> list[dict[str, str]]:
    """Return the falls that only the twin knows of."""
    seen = {fall.toppling.soldier.square for fall in analysis.reading.judged_falls}
    return [
        {
            "square": str(square),
            "side": str(before.soldiers[square]),
            "cause": "not seen",
            "confidence": "",
            "evidence": "",
            "verdict": "",
            "truth": cause,
            "wrong": "yes",
        }
        for square, cause in (true_causes or {}).items()
        if square not in seen
    ]


def _becomes(square: Square, casualties: list[Square], waiting: list[Square]) -> MarkKind:
    if square in waiting:
        return MarkKind.IN_DOUBT
    return MarkKind.LEAVES if square in casualties else MarkKind.PUT_BACK


def _facts(shot: Shot, analysis: Analysis) -> list[tuple[str, str]]:
    facts: list[tuple[str, str]] = []
    if shot.aim is not None:
        facts += [
            ("traverse", f"{shot.aim.traverse_mm:.1f} mm"),
            ("azimuth", f"{np.degrees(shot.aim.azimuth_rad):+.2f}°"),
            ("elevation", f"{np.degrees(shot.aim.elevation_rad):+.2f}°"),
        ]
    if shot.muzzle_gate is not None and shot.muzzle_gate.muzzle_speed_mps is not None:
        facts.append(("speed at the muzzle gate", f"{shot.muzzle_gate.muzzle_speed_mps:.2f} m/s"))
    if analysis.unseen:
        facts.append(("the shot was not seen", analysis.unseen))
    seen = analysis.reading.track.speed_mps
    if seen is not None:
        facts.append(("speed seen by the camera", f"{seen[0]:.2f} ± {seen[1]:.2f} m/s"))
    first = analysis.reading.contacts.first
    if first is not None:
        facts.append(
            ("first touched", f"{met(first)} at x {first.point_mm[0]:.0f}, y {first.point_mm[1]:.0f} mm")
        )
    facts.append(("board placed within", f"{analysis.reading.view.error_mm:.2f} mm"))
    facts.append(("recording", str(shot.recording_path)))
    return facts


def _doubts(shot: Shot) -> list[str]:
    told = []
    for doubt in shot.doubts:
        between = " or ".join(doubt.between)
        if doubt.decision is None:
            told.append(f"{doubt.square}: {between}? The commander of side {doubt.commander} decides.")
        else:
            decision = doubt.decision
            ruled = f"{decision.cause}, " if decision.cause else ""
            word = "leaves" if decision.leaves else "stays"
            signed = f" Signed: {decision.name}." if decision.name else ""
            told.append(
                f"{doubt.square}: {between}? The commander of side {decision.decided_by} said: {ruled}it {word}.{signed}"
            )
    return told


def _pictures(
    analysis: Analysis, folder: Path, casualties: list[Square], waiting: list[Square]
) -> list[Picture]:
    reading, recording = analysis.reading, analysis.recording
    frames = read_all_frames(folder, recording)
    released_us = recording.keys.fire_us
    if released_us is None:
        released_us = (
            recording.taken_us[0] if reading.track.release_us is None else round(reading.track.release_us)
        )
    flight = [
        frame
        for timestamp_us, frame in zip(recording.taken_us, frames, strict=True)
        if released_us <= timestamp_us <= released_us + _FLIGHT_US
    ]
    first = reading.contacts.first
    in_flight = annotate(
        overlay_motion(flight, frames[0]),
        reading.view,
        track_mm=[point[1:] for point in reading.track.points],
        first_contact_mm=None if first is None else first.point_mm,
    )
    rest: NDArray[np.uint8] = annotate(
        frames[-1],
        reading.view,
        marks=[
            *(
                Mark(
                    fall.toppling.soldier.x_mm,
                    fall.toppling.soldier.y_mm,
                    _becomes(fall.toppling.soldier.square, casualties, waiting),
                    f"{fall.toppling.soldier.square} {fall.cause}",
                )
                for fall in reading.falls
            ),
            *(
                Mark(
                    push.soldier.x_mm,
                    push.soldier.y_mm,
                    _becomes(push.soldier.square, casualties, waiting),
                    f"{push.soldier.square} pushed",
                )
                for push in reading.pushes
            ),
        ],
    )
    return [
        Picture(
            in_flight,
            "The first quarter of a second in one picture: every place of the shot at once, with the way read from it "
            "(yellow) and the first touch (magenta cross).",
        ),
        Picture(
            rest, "At rest: where each soldier stood that fell or was pushed, why, and what becomes of it."
        ),
    ]
