"""Who fell and who was pushed.

The table at rest after the shot is held against the table before it. A soldier whose place looks the same stands. What is seen of
the others is measured (`vision.falls.table_after`) and weighed up (`vision.falls.fate`): those that stand were pushed, or are half
covered; the rest fell. No two can stand in the same place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from game.montecassino import Square
from vision.falls.fate import (
    Evidence,
    chance_in_contest,
    chance_of_standing,
    shift_mm,
)
from vision.falls.table_after import TableAfter, place_of
from vision.falls.topple import Place, Watch
from vision.falls.unnoticed import find_unnoticed
from vision.falls.upright import network
from vision.outcome import Push, Soldier, Toppling
from vision.registration import BoardView
from vision.soldiers import Board
from vision.steady import Sways, typical

__all__ = ["Aftermath", "find_falls"]

Image = NDArray[np.uint8]

# A soldier that moved less than this still stands where it stood (format page: "pushed more than 5 mm").
_LEAST_PUSH_MM = 5.0
# The last pictures, among which nothing but the rolling shot should move.
_LAST_PICTURES = 9
_SURE = 0.8  # of either fate; less is told
_SURELY_FAR = 0.7  # so sure it must be of one that slid far that it stands: hardly any does
# So near to each other two that are alike are one, and who of them it is, is told by what it is for each alone.
_SAME_FOOT_MM = 8.0
# Who is pushed less plainly than the first may be another who was seen to stand nowhere, where he stands there likelier than
# the second by himself: of two who were pushed 38 mm and 47 mm to where another had stood, one is in doubt only so.
_PLAINLY_PUSHED, _HARDLY = 0.92, 0.05
# Log-odds between two who may stand in one place say so much of what they seem to: one who had stood 50 mm off, and was lost from sight
# as the other was, has 6 % without that, and it is he.
_TOLD_APART = 0.7
_SUREST, _LESS_LIKELY = 1 - 1e-9, 0.499  # of two that are as sure one stands there, and the other does not
_SAME_PLACE_MM = 25.0  # farther apart nobody is taken for somebody else


@dataclass(frozen=True, slots=True, eq=False)
class Aftermath:
    """What the table looks like after the shot."""

    topplings: tuple[Toppling, ...]
    """Sorted by when they began."""
    pushes: tuple[Push, ...]
    """Sorted by when they began."""
    doubts: tuple[str, ...]
    """Soldiers whose fate the picture does not show plainly, a sentence each."""
    may_stand: Mapping[Square, float]
    """How likely each that is taken to have fallen stands all the same, by the square that it stood on."""
    may_have_fallen: Mapping[Square, float]
    """How likely each that is taken to have been pushed fell all the same, by the square that it stood on."""
    unnoticed_mm: tuple[tuple[float, float], ...]
    """Where (x, y) on the board something left its place that was not seen to stand there."""


def find_falls(
    frames: Sequence[Image],
    timestamps_us: Sequence[int],
    view: BoardView,
    board: Board,
    sways: Sways,
    first_moving: int,
) -> Aftermath:
    """Find who fell and who was pushed.

    Parameters
    ----------
    frames, timestamps_us
        The pictures, (height, width) or (height, width, 3) BGR, and their times.
    view, board
        The camera, and the table before the shot.
    sways
        How the pictures sway against the one that `board` was read from.
    first_moving
        Index of the first picture in which anything may have moved.
    """
    last = typical(frames[-_LAST_PICTURES:])
    sway = sways.steady.measure(last)
    flat = board.raster.lay(last, shift_px=(sway.du_px, sway.dv_px))
    places = [place_of(soldier, board, view) for soldier in board.standing.soldiers]
    after = TableAfter(board, view, np.asarray(flat / sway.gain, dtype=np.float32), places, network())
    watch = Watch(
        frames,
        timestamps_us,
        board,
        sways,
        step=after.step,
        smooth_px=after.smooth_px,
        first=first_moving,
    )
    fates = _fates(after, places, watch)
    pushes = [
        Push(place.soldier, timestamps_us[watch.began(place)], *fate.now_mm)
        for place, fate in fates.items()
        if fate.is_pushed
    ]
    topplings = watch.topplings([place for place, fate in fates.items() if not fate.stands])
    return Aftermath(
        topplings,
        tuple(sorted(pushes, key=lambda p: (p.began_us, p.soldier.square))),
        tuple(fate.note for fate in fates.values() if fate.note),
        {fate.soldier.square: fate.chance for fate in fates.values() if not fate.stands},
        {fate.soldier.square: 1 - fate.chance for fate in fates.values() if fate.is_pushed},
        find_unnoticed(after, board, topplings, pushes),
    )


@dataclass(frozen=True, slots=True)
class _Fate:
    """What became of a soldier that does not stand plainly."""

    soldier: Soldier
    evidence: Evidence
    chance: float
    """That it stands."""

    @property
    def stands(self) -> bool:
        return self.chance >= 0.5

    @property
    def is_pushed(self) -> bool:
        return self.stands and float(np.hypot(*shift_mm(self.evidence))) > _LEAST_PUSH_MM

    @property
    def now_mm(self) -> tuple[float, float]:
        """Middle of its foot, if it stands."""
        dx_mm, dy_mm = shift_mm(self.evidence)
        return round(self.soldier.x_mm + dx_mm, 2), round(self.soldier.y_mm + dy_mm, 2)

    @property
    def places_mm(self) -> list[tuple[float, float]]:
        """Where it may be."""
        shifts_mm = (self.evidence.moved_mm, self.evidence.upright.moved_mm)
        return [(self.soldier.x_mm + dx_mm, self.soldier.y_mm + dy_mm) for dx_mm, dy_mm in shifts_mm]

    @property
    def note(self) -> str:
        """A sentence where its fate is not plain."""
        if max(self.chance, 1 - self.chance) >= _SURE:
            return ""
        other, taken = "fell", "to stand"
        if not self.stands:
            other, taken = "stands", "to have fallen"
        return f"{self.soldier.square} is hard to tell from one that {other} and taken {taken}"


def _against(chance: float, rival: float) -> float:
    """Probability that it is a soldier who stands in a place and not a rival, by what it is for each alone."""
    chance, rival = (min(max(each, 1 - _SUREST), _SUREST) for each in (chance, rival))
    told = (chance * (1 - rival)) / (rival * (1 - chance))
    return float(1 / (1 + told**-_TOLD_APART))


def _settled(
    claimants: Mapping[Place, _Fate], chances: Mapping[Place, float]
) -> tuple[Place, _Fate, Mapping[Place, float]]:
    """Say who of several stands in a place that only one of them can have.

    Parameters
    ----------
    claimants
        What each is taken to be, were he alone.
    chances
        How likely each would be the one, as far as that tells him from the others.

    Returns
    -------
    winner, fate, others
        He, what he is taken to be beside the others, and how likely each other is the one.
    """
    winner = max(chances, key=lambda place: chances[place])
    rivals = {place: chance for place, chance in chances.items() if place is not winner}
    own = chances[winner]
    most = max(fate.chance for fate in claimants.values())
    # That one of them stands there, and that it is he.
    chance = most * min(_against(own, rival) for rival in rivals.values())
    # Somebody stands there, by the network: if not he, then one of the others.
    another = claimants[winner].evidence.upright.chance - chance
    others = {
        place: min(max(_against(rival, own), another * rival / sum(rivals.values())), _LESS_LIKELY)
        for place, rival in rivals.items()
    }
    return winner, replace(claimants[winner], chance=chance), others


def _fates(after: TableAfter, places: Sequence[Place], watch: Watch) -> Mapping[Place, _Fate]:
    """Decide about all who do not stand plainly, those first of whom it is surest that they stand.

    Who is found to stand nowhere near is looked for farther off, once it is known where the others stand.
    """
    unclear = [place for place in places if not after.stands_plainly(place)]
    taken = np.zeros(after.shape, dtype=np.bool_)
    feet_mm: list[tuple[float, float]] = []
    for place in places:
        if place not in unclear:
            taken[place.window] |= place.shape
            feet_mm.append((place.soldier.x_mm, place.soldier.y_mm))

    def weighed(place: Place, evidence: Evidence) -> _Fate:
        evidence = replace(evidence, there=after.there(place, evidence, taken, feet_mm))
        return _Fate(place.soldier, evidence, chance_of_standing(evidence))

    def weigh(place: Place) -> _Fate:
        return weighed(place, after.evidence(place, taken, feet_mm))

    def weigh_far(place: Place) -> _Fate | None:
        evidence = after.far_evidence(place, taken, feet_mm)
        return None if evidence is None else weighed(place, evidence)

    def claims(fate: _Fate) -> dict[Place, _Fate]:
        """Give all who are left and, were they alone, are the one who stands where somebody of them is taken to."""
        may = dict(left)
        if fate.is_pushed and fate.chance < _PLAINLY_PUSHED:
            may |= {
                place: far
                for place, its in left.items()
                if not its.stands and (far := weigh_far(place)) is not None and far.chance > _HARDLY
            }
        return {
            place: its
            for place, its in may.items()
            if np.hypot(*np.subtract(its.now_mm, fate.now_mm)) < _SAME_FOOT_MM
        }

    def in_contest(place: Place, fate: _Fate) -> float:
        """How likely it is that he stands there, were he alone, as far as that tells him from another."""
        return chance_in_contest(fate.evidence, after.followed(place, watch))

    left = {place: weigh(place) for place in unclear}
    decided: dict[Place, _Fate] = {}
    instead: dict[Place, float] = {}  # how likely each is the one who stands where another is taken to
    looked_far = False
    while left:
        place = max(left, key=lambda p: left[p].chance)
        if not left[place].stands:
            if looked_far:
                break
            looked_far = True
            far = {each: weigh_far(each) for each in left}
            left |= {
                each: fate for each, fate in far.items() if fate is not None and fate.chance >= _SURELY_FAR
            }
            continue
        claimants = claims(left[place])
        fate = claimants[place]
        if len(claimants) > 1:
            chances = {each: in_contest(each, its) for each, its in claimants.items()}
            place, fate, others_chances = _settled(claimants, chances)
            for other, chance in others_chances.items():
                instead[other] = max(instead.get(other, 0.0), chance)
        left.pop(place)
        decided[place] = fate
        taken |= after.outline(place, fate.evidence.found, shift_mm(fate.evidence))
        feet_mm.append(fate.now_mm)
        for other, its in left.items():
            if any(
                np.hypot(x - fate.now_mm[0], y - fate.now_mm[1]) < _SAME_PLACE_MM for x, y in its.places_mm
            ):
                left[other] = weigh(other)
    left |= {
        place: replace(left[place], chance=max(left[place].chance, chance))
        for place, chance in instead.items()
        if place in left
    }
    return {place: (decided | left)[place] for place in unclear}
