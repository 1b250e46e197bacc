"""What the picture after the shot shows of each soldier, held against the picture before.

A soldier whose place looks as before stands plainly. Of the others it is measured how much they look like themselves somewhere
near, and what speaks against that (`Evidence`); what follows from it is weighed in `vision.falls.fate`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.falls.differences import Differences, find_differences
from vision.falls.fate import Evidence, Followed, shift_mm
from vision.falls.resemblance import Resemblance, follow, resemble, slide
from vision.falls.same_shadow import ShadowsThen
from vision.falls.stands_there import Around, There, apart, likeliest_there, look_around
from vision.falls.topple import Place, Watch
from vision.falls.upright import (
    REACH_CELLS,
    Network,
    Surroundings,
    Uprightness,
    lay_out,
    likeliest,
    likely_places,
)
from vision.outcome import Soldier
from vision.registration import BoardView
from vision.soldiers import Board
from vision.soldiers.surface import strange_share
from vision.soldiers.thrown_shadow import ThrownShadows

__all__ = ["TableAfter", "place_of"]

FloatImage = NDArray[np.float32]
Mask = NDArray[np.bool_]
Window = tuple[slice, slice]

# In the picture before, a soldier is looked for so far from where its foot was read to be; it is seen plainly with such log-odds.
_HOME_CELLS, _PLAIN_ODDS = 2, 4.0
# One stands plainly where so large a share of its telling pixels looks the same, less than so much shows the bare board, and its
# colours correlate so well: one of the board's colours can be gone though few pixels changed.
_STANDS_SAME, _STANDS_BARE, _STANDS_ALIKE = 0.5, 0.2, 0.5
# Of 1097 of the twin's that nobody had touched all looked most like themselves within 2.5 mm of where they had stood, 99 %
# within half a pixel; of those pushed 7 mm and more, turned a little, half do within 1.5 mm of where they stand now.
_SLIPPED_MM = 3.5
_SLIP_REACH_MM = 9.0
_LYING_HEIGHTS = 1.25  # a lying figure and its slide reach so far from its foot
_REACH_SQUARES = 0.75  # of 29 whom the twin's shots pushed and who stood the farthest went 0.64
# Now and then one slides farther: of 24 films with a push four. With less than even odds of a figure on its feet there
# it is not looked at more closely. With 0 to 3 it was, the rest of the evidence taken together: of 27 on tables in disorder
# that stood there 8 were found so, and of 63 that had fallen and 28 in films of shots none was taken to stand.
_FAR_CELLS, _FAR_ODDS, _FAR_ASIDE_MM = 16, 0.0, 8.0
# So far one that may have been pushed is followed, and so far it slides from one picture that is looked at to the next.
_FOLLOWED_MM, _FOLLOWED_STEP_MM = 48.0, 5.0
# Of the places where somebody seems to be on his feet so many are looked at more closely, with these log-odds at least.
_LOOKED_AT, _LEAST_ODDS = 3, -4.0
_OWN_COLOURS = (0.03, 0.97)  # quantiles
_MAYBE = 0.6  # what has changed and looks like board: a shadow, or a figure of the board's colour
_FEWEST_SPREAD_PX = 3
_FEWEST_TELLING = 0.25  # share of the figure; with fewer the whole figure is looked at
# Where no more than the second of these shares of the telling pixels differs from the bare board, the rest is not looked at. Where
# more does it makes no odds, but that two of 81 who were pushed would be told as fallen; where less than the first does, all is.
_HARDLY_SHOWING = 0.1, 0.5


def place_of(soldier: Soldier, board: Board, view: BoardView) -> Place:
    """Give what a soldier covers of the raster."""
    raster = board.raster
    discs = board.figure.shadow_of_sight(view.camera_mm, soldier.x_mm, soldier.y_mm)
    window, shape = board.figure.hidden(discs, raster)
    telling = shape & (board.strange[window] > sum(board.strange_levels) / 2)
    if telling.sum() < _FEWEST_TELLING * shape.sum():
        telling = shape
    return Place(soldier, window, shape, telling)


def _pivot_px(place: Place) -> tuple[float, float]:
    """Raster point (column, row) about which a figure turns as the camera sees it: half-way up, not its foot."""
    rows, columns = np.nonzero(place.shape)
    return float(columns.mean() + place.window[1].start), float(rows.mean() + place.window[0].start)


def _about(place: Place, reach_px: int) -> Window:
    """Rows and columns of the raster that a figure can cover, shifted so far and turned about its pivot."""
    margin = reach_px + max(place.shape.shape) + 4
    rows, columns = place.window
    return np.s_[
        max(rows.start - margin, 0) : rows.stop + margin,
        max(columns.start - margin, 0) : columns.stop + margin,
    ]


def _spread(rows: NDArray[np.int64], columns: NDArray[np.int64]) -> float:
    """Longest standard deviation of a patch, in pixels."""
    return float(np.sqrt(np.linalg.eigvalsh(np.cov(np.stack([rows, columns])))[-1] + 1 / 12))


class TableAfter:
    """The table after the shot against the table before.

    Parameters
    ----------
    board
        The table before.
    view
        The camera.
    flat
        The picture after, laid on the raster, still and evenly lit.
    places
        Everybody's place before.
    network
        What tells those who stand from those who lie.
    """

    differences: Differences
    """What differs, whoever it may be."""

    def __init__(
        self, board: Board, view: BoardView, flat: FloatImage, places: Sequence[Place], network: Network
    ) -> None:
        self._board = board
        self._flat = flat
        self._camera_mm = view.camera_mm
        self._network = network
        # What it says depends on no decision about others: each place is asked about once.
        self._now: dict[Place, tuple[FloatImage, Surroundings]] = {}
        self._then: dict[Place, tuple[FloatImage, Surroundings]] = {}
        self._around: dict[Place, Around] = {}
        self._followed: dict[Place, Followed] = {}
        self.differences = find_differences(board, flat, places)
        self._shadows = self._shadows_then = None
        if board.lamp is not None and self.differences.darkness is not None:
            then, now = self.differences.darkness
            self._shadows = ThrownShadows(board.lamp, now, board.raster, board.figure.height_mm)
            self._shadows_then = ShadowsThen(board, board.lamp, view, then, now)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the raster."""
        return self._board.raster.shape

    def stands_plainly(self, place: Place) -> bool:
        """Whether a soldier's place looks as before."""
        same, bare = self._shares(place)
        if same < _STANDS_SAME or bare >= _STANDS_BARE:
            return False
        return self._likeness_at_home(place) > _STANDS_ALIKE and self._slip_mm(place) < _SLIPPED_MM

    def _slip_mm(self, place: Place) -> float:
        """How far from its place, but near it, a figure looks most like itself."""
        if self.differences.same[place.window][place.telling].all():
            return 0.0
        reach_px = math.ceil(_SLIP_REACH_MM / self._board.raster.mm_per_px)
        box = _about(place, reach_px)
        column, row = (round(v) for v in _pivot_px(place))
        found = slide(
            self._board.flat[box],
            self._flat[box],
            self._on_raster(place, place.telling)[box],
            pivot_px=(column - box[1].start, row - box[0].start),
            reach_px=reach_px,
        )
        return math.hypot(found.dx_px, found.dy_px) * self._board.raster.mm_per_px

    def _shares(self, place: Place) -> tuple[float, float]:
        """Shares of a figure's telling pixels that look the same, and where the bare board shows."""
        shows = place.telling & self.differences.shows[place.window]
        if not _HARDLY_SHOWING[0] <= shows.sum() / place.telling.sum() < _HARDLY_SHOWING[1]:
            shows = place.telling
        is_same = self.differences.same[place.window][shows]
        is_strange = self.differences.strange[place.window][shows]
        return float(is_same.mean()), float((~is_same & ~is_strange).mean())

    def evidence(self, place: Place, taken: Mask, feet_mm: Sequence[tuple[float, float]]) -> Evidence:
        """Measure what is seen of a soldier whose place looks otherwise than before.

        Parameters
        ----------
        place
            The soldier's.
        taken
            Where on the raster others stand, and nobody else can.
        feet_mm
            The middles of their feet.
        """
        found = self._found(place, taken, (0, 0), round(_REACH_SQUARES * self._board.raster.px_per_square))
        return self._seen(place, taken, feet_mm, found, self._upright(place, feet_mm, REACH_CELLS))

    def far_evidence(
        self, place: Place, taken: Mask, feet_mm: Sequence[tuple[float, float]]
    ) -> Evidence | None:
        """Measure the same farther off; ``None`` where nothing there looks like a figure on its feet."""
        upright = self._upright(place, feet_mm, _FAR_CELLS)
        if upright.odds < _FAR_ODDS:
            return None
        mm_per_px = self._board.raster.mm_per_px
        across, down = (round(mm / mm_per_px) for mm in upright.moved_mm)
        found = self._found(place, taken, (across, down), math.ceil(_FAR_ASIDE_MM / mm_per_px))
        return self._seen(place, taken, feet_mm, found, upright)

    def places_mm(
        self, place: Place, evidence: Evidence, feet_mm: Sequence[tuple[float, float]]
    ) -> list[tuple[float, float]]:
        """Give where a soldier may stand, (x, y) from its old place, by all that was seen."""
        upright = likely_places(*self._looked_now(place), _from(place, feet_mm), _FAR_CELLS, _LOOKED_AT)
        likely = [each.moved_mm for each in upright if each.odds > _LEAST_ODDS]
        return apart([shift_mm(evidence), evidence.moved_mm, evidence.upright.moved_mm, (0.0, 0.0), *likely])

    def there(
        self, place: Place, evidence: Evidence, taken: Mask, feet_mm: Sequence[tuple[float, float]]
    ) -> There:
        """Look more closely at where a soldier may stand; otherwise as `evidence`."""
        return likeliest_there(self.around(place), self.places_mm(place, evidence, feet_mm), taken)

    def around(self, place: Place) -> Around:
        """Give what surrounds a soldier's old place, now and then."""
        if place not in self._around:
            self._around[place] = look_around(
                place,
                self._board,
                self._camera_mm,
                self._flat,
                self.differences.strange_share,
                self.differences.changed,
                self.differences.manned,
            )
        return self._around[place]

    def followed(self, place: Place, watch: Watch) -> Followed:
        """Follow a soldier's looks from picture to picture since it moved."""
        if place not in self._followed:
            mm_per_px = self._board.raster.mm_per_px
            column, row = (round(v) for v in _pivot_px(place))
            seen = follow(
                self._board.flat,
                watch.since_it_moved(place),
                self._on_raster(place, place.telling),
                pivot_px=(column, row),
                reach_px=round(_FOLLOWED_MM / mm_per_px),
                step_px=math.ceil(_FOLLOWED_STEP_MM / mm_per_px),
                sure_step=self.differences.step,
            )
            moved_mm = seen.dx_px * mm_per_px, seen.dy_px * mm_per_px
            self._followed[place] = Followed(moved_mm, seen.correlation)
        return self._followed[place]

    def _found(self, place: Place, taken: Mask, about_px: tuple[int, int], reach_px: int) -> Resemblance:
        """Where it looks most like itself, upright, at shifts so far about one."""
        telling = self._on_raster(place, place.telling)
        box = _about(place, reach_px + max(map(abs, about_px)))
        column, row = (round(v) for v in _pivot_px(place))
        return resemble(
            self._board.flat[box],
            self._flat[box],
            telling[box],
            np.where(taken[box], np.float32(0), self._novelty(telling, box)),
            pivot_px=(column - box[1].start, row - box[0].start),
            about_px=about_px,
            reach_px=reach_px,
        )

    def _upright(self, place: Place, feet_mm: Sequence[tuple[float, float]], reach_cells: int) -> Uprightness:
        """Find what looks most like a figure on its feet, so far from its old place."""
        return likeliest(*self._looked_now(place), _from(place, feet_mm), reach_cells)

    def _looked_now(self, place: Place) -> tuple[FloatImage, Surroundings]:
        """Ask the network about a soldier's surroundings, as far as anybody is looked for: nearly all who are asked about fell."""
        if place not in self._now:
            around = self.surroundings(place, _FAR_CELLS)
            self._now[place] = self._network.map(around), around
        return self._now[place]

    def _looked_before(self, place: Place) -> tuple[FloatImage, Surroundings]:
        """Ask it about them when the soldier stood there."""
        if place not in self._then:
            around = self._surroundings_before(place)
            self._then[place] = self._network.map(around), around
        return self._then[place]

    def _seen(
        self,
        place: Place,
        taken: Mask,
        feet_mm: Sequence[tuple[float, float]],
        found: Resemblance,
        upright: Uprightness,
    ) -> Evidence:
        same, bare = self._shares(place)
        mm_per_px = self._board.raster.mm_per_px
        stood = likeliest(*self._looked_before(place), _from(place, feet_mm), _HOME_CELLS)
        moved_mm = found.dx_px * mm_per_px, found.dy_px * mm_per_px
        # Where its foot was read to be is off by some millimetres now and then. As who looks both times is the same, how
        # far it moved is not; but likeness alone tells that of one who was not seen plainly when it stood there.
        dx_mm, dy_mm = np.subtract(upright.moved_mm, stood.moved_mm) if stood.odds > _PLAIN_ODDS else moved_mm
        spread, area = self._extent(place, self._on_raster(place, place.telling), taken, found)
        evidence = Evidence(
            same=same,
            bare=bare,
            found=found,
            moved_mm=moved_mm,
            spread=spread,
            area=area,
            upright=replace(upright, moved_mm=(float(dx_mm), float(dy_mm))),
            shadow=None,
            shadow_alike=None,
        )
        if self._shadows is None or self._shadows_then is None:
            return evidence
        foot_mm, moved_mm = (place.soldier.x_mm, place.soldier.y_mm), shift_mm(evidence)
        share = float(self._shadows.shares(np.add(foot_mm, moved_mm)[None], taken)[0])
        return replace(
            evidence,
            shadow=None if math.isnan(share) else share,
            shadow_alike=self._shadows_then.likeness(foot_mm, moved_mm, self.differences.manned, taken),
        )

    def surroundings(self, place: Place, reach_cells: int) -> Surroundings:
        """Give what surrounds a soldier's old place now, as far as places are to be looked at."""
        return lay_out(
            place,
            self._board,
            self._camera_mm,
            self._flat,
            self.differences.strange_share,
            self.differences.changed,
            reach_cells,
        )

    def _surroundings_before(self, place: Place) -> Surroundings:
        """Give what surrounded its old place when it stood there."""
        board = self._board
        strange = strange_share(board.strange, board.strange_levels)
        unchanged = np.zeros(self.shape, dtype=np.float32)
        return lay_out(place, board, self._camera_mm, board.flat, strange, unchanged, _HOME_CELLS)

    def outline(self, place: Place, found: Resemblance, shift_mm: tuple[float, float] | None = None) -> Mask:
        """Give where on the raster a figure is seen again, or would be if it had been shifted so far."""
        if shift_mm is not None:
            dx_px, dy_px = (mm / self._board.raster.mm_per_px for mm in shift_mm)
            found = replace(found, dx_px=dx_px, dy_px=dy_px)
        down, across = _there(place, found)
        mask = np.zeros(self._board.raster.shape, dtype=np.bool_)
        inside = (down >= 0) & (down < mask.shape[0]) & (across >= 0) & (across < mask.shape[1])
        mask[down[inside], across[inside]] = True
        return mask

    def _on_raster(self, place: Place, part: Mask) -> Mask:
        mask = np.zeros(self._board.raster.shape, dtype=np.bool_)
        mask[place.window] = part
        return mask

    def _novelty(self, telling: Mask, box: Window) -> FloatImage:
        """How sure it is that somebody is where nobody was, or that a figure is still there: 0 to 1."""
        changed = ~self.differences.same[box]
        surely = self.differences.strange[box] & (changed | telling[box])
        maybe = changed & ~self.differences.manned[box]
        return np.where(surely, np.float32(1.0), np.float32(_MAYBE) * maybe).astype(np.float32)

    def _likeness_at_home(self, place: Place) -> float:
        """Correlation of a figure with what is seen now at its own place."""
        was = self._board.flat[place.window][place.telling]
        now = self._flat[place.window][place.telling]
        was, now = was - was.mean(axis=0), now - now.mean(axis=0)
        return float((was * now).sum() / np.sqrt(max(float((was * was).sum() * (now * now).sum()), 1e-3)))

    def _extent(self, place: Place, telling: Mask, taken: Mask, found: Resemblance) -> tuple[float, float]:
        """Longest spread and area of what is new in a figure's colours about where it is seen again, against it upright.

        Those who stand there are left out: in other light, out of its shadow, they look new as well.
        """
        raster = self._board.raster
        column, row = (round(v) for v in _pivot_px(place))
        column, row = column + round(found.dx_px), row + round(found.dy_px)
        half = round(_LYING_HEIGHTS * self._board.figure.height_mm / raster.mm_per_px)
        window = np.s_[max(row - half, 0) : row + half + 1, max(column - half, 0) : column + half + 1]
        own = self._board.flat[place.window][place.telling]
        new = (self.differences.strange | self.differences.beyond)[window] & ~self.differences.same[window]
        new |= self.differences.strange[window] & telling[window]
        new &= ~taken[window]
        if own.shape[1] > 1:  # grey tells nobody's colours
            low, high = np.quantile(own, _OWN_COLOURS, axis=0)
            now = self._flat[window]
            new &= ((now > low - self.differences.step) & (now < high + self.differences.step)).all(axis=2)
        _, labels, stats, _ = cv2.connectedComponentsWithStats(new.astype(np.uint8), connectivity=8)
        votes = np.bincount(labels[self.outline(place, found)[window]], minlength=len(stats))
        votes[0] = 0
        which = int(np.argmax(votes))
        if not votes[which] or stats[which, cv2.CC_STAT_AREA] < _FEWEST_SPREAD_PX:
            return 0.0, 0.0
        area = float(stats[which, cv2.CC_STAT_AREA]) / float(place.telling.sum())
        return _spread(*np.nonzero(labels == which)) / _spread(*np.nonzero(place.telling)), area


def _from(place: Place, feet_mm: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Give places (x, y) from where a soldier stood."""
    return [(x - place.soldier.x_mm, y - place.soldier.y_mm) for x, y in feet_mm]


def _there(place: Place, found: Resemblance) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows and columns of the raster where a figure's telling pixels are seen again; they may lie outside."""
    rows, columns = np.nonzero(place.telling)
    points = np.stack([columns + place.window[1].start, rows + place.window[0].start, np.ones(len(rows))])
    across, down = cv2.getRotationMatrix2D(_pivot_px(place), found.turn_deg, 1.0) @ points
    return np.round(down + found.dy_px).astype(np.int64), np.round(across + found.dx_px).astype(np.int64)
