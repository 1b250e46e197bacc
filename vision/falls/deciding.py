"""Who of those that do not stand plainly after the shot stands all the same, and where.

It is decided about one after the other, those first of whom it is surest that they stand: where one stands nobody else can,
which tells more of those who are left. Where more than one may be he who stands in a place, they contest it. Who is found to
stand nowhere near is looked for farther off, once it is known where the others stand. Whoever is left fell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from vision.falls.fate import Evidence, chance_in_contest, chance_of_standing, shift_mm
from vision.falls.table_after import TableAfter
from vision.falls.topple import Place, Watch
from vision.outcome import Soldier

__all__ = ["Fate", "decide"]

# A soldier that moved less than this still stands where it stood (format page: "pushed more than 5 mm").
_LEAST_PUSH_MM = 5.0
_SURE = 0.8  # of either fate; less is told
# So near to each other two that are alike are one, and who of them it is, is told by what it is for each alone.
_SAME_FOOT_MM = 8.0
# Who is pushed less plainly than the first may be another who was seen to stand nowhere, where he stands there likelier than
# the second by himself: of two who were pushed 38 mm and 47 mm to where another had stood, one is in doubt only so.
_PLAINLY_PUSHED, _HARDLY = 0.8, 0.02
# Log-odds between two who may stand in one place say so much of what they seem to: one who had stood 50 mm off, and was lost from sight
# as the other was, has 6 % without that, and it is he.
_TOLD_APART = 0.7
_SUREST, _LESS_LIKELY = 1 - 1e-9, 0.499  # of two that are as sure one stands there, and the other does not
_SAME_PLACE_MM = 25.0  # farther apart nobody is taken for somebody else


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a soldier that does not stand plainly."""

    soldier: Soldier
    evidence: Evidence
    chance: float
    """That it stands."""

    @property
    def stands(self) -> bool:
        """Whether it is taken to stand."""
        return self.chance >= 0.5

    @property
    def is_pushed(self) -> bool:
        """Whether it stands somewhere else than it stood."""
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


def decide(after: TableAfter, places: Sequence[Place], watch: Watch) -> Mapping[Place, Fate]:
    """Decide about all who do not stand plainly.

    Parameters
    ----------
    after
        The table after the shot against the table before.
    places
        Everybody's place before.
    watch
        Follows a place from picture to picture.
    """
    undecided = _Undecided(after, places, watch)
    while (place := undecided.surest_to_stand()) is not None:
        undecided.let_stand(*undecided.contested(place))
    return undecided.fates()


class _Undecided:
    """All who do not stand plainly, while it is decided about them; otherwise as `decide`."""

    def __init__(self, after: TableAfter, places: Sequence[Place], watch: Watch) -> None:
        self._after = after
        self._watch = watch
        plain = [place for place in places if after.stands_plainly(place)]
        self._taken = np.zeros(after.shape, dtype=np.bool_)  # where on the raster nobody else can stand
        for place in plain:
            self._taken[place.window] |= place.shape
        self._feet_mm = [(place.soldier.x_mm, place.soldier.y_mm) for place in plain]
        self._unclear = [place for place in places if place not in plain]
        self._decided: dict[Place, Fate] = {}  # who stands
        self._instead: dict[
            Place, float
        ] = {}  # how likely each is the one who stands where another is taken to
        self._looked_far = False
        self._left = {place: self._weigh(place) for place in self._unclear}

    def surest_to_stand(self) -> Place | None:
        """Give the one of those left who stands the surest, looked for farther off where near nobody does; ``None`` for nobody."""
        place = self._likeliest()
        if place is not None and not self._left[place].stands and not self._looked_far:
            self._look_farther()
            place = self._likeliest()
        return place if place is not None and self._left[place].stands else None

    def contested(self, place: Place) -> tuple[Place, Fate]:
        """Say who it is that stands where one of those left is taken to, and what he is beside all who may be he."""
        claimants = self._claims(self._left[place])
        if len(claimants) == 1:
            return place, claimants[place]
        # How likely each stands there, were he alone, as far as that tells him from another.
        chances = {
            each: chance_in_contest(its.evidence, self._after.followed(each, self._watch))
            for each, its in claimants.items()
        }
        winner, fate, others = _settled(claimants, chances)
        for other, chance in others.items():
            self._instead[other] = max(self._instead.get(other, 0.0), chance)
        return winner, fate

    def let_stand(self, place: Place, fate: Fate) -> None:
        """Decide that one stands, and weigh again all who might have stood there."""
        self._left.pop(place)
        self._decided[place] = fate
        self._taken |= self._after.outline(place, fate.evidence.found, shift_mm(fate.evidence))
        self._feet_mm.append(fate.now_mm)
        x_mm, y_mm = fate.now_mm
        for other, its in self._left.items():
            if any(np.hypot(x - x_mm, y - y_mm) < _SAME_PLACE_MM for x, y in its.places_mm):
                self._left[other] = self._weigh(other)

    def fates(self) -> Mapping[Place, Fate]:
        """Give what became of everybody: who is left fell, unless he is the one who stands in another's stead."""
        fell = {
            place: replace(fate, chance=max(fate.chance, self._instead.get(place, 0.0)))
            for place, fate in self._left.items()
        }
        return {place: (self._decided | fell)[place] for place in self._unclear}

    def _likeliest(self) -> Place | None:
        return max(self._left, key=lambda place: self._left[place].chance, default=None)

    def _weigh(self, place: Place) -> Fate:
        return self._weighed(place, self._after.evidence(place, self._taken, self._feet_mm))

    def _weigh_far(self, place: Place) -> Fate | None:
        evidence = self._after.far_evidence(place, self._taken, self._feet_mm)
        return None if evidence is None else self._weighed(place, evidence)

    def _weighed(self, place: Place, evidence: Evidence) -> Fate:
        there = self._after.there(place, evidence, self._taken, self._feet_mm)
        evidence = replace(evidence, there=there)
        return Fate(place.soldier, evidence, chance_of_standing(evidence))

    def _look_farther(self) -> None:
        self._looked_far = True
        far = {place: self._weigh_far(place) for place in self._left}
        self._left |= {place: fate for place, fate in far.items() if fate is not None and fate.stands}

    def _claims(self, fate: Fate) -> dict[Place, Fate]:
        """Give all who are left and, were they alone, are the one who stands where somebody of them is taken to."""
        may = dict(self._left)
        if fate.is_pushed and fate.chance < _PLAINLY_PUSHED:
            may |= {
                place: far
                for place, its in self._left.items()
                if not its.stands and (far := self._weigh_far(place)) is not None and far.chance > _HARDLY
            }
        return {
            place: its
            for place, its in may.items()
            if np.hypot(*np.subtract(its.now_mm, fate.now_mm)) < _SAME_FOOT_MM
        }


def _settled(
    claimants: Mapping[Place, Fate], chances: Mapping[Place, float]
) -> tuple[Place, Fate, Mapping[Place, float]]:
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


def _against(chance: float, rival: float) -> float:
    """Probability that it is a soldier who stands in a place and not a rival, by what it is for each alone."""
    chance, rival = (min(max(each, 1 - _SUREST), _SUREST) for each in (chance, rival))
    told = (chance * (1 - rival)) / (rival * (1 - chance))
    return float(1 / (1 + told**-_TOLD_APART))
